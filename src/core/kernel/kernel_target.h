/* kernel_target.h - code for devices that do not run the host's.
 *
 * A device with an instruction set of its own is a *target*: a loop is written as text that all targets understand (PTX),
 * which a target builds into an image and loads.  Texts and images are kept on disk beside the objects of the host.
 */
#ifndef LGT_KERNEL_TARGET_H
#define LGT_KERNEL_TARGET_H

#include "kernel/kernel_cache.h"

/* A device, as the compiler sees it.  The thread that compiles calls `build` and `load`. */
typedef struct lgt_target lgt_target;
struct lgt_target {
  int number;    /* among those of a runtime, which sets it */
  char chip[96]; /* what an image depends on besides its text: a part of its name on disk */
  /* The image of a text: lgt_mem_free. */
  lgt_status (*build)(lgt_target *target, const char *text, void **image, size_t *size);
  lgt_status (*load)(lgt_target *target, const void *image, void **code);
  void (*unload)(lgt_target *target, void *code);
};
enum { LGT_MOST_TARGETS = 16 };

/* The text of a loop, as an emitter result; a NUL ends it, which the size does not count. */
typedef lgt_status lgt_target_emit_fn(void *context, const lgt_loop *loop, char **text, size_t *size);

/* The code of a loop for each of some targets: found on disk or made.  `cache` NULL: neither read nor written.  All or
 * none; an error has a message. */
lgt_status lgt_target_load_all(const lgt_kernel_cache *cache, lgt_target *const *target, int count, const lgt_loop *loop,
                               lgt_target_emit_fn *emit, void *context, void **code);

#endif
