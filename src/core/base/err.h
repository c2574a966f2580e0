/* err.h - statuses, messages, and assertions.
 *
 * The function that first detects an error describes it with lgt_err(status, format, ...), which keeps the
 * text for lgt_message() and returns the status; callers pass the status on.  The text belongs to
 * the calling thread, so workers keep their own until their task carries it to the waiting thread.
 */
#ifndef LGT_ERR_H
#define LGT_ERR_H

#include "lgt_binding.h"

/* The names of the statuses of lgt.h. */
#define LGT_STATUS_LIST(X)                \
  X(OK, "success")                        \
  X(NO_MEMORY, "out of memory")           \
  X(BAD_ARGUMENT, "bad argument")         \
  X(BAD_SHAPE, "bad shape")               \
  X(BAD_DTYPE, "bad element type")        \
  X(OUT_OF_BOUNDS, "index out of bounds") \
  X(UNSUPPORTED, "unsupported")           \
  X(IO, "input or output failed")         \
  X(TASK_FAILED, "task failed")           \
  X(COMPILE, "compilation failed")        \
  X(RELEASED, "array was released")       \
  X(SYSTEM, "system call failed")         \
  X(INTERRUPTED, "interrupted")           \
  X(SCRIPT, "script failed")              \
  X(DEVICE_LOST, "device was lost")

lgt_status lgt_err(lgt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prefix the message with where it happened: "what: message". Returns the status. */
lgt_status lgt_err_within(lgt_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The end of a noun behind a number. */
static inline const char *lgt_plural(long long n) { return n == 1 ? "" : "s"; }

/* A broken invariant of lgt itself, never bad input. */
_Noreturn void lgt_assert_failed(const char *condition, const char *file, int line);
#define lgt_assert(condition) ((condition) ? (void)0 : lgt_assert_failed(#condition, __FILE__, __LINE__))
/* The same of a question that leaves a message when the answer is no. */
#define lgt_verified(question) ((question) ? (void)0 : lgt_assert_failed(lgt_message(), __FILE__, __LINE__))

#endif
