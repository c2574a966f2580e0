/* targets.c - see targets.h. */
#include "plan/targets.h"

#include <string.h>

#include "plan/excerpt.h"

/* A part of a kind: what it does to the arguments in `writes`. */
struct lgt_share {
  uint32_t writes; /* bits of the kind's arguments */
  int kind;        /* number */
  int nargs;
  uint8_t arg[LGT_MAX_ARGS]; /* of the kind, by argument of the part */
};

/* ---- kinds ------------------------------------------------------------------------------------------------ */

static uint32_t written_by(const lgt_inst *in) {
  return !lgt_op_effect(in->op) ? 0 : (in->op == LGT_OP_REDUCE_ARG ? 3u : 1u) << in->b;
}

static lgt_status make_share(lgt_kinds *kinds, const lgt_kind *kind, lgt_share *share) {
  lgt_excerpt part;
  if (!lgt_excerpt_begin(&part, kind->source)) return LGT_NO_MEMORY;
  for (int i = 0; i < kind->source->ninst; i++)
    part.need[i] = written_by(&kind->source->inst[i]) & share->writes;
  share->nargs = lgt_excerpt_args(&part, 0, share->arg);
  bool good = lgt_excerpt_copy(&part);
  lgt_excerpt_end(&part);
  if (!good) {
    lgt_body_free(part.to);
    return LGT_NO_MEMORY;
  }
  share->kind = lgt_kinds_add_generator(kinds, kind->name, part.to);
  return share->kind < 0 ? LGT_NO_MEMORY : LGT_OK;
}

/* A kind has few: its calls mostly lie alike. */
static lgt_status find_share(lgt_kinds *kinds, lgt_kind *kind, uint32_t writes, const lgt_share **out) {
  for (int i = 0; i < kind->nshare; i++)
    if (kind->share[i].writes == writes) {
      *out = &kind->share[i];
      return LGT_OK;
    }
  if (!lgt_mem_grow((void **)&kind->share, &kind->share_room, kind->nshare + 1, sizeof *kind->share))
    return lgt_err(LGT_NO_MEMORY, "out of memory for task kinds");
  lgt_share *share = &kind->share[kind->nshare];
  *share = (lgt_share){.writes = writes};
  lgt_status status = make_share(kinds, kind, share);
  if (status) return status;
  kind->nshare++;
  *out = share;
  return LGT_OK;
}

/* ---- calls -------------------------------------------------------------------------------------------------- */

/* Bits of the dimensions of the space along which an argument moves. */
static unsigned moves_along(const lgt_layout *l, int ndim) {
  unsigned along = 0;
  for (int d = 0; d < l->ndim; d++)
    if (l->shape[d] != 1 && l->stride[d] != 0) along |= 1u << (ndim - l->ndim + d);
  return along;
}

/* Sets of targets that move along the same dimensions, as bits of arguments; the last one with what is stored. */
static int list_sets(const lgt_stores *stores, const lgt_call *call, int ndim,
                     uint32_t writes[LGT_MAX_ARGS]) {
  unsigned along[LGT_MAX_ARGS];
  uint32_t stored = 0;
  int n = 0;
  for (int a = 0; a < call->nargs; a++) {
    if (!lgt_kind_writes(call->kind, a)) continue;
    if (!(call->kind->privilege[a] & LGT_PRIV_REDUCE)) {
      stored |= 1u << a;
      continue;
    }
    unsigned mine = moves_along(lgt_layout_at(stores, call->layout[a]), ndim);
    int s = 0;
    while (s < n && along[s] != mine) s++;
    if (s == n) along[n] = mine, writes[n++] = 0;
    writes[s] |= 1u << a;
  }
  if (n) writes[n - 1] |= stored;
  return n;
}

/* A reduction has the value and its position in two arguments, which go together. */
static lgt_status check_pairs(const lgt_stores *stores, const lgt_call *call, int ndim) {
  const lgt_body *body = call->kind->source;
  for (int i = 0; i < body->ninst; i++) {
    int a = body->inst[i].b;
    if (body->inst[i].op != LGT_OP_REDUCE_ARG ||
        moves_along(lgt_layout_at(stores, call->layout[a]), ndim) ==
            moves_along(lgt_layout_at(stores, call->layout[a + 1]), ndim))
      continue;
    return lgt_err(LGT_BAD_SHAPE,
                   "task '%s' reduces into arguments %d and %d, a value and its position, along different "
                   "dimensions: both must be broadcast alike",
                   call->kind->name, a + 1, a + 2);
  }
  return LGT_OK;
}

/* The part works on all of the space: what it reads may be smaller. */
static lgt_status add_call(lgt_stores *stores, lgt_kinds *kinds, const lgt_call *call, const lgt_share *share,
                           int ndim, const int64_t *shape, lgt_call *out) {
  *out = *call;
  out->kind = kinds->kind[share->kind];
  out->kind_number = (uint16_t)share->kind;
  out->nargs = (uint8_t)share->nargs;
  for (int i = 0; i < share->nargs; i++) {
    int a = share->arg[i];
    bool target = call->kind->privilege[a] & LGT_PRIV_REDUCE;
    out->store[i] = call->store[a];
    out->layout[i] = target ? lgt_stores_broadcast(stores, call->layout[a], ndim, shape) : call->layout[a];
    if (!out->layout[i]) return LGT_NO_MEMORY;
  }
  for (int i = 0; i < share->nargs; i++) lgt_store_at(stores, out->store[i])->refs++;
  return LGT_OK;
}

lgt_status lgt_targets_calls(lgt_stores *stores, lgt_kinds *kinds, const lgt_call *call,
                             lgt_call out[LGT_MAX_ARGS], int *count) {
  uint32_t writes[LGT_MAX_ARGS];
  int64_t shape[LGT_MAX_DIM];
  int ndim, added = 0;
  *count = 0;
  if (!call->kind->several) return LGT_OK;
  lgt_status status = lgt_call_space(stores, call, &ndim, shape);
  if (!status) status = check_pairs(stores, call, ndim);
  if (status) return status;
  int n = list_sets(stores, call, ndim, writes);
  while (n > 1 && added < n && !status) {
    const lgt_share *share = NULL;
    status = find_share(kinds, kinds->kind[call->kind_number], writes[added], &share);
    if (!status) status = add_call(stores, kinds, call, share, ndim, shape, &out[added]);
    if (!status) added++;
  }
  if (!status) {
    *count = added;
    return LGT_OK;
  }
  for (int i = 0; i < added; i++)
    for (int a = 0; a < out[i].nargs; a++) lgt_store_at(stores, out[i].store[a])->refs--;
  return status;
}
