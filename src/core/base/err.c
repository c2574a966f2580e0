/* err.c - the text of the last error of each thread.
 *
 * One fixed buffer a thread: reporting an error allocates nothing, so that "out of memory" can be
 * reported too.  A text that does not fit is cut.  A message is written when an error is detected and
 * stays until the next one; success does not clear it, because lgt_message() is only meaningful after
 * a failure.
 *
 * Any thread.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_ROOM 2048

static _Thread_local char message[MESSAGE_ROOM];
static _Thread_local lgt_status last;

lgt_status lgt_err(lgt_status status, const char *format, ...) {
  /* Written aside first: an argument may be the former message. */
  char text[MESSAGE_ROOM];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  memcpy(message, text, sizeof text);
  return last = status;
}

lgt_status lgt_err_within(lgt_status status, const char *format, ...) {
  char text[MESSAGE_ROOM];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  size_t length = strlen(text), room = sizeof text - length;
  if (room > 3) snprintf(text + length, room, ": %.*s", (int)room - 3, message);
  memcpy(message, text, sizeof text);
  return last = status;
}

lgt_status lgt_fail(lgt_status status, const char *text) { return lgt_err(status, "%s", text); }

const char *lgt_message(void) { return message; }

lgt_status lgt_last_status(void) { return last; }

const char *lgt_status_name(lgt_status status) {
  switch (status) {
#define X(NAME, text) \
  case LGT_##NAME:    \
    return text;
    LGT_STATUS_LIST(X)
#undef X
  }
  return "unknown status";
}

void lgt_assert_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "lgt: broken invariant at %s:%d: %s\nThis is a bug in lgt, not in the program it runs.\n",
          file, line, condition);
  abort();
}
