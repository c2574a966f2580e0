/* fusion.h - for C tests of plans: vectors on which launches work, and what their plans look like.
 *
 * Whether fused programs compute the right values is test_runtime's question; these tests look at values too, but the point
 * is what they cost.
 */
#ifndef LGT_TEST_FUSION_H
#define LGT_TEST_FUSION_H

#include <math.h>

#include "base/mem.h"
#include "check.h"
#include "engine.h"
#include "runtime/runtime.h"

enum { N = 1000 };

static lgt_runtime *rt;
static double buffer[4 * N];

__attribute__((unused)) static lgt_id vector(int64_t n) { return array_of(rt, LGT_FLOAT64, 1, &n); }

/* A vector that holds f(i). */
__attribute__((unused)) static lgt_id filled(int64_t n, double scale, double shift) {
  lgt_id id = vector(n);
  for (int64_t i = 0; i < n; i++) buffer[i] = scale * (double)i + shift;
  return lgt_array_copy_in(rt, id, buffer) ? 0 : id;
}

__attribute__((unused)) static double value_at(lgt_id array, int64_t i) {
  static double got[4 * N];
  return lgt_array_copy_out(rt, array, got) ? NAN : got[i];
}

__attribute__((unused)) static lgt_id apply(const char *text, lgt_id a, lgt_id b) {
  int64_t n = lgt_front_of(rt)->layouts[LAYOUT(rt, a)].size;
  lgt_id out = vector(n);
  int kind = kind_of(rt, LGT_FLOAT64, text);
  lgt_status status = b ? launch(rt, kind, 3, out, a, b) : launch(rt, kind, 2, out, a);
  return status ? 0 : out;
}

/* The same, and the operands that are not kept die as Python's temporaries do. */
__attribute__((unused)) static lgt_id apply_drop(const char *text, lgt_id a, lgt_id b) {
  lgt_id out = apply(text, a, b);
  lgt_array_free(rt, a);
  if (b && b != a) lgt_array_free(rt, b);
  return out;
}

/* The plan of so many calls; NULL unless there is exactly one. */
__attribute__((unused)) static const lgt_plan *plan_of(int ncall) {
  const lgt_plan *found = NULL;
  for (uint32_t i = 0; i <= rt->fuser.mask; i++) {
    const lgt_plan *p = rt->fuser.table[i];
    if (!p || p->ncall != ncall) continue;
    if (found) return NULL;
    found = p;
  }
  return found;
}

__attribute__((unused)) static lgt_store *store_of(lgt_id x) {
  return lgt_store_at(&rt->stores, lgt_front_of(rt)->handles[x].store);
}

__attribute__((unused)) static int loops_of(const lgt_plan *plan) {
  int n = 0;
  for (int g = 0; g < plan->ngroup; g++) n += plan->group[g].nloop;
  return n;
}

/* Memory that the groups need beyond what was there before. */
__attribute__((unused)) static int new_slots(const lgt_plan *plan) {
  int n = 0;
  for (int g = 0; g < plan->ngroup; g++)
    for (int s = 0; s < plan->group[g].nslot; s++) n += !plan->group[g].slot[s].initial;
  return n;
}

__attribute__((unused)) static void open_plain(void) {
  if (open_with(&rt, "cpus", "1", "check", "1", NULL)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
}
/* Domains that compute what others do, too, if that takes less than so many microseconds. */
__attribute__((unused)) static void open_widening(const char *widen) {
  if (open_with(&rt, "cpus", "1", "check", "1", "domains", "2", "min_tile", "1", "widen", widen, NULL))
    check_fail(__FILE__, __LINE__, "%s", lgt_message());
}
__attribute__((unused)) static void open_domains(void) { open_widening("0"); }

#endif
