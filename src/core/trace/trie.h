/* trie.h - the traces that are known, and which of them the stream of launches goes along.
 *
 * A *trace* is a string of tokens, one for each launch, that has repeated: what the miner found (miner.h), or what the program
 * named.  It becomes a window of its own, and what planning made of it is kept with it, once for each state of the arrays that
 * it was met in.
 *
 * All strings are in one trie.  The paper (repeats.h) moves a pointer for each place of the stream where a trace may have
 * begun; of these pointers only the one that has come farthest needs to be kept, because the strings behind all others
 * are ends of its own (A. Aho, M. Corasick, CACM 1975): node `fail` is the longest such end that is in the trie, too.
 * That pointer is the *state*; launches before it wait for nothing.
 *
 * A trace that is complete is *held* as long as a pointer that began no later may come to a longer one.  Among traces
 * that overlap the score decides: the length, times how often the trace was seen.  That number is capped, so that a better
 * trace wins in the end however late it appears, and halves while other launches go by; what was recorded counts a little more.
 * Scores are whole numbers, because ranks must agree.
 *
 * There are traces of two sorts: those that end where the script looked, and are complete only where it looks again; all others
 * are complete wherever they end.  A loop that once looked in each turn does not make windows of one turn later, when it
 * does not look any more.
 *
 * Everything here follows from the stream alone.  Belongs to the submitting thread.
 */
#ifndef LGT_TRIE_H
#define LGT_TRIE_H

#include "plan/fuse.h"

enum { LGT_RECORDINGS = 4 }; /* of one trace, for different states of the arrays */

/* What planning made of a trace. */
typedef struct lgt_recording {
  lgt_plan *plan;   /* ref */
  uint64_t pattern; /* how its stores repeat (window.h) */
} lgt_recording;

typedef struct lgt_trace {
  uint32_t id;     /* from 1 */
  uint64_t *token; /* owned */
  int length;
  bool look;           /* complete only where the script looks */
  bool recorded;       /* was a window once */
  int64_t count, seen; /* how often it was seen (LGT_TRACE_ONCE each), until which place of the stream */
  int64_t replays;
  lgt_recording recording[LGT_RECORDINGS]; /* used last first */
  int nrecording;
} lgt_trace;

typedef struct lgt_trie_node {
  uint64_t token;
  int parent, child, fail, depth;
  int end[2];  /* the number of the trace that ends here, by `look`; -1: none */
  int output;  /* the longest end, itself included, where a trace that is not `look` ends; 0: none */
  int through; /* the number of the longest trace that goes on from here; -1: none does */
} lgt_trie_node;

/* A place of the stream that a trace fits. */
typedef struct lgt_match {
  int64_t start, end;
  lgt_trace *trace; /* borrowed; NULL: no match */
} lgt_match;

typedef struct lgt_trie {
  lgt_trace **trace; /* owned, and what they point to */
  int count, room;
  int64_t most;     /* tokens of all traces */
  int64_t tokens;   /* ... of those there are */
  uint32_t last_id; /* that was given to a trace */

  lgt_trie_node *node; /* owned; 0 is the root */
  int nnode, node_room;
  int *edge; /* owned: nodes by parent and token, open addressing; -1: none */
  int mask;  /* -1: there is no table, and no trace is followed */

  int state;
  int64_t position; /* in the stream: where the next token is */
  int64_t begun;    /* ... and where the state was the root last */
  lgt_match held;
  int holds;           /* how often a trace was complete since then */
  lgt_trace *straight; /* borrowed: the last match, if nothing else had been complete on the way to it from the root */
} lgt_trie;

enum { LGT_TRACE_ONCE = 256 };

/* `most`: the greatest number of tokens of all traces together. */
void lgt_trie_init(lgt_trie *trie, int64_t most);
void lgt_trie_fini(lgt_trie *trie);
/* A trace that was seen `count` times up to here; one that is there already is left as it is.  *made: there is a new one.
 * What has the least scores makes room for it.  Nothing is followed before lgt_trie_build.  *evicted: how many went. */
lgt_status lgt_trie_add(lgt_trie *trie, const uint64_t *token, int length, bool look, int count, bool *made, int *evicted);
/* Forget those that `which` wants to be forgotten, then lgt_trie_build; returns how many. */
int lgt_trie_forget(lgt_trie *trie, bool (*which)(const lgt_trace *trace, void *context), void *context);
/* Follow what there is now, from a place on.  Out of memory: nothing is followed. */
lgt_status lgt_trie_build(lgt_trie *trie, int64_t position);
/* Begin anew at a place of the stream. */
void lgt_trie_restart(lgt_trie *trie, int64_t position);
/* The next token.  False: a pointer that had come as far as `least` launches lost its way. */
bool lgt_trie_feed(lgt_trie *trie, uint64_t token, int least);
/* Is a trace held that no longer one can take the place of? */
bool lgt_trie_settled(const lgt_trie *trie);
/* The script looks: hold what ends here if that is better. */
void lgt_trie_look(lgt_trie *trie);
/* The trace that is held is the next window; begin anew behind it.  `settled`: its tokens alone say so, not that the window is full. */
lgt_match lgt_trie_take(lgt_trie *trie, bool settled);
/* From the root the same tokens lead the same way; where only one trace was complete on it, no score decided.  So if a trace was
 * taken like that, and the next n tokens (then a look) begin with it: the match to which feeding them would come. */
lgt_match lgt_trie_again(const lgt_trie *trie, const uint64_t *token, int64_t n, bool look);
/* How many launches the state has come; the longest trace that it may come to, or NULL. */
static inline int lgt_trie_depth(const lgt_trie *trie) { return trie->nnode ? trie->node[trie->state].depth : 0; }
static inline const lgt_trace *lgt_trie_ahead(const lgt_trie *trie) {
  int through = trie->nnode ? trie->node[trie->state].through : -1;
  return through < 0 ? NULL : trie->trace[through];
}
/* Without recordings.  NULL: out of memory. */
lgt_trace *lgt_trace_new(uint32_t id, const uint64_t *token, int length, bool look);
void lgt_trace_free(lgt_trace *trace);
int64_t lgt_trace_score(const lgt_trace *trace, int64_t position);
/* NULL: there is none of this number any more. */
const lgt_trace *lgt_trie_find(const lgt_trie *trie, uint32_t id);
/* A match became a window. */
void lgt_trace_seen(lgt_trace *trace, int64_t end);
void lgt_trace_keep(lgt_trace *trace, lgt_plan *plan, uint64_t pattern);
/* Let go of the recording with this number. */
void lgt_trace_drop(lgt_trace *trace, int recording);

#endif
