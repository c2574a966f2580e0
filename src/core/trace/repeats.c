/* repeats.c - see repeats.h. */
#include "trace/repeats.h"

#include <string.h>

#include "base/mem.h"

/* A candidate: `length` tokens from `start` on.  `string` is the number of the string that these are: of all candidates of one
 * length it is equal for equal strings, and ascends with the strings. */
typedef struct candidate {
  int length, string, start;
} candidate;

typedef struct finder {
  const uint64_t *token;
  int n;
  int *suffix;  /* suffixes in order */
  int *rank;    /* the place of each suffix in that order */
  int *common;  /* by place: how long the prefix is that a suffix shares with the next one */
  int *spare;   /* n numbers, and ... */
  int *counter; /* ... n + 1 more */
  candidate *candidate, *sorted;
  int ncandidate;
  int64_t moves;
} finder;

/* ---- sorting ---------------------------------------------------------------------------------------------- */

/* Stable: `in` becomes `out`, by a number from 0 to most. */
static void sort_candidates(finder *f, const candidate *in, candidate *out, int (*key)(const candidate *),
                            int most) {
  memset(f->counter, 0, ((size_t)most + 2) * sizeof *f->counter);
  for (int i = 0; i < f->ncandidate; i++) f->counter[key(&in[i]) + 1]++;
  for (int k = 0; k < most; k++) f->counter[k + 1] += f->counter[k];
  for (int i = 0; i < f->ncandidate; i++) out[f->counter[key(&in[i])]++] = in[i];
  f->moves += f->ncandidate;
}

/* Suffixes in `order` by rank, stable, into `suffix`. */
static void sort_by_rank(finder *f, const int *order, int classes) {
  memset(f->counter, 0, ((size_t)classes + 1) * sizeof *f->counter);
  for (int i = 0; i < f->n; i++) f->counter[f->rank[i] + 1]++;
  for (int c = 0; c < classes; c++) f->counter[c + 1] += f->counter[c];
  for (int i = 0; i < f->n; i++) f->suffix[f->counter[f->rank[order[i]]]++] = order[i];
  f->moves += f->n;
}

static void merge_tokens(finder *f, int *from, int *to, int width) {
  for (int lo = 0; lo < f->n; lo += 2 * width) {
    int middle = lo + width < f->n ? lo + width : f->n, hi = lo + 2 * width < f->n ? lo + 2 * width : f->n;
    for (int a = lo, b = middle, at = lo; at < hi; at++) {
      bool left = b >= hi || (a < middle && f->token[from[a]] <= f->token[from[b]]);
      to[at] = left ? from[a++] : from[b++];
    }
  }
  f->moves += f->n;
}

/* Positions by token into `suffix`; returns how many tokens differ, whose numbers become the ranks. */
static int rank_tokens(finder *f) {
  int *from = f->suffix, *to = f->spare, classes = 0;
  for (int i = 0; i < f->n; i++) from[i] = i;
  for (int width = 1; width < f->n; width *= 2) {
    merge_tokens(f, from, to, width);
    int *other = from;
    from = to;
    to = other;
  }
  if (from != f->suffix) memcpy(f->suffix, from, (size_t)f->n * sizeof *from);
  for (int i = 0; i < f->n; i++) {
    bool differs = i == 0 || f->token[f->suffix[i]] != f->token[f->suffix[i - 1]];
    f->rank[f->suffix[i]] = (classes += differs) - 1;
  }
  return classes;
}

/* The second half of a suffix's first 2 * width tokens; -1: it is at the end. */
static int second(const finder *f, int i, int width) { return i + width < f->n ? f->rank[i + width] : -1; }

/* Prefix doubling: by the first `width` tokens suffixes are sorted; then by twice as many. */
static void sort_suffixes(finder *f) {
  int classes = rank_tokens(f), n = f->n;
  for (int width = 1; classes < n; width *= 2) {
    int at = 0;
    for (int i = n - width < 0 ? 0 : n - width; i < n; i++) f->spare[at++] = i;
    for (int i = 0; i < n; i++)
      if (f->suffix[i] >= width) f->spare[at++] = f->suffix[i] - width;
    sort_by_rank(f, f->spare, classes);
    classes = 0;
    for (int i = 0; i < n; i++) {
      int a = f->suffix[i], b = i ? f->suffix[i - 1] : 0;
      bool differs = i == 0 || f->rank[a] != f->rank[b] || second(f, a, width) != second(f, b, width);
      f->spare[a] = (classes += differs) - 1;
    }
    int *other = f->rank;
    f->rank = f->spare;
    f->spare = other;
  }
}

/* In the order of the stream a suffix shares with its neighbour at most one token fewer than the one before (T. Kasai et al.,
 * CPM 2001). */
static void find_common(finder *f) {
  for (int i = 0, same = 0; i < f->n; i++) {
    int place = f->rank[i];
    if (place == f->n - 1) {
      f->common[place] = same = 0;
      continue;
    }
    int next = f->suffix[place + 1];
    while (i + same < f->n && next + same < f->n && f->token[i + same] == f->token[next + same]) same++;
    f->common[place] = same;
    if (same > 0) same--;
  }
}

/* ---- candidates ------------------------------------------------------------------------------------------- */

static void add(finder *f, int length, int start) {
  f->candidate[f->ncandidate++] = (candidate){.length = length, .start = start};
}

static void list_candidates(finder *f, int shortest, int longest) {
  for (int i = 0; i + 1 < f->n; i++) {
    int a = f->suffix[i], b = f->suffix[i + 1], first = a < b ? a : b, distance = a < b ? b - a : a - b;
    int length = f->common[i], second_start = first + distance;
    bool overlap = length > distance && distance < longest;
    if (overlap) length = (length + distance) / 2; /* the first `distance` tokens again and again */
    if (length > longest) length = longest;
    if (overlap) {
      length -= length % distance;
      second_start = first + length;
    }
    if (length < shortest) continue;
    add(f, length, first);
    add(f, length, second_start);
  }
}

static int root_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static int by_start(const candidate *c) { return c->start; }
static int by_length(const candidate *c) { return c->length; }
static int by_string(const candidate *c) { return c->string; }

/* Suffixes that share `length` tokens stand together: their string is the number of the first of them.  `places`: by what they
 * share with the next one, least first; `parent`: sets of places. */
static void number_strings(finder *f, const int *places, int *parent) {
  int next = f->n - 1;
  for (int i = 0; i < f->n; i++) parent[i] = i;
  for (int i = f->ncandidate - 1; i >= 0; i--) {
    candidate *c = &f->candidate[i];
    for (; next >= 0 && f->common[places[next]] >= c->length; next--) {
      int a = root_of(parent, places[next]), b = root_of(parent, places[next] + 1);
      parent[a > b ? a : b] = a < b ? a : b;
    }
    c->string = root_of(parent, f->rank[c->start]);
  }
}

/* Places by what they share with the next one, into `spare`. */
static void sort_common(finder *f) {
  memset(f->counter, 0, ((size_t)f->n + 1) * sizeof *f->counter);
  for (int i = 0; i < f->n; i++) f->counter[f->common[i] + 1]++;
  for (int k = 0; k < f->n; k++) f->counter[k + 1] += f->counter[k];
  for (int i = 0; i < f->n; i++) f->spare[f->counter[f->common[i]]++] = i;
  f->moves += f->n;
}

/* By length, then string, then start. */
static void sort_all(finder *f) {
  sort_candidates(f, f->candidate, f->sorted, by_length, f->n);
  candidate *by_lengths = f->sorted;
  f->sorted = f->candidate;
  f->candidate = by_lengths;
  sort_common(f);
  number_strings(f, f->spare, f->suffix); /* the order is not needed any more */
  sort_candidates(f, f->candidate, f->sorted, by_start, f->n);
  sort_candidates(f, f->sorted, f->candidate, by_string, f->n);
  sort_candidates(f, f->candidate, f->sorted, by_length, f->n);
}

/* ---- choice ----------------------------------------------------------------------------------------------- */

/* The candidates of one string, `c` to `end`: those whose place is free. */
static void choose_places(const candidate *c, const candidate *end, bool *taken, int *nplace,
                          lgt_repeats *out) {
  lgt_repeat repeat = {.length = c->length, .first = *nplace};
  for (; c < end; c++) {
    /* What was taken before is at least as long. */
    if (taken[c->start] || taken[c->start + c->length - 1]) continue;
    memset(taken + c->start, true, (size_t)c->length);
    out->place[(*nplace)++] = c->start;
  }
  repeat.count = *nplace - repeat.first;
  if (repeat.count) out->repeat[out->count++] = repeat;
}

static void choose(const finder *f, bool *taken, lgt_repeats *out) {
  int nplace = 0;
  for (int end = f->ncandidate; end > 0;) { /* the longest come last */
    int length = f->sorted[end - 1].length, first = end;
    while (first > 0 && f->sorted[first - 1].length == length) first--;
    for (int i = first, k; i < end; i = k) {
      for (k = i + 1; k < end && f->sorted[k].string == f->sorted[i].string;) k++;
      choose_places(&f->sorted[i], &f->sorted[k], taken, &nplace, out);
    }
    end = first;
  }
}

lgt_status lgt_repeats_find(const uint64_t *token, int n, int shortest, int longest, lgt_repeats *out) {
  *out = (lgt_repeats){0};
  if (n < 2 * shortest || shortest < 1 || longest < shortest) return LGT_OK;
  size_t many = (size_t)n;
  finder f = {.token = token, .n = n};
  int *numbers = lgt_mem_alloc((5 * many + 2) * sizeof *numbers);
  candidate *candidates = lgt_mem_alloc(4 * many * sizeof *candidates);
  bool *taken = lgt_mem_zalloc(many);
  out->repeat = lgt_mem_alloc((many / (size_t)shortest + 1) * sizeof *out->repeat);
  out->place = lgt_mem_alloc((many / (size_t)shortest + 1) * sizeof *out->place);
  bool good = numbers && candidates && taken && out->repeat && out->place;
  if (good) {
    f.suffix = numbers;
    f.rank = numbers + many;
    f.common = f.rank + many;
    f.spare = f.common + many;
    f.counter = f.spare + many;
    f.candidate = candidates;
    f.sorted = candidates + 2 * many;
    sort_suffixes(&f);
    find_common(&f);
    list_candidates(&f, shortest, longest);
    sort_all(&f);
    choose(&f, taken, out);
    out->moves = f.moves;
  }
  lgt_mem_free(numbers);
  lgt_mem_free(candidates);
  lgt_mem_free(taken);
  if (good) return LGT_OK;
  lgt_repeats_fini(out);
  return lgt_err(LGT_NO_MEMORY, "out of memory to look for what repeats");
}

void lgt_repeats_fini(lgt_repeats *repeats) {
  lgt_mem_free(repeats->repeat);
  lgt_mem_free(repeats->place);
  *repeats = (lgt_repeats){0};
}
