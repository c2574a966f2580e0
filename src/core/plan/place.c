/* place.c - which loop of a task a call joins.  See weave.h.
 *
 * Dependences are found by comparing an item's accesses with all earlier accesses of the same
 * buffer.  That is quadratic in the calls of one group, and is paid once for each plan.
 *
 * Two accesses of one buffer
 *   - agree if they are pointwise over the same space (lgt_pointwise);
 *   - are apart if the views certainly share no element;
 *   - else collide: the one that is later in program order goes to a later loop.
 */
#include <string.h>

#include "plan/weave.h"

enum { MAX_LOOP_INST = 480, MAX_LOOP_ACCESS = 44 };
/* Processors foresee what is read next of so many arrays side by side; each byte of more of them takes up to twice as long.
 * Of arrays of fewer bytes, which may stay in a cache, there may be more. */
enum { MAX_STREAMS = 15, LARGE_STREAM = 1 << 20 };

/* ---- how an item lies in its space ------------------------------------------------------------------ */

lgt_signature lgt_signature_of(const lgt_layout *layout, const lgt_alignment *align) {
  lgt_signature s = {.offset = layout->offset};
  for (int d = 0; d < layout->ndim; d++)
    if (align->to[d] >= 0 && layout->shape[d] != 1) s.stride[align->to[d]] = layout->stride[d];
  return s;
}

/* A halo, a block for each point, and a dimension that is whole are several elements. */
static bool names_one(const lgt_layout *layout, const lgt_alignment *align) {
  for (int d = 0; d < layout->ndim; d++)
    if ((align->to[d] < 0 && layout->shape[d] != 1) || align->below[d] || align->above[d] ||
        lgt_alignment_block(align, d) != 1)
      return false;
  return true;
}

bool lgt_pointwise(const lgt_layout *layout, const lgt_alignment *align, const lgt_layout *other,
                   const lgt_alignment *its) {
  lgt_signature a = lgt_signature_of(layout, align), b = lgt_signature_of(other, its);
  return lgt_signature_equal(&a, &b) && names_one(layout, align) && names_one(other, its);
}

lgt_alignment lgt_item_align(const lgt_weaver *w, const lgt_weave_item *item, int arg) {
  if (item->call != LGT_NONE) return w->plan->call[item->call].space.align[arg];
  lgt_alignment one = {.to = {0, 1, 2, 3, 4, 5}};
  return one;
}

void lgt_item_space(const lgt_weaver *w, const lgt_weave_item *item, int *ndim, int64_t *extent) {
  if (item->call != LGT_NONE) {
    const lgt_space *space = &w->plan->call[item->call].space;
    *ndim = space->ndim;
    memcpy(extent, space->extent, sizeof space->extent);
  } else {
    const lgt_layout *l = lgt_weaver_layout(w, item->layout[0]);
    *ndim = l->ndim;
    memcpy(extent, l->shape, sizeof l->shape);
  }
}

const lgt_partition *lgt_item_launch(const lgt_weaver *w, const lgt_weave_item *item) {
  if (item->call == LGT_NONE) return w->group->launch;
  const lgt_plan_call *call = &w->plan->call[item->call];
  return w->group->turns ? call->wide : w->group->mixed ? call->launch : w->group->launch;
}

bool lgt_same_space(int andim, const int64_t *a, int bndim, const int64_t *b) {
  if (andim != bndim) return false;
  for (int d = 0; d < andim; d++)
    if (a[d] != b[d]) return false;
  return true;
}

unsigned lgt_item_kept(const lgt_weaver *w, const lgt_weave_item *item, int ndim) {
  unsigned kept = 0;
  for (int a = 0; a < item->nargs; a++) {
    if (!lgt_item_reduces(item, a)) continue;
    lgt_alignment align = lgt_item_align(w, item, a);
    lgt_signature s = lgt_signature_of(lgt_weaver_layout(w, item->layout[a]), &align);
    for (int d = 0; d < ndim; d++)
      if (s.stride[d]) kept |= 1u << d;
  }
  return kept;
}

/* The last one, unless another takes far less time by this
 * estimate, in quarters of a cycle an element.  It rests on the call's own arguments and not on what is fused
 * with it, since the order of values depends on it. */
int lgt_item_innermost(const lgt_weaver *w, const lgt_weave_item *item, int ndim, const int64_t *extent,
                       unsigned kept) {
  enum { CONTIGUOUS = 1, STRIDED = 10, TARGET = 2, ROW = 180, SLAB = 40 };
  int best = -1;
  double least = 0;
  for (int d = ndim - 1; d >= 0; d--) {
    bool moves = kept >> d & 1;
    if (extent[d] < 2) continue;
    bool few = !kept || (moves && extent[d] <= LGT_LANES); /* accumulators stay in registers */
    double cost = (double)(few ? SLAB : ROW) / (double)extent[d] + (moves ? TARGET : 0);
    for (int a = 0; a < item->nargs; a++) {
      if (lgt_item_reduces(item, a)) continue;
      lgt_alignment align = lgt_item_align(w, item, a);
      int64_t stride = lgt_signature_of(lgt_weaver_layout(w, item->layout[a]), &align).stride[d];
      cost += stride == 0 ? 0 : stride == 1 || stride == -1 ? CONTIGUOUS : STRIDED;
    }
    if (best < 0 || cost * 1.5 < least) best = d, least = cost;
  }
  return best;
}

/* ---- dependences ------------------------------------------------------------------------------------ */

int lgt_weave_after(const lgt_weaver *w, const lgt_weave_item *item, int arg, const lgt_weave_item *earlier,
                    int other, bool ordered) {
  const lgt_layout *a = lgt_weaver_layout(w, item->layout[arg]),
                   *b = lgt_weaver_layout(w, earlier->layout[other]);
  int andim, bndim;
  /* A call by rows runs before the kernel comes to its block of rows. */
  if (lgt_kind_by_rows(item->kind)) ordered = true;
  int64_t aextent[LGT_MAX_DIM], bextent[LGT_MAX_DIM];
  if (!lgt_layout_may_overlap(a, b)) return 0;
  lgt_item_space(w, item, &andim, aextent);
  lgt_item_space(w, earlier, &bndim, bextent);
  if (!ordered && lgt_same_space(andim, aextent, bndim, bextent) &&
      lgt_item_launch(w, item) == lgt_item_launch(w, earlier)) {
    lgt_alignment align = lgt_item_align(w, item, arg), its = lgt_item_align(w, earlier, other);
    if (lgt_pointwise(a, &align, b, &its)) return earlier->loop;
  }
  return earlier->loop + 1;
}

int lgt_weave_earliest(const lgt_weaver *w, const lgt_weave_item *item, int arg, uint16_t buffer,
                       bool writes) {
  int loop = 0;
  /* From the last one, behind `item` are only copies made for its sake: most of those before cannot ask for more. */
  for (int i = w->items->nitem - 1; i >= 0; i--) {
    const lgt_weave_item *earlier = &w->items->item[i];
    if (earlier == item || earlier->loop == LGT_NONE || earlier->loop < loop) continue;
    for (int a = 0; a < earlier->nargs; a++) {
      bool wrote = earlier->out[a] == buffer, read = earlier->in[a] == buffer;
      if (!wrote && !(writes && read)) continue;
      bool ordered = (wrote && lgt_item_reduces(earlier, a)) || (writes && lgt_item_reduces(item, arg));
      int l = lgt_weave_after(w, item, arg, earlier, a, ordered);
      if (l > loop) loop = l;
    }
  }
  return loop;
}

/* ---- joining ---------------------------------------------------------------------------------------- */

/* Each part of a complex result is a reduction of its own. */
static int reductions_of(const lgt_weaver *w, const lgt_weave_item *item) {
  int n = 0;
  for (int a = 0; a < item->nargs; a++)
    if (lgt_item_reduces(item, a))
      n += lgt_dtype_is_pair(lgt_weaver_layout(w, item->layout[a])->dtype) ? 2 : 1;
  return n;
}

static int count_reductions(const lgt_weaver *w, int loop) {
  int n = 0;
  for (int i = 0; i < w->items->nitem; i++)
    if (w->items->item[i].loop == loop) n += reductions_of(w, &w->items->item[i]);
  return n;
}

/* Does an earlier item of the loop have this view of the buffer in a register? */
static bool in_register(const lgt_weaver *w, int loop, uint16_t buffer, uint32_t layout) {
  for (int i = 0; i < w->items->nitem; i++) {
    const lgt_weave_item *item = &w->items->item[i];
    for (int a = 0; item->loop == loop && a < item->nargs; a++)
      if ((item->in[a] == buffer || item->out[a] == buffer) && item->layout[a] == layout) return true;
  }
  return false;
}

/* Streams that the item adds to a loop.  An estimate: a result that only later turns out to be needed
 * by another loop is not counted. */
static int new_accesses(const lgt_weaver *w, const lgt_weave_item *item, int loop) {
  int n = 0;
  for (int a = 0; a < item->nargs; a++) {
    if (item->in[a] != LGT_NONE && !in_register(w, loop, item->in[a], item->layout[a])) n++;
    if (item->out[a] == LGT_NONE) continue;
    const lgt_plan_root *root = &w->plan->root[w->items->buffer[item->out[a]].root];
    if (root->stored || !root->fresh) n++;
  }
  return n;
}

static bool is_large(const lgt_weaver *w, uint16_t buffer) {
  const lgt_layout *root = lgt_weaver_layout(w, w->plan->root[w->items->buffer[buffer].root].layout);
  return lgt_layout_bytes(root) >= LARGE_STREAM;
}

/* Does an item of the loop use the buffer, or this one through an argument before? */
static bool is_used(const lgt_weaver *w, const lgt_weave_item *self, int arg, int loop, uint16_t buffer) {
  for (int a = 0; a < arg; a++)
    if (self->in[a] == buffer || self->out[a] == buffer) return true;
  for (int i = 0; i < w->items->nitem; i++) {
    const lgt_weave_item *item = &w->items->item[i];
    for (int a = 0; item->loop == loop && a < item->nargs; a++)
      if (item->in[a] == buffer || item->out[a] == buffer) return true;
  }
  return false;
}

/* Large arrays that the item adds to those of a loop, with the uncertainty of new_accesses. */
static int new_streams(const lgt_weaver *w, const lgt_weave_item *item, int loop) {
  int n = 0;
  for (int a = 0; a < item->nargs; a++) {
    uint16_t buffer = item->in[a] != LGT_NONE ? item->in[a] : item->out[a];
    if (buffer == LGT_NONE || !is_large(w, buffer) || is_used(w, item, a, loop, buffer)) continue;
    const lgt_plan_root *root = &w->plan->root[w->items->buffer[buffer].root];
    n += item->in[a] != LGT_NONE || root->stored || !root->fresh;
  }
  return n;
}

/* How a loop with calls by rows and with reductions is cut follows from the order of values alone.  Are there enough
 * chunks for all workers to take part in the calls?  (Or is there little to do?) */
static bool enough_chunks(const lgt_weaver *w, int64_t rows) {
  enum { FEW_ROWS = 2048, EACH = 4, MOST = 64 };
  int wanted = w->fuser->workers * EACH;
  int64_t tile = rows / w->group->launch->ncolour;
  return tile <= FEW_ROWS || lgt_reduction_chunks(tile) >= (wanted < MOST ? wanted : MOST);
}

static bool may_join(const lgt_weaver *w, const lgt_weave_item *item, int number, int ndim,
                     const int64_t *extent, unsigned kept, int inner) {
  const lgt_weave_loop *loop = &w->loop[number];
  if (loop->alone || lgt_kind_alone(item->kind) || !w->fuser->config->kernel_fusion) return false;
  if (!lgt_same_space(loop->ndim, loop->extent, ndim, extent) || loop->launch != lgt_item_launch(w, item))
    return false;
  bool by_rows = loop->by_rows || lgt_kind_native(item->kind), reduces = loop->reduces || item->kind->reduces;
  if (by_rows && reduces && !enough_chunks(w, extent[0])) return false;
  if (item->kind->reduces && loop->reduces &&
      (loop->kept != kept || loop->inner != inner ||
       count_reductions(w, number) + reductions_of(w, item) > LGT_MAX_REDUCTIONS))
    return false;
  int ninst = item->kind->body ? item->kind->body->ninst : 2, streams = new_streams(w, item, number);
  if (streams && loop->nstream + streams > MAX_STREAMS) return false;
  return loop->ninst + ninst <= MAX_LOOP_INST &&
         loop->naccess + new_accesses(w, item, number) <= MAX_LOOP_ACCESS;
}

bool lgt_weave_fits(const lgt_weaver *w, const lgt_weave_item *item, int number) {
  int ndim;
  int64_t extent[LGT_MAX_DIM];
  lgt_item_space(w, item, &ndim, extent);
  unsigned kept = lgt_item_kept(w, item, ndim);
  int inner = item->kind->reduces ? lgt_item_innermost(w, item, ndim, extent, kept) : -1;
  return may_join(w, item, number, ndim, extent, kept, inner);
}

void lgt_weave_join(lgt_weaver *w, lgt_weave_item *item, int number) {
  lgt_weave_loop *loop = &w->loop[number];
  if (lgt_kind_native(item->kind)) loop->by_rows = true;
  loop->ninst += item->kind->body ? item->kind->body->ninst : 2;
  loop->naccess += new_accesses(w, item, number);
  loop->nstream += new_streams(w, item, number);
  item->loop = (uint16_t)number;
}

/* The buffers that the item touches are needed in its loop. */
static void note_loop(lgt_weaver *w, const lgt_weave_item *item) {
  for (int a = 0; a < item->nargs; a++) {
    uint16_t buffers[2] = {item->in[a], item->out[a]};
    for (int k = 0; k < 2; k++) {
      if (buffers[k] == LGT_NONE) continue;
      lgt_weave_buffer *b = &w->items->buffer[buffers[k]];
      if (b->first_loop == LGT_NONE || item->loop < b->first_loop) b->first_loop = item->loop;
      if (item->loop > b->last_loop) b->last_loop = item->loop;
    }
  }
}

void lgt_weave_note_loops(lgt_weaver *w) {
  for (int b = 0; b < w->items->nbuffer; b++)
    w->items->buffer[b].first_loop = LGT_NONE, w->items->buffer[b].last_loop = 0;
  for (int i = 0; i < w->items->nitem; i++)
    if (w->items->item[i].loop != LGT_NONE) note_loop(w, &w->items->item[i]);
}

lgt_status lgt_weave_place(lgt_weaver *w, lgt_weave_item *item, int from) {
  int ndim, number = from;
  int64_t extent[LGT_MAX_DIM];
  lgt_item_space(w, item, &ndim, extent);
  unsigned kept = lgt_item_kept(w, item, ndim);
  int inner = item->kind->reduces ? lgt_item_innermost(w, item, ndim, extent, kept) : -1;
  while (number < w->nloop && !may_join(w, item, number, ndim, extent, kept, inner)) number++;
  if (number == w->nloop) {
    if (!lgt_mem_grow((void **)&w->loop, &w->loop_room, w->nloop + 1, sizeof *w->loop))
      return lgt_no_memory_to_fuse();
    lgt_weave_loop *loop = &w->loop[w->nloop++];
    *loop = (lgt_weave_loop){
        .ndim = ndim, .launch = lgt_item_launch(w, item), .inner = -1, .alone = lgt_kind_alone(item->kind)};
    memcpy(loop->extent, extent, sizeof extent);
  }
  lgt_weave_loop *loop = &w->loop[number];
  if (item->kind->reduces) loop->reduces = true, loop->kept = kept, loop->inner = inner;
  lgt_weave_join(w, item, number);
  note_loop(w, item);
  for (int a = 0; a < item->nargs; a++) {
    if (item->out[a] == LGT_NONE) continue;
    lgt_weave_buffer *b = &w->items->buffer[item->out[a]];
    b->writers++;
    b->last_writer = (uint16_t)(item - w->items->item);
  }
  return LGT_OK;
}
