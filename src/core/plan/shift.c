/* shift.c - see shift.h. */
#include "plan/shift.h"

#include <stdlib.h>
#include <string.h>

#include "plan/abreast.h"
#include "plan/verify.h"

/* ---- guards: what planning decided about pairs of accesses ------------------------------------------- */

typedef struct user {
  uint16_t buffer, item;
  uint8_t arg;
  bool writes;
} user;

static int by_buffer(const void *a, const void *b) {
  const user *x = a, *y = b;
  return x->buffer != y->buffer ? (int)x->buffer - y->buffer : (int)x->item - y->item;
}

/* Two buffers may be one memory when the group runs. */
static uint16_t memory_of(const lgt_weave_items *items, uint16_t buffer) {
  uint16_t old = items->buffer[buffer].takes;
  return old == LGT_NONE ? buffer : old;
}

/* Who accesses which buffer, sorted by buffers; NULL when out of memory. */
static user *list_users(const lgt_weave_items *items, int *count) {
  size_t room = 1;
  for (int i = 0; i < items->nitem; i++) room += 2 * items->item[i].nargs;
  user *out = lgt_mem_alloc(room * sizeof *out);
  int n = 0;
  for (int i = 0; out && i < items->nitem; i++) {
    const lgt_weave_item *item = &items->item[i];
    for (int a = 0; a < item->nargs && item->loop != LGT_NONE; a++) {
      if (item->in[a] != LGT_NONE)
        out[n++] = (user){memory_of(items, item->in[a]), (uint16_t)i, (uint8_t)a, false};
      if (item->out[a] != LGT_NONE)
        out[n++] = (user){memory_of(items, item->out[a]), (uint16_t)i, (uint8_t)a, true};
    }
  }
  if (out) qsort(out, (size_t)n, sizeof *out, by_buffer);
  *count = n;
  return out;
}

static bool agree(const lgt_weaver *w, const lgt_guard *g) {
  const lgt_weave_item *a = &w->items->item[g->item[0]], *b = &w->items->item[g->item[1]];
  lgt_alignment mine = lgt_item_align(w, a, g->arg[0]), theirs = lgt_item_align(w, b, g->arg[1]);
  return lgt_pointwise(lgt_weaver_layout(w, a->layout[g->arg[0]]), &mine,
                       lgt_weaver_layout(w, b->layout[g->arg[1]]), &theirs);
}

static bool apart(const lgt_weaver *w, const lgt_guard *g) {
  const lgt_weave_item *item = w->items->item;
  return !lgt_layout_may_overlap(lgt_layout_at(w->fuser->stores, item[g->item[0]].layout[g->arg[0]]),
                                 lgt_layout_at(w->fuser->stores, item[g->item[1]].layout[g->arg[1]]));
}

/* Does the plan rest on how two accesses of a buffer lie?  Then the guard says how. */
static bool needs_guard(const lgt_weaver *w, const user *a, const user *b, lgt_guard *out) {
  const lgt_weave_item *x = &w->items->item[a->item], *y = &w->items->item[b->item];
  bool writes = a->writes || b->writes, together = x->loop == y->loop;
  *out = (lgt_guard){{a->item, b->item}, {a->arg, b->arg}, false};
  if (a->item == b->item && a->arg == b->arg) return false;
  if (!together && (!writes || (lgt_item_order(x) < lgt_item_order(y)) == (x->loop < y->loop))) return false;
  if (x->layout[a->arg] == y->layout[b->arg] && agree(w, out)) return false; /* of any window of this form */
  out->apart = writes && apart(w, out);
  return out->apart || agree(w, out);
}

static bool make_guards(const lgt_weaver *w, lgt_plan_group *group) {
  int n, room = 0;
  user *u = list_users(w->items, &n);
  for (int i = 0; u && i < n; i++)
    for (int j = i + 1; j < n && u[j].buffer == u[i].buffer; j++) {
      lgt_guard g;
      if (!needs_guard(w, &u[i], &u[j], &g)) continue;
      if (!lgt_mem_grow((void **)&group->notes->guard, &room, group->notes->nguard + 1,
                        sizeof *group->notes->guard)) {
        lgt_mem_free(u);
        return false;
      }
      group->notes->guard[group->notes->nguard++] = g;
    }
  lgt_mem_free(u);
  group->notes->guarded = u != NULL;
  return group->notes->guarded;
}

/* ---- the copy ---------------------------------------------------------------------------------------------- */

/* All of a shifted plan is one block; first without memory, to find its size. */
typedef struct block {
  char *memory;
  size_t used;
} block;

static void *take(block *b, const void *from, size_t size) {
  void *p = b->memory ? b->memory + b->used : NULL;
  b->used += (size + 15) / 16 * 16;
  if (p && from) memcpy(p, from, size);
  return p;
}

#define TAKE(b, from, n) take(b, from, (size_t)(n) * sizeof *(from))

static void copy_loop(block *b, const lgt_plan_loop *from, lgt_plan_loop *to) {
  lgt_plan_native *native = TAKE(b, from->native, from->nnative);
  for (int i = 0; i < from->nnative; i++) {
    lgt_plan_access *access = TAKE(b, from->native[i].access, from->native[i].kind->nargs);
    if (to) native[i].access = access;
  }
  if (to) to->native = native;
  if (!from->kernel) return;
  int n = from->kernel->loop->naccess;
  lgt_plan_access *access = TAKE(b, from->access, n);
  int64_t *stride = take(b, NULL, ((size_t)n + 1) * LGT_MAX_DIM * sizeof *stride);
  lgt_base *base = TAKE(b, from->base, n + 1);
  if (!to) return;
  to->access = access;
  to->shape.stride = stride;
  to->base = base;
}

static void copy_group(block *b, const lgt_plan_group *from, lgt_plan_group *to, lgt_plan *plan) {
  lgt_plan_slot *slot = TAKE(b, from->slot, from->nslot + 1);
  lgt_plan_loop *loop = TAKE(b, from->loop, from->nloop + 1);
  lgt_plan_elided *elided = TAKE(b, from->elided, from->nelided + 1);
  lgt_weave_items *items = TAKE(b, from->items, 1);
  lgt_weave_item *item = TAKE(b, from->items->item, from->items->nitem);
  lgt_weave_buffer *buffer = TAKE(b, from->items->buffer, from->items->nbuffer);
  lgt_plan_notes *notes = TAKE(b, from->notes, 1);
  for (int l = 0; l < from->nloop; l++) copy_loop(b, &from->loop[l], loop ? &loop[l] : NULL);
  if (!to) return;
  items->item = item;
  items->buffer = buffer;
  to->plan = plan;
  to->slot = slot;
  to->loop = loop;
  to->elided = elided;
  to->items = items;
  *notes = (lgt_plan_notes){0}; /* its origin has guards and a name */
  to->notes = notes;
}

static lgt_plan *copy_plan(block *b, lgt_plan *from) {
  lgt_plan *plan = TAKE(b, from, 1);
  lgt_plan_call *call = TAKE(b, from->call, from->ncall);
  for (int i = 0; i < from->ncall; i++) {
    if (from->call[i].kind->body) continue;
    lgt_alignment *align = TAKE(b, from->call[i].space.align, from->call[i].nargs);
    if (call) call[i].space.align = align;
  }
  lgt_plan_root *root = TAKE(b, from->root, from->nroot);
  lgt_plan_group *group = TAKE(b, from->group, from->ngroup);
  for (int g = 0; g < from->ngroup; g++) copy_group(b, &from->group[g], group ? &group[g] : NULL, plan);
  if (!plan) return NULL;
  plan->call = call;
  plan->root = root;
  plan->group = group;
  plan->origin = lgt_plan_retain(from);
  plan->refs = 1;
  return plan;
}

void lgt_plan_release(lgt_plan *plan) {
  if (!plan || --plan->refs > 0 || !plan->origin) return;
  lgt_plan_release(plan->origin);
  for (int g = 0; g < plan->ngroup; g++) lgt_plan_notes_fini(plan->group[g].notes, plan->group[g].nelided);
  *plan->link = plan->next_shifted;
  if (plan->next_shifted) plan->next_shifted->link = plan->link;
  lgt_mem_free(plan);
}

static void enlist(lgt_fuser *fuser, lgt_plan *plan) {
  plan->next_shifted = fuser->shifted;
  plan->link = &fuser->shifted;
  if (plan->next_shifted) plan->next_shifted->link = &plan->next_shifted;
  fuser->shifted = plan;
}

/* ---- new numbers --------------------------------------------------------------------------------------------- */

typedef struct shifter {
  lgt_fuser *fuser;
  const lgt_window *window;
  uint32_t stamp;
  bool translated, cut_alike; /* see shift.h: guards hold; decisions are the same */
} shifter;

/* The layouts of the origin get their numbers again. */
static void number_layouts(const shifter *s, const lgt_plan *origin) {
  for (int i = 0; i < origin->nlayout; i++) {
    lgt_layout_note *note = &s->fuser->stores->note[origin->layout[i]];
    note->stamp = s->stamp;
    note->number = (uint32_t)i;
  }
}

static void renumber(const shifter *s, uint32_t *layout) {
  const lgt_layout_note *note = &s->fuser->stores->note[*layout];
  lgt_assert(note->stamp == s->stamp);
  *layout = s->window->layout[note->number];
}

/* ---- translated windows ------------------------------------------------------------------------------------ */

/* Is one view the other one, but for where it begins? */
static bool same_but_placed(const lgt_layout *a, const lgt_layout *b) {
  return a->dtype == b->dtype && a->ndim == b->ndim && a->root_ndim == b->root_ndim && a->flags == b->flags &&
         !(a->flags & LGT_LAYOUT_RESHAPED) && !memcmp(a->dim, b->dim, sizeof a->dim) &&
         !memcmp(a->shape, b->shape, sizeof a->shape) && !memcmp(a->stride, b->stride, sizeof a->stride) &&
         !memcmp(a->root_shape, b->root_shape, sizeof a->root_shape);
}

/* Two pairs of views of one root: are those of one as far from each other as those of the other? */
static bool equally_far(const lgt_layout *a, const lgt_layout *to_a, const lgt_layout *b,
                        const lgt_layout *to_b) {
  for (int k = 0; k < a->root_ndim; k++)
    if (to_a->first[k] - a->first[k] != to_b->first[k] - b->first[k]) return false;
  return true;
}

/* Does what decides how a call is cut stay as it is, where a view of it is in another place? */
static bool stays_cut(const lgt_plan *origin, const lgt_plan_call *call, int arg, const lgt_layout *from,
                      const lgt_layout *to) {
  const lgt_partition *key = origin->root[call->root[arg]].key, *launch = call->launch;
  if (launch->kind == LGT_PARTITION_RECTS || (key && key->kind == LGT_PARTITION_RECTS)) return from == to;
  for (int k = 0; k < from->root_ndim; k++) {
    if (from->first[k] == to->first[k]) continue;
    for (int d = 0; d < from->ndim; d++) {
      int s = call->space.align[arg].to[d];
      if (from->dim[d] == k && s >= 0 && launch->kind == LGT_PARTITION_TILING && launch->grid[s] > 1)
        return false;
    }
    if (!key || key->kind == LGT_PARTITION_NONE || key->grid[k] == 1) continue;
    if (from->first[k] != from->last[k] ||
        lgt_partition_tile_at(key, k, from->first[k]) != lgt_partition_tile_at(key, k, to->first[k]))
      return false;
  }
  return true;
}

/* Is the window a translated one?  The origin's layouts are numbered. */
static void find_translation(shifter *s, const lgt_plan *origin) {
  const lgt_stores *stores = s->fuser->stores;
  size_t nroot = (size_t)origin->nroot, nlayout = (size_t)origin->nlayout;
  const lgt_layout **first = lgt_mem_zalloc((2 * nroot + 1) * sizeof *first + nlayout), **moved;
  if (!first) return;
  moved = first + nroot;
  bool *alike = (bool *)(moved + nroot + 1); /* by number of a layout, which many views have */
  s->translated = s->cut_alike = true;
  for (int r = 0; r < origin->nroot; r++)
    s->cut_alike &= origin->root[r].key == lgt_store_at(s->fuser->stores, s->window->root[r])->key;
  for (int i = 0; i < origin->ncall && s->translated; i++)
    for (int a = 0; a < origin->call[i].nargs && s->translated; a++) {
      const lgt_plan_call *call = &origin->call[i];
      uint32_t layout = call->layout[a];
      const lgt_layout *from = lgt_layout_at(stores, layout),
                       *to = lgt_layout_at(stores, s->window->call[i].layout[a]);
      int r = call->root[a];
      if (!first[r]) first[r] = from, moved[r] = to;
      if (from == to && first[r] == moved[r]) continue;
      uint32_t number = stores->note[layout].number;
      s->translated = (alike[number] || same_but_placed(from, to)) && first[r] != moved[r] &&
                      equally_far(first[r], moved[r], from, to);
      alike[number] = s->translated;
      s->cut_alike = s->cut_alike && s->translated && stays_cut(origin, call, a, from, to);
    }
  lgt_mem_free(first);
}

/* The space of a call; of a translated window's, it stays as it is. */
static bool shift_call_space(const shifter *s, lgt_plan_call *call, const lgt_call *in) {
  lgt_alignment align[LGT_MAX_ARGS];
  lgt_space space = {.align = align};
  if (s->translated && !s->fuser->config->check) return true;
  if (lgt_space_of_call(s->fuser->stores, in, &space)) return false;
  if (space.ndim != call->space.ndim) return false;
  lgt_assert(!s->translated ||
             (call->space.unit == space.unit &&
              !memcmp(call->space.extent, space.extent, sizeof space.extent) &&
              (call->kind->body || !memcmp(call->space.align, align, call->nargs * sizeof *align))));
  memcpy(call->space.extent, space.extent, sizeof space.extent);
  if (!call->kind->body) /* blocks that fit change with extents */
    memcpy(call->space.align, align, call->nargs * sizeof *align);
  call->space.unit = space.unit;
  return true;
}

static bool shift_calls(const shifter *s, lgt_plan *plan) {
  for (int i = 0; i < plan->ncall; i++) {
    if (!shift_call_space(s, &plan->call[i], &s->window->call[i])) return false;
    memcpy(plan->call[i].layout, s->window->call[i].layout, sizeof plan->call[i].layout);
  }
  for (int r = 0; r < plan->nroot; r++) {
    lgt_plan_root *root = &plan->root[r];
    renumber(s, &root->layout);
    if (root->pieces && lgt_plan_pieces(s->fuser, plan, (uint16_t)r) != root->pieces) return false;
  }
  return true;
}

/* Items of the program have their call's layouts; copies made by planning, the piece of their root that is left. */
static bool shift_items(const lgt_weaver *w) {
  lgt_stores *stores = w->fuser->stores;
  for (int i = 0; i < w->items->nitem; i++) {
    lgt_weave_item *item = &w->items->item[i];
    if (item->call != LGT_NONE) {
      memcpy(item->layout, w->plan->call[item->call].layout, sizeof item->layout);
      continue;
    }
    uint32_t root = w->plan->root[w->items->buffer[item->out[0]].root].layout;
    const lgt_plan_call *cause = &w->plan->call[item->cause];
    const lgt_layout *written =
        item->cause_arg == 0xff ? NULL : lgt_layout_at(stores, cause->layout[item->cause_arg]);
    lgt_rect piece[2 * LGT_MAX_DIM];
    if (lgt_weave_rest(lgt_layout_at(stores, root), written, piece) != item->pieces) return false;
    item->layout[0] = item->layout[1] = lgt_weave_piece(stores, root, &piece[item->piece]);
    if (!item->layout[0]) return false;
  }
  return true;
}

static bool shift_slots(const shifter *s, const lgt_weaver *w, lgt_plan_group *group) {
  int64_t saved = 0;
  for (int i = 0; i < group->nslot; i++) {
    renumber(s, &group->slot[i].layout);
    if (group->slot[i].former) saved += lgt_layout_bytes(lgt_weaver_layout(w, group->slot[i].layout));
  }
  if (saved > s->fuser->most_saved && !w->plan->spares) return false;
  for (int b = 0; b < w->items->nbuffer; b++) {
    const lgt_weave_buffer *buffer = &w->items->buffer[b];
    if (buffer->slot != LGT_NONE &&
        !lgt_layout_alike(lgt_weaver_layout(w, w->plan->root[buffer->root].layout),
                          lgt_weaver_layout(w, group->slot[buffer->slot].layout)))
      return false;
  }
  return true;
}

/* All items of a loop have one space; a reduction walks the same dimension innermost. */
static bool shift_space(const lgt_weaver *w, lgt_plan_loop *loop) {
  int number = w->items->item[loop->access[0].item].loop;
  bool first = true;
  for (int i = 0; i < w->items->nitem; i++) {
    const lgt_weave_item *item = &w->items->item[i];
    int ndim;
    int64_t extent[LGT_MAX_DIM];
    if (item->loop != number) continue;
    lgt_item_space(w, item, &ndim, extent);
    if (first) {
      for (int d = 0; d < ndim; d++)
        if ((extent[d] == 1) != (loop->extent[d] == 1)) return false;
      memcpy(loop->extent, extent, sizeof loop->extent);
      first = false;
    }
    if (ndim != loop->space_ndim || memcmp(extent, loop->extent, (size_t)ndim * sizeof *extent)) return false;
    if (item->kind->reduces &&
        lgt_item_innermost(w, item, ndim, extent, lgt_item_kept(w, item, ndim)) != loop->inner)
      return false;
  }
  return true;
}

/* The access's numbers, and its strides along the loop's dimensions. */
static bool shift_access(const lgt_weaver *w, lgt_plan_loop *loop, int a) {
  const lgt_access *code = &loop->kernel->loop->access[a];
  lgt_plan_access *access = &loop->access[a];
  int64_t *stride = &loop->shape.stride[a * LGT_MAX_DIM], size = 1, unit = 1;
  if (code->mode == LGT_ACCESS_INDEX) {
    if (access->index_dim < 0) lgt_shape_strides(loop->space_ndim, loop->extent, access->stride);
  } else {
    const lgt_weave_item *item = &w->items->item[access->item];
    lgt_alignment align = lgt_item_align(w, item, access->arg);
    lgt_signature sig = lgt_signature_of(lgt_weaver_layout(w, item->layout[access->arg]), &align);
    access->layout = item->layout[access->arg];
    access->offset = sig.offset;
    if (access->slot != LGT_NONE)
      memcpy(access->stride, sig.stride, sizeof sig.stride); /* in a block it is 1 */
    size = lgt_dtype_size(lgt_layout_at(w->fuser->stores, access->layout)->dtype);
    unit = lgt_dtype_size(code->dtype);
    loop->base[a].index = access->offset * size + access->byte;
  }
  int n = loop->ndim;
  for (int d = 0; d < n; d++) stride[d] = access->stride[loop->dim[d]] * size;
  if (lgt_access_class(code, n ? stride[n - 1] : 0, unit, size) != code->inner) return false;
  bool row = code->mode == LGT_ACCESS_REDUCE && n > 1 && stride[n - 2] != 0;
  return code->row == (row ? LGT_STRIDE_ANY : LGT_STRIDE_ZERO);
}

static bool shift_loop(const lgt_weaver *w, lgt_plan_loop *loop) {
  const lgt_loop *code = loop->kernel->loop;
  int64_t size = loop->shape.size;
  if (!shift_space(w, loop)) return false;
  for (int a = 0; a < code->naccess; a++)
    if (!shift_access(w, loop, a)) return false;
  loop->shape = (lgt_nest_shape){.ndim = loop->ndim, .stride = loop->shape.stride};
  for (int d = 0; d < loop->ndim; d++) loop->shape.extent[d] = loop->extent[loop->dim[d]];
  lgt_nest_shape_finish(code, &loop->shape, w->fuser->workers, loop->nnative > 0,
                        lgt_plan_native_bytes(loop->native, loop->nnative, loop->bytes));
  /* An estimate that costs nothing. */
  if (size > 0) loop->bytes = (int64_t)((double)loop->bytes * (double)loop->shape.size / (double)size);
  loop->stream = loop->bytes > w->fuser->cache_bytes;
  return true;
}

/* A call of C works on whole views. */
static void shift_natives(const lgt_weaver *w, lgt_plan_loop *loop) {
  for (int i = 0; i < loop->nnative; i++) {
    lgt_plan_native *native = &loop->native[i];
    const lgt_plan_call *call = &w->plan->call[native->call];
    if (!loop->kernel) {
      if (i == 0 && loop->extent[0] > 0)
        loop->bytes =
            (int64_t)((double)loop->bytes * (double)call->space.extent[0] / (double)loop->extent[0]);
      memcpy(loop->extent, call->space.extent, sizeof loop->extent);
    }
    for (int a = 0; a < native->kind->nargs; a++) native->access[a].layout = call->layout[a];
  }
}

/* ---- several domains: how the calls are cut and grouped ---------------------------------------------------- */

/* The first call of the group that is computed in the same places: loops hold such calls. */
static int first_alike(const lgt_plan *plan, const lgt_plan_group *group, int call) {
  int i = group->first;
  while (plan->call[i].wide != plan->call[call].wide) i++;
  return i;
}

/* What weaving, storing and binding ask of a launch partition, but for its numbers. */
static bool cut_alike(const lgt_fuser *fuser, const lgt_partition *a, const lgt_partition *b) {
  int domains = fuser->solver.domains;
  return a->kind == b->kind && (a->ncolour > 1) == (b->ncolour > 1) &&
         lgt_partition_apart(a, domains) == lgt_partition_apart(b, domains);
}

static bool calls_alike(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan *decided,
                        const lgt_plan_group *group) {
  for (int i = group->first; i < group->first + group->count; i++) {
    const lgt_plan_call *a = &plan->call[i], *b = &decided->call[i];
    if (!cut_alike(fuser, a->launch, b->launch) || a->repeats != b->repeats || a->touch != b->touch ||
        memcmp(a->part, b->part, sizeof a->part) != 0 ||
        first_alike(plan, group, i) != first_alike(decided, group, i))
      return false;
  }
  return true;
}

static bool groups_alike(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan *decided) {
  if (plan->ngroup != decided->ngroup) return false;
  for (int g = 0; g < plan->ngroup; g++) {
    const lgt_plan_group *a = &plan->group[g], *b = &decided->group[g];
    if (a->first != b->first || a->count != b->count || a->mixed != b->mixed || a->split != b->split ||
        a->turns != b->turns || !cut_alike(fuser, a->launch, b->launch) ||
        !calls_alike(fuser, plan, decided, a))
      return false;
  }
  for (int r = 0; r < plan->nroot; r++)
    if (plan->root[r].fresh != decided->root[r].fresh) return false;
  return true;
}

/* The call that tells how a loop is cut. */
static int call_of_loop(const lgt_plan_group *group, const lgt_plan_loop *loop) {
  for (int i = group->first; i < group->first + group->count; i++)
    if (group->plan->call[i].wide == loop->launch) return i;
  return -1;
}

/* The partitions of a plan become those that were decided on. */
static void take_partitions(lgt_plan *plan, const lgt_plan *decided) {
  for (int g = 0; g < plan->ngroup; g++) {
    lgt_plan_group *group = &plan->group[g];
    for (int l = 0; l < group->nloop; l++) {
      int call = call_of_loop(group, &group->loop[l]); /* none: the group's copies */
      group->loop[l].launch = call < 0 ? decided->group[g].launch : decided->call[call].wide;
    }
    group->launch = decided->group[g].launch;
    group->refusal = decided->group[g].refusal;
  }
  for (int i = 0; i < plan->ncall; i++) {
    plan->call[i].launch = decided->call[i].launch;
    plan->call[i].wide = decided->call[i].wide;
    plan->call[i].reason = decided->call[i].reason;
  }
  for (int r = 0; r < plan->nroot; r++) plan->root[r].key = decided->root[r].key;
  plan->fused_whole = decided->fused_whole;
}

/* Are they the same ones? */
static bool same_partitions(const lgt_plan *plan, const lgt_plan *decided) {
  for (int g = 0; g < plan->ngroup; g++)
    if (plan->group[g].launch != decided->group[g].launch) return false;
  for (int i = 0; i < plan->ncall; i++)
    if (plan->call[i].launch != decided->call[i].launch || plan->call[i].wide != decided->call[i].wide)
      return false;
  for (int r = 0; r < plan->nroot; r++)
    if (plan->root[r].key != decided->root[r].key) return false;
  return true;
}

static bool shift_partitions(const shifter *s, lgt_plan *plan) {
  lgt_plan *decided;
  if (lgt_solver_whole(&s->fuser->solver) || (s->cut_alike && !s->fuser->config->check)) return true;
  if (lgt_fuser_decide(s->fuser, s->window, plan->ncall, &decided)) return false;
  bool good = groups_alike(s->fuser, plan, decided);
  lgt_assert(!s->cut_alike || (good && same_partitions(plan, decided)));
  if (good) take_partitions(plan, decided);
  lgt_plan_free(decided);
  return good;
}

/* Are both views the program's own, and of one root?  Then they lie as far from each other in a translated window.  Those of two
 * arrays, of which one may take the memory of the other, need not. */
static bool of_one_root(const lgt_weaver *w, const lgt_guard *g) {
  const lgt_weave_item *a = &w->items->item[g->item[0]], *b = &w->items->item[g->item[1]];
  return a->call != LGT_NONE && b->call != LGT_NONE &&
         w->plan->call[a->call].root[g->arg[0]] == w->plan->call[b->call].root[g->arg[1]];
}

static bool shift_group(const shifter *s, lgt_plan_group *group) {
  lgt_weaver w = {.fuser = s->fuser, .group = group, .plan = group->plan, .items = group->items};
  if (!shift_items(&w)) return false;
  const lgt_plan_notes *notes = lgt_plan_group_lasting(group)->notes;
  for (int i = 0; i < notes->nguard; i++) {
    const lgt_guard *g = &notes->guard[i];
    if (s->translated && of_one_root(&w, g)) continue;
    if (!(g->apart ? apart(&w, g) : agree(&w, g))) return false;
  }
  if (!shift_slots(s, &w, group) || !lgt_recipes_keep(&w)) return false;
  for (int i = 0; i < w.items->nitem; i++)
    if (w.items->item[i].there && !lgt_weave_is_there(&w, &w.items->item[i])) return false;
  for (int l = 0; l < group->nloop; l++) {
    shift_natives(&w, &group->loop[l]);
    if (group->loop[l].kernel && !shift_loop(&w, &group->loop[l])) return false;
  }
  lgt_abreast_find(s->fuser, group, true); /* what lay apart may meet here */
  return true;
}

/* ---- entry ----------------------------------------------------------------------------------------------------- */

static bool guard_all(lgt_fuser *fuser, lgt_plan *origin) {
  for (int g = 0; g < origin->ngroup; g++) {
    lgt_plan_group *group = &origin->group[g];
    if (group->inlined || group->patched) return false; /* accesses are not where their items have them */
    lgt_weaver w = {.fuser = fuser, .group = group, .plan = origin, .items = group->items};
    if (!group->notes->guarded && !make_guards(&w, group)) return false;
  }
  return true;
}

/* A window for which plans were shifted so often is worth a plan of its own, which costs more than several shifts do.
 * Not the second time: what one mask picks from several arrays is the same window for a few times, and never again.
 * (Windows whose hashes are equal are counted together: that decides only when one gets its own plan, which its words
 * find.) */
static bool comes_again(lgt_fuser *fuser, uint64_t hash) {
  enum { OFTEN = 4 };
  lgt_seen *seen = &fuser->seen[hash % LGT_FORMS];
  if (seen->hash != hash) *seen = (lgt_seen){.hash = hash};
  if (seen->times == OFTEN) return true;
  seen->times++;
  return false;
}

lgt_plan *lgt_plan_shift(lgt_fuser *fuser, const lgt_window *window, int n) {
  lgt_plan *origin = lgt_fuser_find_form(fuser, window);
  if (!origin || origin->lessons->stale || origin->ncall != n || comes_again(fuser, window->hash))
    return NULL;
  origin->epoch = fuser->stores->epoch;
  if (!guard_all(fuser, origin)) return NULL;
  block b = {0};
  copy_plan(&b, origin);
  if (!(b.memory = lgt_mem_alloc(b.used))) return NULL;
  b.used = 0;
  lgt_plan *plan = copy_plan(&b, origin);
  plan->bytes = (int64_t)b.used;
  enlist(fuser, plan);
  shifter s = {.fuser = fuser, .window = window, .stamp = window->stamp};
  bool good = true;
  number_layouts(&s, origin);
  find_translation(&s, origin);
  plan->translated = s.cut_alike;
  good = shift_calls(&s, plan) && shift_partitions(&s, plan);
  for (int g = 0; g < plan->ngroup && good; g++)
    good = lgt_plan_spares_still(fuser, plan, g) && shift_group(&s, &plan->group[g]);
  if (good && fuser->config->check) lgt_verified(lgt_plan_verify(fuser, plan));
  if (good) return lgt_plan_want_host_code(fuser, plan), plan;
  lgt_plan_release(plan);
  return NULL;
}
