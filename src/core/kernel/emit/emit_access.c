/* emit_access.c - reading and writing the elements of one iteration.
 *
 * By the access's class along the columns: UNIT is one vector, masked where only some lanes are in use;
 * BACK the same, lanes reversed; PAIR is two vectors, of which every second lane counts, where all lanes are in use; ANY goes
 * lane by lane, as the others do where the CPU has no masked access for elements of that size; ZERO is one element.  Lanes
 * out of use never touch memory: reading lane by lane they repeat the last one in use, and masked they get ones, a value
 * that leads no function into a slow path.  What lies between the elements of PAIR may be read, but belongs to others.
 */
#include "kernel/emit/emit.h"

static bool can_mask(const emitter *e, elem el) {
  if (e->device) return false;
  return e->isa == LGT_ISA_AVX512 || (e->isa == LGT_ISA_AVX2 && elem_size(el) >= 4);
}

elem access_elem(const emitter *e, int k) { return mem_elem(e->loop->access[k].dtype); }

static val bytes(emitter *e, val count, int64_t each) {
  return int_op(e, "muli", count, int_constant(e, each));
}

/* Where this iteration's first element is. */
static val address_of(emitter *e, int k) {
  const emit_access *access = &e->access[k];
  if (access->placed) return access->base;
  switch (e->loop->access[k].inner) {
    case LGT_STRIDE_ZERO:
      return access->base;
    case LGT_STRIDE_UNIT:
      return def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, $", access->base, e->column,
                 scalar_type(access_elem(e, k)));
    case LGT_STRIDE_BACK:
      return advance(e, access->base, bytes(e, e->column, -elem_size(access_elem(e, k))));
    case LGT_STRIDE_PAIR:
      return advance(e, access->base, bytes(e, e->column, 2 * elem_size(access_elem(e, k))));
    default:
      return advance(e, access->base, int_op(e, "muli", e->column, access->stride));
  }
}

static bool is_backward(const emitter *e, int k) { return e->loop->access[k].inner == LGT_STRIDE_BACK; }

/* Where the iteration's vector begins in memory. */
static val vector_address(emitter *e, int k) {
  val at = address_of(e, k);
  return is_backward(e, k) ? advance(e, at, int_constant(e, (1 - e->lanes) * elem_size(access_elem(e, k))))
                           : at;
}

/* From lanes in the order of memory to those of the loop, and back. */
static val in_order(emitter *e, int k, elem el, val vector) {
  return is_backward(e, k) ? reverse(e, el, vector) : vector;
}

val stride_of(emitter *e, int k) {
  int inner = e->loop->access[k].inner;
  if (inner == LGT_STRIDE_ANY) return e->access[k].stride;
  return int_constant(e, (inner == LGT_STRIDE_BACK   ? -1
                          : inner == LGT_STRIDE_PAIR ? 2
                                                     : 1) *
                             elem_size(access_elem(e, k)));
}

/* Lane by lane; lanes out of use repeat the last one in use. */
static val read_lanes(emitter *e, int k, bool part) {
  elem el = access_elem(e, k);
  const char *type = lanes_type(e, el);
  val at = address_of(e, k), stride = stride_of(e, k);
  val vector = def(e, "llvm.mlir.undef : $", type);
  for (int lane = 0; lane < e->lanes; lane++) {
    val element = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at, (int64_t)elem_size(el),
                      scalar_type(el));
    val index = int_constant(e, lane);
    vector = def(e, "llvm.insertelement %, %[% : i64] : $", element, vector, index, type);
    if (lane + 1 == e->lanes) break;
    val after = advance(e, at, stride);
    if (part) {
      val used = int_less(e, int_constant(e, lane + 1), e->count);
      after = def(e, "arith.select %, %, % : !llvm.ptr", used, after, at);
    }
    at = after;
  }
  return vector;
}

/* A vector from the first element on, and another one that ends with the last: nothing beyond it is read. */
static val read_second(emitter *e, int k) {
  elem el = access_elem(e, k);
  int64_t size = elem_size(el), to_other = (e->lanes - 1) * size;
  val at[2] = {address_of(e, k)}, half[2];
  at[1] = advance(e, at[0], int_constant(e, to_other));
  for (int i = 0; i < 2; i++)
    half[i] = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at[i], size, lanes_type(e, el));
  return every_second(e, el, half[0], half[1]);
}

/* Devices have vectors of 16 aligned bytes for elements in the order of memory. */
static bool whole(const emitter *e, int k) {
  return e->device && e->loop->access[k].inner == LGT_STRIDE_UNIT;
}

val read_access(emitter *e, int k, bool part) {
  elem el = access_elem(e, k);
  const char *type = lanes_type(e, el);
  int inner = e->loop->access[k].inner;
  if (inner == LGT_STRIDE_PAIR && !part && !e->device) return read_second(e, k);
  if (inner == LGT_STRIDE_ANY || inner == LGT_STRIDE_PAIR ||
      ((part || e->device) && !can_mask(e, el) && !whole(e, k)))
    return read_lanes(e, k, part);
  int64_t align = e->device ? e->lanes * elem_size(el) : elem_size(el);
  val at = vector_address(e, k);
  if (!part)
    return in_order(e, k, el, def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at, align, type));
  val ones = el >= F16 ? splat_float(e, el, 1) : splat_int(e, el, 1);
  val mask = in_order(e, k, I1, e->mask);
  val vector = def(e, "llvm.intr.masked.load %, %, % {alignment = # : i32} : (!llvm.ptr, $, $) -> $", at,
                   mask, ones, align, lanes_type(e, I1), type, type);
  return in_order(e, k, el, vector);
}

static void write_all_lanes(emitter *e, int k, val vector) {
  elem el = access_elem(e, k);
  const char *type = lanes_type(e, el);
  val at = address_of(e, k), stride = stride_of(e, k);
  for (int lane = 0; lane < e->lanes; lane++) {
    if (lane) at = advance(e, at, stride);
    val element = def(e, "llvm.extractelement %[% : i64] : $", vector, int_constant(e, lane), type);
    put(e, "llvm.store %, % {alignment = # : i64} : $, !llvm.ptr\n", element, at, (int64_t)elem_size(el),
        scalar_type(el));
  }
}

/* A loop over the lanes in use, through a buffer. */
static void write_lanes_in_use(emitter *e, int k, val vector, val count) {
  elem el = access_elem(e, k);
  const char *type = scalar_type(el);
  int64_t align = elem_size(el);
  val at = address_of(e, k), stride = stride_of(e, k), zero = int_constant(e, 0), lane;
  int loop = e->next_block++, done = e->next_block++;
  put(e, "llvm.store %, % {alignment = 64 : i64} : $, !llvm.ptr\n", vector, scratch(e, 0), lanes_type(e, el));
  branch(e, loop, &zero, 1, 0);
  begin_block(e, loop, &lane, 1, 0);
  val from = def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, $", scratch(e, 0), lane, type);
  val element = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", from, align, type);
  put(e, "llvm.store %, % {alignment = # : i64} : $, !llvm.ptr\n", element,
      advance(e, at, int_op(e, "muli", lane, stride)), align, type);
  val after = int_op(e, "addi", lane, int_constant(e, 1));
  branch_if(e, int_less(e, after, count), loop, &after, 1, done, 0);
  begin_block(e, done, NULL, 0, 0);
}

static void write_lanes(emitter *e, int k, val vector, bool part) {
  if (part) write_lanes_in_use(e, k, vector, e->count);
  else write_all_lanes(e, k, vector);
}

void write_vector(emitter *e, val at, val vector, elem el, int64_t align, const char *attribute) {
  put(e, "llvm.store %, % {alignment = # : i64$} : $, !llvm.ptr\n", vector, at, align, attribute,
      lanes_type(e, el));
}

/* Bytes to which a non-temporal store of this element must be aligned: whole vectors, or cache lines. */
int stream_align(const emitter *e, elem el) {
  int bytes = e->lanes * elem_size(el);
  return bytes > 64 ? 64 : bytes;
}

static void write_full(emitter *e, int k, val vector) {
  elem el = access_elem(e, k);
  val at = vector_address(e, k);
  int64_t size = elem_size(el);
  vector = in_order(e, k, el, vector);
  if (e->access[k].nt < 0) {
    write_vector(e, at, vector, el, size, "");
    return;
  }
  int streamed = e->next_block++, ordinary = e->next_block++, done = e->next_block++;
  branch_if(e, e->access[k].nt, streamed, NULL, 0, ordinary, 0);
  begin_block(e, streamed, NULL, 0, 0);
  write_vector(e, at, vector, el, stream_align(e, el), ", nontemporal");
  branch(e, done, NULL, 0, 0);
  begin_block(e, ordinary, NULL, 0, 0);
  write_vector(e, at, vector, el, size, "");
  branch(e, done, NULL, 0, 0);
  begin_block(e, done, NULL, 0, 0);
}

/* Two vectors, of which every second lane is written. */
static void write_second(emitter *e, int k, val vector) {
  elem el = access_elem(e, k);
  int64_t size = elem_size(el);
  val at = address_of(e, k), mask = even_lanes(e);
  for (int i = 0; i < 2; i++) {
    put(e, "llvm.intr.masked.store %, %, % {alignment = # : i32} : $, $ into !llvm.ptr\n",
        each_twice(e, el, vector, i * e->lanes / 2), at, mask, size, lanes_type(e, el), lanes_type(e, I1));
    at = advance(e, at, int_constant(e, e->lanes * size));
  }
}

bool may_be_joint(const emitter *e, int i) {
  const lgt_inst *in = &e->loop->inst[i];
  if (i + 1 >= e->loop->ninst || in[0].op != LGT_OP_STORE || in[1].op != LGT_OP_STORE ||
      in[1].b != in[0].b + 1)
    return false;
  for (int k = in->b; k <= in->b + 1; k++)
    if (e->loop->access[k].inner != LGT_STRIDE_PAIR || e->loop->access[k].mode != LGT_ACCESS_STORE)
      return false;
  return access_elem(e, in[0].b) == access_elem(e, in[1].b);
}

void begin_joint(emitter *e, int k) {
  val at[2];
  for (int i = 0; i < 2; i++) at[i] = def(e, "llvm.ptrtoint % : !llvm.ptr to i64", e->access[k + i].base);
  val size = int_constant(e, elem_size(access_elem(e, k)));
  e->access[k].joint = def(e, "arith.cmpi eq, %, % : i64", int_op(e, "subi", at[1], at[0]), size);
}

/* Whole vectors where both parts lie side by side, as they nearly always do: masked stores take some CPUs long. */
void write_joint(emitter *e, int k) {
  int whole = e->next_block++, apart = e->next_block++, done = e->next_block++;
  elem el = access_elem(e, k);
  int64_t size = elem_size(el);
  branch_if(e, e->access[k].joint, whole, NULL, 0, apart, 0);
  begin_block(e, whole, NULL, 0, 0);
  val at = address_of(e, k);
  for (int i = 0; i < 2; i++) {
    val half = one_by_one(e, el, e->access[k].result, e->access[k + 1].result, i * e->lanes / 2);
    write_vector(e, i ? advance(e, at, int_constant(e, e->lanes * size)) : at, half, el, size, "");
  }
  branch(e, done, NULL, 0, 0);
  begin_block(e, apart, NULL, 0, 0);
  for (int i = 0; i < 2; i++) write_access(e, k + i, e->access[k + i].result, false);
  branch(e, done, NULL, 0, 0);
  begin_block(e, done, NULL, 0, 0);
}

void write_access(emitter *e, int k, val vector, bool part) {
  elem el = access_elem(e, k);
  switch (e->loop->access[k].inner) {
    case LGT_STRIDE_ZERO: { /* what comes last stays */
      val last = int_op(e, "subi", part ? e->count : int_constant(e, e->lanes), int_constant(e, 1));
      val element = def(e, "llvm.extractelement %[% : i64] : $", vector, last, lanes_type(e, el));
      put(e, "llvm.store %, % {alignment = # : i64} : $, !llvm.ptr\n", element, address_of(e, k),
          (int64_t)elem_size(el), scalar_type(el));
      return;
    }
    case LGT_STRIDE_PAIR:
      if (!part && can_mask(e, el)) write_second(e, k, vector);
      else write_lanes(e, k, vector, part);
      return;
    case LGT_STRIDE_ANY:
      write_lanes(e, k, vector, part);
      return;
    default:
      break;
  }
  if (whole(e, k)) {
    write_vector(e, vector_address(e, k), vector, el, e->lanes * elem_size(el), "");
    return;
  }
  if (!part) write_full(e, k, vector);
  else if (!can_mask(e, el)) write_lanes(e, k, vector, true);
  else
    put(e, "llvm.intr.masked.store %, %, % {alignment = # : i32} : $, $ into !llvm.ptr\n",
        in_order(e, k, el, vector), vector_address(e, k), in_order(e, k, I1, e->mask), (int64_t)elem_size(el),
        lanes_type(e, el), lanes_type(e, I1));
}

/* One element, in all lanes. */
val read_scalar(emitter *e, int dtype, val at) {
  elem el = mem_elem(dtype);
  val element = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at, (int64_t)elem_size(el),
                    scalar_type(el));
  return from_memory(e, dtype, splat(e, el, element));
}
