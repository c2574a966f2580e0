/* made.h - for C tests: what takes several calls of the public interface in one. */
#ifndef LGT_TEST_MADE_H
#define LGT_TEST_MADE_H

#include <string.h>

#include "base/dtype.h"

/* NULL with a message. */
__attribute__((unused)) static lgt_config *config_new(void) {
  lgt_config *config = NULL;
  return lgt_config_new(&config) ? NULL : config;
}

/* A status, or what the flush asks to collect. */
__attribute__((unused)) static int flush_step(lgt_runtime *rt) {
  lgt_status status = lgt_flush_some(rt);
  return status ? status : (int)lgt_front_of(rt)->collect;
}

/* Memory of the host under a dense layout. */
__attribute__((unused)) static lgt_id attach_as(lgt_runtime *rt, uint32_t layout, void *data, void (*release)(void *),
                                                void *context) {
  const lgt_layout *l = &lgt_front_of(rt)->layouts[layout];
  return lgt_array_attach(rt, (lgt_dtype)l->dtype, l->ndim, l->shape, LGT_MEMORY_HOST, data, release, context);
}

/* lgt_array_host with strides in elements. */
__attribute__((unused)) static lgt_status host_of(lgt_runtime *rt, lgt_id array, const char *mode, void **data, int64_t *stride) {
  lgt_tile tile;
  lgt_status status = lgt_array_host(rt, array, mode, &tile);
  if (status) return status;
  *data = tile.data;
  for (int d = 0; d < tile.ndim; d++) stride[d] = tile.stride[d] / lgt_dtype_size(tile.dtype);
  return LGT_OK;
}

/* The text of lgt_explain, or the message. */
__attribute__((unused)) static const char *explain(lgt_runtime *rt, lgt_id array) {
  const char *text = NULL;
  return lgt_explain(rt, array, &text) ? lgt_message() : text;
}

typedef lgt_status (*tiles_fn)(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi);

__attribute__((unused)) static lgt_status call_tiles(void *context, const lgt_work *work) {
  tiles_fn function;
  memcpy(&function, &context, sizeof function);
  return function(work->tiles, work->nargs, work->params, work->lo, work->hi);
}

/* A kind whose CPU variant is a function without a context; 0 with a message. */
__attribute__((unused)) static int native_kind(lgt_runtime *rt, const char *name, const char *privileges, const char *constraints,
                                               tiles_fn function) {
  void *context;
  memcpy(&context, &function, sizeof context);
  lgt_kind_id kind = lgt_kind_new(rt, name, privileges, constraints);
  return kind && !lgt_kind_variant(rt, kind, LGT_VARIANT_CPU, call_tiles, context) ? kind : 0;
}

#endif
