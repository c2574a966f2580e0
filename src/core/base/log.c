/* log.c - parsing LGT_DEBUG, and printing.
 *
 * The levels are written when a runtime opens and read everywhere without a lock: relaxed, because when
 * another runtime's threads see them matters to nobody.  A line is printed under stderr's own lock, so
 * that lines of several threads do not mix.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

_Atomic unsigned char lgt_log_level[LGT_LOG_NTOPIC];

static const char *const topic_names[] = {
#define X(NAME, name) #name,
    LGT_LOG_TOPIC_LIST(X)
#undef X
};

#define X(NAME, name) " " #name
static const char topic_list[] = "all" LGT_LOG_TOPIC_LIST(X);
#undef X

/* One entry, "topic" or "topic:level", into `level`. */
static lgt_status parse_entry(const char *entry, size_t length, unsigned char *level) {
  const char *colon = memchr(entry, ':', length);
  size_t name = colon ? (size_t)(colon - entry) : length;
  unsigned char value = 1;
  if (colon) {
    if (length != name + 2 || colon[1] < '0' || colon[1] > '4')
      return lgt_err(LGT_BAD_ARGUMENT, "debug: \"%.*s\": a level from 0 to 4 was expected after the colon",
                     (int)length, entry);
    value = (unsigned char)(colon[1] - '0');
  }
  bool all = name == 3 && !memcmp(entry, "all", 3), found = all;
  for (int topic = 0; topic < LGT_LOG_NTOPIC; topic++) {
    if (!all && (strlen(topic_names[topic]) != name || memcmp(topic_names[topic], entry, name))) continue;
    level[topic] = value;
    found = true;
  }
  if (found) return LGT_OK;
  return lgt_err(LGT_BAD_ARGUMENT, "debug: there is no topic \"%.*s\"; the topics are: %s", (int)name, entry,
                 topic_list);
}

lgt_status lgt_log_set(const char *spec) {
  unsigned char level[LGT_LOG_NTOPIC] = {0};
  while (*spec) {
    size_t length = strcspn(spec, ",");
    lgt_status status = length ? parse_entry(spec, length, level) : LGT_OK;
    if (status) return status;
    spec += length;
    if (*spec) spec++;
  }
  for (int topic = 0; topic < LGT_LOG_NTOPIC; topic++)
    atomic_store_explicit(&lgt_log_level[topic], level[topic], memory_order_relaxed);
  return LGT_OK;
}

void lgt_log_print(lgt_log_topic topic, const char *format, ...) {
  char line[4096];
  int room = (int)sizeof line, used = snprintf(line, sizeof line, "lgt %s: ", topic_names[topic]);
  va_list args;
  va_start(args, format);
  int more = vsnprintf(line + used, (size_t)(room - used), format, args);
  va_end(args);
  if (more >= 0 && used + more < room) { /* at once: other ranks write to this terminal or file, too */
    line[used + more] = '\n';
    fwrite(line, 1, (size_t)(used + more + 1), stderr);
    return;
  }
  flockfile(stderr);
  fputs("lgt ", stderr), fputs(topic_names[topic], stderr), fputs(": ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  putc('\n', stderr);
  funlockfile(stderr);
}

double lgt_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
