/* failure.c - see failure.h. */
#include "model/failure.h"

#include <stdio.h>

lgt_failure *lgt_failure_new(lgt_status status, const char *message, const char *line) {
  lgt_failure *failure = lgt_mem_zalloc(sizeof *failure);
  char text[1200];
  if (!failure) return NULL;
  snprintf(text, sizeof text, "%s%s%s%s", message, line ? " (in a task launched at " : "", line ? line : "",
           line ? ")" : "");
  *failure = (lgt_failure){.refs = 1, .status = status, .message = lgt_mem_strdup(text)};
  if (!failure->message) {
    lgt_mem_free(failure);
    return NULL;
  }
  return failure;
}

void lgt_failure_release(lgt_failure *failure) {
  if (!failure || --failure->refs > 0) return;
  lgt_mem_free(failure->message);
  lgt_mem_free(failure);
}
