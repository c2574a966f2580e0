/* recipes.c - what can be computed later.  See recipes.h. */
#include "plan/recipes.h"

#include <string.h>

#include "plan/inline.h"

/* ---- what lasts ----------------------------------------------------------------------------------------- */

/* For each slot, the first loop of the buffer that is the last one to come there. */
static void find_latest(const lgt_weave_items *items, uint16_t *latest) {
  for (int b = 0; b < items->nbuffer; b++) {
    const lgt_weave_buffer *buffer = &items->buffer[b];
    if (buffer->slot != LGT_NONE && buffer->first_loop != LGT_NONE &&
        buffer->first_loop > latest[buffer->slot])
      latest[buffer->slot] = buffer->first_loop;
  }
}

/* The memory of what an argument reads or writes (NULL: registers), and the box in it around what it touches. */
static lgt_plan_slot *slot_of(const lgt_weaver *w, uint16_t buffer) {
  uint16_t slot = buffer == LGT_NONE ? LGT_NONE : w->items->buffer[buffer].slot;
  return slot == LGT_NONE ? NULL : &w->group->slot[slot];
}

static lgt_rect touched(const lgt_weaver *w, const lgt_weave_item *item, int arg) {
  const lgt_layout *l = lgt_weaver_layout(w, item->layout[arg]);
  lgt_rect view = lgt_rect_of_shape(l->ndim, l->shape);
  return lgt_layout_root_rect(l, &view);
}

static void enclose(lgt_rect *box, const lgt_rect *more) {
  *box = box->ndim < 0 ? *more : lgt_rect_bound(box, more);
}

static bool apart(const lgt_rect *changed, const lgt_rect *read) {
  lgt_rect common;
  return changed->ndim < 0 || !lgt_rect_intersect(changed, read, &common);
}

static void forget_boxes(lgt_plan_group *group) {
  for (int s = 0; s < group->nslot; s++) group->slot[s].kept.ndim = group->slot[s].changed.ndim = -1;
}

/* What an item changes of memory, as those before it in the program find it. */
static void note_changes(lgt_weaver *w, const lgt_weave_item *item, bool all) {
  for (int a = 0; a < item->nargs && item->loop != LGT_NONE; a++) {
    lgt_plan_slot *slot = slot_of(w, item->out[a]);
    if (!slot || !(all || slot->initial || slot->pinned)) continue;
    lgt_rect box = touched(w, item, a);
    enclose(&slot->changed, &box);
  }
}

/* Which arguments read memory that is still the same when the group has ended?  From the last item to the first: what was
 * noted is what comes later. */
static void find_lasting(lgt_weaver *w, uint16_t *latest) {
  forget_boxes(w->group);
  find_latest(w->items, latest);
  for (int i = w->items->nitem - 1; i >= 0; i--) {
    lgt_weave_item *item = &w->items->item[i];
    note_changes(w, item, true);
    for (int a = 0; a < item->nargs; a++) {
      const lgt_plan_slot *slot = slot_of(w, item->in[a]);
      if (!slot) continue;
      lgt_rect box = touched(w, item, a);
      /* Somebody in a later loop may share the buffer's memory, and come earlier in the program. */
      bool passed_on = latest[slot - w->group->slot] > w->items->buffer[item->in[a]].last_loop;
      if (apart(&slot->changed, &box) && !passed_on) item->lasts |= (uint16_t)(1u << a);
    }
  }
}

/* Recipes that read what rests are copied from may need any of it. */
static bool keep_rests(const lgt_weaver *w) {
  for (int b = 0; b < w->items->nbuffer && w->group->turns; b++) {
    lgt_plan_slot *slot = slot_of(w, w->items->buffer[b].rest);
    if (!slot || !slot->pinned) continue;
    const lgt_layout *l = lgt_weaver_layout(w, slot->layout);
    lgt_rect all = lgt_rect_of_shape(l->ndim, l->shape);
    if (!apart(&slot->changed, &all)) return false;
    enclose(&slot->kept, &all);
  }
  return true;
}

bool lgt_recipes_keep(lgt_weaver *w) {
  forget_boxes(w->group);
  for (int i = w->items->nitem - 1; i >= 0; i--) {
    const lgt_weave_item *item = &w->items->item[i];
    note_changes(w, item, false);
    for (int a = 0; a < item->nargs && item->pins >> a; a++) {
      if (!(item->pins >> a & 1)) continue;
      lgt_plan_slot *slot = slot_of(w, item->in[a]);
      lgt_rect box = touched(w, item, a);
      if (!apart(&slot->changed, &box)) return false;
      enclose(&slot->kept, &box);
    }
  }
  return keep_rests(w);
}

/* Is the buffer in a root's memory, before or after the group?  (Others may have the memory of a root before its last version
 * takes it.) */
static bool is_a_roots(const lgt_weave_buffer *buffer) {
  return buffer->slot != LGT_NONE && (buffer->initial || buffer->final);
}

/* ---- versions ------------------------------------------------------------------------------------------ */

static bool writes(const lgt_weave_item *item, uint16_t buffer) {
  for (int a = 0; a < item->nargs; a++)
    if (item->out[a] == buffer) return true;
  return false;
}

/* ... all of it, without a look? */
static bool overwrites(const lgt_weave_item *item, uint16_t buffer) {
  bool all = false;
  for (int a = 0; a < item->nargs; a++) {
    if (item->in[a] == buffer) return false;
    all |= item->out[a] == buffer && item->whole >> a & 1;
  }
  return all;
}

/* Was all that a buffer holds written at once?  In a widened group also over the rest of what was there before, which stays. */
static bool is_whole(const lgt_plan_group *group, const lgt_weave_buffer *buffer) {
  return !buffer->initial && buffer->writers == 1 && (buffer->rest == LGT_NONE || group->turns);
}

/* The group's own memory or registers, written once: who wrote it may run again. */
static bool is_result(const lgt_plan_group *group, const lgt_weave_buffer *buffer) {
  return !is_a_roots(buffer) && is_whole(group, buffer);
}

/* Do its items tell all of what is in a buffer, at each place of the program?  Of one that was there before, beside its
 * former contents. */
static bool has_versions(const lgt_weaver *w, uint16_t number) {
  const lgt_weave_buffer *buffer = &w->items->buffer[number];
  const lgt_plan_root *root = &w->plan->root[buffer->root];
  if (!lgt_solver_whole(&w->fuser->solver) || root->attached || buffer->part || is_result(w->group, buffer))
    return false;
  if (buffer->initial && !root->saved) return false;
  /* Nobody has carried it over older contents. */
  for (int i = 0; i < w->items->nitem && buffer->writers > 1; i++)
    if (w->items->item[i].loop == LGT_NONE && writes(&w->items->item[i], number)) return false;
  return w->fuser->copy_kind[lgt_weaver_layout(w, root->layout)->dtype] != NULL;
}

/* Would the group's own memory be kept for the buffer's sake, and is it much? */
static bool is_burden(const lgt_weaver *w, const lgt_weave_buffer *buffer) {
  return buffer->slot != LGT_NONE && !is_a_roots(buffer) && !is_result(w->group, buffer) &&
         lgt_layout_bytes(lgt_weaver_layout(w, w->group->slot[buffer->slot].layout)) >
             w->fuser->config->between;
}

/* Which buffers are read as they are no more when the group has ended, or should not have to be, and what was in them before
 * it? */
static void find_versions(lgt_weaver *w) {
  lgt_weave_items *items = w->items;
  for (int i = 0; i < items->nitem; i++)
    for (int a = 0; a < items->item[i].nargs; a++) {
      uint16_t in = items->item[i].in[a];
      if (in == LGT_NONE) continue;
      if (!(items->item[i].lasts >> a & 1) || is_burden(w, &items->buffer[in]))
        items->buffer[in].versions = true;
    }
  for (int b = 0; b < items->nbuffer; b++) {
    lgt_weave_buffer *buffer = &items->buffer[b];
    if (buffer->versions) buffer->versions = has_versions(w, (uint16_t)b);
    if (!buffer->versions || !buffer->initial || buffer->slot == LGT_NONE) continue;
    if (w->group->slot[buffer->slot].defined) continue; /* nobody reads that */
    lgt_plan_slot former = {.layout = w->plan->root[buffer->root].layout,
                            .root = buffer->root,
                            .initial = true,
                            .former = true,
                            .read = true,
                            .kept = {.ndim = -1},
                            .changed = {.ndim = -1}};
    buffer->saved = (uint16_t)lgt_weave_add_slot(w->group, former);
    w->group->slot[buffer->slot].saved = buffer->saved;
  }
}

/* ---- closures ------------------------------------------------------------------------------------------ */

/* How a recipe's item gets what it reads. */
typedef enum source { FROM_NOWHERE, FROM_MEMORY, FROM_ITEM, FROM_VERSIONS } source;

/* An item that writes a buffer. */
typedef struct writing {
  uint16_t place; /* of the item in the program */
  uint16_t
      begin; /* among the buffer's writings: the last one up to this that overwrites all of it, else the first one */
} writing;

/* What is known of a buffer and the recipe in the making. */
typedef struct knowledge {
  int recipe;     /* which recipe; of another one nothing is known */
  int begin, end; /* these of the buffer's writings are marked */
  bool touched;   /* by an item of the recipe ... */
  bool former;    /* ... the first of which needs what was there before */
} knowledge;

/* A recipe costs what its items do, whatever else is in the group. */
typedef struct closures {
  lgt_weaver *w;
  void *memory;       /* owned: what follows */
  uint64_t *marked;   /* by place, bits: items that the recipe in the making needs */
  knowledge *known;   /* by buffer */
  int *first;         /* by buffer, and one more: the number of its first writing */
  writing *writing;   /* by buffer, in the order of the program */
  uint16_t *sequence; /* items in the order of the program */
  uint16_t *place;    /* of an item in it */
  uint16_t *latest;   /* by slot: the first loop of the buffer that is the last one to come there */
  bool *again;        /* by item: it can run again, with all that it reads from roots */
  bool *whole;        /* by buffer: so can those who have written it */
  bool *listed;       /* by root: it is in the list of elided results */
  int recipe;         /* the number of the one in the making, from 1 on */
} closures;

static int words_of(const closures *c) { return c->w->items->nitem / 64 + 1; }

/* The items in the order of the program. */
static void find_sequence(closures *c) {
  const lgt_weave_items *items = c->w->items;
  for (int i = 0; i < items->nitem; i++) {
    int k = i, order = lgt_item_order(&items->item[i]);
    for (; k > 0 && lgt_item_order(&items->item[c->sequence[k - 1]]) > order; k--)
      c->sequence[k] = c->sequence[k - 1];
    c->sequence[k] = (uint16_t)i;
  }
  for (int i = 0; i < items->nitem; i++) c->place[c->sequence[i]] = (uint16_t)i;
}

/* Has an item a former argument with the same buffer? */
static bool repeats(const lgt_weave_item *item, int arg) {
  for (int a = 0; a < arg; a++)
    if (item->out[a] == item->out[arg]) return true;
  return false;
}

static void find_writings(closures *c) {
  const lgt_weave_items *items = c->w->items;
  for (int pass = 0; pass < 2; pass++) { /* count them, then put them where they belong */
    for (int k = 0; k < items->nitem; k++) {
      const lgt_weave_item *item = &items->item[c->sequence[k]];
      for (int a = 0; a < item->nargs; a++) {
        uint16_t b = item->out[a];
        if (b == LGT_NONE || repeats(item, a)) continue;
        int at = c->known[b].end++;
        if (pass == 0) continue;
        bool begins = at == c->first[b] || overwrites(item, b);
        c->writing[at] =
            (writing){(uint16_t)k, begins ? (uint16_t)(at - c->first[b]) : c->writing[at - 1].begin};
      }
    }
    for (int b = 0; pass == 0 && b < items->nbuffer; b++) {
      c->first[b + 1] = c->first[b] + c->known[b].end;
      c->known[b].end = c->first[b];
    }
  }
}

static bool closures_init(closures *c, lgt_weaver *w) {
  size_t n = (size_t)w->items->nitem + 1, m = (size_t)w->items->nbuffer + 1, nwriting = 1;
  size_t nslot = (size_t)w->group->nslot + 1, nroot = (size_t)w->plan->nroot + 1;
  for (int i = 0; i < w->items->nitem; i++) nwriting += w->items->item[i].nargs;
  *c = (closures){.w = w};
  size_t words = (size_t)words_of(c);
  c->memory =
      lgt_mem_zalloc(words * sizeof *c->marked + m * sizeof *c->known + (m + 1) * sizeof *c->first +
                     nwriting * sizeof *c->writing + (2 * n + nslot) * sizeof *c->sequence + n + m + nroot);
  if (!c->memory) return false;
  c->marked = c->memory;
  c->known = (knowledge *)(c->marked + words);
  c->first = (int *)(c->known + m);
  c->writing = (writing *)(c->first + m + 1);
  c->sequence = (uint16_t *)(c->writing + nwriting);
  c->place = c->sequence + n;
  c->latest = c->place + n;
  c->again = (bool *)(c->latest + nslot);
  c->whole = c->again + n;
  c->listed = c->whole + m;
  memset(c->whole, true, m);
  find_sequence(c);
  find_writings(c);
  return true;
}

static void mark(closures *c, int item) {
  c->marked[c->place[item] / 64] |= UINT64_C(1) << c->place[item] % 64;
}

static bool is_marked(const closures *c, int item) {
  return c->marked[c->place[item] / 64] >> c->place[item] % 64 & 1;
}

/* The marked item at `place`, or the first one after it; -1: there is none. */
static int next_marked(const closures *c, int place) {
  int word = place / 64, words = words_of(c);
  if (word >= words) return -1;
  uint64_t bits = c->marked[word] & UINT64_MAX << place % 64;
  while (!bits && ++word < words) bits = c->marked[word];
  return bits ? c->sequence[word * 64 + __builtin_ctzll(bits)] : -1;
}

/* The same after an item. */
static int marked_after(const closures *c, int item) { return next_marked(c, c->place[item] + 1); }

/* Where loops may compute what was in the group's own memory, instead of leaving it there (inline.h), a result that must die
 * takes along those that were made of it: the collection that it needs is theirs, too. */
static bool takes_along(const closures *c, const lgt_weave_buffer *buffer) {
  const lgt_plan_root *root = &c->w->plan->root[buffer->root];
  return root->fresh && !root->stored && root->writes != 1 && !is_a_roots(buffer) &&
         (lgt_inline_applies(c->w->fuser, c->w->plan) ||
          lgt_inline_joins(c->w->fuser, c->w->plan, buffer->root));
}

/* The group's own memory is left alone only if what lay there cannot be computed again from roots: else it would be kept
 * until a collection finds that nobody wants the result. */
static source source_of(const closures *c, const lgt_weave_item *item, int arg) {
  const lgt_weave_buffer *buffer = &c->w->items->buffer[item->in[arg]];
  bool lasts = item->lasts >> arg & 1 && !takes_along(c, buffer);
  if (is_result(c->w->group, buffer) && (!lasts || c->again[buffer->last_writer])) return FROM_ITEM;
  if (buffer->versions) return FROM_VERSIONS;
  return lasts && !c->w->plan->root[buffer->root].attached ? FROM_MEMORY : FROM_NOWHERE;
}

static bool runs_again(const closures *c, const lgt_weave_item *item) {
  bool good = !item->kind->reduces && !lgt_kind_alone(item->kind);
  for (int a = 0; a < item->nargs && good; a++) {
    if (item->in[a] == LGT_NONE) continue;
    const lgt_weave_buffer *buffer = &c->w->items->buffer[item->in[a]];
    source from = source_of(c, item, a);
    good = from == FROM_MEMORY     ? is_a_roots(buffer)
           : from == FROM_VERSIONS ? c->whole[item->in[a]]
                                   : from == FROM_ITEM && c->again[buffer->last_writer];
  }
  return good;
}

static void find_again(closures *c) {
  for (int k = 0; k < c->w->items->nitem; k++) {
    const lgt_weave_item *item = &c->w->items->item[c->sequence[k]];
    bool good = c->again[c->sequence[k]] = runs_again(c, item);
    for (int a = 0; a < item->nargs && !good; a++)
      if (item->out[a] != LGT_NONE) c->whole[item->out[a]] = false;
  }
}

/* Does an item read what the buffer's memory has no more when the group has ended? */
static bool is_outlived(const lgt_weave_items *items, uint16_t buffer) {
  for (int i = 0; i < items->nitem; i++)
    for (int a = 0; a < items->item[i].nargs; a++)
      if (items->item[i].in[a] == buffer && !(items->item[i].lasts >> a & 1)) return true;
  return false;
}

/* Memory that should not be kept, though it lasts, is kept if the buffer's versions cannot all be made again. */
static void keep_burdens(closures *c) {
  lgt_weave_items *items = c->w->items;
  for (int b = 0; b < items->nbuffer; b++) {
    lgt_weave_buffer *buffer = &items->buffer[b];
    if (buffer->versions && !c->whole[b] && is_burden(c->w, buffer))
      buffer->versions = is_outlived(items, (uint16_t)b);
  }
}

static bool close_over(closures *c, int number);

static knowledge *know(closures *c, uint16_t buffer) {
  knowledge *known = &c->known[buffer];
  if (known->recipe != c->recipe) *known = (knowledge){.recipe = c->recipe};
  return known;
}

/* How many of a buffer's writings come before a place. */
static int writings_before(const closures *c, uint16_t buffer, int place) {
  int low = c->first[buffer], high = c->first[buffer + 1];
  while (low < high) {
    int middle = (low + high) / 2;
    if (c->writing[middle].place < place) low = middle + 1;
    else high = middle;
  }
  return low - c->first[buffer];
}

/* The same of those that write a buffer before a place, from the last one on that overwrites all of it. */
static bool close_over_writers(closures *c, uint16_t buffer, int place) {
  knowledge *known = know(c, buffer);
  const writing *writing = c->writing + c->first[buffer];
  int end = writings_before(c, buffer, place), begin = end ? writing[end - 1].begin : 0;
  if (begin >= known->begin && end <= known->end) return true;
  int k = begin == known->begin ? known->end : begin;
  known->begin = begin;
  known->end = end;
  for (; k < end; k++)
    if (!close_over(c, c->sequence[writing[k].place])) return false;
  return true;
}

/* Mark the items that `number` needs, itself included; false if a recipe cannot be made of them. */
static bool close_over(closures *c, int number) {
  const lgt_weave_item *item = &c->w->items->item[number];
  if (is_marked(c, number)) return true;
  mark(c, number);
  if (item->kind->reduces || lgt_kind_alone(item->kind)) return false;
  for (int a = 0; a < item->nargs; a++) {
    uint16_t in = item->in[a];
    if (in == LGT_NONE) continue;
    source from = source_of(c, item, a);
    if (from == FROM_NOWHERE) return false;
    if (from == FROM_ITEM && !close_over(c, c->w->items->buffer[in].last_writer)) return false;
    if (from == FROM_VERSIONS && !close_over_writers(c, in, c->place[number])) return false;
  }
  return true;
}

/* Does all that a buffer holds come from one of these items?  Then a recipe makes it again, else it reads the memory. */
static bool made_by(const closures *c, const lgt_weave_buffer *buffer) {
  return is_whole(c->w->group, buffer) && is_marked(c, buffer->last_writer);
}

static void pin(lgt_plan_group *group, const lgt_plan_slot *slot, lgt_plan_elided *elided) {
  int s = (int)(slot - group->slot);
  group->slot[s].pinned = true;
  elided->reads[s / 64] |= UINT64_C(1) << s % 64;
}

/* What an item is to make again has its rest from memory that is there. */
static void pin_rests(const closures *c, const lgt_weave_item *item, lgt_plan_elided *elided) {
  for (int a = 0; a < item->nargs; a++) {
    const lgt_weave_buffer *out = item->out[a] == LGT_NONE ? NULL : &c->w->items->buffer[item->out[a]];
    if (out && out->rest != LGT_NONE && made_by(c, out)) pin(c->w->group, slot_of(c->w, out->rest), elided);
  }
}

/* The first of a recipe's items that touches a buffer does so. */
static void note_first(closures *c, const lgt_weave_item *item, uint16_t buffer) {
  knowledge *known = buffer == LGT_NONE ? NULL : know(c, buffer);
  if (!known || known->touched) return;
  known->touched = true;
  known->former = !overwrites(item, buffer);
}

/* The memory that a recipe's items read. */
static bool pin_inputs(closures *c, lgt_plan_elided *elided) {
  lgt_plan_group *group = c->w->group;
  elided->reads = lgt_mem_zalloc((size_t)lgt_plan_words(group) * sizeof *elided->reads);
  for (int k = 0; elided->reads && k < elided->nitem; k++) {
    lgt_weave_item *item = &c->w->items->item[elided->item[k]];
    for (int a = 0; a < item->nargs; a++) {
      note_first(c, item, item->in[a]);
      note_first(c, item, item->out[a]);
    }
    for (int a = 0; a < item->nargs; a++) {
      lgt_plan_slot *slot = slot_of(c->w, item->in[a]);
      if (!slot) continue;
      const lgt_weave_buffer *buffer = &c->w->items->buffer[item->in[a]];
      if (buffer->versions && (buffer->saved == LGT_NONE || !know(c, item->in[a])->former)) continue;
      if (buffer->versions) slot = &group->slot[buffer->saved];
      else if (made_by(c, buffer)) continue;
      else item->pins |= (uint16_t)(1u << a);
      pin(group, slot, elided);
    }
    pin_rests(c, item, elided);
  }
  return elided->reads != NULL;
}

/* ---- the list ------------------------------------------------------------------------------------------ */

/* Does the recipe read single elements only, of arrays that have no others?  For one element none is worth to be kept. */
static bool reads_singles(const closures *c) {
  for (int i = next_marked(c, 0); i >= 0; i = marked_after(c, i))
    for (int a = 0; a < c->w->items->item[i].nargs; a++) {
      uint16_t in = c->w->items->item[i].in[a];
      const lgt_plan_slot *slot = slot_of(c->w, in);
      if (slot && lgt_weaver_layout(c->w, slot->layout)->size != 1 && !made_by(c, &c->w->items->buffer[in]))
        return false;
    }
  return true;
}

static void elide(closures *c, int number, lgt_plan_elided *elided) {
  const lgt_plan_root *root = &c->w->plan->root[elided->root];
  c->recipe++;
  memset(c->marked, 0, (size_t)words_of(c) * sizeof *c->marked);
  bool single = lgt_weaver_layout(c->w, root->layout)->size == 1;
  elided->must_die = root->writes != 1 || !c->w->fuser->config->temporaries || !close_over(c, number) ||
                     (single && !reads_singles(c));
  c->w->group->nmust_die += elided->must_die;
}

static bool write_recipe(closures *c, lgt_plan_elided *elided) {
  if (elided->must_die) return true;
  for (int k = 0; k < words_of(c); k++) elided->nitem += (uint16_t)__builtin_popcountll(c->marked[k]);
  elided->item = lgt_mem_alloc(elided->nitem * sizeof *elided->item);
  if (!elided->item) return false;
  for (int i = next_marked(c, 0), n = 0; i >= 0; i = marked_after(c, i)) elided->item[n++] = (uint16_t)i;
  return pin_inputs(c, elided);
}

/* The root that a call writes through an argument, if it is elided and not in the list yet. */
static lgt_plan_elided *next_elided(closures *c, const lgt_weave_item *item, int arg) {
  const lgt_weaver *w = c->w;
  lgt_plan_group *group = w->group;
  if (item->call == LGT_NONE || !lgt_kind_writes(item->kind, arg)) return NULL;
  uint16_t root = w->plan->call[item->call].root[arg];
  if (!w->plan->root[root].fresh || w->plan->root[root].stored || c->listed[root]) return NULL;
  c->listed[root] = true;
  group->elided[group->nelided] = (lgt_plan_elided){.root = root};
  return &group->elided[group->nelided++];
}

/* What was found to last does not, after all. */
static void give_up(lgt_weaver *w) {
  lgt_plan_group *group = w->group;
  for (int i = 0; i < w->items->nitem; i++) w->items->item[i].pins = 0;
  for (int s = 0; s < group->nslot; s++) group->slot[s].pinned = false;
  for (int e = 0; e < group->nelided; e++) group->elided[e].must_die = true;
  group->nmust_die = group->nelided;
}

lgt_status lgt_recipes_list(lgt_weaver *w) {
  lgt_plan_group *group = w->group;
  size_t room = 1; /* an item may have several results */
  closures c;
  for (int i = 0; i < w->items->nitem; i++) room += w->items->item[i].nargs;
  group->elided = lgt_mem_zalloc(room * sizeof *group->elided);
  bool good = closures_init(&c, w) && group->elided;
  if (good) {
    find_lasting(w, c.latest);
    find_versions(w);
    find_again(&c);
    keep_burdens(&c);
  }
  for (int i = 0; i < w->items->nitem && good; i++)
    for (int a = 0; a < w->items->item[i].nargs && good; a++) {
      lgt_plan_elided *elided = next_elided(&c, &w->items->item[i], a);
      if (!elided) continue;
      elide(&c, i, elided);
      good = write_recipe(&c, elided);
    }
  lgt_mem_free(c.memory);
  if (good && !lgt_recipes_keep(w)) give_up(w);
  return good ? LGT_OK : lgt_no_memory_to_fuse();
}

/* ---- rescues ------------------------------------------------------------------------------------------- */

typedef struct rescue {
  const lgt_plan_group *group;
  const lgt_weave_items *from; /* its own */
  const lgt_plan_elided *elided;
  lgt_weaver w;
} rescue;

/* How the rescue finds what is in a buffer of the group. */
typedef enum contents {
  AS_THEY_ARE,   /* in its memory */
  AS_THEY_WERE,  /* in memory, from before the group */
  MADE,          /* by the rescue itself */
  MADE_ON_FORMER /* ... beginning with what was there before the group */
} contents;

/* Does one of a list of items, in the order of the program, need what was in a buffer before them? */
static bool needs_former(const lgt_weave_items *items, const lgt_plan_elided *elided, uint16_t buffer) {
  for (int k = 0; k < elided->nitem; k++) {
    const lgt_weave_item *item = &items->item[elided->item[k]];
    if (overwrites(item, buffer)) return false;
    if (writes(item, buffer)) return true;
    for (int a = 0; a < item->nargs; a++)
      if (item->in[a] == buffer) return true;
  }
  return false;
}

static contents contents_of(const rescue *r, uint16_t number) {
  const lgt_weave_buffer *buffer = &r->from->buffer[number];
  bool read = false, written = false;
  for (int k = 0; k < r->elided->nitem; k++) {
    const lgt_weave_item *item = &r->from->item[r->elided->item[k]];
    for (int a = 0; a < item->nargs; a++) read |= item->in[a] == number;
    written |= writes(item, number);
  }
  if (buffer->versions && read && (written || !buffer->initial))
    return buffer->saved == LGT_NONE || !needs_former(r->from, r->elided, number) ? MADE : MADE_ON_FORMER;
  if (buffer->versions && read) return AS_THEY_WERE;
  if (buffer->slot == LGT_NONE || (written && is_whole(r->group, buffer))) return MADE;
  return AS_THEY_ARE;
}

/* A buffer of the rescue with what is in a slot of the group. */
static int find_there(rescue *r, uint16_t root, uint16_t slot) {
  int b = lgt_weave_new_buffer(&r->w, root, true);
  if (b >= 0)
    r->w.items->buffer[b].slot = (uint16_t)lgt_weave_add_slot(
        r->w.group,
        (lgt_plan_slot){.layout = r->group->slot[slot].layout, .root = slot, .initial = true, .read = true});
  return b;
}

/* The group's buffers, under their numbers; those that others begin with come behind them. */
static lgt_status list_buffers(rescue *r) {
  for (int b = 0; b < r->from->nbuffer; b++) {
    const lgt_weave_buffer *from = &r->from->buffer[b];
    contents c = contents_of(r, (uint16_t)b);
    bool there = c == AS_THEY_ARE || c == AS_THEY_WERE;
    int made = there ? find_there(r, from->root, c == AS_THEY_ARE ? from->slot : from->saved)
                     : lgt_weave_new_buffer(&r->w, from->root, false);
    if (made < 0) return lgt_no_memory_to_fuse();
    lgt_weave_buffer *buffer = &r->w.items->buffer[made];
    if (there || from->rest == LGT_NONE) continue;
    buffer->rest = from->rest;
    buffer->rest_call = from->rest_call;
    buffer->rest_arg = from->rest_arg;
    r->w.items->buffer[from->rest].loaded = true;
  }
  for (int b = 0; b < r->from->nbuffer; b++) {
    const lgt_weave_buffer *from = &r->from->buffer[b];
    if (contents_of(r, (uint16_t)b) != MADE_ON_FORMER) continue;
    int former = find_there(r, from->root, from->saved);
    lgt_weave_item *item = former < 0 ? NULL : lgt_weave_new_item(&r->w);
    if (!item) return lgt_no_memory_to_fuse();
    item->layout[0] = item->layout[1] = r->w.plan->root[from->root].layout;
    item->kind = r->w.fuser->copy_kind[lgt_weaver_layout(&r->w, item->layout[0])->dtype];
    item->nargs = 2;
    item->out[0] = (uint16_t)b;
    item->in[1] = (uint16_t)former;
    lgt_status status = lgt_weave_place(&r->w, item, 0);
    if (status) return status;
  }
  return LGT_OK;
}

static lgt_status run_again(rescue *r, int number) {
  lgt_weave_item *item = lgt_weave_new_item(&r->w);
  if (!item) return lgt_no_memory_to_fuse();
  *item = r->from->item[number];
  item->loop = LGT_NONE;
  item->there = false;
  if (item->out[0] == LGT_NONE && lgt_kind_writes(item->kind, 0)) { /* a forwarded copy is made after all */
    int b = lgt_weave_new_buffer(&r->w, r->elided->root, false);
    if (b < 0) return lgt_no_memory_to_fuse();
    item->out[0] = (uint16_t)b;
  }
  for (int a = 0; a < item->nargs; a++) /* what it made besides is there */
    if (item->out[a] != LGT_NONE && r->w.items->buffer[item->out[a]].initial) item->out[a] = LGT_NONE;
  int from = 0;
  for (int a = 0; a < item->nargs; a++) {
    int l = item->in[a] == LGT_NONE ? 0 : lgt_weave_earliest(&r->w, item, a, item->in[a], false);
    if (l > from) from = l;
    l = item->out[a] == LGT_NONE ? 0 : lgt_weave_earliest(&r->w, item, a, item->out[a], true);
    if (l > from) from = l;
  }
  return lgt_weave_place(&r->w, item, from);
}

static void choose_memory(rescue *r) {
  for (int b = 0; b < r->w.items->nbuffer; b++) {
    lgt_weave_buffer *buffer = &r->w.items->buffer[b];
    lgt_plan_group *group = r->w.group;
    bool result = buffer->root == r->elided->root && buffer->writers && !buffer->initial;
    if (buffer->slot != LGT_NONE || !(buffer->loaded || result)) continue;
    buffer->slot =
        (uint16_t)lgt_weave_add_slot(group, (lgt_plan_slot){.layout = r->w.plan->root[buffer->root].layout,
                                                            .root = result ? r->elided->root : LGT_NONE,
                                                            .written = true});
    lgt_weave_note_rest(r->w.items, buffer, group);
    if (!result) continue;
    buffer->final = true;
    group->slot_of_final[0] = r->elided->root;
    group->slot_of_final[1] = buffer->slot;
    group->nfinal = 1;
  }
}

static lgt_status weave_rescue(lgt_fuser *fuser, const lgt_plan_group *group, const lgt_plan_elided *elided,
                               lgt_plan_group *out) {
  rescue r = {group, group->items, elided, {.fuser = fuser, .group = out, .plan = group->plan}};
  *out = (lgt_plan_group){.plan = group->plan,
                          .first = group->first,
                          .count = group->count,
                          .launch = group->launch,
                          .mixed = group->mixed,
                          .turns = group->turns,
                          .notes = lgt_mem_zalloc(sizeof *out->notes)};
  r.w.items = out->items = lgt_mem_zalloc(sizeof *r.w.items);
  out->slot = lgt_mem_zalloc((2 * (size_t)group->items->nbuffer + 3) * sizeof *out->slot);
  out->slot_of_final = lgt_mem_zalloc(2 * sizeof *out->slot_of_final);
  if (!out->notes || !r.w.items || !out->slot || !out->slot_of_final) return lgt_no_memory_to_fuse();
  lgt_status status = list_buffers(&r);
  for (int k = 0; k < elided->nitem && !status; k++) status = run_again(&r, elided->item[k]);
  if (!status) status = lgt_assemble_scan(&r.w);
  if (!status) choose_memory(&r);
  if (!status) status = lgt_assemble_build(&r.w);
  lgt_mem_free(r.w.loop);
  return status;
}

const lgt_plan_group *lgt_recipes_rescue(lgt_fuser *fuser, const lgt_plan_group *group, int n) {
  lgt_plan_group ***known = &group->notes->rescue;
  if (!*known) *known = lgt_mem_zalloc((size_t)group->nelided * sizeof **known);
  if (!*known) return lgt_no_memory_to_fuse(), NULL;
  if ((*known)[n]) return (*known)[n];
  lgt_plan_group *out = lgt_mem_zalloc(sizeof *out);
  if (!out) return lgt_no_memory_to_fuse(), NULL;
  if (!weave_rescue(fuser, group, &group->elided[n], out)) {
    if (!lgt_kernels_for_devices(fuser->kernels)) lgt_plan_want_code(fuser, out);
    return (*known)[n] = out;
  }
  lgt_plan_group_fini(out);
  lgt_mem_free(out);
  return NULL;
}
