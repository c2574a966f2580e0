/* failure.h - what a poisoned store carries: the first error of the task that should have written it, with the source
 * line that launched the task. */
#ifndef LGT_FAILURE_H
#define LGT_FAILURE_H

#include "model/store.h"

#define LGT_POSITION_UNKNOWN (INT64_MAX >> 21) /* on another rank */

struct lgt_failure {
  int refs;
  lgt_status status;
  int64_t position; /* in the stream of what failed */
  char *message;    /* owned */
};
/* NULL when out of memory. */
lgt_failure *lgt_failure_new(lgt_status status, const char *message, const char *line);
void lgt_failure_release(lgt_failure *failure);
static inline lgt_failure *lgt_failure_retain(lgt_failure *failure) {
  failure->refs++;
  return failure;
}

#endif
