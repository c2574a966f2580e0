/* kernel_target.c - see kernel_target.h. */
#include "kernel/kernel_target.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"

/* What is known of one loop while its code is made. */
typedef struct work {
  const lgt_kernel_cache *cache;
  const lgt_loop *loop;
  lgt_target_emit_fn *emit;
  void *context;
  char *text; /* owned; NULL until it is needed */
} work;

static lgt_status find_text(work *w) {
  size_t size;
  if (w->text) return LGT_OK;
  char *kept = w->cache ? lgt_kernel_cache_read(w->cache, "ptx", w->loop, &size) : NULL;
  if (kept && (w->text = lgt_mem_alloc(size + 1))) {
    memcpy(w->text, kept, size);
    w->text[size] = 0;
  }
  if (kept) {
    lgt_mem_free(kept);
    return w->text ? LGT_OK : lgt_err(LGT_NO_MEMORY, "out of memory for a kernel");
  }
  lgt_status status = w->emit(w->context, w->loop, &w->text, &size);
  if (!status && w->cache) lgt_kernel_cache_write(w->cache, "ptx", w->loop, w->text, size);
  return status;
}

/* From the disk.  What was built by a driver that has gone may be refused: then it is built again. */
static bool load_kept(const work *w, lgt_target *target, void **code) {
  size_t size;
  void *image = w->cache ? lgt_kernel_cache_read(w->cache, target->chip, w->loop, &size) : NULL;
  if (!image) return false;
  lgt_status status = target->load(target, image, code);
  lgt_mem_free(image);
  if (status) lgt_log(KERNEL, 1, "a file of the cache is no kernel for %s: %s", target->chip, lgt_message());
  return !status;
}

static lgt_status load_new(work *w, lgt_target *target, void **code) {
  void *image = NULL;
  size_t size;
  lgt_status status = find_text(w);
  if (status) return status;
  lgt_log(EMIT, 4, "%016llx for %s\n%s", (unsigned long long)w->loop->hash[0], target->chip, w->text);
  double start = lgt_time();
  status = target->build(target, w->text, &image, &size);
  if (!status) status = target->load(target, image, code);
  if (!status && w->cache) lgt_kernel_cache_write(w->cache, target->chip, w->loop, image, size);
  if (!status)
    lgt_log(KERNEL, 2, "%016llx built for %s: %zu bytes, %.1f ms", (unsigned long long)w->loop->hash[0],
            target->chip, size, 1e3 * (lgt_time() - start));
  lgt_mem_free(image);
  return status;
}

lgt_status lgt_target_load_all(const lgt_kernel_cache *cache, lgt_target *const *target, int count,
                               const lgt_loop *loop, lgt_target_emit_fn *emit, void *context, void **code) {
  work w = {cache, loop, emit, context, NULL};
  lgt_status status = LGT_OK;
  int n = 0;
  for (; n < count; n++) {
    if (load_kept(&w, target[n], &code[n])) continue;
    if ((status = load_new(&w, target[n], &code[n]))) break;
  }
  for (int i = 0; status && i < n; i++) target[i]->unload(target[i], code[i]);
  lgt_mem_free(w.text);
  return status;
}
