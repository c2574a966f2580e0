/* log.h - LGT_DEBUG=topic:level,...: what the passes of the runtime say about their work.
 *
 * Levels: 1 a summary, 2 timing, 3 decisions, 4 generated code.  A topic without a level means 1.
 * Topics are the names of the passes; "all" is every one.  Lines go to stderr as "lgt fuse: ...".
 */
#ifndef LGT_LOG_H
#define LGT_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

/* clang-format off */
#define LGT_LOG_TOPIC_LIST(X) \
  X(CONSTRAINT, constraint) X(WINDOW, window) X(FUSE, fuse) X(WEAVE, weave) X(KERNEL, kernel) X(EMIT, emit) \
  X(TRACE, trace) X(MAP, map) X(MOVE, move) X(EXEC, exec) X(NET, net)
/* clang-format on */

/* clang-format off */
typedef enum lgt_log_topic {
#define X(NAME, name) LGT_LOG_##NAME,
  LGT_LOG_TOPIC_LIST(X)
#undef X
  LGT_LOG_NTOPIC
} lgt_log_topic;
/* clang-format on */

extern _Atomic unsigned char lgt_log_level[LGT_LOG_NTOPIC]; /* process-wide; written by lgt_log_set only */

/* Parse the text of the `debug` variable. */
lgt_status lgt_log_set(const char *spec);
void lgt_log_print(lgt_log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define lgt_log_on(topic, level) \
  (__builtin_expect(atomic_load_explicit(&lgt_log_level[LGT_LOG_##topic], memory_order_relaxed) >= (level), 0))
#define lgt_log(topic, level, ...)                                             \
  do {                                                                         \
    if (lgt_log_on(topic, level)) lgt_log_print(LGT_LOG_##topic, __VA_ARGS__); \
  } while (0)

#endif
