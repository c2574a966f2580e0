/* err.h - statuses, messages, and assertions.
 *
 * Whoever first detects an error describes it with lgt_err(status, format, ...), which keeps the
 * text for lgt_message() and returns the status; callers pass the status on.  The text belongs to
 * the calling thread, so workers keep their own until their task carries it to the waiting thread.
 */
#ifndef LGT_ERR_H
#define LGT_ERR_H

#include "lgt.h"

/* enumerator, value, name */
#define LGT_STATUS_LIST(X)                                     \
  X(OK, 0, "success")                                          \
  X(NO_MEMORY, -1, "out of memory")                            \
  X(BAD_ARGUMENT, -2, "bad argument")                          \
  X(BAD_SHAPE, -3, "bad shape")                                \
  X(BAD_DTYPE, -4, "bad element type")                         \
  X(OUT_OF_BOUNDS, -5, "index out of bounds")                  \
  X(UNSUPPORTED, -6, "unsupported")                            \
  X(IO, -7, "input or output failed")                          \
  X(TASK_FAILED, -8, "task failed")                            \
  X(COMPILE, -9, "compilation failed")                         \
  X(RELEASED, -10, "array was released")                       \
  X(SYSTEM, -11, "system call failed")                         \
  X(INTERRUPTED, -12, "interrupted")                           \
  X(SCRIPT, -13, "script failed")

enum {
#define X(NAME, value, text) LGT_##NAME = value,
  LGT_STATUS_LIST(X)
#undef X
};

lgt_status lgt_err(lgt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prefix the message with where it happened: "what: message". Returns the status. */
lgt_status lgt_err_within(lgt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The end of a noun behind a number. */
static inline const char *lgt_plural(long long n) { return n == 1 ? "" : "s"; }

/* A broken invariant of lgt itself, never bad input. */
_Noreturn void lgt_assert_failed(const char *condition, const char *file, int line);
#define lgt_assert(condition) ((condition) ? (void)0 : lgt_assert_failed(#condition, __FILE__, __LINE__))

#endif
