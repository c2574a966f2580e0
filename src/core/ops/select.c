/* select.c - what boolean arrays pick: read, written, and where it is.
 *
 * How many elements a mask picks decides about extents, so a program waits for that number, and for nothing else.  A mask is in
 * *runs* of so many rows (indices of its first dimension), one for each domain, and these are in *blocks*: what is picked in
 * each block is counted first, then each chunk of rows finds the place of its first element from these counts, and by
 * counting from the beginning of its block.  With several domains a run's elements go to, or come from, the range of
 * elements that the runs before it leave to it: those who made it know nothing of others' elements.
 *
 *   mask_count      argument 1 (int64) [r, b] = how many elements of block b of run r of argument 0 are true
 *   mask_bounds     argument 0 (int64) [r] = how many are in the runs before r, of argument 1: counts
 *   mask_select     argument 3 [i, f] = what the mask, argument 0 [m], picks from argument 1 [m, f]; argument 2: counts
 *   mask_place      argument 0 [m, f] = elements of argument 3 [i, f], where the mask, argument 1 [m], is true; argument 2:
 *                   counts
 *   mask_positions  arguments 2, ... (int64) [i], one for each dimension of the mask, argument 0 = the positions, from 1, of what
 *                   is true; argument 1: counts
 *
 * For small arrays, where there may as well be room for all that could be picked:
 *
 *   mask_pick       argument 0 [i, f] = what the mask, argument 1 [m], picks from argument 2 [m, f]
 *   mask_list       arguments 2, ... (int64) [i], one for each dimension of the mask, argument 0 = the positions, from 1, of what
 *                   is true; argument 1 (int64) [1] = how many
 *
 * m and f stand for any number of dimensions.  Further arguments of these, the bounds of runs, are for their constraints.
 * Parameters: 0 the rows of a run, 1 those of a block.
 *
 * Elements of what is picked from are blocks of bytes in the loops: the mask's dimensions are walked, those behind it are
 * copied in one piece if they lie side by side.
 */
#include <immintrin.h>

#include "base/rect.h"
#include "kernel/helper.h"
#include "ops/builtin.h"
#include "ops/select.h"

/* The mask beside what it picks from: lines of `count` blocks, dimensions that lie one behind the other being one. */
typedef struct pairing {
  int ndim;
  int64_t extent[LGT_MAX_DIM], mask_step[LGT_MAX_DIM], step[LGT_MAX_DIM];
  const uint8_t *mask;
  char *data;
  int64_t size, block; /* bytes of an element, and of all that an index of the mask picks */
  bool scattered;      /* the elements of a block do not lie side by side, but so: */
  int nrest;
  int64_t rest[LGT_MAX_DIM], rest_step[LGT_MAX_DIM];
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

/* The dimensions from `first` on: bytes that lie side by side, or elements that do not. */
static void find_block(pairing *p, const lgt_tile *tile, int first) {
  p->size = p->block = lgt_dtype_size(tile->dtype);
  for (int d = tile->ndim - 1; d >= first; d--) {
    p->scattered |= tile->stride[d] != p->block && tile->extent[d] != 1;
    p->block *= tile->extent[d];
  }
  p->nrest = tile->ndim - first;
  for (int d = 0; d < p->nrest && p->scattered; d++) {
    p->rest[d] = tile->extent[first + d];
    p->rest_step[d] = tile->stride[first + d];
  }
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
    if (!write && dense && i + WORD <= n && left - moved >= WORD) {
      for (int k = 0; k < WORD; k++) { /* each is overwritten by the next one unless it was picked */
        memcpy(list + moved * size, element + k * size, (size_t)size);
        moved += (int64_t)(word >> (8 * k) & 1);
      }
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

/* A block, to or from where its elements lie side by side. */
static void move_block(const pairing *p, char *block, char *list, bool write) {
  int64_t index[LGT_MAX_DIM] = {0}, at = 0;
  const int64_t *step = p->rest_step;
  if (!p->scattered) {
    memcpy(write ? block : list, write ? list : block, (size_t)p->block);
    return;
  }
  do {
    memcpy(write ? block + at : list, write ? list : block + at, (size_t)p->size);
    list += p->size;
  } while (lgt_index_next(p->nrest, p->rest, index, 1, &at, &step));
}

/* The same for blocks of any size. */
static int64_t move_blocks(const pairing *p, const uint8_t *mask, char *data, char *list, int64_t left,
                           bool write) {
  int64_t moved = 0, mask_step = p->mask_step[p->ndim - 1], step = p->step[p->ndim - 1];
  for (int64_t i = 0; i < p->extent[p->ndim - 1] && moved < left; i++)
    if (mask[i * mask_step]) move_block(p, data + i * step, list + moved++ * p->block, write);
  return moved;
}

/* What is picked, n blocks at most, to or from `list`; how many blocks that are. */
static int64_t move(const pairing *p, char *list, int64_t n, bool write) {
  int64_t index[LGT_MAX_DIM] = {0}, at[2] = {0}, left = n;
  do {
    const uint8_t *mask = p->mask + at[MASK];
    char *data = p->data + at[DATA];
    int64_t moved = p->scattered              ? move_blocks(p, mask, data, list, left, write)
                    : p->block == 8 && write  ? move_line(p, mask, data, list, left, 8, true)
                    : p->block == 8           ? move_line(p, mask, data, list, left, 8, false)
                    : p->block == 16 && write ? move_line(p, mask, data, list, left, 16, true)
                    : p->block == 16          ? move_line(p, mask, data, list, left, 16, false)
                    : p->block == 4 && write  ? move_line(p, mask, data, list, left, 4, true)
                    : p->block == 4           ? move_line(p, mask, data, list, left, 4, false)
                                              : move_blocks(p, mask, data, list, left, write);
    list += moved * p->block;
    left -= moved;
  } while (left > 0 && next_line(p, index, at));
  return n - left;
}

/* The positions, from 1, of what is true in one line, of which `left` elements are. */
static void list_line(const uint8_t *mask, int64_t step, int64_t first, int64_t n, int64_t *list,
                      int64_t left) {
  int64_t moved = 0, i = 0;
  if (step == 1 && lgt_isa_current() == LGT_ISA_AVX512)
    i = pack_positions(mask, first + 1, n, list, left, &moved);
  while (i < n && moved < left) {
    uint64_t word = step == 1 && i + WORD <= n ? word_at(mask + i) : 2;
    if (word == 0) {
      i += WORD;
      continue;
    }
    if (word != 2 && left - moved >= WORD) {
      for (int k = 0; k < WORD; k++) {
        list[moved] = first + i + k + 1;
        moved += (int64_t)(word >> (8 * k) & 1);
      }
      i += WORD;
      continue;
    }
    for (int64_t past = i + WORD < n ? i + WORD : n; i < past && moved < left; i++) {
      list[moved] = first + i + 1; /* the next one overwrites it unless this is one */
      moved += mask[i * step] != 0;
    }
  }
}

/* ---- rows, runs and blocks ------------------------------------------------------------------------------- */

enum { RUN_ROWS, BLOCK_ROWS };

/* The rows of a run, and those of a block. */
typedef struct cut {
  int64_t run, block;
} cut;

static cut cut_of(const lgt_scalar *params) {
  return (cut){(int64_t)params[RUN_ROWS].f, (int64_t)params[BLOCK_ROWS].f};
}

static int64_t *count_at(const lgt_tile *counts, int64_t run, int64_t block) {
  return (int64_t *)((char *)counts->data + (run - counts->origin[0]) * counts->stride[0] +
                     block * counts->stride[1]);
}

/* Rows [lo, hi) of a mask, beside those of what it picks from; NULL: beside nothing. */
static pairing rows_of(const lgt_tile *mask, const lgt_tile *data, int64_t lo, int64_t hi) {
  pairing p = {.mask = (const uint8_t *)mask->data + lo * mask->stride[0]};
  if (data) {
    p.data = (char *)data->data + lo * data->stride[0];
    find_block(&p, data, mask->ndim);
  }
  for (int d = 0; d < mask->ndim; d++)
    add_dim(&p, d ? mask->extent[d] : hi - lo, mask->stride[d], data ? data->stride[d] : 0);
  return p;
}

static int64_t count_rows(const lgt_tile *mask, int64_t lo, int64_t hi) {
  for (int d = 1; d < mask->ndim; d++)
    if (mask->extent[d] == 0) return 0;
  if (lo >= hi) return 0;
  pairing p = rows_of(mask, NULL, lo, hi);
  return count(&p);
}

/* How many elements are picked before a row of the whole mask, of whose tile the row's block is a part.  `counts` has all of
 * them. */
static int64_t picked_before(const lgt_tile *mask, const lgt_tile *counts, cut by, int64_t row) {
  int64_t run = row / by.run, block = row % by.run / by.block, before = 0, nblock = counts->extent[1];
  for (int64_t i = 0; i < run * nblock + block && i < counts->extent[0] * nblock; i++)
    before += *count_at(counts, i / nblock, i % nblock);
  int64_t first = run * by.run + block * by.block - mask->origin[0];
  return before + count_rows(mask, first, row - mask->origin[0]);
}

/* The blocks that begin in the chunk; the last one sees to those that would begin behind the mask. */
static lgt_status mask_count(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *mask = &tiles[0], *counts = &tiles[1];
  cut by = cut_of(params);
  int64_t origin = mask->origin[0], past = origin + mask->extent[0];
  (void)nargs;
  for (int64_t run = counts->origin[0]; run < counts->origin[0] + counts->extent[0]; run++)
    for (int64_t block = 0; block < counts->extent[1]; block++) {
      int64_t first = run * by.run + block * by.block, end = first + by.block;
      if (end > (run + 1) * by.run) end = (run + 1) * by.run;
      if (end > past) end = past;
      bool begins = first >= origin + lo && first < origin + hi;
      if (begins) *count_at(counts, run, block) = count_rows(mask, first - origin, end - origin);
      else if (first >= past && hi == mask->extent[0]) *count_at(counts, run, block) = 0;
    }
  return LGT_OK;
}

static lgt_status mask_bounds(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  const lgt_tile *bounds = &tiles[0], *counts = &tiles[1];
  (void)nargs, (void)params;
  for (int64_t run = lo; run < hi; run++) {
    int64_t before = 0, nblock = counts->extent[1];
    for (int64_t i = 0; i < run * nblock; i++) before += *count_at(counts, i / nblock, i % nblock);
    *(int64_t *)((char *)bounds->data + run * bounds->stride[0]) = before;
  }
  return LGT_OK;
}

/* ---- elements -------------------------------------------------------------------------------------------- */

/* Rows [lo, hi) of what the mask picks from, to or from the list. */
static lgt_status move_rows(const lgt_tile *mask, const lgt_tile *data, const lgt_tile *counts,
                            const lgt_tile *list, cut by, int64_t lo, int64_t hi, bool write) {
  if (lo >= hi) return LGT_OK;
  int64_t first = picked_before(mask, counts, by, mask->origin[0] + lo),
          past = picked_before(mask, counts, by, mask->origin[0] + hi);
  if (first == past) return LGT_OK;
  pairing p = rows_of(mask, data, lo, hi);
  move(&p, (char *)list->data + first * list->stride[0], past - first, write);
  return LGT_OK;
}

static lgt_status mask_select(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  (void)nargs;
  return move_rows(&tiles[0], &tiles[1], &tiles[2], &tiles[3], cut_of(params), lo, hi, false);
}

static lgt_status mask_place(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  (void)nargs;
  return move_rows(&tiles[1], &tiles[0], &tiles[2], &tiles[3], cut_of(params), lo, hi, true);
}

static bool has_elements(const lgt_tile *mask, int64_t rows) {
  for (int d = 1; d < mask->ndim; d++)
    if (mask->extent[d] <= 0) return false;
  return rows > 0;
}

int64_t lgt_select_pick(const lgt_tile *list, const lgt_tile *mask, const lgt_tile *data) {
  pairing p = rows_of(mask, data, 0, mask->extent[0]);
  return has_elements(mask, mask->extent[0]) ? move(&p, list->data, list->extent[0], false) : 0;
}

static lgt_status mask_pick(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  (void)nargs, (void)params, (void)hi;
  if (lo > 0) return LGT_OK; /* the first chunk sees to all */
  lgt_select_pick(&tiles[0], &tiles[1], &tiles[2]);
  return LGT_OK;
}

/* ---- positions ------------------------------------------------------------------------------------------- */

/* The positions of what is true in rows [lo, hi) of the mask, of which `found` elements were true before; how many there are
 * then.  The rows have elements. */
static int64_t list_rows(const lgt_tile *mask, const lgt_tile *lists, int64_t found, int64_t lo, int64_t hi) {
  int64_t index[LGT_MAX_DIM] = {0}, at = 0, extent[LGT_MAX_DIM];
  const int64_t *stride = mask->stride;
  int last = mask->ndim - 1;
  for (int d = 0; d <= last; d++) extent[d] = d ? mask->extent[d] : hi - lo;
  const uint8_t *first = (const uint8_t *)mask->data + lo * stride[0];
  do {
    const uint8_t *line = first + at;
    int64_t n = count_line(line, stride[last], extent[last]);
    if (n)
      list_line(line, stride[last], last ? 0 : mask->origin[0] + lo, extent[last],
                (int64_t *)lists[last].data + found, n);
    for (int d = 0; d < last; d++) {
      int64_t position = index[d] + (d ? 0 : mask->origin[0] + lo) + 1;
      for (int64_t i = found; i < found + n; i++) ((int64_t *)lists[d].data)[i] = position;
    }
    found += n;
  } while (lgt_index_next(last, extent, index, 1, &at, &stride));
  return found;
}

static lgt_status mask_positions(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  const lgt_tile *mask = &tiles[0];
  (void)nargs;
  if (!has_elements(mask, hi - lo)) return LGT_OK;
  list_rows(mask, &tiles[2], picked_before(mask, &tiles[1], cut_of(params), mask->origin[0] + lo), lo, hi);
  return LGT_OK;
}

int64_t lgt_select_list(const lgt_tile *lists, const lgt_tile *mask) {
  return has_elements(mask, mask->extent[0]) ? list_rows(mask, lists, 0, 0, mask->extent[0]) : 0;
}

static lgt_status mask_list(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  (void)nargs, (void)params, (void)hi;
  if (lo > 0) return LGT_OK; /* the first chunk sees to all */
  *(int64_t *)tiles[1].data = lgt_select_list(&tiles[2], &tiles[0]);
  return LGT_OK;
}

const lgt_builtin lgt_select_builtins[] = {{"mask_bounds", mask_bounds},
                                           {"mask_select", mask_select},
                                           {"mask_place", mask_place},
                                           {"mask_positions", mask_positions},
                                           {0}};

/* They are infallible (kind.h). */
const lgt_builtin lgt_pick_builtins[] = {
    {"mask_count", mask_count}, {"mask_pick", mask_pick}, {"mask_list", mask_list}, {0}};
