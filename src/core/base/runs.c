/* runs.c - see runs.h. */
#include "base/runs.h"

#include <string.h>

lgt_runs *lgt_runs_new(int64_t count) {
  lgt_runs *runs = lgt_mem_alloc(sizeof *runs + (size_t)count * sizeof *runs->run);
  if (!runs) return lgt_err(LGT_NO_MEMORY, "out of memory for %lld positions", (long long)count), NULL;
  *runs = (lgt_runs){.refs = 1, .count = count};
  return runs;
}

void lgt_runs_release(lgt_runs *runs) {
  if (runs && --runs->refs == 0) lgt_mem_free(runs);
}

/* The first bit from `at` on that is `set`, or not; n: there is none. */
static int64_t next_bit(const uint64_t *bits, int64_t at, int64_t n, bool set) {
  while (at < n) {
    uint64_t word = (set ? bits[at / 64] : ~bits[at / 64]) >> (at % 64);
    if (word) {
      at += __builtin_ctzll(word);
      return at < n ? at : n;
    }
    at += 64 - at % 64;
  }
  return n;
}

lgt_runs *lgt_runs_of_bits(const uint64_t *bits, int64_t first, int64_t n) {
  int64_t count = 0;
  for (int64_t at = 0; (at = next_bit(bits, at, n, true)) < n; count++) at = next_bit(bits, at, n, false);
  lgt_runs *runs = lgt_runs_new(count);
  if (!runs) return NULL;
  int64_t at = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t lo = next_bit(bits, at, n, true);
    at = next_bit(bits, lo, n, false);
    runs->run[i][0] = first + lo;
    runs->run[i][1] = first + at;
    runs->total += at - lo;
  }
  return runs;
}

/* The first run that ends behind a position. */
static int64_t search(const lgt_runs *runs, int64_t position) {
  int64_t lo = 0, hi = runs->count;
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    if (runs->run[middle][1] > position) hi = middle;
    else lo = middle + 1;
  }
  return lo;
}

lgt_runs *lgt_runs_within(const lgt_runs *runs, int64_t lo, int64_t hi) {
  int64_t first = search(runs, lo), end = first;
  while (lo < hi && end < runs->count && runs->run[end][0] < hi) end++;
  lgt_runs *out = lgt_runs_new(end - first);
  if (!out) return NULL;
  for (int64_t i = first; i < end; i++) {
    int64_t *run = out->run[i - first];
    run[0] = runs->run[i][0] > lo ? runs->run[i][0] : lo;
    run[1] = runs->run[i][1] < hi ? runs->run[i][1] : hi;
    out->total += run[1] - run[0];
  }
  return out;
}

lgt_runs *lgt_runs_along(const lgt_runs *runs, int64_t begin, int64_t step) {
  bool apart = step != 1 && step != -1;
  lgt_runs *out = lgt_runs_new(apart ? runs->total : runs->count);
  if (!out) return NULL;
  out->total = runs->total;
  int64_t n = 0;
  for (int64_t i = 0; i < runs->count; i++) {
    const int64_t *run = runs->run[step > 0 ? i : runs->count - 1 - i];
    if (!apart) {
      out->run[n][0] = begin + (step > 0 ? run[0] : 1 - run[1]);
      out->run[n][1] = out->run[n][0] + run[1] - run[0];
      n++;
    }
    for (int64_t k = 0; apart && k < run[1] - run[0]; k++, n++) {
      out->run[n][0] = begin + (step > 0 ? run[0] + k : run[1] - 1 - k) * step;
      out->run[n][1] = out->run[n][0] + 1;
    }
  }
  return out;
}

/* Into `out`, unless it is NULL.  How many there are. */
static int64_t merge(const lgt_runs *runs, int64_t gap, lgt_runs *out) {
  int64_t n = 0, end = 0;
  for (int64_t i = 0; i < runs->count; i++) {
    const int64_t *run = runs->run[i];
    bool apart = !n || run[0] - end >= gap;
    n += apart;
    if (out && apart) out->run[n - 1][0] = run[0];
    if (out) out->run[n - 1][1] = run[1], out->total += run[1] - (apart ? run[0] : end);
    end = run[1];
  }
  return n;
}

lgt_runs *lgt_runs_merged(const lgt_runs *runs, int64_t gap) {
  lgt_runs *out = lgt_runs_new(merge(runs, gap, NULL));
  if (out) merge(runs, gap, out);
  return out;
}
