/* weave_log.c - what was woven, as text: LGT_DEBUG=weave:3.
 *
 * One line an item, a slot, a recipe, in the words of weave.h, fuse.h and recipes.h.  Buffers are b0, b1, ..., slots
 * s0, s1, ..., roots r0, r1, ...; x = a + b in place of an old x, of which a temporary t was made before, reads
 *
 *   group of calls 3 to 4, over 2 colours: 1 loop
 *     item 0: loop 0, multiply:float64  b1 <- b0
 *     item 1: loop 0, add:float64  b3 <- b1 b2
 *     s0: initial r2, read
 *     s1: new r4
 *     r3 is elided; its recipe runs items 0, reads s0
 *
 * An item whose loop is gone, because each of its readers computes the item anew (inline.h), is "inlined"; one whose results
 * nothing reads is "not needed".  A copy of a rest that is "there already" is not run.
 */
#include "plan/weave.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct line {
  char text[600];
  int used;
} line;

__attribute__((format(printf, 2, 3))) static void put(line *l, const char *format, ...) {
  va_list args;
  int room = (int)sizeof l->text - l->used;
  va_start(args, format);
  int n = vsnprintf(l->text + l->used, (size_t)room, format, args);
  va_end(args);
  l->used += n < room ? n : room - 1;
}

static void print(const line *l) { lgt_log_print(LGT_LOG_WEAVE, "%s", l->text); }

static void put_buffer(line *l, const lgt_weave_items *items, uint16_t buffer) {
  put(l, " b%d", buffer);
  if (items->buffer[buffer].slot != LGT_NONE) put(l, "/s%d", items->buffer[buffer].slot);
}

/* The loop of an item by its number in the group; -1: that loop was dropped. */
static int loop_of(const lgt_plan_group *group, const lgt_weave_item *item) {
  int l = group->nloop - 1;
  while (l >= 0 && group->loop[l].woven != item->loop) l--;
  return l;
}

static void print_item(const lgt_plan_group *group, int i) {
  const lgt_weave_items *items = group->items;
  const lgt_weave_item *item = &items->item[i];
  line l = {.used = 0};
  put(&l, "  item %d: ", i);
  if (item->loop == LGT_NONE) put(&l, "forwarded, ");
  else if (loop_of(group, item) >= 0) put(&l, "loop %d, ", loop_of(group, item));
  else put(&l, group->inlined ? "inlined, " : "not needed, ");
  put(&l, "%s%s%s ", item->call == LGT_NONE ? "the rest by " : "", item->kind->name,
      item->there ? ", there already," : "");
  for (int a = 0; a < item->nargs; a++)
    if (item->out[a] != LGT_NONE) put_buffer(&l, items, item->out[a]);
  put(&l, " <-");
  for (int a = 0; a < item->nargs; a++)
    if (item->in[a] != LGT_NONE) put_buffer(&l, items, item->in[a]);
  print(&l);
}

static void print_slot(const lgt_plan_group *group, int s) {
  const lgt_plan_slot *slot = &group->slot[s];
  line l = {.used = 0};
  put(&l, "  s%d: %s", s, slot->former ? "former" : slot->initial ? "initial" : "new");
  if (slot->root != LGT_NONE) put(&l, " r%d", slot->root);
  if (slot->part) put(&l, ", part %d", slot->part);
  if (slot->initial && slot->read) put(&l, ", read");
  if (slot->initial && slot->written) put(&l, ", written in place");
  if (slot->initial && slot->defined) put(&l, ", overwritten first");
  if (slot->rest != LGT_NONE) put(&l, ", its rest from s%d", slot->rest);
  if (slot->takes != LGT_NONE) put(&l, ", may take s%d", slot->takes);
  if (slot->saved != LGT_NONE) put(&l, ", former contents to s%d", slot->saved);
  if (slot->pinned) put(&l, ", pinned");
  if (slot->idle) put(&l, ", idle");
  print(&l);
}

static void print_recipe(const lgt_plan_group *group, int e) {
  const lgt_plan_elided *elided = &group->elided[e];
  line l = {.used = 0};
  put(&l, "  r%d is elided; ", elided->root);
  if (elided->must_die) put(&l, "it must die");
  else put(&l, "its recipe runs items");
  for (int k = 0; k < elided->nitem; k++) put(&l, " %d", elided->item[k]);
  const char *before = ", reads";
  for (int s = 0; s < group->nslot && !elided->must_die; s++)
    if (elided->reads[s / 64] >> s % 64 & 1) put(&l, "%s s%d", before, s), before = "";
  print(&l);
}

void lgt_weave_log(const lgt_plan_group *group) {
  lgt_log_print(LGT_LOG_WEAVE, "group of calls %d to %d, over %d colour%s: %d loop%s", group->first,
                group->first + group->count - 1, group->launch->ncolour, lgt_plural(group->launch->ncolour),
                group->nloop, lgt_plural(group->nloop));
  for (int i = 0; i < group->items->nitem; i++) print_item(group, i);
  for (int s = 0; s < group->nslot; s++) print_slot(group, s);
  for (int f = 0; f < group->nfinal; f++)
    lgt_log_print(LGT_LOG_WEAVE, "  r%d ends as s%d", group->slot_of_final[2 * f],
                  group->slot_of_final[2 * f + 1]);
  for (int e = 0; e < group->nelided; e++) print_recipe(group, e);
}
