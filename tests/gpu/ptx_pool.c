/* ptx_pool.c - memory that launches use again, since the pages of new memory cost more than a short kernel.
 *
 * Pieces have sizes of powers of two; a free one points to the next of its size.  The last module takes all with it.
 */
#include <pthread.h>
#include "ptx_inner.h"

enum { LEAST_CLASS = 10, CLASSES = 40 };
static const size_t most_spare = (size_t)96 << 20;

static struct {
  pthread_mutex_t lock; /* protects all of it */
  void *spare[CLASSES];
  size_t bytes;
  int modules;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int class_of(size_t bytes) {
  int class = LEAST_CLASS;
  while ((size_t)1 << class < bytes) class ++;
  return class;
}

void *ptx_pool_take(size_t bytes) {
  int class = class_of(bytes);
  pthread_mutex_lock(&pool.lock);
  void *piece = pool.spare[class];
  if (piece) {
    memcpy(&pool.spare[class], piece, sizeof(void *));
    pool.bytes -= (size_t)1 << class;
  }
  pthread_mutex_unlock(&pool.lock);
  return piece ? piece : malloc((size_t)1 << class);
}

void ptx_pool_give(void *piece, size_t bytes) {
  if (!piece) return;
  int class = class_of(bytes);
  pthread_mutex_lock(&pool.lock);
  bool keep = pool.modules && pool.bytes + ((size_t)1 << class) <= most_spare;
  if (keep) {
    memcpy(piece, &pool.spare[class], sizeof(void *));
    pool.spare[class] = piece;
    pool.bytes += (size_t)1 << class;
  }
  pthread_mutex_unlock(&pool.lock);
  if (!keep) free(piece);
}

void ptx_pool_modules(int change) {
  pthread_mutex_lock(&pool.lock);
  pool.modules += change;
  for (int class = 0; class < CLASSES && !pool.modules; class ++)
    while (pool.spare[class]) {
      void *piece = pool.spare[class];
      memcpy(&pool.spare[class], piece, sizeof(void *));
      pool.bytes -= (size_t)1 << class;
      free(piece);
    }
  pthread_mutex_unlock(&pool.lock);
}
