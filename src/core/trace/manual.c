/* manual.c - see manual.h. */
#include "trace/manual.h"

#include <string.h>

enum { MOST_TRACES = 256, MOST_LAUNCHES = 1 << 14 }; /* the one that was begun longest ago makes room */
enum { MOST_OF_ONE = 1 << 15 };                      /* launches: a longer trace is not kept */

/* ---- the set of traces ------------------------------------------------------------------------------------ */

static void forget_launches(lgt_manual *manual, lgt_manual_trace *t) {
  for (int i = 0; i < t->count; i++) lgt_trace_free(t->window[i]);
  manual->launches -= t->launches;
  t->count = t->launches = 0;
}

static void remove_trace(lgt_manual *manual, int i) {
  lgt_manual_trace *t = manual->trace[i];
  forget_launches(manual, t);
  lgt_mem_free(t->window);
  lgt_mem_free(t->launch);
  lgt_mem_free(t->name);
  lgt_mem_free(t);
  manual->trace[i] = manual->trace[--manual->count];
}

void lgt_manual_fini(lgt_manual *manual) {
  while (manual->count) remove_trace(manual, manual->count - 1);
  lgt_mem_free(manual->trace);
  *manual = (lgt_manual){0};
}

/* Room for one more trace, and for its launches. */
static void make_room(lgt_manual *manual) {
  while (manual->count >= MOST_TRACES || (manual->count && manual->launches > MOST_LAUNCHES)) {
    int oldest = 0;
    for (int i = 1; i < manual->count; i++)
      if (manual->trace[i]->used < manual->trace[oldest]->used) oldest = i;
    remove_trace(manual, oldest);
  }
}

static lgt_manual_trace *find(const lgt_manual *manual, const char *name) {
  for (int i = 0; i < manual->count; i++)
    if (!strcmp(manual->trace[i]->name, name)) return manual->trace[i];
  return NULL;
}

static lgt_manual_trace *add(lgt_manual *manual, const char *name) {
  make_room(manual);
  lgt_manual_trace *t = lgt_mem_zalloc(sizeof *t);
  char *copy = lgt_mem_alloc(strlen(name) + 1);
  if (!t || !copy ||
      !lgt_mem_grow((void **)&manual->trace, &manual->room, manual->count + 1, sizeof *manual->trace)) {
    lgt_mem_free(t);
    lgt_mem_free(copy);
    return NULL;
  }
  memcpy(copy, name, strlen(name) + 1);
  t->name = copy;
  return manual->trace[manual->count++] = t;
}

/* ---- the one that is under way ---------------------------------------------------------------------------- */

lgt_status lgt_manual_begin(lgt_manual *manual, const char *name, int target) {
  if (manual->now) {
    manual->inner++;
    return LGT_OK;
  }
  lgt_manual_trace *t = find(manual, name);
  if (!t) t = add(manual, name);
  if (!t) return lgt_err(LGT_NO_MEMORY, "out of memory for a trace");
  if (t->target < target) forget_launches(manual, t);
  t->target = target;
  t->used = ++manual->begun;
  manual->now = t;
  manual->recording = t->count == 0;
  manual->window = manual->at = 0;
  manual->difference = (lgt_manual_difference){.at = -1};
  return LGT_OK;
}

static void differ(lgt_manual *manual, lgt_manual_launch is, bool looked) {
  const lgt_manual_trace *t = manual->now;
  lgt_manual_difference *d = &manual->difference;
  d->at = manual->at;
  if (d->at < t->launches) d->expected = t->launch[d->at];
  else d->last = t->launch[t->launches - 1];
  d->is = is;
  d->looked = looked;
}

bool lgt_manual_end(lgt_manual *manual, bool whole) {
  lgt_manual_trace *t = manual->now;
  if (!t || manual->inner-- > 0) return false;
  manual->inner = 0;
  if (whole && !manual->recording && manual->difference.at < 0 && manual->at < t->launches)
    differ(manual, (lgt_manual_launch){0}, false);
  bool differs = manual->difference.at >= 0;
  if (differs || (manual->recording && !whole)) forget_launches(manual, t);
  manual->now = NULL;
  return differs && whole;
}

void lgt_manual_abandon(lgt_manual *manual) {
  if (manual->now && manual->recording) forget_launches(manual, manual->now);
  manual->now = NULL;
  manual->inner = 0;
}

lgt_trace *lgt_manual_next(lgt_manual *manual, const lgt_window *window, int n) {
  lgt_manual_trace *t = manual->now;
  if (!t || manual->recording || manual->difference.at >= 0) return NULL;
  lgt_trace *next = manual->window < t->count ? t->window[manual->window] : NULL;
  int length = next ? next->length : 0, at = manual->at;
  for (int i = 0; i < n && i < length + !length; i++) {
    if (i < length && window->token[i] == next->token[i]) continue;
    manual->at = at + i;
    differ(manual, (lgt_manual_launch){window->call[i].kind, window->call[i].line}, false);
    return NULL;
  }
  if (n >= length) return next;
  manual->at = at + n;
  differ(manual, (lgt_manual_launch){0}, true);
  return NULL;
}

/* One more window of a trace that is recorded. */
static bool keep(lgt_manual *manual, const lgt_window *window, int n, bool look, lgt_plan *plan,
                 uint64_t pattern, uint32_t id) {
  lgt_manual_trace *t = manual->now;
  if (!lgt_mem_grow((void **)&t->window, &t->room, t->count + 1, sizeof *t->window) ||
      !lgt_mem_grow((void **)&t->launch, &t->launch_room, t->launches + n, sizeof *t->launch))
    return false;
  lgt_trace *trace = lgt_trace_new(id, window->token, n, look);
  if (!trace) return false;
  if (lgt_plan_serves_again(plan)) lgt_trace_keep(trace, plan, pattern);
  t->window[t->count++] = trace;
  for (int i = 0; i < n; i++)
    t->launch[t->launches++] = (lgt_manual_launch){window->call[i].kind, window->call[i].line};
  manual->launches += n;
  return true;
}

lgt_status lgt_manual_planned(lgt_manual *manual, const lgt_window *window, int n, bool look, lgt_plan *plan,
                              uint64_t pattern, uint32_t id) {
  if (!manual->now || manual->difference.at >= 0) return LGT_OK;
  if (manual->recording && manual->now->launches + n > MOST_OF_ONE) {
    lgt_log(TRACE, 2, "trace \"%s\" is too long to be kept", manual->now->name);
    lgt_manual_abandon(manual);
    return LGT_OK;
  }
  if (manual->recording && !keep(manual, window, n, look, plan, pattern, id)) {
    lgt_manual_abandon(manual);
    return lgt_err(LGT_NO_MEMORY, "out of memory for a trace");
  }
  manual->at += n;
  manual->window++;
  return LGT_OK;
}
