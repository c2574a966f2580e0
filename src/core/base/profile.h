/* profile.h - what happened when: a trace of a run in a file, for ui.perfetto.dev and chrome://tracing.
 *
 * The file is a JSON array of events in Chrome's format.  Processes are ranks (each writes a file of its own), threads
 * are *tracks*: the submitting thread's, one for each worker, the compiler's.  A *span* is an event with a beginning and
 * an end on the track of the thread that reports it, when it ends; so spans of one track are nested, as the functions
 * are that report them.  What overlaps, messages, is reported as pairs of events with a number.  Streams of devices, which
 * nobody's thread runs, have *rows*: their spans are reported afterwards, with beginning and end.
 *
 * Times are those of the monotonic clock, shifted at the start so that they count from the beginning of the week: then
 * the files of ranks, on hosts with clocks that agree, can be shown together.
 *
 * A track's events are text in a buffer of its own of fixed size, which is written when it is full: memory does not grow
 * with the run.  A file that cannot be written any more ends where its last whole events do, with one warning.
 *
 * Turned off there is no lgt_profile: callers test for NULL, which is all that it costs.
 *
 * Any thread may report.  `lock` of a track protects its buffer, that of the profile (behind it in the order) the file.
 */
#ifndef LGT_PROFILE_H
#define LGT_PROFILE_H

#include "base/err.h"

typedef struct lgt_profile lgt_profile;

/* What a span is of; the texts outlive the call. */
typedef struct lgt_label {
  const char *category; /* "kernel", "copy", "wait" ...; NULL: no label */
  const char *name;     /* NULL: the category's */
  const char *line;     /* of the script; NULL: unknown */
  const char *last;     /* of a group of launches: the line of the last one, if it is another */
  int operations;       /* of a group of launches; 0: it is none */
  const char *verb;     /* before the name, with a space; NULL: none */
} lgt_label;

/* Tracks; worker n has track n. */
enum { LGT_TRACK_COMPILER = -1, LGT_TRACK_SCRIPT = 0 };

/* The file of rank 0 is `path`, that of another rank r `path`.rank<r>.  What exists and is no trace is left alone.
 * `threads`: those that work, the submitting one included. */
lgt_status lgt_profile_open(const char *path, int rank, int size, int threads, lgt_profile **out);
/* NULL: nothing happens. */
void lgt_profile_close(lgt_profile *profile);
/* The process ends without closing: all that are open are completed.  exit() does it by itself. */
void lgt_profile_finish(void);
/* The calling thread reports to this track from now on; threads that never say so to the script's. */
void lgt_profile_enter(int track);

/* Nanoseconds, for the beginning of a span. */
int64_t lgt_profile_now(void);
/* From `begin` until now.  `args` is a format for members of a JSON object, which brings its quotes along. */
void lgt_profile_span(lgt_profile *profile, int64_t begin, const lgt_label *label, const char *args, ...)
    __attribute__((format(printf, 4, 5)));
/* What somebody else did from `begin` to `end`, on a row of its own; rows, from 0, are named before. */
void lgt_profile_name_row(lgt_profile *profile, int row, const char *name);
void lgt_profile_row(lgt_profile *profile, int row, int64_t begin, int64_t end, const lgt_label *label);
/* Something that takes no time. */
void lgt_profile_mark(lgt_profile *profile, const lgt_label *label, const char *args, ...) __attribute__((format(printf, 3, 4)));
/* Something that ends on its own: the number identifies it at its end. */
uint64_t lgt_profile_begin(lgt_profile *profile, const lgt_label *label, const char *args, ...)
    __attribute__((format(printf, 3, 4)));
void lgt_profile_end(lgt_profile *profile, uint64_t number, const lgt_label *label);

#endif
