/* inline.c - see inline.h. */
#include "plan/inline.h"

#include <string.h>

#include "base/random.h"
#include "kernel/grid.h"
#include "plan/cut.h"

enum { MOST_INST = 2000, MOST_ACCESS = 64, MOST_VIEWS = 24, MOST_LOOPS = 64 };
enum { LAUNCH_BYTES = 4 << 20 }; /* what a kernel's launch costs, in bytes of memory */
enum { LOOP_BYTES = 64 << 10 };  /* what a loop costs on the host, where caches are faster than that */
enum { JOINED_SHARE = 16 };      /* of what may lie between loops: a joined array is worth the trouble */
enum { QUOTIENT = 9, FUNCTION = 40 };

/* Where the space of a loop lies in that of an earlier one. */
typedef struct view {
  int8_t from[LGT_MAX_DIM]; /* by dimension there: the one here that moves along it; -1: none */
  int64_t at[LGT_MAX_DIM];
} view;

/* A loop whose stores may be done without. */
typedef struct maker {
  lgt_weaver *w;
  lgt_plan_group *group;
  int number;  /* of the loop */
  bool *spare; /* owned, by access: nobody needs this store */
  int last;    /* the last loop that reads there */
  int cuts;    /* loops that were added for its sake (find_cut) */
  bool joins;  /* on the host: only what is copied into joined arrays */
  bool found;  /* some is spare */
  bool anyway; /* whether that pays or not: for tests, whose arrays are small */
} maker;

static const lgt_loop *code_of(const lgt_plan_loop *loop) { return loop->kernel->loop; }

/* ---- views ------------------------------------------------------------------------------------------- */

/* The dimensions of a store along which it moves, the widest stride first; -1: its elements are not in order. */
static int sort_dims(const lgt_plan_loop *loop, const int64_t *stride, int *dim) {
  int n = 0;
  for (int d = 0; d < loop->space_ndim; d++) {
    if (loop->extent[d] == 1) continue;
    int k = n++;
    for (; k > 0 && stride[dim[k - 1]] < stride[d]; k--) dim[k] = dim[k - 1];
    dim[k] = d;
  }
  int64_t reach = 0;
  for (int k = n - 1; k >= 0; k--) {
    if (stride[dim[k]] <= reach) return -1;
    reach += (loop->extent[dim[k]] - 1) * stride[dim[k]];
  }
  return n;
}

/* Does access `a` of a loop read only what the store `b` of an earlier one has written, and how does it lie there? */
static bool find_view(const lgt_plan_loop *early, int b, const lgt_plan_loop *late, int a, view *out) {
  const int64_t *s = early->access[b].stride, *t = late->access[a].stride;
  int dim[LGT_MAX_DIM], n = sort_dims(early, s, dim);
  int64_t rest = late->access[a].offset - early->access[b].offset;
  unsigned used = 0;
  if (n < 0 || rest < 0 || late->access[a].byte != early->access[b].byte) return false;
  memset(out, 0, sizeof *out);
  memset(out->from, -1, sizeof out->from);
  for (int k = 0; k < n; k++) {
    int e = dim[k];
    int64_t length = 1;
    out->at[e] = rest / s[e];
    rest %= s[e];
    for (int d = 0; d < late->space_ndim && out->from[e] < 0; d++)
      if (late->extent[d] > 1 && t[d] == s[e] && !(used >> d & 1)) out->from[e] = (int8_t)d;
    if (out->from[e] >= 0) used |= 1u << out->from[e], length = late->extent[out->from[e]];
    if (out->at[e] + length > early->extent[e]) return false;
  }
  for (int d = 0; d < late->space_ndim; d++)
    if (late->extent[d] > 1 && t[d] != 0 && !(used >> d & 1)) return false;
  return rest == 0;
}

static bool same_view(const view *v, const view *w) {
  return memcmp(v->from, w->from, sizeof v->from) == 0 && memcmp(v->at, w->at, sizeof v->at) == 0;
}

/* What an access of the earlier loop is in the later one. */
static lgt_plan_access seen_from(const lgt_plan_loop *early, const lgt_plan_access *access, const view *v) {
  lgt_plan_access out = *access;
  memset(out.stride, 0, sizeof out.stride);
  for (int e = 0; e < early->space_ndim; e++) {
    out.offset += v->at[e] * access->stride[e];
    if (v->from[e] >= 0) out.stride[v->from[e]] = access->stride[e];
  }
  return out;
}

/* ---- who reads what ---------------------------------------------------------------------------------- */

static bool writes(const lgt_plan_loop *loop, int a) {
  int mode = code_of(loop)->access[a].mode;
  return mode == LGT_ACCESS_STORE || mode == LGT_ACCESS_REDUCE;
}

/* May access `a` of a loop come to what access `b` of another one comes to? */
static bool overlap(const maker *m, const lgt_plan_loop *loop, int a, const lgt_plan_loop *other, int b) {
  const lgt_plan_access *p = &loop->access[a], *q = &other->access[b];
  return p->slot == q->slot && p->byte == q->byte &&
         lgt_layout_may_overlap(lgt_weaver_layout(m->w, p->layout), lgt_weaver_layout(m->w, q->layout)) &&
         !lgt_cut_apart(m->w->fuser->stores, loop, a, other, b);
}

static bool calls_touch(const lgt_plan_loop *loop, uint16_t slot) {
  for (int i = 0; i < loop->nnative; i++)
    for (int a = 0; a < loop->native[i].kind->nargs; a++)
      if (loop->native[i].access[a].slot == slot) return true;
  return false;
}

/* Memory that nobody looks into after the group. */
static bool is_temporary(const lgt_plan_group *group, uint16_t slot) {
  const lgt_plan_slot *s = &group->slot[slot];
  bool other = s->initial || s->root != LGT_NONE || s->pinned || s->former || s->rest != LGT_NONE;
  for (int i = 0; i < group->nslot; i++) other |= group->slot[i].rest == slot || group->slot[i].saved == slot;
  return !other;
}

/* Which store made what access `a` of loop `reader` finds?  1: the store `b` of the maker alone, 0: another one, -1: that
 * is not known. */
static int made_by(const maker *m, int b, int reader, int a, view *v) {
  const lgt_plan_loop *late = &m->group->loop[reader];
  for (int l = reader - 1; l >= m->number; l--) {
    const lgt_plan_loop *loop = &m->group->loop[l];
    if (calls_touch(loop, late->access[a].slot)) return -1;
    for (int q = 0; loop->kernel && q < code_of(loop)->naccess; q++) {
      if (!writes(loop, q) || !overlap(m, loop, q, late, a)) continue;
      if (code_of(loop)->access[q].mode != LGT_ACCESS_STORE || !find_view(loop, q, late, a, v)) return -1;
      return l == m->number && q == b;
    }
  }
  return 0;
}

/* May a load find what a store leaves?  A slot is of several buffers (weave.h), one after another.  A store's access has the
 * item that writes the buffer, or one that read it before.  A rest that is `there` was left for an older buffer. */
static bool may_find(const maker *m, const lgt_plan_access *store, const lgt_plan_access *load) {
  const lgt_weave_items *items = m->w->items;
  const lgt_weave_item *from = &items->item[store->item];
  uint16_t found = items->item[load->item].in[load->arg];
  for (int i = 0; i < items->nitem; i++)
    if (items->item[i].there && items->item[i].out[0] == found) return true;
  while (found != LGT_NONE && found != from->out[store->arg] && found != from->in[store->arg])
    found = items->buffer[found].rest;
  return found != LGT_NONE;
}

/* Is the store one of those that are looked at? */
static bool may_be_spare(const maker *m, int b) {
  const lgt_plan_access *store = &m->group->loop[m->number].access[b];
  if (code_of(&m->group->loop[m->number])->access[b].mode != LGT_ACCESS_STORE) return false;
  if (!is_temporary(m->group, store->slot)) return false;
  if (!m->joins) return true;
  const lgt_weave_items *items = m->w->items;
  uint16_t out = items->item[store->item].out[store->arg];
  return out != LGT_NONE && lgt_inline_joins(m->w->fuser, m->w->plan, items->buffer[out].root);
}

/* Can all that read there do without the store?  The last of them. */
static bool is_spare(maker *m, int b) {
  const lgt_plan_loop *loop = &m->group->loop[m->number];
  view v;
  if (!may_be_spare(m, b)) return false;
  for (int l = m->number + 1; l < m->group->nloop; l++) {
    const lgt_plan_loop *late = &m->group->loop[l];
    if (calls_touch(late, loop->access[b].slot)) return false;
    for (int a = 0; late->kernel && a < code_of(late)->naccess; a++) {
      int mode = code_of(late)->access[a].mode;
      if (mode == LGT_ACCESS_INDEX || mode == LGT_ACCESS_STORE || !overlap(m, late, a, loop, b)) continue;
      if (mode == LGT_ACCESS_LOAD && !late->nnative && !may_find(m, &loop->access[b], &late->access[a]))
        continue;
      int made = mode == LGT_ACCESS_REDUCE || late->nnative ? -1 : made_by(m, b, l, a, &v);
      if (made < 0) return false;
      if (made && l > m->last) m->last = l;
    }
  }
  return true;
}

/* ---- what a store's value takes ---------------------------------------------------------------------- */

/* Mark the instructions that the values of spare stores are made of. */
static void mark(const maker *m, bool *needed) {
  const lgt_loop *code = code_of(&m->group->loop[m->number]);
  memset(needed, 0, code->ninst);
  for (int i = code->ninst - 1; i >= 0; i--) {
    const lgt_inst *in = &code->inst[i];
    uint16_t operand[3];
    if (in->op == LGT_OP_STORE ? !m->spare[in->b] : !needed[i]) continue;
    for (int n = lgt_inst_operands(in, operand), k = 0; k < n; k++) needed[operand[k]] = true;
  }
}

int lgt_inline_work(const lgt_inst *in) {
  if (in->op <= LGT_OP_INDEX) return 0;
  if (in->op == LGT_OP_DIV || in->op == LGT_OP_SQRT || in->op == LGT_OP_POWER) return QUOTIENT;
  bool function = in->op >= LGT_OP_CBRT || in->op == LGT_OP_POW || in->op == LGT_OP_ATAN2 ||
                  in->op == LGT_OP_HYPOT || (in->op >= LGT_OP_FLOORDIV && in->op <= LGT_OP_FMOD);
  return function ? FUNCTION : 1;
}

static double elements(const lgt_plan_loop *loop) {
  double n = 1;
  for (int d = 0; d < loop->space_ndim; d++) n *= (double)loop->extent[d];
  return n;
}

/* How a loop sees the maker's results: the views, each once.  Their number; -1: they are too many. */
static int list_views(const maker *m, int reader, view out[MOST_VIEWS]) {
  const lgt_plan_loop *late = &m->group->loop[reader];
  int n = 0;
  for (int b = 0; b < code_of(&m->group->loop[m->number])->naccess; b++)
    for (int a = 0; m->spare[b] && late->kernel && a < code_of(late)->naccess; a++) {
      view v;
      int k = 0;
      if (code_of(late)->access[a].mode != LGT_ACCESS_LOAD ||
          !overlap(m, late, a, &m->group->loop[m->number], b) || made_by(m, b, reader, a, &v) <= 0)
        continue;
      while (k < n && !same_view(&out[k], &v)) k++;
      if (k == n && n == MOST_VIEWS) return -1;
      if (k == n) out[n++] = v;
    }
  return n;
}

static bool loads_slot(const lgt_plan_loop *loop, uint16_t slot) {
  for (int a = 0; a < code_of(loop)->naccess; a++)
    if (loop->access[a].slot == slot && code_of(loop)->access[a].mode == LGT_ACCESS_LOAD) return true;
  return false;
}

/* Bytes that a reader comes to instead of the maker's results: each slot once. */
static double bytes_instead(const maker *m, const lgt_plan_loop *late, const bool *needed) {
  const lgt_plan_loop *loop = &m->group->loop[m->number];
  const lgt_loop *code = code_of(loop);
  double bytes = 0;
  for (int i = 0; i < code->ninst; i++) {
    if (!needed[i] || code->inst[i].op != LGT_OP_LOAD) continue;
    int a = code->inst[i].a;
    bool counted = code->access[a].inner == LGT_STRIDE_ZERO || loads_slot(late, loop->access[a].slot);
    for (int j = 0; j < i && !counted; j++)
      counted = needed[j] && code->inst[j].op == LGT_OP_LOAD &&
                loop->access[code->inst[j].a].slot == loop->access[a].slot;
    if (!counted) bytes += elements(late) * lgt_dtype_size(code->access[a].dtype);
  }
  return bytes;
}

/* Bytes that the maker loads for its spare stores alone, which it need not load any more: each slot once. */
static double bytes_saved(const maker *m, const bool *needed) {
  const lgt_plan_loop *loop = &m->group->loop[m->number];
  const lgt_loop *code = code_of(loop);
  double bytes = 0;
  for (int a = 0; a < code->naccess; a++)
    if (code->access[a].mode == LGT_ACCESS_STORE && !m->spare[a]) return 0; /* most of it, as a rule */
  for (int i = 0; i < code->ninst; i++) {
    int a = code->inst[i].a;
    bool counted = !needed[i] || code->inst[i].op != LGT_OP_LOAD || code->access[a].inner == LGT_STRIDE_ZERO;
    for (int j = 0; j < i && !counted; j++)
      counted = needed[j] && code->inst[j].op == LGT_OP_LOAD &&
                loop->access[code->inst[j].a].slot == loop->access[a].slot;
    if (!counted) bytes += elements(loop) * lgt_dtype_size(code->access[a].dtype);
  }
  return bytes;
}

/* Is it worth while? */
static bool pays(const maker *m, const bool *needed) {
  const lgt_plan_loop *loop = &m->group->loop[m->number];
  const lgt_loop *code = code_of(loop);
  double work = 0, bytes = m->joins ? -(double)LOOP_BYTES * m->cuts : (double)LAUNCH_BYTES * (1 - m->cuts);
  int size = 0, one = 0, insts = 0;
  for (int i = 0; i < code->ninst; i++)
    if (needed[i]) one += lgt_inline_work(&code->inst[i]), insts++;
  for (int b = 0; b < code->naccess; b++)
    if (m->spare[b]) size += lgt_dtype_size(code->access[b].dtype);
  bytes += elements(loop) * size + bytes_saved(m, needed);
  work -= elements(loop) * one;
  for (int l = m->number + 1; l <= m->last; l++) {
    const lgt_plan_loop *late = &m->group->loop[l];
    view v[MOST_VIEWS];
    int n = list_views(m, l, v);
    if (n < 0 || (n > 0 && code_of(late)->ninst + n * insts > MOST_INST)) return false;
    if (n == 0) continue;
    bytes += elements(late) * size - bytes_instead(m, late, needed);
    work += elements(late) * one * n;
  }
  if (m->joins) return one == 0 && (m->anyway || bytes >= 0);
  return m->anyway || work <= bytes * LGT_BYTE_WORK;
}

/* Does what the spare stores are made of stay as it is until their last reader has run? */
static bool stays(const maker *m, const bool *needed) {
  const lgt_plan_group *group = m->group;
  const lgt_plan_loop *loop = &group->loop[m->number];
  const lgt_loop *code = code_of(loop);
  for (int i = 0; i < code->ninst; i++) {
    if (!needed[i] || code->inst[i].op != LGT_OP_LOAD) continue;
    const lgt_plan_access *read = &loop->access[code->inst[i].a];
    for (int l = m->number; l <= m->last; l++) {
      const lgt_plan_loop *late = &group->loop[l];
      if (calls_touch(late, read->slot)) return false;
      for (int a = 0; late->kernel && a < code_of(late)->naccess; a++)
        if (writes(late, a) && overlap(m, late, a, loop, code->inst[i].a)) return false;
    }
  }
  return true;
}

/* No new slot may take over the memory of what the maker reads any more: its readers read that, too. */
static void keep_sources(const maker *m, const bool *needed) {
  lgt_plan_group *group = m->group;
  const lgt_plan_loop *loop = &group->loop[m->number];
  const lgt_loop *code = code_of(loop);
  for (int i = 0; i < code->ninst; i++)
    if (needed[i] && code->inst[i].op == LGT_OP_LOAD)
      for (int s = 0; s < group->nslot; s++)
        if (group->slot[s].takes == loop->access[code->inst[i].a].slot) group->slot[s].takes = LGT_NONE;
}

/* ---- the new code ------------------------------------------------------------------------------------ */

/* The access that an instruction names, or -1. */
static int access_of(const lgt_inst *in) {
  if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX) return in->a;
  return lgt_op_effect(in->op) ? in->b : -1;
}

/* An instruction of a loop, as seen through a view (NULL: its own space), whose operands have these values. */
static int copy_inst(lgt_assembler *as, const lgt_plan_loop *loop, int i, const view *v,
                     const uint16_t *value) {
  int a = access_of(&code_of(loop)->inst[i]);
  lgt_plan_access place = {0};
  if (a >= 0) place = v ? seen_from(loop, &loop->access[a], v) : loop->access[a];
  return lgt_assembler_copy(as, loop, i, &place, value);
}

/* What the store `b` of the maker would have left in the element that a view shows. */
static int compute(lgt_assembler *as, const maker *m, int b, const bool *needed, const view *v) {
  const lgt_plan_loop *loop = &m->group->loop[m->number];
  const lgt_loop *code = code_of(loop);
  uint16_t *value = lgt_mem_alloc(((size_t)code->ninst + 1) * sizeof *value);
  int result = value ? 0 : -1;
  for (int i = 0; i < code->ninst && result >= 0; i++) {
    const lgt_inst *in = &code->inst[i];
    if (in->op == LGT_OP_STORE && in->b == b) {
      result = value[in->a];
      break;
    }
    if (!needed[i]) continue;
    result = copy_inst(as, loop, i, v, value);
    value[i] = (uint16_t)result;
  }
  lgt_mem_free(value);
  return result;
}

/* The store of the maker that an access of another loop reads; -1: none. */
static int store_for(const maker *m, int reader, int a, view *v) {
  const lgt_plan_loop *loop = &m->group->loop[m->number], *late = &m->group->loop[reader];
  for (int b = 0; b < code_of(loop)->naccess && reader > m->number; b++)
    if (m->spare[b] && overlap(m, late, a, loop, b) && made_by(m, b, reader, a, v) > 0) return b;
  return -1;
}

/* The new form of a loop: of a reader, or of the maker without what is spare.  *fits: can devices run it? */
static lgt_status rewrite(const maker *m, int number, const bool *needed, lgt_plan_loop *out, bool *fits) {
  const lgt_plan_loop *loop = &m->group->loop[number];
  const lgt_loop *code = code_of(loop);
  lgt_weave_loop shape = {.ndim = loop->space_ndim, .launch = loop->launch, .inner = loop->inner};
  lgt_assembler as = {.w = m->w, .shape = &shape, .fixed = true};
  uint16_t *value = lgt_mem_alloc(((size_t)code->ninst + 1) * sizeof *value);
  bool good = value != NULL;
  out->launch = loop->launch;
  out->woven = loop->woven;
  memcpy(shape.extent, loop->extent, sizeof shape.extent);
  for (int a = 0; a < code->naccess; a++) shape.reduces |= code->access[a].mode == LGT_ACCESS_REDUCE;
  for (int i = 0; i < code->ninst && good; i++) {
    const lgt_inst *in = &code->inst[i];
    view v;
    if (number == m->number && in->op == LGT_OP_STORE && m->spare[in->b]) continue;
    int b = in->op == LGT_OP_LOAD ? store_for(m, number, in->a, &v) : -1;
    int result = b < 0 ? copy_inst(&as, loop, i, NULL, value) : compute(&as, m, b, needed, &v);
    value[i] = (uint16_t)result;
    good = result >= 0;
  }
  lgt_status status = good ? LGT_OK : lgt_no_memory_to_fuse();
  *fits = as.naccess <= LGT_MAX_ACCESS; /* some may be of no use */
  if (good && *fits) status = lgt_assembler_finish(&as, out);
  if (good && *fits && !status && out->kernel && !m->joins)
    *fits = code_of(out)->naccess <= MOST_ACCESS && !lgt_grid_check(code_of(out), &out->shape);
  lgt_assembler_fini(&as);
  lgt_mem_free(value);
  return status;
}

static bool reads_spare(const maker *m, int number) {
  view v[MOST_VIEWS];
  return m->group->loop[number].kernel && list_views(m, number, v) > 0;
}

/* All of these loops in their new form, if devices can run them. */
static lgt_status rewrite_all(const maker *m, const bool *needed, bool *changed) {
  size_t count = (size_t)(m->last - m->number + 1);
  lgt_plan_loop *fresh = lgt_mem_zalloc(count * sizeof *fresh);
  lgt_status status = fresh ? LGT_OK : lgt_no_memory_to_fuse();
  bool fits = true;
  for (int l = m->number; fresh && l <= m->last && !status && fits; l++) {
    lgt_plan_loop *loop = &fresh[l - m->number];
    if (l > m->number && !reads_spare(m, l)) continue;
    status = rewrite(m, l, needed, loop, &fits);
  }
  if (!status && fits) keep_sources(m, needed);
  for (int l = m->number; fresh && l <= m->last; l++) {
    lgt_plan_loop *loop = &m->group->loop[l], *other = &fresh[l - m->number];
    if (!status && fits && other->launch) { /* the old form goes, else the new one */
      lgt_plan_loop old = *loop;
      *loop = *other;
      *other = old;
    }
    if (other->kernel) lgt_assembler_drop(m->group, other);
  }
  lgt_mem_free(fresh);
  *changed |= !status && fits;
  return status;
}

/* ---- readers of more than the maker stores ----------------------------------------------------------- */

/* A reader of more than one loop has stored is cut: in
 *
 *   loop 0   for i = 1 .. n - 1: s[i] = f(a[i], a[i + 1])         (and others store s[0], s[n])
 *   loop 1   for i = 0 .. n:     b[i] = c[i] + s[i]
 *
 * loop 1 becomes one over 1 .. n - 1, which can do without s, and one over what is left. */

/* Where an access of a loop begins in its root, and along which of the root's dimensions each one of the loop moves (-1: it does
 * not), how far.  False: along several at once. */
static bool find_steps(const maker *m, const lgt_plan_loop *loop, int a, int64_t *begin, int *along,
                       int64_t *step) {
  const lgt_plan_access *access = &loop->access[a];
  const lgt_layout *l = lgt_weaver_layout(m->w, access->layout);
  int64_t root[LGT_MAX_DIM], rest = access->offset;
  lgt_shape_strides(l->root_ndim, l->root_shape, root);
  for (int r = 0; r < l->root_ndim; rest %= root[r], r++) {
    if (root[r] <= 0) return false;
    begin[r] = rest / root[r];
  }
  for (int d = 0; d < loop->space_ndim; d++) {
    int r = 0;
    along[d] = -1;
    if (loop->extent[d] == 1 || access->stride[d] == 0) continue;
    while (r < l->root_ndim && (l->root_shape[r] == 1 || access->stride[d] % root[r] != 0)) r++;
    if (r == l->root_ndim) return false;
    step[d] = access->stride[d] / root[r];
    int64_t end = begin[r] + (loop->extent[d] - 1) * step[d];
    for (int e = 0; e < d; e++)
      if (along[e] == r) return false;
    if (end < 0 || end >= l->root_shape[r]) return false;
    along[d] = r;
  }
  return true;
}

/* The points of a loop at which access `a` reads what the store `b` of an earlier one has written; false: that is no box, or all of
 * them. */
static bool find_box(const maker *m, const lgt_plan_loop *early, int b, const lgt_plan_loop *late, int a,
                     lgt_cut_box *box) {
  int64_t from[LGT_MAX_DIM], to[LGT_MAX_DIM], s[LGT_MAX_DIM], t[LGT_MAX_DIM];
  int of[LGT_MAX_DIM], at[LGT_MAX_DIM];
  int ndim = lgt_weaver_layout(m->w, early->access[b].layout)->root_ndim;
  if (lgt_weaver_layout(m->w, late->access[a].layout)->root_ndim != ndim) return false;
  if (!find_steps(m, early, b, from, of, s) || !find_steps(m, late, a, to, at, t)) return false;
  *box = lgt_cut_whole(late);
  for (int r = 0; r < ndim; r++) { /* the root's elements first, first + step, ... of `count` */
    int e = 0, d = 0;
    while (e < early->space_ndim && of[e] != r) e++;
    while (d < late->space_ndim && at[d] != r) d++;
    bool moves = e < early->space_ndim;
    int64_t step = moves ? s[e] : 1, count = moves ? early->extent[e] : 1, first = to[r] - from[r];
    if (first % step != 0) return false;
    first /= step;
    if (d == late->space_ndim) {
      if (first < 0 || first >= count) return false;
      continue;
    }
    if (moves && t[d] != step) return false;
    if (box->lo[d] < -first) box->lo[d] = -first;
    if (box->hi[d] > count - first) box->hi[d] = count - first;
    if (box->lo[d] >= box->hi[d]) return false;
  }
  lgt_cut_box whole = lgt_cut_whole(late);
  return memcmp(box, &whole, sizeof whole) != 0;
}

/* Where a loop reads what the maker stores for those who come later, if it reads more than that.  On the host of one store at a
 * time: joined arrays are shifted against each other. */
static bool find_cut(const maker *m, int reader, lgt_cut_box *out) {
  const lgt_plan_loop *loop = &m->group->loop[m->number], *late = &m->group->loop[reader];
  bool found = false;
  if (!late->kernel || !lgt_cut_possible(late)) return false;
  for (int b = 0; b < code_of(loop)->naccess; b++)
    for (int a = 0; a < code_of(late)->naccess; a++) {
      lgt_cut_box box;
      view v;
      if (!may_be_spare(m, b) || code_of(late)->access[a].mode != LGT_ACCESS_LOAD ||
          !overlap(m, late, a, loop, b) || find_view(loop, b, late, a, &v))
        continue;
      if (m->joins && found) return true;
      if (!find_box(m, loop, b, late, a, &box) || (found && memcmp(&box, out, sizeof box))) return false;
      *out = box;
      found = true;
    }
  return found;
}

static bool same_extents(const lgt_cut_box *p, const lgt_cut_box *q, int ndim) {
  bool same = true;
  for (int d = 0; d < ndim; d++) same &= p->hi[d] - p->lo[d] == q->hi[d] - q->lo[d];
  return same;
}

/* The box, and what is left of the loop around it: opposite sides that are alike become one loop. */
static lgt_status cut(const maker *m, int reader, const lgt_cut_box *box, lgt_plan_loop *out, int *n) {
  const lgt_plan_loop *late = &m->group->loop[reader];
  lgt_cut_box rest = lgt_cut_whole(late);
  lgt_status status = lgt_cut_build(m->w, late, box, 1, &out[(*n)++]);
  for (int d = 0; d < late->space_ndim && !status; d++) {
    lgt_cut_box side[2] = {rest, rest};
    side[0].hi[d] = rest.lo[d] = box->lo[d];
    side[1].lo[d] = rest.hi[d] = box->hi[d];
    bool alike = same_extents(&side[0], &side[1], late->space_ndim);
    for (int k = 0; k < 2 && !status; k++)
      if (side[k].lo[d] < side[k].hi[d] && !(alike && k))
        status = lgt_cut_build(m->w, late, &side[k], alike ? 2 : 1, &out[(*n)++]);
  }
  return status;
}

/* ---- entry ------------------------------------------------------------------------------------------- */

static void find_spare(maker *m) {
  const lgt_plan_loop *loop = &m->group->loop[m->number];
  m->last = m->number;
  m->found = false;
  for (int a = 0; a < code_of(loop)->naccess; a++)
    if (code_of(loop)->access[a].mode == LGT_ACCESS_STORE) m->found |= m->spare[a] = is_spare(m, a);
}

static lgt_status try_maker(maker *m, bool *needed, bool *changed) {
  find_spare(m);
  if (m->found) mark(m, needed);
  bool good = m->found && m->last > m->number && pays(m, needed) && stays(m, needed);
  return good ? rewrite_all(m, needed, changed) : LGT_OK;
}

/* Loops that were cut, and what they were before. */
typedef struct cuts {
  lgt_plan_loop *before; /* owned: of the group */
  int nbefore;
  lgt_plan_loop *whole; /* owned: loops of which parts have taken the place, some of them parts themselves */
  int nwhole, room;
} cuts;

static bool is_among(const lgt_plan_loop *list, int n, const lgt_plan_loop *loop) {
  for (int i = 0; i < n; i++)
    if (list[i].kernel == loop->kernel && list[i].access == loop->access) return true;
  return false;
}

static lgt_status cut_reader(const maker *m, cuts *c, int reader, const lgt_cut_box *box) {
  lgt_plan_loop part[1 + LGT_CUT_FRAME] = {{0}};
  int n = 0;
  if (!lgt_mem_grow((void **)&c->whole, &c->room, c->nwhole + 1, sizeof *c->whole))
    return lgt_no_memory_to_fuse();
  lgt_status status = cut(m, reader, box, part, &n);
  c->whole[c->nwhole] = m->group->loop[reader];
  if (!status) status = lgt_cut_exchange(m->group, reader, 1, part, n);
  if (!status) c->nwhole++;
  for (int i = 0; i < n && status; i++)
    if (part[i].kernel) lgt_assembler_drop(m->group, &part[i]);
  return status;
}

/* The group's loops as they were. */
static void undo_cuts(lgt_plan_group *group, const cuts *c) {
  for (int l = 0; l < group->nloop; l++)
    if (!is_among(c->before, c->nbefore, &group->loop[l])) lgt_assembler_drop(group, &group->loop[l]);
  for (int i = 0; i < c->nwhole; i++)
    if (!is_among(c->before, c->nbefore, &c->whole[i])) lgt_assembler_drop(group, &c->whole[i]);
  memcpy(group->loop, c->before, (size_t)c->nbefore * sizeof *group->loop);
  group->nloop = c->nbefore;
}

/* The first loop, from `reader` on, that is to be cut; the number of loops: there is none. */
static int next_cut(const maker *m, int reader, lgt_cut_box *box) {
  while (reader < m->group->nloop && !find_cut(m, reader, box)) reader++;
  return reader;
}

/* With the loops cut that read more than the maker stores; they stay as they are if that does not help. */
static lgt_status try_cut(maker *m, bool *needed, bool *changed) {
  lgt_plan_group *group = m->group;
  lgt_cut_box box;
  int reader = next_cut(m, m->number + 1, &box);
  if (reader == group->nloop || group->nloop >= MOST_LOOPS) return LGT_OK;
  cuts c = {.before = lgt_mem_alloc((size_t)group->nloop * sizeof *c.before), .nbefore = group->nloop};
  lgt_status status = c.before ? LGT_OK : lgt_no_memory_to_fuse();
  if (!status) memcpy(c.before, group->loop, (size_t)c.nbefore * sizeof *c.before);
  while (!status && reader < group->nloop && group->nloop < MOST_LOOPS) {
    status = cut_reader(m, &c, reader, &box);
    if (!status) reader = next_cut(m, reader, &box);
  }
  if (!status && c.nwhole) {
    m->cuts = group->nloop - c.nbefore;
    status = try_maker(m, needed, changed);
    m->cuts = 0;
  }
  if (!*changed && c.nwhole) undo_cuts(group, &c);
  for (int i = 0; i < c.nwhole && *changed; i++) {
    lgt_cut_part_memory(group, &c.whole[i]);
    lgt_assembler_drop(group, &c.whole[i]);
  }
  lgt_mem_free(c.before);
  lgt_mem_free(c.whole);
  return status;
}

static lgt_status inline_loop(lgt_weaver *w, int number, bool *cut, bool *changed) {
  lgt_plan_loop *loop = &w->group->loop[number];
  lgt_status status = LGT_OK;
  *cut = false;
  if (!loop->kernel || loop->nnative) return LGT_OK;
  const lgt_loop *code = code_of(loop);
  for (int a = 0; a < code->naccess; a++)
    if (code->access[a].mode == LGT_ACCESS_REDUCE) return LGT_OK;
  maker m = {.w = w,
             .group = w->group,
             .number = number,
             .spare = lgt_mem_zalloc((size_t)code->naccess + 1),
             .joins = !lgt_inline_applies(w->fuser, w->plan),
             .anyway = lgt_random_choice(&w->fuser->jitter)};
  bool *needed = lgt_mem_zalloc((size_t)code->ninst + 1);
  if (!m.spare || !needed) status = lgt_no_memory_to_fuse();
  if (!status) status = try_cut(&m, needed, cut);
  if (!status && !*cut) status = try_maker(&m, needed, changed);
  *changed |= *cut;
  lgt_mem_free(m.spare);
  lgt_mem_free(needed);
  return status;
}

/* Slots that no loop comes to. */
static void find_idle(lgt_plan_group *group) {
  for (int s = 0; s < group->nslot; s++) {
    bool used = !is_temporary(group, (uint16_t)s);
    for (int l = 0; l < group->nloop && !used; l++) {
      const lgt_plan_loop *loop = &group->loop[l];
      used = calls_touch(loop, (uint16_t)s);
      for (int a = 0; loop->kernel && a < code_of(loop)->naccess; a++) used |= loop->access[a].slot == s;
    }
    group->slot[s].idle = !used;
  }
}

bool lgt_inline_possible(const lgt_fuser *fuser) {
  return lgt_solver_whole(&fuser->solver) && lgt_kernels_for_devices(fuser->kernels);
}

bool lgt_inline_applies(const lgt_fuser *fuser, const lgt_plan *plan) {
  return plan->devices && fuser->config->kernel_fusion;
}

bool lgt_inline_joins(const lgt_fuser *fuser, const lgt_plan *plan, uint16_t root) {
  const lgt_plan_root *r = &plan->root[root];
  return r->joined && !r->alive && !plan->devices && fuser->config->kernel_fusion &&
         lgt_layout_bytes(lgt_layout_at(fuser->stores, r->layout)) >= fuser->config->between / JOINED_SHARE;
}

/* Are there loops that might gain? */
static bool any_joins(const lgt_weaver *w) {
  const lgt_weave_items *items = w->items;
  for (int b = 0; b < items->nbuffer; b++)
    if (lgt_inline_joins(w->fuser, w->plan, items->buffer[b].root)) return true;
  return false;
}

lgt_status lgt_inline_loops(lgt_weaver *w) {
  lgt_plan_group *group = w->group;
  lgt_status status = LGT_OK;
  bool changed = false, cut = false;
  if (!lgt_inline_applies(w->fuser, w->plan) && !any_joins(w)) return LGT_OK;
  for (int l = 0; l < group->nloop && !status;
       l = cut ? 0 : l + 1) /* parts may do without others' stores, too */
    status = inline_loop(w, l, &cut, &changed);
  int kept = 0;
  for (int l = 0; l < group->nloop; l++)
    if (group->loop[l].kernel || group->loop[l].nnative) group->loop[kept++] = group->loop[l];
  group->nloop = kept;
  group->inlined |= changed;
  if (changed) find_idle(group);
  return status;
}
