/* emit_device_fold.c - what follows a launch with reductions on a device, in launches of their own.  See kernel/grid.h.
 *
 *   lgt_steps    a thread adds to a target, or a partial result, what the slabs left for it
 *   lgt_chunks   threads of a block, those of one tid.x, fold the partial results of a target: each some of the pairs
 */
#include "kernel/emit/emit_device.h"

/* Values that a thread of lgt_steps loads before it adds the first: each waits a few hundred cycles. */
enum { AT_ONCE = 8 };

/* A target's field, by its number among the targets. */
static size_t target_at(int number, size_t offset) {
  return sizeof(lgt_grid_fold) + (size_t)number * sizeof(lgt_grid_target) + offset;
}
#define TARGET(number, member) head(e, target_at(number, offsetof(lgt_grid_target, member)), "i64")

static int number_of(const emitter *e, int access) {
  int n = 0;
  for (int k = 0; k < access; k++) n += is_target(e, k);
  return n;
}

static int64_t size_at(const emitter *e, int access) { return elem_size(access_elem(e, access)); }

/* The address of element `number` of each target (of each carried value). */
static void find_targets(emitter *e, val number, val *address) {
  dim_turn t = {.n = e->ncarry + 2};
  t.own[1] = number;
  for (int k = 0; k < e->ncarry; k++) t.own[k + 2] = TARGET(number_of(e, e->carry[k].access), target);
  begin_dims(e, &t, FOLD(ndim));
  val extent = wide(e, head_at(e, scaled(e, t.own[0], 4), offsetof(lgt_grid_fold, extent), "i32"));
  val at = rest(e, t.own[1], extent), distance = scaled(e, t.own[0], 8);
  t.own[1] = divide(e, t.own[1], extent);
  for (int k = 0; k < e->ncarry; k++) {
    size_t strides = target_at(number_of(e, e->carry[k].access), offsetof(lgt_grid_target, stride));
    t.own[k + 2] = add(e, t.own[k + 2], multiply(e, at, head_at(e, distance, strides, "i64")));
  }
  end_dims(e, &t);
  for (int k = 0; k < e->ncarry; k++) address[k] = t.own[k + 2];
}

/* What lies at the k-th address, and for a pair at the next one. */
static accumulator read_pair(emitter *e, int k, const val *address) {
  accumulator a = {read_scalar(e, e->loop->access[e->carry[k].access].dtype, pointer(e, address[k])), -1};
  if (e->carry[k].redop >= LGT_REDOP_ARGMIN) a.at = read_scalar(e, LGT_INT64, pointer(e, address[k + 1]));
  return a;
}

static void read_all_pairs(emitter *e, const val *address) {
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    accumulator a = read_pair(e, k, address);
    e->carry[k].value = a.value;
    if (a.at >= 0) e->carry[k + 1].value = a.at;
  }
}

/* Those of `count` neighbours, one after another; all are loaded before the first is needed. */
static void take_all_pairs(emitter *e, const val *address, int count) {
  accumulator a[AT_ONCE][2 * LGT_MAX_REDUCTIONS];
  val there[2 * LGT_MAX_REDUCTIONS];
  for (int n = 0; n < count; n++) {
    for (int k = 0; k < e->ncarry; k++)
      there[k] = n ? add(e, address[k], int_constant(e, n * size_at(e, e->carry[k].access))) : address[k];
    for (int k = 0; k < e->ncarry; k++)
      if (e->carry[k].redop >= 0) a[n][k] = read_pair(e, k, there);
  }
  for (int n = 0; n < count; n++)
    for (int k = 0; k < e->ncarry; k++)
      if (e->carry[k].redop >= 0) take_in(e, k, a[n][k]);
}

static void write_pairs(emitter *e, const val *address) {
  for (int k = 0; k < e->ncarry; k++) e->access[e->carry[k].access].base = pointer(e, address[k]);
  write_targets(e);
}

/* The addresses of an element of each target's partial results, or of what steps left for it. */
static void find_elements(emitter *e, bool steps, val number, val chunk, val *address) {
  for (int k = 0; k < e->ncarry; k++) {
    int target = number_of(e, e->carry[k].access);
    val from = steps ? TARGET(target, steps) : TARGET(target, partial);
    address[k] = add(e, from, multiply(e, number, int_constant(e, size_at(e, e->carry[k].access))));
    if (!steps) address[k] = add(e, address[k], multiply(e, chunk, TARGET(target, chunk)));
  }
}

static turn begin_elements(emitter *e, val size) {
  val width = special(e, "ntid.x"),
      first = add(e, multiply(e, special(e, "ctaid.x"), width), special(e, "tid.x"));
  return begin_turns(e, first, size, multiply(e, special(e, "nctaid.x"), width), 0);
}

void emit_steps(emitter *e) {
  val own[2 * LGT_MAX_REDUCTIONS], part[2 * LGT_MAX_REDUCTIONS], kept = FOLD(kept), one = int_constant(e, 1);
  val outer = FOLD(outer), middle = FOLD(middle), inner = FOLD(inner), grain = FOLD(grain);
  val partial = is_set(e, FOLD(partial)), zero = int_constant(e, 0);
  turn element = begin_elements(e, multiply(e, kept, FOLD(chunks)));
  val chunk = divide(e, element.at, kept), number = rest(e, element.at, kept);
  find_targets(e, number, own);
  find_elements(e, false, number, chunk, part);
  for (int k = 0; k < e->ncarry; k++) {
    own[k] = def(e, "arith.select %, %, % : i64", partial, part[k], own[k]);
    e->access[e->carry[k].access].base = pointer(e, own[k]);
  }
  begin_contents(e, partial);
  /* What a chunk has in the middle, and within, lies side by side. */
  val from = multiply(e, chunk, grain), to = least(e, add(e, from, grain), middle);
  val first = multiply(e, least(e, from, to), inner), last = multiply(e, to, inner);
  val many = int_op(e, "andi", int_op(e, "subi", last, first), int_constant(e, -AT_ONCE));
  val rest_from = add(e, first, many), row = multiply(e, middle, inner);
  turn a = begin_turns(e, zero, outer, one, e->ncarry);
  val base = multiply(e, add(e, multiply(e, number, outer), a.at), row);
  turn i = begin_turns(e, first, rest_from, int_constant(e, AT_ONCE), e->ncarry);
  find_elements(e, true, add(e, base, i.at), -1, part);
  take_all_pairs(e, part, AT_ONCE);
  end_turns(e, &i);
  turn b = begin_turns(e, rest_from, last, one, e->ncarry);
  find_elements(e, true, add(e, base, b.at), -1, part);
  take_all_pairs(e, part, 1);
  end_turns(e, &b);
  end_turns(e, &a);
  write_pairs(e, own);
  end_turns(e, &element);
}

/* p[i] = p[i] op p[i + distance] for the pairs that are this thread's. */
static void fold_pairs(emitter *e, val element, val distance) {
  val own[2 * LGT_MAX_REDUCTIONS], part[2 * LGT_MAX_REDUCTIONS];
  val apart = add(e, distance, distance), first = multiply(e, special(e, "tid.y"), apart);
  turn i = begin_turns(e, first, int_op(e, "subi", FOLD(chunks), distance),
                       multiply(e, special(e, "ntid.y"), apart), 0);
  find_elements(e, false, element, i.at, own);
  find_elements(e, false, element, add(e, i.at, distance), part);
  read_all_pairs(e, own);
  take_all_pairs(e, part, 1);
  write_pairs(e, own);
  end_turns(e, &i);
}

/* The first partial result, into the target. */
static void fold_into_target(emitter *e, val element) {
  val own[2 * LGT_MAX_REDUCTIONS], part[2 * LGT_MAX_REDUCTIONS];
  find_elements(e, false, element, int_constant(e, 0), part);
  find_targets(e, element, own);
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    accumulator a = read_pair(e, k, part), old = is_fresh(e, k) ? a : read_pair(e, k, own);
    e->carry[k].value = old.value;
    if (a.at >= 0) e->carry[k + 1].value = old.at;
    if (!is_fresh(e, k)) take_in(e, k, a);
  }
  write_pairs(e, own);
}

void emit_chunks(emitter *e) {
  val x = special(e, "tid.x"), width = special(e, "ntid.x"), kept = FOLD(kept), one = int_constant(e, 1);
  /* All threads of a block go around together, for they wait for one another; some have no element. */
  turn first = begin_turns(e, multiply(e, special(e, "ctaid.x"), width), kept,
                           multiply(e, special(e, "nctaid.x"), width), 0);
  val element = add(e, first.at, x), some = int_less(e, element, kept);
  turn distance = begin_turns(e, one, FOLD(chunks), -1, 0); /* 1, 2, 4, ... */
  distance.step = distance.at;
  int after = begin_if(e, some);
  fold_pairs(e, element, distance.at);
  end_if(e, after);
  wait_for_all(e);
  end_turns(e, &distance);
  after = begin_if(e, bit_and(e, some, int_less(e, special(e, "tid.y"), one)));
  fold_into_target(e, element);
  end_if(e, after);
  end_turns(e, &first);
}
