/* thin.c - see thin.h. */
#include "memory/thin.h"

#include <string.h>

enum { FEW = 4 }; /* a block that had a page more for each so many that are noted still serves */

static int64_t words(const lgt_thin *thin) {
  return (thin->span + 64 * LGT_THIN_PAGE - 1) / (64 * LGT_THIN_PAGE);
}

static bool is_noted(const lgt_thin *thin, int64_t page) { return thin->page[page / 64] >> page % 64 & 1; }

lgt_thin *lgt_thin_new(int64_t span) {
  lgt_thin *thin = lgt_mem_zalloc(sizeof *thin);
  if (!thin) return NULL;
  thin->span = span;
  thin->page = lgt_mem_zalloc((size_t)words(thin) * sizeof *thin->page);
  if (thin->page) return thin;
  lgt_mem_free(thin);
  return NULL;
}

void lgt_thin_free(lgt_thin *thin) {
  if (!thin) return;
  lgt_mem_release(thin->data, (size_t)thin->span);
  lgt_mem_free(thin->page);
  lgt_mem_free(thin);
}

int64_t lgt_thin_note(lgt_thin *thin, int64_t lo, int64_t hi) {
  int64_t before = thin->count;
  for (int64_t p = lo / LGT_THIN_PAGE; p * LGT_THIN_PAGE < hi; p++) {
    uint64_t bit = 1ull << p % 64;
    thin->count += !(thin->page[p / 64] & bit);
    thin->page[p / 64] |= bit;
  }
  return (thin->count - before) * LGT_THIN_PAGE;
}

int64_t lgt_thin_lacks(const lgt_thin *thin, const lgt_thin *other) {
  int64_t more = 0;
  for (int64_t i = 0; i < words(thin); i++) more += __builtin_popcountll(other->page[i] & ~thin->page[i]);
  return more * LGT_THIN_PAGE;
}

void lgt_thin_join(lgt_thin *thin, const lgt_thin *other) {
  thin->count += lgt_thin_lacks(thin, other) / LGT_THIN_PAGE;
  for (int64_t i = 0; i < words(thin); i++) thin->page[i] |= other->page[i];
}

void lgt_thin_drop(lgt_thin *thin, const lgt_thin *other) {
  int64_t pages = (thin->span + LGT_THIN_PAGE - 1) / LGT_THIN_PAGE, end;
  for (int64_t p = 0; p < pages; p = end + 1) {
    for (end = p; end < pages && is_noted(thin, end) && !is_noted(other, end); end++)
      thin->page[end / 64] &= ~(1ull << end % 64);
    if (end > p) lgt_mem_forget(thin->data + p * LGT_THIN_PAGE, (size_t)((end - p) * LGT_THIN_PAGE));
    thin->count -= end - p;
  }
}

bool lgt_thin_map(lgt_thin *thin) { return (thin->data = lgt_mem_reserve((size_t)thin->span)) != NULL; }

bool lgt_thin_fits(const lgt_thin *thin, const lgt_thin *former) {
  return former->span == thin->span && lgt_thin_lacks(thin, former) <= lgt_thin_bytes(thin) / FEW;
}

void lgt_thin_succeed(lgt_thin *thin, lgt_thin *former) {
  lgt_thin_join(thin, former);
  thin->data = former->data;
  former->data = NULL;
  lgt_thin_free(former);
}

void lgt_thin_fill(lgt_thin *thin, int byte) {
  for (int64_t p = 0; p * LGT_THIN_PAGE < thin->span; p++) {
    int64_t left = thin->span - p * LGT_THIN_PAGE;
    if (is_noted(thin, p))
      memset(thin->data + p * LGT_THIN_PAGE, byte, (size_t)(left < LGT_THIN_PAGE ? left : LGT_THIN_PAGE));
  }
}
