/* sparse_buckets.h - the kernels of sparse_shape.c that order many triplets, whose places are far apart, in two steps: into
 * buckets of neighbouring keys, then each bucket, in a cache.  A part of the template sparse_moves.h.
 *
 * Between the steps a triplet is one record, so that a bucket is one place to write to.  Records of a bucket are collected
 * in a group, which fills whole cache lines and goes to memory past the caches: nothing is read before it is written.
 */

typedef struct NAME(record) {
  W value;
  I other, key;
} NAME(record);

/* Records of a group: a power of two, and whole cache lines of them. */
enum { NAME(group) = GROUP_BYTES / (sizeof(NAME(record)) & -sizeof(NAME(record))) };

/* The records of a bucket's group in front of `next`, which go behind `begin`, where this part's records begin. */
static inline void NAME(flush)(NAME(record) * packed, const NAME(record) * group, int64_t begin, int64_t next) {
  int64_t first = (next - 1) / NAME(group) * NAME(group);
  if (next == first + NAME(group) && begin <= first) {
    stream(packed + first, group, sizeof *group * NAME(group));
  } else {
    int64_t skipped = begin > first ? begin - first : 0;
    memcpy(packed + first + skipped, group + skipped, (size_t)(next - first - skipped) * sizeof *group);
  }
}

/* The entries [k, past) to their buckets, all of row `row`, or (rows not NULL) each of its own. */
ALWAYS_INLINE void NAME(spread)(NAME(record) * packed, NAME(record) * groups, const I *begin, I *next, const I *key,
                                const I *rows, I row, const W *data, int shift, int64_t k, int64_t past) {
  for (; k < past; k++) {
    I bucket = key[k] >> shift, at = next[bucket]++;
    NAME(record) *group = groups + (int64_t)bucket * NAME(group);
    group[at & (NAME(group) - 1)] = (NAME(record)){data[k], rows ? rows[k] : row, key[k]};
    if (((at + 1) & (NAME(group) - 1)) == 0) NAME(flush)(packed, group, begin[bucket], (int64_t)at + 1);
  }
}

/* The row of entry k, if rows begin at pos[0 ... m - 1]. */
static inline int64_t NAME(row_of)(const lgt_tile *pos, int64_t k) {
  int64_t row = 0, m = pos->extent[0] - 1;
  for (int64_t past = m; row + 1 < past;) { /* the last one that begins at k or before */
    int64_t middle = row + (past - row) / 2;
    if (LGT_AT(const I, pos, middle) <= k) row = middle;
    else past = middle;
  }
  return row;
}

static lgt_status NAME(coo_spread)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  int64_t n, count = t[3].extent[0];
  NAME(record) *packed = t[2].data;
  const I *key = t[3].data, *other = t[4].data;
  const W *data = t[5].data;
  int shift = (int)params[2].f;
  bool by_rows = params[4].f != 0;
  (void)nargs;
  for (int64_t q = (lo + PART - 1) / PART; q * PART < hi; q++) {
    NAME(piece) x = NAME(piece_at)(q, params, count, NULL);
    I *next = NAME(sums_of)(&t[1], &x, params, &n);
    size_t bytes = (size_t)n * NAME(group) * sizeof(NAME(record));
    NAME(record) *groups = lgt_scratch_alloc(bytes + (size_t)n * sizeof *next);
    if (!groups) return LGT_NO_MEMORY;
    I *begin = memcpy((char *)groups + bytes, next, (size_t)n * sizeof *next);
    if (by_rows) {
      for (int64_t k = x.first, row = NAME(row_of)(&t[4], k); k < x.past; row++) {
        int64_t past = LGT_AT(const I, &t[4], row + 1);
        if (past > x.past) past = x.past;
        NAME(spread)(packed, groups, begin, next, key, NULL, (I)row, data, shift, k, past);
        k = past;
      }
    } else {
      NAME(spread)(packed, groups, begin, next, key, other, 0, data, shift, x.first, x.past);
    }
    for (int64_t i = 0; i < n; i++)
      if (next[i] > begin[i] && next[i] % NAME(group))
        NAME(flush)(packed, groups + i * NAME(group), begin[i], next[i]);
    _mm_sfence();
    lgt_scratch_free(groups);
  }
  return LGT_OK;
}

/* A bucket's records by their keys: into a place of their own, which stays in a cache, and from there to memory. */
static lgt_status NAME(coo_gather)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  I *pos = t[1].data, *crd = t[2].data;
  W *vals = t[3].data;
  const NAME(record) *packed = t[5].data;
  int64_t n = t[1].extent[0] - 1, width = (int64_t)1 << (int)params[0].f, most = 0;
  (void)nargs;
  lo = (lo + PART - 1) / PART, hi = (hi + PART - 1) / PART;
  for (int64_t i = lo; i < hi; i++) {
    int64_t count = LGT_AT(const I, &t[4], i + 1) - LGT_AT(const I, &t[4], i);
    if (count > most && count <= IN_CACHE) most = count;
  }
  size_t bytes = (size_t)(most + 4) * (sizeof *vals + sizeof *crd) + (size_t)width * sizeof *pos;
  W *room = lgt_scratch_alloc(bytes);
  if (!room) return LGT_NO_MEMORY;
  I *columns = (I *)(room + (most + 3) / 4 * 4), *next = columns + most;
  for (int64_t i = lo; i < hi; i++) {
    int64_t low = i * width, high = low + width < n ? low + width : n;
    int64_t first = LGT_AT(const I, &t[4], i), count = LGT_AT(const I, &t[4], i + 1) - first;
    const NAME(record) *from = packed + first;
    bool cached = count <= most;
    I *c = cached ? columns : crd + first, at = 0;
    W *v = cached ? room : vals + first;
    memset(next, 0, (size_t)width * sizeof *next);
    for (int64_t k = 0; k < count; k++) next[from[k].key - low]++;
    for (int64_t j = low; j < high; j++) {
      I here = next[j - low];
      pos[j] = (I)(first + at);
      next[j - low] = at;
      at = (I)(at + here);
    }
    if (high == n) pos[n] = (I)(first + at);
    for (int64_t k = 0; k < count; k++) {
      I to = next[from[k].key - low]++;
      c[to] = from[k].other;
      v[to] = from[k].value;
    }
    if (!cached) continue;
    stream_out(crd + first, columns, (size_t)count * sizeof *crd);
    stream_out(vals + first, room, (size_t)count * sizeof *vals);
  }
  _mm_sfence();
  lgt_scratch_free(room);
  return LGT_OK;
}
