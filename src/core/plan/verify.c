/* verify.c - see verify.h. */
#include "plan/verify.h"

#include "plan/cells.h"
#include "plan/cut.h"

#define WRONG(...) (lgt_err(LGT_SYSTEM, __VA_ARGS__), false)

/* ---- windows --------------------------------------------------------------------------------------------- */

static bool verify_argument(const lgt_window *window, lgt_stores *stores, int i, int a, int *k, int *nroot) {
  const lgt_call *call = &window->call[i];
  uint64_t word = window->word[(*k)++];
  int number = (int)(word & 0xffff);
  bool first = word >> 16 & 1;
  if ((uint32_t)(word >> 32) != call->layout[a]) return WRONG("window: call %d, argument %d: layout", i, a);
  if (first != (number == *nroot) || number > *nroot)
    return WRONG("window: call %d, argument %d: root %d is not the next one", i, a, number);
  *nroot += first;
  if (number >= window->nroot || window->root[number] != call->store[a])
    return WRONG("window: call %d, argument %d: root %d is another array", i, a, number);
  if (!first) return true;
  const lgt_store *store = lgt_store_at(stores, call->store[a]);
  uint64_t state = window->word[(*k)++], key = window->word[(*k)++];
  if (state != ((uint64_t)store->written | (uint64_t)store->attached << 1) || key != (uintptr_t)store->key)
    return WRONG("window: call %d, argument %d: the state of root %d", i, a, number);
  return true;
}

bool lgt_window_verify(const lgt_window *window, lgt_stores *stores, int n) {
  int k = 0, nroot = 0;
  for (int i = 0; i < n; i++) {
    const lgt_call *call = &window->call[i];
    uint64_t word = window->word[k++];
    if ((word & 0xffff) != call->kind_number || (word >> 16 & 0xffff) != call->nargs)
      return WRONG("window: call %d: kind", i);
    for (int a = 0; a < call->nargs; a++)
      if (!verify_argument(window, stores, i, a, &k, &nroot)) return false;
  }
  if (k != window->nword || nroot != window->nroot) return WRONG("window: words or roots beyond the calls");
  return true;
}

/* ---- plans ----------------------------------------------------------------------------------------------- */

typedef struct verifier {
  const lgt_fuser *fuser;
  const lgt_plan *plan;
  const lgt_plan_group *group;
  int number; /* of the group */
} verifier;

static const lgt_layout *layout_of(const verifier *v, uint32_t layout) {
  return lgt_layout_at(v->fuser->stores, layout);
}

static bool verify_calls(const verifier *v) {
  const lgt_plan *plan = v->plan;
  int next = 0;
  for (int g = 0; g < plan->ngroup; g++) {
    const lgt_plan_group *group = &plan->group[g];
    int touch = 0;
    if (group->first != next || group->count < 1) return WRONG("plan: group %d does not follow", g);
    next += group->count;
    for (int i = group->first; i < next; i++) {
      const lgt_plan_call *call = &plan->call[i];
      bool one = call->launch->kind == LGT_PARTITION_NONE && group->launch->kind == LGT_PARTITION_NONE;
      if (!group->mixed && !one && call->launch != group->launch)
        return WRONG("plan: call %d: launch partition", i);
      if (call->touch != touch) return WRONG("plan: call %d: number of its first touch", i);
      touch += call->nargs;
    }
  }
  return next == plan->ncall ? true : WRONG("plan: %d of %d calls are in groups", next, plan->ncall);
}

static bool verify_roots(const verifier *v) {
  const lgt_plan *plan = v->plan;
  for (int r = 0; r < plan->nroot; r++) {
    const lgt_plan_root *root = &plan->root[r];
    int writes = 0;
    for (int i = 0; i < plan->ncall; i++)
      for (int a = 0; a < plan->call[i].nargs; a++) {
        if (plan->call[i].root[a] >= plan->nroot) return WRONG("plan: call %d, argument %d: root", i, a);
        writes += plan->call[i].root[a] == r && lgt_kind_writes(plan->call[i].kind, a);
      }
    if (writes != root->writes) return WRONG("plan: root %d is written %d times", r, writes);
    if (!root->fresh && !root->stored) return WRONG("plan: root %d was there before, and is not stored", r);
  }
  return true;
}

static bool is_slot(const verifier *v, uint16_t slot, bool initial) {
  return slot == LGT_NONE || (slot < v->group->nslot && v->group->slot[slot].initial == initial);
}

static bool verify_slots(const verifier *v) {
  for (int s = 0; s < v->group->nslot; s++) {
    const lgt_plan_slot *slot = &v->group->slot[s];
    if (slot->root != LGT_NONE && slot->root >= v->plan->nroot)
      return WRONG("plan: group %d, slot %d: root", v->number, s);
    if (slot->root != LGT_NONE && slot->layout != v->plan->root[slot->root].layout)
      return WRONG("plan: group %d, slot %d: layout", v->number, s);
    if (slot->initial && slot->root == LGT_NONE)
      return WRONG("plan: group %d, slot %d: contents of nothing", v->number, s);
    if (!is_slot(v, slot->rest, true) || !is_slot(v, slot->takes, true))
      return WRONG("plan: group %d, slot %d: former memory", v->number, s);
    if (slot->saved != LGT_NONE && (slot->saved >= v->group->nslot || !v->group->slot[slot->saved].former))
      return WRONG("plan: group %d, slot %d: saved contents", v->number, s);
  }
  return true;
}

/* Each root that the group makes, and that lasts, ends in one slot. */
static bool verify_finals(const verifier *v) {
  const lgt_plan_group *group = v->group;
  for (int f = 0; f < group->nfinal; f++) {
    uint16_t root = group->slot_of_final[2 * f], slot = group->slot_of_final[2 * f + 1];
    if (root >= v->plan->nroot || slot >= group->nslot || !v->plan->root[root].stored)
      return WRONG("plan: group %d: final %d", v->number, f);
    for (int e = 0; e < f; e++)
      if (group->slot_of_final[2 * e] == root)
        return WRONG("plan: group %d: root %d ends twice", v->number, root);
  }
  for (int e = 0; e < group->nelided; e++) {
    uint16_t root = group->elided[e].root;
    if (root >= v->plan->nroot || !v->plan->root[root].fresh || v->plan->root[root].stored)
      return WRONG("plan: group %d: elided result %d", v->number, e);
  }
  return true;
}

/* From the least to the greatest element of the root that the access comes to. */
static bool verify_access(const verifier *v, int l, const lgt_plan_access *access) {
  const lgt_plan_loop *loop = &v->group->loop[l];
  if (access->slot == LGT_NONE) return true;
  if (access->slot >= v->group->nslot || access->item >= v->group->items->nitem)
    return WRONG("plan: group %d, loop %d: an access of slot %d", v->number, l, access->slot);
  const lgt_layout *layout = layout_of(v, access->layout);
  int64_t size = layout_of(v, v->group->slot[access->slot].layout)->size, lo = access->offset, hi = lo;
  for (int d = 0; d < loop->space_ndim; d++) {
    int64_t reach = (loop->extent[d] - 1) * access->stride[d];
    if (loop->extent[d] == 0) return true;
    if (reach < 0) lo += reach;
    else hi += reach;
  }
  if (lgt_layout_root_size(layout) != size)
    return WRONG("plan: group %d, loop %d: a view of another root", v->number, l);
  if (lo < 0 || hi >= size)
    return WRONG("plan: group %d, loop %d: elements %lld to %lld of %lld", v->number, l, (long long)lo,
                 (long long)hi, (long long)size);
  return true;
}

/* The slot whose memory a slot may have when the group runs. */
static uint16_t memory_of(const verifier *v, uint16_t slot) {
  uint16_t old = v->group->slot[slot].takes;
  return old == LGT_NONE ? slot : old;
}

/* May accesses of two loops come to common elements? */
static bool meet(const verifier *v, const lgt_plan_loop *loop, int a, const lgt_plan_loop *other, int b) {
  uint16_t p = loop->access[a].slot, q = other->access[b].slot;
  return p != LGT_NONE && q != LGT_NONE && memory_of(v, p) == memory_of(v, q) &&
         !lgt_cut_apart(v->fuser->stores, loop, a, other, b);
}

/* May two accesses of a loop? */
static bool overlap(const verifier *v, const lgt_plan_loop *loop, int a, int b) {
  const lgt_plan_access *p = &loop->access[a], *q = &loop->access[b];
  return meet(v, loop, a, loop, b) && p->byte == q->byte &&
         lgt_layout_may_overlap(layout_of(v, p->layout), layout_of(v, q->layout));
}

/* Chunks and elements of a loop run in any order: what one of its accesses writes, others may load only for the same point,
 * before it is written.  (Several arguments of one call may store to the same elements.) */
static bool verify_accesses(const verifier *v, int l) {
  const lgt_plan_loop *loop = &v->group->loop[l];
  const lgt_loop *code = loop->kernel->loop;
  for (int a = 0; a < code->naccess; a++)
    for (int b = 0; b < code->naccess && code->access[a].mode == LGT_ACCESS_LOAD; b++) {
      const lgt_plan_access *p = &loop->access[a], *q = &loop->access[b];
      int mode = code->access[b].mode;
      if ((mode != LGT_ACCESS_STORE && mode != LGT_ACCESS_REDUCE) || !overlap(v, loop, a, b)) continue;
      bool same = mode == LGT_ACCESS_STORE && p->offset == q->offset;
      for (int d = 0; d < loop->space_ndim; d++)
        if (loop->extent[d] > 1 && p->stride[d] != q->stride[d]) same = false;
      if (!same)
        return WRONG("plan: group %d, loop %d: access %d loads what access %d writes at other points",
                     v->number, l, a, b);
    }
  for (int i = 0; i < code->ninst; i++)
    for (int k = 0; k < i && code->inst[i].op == LGT_OP_LOAD; k++)
      if (lgt_op_effect(code->inst[k].op) && overlap(v, loop, code->inst[i].a, code->inst[k].b))
        return WRONG("plan: group %d, loop %d: instruction %d loads what instruction %d has written",
                     v->number, l, i, k);
  return true;
}

/* Loops abreast run in any order: what one of them writes, others must not touch. */
static bool verify_abreast(const verifier *v, int l) {
  const lgt_plan_loop *loop = &v->group->loop[l];
  if (loop->abreast > l || v->group->loop[loop->abreast].abreast != loop->abreast)
    return WRONG("plan: group %d, loop %d: abreast of loop %d", v->number, l, loop->abreast);
  for (int k = loop->abreast; k < l; k++) {
    const lgt_plan_loop *other = &v->group->loop[k];
    if (other->abreast != loop->abreast || !loop->kernel || !other->kernel || loop->nnative || other->nnative)
      return WRONG("plan: group %d, loops %d and %d: abreast", v->number, k, l);
    const lgt_loop *code = loop->kernel->loop, *its = other->kernel->loop;
    for (int a = 0; a < code->naccess; a++)
      for (int b = 0; b < its->naccess; b++)
        if ((code->access[a].mode > LGT_ACCESS_LOAD || its->access[b].mode > LGT_ACCESS_LOAD) &&
            meet(v, loop, a, other, b))
          return WRONG("plan: group %d, loops %d and %d: abreast, but what one writes the other touches",
                       v->number, k, l);
  }
  return true;
}

static bool verify_loop(const verifier *v, int l) {
  const lgt_plan_loop *loop = &v->group->loop[l];
  const lgt_plan *plan = v->plan;
  int end = v->group->first + v->group->count;
  for (int i = 0; i < loop->nnative; i++)
    if (loop->native[i].call < v->group->first || loop->native[i].call >= end)
      return WRONG("plan: group %d, loop %d: a call of another group", v->number, l);
  if (!loop->kernel) return true;
  const lgt_loop *code = loop->kernel->loop;
  for (int a = 0; a < code->naccess; a++)
    if (!verify_access(v, l, &loop->access[a])) return false;
  for (int p = 0; p < code->nparam; p++) {
    int call = loop->param_call[p];
    if (call < v->group->first || call >= end || loop->param_index[p] >= plan->call[call].kind->nparams)
      return WRONG("plan: group %d, loop %d: parameter %d", v->number, l, p);
  }
  for (int d = 0; d < loop->ndim; d++)
    if (loop->dim[d] < 0 || loop->dim[d] >= loop->space_ndim)
      return WRONG("plan: group %d, loop %d: dimension %d", v->number, l, d);
  return verify_accesses(v, l);
}

/* ---- order ----------------------------------------------------------------------------------------------- */

/* The space of an item: of its call; of a copy that renaming makes, the copied piece. */
static int space_of(const verifier *v, const lgt_weave_item *item, const int64_t **extent) {
  const lgt_layout *piece = layout_of(v, item->layout[0]);
  const lgt_space *space = item->call == LGT_NONE ? NULL : &v->plan->call[item->call].space;
  *extent = space ? space->extent : piece->shape;
  return space ? space->ndim : piece->ndim;
}

/* The element of its root that an item's argument names at a point; -1: several. */
static int64_t element_at(const verifier *v, const lgt_weave_item *item, int arg, const int64_t *point) {
  const lgt_layout *layout = layout_of(v, item->layout[arg]);
  const lgt_alignment *align = item->call == LGT_NONE ? NULL : &v->plan->call[item->call].space.align[arg];
  int64_t at = layout->offset;
  for (int d = 0; d < layout->ndim; d++) {
    int to = align ? align->to[d] : d;
    if (layout->shape[d] == 1) continue;
    if (to < 0 || (align && (align->below[d] || align->above[d] || lgt_alignment_block(align, d) != 1)))
      return -1;
    at += point[to] * layout->stride[d];
  }
  return at;
}

/* Do two arguments name the same element, and no other, at each point of a space that their items share?  They do if they agree
 * in one corner and in those beside it. */
static bool same_elements(const verifier *v, const lgt_weave_item *x, int a, const lgt_weave_item *y, int b) {
  const int64_t *extent, *other;
  int64_t point[LGT_MAX_DIM] = {0};
  int ndim = space_of(v, x, &extent);
  if (ndim != space_of(v, y, &other)) return false;
  for (int d = 0; d < ndim; d++)
    if (extent[d] != other[d]) return false;
  for (int d = -1; d < ndim; d++) {
    if (d >= 0) point[d] = extent[d] - 1;
    int64_t at = element_at(v, x, a, point);
    if (at < 0 || at != element_at(v, y, b, point)) return false;
    if (d >= 0) point[d] = 0;
  }
  return true;
}

/* Does one of the items depend on the other through these arguments: do they share elements that one of them writes? */
static bool depend(const verifier *v, const lgt_weave_item *x, int a, const lgt_weave_item *y, int b) {
  bool wrote = x->out[a] != LGT_NONE && (x->out[a] == y->out[b] || x->out[a] == y->in[b]);
  bool writes = y->out[b] != LGT_NONE && y->out[b] == x->in[a];
  return (wrote || writes) && lgt_layout_may_overlap(layout_of(v, x->layout[a]), layout_of(v, y->layout[b]));
}

/* Item i comes before item j in the program: does j run after i, if it depends on i?  In one loop it does if both touch the
 * same elements at each point, and i is the first; calls by rows run before the rest of a loop. */
static bool verify_pair(const verifier *v, int i, int j) {
  const lgt_weave_item *x = &v->group->items->item[i], *y = &v->group->items->item[j];
  for (int a = 0; a < x->nargs; a++)
    for (int b = 0; b < y->nargs && x->loop >= y->loop; b++) {
      if (!depend(v, x, a, y, b)) continue;
      if (x->loop > y->loop)
        return WRONG("plan: group %d: item %d runs before item %d, on which it depends", v->number, j, i);
      if (i > j || lgt_kind_native(y->kind) || lgt_item_reduces(x, a) || lgt_item_reduces(y, b) ||
          !same_elements(v, x, a, y, b))
        return WRONG("plan: group %d: items %d and %d touch other elements of an array in one loop",
                     v->number, i, j);
    }
  return true;
}

static bool verify_order(const verifier *v) {
  const lgt_weave_items *items = v->group->items;
  for (int i = 0; i < items->nitem; i++)
    for (int j = 0; j < items->nitem; j++)
      if (items->item[i].loop != LGT_NONE && items->item[j].loop != LGT_NONE &&
          lgt_item_order(&items->item[i]) < lgt_item_order(&items->item[j]) && !verify_pair(v, i, j))
        return false;
  return true;
}

/* Of a buffer that may be written over an old one: have all who read that done so, in an earlier loop, or in the same one,
 * element by element? */
static bool verify_taken(const verifier *v, uint16_t old, uint16_t new) {
  const lgt_weave_items *items = v->group->items;
  for (int i = 0; i < items->nitem; i++)
    for (int a = 0; a < items->item[i].nargs; a++) {
      const lgt_weave_item *x = &items->item[i];
      if (x->loop == LGT_NONE || x->in[a] != old) continue;
      for (int j = 0; j < items->nitem; j++)
        for (int b = 0; b < items->item[j].nargs; b++) {
          const lgt_weave_item *y = &items->item[j];
          if (y->loop == LGT_NONE || y->out[b] != new || x->loop < y->loop ||
              !lgt_layout_may_overlap(layout_of(v, x->layout[a]), layout_of(v, y->layout[b])))
            continue;
          if (x->loop > y->loop || lgt_item_order(x) > lgt_item_order(y) || lgt_kind_native(y->kind) ||
              lgt_item_reduces(y, b) || !same_elements(v, x, a, y, b))
            return WRONG("plan: group %d: item %d may write over what item %d reads", v->number, j, i);
        }
    }
  return true;
}

static bool writes_within(const verifier *v, const lgt_weave_item *item, const lgt_layout *piece) {
  for (int a = 0; a < item->nargs; a++)
    if (item->out[a] != LGT_NONE && lgt_layout_may_overlap(piece, layout_of(v, item->layout[a]))) return true;
  return false;
}

static int maker_in(const verifier *v, int number, uint32_t piece);

/* Who made what a buffer has of a piece of its root when the program comes to a place: an item, or, if none did, a number that
 * the buffer alone has.  Copies make nothing. */
static int maker_of(const verifier *v, uint16_t buffer, uint32_t piece, int place) {
  const lgt_weave_items *items = v->group->items;
  int found = -1;
  for (int i = 0; i < items->nitem; i++) {
    const lgt_weave_item *item = &items->item[i];
    bool writes = false;
    for (int a = 0; a < item->nargs; a++) writes |= item->out[a] == buffer;
    if (!writes || !writes_within(v, item, layout_of(v, piece)) || lgt_item_order(item) >= place) continue;
    if (found < 0 || lgt_item_order(&items->item[found]) < lgt_item_order(item)) found = i;
  }
  return found < 0 ? -1 - buffer : maker_in(v, found, piece);
}

/* Who made what an item leaves of a piece. */
static int maker_in(const verifier *v, int number, uint32_t piece) {
  const lgt_weave_item *item = &v->group->items->item[number];
  if (item->call != LGT_NONE || item->layout[0] != piece) return number;
  return maker_of(v, item->in[1], piece, lgt_item_order(item));
}

/* The buffer through which an item writes to a slot; LGT_NONE: it does not. */
static uint16_t written_in(const verifier *v, const lgt_weave_item *item, uint16_t slot) {
  for (int a = 0; a < item->nargs; a++)
    if (item->out[a] != LGT_NONE && v->group->items->buffer[item->out[a]].slot == slot) return item->out[a];
  return LGT_NONE;
}

/* Of two items that write to a slot: does the second one do so later?  Those of one buffer may write other elements of it in
 * any order of loops, and count as in the program, as for maker_of. */
static bool writes_later(const lgt_weave_item *a, uint16_t buffer, const lgt_weave_item *b, uint16_t its) {
  if (buffer != its && a->loop != b->loop) return a->loop < b->loop;
  return lgt_item_order(a) <= lgt_item_order(b); /* in one loop the later one in the program stores */
}

/* Of a copy that is not run: is what it would copy what came to its memory last? */
static bool verify_there(const verifier *v, int number) {
  const lgt_weave_items *items = v->group->items;
  const lgt_weave_item *copy = &items->item[number];
  const lgt_layout *piece = layout_of(v, copy->layout[0]);
  uint16_t slot = items->buffer[copy->out[0]].slot, newest = LGT_NONE;
  int last = -1;
  for (int i = 0; i < items->nitem; i++) {
    const lgt_weave_item *item = &items->item[i];
    uint16_t buffer = written_in(v, item, slot);
    if (buffer == LGT_NONE || item->there || item->loop == LGT_NONE || item->loop >= copy->loop) continue;
    if (!writes_within(v, item, piece)) continue;
    if (last < 0 || writes_later(&items->item[last], newest, item, buffer)) last = i, newest = buffer;
  }
  if (last >= 0 && maker_in(v, last, copy->layout[0]) == maker_in(v, number, copy->layout[0])) return true;
  return WRONG("plan: group %d: what item %d would copy is not in its memory", v->number, number);
}

static bool verify_takes(const verifier *v) {
  const lgt_weave_items *items = v->group->items;
  const lgt_plan_slot *slots = v->group->slot;
  for (int b = 0; b < items->nbuffer; b++) {
    uint16_t slot = items->buffer[b].slot;
    if (slot == LGT_NONE || slots[slot].takes == LGT_NONE) continue;
    const lgt_layout *mine = layout_of(v, slots[slot].layout),
                     *its = layout_of(v, slots[slots[slot].takes].layout);
    if (lgt_layout_bytes(mine) != lgt_layout_bytes(its) || slots[slots[slot].takes].written)
      return WRONG("plan: group %d: slot %d takes memory of another size, or that is written", v->number,
                   slot);
    for (int s = 0; s < slot; s++)
      if (slots[s].takes == slots[slot].takes)
        return WRONG("plan: group %d: slots %d and %d take the same memory", v->number, s, slot);
    for (int old = 0; old < items->nbuffer; old++)
      if (items->buffer[old].slot == slots[slot].takes && !verify_taken(v, (uint16_t)old, (uint16_t)b))
        return false;
  }
  return true;
}

/* ---- recipes --------------------------------------------------------------------------------------------- */

static bool reads_slot(const lgt_plan_elided *elided, uint16_t slot) {
  return slot != LGT_NONE && elided->reads[slot / 64] >> slot % 64 & 1;
}

/* Does one of the recipe's first k items write the buffer? */
static bool made_before(const verifier *v, const lgt_plan_elided *elided, int k, uint16_t buffer) {
  for (int i = 0; i < k; i++) {
    const lgt_weave_item *item = &v->group->items->item[elided->item[i]];
    for (int a = 0; a < item->nargs; a++)
      if (item->out[a] == buffer) return true;
  }
  return false;
}

/* Around the elements of its root that an item's argument names. */
static lgt_rect box_of(const verifier *v, const lgt_weave_item *item, int a) {
  const lgt_layout *layout = layout_of(v, item->layout[a]);
  lgt_rect all = lgt_rect_of_shape(layout->ndim, layout->shape);
  return lgt_layout_root_rect(layout, &all);
}

/* What a recipe reads from memory must stay as the group leaves it: does no later item change it? */
static bool verify_kept(const verifier *v, int e, int number, int a) {
  const lgt_weave_items *items = v->group->items;
  const lgt_weave_item *reader = &items->item[number];
  uint16_t slot = items->buffer[reader->in[a]].slot;
  lgt_rect read = box_of(v, reader, a), common;
  for (int i = number + 1; i < items->nitem; i++) {
    const lgt_weave_item *item = &items->item[i];
    for (int b = 0; b < item->nargs && item->loop != LGT_NONE; b++) {
      if (item->out[b] == LGT_NONE || items->buffer[item->out[b]].slot != slot) continue;
      lgt_rect written = box_of(v, item, b);
      if (lgt_rect_intersect(&written, &read, &common))
        return WRONG("plan: group %d, recipe %d: item %d changes what item %d reads", v->number, e, i,
                     number);
    }
  }
  return true;
}

static bool verify_item(const verifier *v, int e, int k) {
  const lgt_plan_elided *elided = &v->group->elided[e];
  const lgt_weave_item *item = &v->group->items->item[elided->item[k]];
  for (int a = 0; a < item->nargs; a++) {
    if (item->in[a] == LGT_NONE || made_before(v, elided, k, item->in[a])) continue;
    const lgt_weave_buffer *buffer = &v->group->items->buffer[item->in[a]];
    if (buffer->versions && reads_slot(elided, buffer->saved)) continue;
    if (!reads_slot(elided, buffer->slot))
      return WRONG("plan: group %d, recipe %d: item %d reads what is not kept", v->number, e,
                   elided->item[k]);
    if (!verify_kept(v, e, elided->item[k], a)) return false;
  }
  return true;
}

static bool verify_recipe(const verifier *v, int e) {
  const lgt_plan_elided *elided = &v->group->elided[e];
  bool makes = false;
  if (elided->must_die) return true;
  for (int k = 0; k < elided->nitem; k++) {
    if (elided->item[k] >= v->group->items->nitem)
      return WRONG("plan: group %d, recipe %d: no item %d", v->number, e, elided->item[k]);
    const lgt_weave_item *item = &v->group->items->item[elided->item[k]];
    for (int a = 0; a < item->nargs && item->call != LGT_NONE; a++)
      makes |= v->plan->call[item->call].root[a] == elided->root && lgt_kind_writes(item->kind, a);
    if (!verify_item(v, e, k)) return false;
  }
  if (!makes) return WRONG("plan: group %d, recipe %d does not make its result", v->number, e);
  for (int s = 0; s < v->group->nslot; s++)
    if (reads_slot(elided, (uint16_t)s) && !v->group->slot[s].pinned)
      return WRONG("plan: group %d, recipe %d: slot %d is not pinned", v->number, e, s);
  return true;
}

/* ---- margins --------------------------------------------------------------------------------------------- */

/* What a call touches of a root through an argument, for a tile of its space. */
static lgt_rect touched(const verifier *v, const lgt_plan_call *call, int arg, const lgt_rect *tile) {
  const lgt_layout *layout = layout_of(v, call->layout[arg]);
  lgt_rect view = lgt_space_view_rect(layout, &call->space.align[arg], tile);
  return lgt_layout_root_rect(layout, &view);
}

/* Does each task write itself, in its tile and the margin, what it then reads of an earlier call's results? */
static bool verify_margin(const verifier *v, const lgt_plan_call *earlier, int b, const lgt_plan_call *call,
                          int a) {
  lgt_rect space = lgt_rect_of_shape(earlier->space.ndim, earlier->space.extent);
  lgt_rect all = touched(v, earlier, b, &space), part;
  for (int c = 0; c < v->group->launch->ncolour; c++) {
    lgt_rect reads = lgt_cells_tile(v->group, call->wide, c),
             writes = lgt_cells_tile(v->group, earlier->wide, c);
    if (lgt_rect_empty(&reads)) continue;
    bool any = !lgt_rect_empty(&writes);
    reads = touched(v, call, a, &reads);
    if (any) writes = touched(v, earlier, b, &writes);
    if (lgt_rect_intersect(&reads, &all, &part) && (!any || !lgt_rect_contains(&writes, &part)))
      return WRONG("plan: group %d: call %d reads what another tile has of call %d", v->number,
                   (int)(call - v->plan->call), (int)(earlier - v->plan->call));
  }
  return true;
}

static bool verify_margins(const verifier *v) {
  const lgt_plan_group *group = v->group;
  for (int j = group->first; j < group->first + group->count && group->turns; j++)
    for (int i = group->first; i < j; i++)
      for (int a = 0; a < v->plan->call[j].nargs; a++)
        for (int b = 0; b < v->plan->call[i].nargs; b++) {
          const lgt_plan_call *x = &v->plan->call[i], *y = &v->plan->call[j];
          if (x->root[b] == y->root[a] && !x->repeats && lgt_kind_writes(x->kind, b) &&
              !lgt_kind_writes(y->kind, a) &&
              lgt_layout_may_overlap(layout_of(v, x->layout[b]), layout_of(v, y->layout[a])) &&
              !verify_margin(v, x, b, y, a))
            return false;
        }
  return true;
}

bool lgt_plan_verify(const lgt_fuser *fuser, const lgt_plan *plan) {
  verifier v = {fuser, plan, NULL, 0};
  if (!verify_calls(&v) || !verify_roots(&v)) return false;
  for (; v.number < plan->ngroup; v.number++) {
    v.group = &plan->group[v.number];
    if (!verify_slots(&v) || !verify_finals(&v)) return false;
    for (int l = 0; l < v.group->nloop; l++)
      if (!verify_loop(&v, l) || !verify_abreast(&v, l)) return false;
    if (!verify_order(&v) || !verify_takes(&v) || !verify_margins(&v)) return false;
    for (int i = 0; i < v.group->items->nitem; i++)
      if (v.group->items->item[i].there && !verify_there(&v, i)) return false;
    for (int e = 0; e < v.group->nelided; e++)
      if (!verify_recipe(&v, e)) return false;
  }
  return true;
}
