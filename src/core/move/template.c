/* template.c - see template.h. */
#include "move/template.h"

#include <string.h>

lgt_template *lgt_template_new(int colour, const lgt_portion *portion, lgt_instance *const *inst, int nslot,
                               int shapes) {
  lgt_template *t = lgt_mem_zalloc(sizeof *t);
  if (!t) return NULL;
  *t = (lgt_template){.refs = 1, .colour = colour, .portion = *portion, .nslot = nslot};
  t->rect = lgt_mem_alloc(((size_t)nslot + 1) * sizeof *t->rect);
  t->shape = lgt_mem_zalloc(((size_t)shapes + 1) * sizeof *t->shape);
  t->failed = !t->rect || !t->shape;
  for (int s = 0; s < nslot && !t->failed; s++)
    if (inst[s]) t->rect[s] = inst[s]->rect;
    else t->rect[s].ndim = -1;
  if (!t->failed) return t;
  lgt_template_release(t);
  return NULL;
}

void lgt_template_release(lgt_template *t) {
  if (!t || --t->refs) return;
  for (int i = 0; i < t->nshape; i++) lgt_mem_free(t->shape[i].stride);
  lgt_mem_free(t->shape);
  lgt_mem_free(t->sweeps);
  lgt_mem_free(t->same);
  lgt_mem_free(t->rect);
  lgt_mem_free(t->bytes);
  lgt_mem_free(t->relocation);
  lgt_mem_free(t);
}

void lgt_template_note(lgt_template *t, const void *memory, const void *word, lgt_relocated how, int from,
                       int64_t offset) {
  if (!t || t->failed) return;
  t->failed = !lgt_mem_grow((void **)&t->relocation, &t->room, t->nrelocation + 1, sizeof *t->relocation);
  if (t->failed) return;
  t->relocation[t->nrelocation++] = (lgt_relocation){(uint32_t)((const char *)word - (const char *)memory),
                                                     (uint16_t)how, (uint16_t)from, offset};
}

static size_t size_of_word(const lgt_relocation *r) {
  return r->how == LGT_RELOCATED_VALUE ? sizeof(lgt_scalar) : sizeof(void *);
}

bool lgt_template_take(lgt_template *t, const lgt_job *job, const char *memory, size_t size) {
  t->bytes = t->failed ? NULL : lgt_mem_alloc(size);
  if (!t->bytes) return false;
  t->size = size;
  memcpy(t->bytes, memory, size);
  for (int i = 0; i < t->nrelocation; i++)
    memset(t->bytes + t->relocation[i].at, 0, size_of_word(&t->relocation[i]));
  t->nstep = job->task.nstep;
  t->cost = job->task.cost;
  return true;
}

bool lgt_portion_equal(const lgt_portion *a, const lgt_portion *b) {
  return a->what == b->what &&
         (a->what == LGT_PORTION_ALL || (a->loop == b->loop && lgt_rect_equal(&a->inner, &b->inner)));
}

bool lgt_template_follow(lgt_template *t, lgt_instance *const *inst, lgt_sweeps *sweeps) {
  t->same = lgt_mem_alloc(((size_t)t->nslot + 1) * sizeof *t->same);
  if (!t->same) return false;
  for (int s = 0; s < t->nslot; s++) {
    int first = 0;
    while (inst[first] != inst[s]) first++;
    t->same[s] = (uint16_t)first;
  }
  t->sweeps = sweeps;
  return true;
}

/* Do the slots share instances as those do for which the template knows what follows? */
static bool share_alike(const lgt_template *t, uint32_t stamp, lgt_instance *const *inst) {
  for (int s = 0; s < t->nslot; s++) {
    if (!inst[s]) continue;
    if (t->same[s] < s ? inst[t->same[s]] != inst[s] : inst[s]->stamp == stamp) return false;
    inst[s]->stamp = stamp;
  }
  return true;
}

static bool is_for(const lgt_template *t, uint32_t *stamp, int colour, const lgt_portion *portion,
                   lgt_instance *const *inst, int nslot) {
  bool is = t->colour == colour && lgt_portion_equal(&t->portion, portion);
  for (int s = 0; s < nslot && is; s++)
    is = inst[s] ? lgt_rect_equal(&t->rect[s], &inst[s]->rect) : t->rect[s].ndim < 0;
  return is && (!t->same || share_alike(t, ++*stamp, inst));
}

/* Colours that follow one another, or whose distances are even, have lists apart. */
static lgt_template **list_of(const lgt_plan_notes *notes, int colour) {
  return &notes->template[(uint32_t)colour * 0x9e3779b9u >> 16 & (LGT_TEMPLATE_LISTS - 1)];
}

lgt_template *lgt_template_find(lgt_plan_notes *notes, uint32_t *stamp, int colour,
                                const lgt_portion *portion, lgt_instance *const *inst, int nslot) {
  lgt_template **first = notes->template ? list_of(notes, colour) : NULL;
  for (lgt_template **link = first, *t; link && (t = *link); link = &t->next) {
    if (!is_for(t, stamp, colour, portion, inst, nslot)) continue;
    *link = t->next;
    t->next = *first;
    return *first = t;
  }
  return NULL;
}

static void free_lists(lgt_template **template) {
  for (int i = 0; i < LGT_TEMPLATE_LISTS; i++)
    for (lgt_template *t = template[i], *next; t; t = next) {
      next = t->next;
      lgt_template_release(t);
    }
  lgt_mem_free(template);
}

void lgt_template_keep(lgt_plan_notes *notes, lgt_template *t) {
  int n = 0;
  if (!notes->template) notes->template = lgt_mem_zalloc(LGT_TEMPLATE_LISTS * sizeof(lgt_template *));
  if (!notes->template) return;
  notes->free_templates = free_lists;
  lgt_template **first = list_of(notes, t->colour);
  t->next = *first;
  t->refs++;
  *first = t;
  for (lgt_template **link = first, *old; (old = *link);) {
    if (old->colour != t->colour || n++ < LGT_TEMPLATES) {
      link = &old->next;
      continue;
    }
    *link = old->next;
    lgt_template_release(old);
  }
}

void lgt_template_apply(lgt_template *t, lgt_job *job, char *memory, const lgt_supply *supply) {
  memcpy(memory, t->bytes, t->size);
  for (int i = 0; i < t->nrelocation; i++) {
    const lgt_relocation *r = &t->relocation[i];
    void *word = memory + r->at;
    switch ((lgt_relocated)r->how) {
      case LGT_RELOCATED_INSIDE:
        *(char **)word = memory + r->offset;
        break;
      case LGT_RELOCATED_ELEMENT:
        *(char **)word = supply->inst[r->from]->data + r->offset;
        break;
      case LGT_RELOCATED_VALUE:
        *(lgt_scalar *)word = supply->param[r->from];
        break;
      case LGT_RELOCATED_SHAPE:
        *(const lgt_nest_shape **)word = &t->shape[r->from];
        break;
      case LGT_RELOCATED_WHERE:
        *(const char **)word = supply->where;
        break;
    }
  }
  job->task.nstep = t->nstep;
  job->task.cost = t->cost;
  job->template = t;
  t->refs++;
}

bool lgt_template_verify(const lgt_template *t, const lgt_template *again) {
  bool same = t->size == again->size && t->nrelocation == again->nrelocation && t->nstep == again->nstep &&
              t->cost == again->cost && t->moved == again->moved && t->nshape == again->nshape;
  for (int i = 0; i < t->nrelocation && same; i++) {
    const lgt_relocation *a = &t->relocation[i], *b = &again->relocation[i];
    same = a->at == b->at && a->how == b->how && a->from == b->from && a->offset == b->offset;
    if (!same)
      return lgt_err(LGT_SYSTEM, "template: relocation %d, of the word at %u, has changed", i, a->at), false;
  }
  for (int i = 0; i < t->nshape && same; i++) {
    const lgt_nest_shape *a = &t->shape[i], *b = &again->shape[i];
    same = a->ndim == b->ndim && a->nchunk == b->nchunk && a->grain == b->grain && a->size == b->size &&
           !memcmp(a->extent, b->extent, (size_t)a->ndim * sizeof *a->extent);
  }
  if (!same) return lgt_err(LGT_SYSTEM, "template: a job's steps or nests have changed"), false;
  for (size_t i = 0; i < t->size; i++)
    if (t->bytes[i] != again->bytes[i])
      return lgt_err(LGT_SYSTEM, "template: the word at %zu has changed and has no relocation", i / 8 * 8),
             false;
  return true;
}
