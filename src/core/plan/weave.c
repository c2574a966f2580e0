/* weave.c - renaming, forwarding, and the choice of memory.  See weave.h. */
#include "plan/weave.h"

#include <string.h>

#include "plan/abreast.h"
#include "plan/deal.h"
#include "plan/inline.h"
#include "plan/patch.h"
#include "plan/recipes.h"
#include "plan/sink.h"

void lgt_weave_items_free(lgt_weave_items *items) {
  if (!items) return;
  lgt_mem_free(items->item);
  lgt_mem_free(items->buffer);
  lgt_mem_free(items);
}

void lgt_plan_notes_fini(lgt_plan_notes *notes, int nelided) {
  for (int i = 0; i < nelided && notes->rescue; i++) {
    if (notes->rescue[i]) lgt_plan_group_fini(notes->rescue[i]);
    lgt_mem_free(notes->rescue[i]);
  }
  lgt_mem_free(notes->rescue);
  lgt_mem_free(notes->touch);
  lgt_mem_free(notes->touched);
  lgt_mem_free(notes->of_slot);
  lgt_mem_free(notes->cover);
  lgt_mem_free(notes->survey);
  lgt_mem_free(notes->room);
  lgt_mem_free(notes->fitting);
  lgt_mem_free(notes->folds);
  lgt_mem_free(notes->privates);
  lgt_mem_free(notes->points);
  for (int i = 0; i < LGT_RECORDS; i++) lgt_mem_free(notes->recorded[i]);
  lgt_mem_free(notes->guard);
  if (notes->template) notes->free_templates(notes->template);
  lgt_mem_free(notes->halo);
  lgt_mem_free(notes->name);
  lgt_mem_free(notes->on_host);
}

void lgt_plan_group_fini(lgt_plan_group *group) {
  for (int i = 0; i < group->nloop; i++) {
    lgt_plan_loop *loop = &group->loop[i];
    for (int k = 0; k < loop->nnative; k++) lgt_mem_free(loop->native[k].access);
    lgt_mem_free(loop->native);
    lgt_mem_free(loop->access);
    lgt_mem_free(loop->param_call);
    lgt_mem_free(loop->param_index);
    lgt_mem_free(loop->shape.stride);
    lgt_mem_free(loop->base);
  }
  if (group->notes) lgt_plan_notes_fini(group->notes, group->nelided);
  lgt_mem_free(group->notes);
  for (int i = 0; i < group->nelided; i++) {
    lgt_mem_free(group->elided[i].item);
    lgt_mem_free(group->elided[i].reads);
  }
  lgt_mem_free(group->loop);
  lgt_mem_free(group->slot);
  lgt_mem_free(group->slot_of_final);
  lgt_mem_free(group->elided);
  lgt_weave_items_free(group->items);
  group->loop = NULL;
  group->slot = NULL;
  group->slot_of_final = NULL;
  group->elided = NULL;
  group->items = NULL;
  group->notes = NULL;
  group->nloop = group->nslot = group->nfinal = group->nelided = 0;
}

int lgt_weave_new_buffer(lgt_weaver *w, uint16_t root, bool initial) {
  lgt_weave_items *items = w->items;
  if (!lgt_mem_grow((void **)&items->buffer, &items->buffer_room, items->nbuffer + 1, sizeof *items->buffer))
    return -1;
  items->buffer[items->nbuffer] = (lgt_weave_buffer){.root = root,
                                                     .initial = initial,
                                                     .slot = LGT_NONE,
                                                     .rest = LGT_NONE,
                                                     .takes = LGT_NONE,
                                                     .saved = LGT_NONE,
                                                     .last_writer = LGT_NONE,
                                                     .first_loop = LGT_NONE};
  return items->nbuffer++;
}

lgt_weave_item *lgt_weave_new_item(lgt_weaver *w) {
  lgt_weave_items *items = w->items;
  if (!lgt_mem_grow((void **)&items->item, &items->item_room, items->nitem + 1, sizeof *items->item))
    return NULL;
  lgt_weave_item *item = &items->item[items->nitem++];
  memset(item, 0, sizeof *item);
  memset(item->in, 0xff, sizeof item->in);
  memset(item->out, 0xff, sizeof item->out);
  item->call = item->loop = LGT_NONE;
  return item;
}

/* ---- renaming and forwarding ------------------------------------------------------------------------- */

/* current[root]: the buffer that holds its newest contents. */
static bool is_shared(const uint16_t *current, int nroot, uint16_t root) {
  for (int r = 0; r < nroot; r++)
    if (r != root && current[r] == current[root]) return true;
  return false;
}

static const lgt_kind *copy_kind(const lgt_fuser *fuser, int dtype) { return fuser->copy_kind[dtype]; }

int lgt_weave_rest(const lgt_layout *root, const lgt_layout *written, lgt_rect piece[2 * LGT_MAX_DIM]) {
  piece[0] = lgt_rect_of_shape(root->ndim, root->shape);
  if (!written) return 1;
  lgt_rect all = piece[0], view = lgt_rect_of_shape(written->ndim, written->shape),
           inside = lgt_layout_root_rect(written, &view);
  return lgt_rect_subtract(&all, &inside, piece);
}

uint32_t lgt_weave_piece(lgt_stores *stores, uint32_t root, const lgt_rect *piece) {
  for (int d = 0; d < piece->ndim && root; d++)
    root = lgt_stores_slice(stores, root, d, piece->lo[d], piece->hi[d] - piece->lo[d], 1);
  return root;
}

/* Copy the old buffer into the new one, without what the causing call will overwrite through its argument anyway (0xff: all of
 * it): rect by rect of the root.  Not before loop `from`, in which the call is placed at the earliest: the copies of
 * successive versions could all be made at the beginning, in few loops, but then all versions would be alive at once. */
static lgt_status copy_rest(lgt_weaver *w, uint16_t old, uint16_t new, uint16_t cause, uint8_t cause_arg,
                            int from) {
  uint32_t root_layout = w->plan->root[w->items->buffer[new].root].layout;
  const lgt_layout *root = lgt_weaver_layout(w, root_layout);
  lgt_rect piece[2 * LGT_MAX_DIM];
  int n = lgt_weave_rest(
      root, cause_arg == 0xff ? NULL : lgt_weaver_layout(w, w->plan->call[cause].layout[cause_arg]), piece);
  for (int i = 0; i < n; i++) {
    uint32_t layout = lgt_weave_piece(w->fuser->stores, root_layout, &piece[i]);
    lgt_weave_item *item = layout ? lgt_weave_new_item(w) : NULL;
    if (!item) return lgt_no_memory_to_fuse();
    item->kind = copy_kind(w->fuser, root->dtype);
    item->nargs = 2;
    item->cause = cause;
    item->cause_arg = cause_arg;
    item->piece = (uint8_t)i;
    item->pieces = (uint8_t)n;
    item->layout[0] = item->layout[1] = layout;
    item->out[0] = new;
    item->in[1] = old;
    int after_old = lgt_weave_earliest(w, item, 1, old, false);
    lgt_status status = lgt_weave_place(w, item, after_old > from ? after_old : from);
    if (status) return status;
  }
  return LGT_OK;
}

typedef enum rename_kind { KEEP, RENAME, RENAME_ALL } rename_kind; /* ALL: copy everything first */

/* Do two arguments of an item lie alike in its space? */
static bool alike_in(const lgt_weaver *w, const lgt_weave_item *item, int a, int b) {
  lgt_alignment x = lgt_item_align(w, item, a), y = lgt_item_align(w, item, b);
  return item->layout[a] == item->layout[b] && !memcmp(&x, &y, sizeof x);
}

/* Does the item read, through another view, what it writes through `arg`?  No loop could hold both. */
static bool reads_elsewhere(const lgt_weaver *w, const lgt_weave_item *item, int arg, uint16_t buffer) {
  for (int a = 0; a < item->nargs; a++)
    if (item->in[a] == buffer && (lgt_item_reduces(item, arg) || !alike_in(w, item, arg, a)) &&
        lgt_weave_after(w, item, arg, item, a, lgt_item_reduces(item, arg)) > item->loop)
      return true;
  return false;
}

/* Is the group cut, so that its memory is tiles? */
static bool in_tiles(const lgt_weaver *w) { return w->group->launch->kind != LGT_PARTITION_NONE; }

/* Is this what the group finds?  (Owners may write there through one view and then through another.) */
static bool untouched(const lgt_weaver *w, uint16_t buffer) {
  return w->items->buffer[buffer].initial && !w->items->buffer[buffer].writers;
}

/* Does the item overwrite all of a root whose contents from before the group somebody reads?  Then memory is found when
 * the group runs.  (With several domains a root's memory may be tiles, and calls of C have one piece for an argument.) */
static bool leaves_old(const lgt_weaver *w, const lgt_weave_item *item, int arg, uint16_t buffer) {
  if (!lgt_solver_whole(&w->fuser->solver) || in_tiles(w) || lgt_kind_native(item->kind)) return false;
  const lgt_weave_buffer *old = &w->items->buffer[buffer];
  if (!old->initial || old->writers || !lgt_layout_covers(lgt_weaver_layout(w, item->layout[arg]), false))
    return false;
  for (int i = 0; i < w->items->nitem; i++)
    for (int a = 0; a < w->items->item[i].nargs; a++)
      if (w->items->item[i].in[a] == buffer) return true;
  return false;
}

/* Of those who read the old contents in this group, is the item no obstacle to writing over them? */
static bool may_write_over(const lgt_weaver *w, const lgt_weave_item *item, int arg, uint16_t root,
                           const uint16_t *current) {
  return leaves_old(w, item, arg, current[root]) && !is_shared(current, w->plan->nroot, root) &&
         !reads_elsewhere(w, item, arg, current[root]);
}

/* Has a buffer been renamed for a write through the same view, the only one since?  Then the rest of the next version is the same
 * as its own. */
static bool renews(const lgt_weaver *w, const lgt_weave_item *item, int arg, uint16_t buffer) {
  const lgt_weave_buffer *b = &w->items->buffer[buffer];
  return b->rest != LGT_NONE && b->rest_arg != 0xff && b->writers == 1 && w->group->turns &&
         w->plan->call[b->rest_call].layout[b->rest_arg] == item->layout[arg];
}

/* In a widened group: does it write a root several times, of which recipes may need each version? */
static bool writes_again(const lgt_weaver *w, uint16_t root) {
  const lgt_plan_group *group = w->group;
  int n = 0;
  for (int i = group->first; i < group->first + group->count && group->turns; i++)
    for (int a = 0; a < w->plan->call[i].nargs; a++)
      n += w->plan->call[i].root[a] == root && lgt_kind_writes(w->plan->call[i].kind, a);
  return n > 1;
}

/* Should argument `arg`'s write go to new memory? */
static rename_kind want_rename(const lgt_weaver *w, const lgt_weave_item *item, int arg, uint16_t root,
                               const uint16_t *current, int by_reads, int by_all) {
  const lgt_layout *l = lgt_weaver_layout(w, item->layout[arg]);
  const lgt_plan_root *r = &w->plan->root[root];
  int64_t size = lgt_weaver_layout(w, r->layout)->size;
  bool overwrites = item->kind->privilege[arg] & LGT_PRIV_WRITE && lgt_layout_exact(l);
  if (reads_elsewhere(w, item, arg, current[root])) return overwrites ? RENAME : RENAME_ALL;
  if (in_tiles(
          w)) { /* the rest is that of the former contents; what colours share a domain is one instance's */
    bool rests = untouched(w, current[root]) || renews(w, item, arg, current[root]);
    if (!rests || !lgt_partition_apart(w->group->launch, w->fuser->solver.domains)) return KEEP;
  } else if (!lgt_solver_whole(&w->fuser->solver)) {
    return KEEP; /* then nothing is forwarded either */
  }
  if (is_shared(current, w->plan->nroot, root)) return overwrites ? RENAME : RENAME_ALL;
  if (!overwrites || r->attached || !w->fuser->config->kernel_fusion || lgt_item_reduces(item, arg))
    return KEEP;
  if (by_all > by_reads || writes_again(w, root))
    return lgt_layout_distinct(l) * 4 >= size * 3 ? RENAME : KEEP;
  return leaves_old(w, item, arg, current[root]) ? RENAME : KEEP;
}

/* May copies share memory?  With tiles those who write next must be able to go elsewhere. */
static bool may_forward(const lgt_weaver *w, uint16_t from) {
  if (lgt_solver_whole(&w->fuser->solver)) return true;
  return in_tiles(w) && lgt_partition_apart(w->group->launch, w->fuser->solver.domains) &&
         (from == LGT_NONE || untouched(w, from));
}

/* A copy of a whole root from a whole root needs no code now.  (A part is no contents that another root could have, too.) */
static bool is_forwarded(const lgt_weaver *w, const lgt_plan_call *call, const uint16_t *current) {
  if (!call->kind->is_copy || call->part[1] || !w->fuser->config->kernel_fusion ||
      !may_forward(w, current[call->root[1]]))
    return false;
  const lgt_layout *to = lgt_weaver_layout(w, call->layout[0]), *from = lgt_weaver_layout(w, call->layout[1]);
  const lgt_plan_root *dst = &w->plan->root[call->root[0]];
  return to->flags & LGT_LAYOUT_WHOLE && from->flags & LGT_LAYOUT_WHOLE &&
         lgt_same_space(to->ndim, to->shape, from->ndim, from->shape) && dst->fresh &&
         current[call->root[0]] == LGT_NONE && !w->plan->root[call->root[1]].attached;
}

static int buffer_for(lgt_weaver *w, uint16_t *current, uint16_t root, bool initial) {
  if (current[root] == LGT_NONE) {
    int b = lgt_weave_new_buffer(w, root, initial);
    if (b < 0) return -1;
    current[root] = (uint16_t)b;
  }
  return current[root];
}

/* What an argument reads: the newest contents of its root, or a part of what it had before the group, which does not
 * write it then. */
static int buffer_of(lgt_weaver *w, uint16_t *current, const lgt_plan_call *call, int arg) {
  uint16_t root = call->root[arg];
  int b = buffer_for(w, current, root, true);
  if (b < 0 || !call->part[arg]) return b;
  for (b = 0; b < w->items->nbuffer; b++)
    if (w->items->buffer[b].root == root && w->items->buffer[b].part == call->part[arg]) return b;
  b = lgt_weave_new_buffer(w, root, true);
  if (b >= 0) w->items->buffer[b].part = call->part[arg];
  return b;
}

static bool reads_arg(const lgt_kind *kind, int arg) {
  return kind->privilege[arg] & LGT_PRIV_READ && !(kind->privilege[arg] & LGT_PRIV_REDUCE);
}

/* Does writing this view first define all of a root that the window creates? */
static bool defines(const lgt_weaver *w, const lgt_plan_call *call, int arg) {
  int privilege = call->kind->privilege[arg];
  return !(privilege & LGT_PRIV_READ) &&
         lgt_layout_covers(lgt_weaver_layout(w, call->layout[arg]), privilege & LGT_PRIV_REDUCE);
}

/* New memory for a root, with the old contents outside of the view that is about to be written.  `over`: whoever reads the
 * old ones has done so, but for recipes. */
static lgt_status rename_root(lgt_weaver *w, uint16_t *current, uint16_t root, const lgt_weave_item *item,
                              int arg, bool all, bool over, int from) {
  uint16_t call = item->call;
  uint8_t rest_arg = all ? 0xff : (uint8_t)arg;
  uint16_t old = current[root];
  int b = lgt_weave_new_buffer(w, root, false);
  if (b < 0) return lgt_no_memory_to_fuse();
  current[root] = (uint16_t)b;
  if (over && !all) w->items->buffer[b].takes = old;
  if (in_tiles(w)) {
    if (w->items->buffer[old].rest != LGT_NONE) old = w->items->buffer[old].rest;
    w->items->buffer[b].rest = old;
    w->items->buffer[b].rest_call = call;
    w->items->buffer[b].rest_arg = rest_arg;
    w->items->buffer[old].loaded = true;
    return LGT_OK;
  }
  return copy_rest(w, old, (uint16_t)b, call, rest_arg, from);
}

/* Nobody needs the item's results now; it only waits, unplaced, for a recipe that may ask for them. */
static lgt_status leave_unplaced(lgt_weaver *w, const lgt_plan_call *call, size_t at, uint16_t *current) {
  for (int a = 0; a < call->nargs; a++) {
    if (!lgt_kind_writes(call->kind, a)) continue;
    bool again = current[call->root[a]] != LGT_NONE; /* over older contents: no recipe tells of both */
    int b = lgt_weave_new_buffer(w, call->root[a], false);
    if (b < 0) return lgt_no_memory_to_fuse();
    current[call->root[a]] = w->items->item[at].out[a] = (uint16_t)b;
    w->items->buffer[b].writers = again ? 2 : 1;
    w->items->buffer[b].last_writer = (uint16_t)at;
  }
  return LGT_OK;
}

/* A call that writes a root through several arguments renames it for all of them, before the first. */
static rename_kind rename_for(const lgt_weaver *w, const lgt_plan_call *call, const lgt_weave_item *item,
                              int arg, const uint16_t *current, int by_reads, int by_writes) {
  uint16_t root = call->root[arg];
  rename_kind rename = want_rename(w, item, arg, root, current, by_reads, by_writes);
  for (int a = 0; a < arg; a++)
    if (call->root[a] == root && lgt_kind_writes(call->kind, a)) return KEEP;
  for (int a = arg + 1; a < call->nargs; a++) {
    if (call->root[a] != root || !lgt_kind_writes(call->kind, a)) continue;
    int other = lgt_weave_earliest(w, item, a, current[root], true);
    if (rename != KEEP || want_rename(w, item, a, root, current, by_reads, other) != KEEP)
      rename = RENAME_ALL;
  }
  return rename;
}

static lgt_status weave_call(lgt_weaver *w, int number, bool needed, uint16_t *current) {
  const lgt_plan_call *call = &w->plan->call[number];
  lgt_weave_item *item = lgt_weave_new_item(w);
  if (!item) return lgt_no_memory_to_fuse();
  size_t at = (size_t)(item - w->items->item);
  item->kind = call->kind;
  item->call = (uint16_t)number;
  item->nargs = call->nargs;
  memcpy(item->layout, call->layout, sizeof item->layout);
  for (int a = 0; a < call->nargs; a++) {
    const lgt_plan_root *root = &w->plan->root[call->root[a]];
    bool pieces = root->pieces && &w->plan->group[root->first_group] == w->group;
    bool fresh = root->fresh && lgt_kind_writes(call->kind, a) && (pieces || defines(w, call, a));
    if (is_forwarded(w, call, current) && a == 0) continue;
    if (!reads_arg(call->kind, a) && current[call->root[a]] == LGT_NONE && fresh) continue;
    int b = buffer_of(w, current, call, a);
    if (b < 0) return lgt_no_memory_to_fuse();
    if (reads_arg(call->kind, a)) item->in[a] = (uint16_t)b;
  }
  if (is_forwarded(w, call, current)) {
    current[call->root[0]] = item->in[1];
    return LGT_OK;
  }
  if (!needed) return leave_unplaced(w, call, at, current);
  int by_reads = 0;
  for (int a = 0; a < call->nargs; a++) {
    if (item->in[a] == LGT_NONE) continue;
    int l = lgt_weave_earliest(w, item, a, item->in[a], false);
    if (l > by_reads) by_reads = l;
  }
  int from = by_reads;
  for (int a = 0; a < call->nargs; a++) {
    uint16_t root = call->root[a];
    if (!lgt_kind_writes(call->kind, a)) continue;
    if (current[root] == LGT_NONE) {
      if (buffer_for(w, current, root, false) < 0) return lgt_no_memory_to_fuse();
      w->items->item[at].out[a] = current[root];
      continue;
    }
    item = &w->items->item[at];
    int by_writes = lgt_weave_earliest(w, item, a, current[root], true);
    rename_kind rename = rename_for(w, call, item, a, current, by_reads, by_writes);
    if (rename != KEEP) {
      bool over = by_writes <= from && may_write_over(w, item, a, root, current);
      lgt_status status = rename_root(w, current, root, item, a, rename == RENAME_ALL, over, from);
      if (status) return status;
      item = &w->items->item[at];
      by_writes = lgt_weave_earliest(w, item, a, current[root], true);
    }
    if (by_writes > from) from = by_writes;
    w->items->item[at].out[a] = current[root];
  }
  return lgt_weave_place(w, &w->items->item[at], from);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

int lgt_weave_add_slot(lgt_plan_group *group, lgt_plan_slot slot) {
  slot.rest = slot.takes = slot.saved = LGT_NONE;
  slot.rest_arg = 0xff;
  group->slot[group->nslot] = slot;
  return group->nslot++;
}

/* Have two buffers the same rest? */
static bool same_rest(const lgt_weaver *w, const lgt_plan_slot *slot, const lgt_weave_buffer *buffer) {
  const lgt_plan_call *call = w->plan->call;
  return slot->rest != LGT_NONE && buffer->rest != LGT_NONE &&
         slot->rest == w->items->buffer[buffer->rest].slot && slot->rest_arg != 0xff &&
         buffer->rest_arg != 0xff &&
         call[slot->rest_call].layout[slot->rest_arg] == call[buffer->rest_call].layout[buffer->rest_arg];
}

/* The tiles in which the only writer of a buffer leaves it; NULL: there are several, or its tiles are none of the root's. */
static const lgt_partition *tiles_of(const lgt_weaver *w, uint16_t number) {
  const lgt_weave_buffer *buffer = &w->items->buffer[number];
  const lgt_weave_item *item = &w->items->item[buffer->last_writer];
  if (buffer->writers != 1 || item->call == LGT_NONE) return NULL;
  const lgt_plan_call *call = &w->plan->call[item->call];
  for (int a = 0; a < item->nargs; a++)
    if (item->out[a] == number)
      return lgt_solver_key(&w->fuser->solver, lgt_weaver_layout(w, call->layout[a]), &call->space.align[a],
                            call->launch);
  return NULL;
}

static bool all_have_tiles(const lgt_weaver *w, int slot, const lgt_partition *tiles) {
  for (int b = 0; b < w->items->nbuffer; b++)
    if (w->items->buffer[b].slot == slot && tiles_of(w, (uint16_t)b) != tiles) return false;
  return true;
}

/* A slot whose next user begins after the buffer's last one has ended.  For memory of whole roots, or with the same rest.
 * `tiles`: of the same tiles as those who have it; NULL: these do not matter. */
static int reuse_slot(const lgt_weaver *w, const lgt_weave_buffer *buffer, const uint16_t *free_until,
                      const lgt_partition *tiles) {
  const lgt_layout *want = lgt_weaver_layout(w, w->plan->root[buffer->root].layout);
  for (int s = 0; s < w->group->nslot; s++) {
    const lgt_plan_slot *slot = &w->group->slot[s];
    if (free_until[s] > buffer->last_loop && lgt_layout_alike(lgt_weaver_layout(w, slot->layout), want) &&
        (slot->rest == LGT_NONE ? buffer->rest == LGT_NONE : same_rest(w, slot, buffer)) &&
        (!tiles || all_have_tiles(w, s, tiles)))
      return s;
  }
  return -1;
}

/* Does the call overwrite all of the argument's root?  A reshaped view may, too. */
static bool overwrites_all(const lgt_weaver *w, const lgt_plan_call *call, int arg) {
  const lgt_layout *l = lgt_weaver_layout(w, call->layout[arg]);
  return defines(w, call, arg) ||
         (call->kind->privilege[arg] == LGT_PRIV_WRITE && lgt_layout_distinct(l) == lgt_layout_root_size(l));
}

static void note_whole(const lgt_weaver *w, lgt_weave_item *item) {
  for (int a = 0; a < item->nargs && item->call != LGT_NONE; a++)
    if (item->out[a] != LGT_NONE && overwrites_all(w, &w->plan->call[item->call], a))
      item->whole |= (uint16_t)(1u << a);
}

/* What an item does to the slots it touches. */
static void note_use(const lgt_weaver *w, lgt_plan_group *group, const lgt_weave_item *item) {
  const lgt_weave_buffer *buffer = w->items->buffer;
  for (int a = 0; a < item->nargs; a++) {
    uint16_t in = item->in[a], out = item->out[a];
    if (in != LGT_NONE && buffer[in].slot != LGT_NONE) group->slot[buffer[in].slot].read = true;
    if (out == LGT_NONE || buffer[out].slot == LGT_NONE || item->loop == LGT_NONE) continue;
    lgt_plan_slot *slot = &group->slot[buffer[out].slot];
    slot->written = true;
    if (!(item->kind->privilege[a] & LGT_PRIV_WRITE)) slot->read = true;
  }
  for (int a = 0; a < item->nargs && item->call != LGT_NONE && item->loop != LGT_NONE; a++) {
    if (item->out[a] == LGT_NONE || buffer[item->out[a]].slot == LGT_NONE) continue;
    lgt_plan_slot *slot = &group->slot[buffer[item->out[a]].slot];
    if (slot->initial && !slot->read && slot->rest_arg == 0xff &&
        item->kind->privilege[a] == LGT_PRIV_WRITE && lgt_layout_exact(lgt_weaver_layout(w, item->layout[a])))
      slot->rest_call = item->call, slot->rest_arg = (uint8_t)a;
    if (!slot->read && overwrites_all(w, &w->plan->call[item->call], a)) slot->defined = true;
  }
}

void lgt_weave_note_rest(const lgt_weave_items *items, const lgt_weave_buffer *buffer,
                         lgt_plan_group *group) {
  if (buffer->rest == LGT_NONE) return;
  group->slot[buffer->slot].rest = items->buffer[buffer->rest].slot;
  group->slot[buffer->slot].rest_call = buffer->rest_call;
  group->slot[buffer->slot].rest_arg = buffer->rest_arg;
}

/* Does the root leave contents behind the group? */
static bool leaves_contents(const lgt_plan *plan, const uint16_t *current, int r) {
  return current[r] != LGT_NONE && (!plan->root[r].fresh || plan->root[r].stored);
}

/* Of an item that reads an old buffer: has it done so before the buffer `new` is written, element by element?  Within a loop
 * only the order of the program counts as before, although a loop loads all before it stores anything (assemble.c). */
static bool reads_before(const lgt_weaver *w, const lgt_weave_item *reader, int arg, uint16_t new) {
  int first = w->items->buffer[new].first_loop;
  lgt_alignment mine = lgt_item_align(w, reader, arg);
  if (reader->loop < first) return true;
  if (reader->loop > first || lgt_kind_native(reader->kind)) return false;
  for (int i = 0; i < w->items->nitem; i++)
    for (int a = 0; a < w->items->item[i].nargs; a++) {
      const lgt_weave_item *writer = &w->items->item[i];
      if (writer->out[a] != new || writer->loop != first) continue;
      lgt_alignment its = lgt_item_align(w, writer, a);
      if (lgt_kind_native(writer->kind) || lgt_item_reduces(writer, a) ||
          lgt_item_order(reader) > lgt_item_order(writer) ||
          !lgt_pointwise(lgt_weaver_layout(w, reader->layout[arg]), &mine,
                         lgt_weaver_layout(w, writer->layout[a]), &its))
        return false;
    }
  return true;
}

/* May a new array be written over one that the group only reads, if nobody asks for that one any more? */
static bool may_follow(const lgt_weaver *w, uint16_t old, uint16_t new, const uint16_t *current) {
  const lgt_weave_buffer *o = &w->items->buffer[old], *n = &w->items->buffer[new];
  const lgt_plan_root *dead = &w->plan->root[o->root], *born = &w->plan->root[n->root];
  if (!o->initial || o->part || o->writers || current[o->root] != old || dead->attached ||
      is_shared(current, w->plan->nroot, o->root) || dead->layout != born->layout)
    return false;
  for (int b = 0; b < w->items->nbuffer; b++) {
    const lgt_weave_buffer *other = &w->items->buffer[b];
    if ((b != old && other->root == o->root) || other->takes == old || other->rest == old) return false;
  }
  for (int i = 0; i < w->items->nitem; i++)
    for (int a = 0; a < w->items->item[i].nargs; a++)
      if (w->items->item[i].in[a] == old && !reads_before(w, &w->items->item[i], a, new)) return false;
  return true;
}

/* The old array that a new one may be written over; LGT_NONE: there is none.  Rather one that nobody could ask for already when
 * the plan was made. */
static uint16_t whom_to_follow(const lgt_weaver *w, uint16_t new, const uint16_t *current) {
  for (int alive = 0; alive < 2; alive++)
    for (uint16_t old = 0; old < new; old++)
      if (w->plan->root[w->items->buffer[old].root].alive == alive && may_follow(w, old, new, current))
        return old;
  return LGT_NONE;
}

/* With one memory: what the group makes may take the place of what it has read, where that is garbage when it runs. */
static void let_follow(lgt_weaver *w, const uint16_t *current) {
  if (!lgt_solver_whole(&w->fuser->solver) || in_tiles(w)) return;
  for (int b = 0; b < w->items->nbuffer; b++) {
    lgt_weave_buffer *buffer = &w->items->buffer[b];
    bool new = !buffer->initial && buffer->final && buffer->takes == LGT_NONE && buffer->rest == LGT_NONE;
    if (new && buffer->first_loop != LGT_NONE && w->plan->root[buffer->root].fresh)
      buffer->takes = whom_to_follow(w, (uint16_t)b, current);
  }
}

/* The buffer that a slot has from before the group, as nobody of the group changes it; LGT_NONE: somebody does, or other roots end
 * there, or it is one of several parts. */
static uint16_t found_in(const lgt_weaver *w, uint16_t slot, const uint16_t *current) {
  uint16_t found = LGT_NONE;
  for (int b = 0; b < w->items->nbuffer; b++)
    if (w->items->buffer[b].slot == slot) found = (uint16_t)b;
  lgt_assert(found != LGT_NONE);
  const lgt_weave_buffer *old = &w->items->buffer[found];
  if (old->writers || old->part || w->plan->root[old->root].attached) return LGT_NONE;
  for (int r = 0; r < w->plan->nroot; r++)
    if (current[r] == found) return LGT_NONE;
  for (int b = 0; b < w->items->nbuffer; b++)
    if (w->items->buffer[b].root == old->root && w->items->buffer[b].part) return LGT_NONE;
  return found;
}

/* Has everybody read an old buffer before one of those is written that take turns in a slot? */
static bool reads_before_slot(const lgt_weaver *w, uint16_t old, uint16_t slot) {
  for (int i = 0; i < w->items->nitem; i++)
    for (int a = 0; a < w->items->item[i].nargs; a++)
      for (int b = 0; b < w->items->nbuffer && w->items->item[i].in[a] == old; b++)
        if (w->items->buffer[b].slot == slot && !reads_before(w, &w->items->item[i], a, (uint16_t)b))
          return false;
  return true;
}

/* Has each task of the group a tile of each call? */
static bool all_take_part(const lgt_plan_group *group) {
  bool all = true;
  for (int i = group->first; i < group->first + group->count && all && group->mixed; i++) {
    const lgt_plan_call *call = &group->plan->call[i];
    all = call->launch->kind == LGT_PARTITION_TILING && call->launch->ncolour == group->launch->ncolour;
  }
  return all;
}

/* With several domains, all of which take part in each call: the last version of an array that has its rest from the former one
 * may be written over that, where no recipe wants the former one when the group runs.  Then neither is its rest copied. */
static void let_versions_follow(lgt_weaver *w, const uint16_t *current) {
  lgt_plan_group *group = w->group;
  for (uint16_t s = 0; s < group->nslot && in_tiles(w) && all_take_part(group) && !group->split; s++) {
    lgt_plan_slot *slot = &group->slot[s];
    bool may = !slot->initial && slot->rest != LGT_NONE && slot->rest_arg != 0xff &&
               group->slot[slot->rest].root == slot->root;
    for (int other = 0; other < group->nslot && may; other++)
      may = other == s || group->slot[other].rest != slot->rest;
    uint16_t old = may ? found_in(w, slot->rest, current) : LGT_NONE;
    if (old == LGT_NONE || !reads_before_slot(w, old, s)) continue;
    slot->takes = slot->rest;
    for (int b = 0; b < w->items->nbuffer; b++)
      if (w->items->buffer[b].slot == s) w->items->buffer[b].takes = old;
  }
}

static void note_finals(lgt_weaver *w, const uint16_t *current) {
  for (int r = 0; r < w->plan->nroot; r++)
    if (leaves_contents(w->plan, current, r)) w->items->buffer[current[r]].final = true;
}

/* Slots of the buffers that are there before the group, or last beyond it. */
static void place_lasting(lgt_weaver *w, const uint16_t *current) {
  lgt_plan_group *group = w->group;
  lgt_weave_items *items = w->items;
  let_follow(w, current);
  for (int b = 0; b < items->nbuffer; b++) {
    lgt_weave_buffer *buffer = &items->buffer[b];
    if (!buffer->initial && !buffer->final) continue;
    buffer->slot =
        (uint16_t)lgt_weave_add_slot(group, (lgt_plan_slot){.layout = w->plan->root[buffer->root].layout,
                                                            .root = buffer->root,
                                                            .part = buffer->part,
                                                            .initial = buffer->initial});
    if (buffer->takes != LGT_NONE) group->slot[buffer->slot].takes = items->buffer[buffer->takes].slot;
    lgt_weave_note_rest(items, buffer, group);
  }
}

/* Does a reduction write a buffer, of those who do? */
static bool is_reduced(const lgt_weaver *w, uint16_t number) {
  const lgt_weave_buffer *buffer = &w->items->buffer[number];
  bool reduced = w->items->item[buffer->last_writer].kind->reduces;
  for (int i = 0; i < w->items->nitem && buffer->writers > 1 && !reduced; i++)
    for (int a = 0; a < w->items->item[i].nargs; a++)
      reduced |= w->items->item[i].out[a] == number && w->items->item[i].kind->reduces;
  return reduced;
}

/* Is a buffer an array of the elements of tiles, no number and nothing that several colours reduce into?  If several items write
 * it, it may not have a rest besides. */
static bool is_plain(const lgt_weaver *w, uint16_t number) {
  const lgt_weave_buffer *buffer = &w->items->buffer[number];
  return lgt_weaver_layout(w, w->plan->root[buffer->root].layout)->ndim > 0 &&
         (buffer->writers == 1 || buffer->rest == LGT_NONE) && !is_reduced(w, number);
}

/* Slots of the others: those of whole roots share them, also with what takes a slot at last and stays there (but where loops
 * may be inlined, which need not store then what is the group's own); those of the same tiles share them, and in turns (widen.h)
 * also with what stays.  From the last one to the first: the versions of an array take turns in two slots, of which one has the
 * last version. */
static lgt_status place_temporary(lgt_weaver *w) {
  lgt_plan_group *group = w->group;
  lgt_weave_items *items = w->items;
  bool share = lgt_solver_whole(&w->fuser->solver),
       with_final = share ? !lgt_inline_applies(w->fuser, w->plan) : group->turns > 0;
  uint16_t *free_until =
      lgt_mem_zalloc(((size_t)items->nbuffer + 1) * sizeof *free_until); /* by slot: a loop */
  if (!free_until) return lgt_no_memory_to_fuse();
  for (int b = 0; b < items->nbuffer; b++) {
    const lgt_weave_buffer *buffer = &items->buffer[b];
    bool waits = with_final && buffer->final && !buffer->initial && buffer->takes == LGT_NONE &&
                 buffer->first_loop != LGT_NONE;
    if (waits) free_until[buffer->slot] = buffer->first_loop;
  }
  for (int loop = w->nloop - 1; loop >= 0; loop--)
    for (int b = items->nbuffer - 1; b >= 0; b--) {
      lgt_weave_buffer *buffer = &items->buffer[b];
      if (buffer->slot != LGT_NONE || buffer->last_loop != loop || !buffer->loaded) continue;
      bool may = share ? buffer->rest == LGT_NONE && !lgt_inline_joins(w->fuser, w->plan, buffer->root)
                       : is_plain(w, (uint16_t)b);
      const lgt_partition *tiles = share || group->turns ? NULL : tiles_of(w, (uint16_t)b);
      int s = may && (share || group->turns || tiles) ? reuse_slot(w, buffer, free_until, tiles) : -1;
      if (s < 0)
        s = lgt_weave_add_slot(
            group, (lgt_plan_slot){.layout = w->plan->root[buffer->root].layout, .root = LGT_NONE});
      free_until[s] = buffer->first_loop;
      buffer->slot = (uint16_t)s;
      if (group->slot[s].rest == LGT_NONE) lgt_weave_note_rest(items, buffer, group);
    }
  lgt_mem_free(free_until);
  return LGT_OK;
}

/* In which slots roots end, other than those that stay where they are. */
static void list_finals(lgt_weaver *w, const uint16_t *current) {
  lgt_plan_group *group = w->group;
  for (int r = 0; r < w->plan->nroot; r++) {
    if (!leaves_contents(w->plan, current, r)) continue;
    const lgt_weave_buffer *buffer = &w->items->buffer[current[r]];
    if (buffer->initial && buffer->root == r) continue;
    group->slot_of_final[2 * group->nfinal] = (uint16_t)r;
    group->slot_of_final[2 * group->nfinal++ + 1] = buffer->slot;
  }
}

/* What the items do to the slots. */
static void note_uses(lgt_weaver *w) {
  lgt_plan_group *group = w->group;
  for (int i = 0; i < w->items->nitem; i++) {
    note_whole(w, &w->items->item[i]);
    note_use(w, group, &w->items->item[i]);
  }
  for (int s = 0; s < group->nslot; s++)
    if (group->slot[s].rest != LGT_NONE) group->slot[group->slot[s].rest].read = true;
  for (int s = 0; s < group->nslot; s++) /* who reads may do so before */
    if (group->slot[s].initial && group->slot[s].read) group->slot[s].rest_arg = 0xff;
}

/* The item that copied the same piece of the rest into the buffer from which this one copies it; NULL: there is none. */
static const lgt_weave_item *copied_before(const lgt_weaver *w, const lgt_weave_item *item) {
  for (int i = 0; i < w->items->nitem; i++) {
    const lgt_weave_item *other = &w->items->item[i];
    if (other->call == LGT_NONE && other->out[0] == item->in[1] && other->layout[0] == item->layout[0])
      return other;
  }
  return NULL;
}

/* Does a slot pass from a buffer to another one without a third between them? */
static bool follows_in_slot(const lgt_weaver *w, uint16_t old, uint16_t new) {
  const lgt_weave_buffer *from = &w->items->buffer[old], *to = &w->items->buffer[new];
  if (from->slot == LGT_NONE || from->slot != to->slot) return false;
  for (int b = 0; b < w->items->nbuffer; b++) {
    const lgt_weave_buffer *other = &w->items->buffer[b];
    if (b != old && b != new && other->slot == from->slot && other->first_loop >= from->first_loop &&
        other->first_loop <= to->first_loop)
      return false;
  }
  return true;
}

bool lgt_weave_is_there(const lgt_weaver *w, const lgt_weave_item *item) {
  if (item->call != LGT_NONE || w->items->buffer[item->in[1]].initial) return false;
  const lgt_weave_item *before = copied_before(w, item);
  if (!before || !follows_in_slot(w, before->in[1], item->out[0])) return false;
  const lgt_layout *piece = lgt_weaver_layout(w, item->layout[0]);
  for (int i = 0; i < w->items->nitem; i++) {
    const lgt_weave_item *other = &w->items->item[i];
    bool later = lgt_item_order(other) > lgt_item_order(before); /* another root may have that version, too */
    for (int a = 0; a < other->nargs && other != before; a++)
      if (other->out[a] != LGT_NONE &&
          (other->out[a] == item->in[1] || (later && other->out[a] == before->in[1])) &&
          lgt_layout_may_overlap(piece, lgt_weaver_layout(w, other->layout[a])))
        return false;
  }
  return true;
}

static lgt_status choose_memory(lgt_weaver *w, const uint16_t *current) {
  lgt_plan_group *group = w->group;
  size_t nbuffer = (size_t)w->items->nbuffer, nroot = (size_t)w->plan->nroot;
  group->slot = lgt_mem_zalloc((2 * nbuffer + 1) * sizeof *group->slot); /* and former contents */
  group->slot_of_final = lgt_mem_zalloc((nroot + 1) * 2 * sizeof *group->slot_of_final);
  if (!group->slot || !group->slot_of_final) return lgt_no_memory_to_fuse();
  place_lasting(w, current);
  lgt_status status = place_temporary(w);
  if (status) return status;
  let_versions_follow(w, current);
  list_finals(w, current);
  note_uses(w);
  for (int i = 0; i < w->items->nitem; i++)
    w->items->item[i].there = lgt_weave_is_there(w, &w->items->item[i]);
  return LGT_OK;
}

/* ---- entry -------------------------------------------------------------------------------------------- */

lgt_status lgt_weave(lgt_fuser *fuser, lgt_plan_group *group, const bool *needed) {
  lgt_weaver w = {.fuser = fuser, .group = group, .plan = group->plan};
  lgt_status status = LGT_OK;
  uint16_t *current = lgt_mem_alloc(((size_t)group->plan->nroot + 1) * sizeof *current);
  w.items = group->items = lgt_mem_zalloc(sizeof *w.items);
  if (!current || !w.items) return lgt_mem_free(current), lgt_no_memory_to_fuse();
  memset(current, 0xff, (size_t)group->plan->nroot * sizeof *current);
  for (int i = 0; i < group->count && !status; i++)
    status = weave_call(&w, group->first + i, needed[i], current);
  if (!status) note_finals(&w, current);
  if (!status) status = lgt_sink_items(&w);
  if (!status) status = lgt_deal_items(&w);
  if (!status) status = lgt_assemble_scan(&w);
  if (!status) status = choose_memory(&w, current);
  if (!status) status = lgt_recipes_list(&w);
  if (!status) status = lgt_assemble_build(&w);
  if (!status) status = lgt_inline_loops(&w);
  if (!status) status = lgt_patch_loops(&w);
  if (!status) lgt_abreast_find(fuser, group, false);
  lgt_mem_free(current);
  lgt_mem_free(w.loop);
  if (!status && lgt_log_on(WEAVE, 3)) lgt_weave_log(group);
  return status;
}
