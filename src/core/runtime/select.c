/* select.c - what boolean arrays pick: read and written at once; and the positions of what is true.
 *
 * How many elements a mask picks decides about extents, so whoever uses one waits for it.  Where one domain has all
 * elements, copying them here and now costs a part of what tasks would, which go by lists of positions: these are longer
 * than most of what is picked.  All workers take part, each with a part of one of the mask's dimensions, in two rounds:
 * the elements picked are counted, then moved, each part's behind those of the parts before.  Whatever else there is to see
 * to, wrong arguments as well, is left to tasks (lib/array/index/picks.lua): that nothing was done is no error.
 *
 * Elements of what is picked from are blocks here: the mask's dimensions are walked, those behind it must lie side by
 * side.
 */
#include <immintrin.h>
#include <string.h>

#include "move/acquire.h"
#include "kernel/helper.h"
#include "move/poison.h"
#include "bind/rescue.h"
#include "runtime/handles.h"
#include "runtime/look.h"

/* The mask beside what it picks from: lines of `count` blocks, dimensions that lie one behind the other being one. */
typedef struct pairing {
  int ndim;
  int64_t extent[LGT_MAX_DIM], mask_step[LGT_MAX_DIM], step[LGT_MAX_DIM];
  const uint8_t *mask;
  char *data;
  int64_t block; /* bytes */
} pairing;

static void add_dim(pairing *p, int64_t extent, int64_t mask_step, int64_t step) {
  int last = p->ndim - 1;
  if (p->ndim && p->mask_step[last] == mask_step * extent && p->step[last] == step * extent) {
    p->extent[last] *= extent;
    p->mask_step[last] = mask_step;
    p->step[last] = step;
    return;
  }
  p->extent[p->ndim] = extent;
  p->mask_step[p->ndim] = mask_step;
  p->step[p->ndim++] = step;
}

/* The bytes of the dimensions from `first` on if they lie side by side; else 0. */
static int64_t block_of(const lgt_tile *tile, int first) {
  int64_t bytes = lgt_dtype_size(tile->dtype);
  for (int d = tile->ndim - 1; d >= first; d--) {
    if (tile->stride[d] != bytes && tile->extent[d] != 1) return 0;
    bytes *= tile->extent[d];
  }
  return bytes;
}

static bool pair(const lgt_tile *mask, const lgt_tile *data, pairing *out) {
  *out = (pairing){.mask = mask->data, .data = data->data, .block = block_of(data, mask->ndim)};
  for (int d = 0; d < mask->ndim; d++) add_dim(out, mask->extent[d], mask->stride[d], data->stride[d]);
  return out->block > 0;
}

enum { MASK, DATA };

/* The next line, as offsets into mask and data; false: there is none. */
static bool next_line(const pairing *p, int64_t *index, int64_t at[2]) {
  const int64_t *stride[] = {[MASK] = p->mask_step, [DATA] = p->step};
  return lgt_index_next(p->ndim - 1, p->extent, index, 2, at, stride);
}

/* The bytes of the result are 1 where those of `word` are not 0. */
static uint64_t ones(uint64_t word) {
  const uint64_t low = 0x7f7f7f7f7f7f7f7f;
  return (((word & low) + low) | word) >> 7 & 0x0101010101010101;
}

static const uint64_t ALL = 0x0101010101010101;
enum { WORD = 8 };

static uint64_t word_at(const uint8_t *mask) {
  uint64_t word;
  memcpy(&word, mask, WORD);
  return ones(word);
}

static int64_t count_line(const uint8_t *mask, int64_t step, int64_t n) {
  enum { RUN = 128 }; /* so many are counted in a byte: in vectors */
  int64_t found = 0, i = 0;
  for (; step == 1 && i + RUN <= n; i += RUN) {
    uint8_t some = 0;
    for (int j = 0; j < RUN; j++) some = (uint8_t)(some + (mask[i + j] != 0));
    found += some;
  }
  for (; step == 1 && i + WORD <= n; i += WORD) found += (int64_t)(word_at(mask + i) * ALL >> 56);
  for (; i < n; i++) found += mask[i * step] != 0;
  return found;
}

static int64_t count(const pairing *p) {
  int64_t found = 0, index[LGT_MAX_DIM] = {0}, at[2] = {0};
  int last = p->ndim - 1;
  do found += count_line(p->mask + at[MASK], p->mask_step[last], p->extent[last]);
  while (next_line(p, index, at));
  return found;
}

/* Where vectors can be packed (AVX-512): what is picked of words of 64 booleans, elements that lie side by side, or with
 * no data the positions from `first` on; how many elements were seen, and moved.  The list has `left` of them. */
#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,bmi2,popcnt")))

WIDE __attribute__((always_inline)) static inline int64_t pack_words(const uint8_t *mask, const char *data,
                                                                     int64_t first, int64_t n, char *list,
                                                                     int64_t left, int size, int64_t *moved) {
  enum { BOOLEANS = 64 };
  const int lanes = 64 / size;
  const __m512i iota = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  int64_t found = 0, i = 0;
  for (; i + BOOLEANS <= n && found < left; i += BOOLEANS) {
    __m512i booleans = _mm512_loadu_si512(mask + i);
    uint64_t word = _mm512_test_epi8_mask(booleans, booleans);
    for (int j = 0; word; j += lanes, word >>= lanes) {
      uint32_t picked = (uint32_t)word & ((1u << lanes) - 1);
      int count = __builtin_popcount(picked);
      if (!picked) continue;
      __m512i x = data ? _mm512_loadu_si512(data + (i + j) * size)
                       : _mm512_add_epi64(_mm512_set1_epi64(first + i + j), iota);
      if (size == 4) x = _mm512_maskz_compress_epi32((__mmask16)picked, x);
      else x = _mm512_maskz_compress_epi64((__mmask8)(size == 8 ? picked : _pdep_u32(picked, 0x55) * 3), x);
      char *to = list + found * size;
      if (left - found >= lanes) _mm512_storeu_si512(to, x);
      else _mm512_mask_storeu_epi8(to, (1ull << (count * size)) - 1, x);
      found += count;
    }
  }
  *moved = found;
  return i;
}

WIDE static int64_t pack_elements(const uint8_t *mask, const char *data, int64_t n, char *list, int64_t left,
                                  int64_t size, int64_t *moved) {
  if (size == 4) return pack_words(mask, data, 0, n, list, left, 4, moved);
  if (size == 8) return pack_words(mask, data, 0, n, list, left, 8, moved);
  return pack_words(mask, data, 0, n, list, left, 16, moved);
}

WIDE static int64_t pack_positions(const uint8_t *mask, int64_t first, int64_t n, int64_t *list, int64_t left,
                                   int64_t *moved) {
  return pack_words(mask, NULL, first, n, (char *)list, left, 8, moved);
}

/* One line: blocks of the array to or from `list`, which has `left` of them; how many were moved.  All or none of
 * several are common; else there are no branches: a mask is no pattern that can be foreseen. */
__attribute__((always_inline)) static inline int64_t move_line(const pairing *p, const uint8_t *mask,
                                                               char *data, char *list, int64_t left,
                                                               int64_t size, bool write) {
  int64_t moved = 0, n = p->extent[p->ndim - 1], mask_step = p->mask_step[p->ndim - 1],
          step = p->step[p->ndim - 1];
  bool dense = mask_step == 1 && step == size;
  int64_t i = 0;
  if (!write && dense && lgt_isa_current() == LGT_ISA_AVX512)
    i = pack_elements(mask, data, n, list, left, size, &moved);
  while (i < n && moved < left) {
    uint64_t word = dense && i + WORD <= n ? word_at(mask + i) : 2;
    char *place = list + moved * size, *element = data + i * step;
    if (word == 0 || (word == ALL && left - moved >= WORD)) {
      if (word) memcpy(write ? element : place, write ? place : element, (size_t)(WORD * size));
      if (word) moved += WORD;
      i += WORD;
      continue;
    }
    for (int64_t past = i + WORD < n ? i + WORD : n; i < past && moved < left; i++) {
      place = list + moved * size;
      element = data + i * step;
      bool picked = mask[i * mask_step] != 0;
      if (write) memcpy(element, picked ? place : element, (size_t)size);
      else memcpy(place, element, (size_t)size); /* the next one overwrites it unless it was picked */
      moved += picked;
    }
  }
  return moved;
}

/* The same for blocks of any size. */
static int64_t move_blocks(const pairing *p, const uint8_t *mask, char *data, char *list, int64_t left,
                           bool write) {
  int64_t moved = 0, mask_step = p->mask_step[p->ndim - 1], step = p->step[p->ndim - 1];
  for (int64_t i = 0; i < p->extent[p->ndim - 1] && moved < left; i++) {
    char *place = list + moved * p->block, *element = data + i * step;
    if (!mask[i * mask_step]) continue;
    memcpy(write ? element : place, write ? place : element, (size_t)p->block);
    moved++;
  }
  return moved;
}

/* All n blocks that are picked, to or from `list`. */
static void move(const pairing *p, char *list, int64_t n, bool write) {
  int64_t index[LGT_MAX_DIM] = {0}, at[2] = {0};
  do {
    const uint8_t *mask = p->mask + at[MASK];
    char *data = p->data + at[DATA];
    int64_t moved = p->block == 8 && write    ? move_line(p, mask, data, list, n, 8, true)
                    : p->block == 8           ? move_line(p, mask, data, list, n, 8, false)
                    : p->block == 16 && write ? move_line(p, mask, data, list, n, 16, true)
                    : p->block == 16          ? move_line(p, mask, data, list, n, 16, false)
                    : p->block == 4 && write  ? move_line(p, mask, data, list, n, 4, true)
                    : p->block == 4           ? move_line(p, mask, data, list, n, 4, false)
                                              : move_blocks(p, mask, data, list, n, write);
    list += moved * p->block;
    n -= moved;
  } while (n > 0 && next_line(p, index, at));
}

/* The positions, from 1, of what is true in one line, of which `left` elements are. */
static void list_line(const uint8_t *mask, int64_t step, int64_t first, int64_t n, int64_t *list,
                      int64_t left) {
  int64_t moved = 0, i = 0;
  if (step == 1 && lgt_isa_current() == LGT_ISA_AVX512)
    i = pack_positions(mask, first + 1, n, list, left, &moved);
  while (i < n && moved < left) {
    if (step == 1 && i + WORD <= n && word_at(mask + i) == 0) {
      i += WORD;
      continue;
    }
    for (int64_t past = i + WORD < n ? i + WORD : n; i < past && moved < left; i++) {
      list[moved] = first + i + 1; /* the next one overwrites it unless this is one */
      moved += mask[i * step] != 0;
    }
  }
}

/* ---- all workers ---------------------------------------------------------------------------------------- */

/* Most parts, which are less than twice as many as wanted; elements of the mask that make another one worth while. */
enum { PARTS = 128, WANTED = PARTS / 2, PART = 1 << 14 };

/* Dimension `cut` is cut into `pieces`, once for each index of those before it. */
typedef struct work {
  pairing p;
  int cut, pieces, nparts;
  int64_t before[PARTS + 1]; /* what is picked in the parts before each */
  char *list;                /* what is moved to or from */
  bool write;
  int64_t *axis[LGT_MAX_DIM]; /* lists of positions */
} work;

static void narrow(pairing *p, int d, int64_t first, int64_t extent) {
  p->mask += first * p->mask_step[d];
  p->data += first * p->step[d];
  p->extent[d] = extent;
}

/* One part, and where it begins in the dimensions up to the one that is cut. */
static pairing part_of(const work *w, int part, int64_t *first) {
  pairing p = w->p;
  int64_t extent = p.extent[w->cut], piece = part % w->pieces, outer = part / w->pieces;
  first[w->cut] = extent * piece / w->pieces;
  narrow(&p, w->cut, first[w->cut], extent * (piece + 1) / w->pieces - first[w->cut]);
  for (int d = w->cut - 1; d >= 0; d--) {
    first[d] = outer % w->p.extent[d];
    outer /= w->p.extent[d];
    narrow(&p, d, first[d], 1);
  }
  return p;
}

static lgt_status count_part(lgt_step *step, int part) {
  work *w = step->data;
  int64_t first[LGT_MAX_DIM];
  pairing p = part_of(w, part, first);
  w->before[part + 1] = count(&p);
  return LGT_OK;
}

static lgt_status move_part(lgt_step *step, int part) {
  const work *w = step->data;
  int64_t first[LGT_MAX_DIM];
  pairing p = part_of(w, part, first);
  int64_t before = w->before[part], n = w->before[part + 1] - before;
  if (n) move(&p, w->list + before * p.block, n, w->write);
  return LGT_OK;
}

static lgt_status list_part(lgt_step *step, int part) {
  const work *w = step->data;
  int64_t first[LGT_MAX_DIM] = {0}, index[LGT_MAX_DIM] = {0}, at[2] = {0}, found = w->before[part];
  pairing p = part_of(w, part, first);
  int last = p.ndim - 1;
  do {
    const uint8_t *mask = p.mask + at[MASK];
    int64_t n = count_line(mask, p.mask_step[last], p.extent[last]);
    list_line(mask, p.mask_step[last], first[last], p.extent[last], w->axis[last] + found, n);
    for (int d = 0; d < last; d++)
      for (int64_t i = found; i < found + n; i++) w->axis[d][i] = first[d] + index[d] + 1;
    found += n;
  } while (found < w->before[part + 1] && next_line(&p, index, at));
  return LGT_OK;
}

static void run(lgt_runtime *rt, work *w, const char *name, lgt_status (*part)(lgt_step *, int),
                int64_t bytes) {
  lgt_step step = {.nchunk = w->nparts, .run = part, .data = w};
  lgt_task task = {.step = &step, .nstep = 1, .cost = bytes, .label = {.category = "kernel", .name = name}};
  lgt_task_init(&task);
  lgt_exec_submit(rt->exec, &task);
  lgt_exec_wait(rt->exec, &task);
  lgt_exec_forget(&task);
}

/* Cut the work into parts, and count what is picked: how many blocks. */
static int64_t begin(lgt_runtime *rt, work *w) {
  int64_t size = 1;
  for (int d = 0; d < w->p.ndim; d++) size *= w->p.extent[d];
  int64_t wanted = size / PART + 1, lines = 1, last = w->p.ndim - 1;
  if (wanted > WANTED) wanted = WANTED;
  w->cut = 0;
  while (w->cut < last && lines * w->p.extent[w->cut] < wanted) lines *= w->p.extent[w->cut++];
  int64_t pieces = (wanted + lines - 1) / lines;
  w->pieces = (int)(pieces < w->p.extent[w->cut] ? pieces : w->p.extent[w->cut]);
  w->nparts = (int)lines * w->pieces;
  w->before[0] = 0;
  run(rt, w, "count", count_part, size);
  for (int i = 0; i < w->nparts; i++) w->before[i + 1] += w->before[i];
  return w->before[w->nparts];
}

static void move_all(lgt_runtime *rt, work *w, char *list, bool write) {
  w->list = list;
  w->write = write;
  run(rt, w, write ? "place" : "select", move_part, 2 * w->before[w->nparts] * w->p.block);
}

/* ---- arrays -------------------------------------------------------------------------------------------- */

static const lgt_layout *layout_of(const lgt_runtime *rt, lgt_id array) {
  if (!array || array > rt->stores.max_handle) return NULL;
  uint32_t layout = rt->stores.handle[array].layout;
  return layout ? lgt_layout_at(&rt->stores, layout) : NULL;
}

/* Does the mask pick from the array as it should? */
static bool suits(const lgt_runtime *rt, const lgt_layout *array, const lgt_layout *mask) {
  if (!lgt_map_still(&rt->map) || !array || !mask || mask->dtype != LGT_BOOL) return false;
  if (mask->ndim == 0 || mask->ndim > array->ndim || array->size == 0) return false;
  for (int d = 0; d < mask->ndim; d++)
    if (mask->shape[d] != array->shape[d]) return false;
  return true;
}

/* Where an array's elements are; *good is false if some of them failed, or never were.  Waits. */
static lgt_status locate(lgt_runtime *rt, lgt_id array, bool write, lgt_tile *out, bool *good) {
  lgt_store *store;
  lgt_binder *binder = &rt->binder;
  *good = false;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (!status) status = lgt_rescue_store(binder, store);
  lgt_instance *inst = !status && store->replica ? store->replica[0].inst : NULL;
  if (!inst || store->failure) return status;
  if (write && (inst->pins || inst->owners > 1)) { /* somebody else wants what is there */
    lgt_rect all = inst->rect;
    if (lgt_acquire(binder, store, 0, rt->map.memory, &all, LGT_USE_WRITE, NULL)) return LGT_OK;
    inst = store->replica[0].inst;
  }
  if (inst->writer || (write && inst->nreader)) {
    status = lgt_job_look(binder, inst);
    if (!status) lgt_job_wait(binder, inst, write);
    lgt_job_retire(binder, false);
  }
  *good = !status && !inst->failure;
  lgt_look_locate(layout_of(rt, array), inst, out);
  return status;
}

/* The mask beside the array. */
static lgt_status look_at_both(lgt_runtime *rt, lgt_id array, lgt_id mask, bool write, pairing *out,
                               bool *good) {
  lgt_tile of_mask, of_array;
  lgt_instance *held;
  lgt_status status = lgt_look_peek(rt, mask, &of_mask, &held);
  if (status) return status;
  status = locate(rt, array, write, &of_array, good);
  *good = *good && pair(&of_mask, &of_array, out);
  lgt_instance_release(&rt->map, held); /* its store keeps it */
  return status;
}

/* A new array in memory whose contents are what is going to be written there; 0: there is no memory. */
static lgt_id new_array(lgt_runtime *rt, uint32_t layout, char **data) {
  lgt_store *store;
  lgt_id id = layout ? lgt_layout_array(rt, layout) : 0;
  if (!id || lgt_handle_store(rt, id, &store)) return lgt_array_free(rt, id), 0;
  const lgt_layout *root = lgt_layout_at(&rt->stores, layout);
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  lgt_instance *inst = lgt_store_replicas(&rt->map, store) ? lgt_instance_new(&rt->map, 0, root, &all) : NULL;
  if (!inst) return lgt_array_free(rt, id), 0;
  lgt_replica_set(&rt->map, &store->replica[0], inst);
  store->written = true;
  *data = inst->data;
  return id;
}

lgt_status lgt_array_select(lgt_runtime *rt, lgt_id array, lgt_id mask, lgt_id *out) {
  const lgt_layout *from = layout_of(rt, array), *by = layout_of(rt, mask);
  work w;
  bool good;
  char *data;
  *out = 0;
  if (!suits(rt, from, by)) return LGT_OK;
  if (lgt_runtime_relieve(rt)) return LGT_OK;
  lgt_status status = look_at_both(rt, array, mask, false, &w.p, &good);
  if (status || !good) return status;
  int64_t n = begin(rt, &w), shape[LGT_MAX_DIM] = {n};
  for (int d = by->ndim; d < from->ndim; d++) shape[d - by->ndim + 1] = from->shape[d];
  uint32_t layout = lgt_layout_dense(rt, from->dtype, from->ndim - by->ndim + 1, shape);
  *out = new_array(rt, layout, &data);
  if (*out) move_all(rt, &w, data, false);
  return LGT_OK;
}

lgt_status lgt_array_nonzero(lgt_runtime *rt, lgt_id mask, lgt_id *out) {
  const lgt_layout *by = layout_of(rt, mask);
  lgt_tile tile;
  lgt_instance *held;
  work w;
  out[0] = 0;
  if (!lgt_map_still(&rt->map) || !by || by->dtype != LGT_BOOL || by->ndim == 0 || by->size == 0)
    return LGT_OK;
  if (lgt_runtime_relieve(rt)) return LGT_OK;
  lgt_status status = lgt_look_peek(rt, mask, &tile, &held);
  if (status) return status;
  w.p = (pairing){.ndim = tile.ndim, .mask = tile.data, .data = tile.data, .block = 1};
  for (int d = 0; d < tile.ndim; d++) {
    w.p.extent[d] = tile.extent[d];
    w.p.mask_step[d] = w.p.step[d] = tile.stride[d];
  }
  int64_t n = begin(rt, &w);
  uint32_t layout = lgt_layout_dense(rt, LGT_INT64, 1, &n);
  int made = 0;
  while (made < tile.ndim) {
    char *data;
    out[made] = new_array(rt, layout, &data);
    if (!out[made]) break;
    w.axis[made++] = (int64_t *)data;
  }
  if (made == tile.ndim) run(rt, &w, "nonzero", list_part, n * 8 * made);
  else {
    while (made > 0) lgt_array_free(rt, out[--made]);
    out[0] = 0;
  }
  lgt_instance_release(&rt->map, held);
  return LGT_OK;
}

lgt_status lgt_array_place(lgt_runtime *rt, lgt_id array, lgt_id mask, lgt_id values, int *done) {
  const lgt_layout *to = layout_of(rt, array), *by = layout_of(rt, mask), *from = layout_of(rt, values);
  work w;
  bool good;
  lgt_tile list;
  *done = 0;
  if (!suits(rt, to, by) || to->flags & LGT_LAYOUT_STRETCHED || !from || from->dtype != to->dtype)
    return LGT_OK;
  if (from->ndim != to->ndim - by->ndim + 1) return LGT_OK;
  for (int d = 1; d < from->ndim; d++)
    if (from->shape[d] != to->shape[by->ndim + d - 1]) return LGT_OK;
  const lgt_handle *handle = rt->stores.handle;
  uint32_t store = handle[array].store;
  if (store && (handle[mask].store == store || handle[values].store == store)) return LGT_OK;
  lgt_status status = look_at_both(rt, array, mask, true, &w.p, &good);
  if (!status && good) status = locate(rt, values, false, &list, &good);
  if (status || !good) return status;
  if (begin(rt, &w) != from->shape[0] || block_of(&list, 0) != from->size * lgt_dtype_size(from->dtype))
    return LGT_OK;
  move_all(rt, &w, list.data, true);
  lgt_store_at(&rt->stores, handle[array].store)->written = true;
  *done = 1;
  return LGT_OK;
}
