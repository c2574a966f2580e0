/* stream.h - what a rank remembers of the operations it has issued, to be compared with other ranks.
 *
 * With control replication all ranks issue the same operations.  A rolling hash over the stream tells whether
 * they did: two ranks whose hashes differ at one position have diverged at it or before.  Ranks run ahead of one
 * another, so each remembers the hashes of its last 2^18 operations, with the line of the script that issued each,
 * and what it was.
 * Noting an operation is some stores.
 *
 * A *report* is what a rank tells the hub: how far it is, what it waits for, and marks of its stream up to some
 * position `until`: of the last 512 operations, before that of each 64th, before that of each 4096th, all
 * counted so that two reports up to one position have marks of the same positions.
 *
 * Thread: the submitting thread; a report belongs to the thread that made or received it.
 */
#ifndef LGT_STREAM_H
#define LGT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "move/peers.h"

enum { LGT_STREAM_MARKS = 1 << 18 };

typedef struct lgt_mark {
  uint32_t hash;              /* of the stream up to here */
  uint32_t line, what, parts; /* of the operation: numbers of texts, and parts (peers.h) */
} lgt_mark;

typedef struct lgt_stream {
  uint64_t position; /* operations issued: the last one's position, counted from 1 */
  uint64_t hash;
  lgt_mark *mark; /* owned: of position p at [p % LGT_STREAM_MARKS]; pages appear as they are used */
} lgt_stream;

lgt_status lgt_stream_init(lgt_stream *s);
void lgt_stream_fini(lgt_stream *s);

static inline void lgt_stream_note(lgt_stream *s, const lgt_operation *o) {
  s->hash = lgt_hash_mix(s->hash, o->token);
  s->mark[++s->position % LGT_STREAM_MARKS] = (lgt_mark){(uint32_t)(s->hash >> 16), o->line, o->what, o->parts};
}

/* ---- reports -------------------------------------------------------------------------------------------- */

typedef struct lgt_report_mark {
  uint64_t position;
  lgt_mark mark;
} lgt_report_mark;

typedef struct lgt_report {
  uint64_t position, until;
  uint32_t bytes; /* of all of this */
  uint32_t count;
  lgt_report_mark mark[]; /* positions ascend; behind them strings, see stream.c */
} lgt_report;

/* Writes the text of a line, such as "heat.lua:12". */
typedef void (*lgt_line_text)(void *context, uint32_t line, char *text, size_t room);

/* what: completes "waits ...".  NULL when out of memory; the caller frees it with lgt_mem_free. */
lgt_report *lgt_report_make(const lgt_stream *s, uint64_t until, const char *what, lgt_line_text text, void *context);
/* Of bytes that were received. */
bool lgt_report_valid(const void *bytes, size_t size);
const char *lgt_report_what(const lgt_report *report);
const char *lgt_report_line(const lgt_report *report, uint32_t line); /* its text, or "an earlier line" */

typedef struct lgt_difference {
  uint64_t same;                /* up to here they are known to be equal */
  const lgt_report_mark *a, *b; /* the first position that both have marks of and that differs, or NULL */
} lgt_difference;
lgt_difference lgt_report_compare(const lgt_report *a, const lgt_report *b);
/* What differs in the operations there: ", 'add' and 'sum'", or nothing if these are only later ones. */
void lgt_report_explain(const lgt_report *a, const lgt_report *b, lgt_difference d, char *text, size_t room);

#endif
