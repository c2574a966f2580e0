/* taint.c - see taint.h. */
#include "plan/taint.h"

#include <string.h>

static uint16_t earlier(const int64_t *position, uint16_t a, uint16_t b) {
  if (a == LGT_NONE || b == LGT_NONE) return a == LGT_NONE ? b : a;
  return position[b] < position[a] ? b : a;
}

/* A copy of a rest, for an item that overwrites all of it after all. */
static bool is_vain(const lgt_weave_items *items, int number) {
  const lgt_weave_item *copy = &items->item[number];
  while (number > 0 && items->item[number].call != copy->cause) number--;
  const lgt_weave_item *item = &items->item[number];
  for (int a = 0; a < item->nargs; a++)
    if (item->out[a] == copy->out[0] && item->whole >> a & 1) return true;
  return false;
}

/* A buffer that has the rest of its elements from another one, before its first item writes it; copies of such a rest come
 * after the item that they are made for. */
static uint16_t begin_rest(lgt_taint *t, int number, const int64_t *position) {
  const lgt_weave_items *items = t->group->items;
  const lgt_weave_item *item = &items->item[number];
  uint16_t why = LGT_NONE;
  for (int a = 0; a < item->nargs; a++) {
    uint16_t out = item->out[a];
    if (out == LGT_NONE || items->buffer[out].rest == LGT_NONE || items->buffer[out].rest_call != item->call)
      continue;
    t->buffer[out] = t->buffer[items->buffer[out].rest];
  }
  for (int i = number + 1; i < items->nitem && items->item[i].call == LGT_NONE; i++)
    if (items->item[i].cause == item->call && !is_vain(items, i))
      why = earlier(position, why, t->buffer[items->item[i].in[1]]);
  return why;
}

static void pass(lgt_taint *t, int number, const int64_t *position) {
  const lgt_weave_item *item = &t->group->items->item[number];
  if (item->call == LGT_NONE && is_vain(t->group->items, number)) return;
  uint16_t why = item->call == LGT_NONE ? LGT_NONE : begin_rest(t, number, position);
  if (item->loop != LGT_NONE) why = earlier(position, why, t->loop[item->loop]);
  for (int a = 0; a < item->nargs; a++) {
    if (item->in[a] != LGT_NONE) why = earlier(position, why, t->buffer[item->in[a]]);
    if (item->out[a] != LGT_NONE && !(item->whole >> a & 1))
      why = earlier(position, why, t->buffer[item->out[a]]);
  }
  t->item[number] = why;
  for (int a = 0; a < item->nargs; a++)
    if (item->out[a] != LGT_NONE) t->buffer[item->out[a]] = why;
}

static size_t count_loops(const lgt_weave_items *items) {
  size_t n = 0;
  for (int i = 0; i < items->nitem; i++)
    if (items->item[i].loop != LGT_NONE && items->item[i].loop >= n) n = (size_t)items->item[i].loop + 1;
  return n;
}

/* Loops that touch new slots without memory do not run. */
static void stop_loops(lgt_taint *t, const int64_t *position) {
  const lgt_weave_items *items = t->group->items;
  for (int i = 0; i < items->nitem; i++) {
    const lgt_weave_item *item = &items->item[i];
    for (int a = 0; a < item->nargs && item->loop != LGT_NONE; a++)
      for (int k = 0; k < 2; k++) {
        uint16_t b = k ? item->out[a] : item->in[a], slot = b == LGT_NONE ? LGT_NONE : items->buffer[b].slot;
        if (slot != LGT_NONE && !t->group->slot[slot].initial && position[slot] != LGT_TAINT_NONE)
          t->loop[item->loop] = slot;
      }
  }
}

bool lgt_taint_find(lgt_taint *t, const lgt_plan_group *group, const int64_t *position) {
  const lgt_weave_items *items = group->items;
  size_t nloop = count_loops(items),
         room = ((size_t)items->nbuffer + (size_t)items->nitem + nloop + 1) * sizeof *t->buffer;
  *t = (lgt_taint){.group = group, .buffer = lgt_mem_alloc(room)};
  if (!t->buffer) return false;
  memset(t->buffer, 0xff, room);
  t->item = t->buffer + items->nbuffer;
  t->loop = t->item + items->nitem;
  for (int b = 0; b < items->nbuffer; b++) {
    const lgt_weave_buffer *buffer = &items->buffer[b];
    if (buffer->initial && buffer->slot != LGT_NONE && position[buffer->slot] != LGT_TAINT_NONE)
      t->buffer[b] = buffer->slot;
  }
  stop_loops(t, position);
  for (int i = 0; i < items->nitem; i++) pass(t, i, position);
  return true;
}

void lgt_taint_fini(lgt_taint *t) {
  lgt_mem_free(t->buffer);
  t->buffer = NULL;
}

uint16_t lgt_taint_of_slot(const lgt_taint *t, int slot) {
  const lgt_weave_items *items = t->group->items;
  int last = -1;
  for (int b = 0; b < items->nbuffer; b++)
    if (items->buffer[b].slot == slot &&
        (last < 0 || items->buffer[b].last_loop >= items->buffer[last].last_loop))
      last = b;
  return last < 0 ? LGT_NONE : t->buffer[last];
}

/* The buffer that a root ends as; LGT_NONE: the group does not write it. */
static uint16_t end_of_root(const lgt_taint *t, uint16_t root) {
  const lgt_weave_items *items = t->group->items;
  uint16_t found = LGT_NONE;
  for (int i = 0; i < items->nitem; i++) {
    const lgt_weave_item *item = &items->item[i];
    if (item->call == LGT_NONE) continue;
    const lgt_plan_call *call = &t->group->plan->call[item->call];
    for (int a = 0; a < call->nargs; a++) {
      if (call->root[a] != root || !lgt_kind_writes(call->kind, a)) continue;
      found = item->out[a] == LGT_NONE ? item->in[1]
                                       : item->out[a]; /* a copy that was forwarded has what it reads */
    }
  }
  return found;
}

uint16_t lgt_taint_of_root(const lgt_taint *t, uint16_t root) {
  uint16_t end = end_of_root(t, root);
  return end == LGT_NONE ? LGT_NONE : t->buffer[end];
}

bool lgt_taint_overwrites(const lgt_taint *t, uint16_t root) {
  uint16_t end = end_of_root(t, root);
  return end != LGT_NONE && t->buffer[end] == LGT_NONE;
}
