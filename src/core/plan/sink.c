/* sink.c - see sink.h. */
#include "plan/sink.h"

#include <stdlib.h>
#include <string.h>

/* An argument through which an item reads a buffer, writes it, or both. */
typedef struct user {
  uint16_t item;
  uint8_t arg;
} user;

/* An item that is to move, and the loop where it was. */
typedef struct mover {
  uint16_t item, was;
} mover;

/* What a loop does with a buffer. */
typedef struct use {
  int64_t bytes;
  uint16_t first; /* the item that comes to the buffer first */
  bool is_met, reads, writes;
} use;

typedef struct sinker {
  lgt_weaver *w;
  void *memory;    /* owned: what follows */
  user *user;      /* by buffer, in the order of the items */
  int *first;      /* by buffer, and one more: the number of its first user */
  uint16_t *taker; /* by buffer: the one that may be written over it; LGT_NONE: there is none */
  mover *chosen;   /* who is to move together, the one for whose sake the others do first */
  uint16_t *met;   /* buffers that these touch */
  use *use;        /* by loop */
  uint16_t *loop;  /* those that come to a buffer */
  bool *is_met;    /* by buffer */
  int nchosen, nmet, nloop;
} sinker;

static lgt_weave_item *item_at(const sinker *s, int number) { return &s->w->items->item[number]; }

static void list_users(sinker *s) {
  const lgt_weave_items *items = s->w->items;
  for (int pass = 0; pass < 2; pass++) { /* count them, then put them where they belong */
    for (int i = 0; i < items->nitem; i++)
      for (int a = 0; a < items->item[i].nargs && items->item[i].loop != LGT_NONE; a++) {
        uint16_t in = items->item[i].in[a], out = items->item[i].out[a];
        user u = {(uint16_t)i, (uint8_t)a};
        if (in != LGT_NONE && pass) s->user[s->first[in]] = u;
        if (in != LGT_NONE) s->first[in]++;
        if (out == LGT_NONE || out == in) continue;
        if (pass) s->user[s->first[out]] = u;
        s->first[out]++;
      }
    int sum = 0, n;
    for (int b = 0; b <= items->nbuffer && !pass; b++) n = s->first[b], s->first[b] = sum, sum += n;
    for (int b = items->nbuffer; b > 0 && pass; b--) s->first[b] = s->first[b - 1];
    if (pass) s->first[0] = 0;
  }
}

static bool init(sinker *s, lgt_weaver *w) {
  const lgt_weave_items *items = w->items;
  size_t n = (size_t)items->nitem, m = (size_t)items->nbuffer + 1, l = (size_t)w->nloop, users = 0;
  *s = (sinker){.w = w};
  for (size_t i = 0; i < n; i++) users += 2 * (size_t)items->item[i].nargs;
  s->memory = lgt_mem_zalloc(l * sizeof *s->use + m * sizeof *s->first + users * sizeof *s->user +
                             m * sizeof *s->taker + n * sizeof *s->chosen + m * sizeof *s->met +
                             l * sizeof *s->loop + m);
  if (!s->memory) return false;
  s->use = s->memory;
  s->first = (int *)(s->use + l);
  s->user = (user *)(s->first + m);
  s->taker = (uint16_t *)(s->user + users);
  s->chosen = (mover *)(s->taker + m);
  s->met = (uint16_t *)(s->chosen + n);
  s->loop = s->met + m;
  s->is_met = (bool *)(s->loop + l);
  memset(s->taker, 0xff, m * sizeof *s->taker);
  for (int b = 0; b < items->nbuffer; b++)
    if (items->buffer[b].takes != LGT_NONE) s->taker[items->buffer[b].takes] = (uint16_t)b;
  list_users(s);
  return true;
}

/* ---- who may move ------------------------------------------------------------------------------------- */

/* Does it compute results of its own, each at once, element by element? */
static bool may_move(const sinker *s, const lgt_weave_item *item) {
  bool any = false;
  if (item->call == LGT_NONE || item->loop == LGT_NONE || lgt_kind_native(item->kind) || item->kind->reduces)
    return false;
  for (int a = 0; a < item->nargs; a++) {
    if (item->out[a] == LGT_NONE) continue;
    const lgt_weave_buffer *b = &s->w->items->buffer[item->out[a]];
    if (b->initial || b->writers != 1 || b->rest != LGT_NONE) return false;
    any = true;
  }
  return any;
}

static bool is_chosen(const sinker *s, int number) {
  for (int k = 0; k < s->nchosen; k++)
    if (s->chosen[k].item == number) return true;
  return false;
}

/* The first loop of somebody who reads what the item makes, and has not been chosen; LGT_NONE: there is nobody. */
static uint16_t first_reader(const sinker *s, int number) {
  const lgt_weave_item *item = item_at(s, number);
  uint16_t loop = LGT_NONE;
  for (int a = 0; a < item->nargs; a++) {
    if (item->out[a] == LGT_NONE) continue;
    for (int u = s->first[item->out[a]]; u < s->first[item->out[a] + 1]; u++) {
      int reader = s->user[u].item;
      if (reader != number && !is_chosen(s, reader) && item_at(s, reader)->loop < loop)
        loop = item_at(s, reader)->loop;
    }
  }
  return loop;
}

/* Is the later one of two items, which may touch the same elements, placed as the other one demands? */
static bool is_after(const sinker *s, const lgt_weave_item *late, int arg, const lgt_weave_item *early,
                     int other, bool ordered) {
  return lgt_weave_after(s->w, late, arg, early, other, ordered) <= late->loop;
}

/* Does the item agree, where it is now, with all others that touch a buffer which it touches through `arg`? */
static bool agrees(const sinker *s, const lgt_weave_item *item, int arg, uint16_t buffer) {
  bool mine = item->out[arg] == buffer;
  for (int u = s->first[buffer]; u < s->first[buffer + 1]; u++) {
    const lgt_weave_item *other = item_at(s, s->user[u].item);
    int its = s->user[u].arg;
    bool writes = other->out[its] == buffer;
    if (other == item || !(mine || writes)) continue;
    bool ordered = writes && lgt_item_reduces(other, its);
    if (lgt_item_order(other) < lgt_item_order(item) ? !is_after(s, item, arg, other, its, ordered)
                                                     : !is_after(s, other, its, item, arg, ordered))
      return false;
  }
  return true;
}

/* Who writes new contents over those that the item reads does so later. */
static bool comes_before(const sinker *s, const lgt_weave_item *item, int arg, uint16_t new) {
  for (int u = s->first[new]; u < s->first[new + 1]; u++) {
    const lgt_weave_item *writer = item_at(s, s->user[u].item);
    if (writer->out[s->user[u].arg] != new) continue;
    if (lgt_item_order(writer) < lgt_item_order(item) ||
        !is_after(s, writer, s->user[u].arg, item, arg, false))
      return false;
  }
  return true;
}

static bool is_in_order(const sinker *s, const lgt_weave_item *item) {
  for (int a = 0; a < item->nargs; a++) {
    uint16_t in = item->in[a], out = item->out[a];
    if (in != LGT_NONE && !agrees(s, item, a, in)) return false;
    if (out != LGT_NONE && out != in && !agrees(s, item, a, out)) return false;
    if (in != LGT_NONE && s->taker[in] != LGT_NONE && !comes_before(s, item, a, s->taker[in])) return false;
  }
  return true;
}

/* ---- what moves together -------------------------------------------------------------------------------- */

/* Move the item, if it may, for now. */
static bool choose(sinker *s, int number, uint16_t loop) {
  lgt_weave_item *item = item_at(s, number);
  uint16_t was = item->loop;
  item->loop = loop;
  if (!is_in_order(s, item)) {
    item->loop = was;
    return false;
  }
  s->chosen[s->nchosen++] = (mover){(uint16_t)number, was};
  return true;
}

static void undo(sinker *s) {
  for (int k = 0; k < s->nchosen; k++) item_at(s, s->chosen[k].item)->loop = s->chosen[k].was;
}

/* Those that only the chosen ones need come along: their readers have been chosen before them. */
static void choose_makers(sinker *s, uint16_t loop) {
  for (int k = 0; k < s->nchosen; k++) {
    const lgt_weave_item *item = item_at(s, s->chosen[k].item);
    for (int a = 0; a < item->nargs; a++) {
      const lgt_weave_buffer *b = item->in[a] == LGT_NONE ? NULL : &s->w->items->buffer[item->in[a]];
      if (!b || b->initial || b->final || b->writers != 1) continue;
      const lgt_weave_item *maker = item_at(s, b->last_writer);
      if (maker->loop < loop && may_move(s, maker) && first_reader(s, b->last_writer) == LGT_NONE)
        choose(s, b->last_writer, loop);
    }
  }
}

/* ---- what it costs ---------------------------------------------------------------------------------------- */

/* Note what an item does with a buffer through one of its arguments. */
static void note_use(sinker *s, uint16_t buffer, user by) {
  const lgt_weave_item *item = item_at(s, by.item);
  const lgt_layout *l = lgt_weaver_layout(s->w, item->layout[by.arg]);
  int64_t bytes = lgt_layout_distinct(l) * lgt_dtype_size(l->dtype);
  use *u = &s->use[item->loop];
  if (!u->is_met) {
    *u = (use){.is_met = true, .first = by.item};
    s->loop[s->nloop++] = item->loop;
  }
  if (bytes > u->bytes) u->bytes = bytes;
  u->reads |= item->in[by.arg] == buffer && by.item == u->first; /* before anybody there writes */
  u->writes |= item->out[by.arg] == buffer;
}

/* Bytes of a buffer that the loops load and store.  One that no loop loads, and that does not outlive the group, is in
 * registers. */
static int64_t traffic(sinker *s, uint16_t buffer) {
  const lgt_weave_buffer *b = &s->w->items->buffer[buffer];
  bool in_memory = b->initial || b->final;
  int64_t loaded = 0, stored = 0;
  for (int u = s->first[buffer]; u < s->first[buffer + 1]; u++) note_use(s, buffer, s->user[u]);
  for (; s->nloop; s->nloop--) {
    use *u = &s->use[s->loop[s->nloop - 1]];
    if (u->reads) loaded += u->bytes, in_memory = true;
    if (u->writes) stored += u->bytes;
    u->is_met = false;
  }
  return loaded + (in_memory ? stored : 0);
}

static void meet(sinker *s, uint16_t buffer) {
  if (buffer == LGT_NONE || s->is_met[buffer]) return;
  s->is_met[buffer] = true;
  s->met[s->nmet++] = buffer;
}

/* Bytes of all that the chosen items touch. */
static int64_t traffic_of_chosen(sinker *s) {
  int64_t bytes = 0;
  for (int k = 0; k < s->nchosen; k++) {
    const lgt_weave_item *item = item_at(s, s->chosen[k].item);
    for (int a = 0; a < item->nargs; a++) meet(s, item->in[a]), meet(s, item->out[a]);
  }
  for (; s->nmet; s->nmet--) {
    s->is_met[s->met[s->nmet - 1]] = false;
    bytes += traffic(s, s->met[s->nmet - 1]);
  }
  return bytes;
}

static void swap_loops(sinker *s) {
  for (int k = 0; k < s->nchosen; k++) {
    lgt_weave_item *item = item_at(s, s->chosen[k].item);
    uint16_t loop = item->loop;
    item->loop = s->chosen[k].was;
    s->chosen[k].was = loop;
  }
}

static bool pays(sinker *s) {
  int64_t after = traffic_of_chosen(s);
  swap_loops(s);
  int64_t before = traffic_of_chosen(s);
  swap_loops(s);
  return after < before;
}

/* ---- moving ------------------------------------------------------------------------------------------------ */

static int in_program(const void *a, const void *b) {
  return (int)((const mover *)a)->item - (int)((const mover *)b)->item;
}

/* Let the loop take the chosen items, one after the other as in the program; false: it does not take all, and nothing has
 * changed. */
static bool join(sinker *s, uint16_t number) {
  lgt_weave_loop before = s->w->loop[number];
  int n = 0;
  for (int k = 0; k < s->nchosen; k++) item_at(s, s->chosen[k].item)->loop = LGT_NONE; /* not there yet */
  qsort(s->chosen, (size_t)s->nchosen, sizeof *s->chosen, in_program);
  while (n < s->nchosen && lgt_weave_fits(s->w, item_at(s, s->chosen[n].item), number))
    lgt_weave_join(s->w, item_at(s, s->chosen[n++].item), number);
  if (n == s->nchosen) return true;
  s->w->loop[number] = before;
  return false;
}

static bool sink(sinker *s, int number, uint16_t loop) {
  s->nchosen = 0;
  if (!choose(s, number, loop)) return false;
  choose_makers(s, loop);
  if (pays(s) && join(s, loop)) return true;
  undo(s);
  return false;
}

lgt_status lgt_sink_items(lgt_weaver *w) {
  sinker s;
  bool moved = false;
  if (w->nloop < 2 || !w->fuser->config->kernel_fusion) return LGT_OK;
  if (!init(&s, w)) return lgt_no_memory_to_fuse();
  for (int i = w->items->nitem - 1; i >= 0; i--) {
    if (!may_move(&s, item_at(&s, i))) continue;
    s.nchosen = 0;
    uint16_t loop = first_reader(&s, i);
    if (loop != LGT_NONE && loop > item_at(&s, i)->loop) moved |= sink(&s, i, loop);
  }
  lgt_mem_free(s.memory);
  if (moved) lgt_weave_note_loops(w);
  return LGT_OK;
}
