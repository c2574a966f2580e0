/* tracer.c - see tracer.h. */
#include "trace/tracer.h"

#include "move/peers.h"

#include <string.h>

enum { MOST_TOKENS = 1 << 13 };

static const struct {
  bool evicts;
  const char *text;
} reasons[LGT_TRACE_REASONS] = {
#define EVICTED               true
#define ABORTED               false
#define X(NAME, event, words) [LGT_TRACE_##NAME] = {event, words},
    LGT_TRACE_REASON_LIST(X)
#undef X
#undef EVICTED
#undef ABORTED
};

static void count(lgt_tracer *tracer, lgt_trace_reason reason, int64_t n) {
  tracer->stats.reason[reason] += n;
  if (n) lgt_log(TRACE, 3, "%s: %s", reasons[reason].evicts ? "evicted" : "aborted", reasons[reason].text);
}

int64_t lgt_tracer_ended(const lgt_tracer *tracer, bool evicted) {
  int64_t sum = 0;
  for (int r = 0; r < LGT_TRACE_REASONS; r++)
    if (reasons[r].evicts == evicted) sum += tracer->stats.reason[r];
  return sum;
}

void lgt_tracer_log(const lgt_tracer *tracer) {
  const lgt_tracer_stats *stats = &tracer->stats;
  lgt_log(TRACE, 1, "%lld of %lld launches replayed in %lld windows, %d traces, %lld recordings",
          (long long)stats->launches, (long long)tracer->base, (long long)stats->replayed,
          tracer->trie.count + tracer->manual.count, (long long)stats->recorded);
  for (int r = 0; r < LGT_TRACE_REASONS; r++)
    if (stats->reason[r])
      lgt_log(TRACE, 1, "%s %lld times: %s", reasons[r].evicts ? "evicted" : "aborted",
              (long long)stats->reason[r], reasons[r].text);
}

/* Each rank has its own. */
static uint64_t seed_of(const lgt_config *config) {
  uint64_t rank = config->peers ? (uint64_t)config->peers->rank : 0;
  return config->jitter ? (uint64_t)config->jitter + (rank << 32) : 0;
}

lgt_status lgt_tracer_init(lgt_tracer *tracer, const lgt_config *config) {
  *tracer = (lgt_tracer){.shortest = config->trace_shortest, .longest = config->trace_longest, .judged = -1};
  lgt_trie_init(&tracer->trie, MOST_TOKENS);
  if (!config->trace) return LGT_OK;
  return lgt_miner_new(&(lgt_miner_options){.sample = config->trace_sample,
                                            .history = config->trace_history,
                                            .shortest = tracer->shortest,
                                            .seed = seed_of(config)},
                       &tracer->miner);
}

void lgt_tracer_fini(lgt_tracer *tracer) {
  lgt_miner_free(tracer->miner);
  lgt_trie_fini(&tracer->trie);
  lgt_manual_fini(&tracer->manual);
  if (tracer->again) lgt_trace_free(tracer->again);
  tracer->again = NULL;
  tracer->miner = NULL;
}

/* ---- which traces there are ------------------------------------------------------------------------------- */

/* Follow the traces there are from the window's beginning on. */
static void follow_again(lgt_tracer *tracer) {
  tracer->next = (lgt_match){0};
  if (lgt_trie_build(&tracer->trie, tracer->base)) tracer->failed = true;
}

/* What is replayed already, be it as a part of a longer window, is no news.  (Not by `replays`, which are a rank's own affair.) */
static bool is_part_of_again(const lgt_tracer *tracer, const lgt_found *f) {
  const lgt_trace *again = tracer->again;
  if (!again || !again->recorded || again->look != f->look) return false;
  if (f->look && again->length != f->length) return false;
  for (int i = 0; i + f->length <= again->length; i++)
    if (!memcmp(again->token + i, f->token, (size_t)f->length * sizeof *f->token)) return true;
  return false;
}

/* True: there are new traces. */
static bool take_in(lgt_tracer *tracer, const lgt_findings *findings) {
  bool some = false;
  tracer->failed |= findings->failed;
  for (int i = 0; i < findings->count; i++) {
    const lgt_found *f = &findings->found[i];
    bool made;
    int evicted;
    if ((tracer->longest && f->length > tracer->longest) || is_part_of_again(tracer, f)) continue;
    if (lgt_trie_add(&tracer->trie, f->token, f->length, f->look, f->count, &made, &evicted))
      tracer->failed = true;
    count(tracer, LGT_TRACE_ROOM, evicted);
    some |= made;
    if (made)
      lgt_log(TRACE, 3, "trace %u: %d launches%s, seen %d times", tracer->trie.last_id, f->length,
              f->look ? " before a look" : "", f->count);
  }
  return some;
}

static bool is_outgrown(const lgt_trace *trace, void *least) {
  return !trace->look && trace->length < *(int *)least;
}

static void forget_outgrown(lgt_tracer *tracer) {
  if (!tracer->outgrown) return;
  int n = lgt_trie_forget(&tracer->trie, is_outgrown, &tracer->outgrown);
  if (n) follow_again(tracer);
  /* The window that was planned last is as long as windows were: half as long as they may be now. */
  if (tracer->again && !tracer->again->look && tracer->again->length <= tracer->outgrown) {
    n += tracer->again->replays > 0;
    lgt_trace_free(tracer->again);
    tracer->again = NULL;
  }
  tracer->outgrown = 0;
  count(tracer, LGT_TRACE_GREW, n);
}

int64_t lgt_tracer_wish(const lgt_tracer *tracer) {
  return tracer->miner ? lgt_miner_wish(tracer->miner) : 0;
}

void lgt_tracer_allow(lgt_tracer *tracer, int64_t launches) {
  if (tracer->miner) lgt_miner_allow(tracer->miner, launches);
}

void lgt_tracer_grew(lgt_tracer *tracer, int window) { tracer->outgrown = window / 2; }

lgt_status lgt_tracer_restart(lgt_tracer *tracer, const lgt_config *config) {
  lgt_tracer_stats stats;
  count(tracer, LGT_TRACE_OPTIONS, tracer->trie.count);
  stats = tracer->stats;
  lgt_tracer_fini(tracer);
  lgt_status status = lgt_tracer_init(tracer, config);
  tracer->stats = stats;
  return status;
}

static void drop_retired(lgt_tracer *tracer, lgt_trace *trace) {
  for (int r = trace->nrecording - 1; r >= 0; r--) {
    if (!trace->recording[r].plan->retired) continue;
    lgt_trace_drop(trace, r);
    count(tracer, LGT_TRACE_RETIRED, 1);
  }
}

void lgt_tracer_sweep(lgt_tracer *tracer) {
  const lgt_manual *manual = &tracer->manual;
  if (tracer->again) drop_retired(tracer, tracer->again);
  for (int i = 0; i < tracer->trie.count; i++) drop_retired(tracer, tracer->trie.trace[i]);
  for (int i = 0; i < manual->count; i++)
    for (int w = 0; w < manual->trace[i]->count; w++) drop_retired(tracer, manual->trace[i]->window[w]);
}

/* ---- where to cut ----------------------------------------------------------------------------------------- */

/* The miner's results are taken in before the launch that they are due at, whenever that one is seen.  True: launches
 * are followed anew. */
static bool show_miner(lgt_tracer *tracer, uint64_t token) {
  const lgt_findings *findings;
  bool some = false;
  while ((findings = lgt_miner_due(tracer->miner))) {
    bool new = take_in(tracer, findings);
    lgt_miner_judge(tracer->miner, new);
    some |= new;
  }
  lgt_miner_token(tracer->miner, token);
  tracer->seen++;
  if (some) follow_again(tracer);
  return some;
}

/* Show the miner all launches before `end`, and go there; false: it has results that are to be taken in before. */
static bool pass_over(lgt_tracer *tracer, const uint64_t *token, int64_t end) {
  int64_t news = end - tracer->seen;
  if (news > 0 && !lgt_miner_tokens(tracer->miner, token + (tracer->seen - tracer->base), news)) return false;
  if (news > 0) tracer->seen = end;
  lgt_trie_restart(&tracer->trie, end);
  return true;
}

/* The launches need not be followed one by one where there is no trace, or where the one that was found last comes again. */
static bool follow_straight(lgt_tracer *tracer, const uint64_t *token, int n, bool look) {
  int64_t at = tracer->trie.position - tracer->base;
  if (!tracer->trie.count) return pass_over(tracer, token, tracer->base + n);
  lgt_match match = lgt_trie_again(&tracer->trie, token + at, n - at, look);
  if (!match.trace || !pass_over(tracer, token, match.end)) return false;
  tracer->next = match;
  return true;
}

/* Follow the window's launches until a trace is found that is to be the next one. */
static void follow(lgt_tracer *tracer, const uint64_t *token, int n, bool look) {
  lgt_trie *trie = &tracer->trie;
  if (tracer->next.trace || follow_straight(tracer, token, n, look)) return;
  while (!lgt_trie_settled(trie)) {
    int64_t at = trie->position - tracer->base;
    if (at == n) break;
    if (trie->position == tracer->seen && show_miner(tracer, token[at])) continue;
    if (!lgt_trie_feed(trie, token[at], tracer->shortest)) count(tracer, LGT_TRACE_WAY, 1);
  }
  bool settled = lgt_trie_settled(trie);
  if (look && !settled) lgt_trie_look(trie);
  if (!trie->held.trace) return;
  /* if it is not settled, too many wait for a longer one, or it cannot come */
  tracer->next = lgt_trie_take(trie, settled || (look && trie->held.trace->look));
}

/* Do the window's launches begin like the last one that was no trace?  A window that may be twice as long now is another. */
static bool is_again(const lgt_tracer *tracer, const uint64_t *token, int n, bool look) {
  const lgt_trace *again = tracer->again;
  if (!again || again->look != look ||
      (look ? again->length != n : again->length > n || again->length < n / 2))
    return false;
  return !memcmp(token, again->token, (size_t)again->length * sizeof *token);
}

lgt_cut lgt_tracer_cut(lgt_tracer *tracer, const uint64_t *token, int n, bool look) {
  lgt_cut cut = {.most = n};
  if (!tracer->miner) return cut;
  forget_outgrown(tracer);
  follow(tracer, token, n, look);
  if (tracer->next.trace) {
    int64_t before = tracer->next.start - tracer->base;
    cut.count = before ? (int)before : tracer->next.trace->length;
    cut.trace = before ? NULL : tracer->next.trace;
    return cut;
  }
  if (is_again(tracer, token, n, look)) {
    cut.count = tracer->again->length;
    cut.trace = tracer->again;
    return cut;
  }
  int depth = lgt_trie_depth(&tracer->trie);
  if (!look) {
    const lgt_trace *ahead = lgt_trie_ahead(&tracer->trie);
    if (ahead && ahead->recorded && depth >= tracer->shortest && depth < n) cut.most = n - depth;
    return cut;
  }
  if (depth >= tracer->shortest) count(tracer, LGT_TRACE_LOOK, 1);
  lgt_trie_restart(&tracer->trie, tracer->base + n);
  cut.count = n;
  return cut;
}

lgt_cut lgt_tracer_named(lgt_tracer *tracer, const uint64_t *token, lgt_trace *trace) {
  while (tracer->miner && tracer->seen < tracer->base + trace->length)
    show_miner(tracer, token[tracer->seen - tracer->base]);
  tracer->next = (lgt_match){0};
  return (lgt_cut){.count = trace->length, .most = trace->length, .trace = trace};
}

void lgt_tracer_dropped(lgt_tracer *tracer, int n, lgt_trace *trace, uint64_t pattern, bool look) {
  lgt_trie *trie = &tracer->trie;
  if (tracer->miner && pattern &&
      !lgt_miner_window(tracer->miner, tracer->base, n, pattern, look, trace != NULL))
    tracer->failed = true;
  tracer->base += n;
  if (trace && pattern) lgt_trace_seen(trace, tracer->base);
  if (!tracer->miner) return;
  if (tracer->next.trace && tracer->next.start < tracer->base) tracer->next = (lgt_match){0};
  if (tracer->next.trace) return;
  int depth = lgt_trie_depth(trie);
  if (trie->position - depth >= tracer->base) return;
  if (depth >= tracer->shortest) count(tracer, LGT_TRACE_LIMIT, 1);
  lgt_trie_restart(trie, tracer->base);
}

/* ---- traces that the script names ------------------------------------------------------------------------- */

lgt_status lgt_tracer_begin(lgt_tracer *tracer, const char *name, int target) {
  lgt_status status = lgt_manual_begin(&tracer->manual, name, target);
  if (status) tracer->failed = true;
  return status;
}

bool lgt_tracer_end(lgt_tracer *tracer, bool whole) {
  bool differs = lgt_manual_end(&tracer->manual, whole);
  count(tracer, LGT_TRACE_NAMED, differs);
  return differs;
}

static void keep_again(lgt_tracer *tracer, const lgt_window *window, int n, bool look, lgt_plan *plan,
                       uint64_t pattern) {
  if (tracer->again) lgt_trace_free(tracer->again);
  tracer->again = NULL;
  if (n < tracer->shortest || (tracer->longest && n > tracer->longest)) return;
  tracer->again = lgt_trace_new(++tracer->trie.last_id, window->token, n, look);
  if (!tracer->again) tracer->failed = true;
  if (!tracer->again || !lgt_plan_serves_again(plan)) return;
  lgt_trace_keep(tracer->again, plan, pattern);
  plan->trace = tracer->again->id;
}

void lgt_tracer_planned(lgt_tracer *tracer, const lgt_window *window, int n, bool look,
                        const lgt_trace *trace, lgt_plan *plan, uint64_t pattern) {
  if (tracer->miner && !trace) keep_again(tracer, window, n, look, plan, pattern);
  bool recorded = tracer->manual.now && tracer->manual.recording;
  uint32_t id = recorded ? ++tracer->trie.last_id : 0;
  if (lgt_manual_planned(&tracer->manual, window, n, look, plan, pattern, id)) tracer->failed = true;
}

const lgt_trace *lgt_tracer_find(const lgt_tracer *tracer, uint32_t id) {
  const lgt_manual *manual = &tracer->manual;
  if (tracer->again && tracer->again->id == id && tracer->again->replays) return tracer->again;
  for (int i = 0; i < manual->count; i++)
    for (int w = 0; w < manual->trace[i]->count; w++)
      if (manual->trace[i]->window[w]->id == id) return manual->trace[i]->window[w];
  return lgt_trie_find(&tracer->trie, id);
}

/* ---- plans ------------------------------------------------------------------------------------------------ */

static lgt_trace_reason reason_of(lgt_difference difference) {
  static const lgt_trace_reason of[] = {
      [LGT_OTHER_CALLS] = LGT_TRACE_CALLS, [LGT_OTHER_STORES] = LGT_TRACE_STORES,
      [LGT_OTHER_STATE] = LGT_TRACE_STATE, [LGT_OTHER_KEY] = LGT_TRACE_KEY,
      [LGT_OTHER_SAVES] = LGT_TRACE_SAVES, [LGT_UNNUMBERED] = LGT_TRACE_MEMORY};
  return of[difference];
}

static void move_to_front(lgt_trace *trace, int r) {
  lgt_recording used = trace->recording[r];
  memmove(&trace->recording[1], &trace->recording[0], (size_t)r * sizeof used);
  trace->recording[0] = used;
}

lgt_plan *lgt_tracer_plan(lgt_tracer *tracer, lgt_trace *trace, lgt_window *window, lgt_stores *stores, int n,
                          uint64_t *pattern) {
  lgt_difference first = LGT_NO_DIFFERENCE;
  for (int r = 0; r < trace->nrecording; r++) {
    lgt_plan *plan = trace->recording[r].plan;
    if (plan->retired || plan->lessons->stale) {
      count(tracer, plan->retired ? LGT_TRACE_RETIRED : LGT_TRACE_LESSONS, 1);
      lgt_trace_drop(trace, r--);
      continue;
    }
    lgt_difference difference = lgt_window_compare(window, stores, n, plan->word, plan->nword, plan->nroot);
    if (!difference) {
      for (int i = 0; i < plan->nroot; i++) lgt_store_at(stores, window->root[i])->uses = plan->root[i].uses;
      if (r) move_to_front(trace, r);
      *pattern = trace->recording[0].pattern;
      plan->epoch = stores->epoch;
      return plan;
    }
    if (!first) first = difference;
  }
  if (first && tracer->judged != tracer->base) count(tracer, reason_of(first), 1);
  tracer->judged = tracer->base; /* a flush that asks for a collection comes here again */
  return NULL;
}

void lgt_tracer_replayed(lgt_tracer *tracer, lgt_trace *trace) {
  lgt_log(TRACE, 2, "launches %lld to %lld: trace %u", (long long)tracer->base + 1,
          (long long)tracer->base + trace->length, trace->id);
  if (trace == tracer->again && !trace->replays) tracer->stats.recorded++;
  tracer->stats.replayed++;
  tracer->stats.launches += trace->length;
  trace->replays++;
}

void lgt_tracer_record(lgt_tracer *tracer, lgt_trace *trace, lgt_plan *plan, uint64_t pattern) {
  if (!lgt_plan_serves_again(plan)) return;
  lgt_trace_keep(trace, plan, pattern);
  plan->trace = trace->id;
  tracer->stats.recorded++;
  lgt_log(TRACE, 3, "trace %u recorded: %d launches", trace->id, trace->length);
}
