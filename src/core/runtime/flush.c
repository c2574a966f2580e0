/* flush.c - the flush: what was launched is planned and run.
 *
 * It is a list of passes over the window:
 *
 *   retire   jobs that are done give back their memory
 *   take     launches of the front become calls with resolved stores
 *   cut      up to the end of a trace, or else of a repetition of the program's loop
 *   form     the canonical form of these calls
 *   plan     found by that form, or made: grouping, fusing, weaving; of a trace that was recorded, without the form
 *   bind     group by group: instances, copies, tasks
 *   drop     the calls leave the window, and stores that only they kept alive go
 *
 * It may stop before a plan is made or a group is bound and ask the caller to collect garbage: a new
 * plan wants to know which results are unreachable (and guesses, where there is no time to look), a group may overwrite
 * what recipes read.  And it may stop behind a group, for memory that dead handles hold has to come back in time.  C never
 * collects by itself.
 */
#include "runtime/runtime.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/hash.h"
#include "base/random.h"
#include "move/poison.h"
#include "bind/rescue.h"
#include "bind/side.h"
#include "plan/inline.h"
#include "plan/shift.h"
#include "plan/targets.h"
#include "plan/verify.h"
#include "runtime/devices.h"
#include "runtime/handles.h"
#include "runtime/sweep.h"

enum { SCRATCH = 4 }; /* bytes of scratch memory that a call may want for each of its arguments' */
enum { MAX_IN_FLIGHT = 3, MAX_ENQUEUED = 64 };
static const int64_t LARGE = 4 << 20; /* bytes of results for whose memory a group may wait ... */
static const int64_t HUGE = 32 << 20; /* ... or does: nobody feels how long such a task takes to begin */
static const int64_t PRESSURE_MIN = 4 << 20;    /* bytes allocated before a collection is worth asking for */
static const double PRESSURE_BYTES_PER_NS = 40; /* ... and for each nanosecond that one takes */
static const int64_t PRESSURE_SHARE = 4;        /* of what arrays may take: so much garbage at most */
static const int64_t STORE_BYTES = 256;         /* of a store, also of one without elements, about */
/* What a store, and its memory with what is noted of it, take longer to make and to drop once they have left the caches ... */
static const double COLD_STORE_NS = 75, COLD_INSTANCE_NS = 225;
enum { FEWEST_COLD = 1024, MOST_CACHED = 4096 }; /* ... which hold so many, about */
enum {
  HANDLE_BYTES = 64,
  ENTRY_BYTES = 16
}; /* of the caller's heap: a handle, and its place in a table, about */
static const double COLLECTION_NS_PER_BYTE = 0.4; /* LuaJIT goes through 0.5 MB in 0.2 ms */
static const double LONG_COLLECTION_NS = 2e6;     /* of 5 MB */
static const int64_t SHARE_OF_COLLECTIONS = 5;    /* for plans, where they are long: a fifth of the time */

/* ---- asking for a collection ----------------------------------------------------------------------------- */

static bool at_random(lgt_runtime *rt) { /* for tests: decide at random what may be decided at will */
  return rt->jitter && lgt_random_next(&rt->jitter) % 4 == 0;
}

static int ask(lgt_runtime *rt, int what) {
  rt->asked = what;
  rt->asked_at = lgt_profile_now();
  rt->front.collect = (uint32_t)what;
  if (rt->profile)
    lgt_profile_mark(rt->profile, &(lgt_label){.category = "flush", .name = "collect garbage"},
                     "\"allocated\":%lld", (long long)rt->map.since_collection);
  return what;
}

/* Of results that should be dead: mostly the collector rests, and a cycle finds all that a whole collection does. */
static int ask_for_results(lgt_runtime *rt) {
  return ask(rt, rt->flush.relieved ? LGT_COLLECT_ALL : LGT_COLLECT_OLD);
}

/* The caller is back. */
static void answered(lgt_runtime *rt) {
  rt->flush.relieved = true;
  if (rt->asked == LGT_COLLECT_ALL) rt->flush.collected = true;
  rt->asked = 0;
  rt->collection_took = lgt_profile_now() - rt->asked_at;
  rt->map.since_collection = rt->map.held_since = 0;
  rt->stores_collected = rt->stores.live_stores;
  rt->collections++;
}

/* How long one takes without the handles themselves: else the more die, the later are they looked for. */
void lgt_collected(lgt_runtime *rt, double heap) {
  double handles =
      (double)rt->stores.live_stores * HANDLE_BYTES + (double)rt->stores.max_handle * ENTRY_BYTES;
  double script = heap > handles ? heap - handles : 0;
  rt->fuser.collection_ns = heap * COLLECTION_NS_PER_BYTE;
  rt->pressure = (int64_t)(script * COLLECTION_NS_PER_BYTE * PRESSURE_BYTES_PER_NS);
}

/* Dead arrays that nobody knows to be dead take up the caches: the longer they are looked for, the colder are the records and
 * the memory of those that follow.  Worth it if these cost more, all together, than a collection, as long as they are no more
 * than fit into a cache.  `fresh`: so many stores may be dead. */
static bool are_records_cold(const lgt_runtime *rt, int64_t fresh) {
  double cold_ns = (double)fresh * COLD_STORE_NS + (double)rt->map.held_since * COLD_INSTANCE_NS,
         most_ns = MOST_CACHED * (COLD_STORE_NS + COLD_INSTANCE_NS);
  return fresh >= FEWEST_COLD && rt->fuser.collection_ns < (cold_ns < most_ns ? cold_ns : most_ns);
}

/* Is it time that the caller collects its garbage?  Where memory is short, garbage is a small part of it; where many stores are
 * alive, a collection is worth it once half as many more may be dead. */
static bool is_pressed(lgt_runtime *rt) {
  if (rt->stores_collected > rt->stores.live_stores) rt->stores_collected = rt->stores.live_stores;
  int64_t limit = rt->pressure, most = rt->map.pool->limit / PRESSURE_SHARE,
          fresh = rt->stores.live_stores - rt->stores_collected - rt->stores_collected / 2;
  if (fresh < 0) fresh = 0;
  if (limit > most) limit = most;
  if (limit < PRESSURE_MIN) limit = PRESSURE_MIN;
  return rt->map.since_collection + STORE_BYTES * fresh > limit || are_records_cold(rt, fresh) ||
         at_random(rt);
}

void lgt_runtime_relieve(lgt_runtime *rt) {
  rt->front.collect = LGT_COLLECT_NOTHING;
  if (is_pressed(rt)) ask(rt, LGT_COLLECT_OLD);
}

/* Is it time to collect for the sake of a plan?  Most of what a script does only once is never planned again, and a large heap
 * takes long to collect: so that is done in no more than a part of the time, and meanwhile plans are made as it looks. */
static bool affords_collection(const lgt_runtime *rt) {
  return rt->fuser.collection_ns < LONG_COLLECTION_NS ||
         lgt_profile_now() - rt->asked_for_plan > SHARE_OF_COLLECTIONS * rt->collection_took;
}

/* Has the plan results that must be unreachable, but are not known to be? */
static bool must_still_die(lgt_runtime *rt, const lgt_plan *plan, bool give_up) {
  bool found = false;
  for (int g = 0; g < plan->ngroup; g++)
    for (int e = 0; plan->group[g].nmust_die && e < plan->group[g].nelided; e++) {
      const lgt_plan_elided *elided = &plan->group[g].elided[e];
      if (!elided->must_die || !lgt_store_reachable(lgt_store_at(&rt->stores, rt->window.root[elided->root])))
        continue;
      found = true;
      if (give_up) lgt_plan_want(plan, elided->root);
    }
  return found;
}

/* ---- passes ------------------------------------------------------------------------------------------------ */

static void grow_window(lgt_runtime *rt, const lgt_plan *plan) {
  int most = lgt_runtime_window(rt);
  if (!plan->fused_whole || rt->flush.forced || rt->target >= most) return;
  rt->target = rt->target * 2 < most ? rt->target * 2 : most;
  lgt_tracer_grew(&rt->tracer, rt->target);
}

/* `counted`: it is among the uses of its stores. */
static void release_call(lgt_runtime *rt, const lgt_call *call, bool counted) {
  for (int a = 0; a < call->nargs; a++) {
    lgt_store *store = lgt_store_at(&rt->stores, call->store[a]);
    store->uses -= counted;
    if (--store->refs == 0 && store->handles == 0) lgt_bind_drop_store(&rt->binder, store);
  }
}

/* The window's calls before `end` have run: what only they kept alive goes at once, for its memory serves the next. */
static void release_calls(lgt_runtime *rt, int end) {
  for (; rt->flush.released < end; rt->flush.released++)
    release_call(rt, &rt->window.call[rt->flush.released], true);
}

/* The calls leave the window. */
static void drop_calls(lgt_runtime *rt) {
  bool look = rt->flush.forced && rt->flush.ncall == rt->window.count;
  release_calls(rt, rt->flush.ncall);
  lgt_window_drop(&rt->window, rt->flush.ncall);
  lgt_tracer_dropped(&rt->tracer, rt->flush.ncall, rt->flush.trace, rt->flush.pattern, look);
  rt->flush.ncall = rt->flush.released = 0;
  rt->flush.trace = NULL;
  rt->flush.pattern = 0;
  lgt_plan_release(rt->flush.plan);
  rt->flush.plan = NULL;
}

/* A launch that cannot run: what it should have written is poisoned. */
static void refuse_call(lgt_runtime *rt, const lgt_call *call, lgt_status status, const char *message) {
  if (status == LGT_NO_MEMORY && rt->binder.peers) /* the other ranks do run it */
    rt->binder.peers->abort(rt->binder.peers, message);
  lgt_failure *failure = lgt_poison_new(&rt->binder, status, message, call->line);
  for (int a = 0; a < call->nargs; a++)
    if (lgt_kind_writes(call->kind, a)) lgt_poison_store(lgt_store_at(&rt->stores, call->store[a]), failure);
  lgt_failure_release(failure);
}

/* Planning failed: nothing of these calls can run. */
static lgt_status poison_calls(lgt_runtime *rt, lgt_status status) {
  char message[512];
  snprintf(message, sizeof message, "%s", lgt_message());
  lgt_manual_abandon(&rt->tracer.manual);
  for (int i = 0; i < rt->flush.ncall; i++) refuse_call(rt, &rt->window.call[i], status, message);
  drop_calls(rt);
  lgt_poison_reported(&rt->binder);
  return lgt_err(status, "%s", message);
}

static const char *line_of(lgt_runtime *rt, const lgt_call *call) {
  return rt->binder.line_text(rt, call->line);
}

static void report_plan(lgt_runtime *rt, int64_t begin, const lgt_plan *plan) {
  lgt_label label = {.category = "plan", .line = line_of(rt, rt->window.call)};
  lgt_profile_span(rt->profile, begin, &label, "\"launches\":%d,\"tasks\":%d", rt->flush.ncall,
                   plan ? plan->ngroup : 0);
}

static void report_replay(lgt_runtime *rt, int64_t begin) {
  lgt_label label = {.category = "replay", .line = line_of(rt, rt->window.call)};
  lgt_profile_span(rt->profile, begin, &label, "\"trace\":%u,\"launches\":%d", rt->flush.trace->id,
                   rt->flush.ncall);
}

/* The canonical form of the calls. */
static lgt_status form_calls(lgt_runtime *rt) {
  int n = rt->flush.ncall;
  if (!lgt_window_canonical(&rt->window, &rt->stores, n)) return lgt_no_memory_to_fuse();
  rt->flush.pattern = rt->window.pattern;
  if (rt->config->check) lgt_verified(lgt_window_verify(&rt->window, &rt->stores, n));
  return LGT_OK;
}

/* The plan of calls that go along a trace, with a reference; NULL: it is not known yet, or not in this state of the arrays. */
static lgt_plan *replayed_plan(lgt_runtime *rt) {
  lgt_flush_state *flush = &rt->flush;
  if (!flush->trace || flush->shifted) return NULL;
  int64_t begin = rt->profile ? lgt_profile_now() : 0;
  lgt_plan *plan =
      lgt_tracer_plan(&rt->tracer, flush->trace, &rt->window, &rt->stores, flush->ncall, &flush->pattern);
  if (plan && rt->profile) report_replay(rt, begin);
  return plan ? lgt_plan_retain(plan) : NULL;
}

/* The plan of the window, if there is one, or else one of the same form, made to fit; with a reference.  NULL: there is none,
 * and the window's form is built. */
static lgt_status find_plan(lgt_runtime *rt, bool may_ask, lgt_plan **out) {
  lgt_plan *plan = lgt_fuser_find(&rt->fuser, &rt->window);
  bool renew = may_ask &&
               (rt->flush.collected || affords_collection(rt)); /* plans that guessed will not do any more */
  bool known = plan && !plan->lessons->stale && !(plan->guessed && renew);
  if (known) {
    plan->epoch = rt->stores.epoch;
    *out = lgt_plan_retain(plan);
    return LGT_OK;
  }
  if (!lgt_window_form(&rt->window, &rt->stores, rt->flush.ncall)) return lgt_no_memory_to_fuse();
  const lgt_plan *origin = plan ? NULL : lgt_fuser_find_form(&rt->fuser, &rt->window);
  bool shifts = origin && !(origin->guessed && renew);
  *out = shifts ? lgt_plan_shift(&rt->fuser, &rt->window, rt->flush.ncall) : NULL;
  rt->shifts += *out != NULL;
  return LGT_OK;
}

/* Find or make the plan of the next calls.  Positive: collect first. */
static int plan_calls(lgt_runtime *rt, bool may_ask) {
  lgt_flush_state *flush = &rt->flush;
  lgt_status status = LGT_OK;
  /* What is held for long must not take much more memory than if it were stored. */
  int64_t most = LGT_FORMER_GROUPS * rt->fuser.most_saved;
  rt->window.saves = rt->binder.former < most && rt->map.kept_alone - rt->binder.deferred < most;
  for (;;) {
    lgt_plan *plan = replayed_plan(rt);
    bool replayed = plan != NULL;
    if (!replayed && (status = form_calls(rt))) return poison_calls(rt, status);
    if (!replayed) plan = flush->shifted;
    flush->shifted = NULL;
    if (!plan && (status = find_plan(rt, may_ask, &plan))) return poison_calls(rt, status);
    if (!plan) {
      bool guess = may_ask && !flush->collected && lgt_fuser_elides(&rt->fuser);
      if (guess && affords_collection(rt)) {
        rt->asked_for_plan = lgt_profile_now();
        return ask(rt, LGT_COLLECT_ALL);
      }
      int64_t begin = rt->profile ? lgt_profile_now() : 0;
      status = lgt_fuser_plan(&rt->fuser, &rt->window, flush->ncall, &plan);
      if (rt->profile) report_plan(rt, begin, status ? NULL : plan);
      if (status) return poison_calls(rt, status);
      lgt_plan_retain(plan);
      plan->guessed = guess;
      rt->plans++;
    }
    if (must_still_die(rt, plan, false)) {
      if (may_ask && !flush->collected) {
        if (plan->origin) flush->shifted = plan;
        else lgt_plan_release(plan);
        return ask_for_results(rt);
      }
      must_still_die(rt, plan, true);
      lgt_plan_release(plan);
      continue;
    }
    if (replayed) lgt_tracer_replayed(&rt->tracer, flush->trace);
    else if (flush->trace) lgt_tracer_record(&rt->tracer, flush->trace, plan, flush->pattern);
    bool look = flush->forced && flush->ncall == rt->window.count;
    lgt_tracer_planned(&rt->tracer, &rt->window, flush->ncall, look, flush->trace, plan, flush->pattern);
    flush->plan = plan;
    flush->group = 0;
    grow_window(rt, plan);
    return 0;
  }
}

/* Does a group store results that need not be? */
static bool can_be_lean(const lgt_plan_group *group) {
  const lgt_plan *plan = group->plan;
  for (int i = group->first; i < group->first + group->count && !plan->lean; i++)
    for (int a = 0; a < plan->call[i].nargs; a++) {
      const lgt_plan_root *root = &plan->root[plan->call[i].root[a]];
      if (root->spare && root->stored && !plan->lessons->wanted[plan->call[i].root[a]]) return true;
    }
  return false;
}

/* A group cannot run at once: let go of the calls before it, which have run.  Where it lacks memory beside what the window
 * holds, plan its calls anew, so that they store less, if they can; or else run them one by one, so that only those fail
 * that must.  (For other reasons all ranks take a group apart, and must do that alike, whatever each of them stores.) */
static void take_apart(lgt_runtime *rt, const lgt_plan_group *group, bool lacks_memory) {
  int calls = group->count;
  rt->flush.lean = lacks_memory && can_be_lean(group) ? calls : 0;
  rt->flush.apart = rt->flush.lean ? 0 : calls;
  rt->flush.ncall = group->first;
  rt->flush.pattern = 0; /* these calls are no window */
  lgt_manual_abandon(&rt->tracer.manual);
  drop_calls(rt);
}

/* Calls of C take scratch memory, nobody knows how much: is less left than several times their arguments?  Those that compute a
 * few elements at a time need none to speak of. */
static bool scratch_is_short(const lgt_runtime *rt, const lgt_plan_group *group) {
  int64_t bytes = 0;
  for (int l = 0; l < group->nloop && group->nnative; l++)
    for (int n = 0; n < group->loop[l].nnative; n++) {
      const lgt_plan_native *native = &group->loop[l].native[n];
      for (int a = 0; a < native->kind->nargs && lgt_kind_alone(native->kind); a++) {
        const lgt_layout *layout = lgt_layout_at(&rt->stores, native->access[a].layout);
        bytes += lgt_layout_distinct(layout) * lgt_dtype_size(layout->dtype);
      }
    }
  bytes = bytes / rt->map.domains * rt->map.local;
  return bytes > LGT_SCRATCH_COUNTED && SCRATCH * bytes > lgt_pool_left(rt->map.pool);
}

/* A group that makes large arrays gets the memory of what is in flight rather than fresh pages: touching these costs as
 * much as to compute, and at the end they would all be there at once.  (Queues of devices hand memory over by themselves.) */
static void await_memory(lgt_runtime *rt, const lgt_plan_group *group) {
  int64_t bytes = 0;
  if (rt->map.nmemory > 1) return;
  for (int s = 0; s < group->nslot; s++) {
    const lgt_layout *layout = lgt_layout_at(&rt->stores, group->slot[s].layout);
    if (!group->slot[s].initial && !group->slot[s].idle) bytes += lgt_layout_bytes(layout);
  }
  bytes = bytes / rt->map.domains * rt->map.local;
  while (bytes > LARGE && rt->binder.first && (bytes > HUGE || lgt_pool_idle(rt->map.pool) < bytes))
    if (!lgt_job_await_first(&rt->binder)) return;
}

/* Run the groups of the plan.  Positive: collect first.  What presses is asked for behind a group, not before one: the
 * workers are busy with it meanwhile. */
static int bind_groups(lgt_runtime *rt, bool may_ask) {
  lgt_flush_state *flush = &rt->flush;
  lgt_plan *plan = flush->plan;
  bool let_go = false;
  while (flush->group < plan->ngroup) {
    const lgt_plan_group *group = &plan->group[flush->group];
    if (may_ask && !flush->collected) {
      double copy_ns = (double)lgt_rescue_bytes(&rt->binder, group, rt->window.root) / 5;
      if (copy_ns > rt->fuser.collection_ns || at_random(rt)) return ask_for_results(rt);
    }
    bool ask_again = may_ask && !flush->collected, tight = scratch_is_short(rt, group);
    /* Other ranks may have the memory and run the group as it is: then what moves must not change. */
    bool whole = rt->binder.peers || (flush->group == 0 && group->count == 1);
    bool spare = rt->map.kept_alone > 0 && !let_go, last = !ask_again && !spare && whole;
    if (tight) lgt_job_retire(&rt->binder, true); /* one at a time: others do not take what it needs */
    if (tight && ask_again) return ask(rt, LGT_COLLECT_ALL);
    if (tight && spare) {
      lgt_rescue_kept_alone(&rt->binder);
      let_go = true;
      continue;
    }
    if (tight && !whole) {
      take_apart(rt, group, true);
      return 0;
    }
    await_memory(rt, group);
    const lgt_call *calls = &rt->window.call[group->first];
    rt->binder.ahead = calls;
    rt->binder.nahead = rt->window.count - group->first;
    rt->binder.nbound = group->count;
    rt->binder.may_collect = ask_again;
    lgt_status status = lgt_bind_group(&rt->binder, group, calls, rt->window.root, last);
    rt->binder.nahead = rt->binder.nbound = 0;
    rt->binder.may_collect = false;
    if (status == LGT_NO_MEMORY && ask_again) return ask(rt, LGT_COLLECT_ALL);
    if (status == LGT_NO_MEMORY && spare) {
      lgt_rescue_kept_alone(&rt->binder);
      let_go = true;
      continue;
    }
    if (status) {
      take_apart(rt, group, status == LGT_NO_MEMORY);
      return 0;
    }
    release_calls(rt, group->first + group->count);
    flush->group++;
    let_go = false;
    lgt_job_retire(&rt->binder, tight);
    lgt_job_keep_up(&rt->binder, MAX_IN_FLIGHT, MAX_ENQUEUED); /* far enough ahead: help */
    if (ask_again && !flush->relieved && is_pressed(rt)) return ask(rt, LGT_COLLECT_OLD);
  }
  return 0;
}

/* The front is full when the window would be; a window that is full already, because launches were taken
 * early (a handle was freed), leaves no room for a single one. */
static void set_limit(lgt_runtime *rt) {
  int lacks = rt->target - rt->window.count;
  rt->front.limit = lacks > 0 ? (uint32_t)lacks : 0;
}

/* Numbers of stores, layouts and kinds are each rank's own: the collector decides which of them are used again. */
static uint64_t number_in_stream(lgt_runtime *rt, lgt_store *store) {
  if (!store->noted) store->noted = ++rt->noted;
  return (uint64_t)store->noted;
}

static void note_operation(lgt_runtime *rt, lgt_note note, lgt_store *store, uint64_t shape,
                           uint64_t numbers) {
  lgt_runtime_take(rt); /* what was launched before comes before */
  uint64_t array = store ? number_in_stream(rt, store) : 0;
  lgt_agree_note(
      &rt->binder,
      &(lgt_operation){
          .token = lgt_hash_mix(lgt_hash_mix(lgt_hash_mix((uint64_t)note + 1, array), shape), numbers),
          .line = rt->front.line,
          .what = rt->note_name[note],
          .parts = lgt_operation_part(LGT_PART_SHAPES, shape) | lgt_operation_part(LGT_PART_ARRAYS, array) |
                   lgt_operation_part(LGT_PART_NUMBERS, numbers)});
}

void lgt_runtime_note(lgt_runtime *rt, lgt_note note, lgt_store *store, const lgt_rect *rect) {
  uint64_t shape = 0;
  if (!rt->binder.peers) return;
  for (int d = 0; rect && d < rect->ndim; d++)
    shape = lgt_hash_mix(lgt_hash_mix(shape, (uint64_t)rect->lo[d]), (uint64_t)rect->hi[d]);
  note_operation(rt, note, store, shape, 0);
}

/* A hash of elements, of doubles in single precision: ranks compile Lua at different moments, and what is compiled may
 * round otherwise (x^2 becomes x*x). */
static uint64_t hash_of_elements(const void *data, size_t bytes, bool doubles) {
  uint64_t block[512], hash = 0;
  if (!doubles) return XXH3_64bits(data, bytes);
  for (size_t at = 0; at < bytes; at += sizeof block) {
    size_t n = bytes - at < sizeof block ? bytes - at : sizeof block;
    memcpy(block, (const char *)data + at, n);
    for (size_t i = 0; i < n / sizeof *block; i++) {
      uint64_t rounded = (block[i] + (1u << 28)) >> 29;
      block[i] = rounded << 30 ? rounded : 0; /* no sign of zero */
    }
    hash = lgt_hash_mix(hash, XXH3_64bits(block, n));
  }
  return hash;
}

void lgt_runtime_note_given(lgt_runtime *rt, lgt_store *store, lgt_dtype dtype, const void *data,
                            size_t bytes) {
  if (!rt->binder.peers) return;
  bool doubles = dtype == LGT_FLOAT64 || dtype == LGT_COMPLEX128;
  note_operation(rt, LGT_NOTE_GIVEN, store, bytes, hash_of_elements(data, bytes, doubles));
}

static uint32_t name_of_kind(lgt_runtime *rt, uint16_t number) {
  lgt_kind *kind = rt->kinds.kind[number];
  if (kind->noted) return kind->noted;
  char name[80]; /* behind a colon it tells types apart */
  snprintf(name, sizeof name, "%.*s", (int)strcspn(kind->name, ":"), kind->name);
  return kind->noted = rt->binder.peers->name(rt->binder.peers, name);
}

/* What was taken into the window since it had `count` calls. */
static void note_calls(lgt_runtime *rt, int count) {
  for (int i = count; i < rt->window.count; i++) {
    const lgt_call *call = &rt->window.call[i];
    uint64_t shapes = 0, arrays = 0, numbers = 0;
    for (int a = 0; a < call->nargs; a++) {
      shapes = lgt_hash_mix(shapes, lgt_layout_at(&rt->stores, call->layout[a])->hash);
      arrays = lgt_hash_mix(arrays, number_in_stream(rt, lgt_store_at(&rt->stores, call->store[a])));
    }
    for (int p = 0; p < call->nparams && !call->kind->own_params; p++)
      numbers = lgt_hash_mix(numbers, (uint64_t)call->param[p].i);
    lgt_agree_note(
        &rt->binder,
        &(lgt_operation){
            .token = lgt_hash_mix(lgt_hash_mix(lgt_hash_mix(call->kind->hash, shapes), arrays), numbers),
            .line = call->line,
            .what = name_of_kind(rt, call->kind_number),
            .parts = lgt_operation_part(LGT_PART_SHAPES, shapes) |
                     lgt_operation_part(LGT_PART_ARRAYS, arrays) |
                     lgt_operation_part(LGT_PART_NUMBERS, numbers)});
  }
}

/* Launches are in the profile when they leave the ring, which is when the runtime first sees them. */
static void report_launches(lgt_runtime *rt, int count) {
  for (int i = count; i < rt->window.count; i++) {
    const lgt_call *call = &rt->window.call[i];
    lgt_label label = {.category = "launch", .name = call->kind->name, .line = line_of(rt, call)};
    lgt_profile_mark(rt->profile, &label, "\"arguments\":%d", call->nargs);
  }
}

/* Other calls instead of one that the window has taken, or none. */
typedef lgt_status replace_fn(lgt_stores *stores, lgt_kinds *kinds, const lgt_call *call, lgt_call *out,
                              int *count);

static void add_replaced(lgt_runtime *rt, replace_fn *replace, const lgt_call *call) {
  lgt_call instead[LGT_REPRODUCIBLE_CALLS];
  int n = 0;
  lgt_status status = LGT_OK;
  if (!lgt_window_reserve(&rt->window, LGT_RING + LGT_REPRODUCIBLE_CALLS))
    status = lgt_err(LGT_NO_MEMORY, "out of memory for the window of launches");
  if (!status) status = replace(&rt->stores, &rt->kinds, call, instead, &n);
  if (!status && !n) {
    lgt_window_add(&rt->window, &rt->stores, call);
    return;
  }
  if (status) {
    char message[512];
    snprintf(message, sizeof message, "%s", lgt_message());
    refuse_call(rt, call, status, message);
  }
  for (int i = 0; i < n; i++) lgt_window_add(&rt->window, &rt->stores, &instead[i]);
  release_call(rt, call, false);
}

/* The same for all that the window has taken since it had `count` calls. */
static void replace_calls(lgt_runtime *rt, replace_fn *replace, int count) {
  int n = rt->window.count - count;
  if (!n) return;
  lgt_call *taken = lgt_mem_alloc((size_t)n * sizeof *taken);
  if (taken) memcpy(taken, &rt->window.call[count], (size_t)n * sizeof *taken);
  rt->window.count = count;
  if (rt->window.formed > count) rt->window.formed = count;
  for (int i = 0; i < n; i++) {
    if (taken) {
      add_replaced(rt, replace, &taken[i]);
    } else {
      refuse_call(rt, &rt->window.call[count + i], LGT_NO_MEMORY, "out of memory for launches");
      release_call(rt, &rt->window.call[count + i], false);
    }
  }
  lgt_mem_free(taken);
  rt->front.nlayouts = rt->stores.nlayout;
}

/* What reduces along different dimensions is taken apart, and in reproducible mode what reduces floats said otherwise. */
static void rewrite_calls(lgt_runtime *rt, int count) {
  bool differ = false;
  for (int i = count; i < rt->window.count && !differ; i++)
    differ = lgt_targets_may_differ(&rt->window.call[i]);
  if (differ) replace_calls(rt, lgt_targets_calls, count);
  if (rt->config->reproducible) replace_calls(rt, lgt_reproducible_calls, count);
}

void lgt_runtime_take(lgt_runtime *rt) {
  int count = rt->window.count;
  if (rt->front.count) rt->looked = false;
  rt->launches += rt->front.count;
  while (rt->front.count) {
    uint32_t line;
    lgt_status status = lgt_window_take(&rt->window, &rt->stores, &rt->kinds, &rt->front, &line);
    if (status) lgt_failure_release(lgt_poison_new(&rt->binder, status, lgt_message(), line));
  }
  rewrite_calls(rt, count);
  rt->front.max_id = rt->stores.max_handle;
  set_limit(rt);
  if (rt->binder.peers) note_calls(rt, count);
  if (rt->profile) report_launches(rt, count);
}

/* A search for traces for which a rank had to wait gets more time on all ranks, once they have agreed. */
static void agree_on_searches(lgt_runtime *rt) {
  lgt_binder *binder = &rt->binder;
  binder->search_wish = lgt_tracer_wish(&rt->tracer);
  if (!binder->peers) binder->agreed.search = binder->search_wish;
  lgt_tracer_allow(&rt->tracer, binder->agreed.search);
  if (rt->tracer.failed && binder->peers) /* the other ranks go along traces that are not known here */
    binder->peers->abort(binder->peers, "out of memory for traces");
  rt->tracer.failed = false;
}

/* How many calls are planned together. */
static int cut_window(lgt_runtime *rt) {
  agree_on_searches(rt);
  lgt_trace *named = lgt_manual_next(&rt->tracer.manual, &rt->window, rt->window.count);
  lgt_cut trace = named ? lgt_tracer_named(&rt->tracer, rt->window.token, named)
                        : lgt_tracer_cut(&rt->tracer, rt->window.token, rt->window.count, rt->flush.forced);
  rt->flush.trace = trace.trace;
  if (trace.count) return trace.count;
  int period, cut = lgt_window_cut(&rt->window, &rt->stores, rt->flush.forced, &period);
  if (period) cut = lgt_window_fit(&rt->window, &rt->stores, cut, period);
  return cut < trace.most ? cut : trace.most;
}

static void tidy(lgt_runtime *rt) {
  lgt_sweep(rt);
  rt->front.epoch = rt->stores.epoch;
}

static int flush_now(lgt_runtime *rt, bool may_ask) {
  lgt_flush_state *flush = &rt->flush;
  if (rt->asked) answered(rt);
  if (!flush->active) {
    flush->forced = rt->front.count < rt->front.limit || !may_ask;
    flush->active = true;
    flush->collected = flush->relieved = false;
  }
  lgt_job_retire(&rt->binder, false);
  lgt_runtime_take(rt);
  for (;;) {
    if (flush->ncall == 0) {
      int n = rt->window.count;
      if (n == 0 || (!flush->forced && !flush->apart && !flush->lean && n < rt->target)) break;
      flush->ncall = flush->apart ? 1 : flush->lean ? flush->lean : cut_window(rt);
      rt->window.lean = flush->lean > 0;
      rt->window.devices = lgt_inline_possible(&rt->fuser) && lgt_side_devices(&rt->binder);
      flush->apart -= flush->apart > 0;
      flush->lean = 0;
      rt->windows++;
      lgt_log(WINDOW, 3, "%d of %d launches are planned together", flush->ncall, n);
      lgt_devices_want(rt);
    }
    int result = flush->plan ? 0 : plan_calls(rt, may_ask);
    if (result == 0) result = bind_groups(rt, may_ask);
    if (result > 0) return result;
    if (result < 0) {
      flush->active = flush->ncall > 0;
      return result;
    }
    drop_calls(rt);
  }
  flush->active = false;
  set_limit(rt);
  tidy(rt);
  return 0;
}

/* Of the processor, so that others on the machine do not count. */
static double thread_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int flush_watched(lgt_runtime *rt, bool may_ask) {
  bool report = __builtin_expect(rt->profile != NULL, 0) && (rt->front.count || rt->window.count);
  if (!report) return flush_now(rt, may_ask);
  int64_t begin = lgt_profile_now(), tasks = rt->binder.tasks, passes = rt->binder.passes;
  int result = flush_now(rt, may_ask);
  lgt_profile_span(rt->profile, begin, &(lgt_label){.category = "flush"}, "\"tasks\":%lld,\"passes\":%lld",
                   (long long)(rt->binder.tasks - tasks), (long long)(rt->binder.passes - passes));
  return result;
}

static int flush_step(lgt_runtime *rt, bool may_ask) {
  if (!rt->pretended) return flush_watched(rt, may_ask);
  double begin = thread_time();
  int result = flush_watched(rt, may_ask);
  rt->issuing += thread_time() - begin;
  return result;
}

bool lgt_runtime_idle(const lgt_runtime *rt) {
  return !rt->front.count && !rt->window.count && !rt->flush.active && !rt->asked;
}

/* One step of a flush that asks for collections. */
lgt_status lgt_flush_some(lgt_runtime *rt) {
  bool begins = !rt->flush.active, forced = rt->front.count < rt->front.limit;
  if (begins && forced) lgt_runtime_note(rt, LGT_NOTE_FLUSH, NULL, NULL); /* it cuts the window */
  rt->front.collect = LGT_COLLECT_NOTHING;
  if (!rt->binder.first && lgt_runtime_idle(rt)) return tidy(rt), LGT_OK;
  int result = flush_step(rt, true);
  return result < 0 ? result : LGT_OK;
}

lgt_status lgt_flush(lgt_runtime *rt) {
  lgt_status status = lgt_flush_some(rt);
  while (!status && rt->front.collect) status = lgt_flush_some(rt);
  return status;
}

static lgt_status settle(lgt_runtime *rt) {
  if (lgt_runtime_idle(rt)) return tidy(rt), LGT_OK;
  /* A flush that was interrupted by a request to collect goes on first. */
  lgt_status status = flush_step(rt, false);
  while (!status && (rt->window.count || rt->front.count)) {
    rt->flush.active = false;
    status = flush_step(rt, false);
  }
  return status;
}

lgt_status lgt_runtime_settle(lgt_runtime *rt) {
  rt->waits++;
  lgt_status status = settle(rt);
  rt->looked = true;
  return status;
}
