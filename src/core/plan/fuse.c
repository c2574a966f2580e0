/* fuse.c - making plans: groups, what is stored, what is needed; and the table that keeps them.
 *
 * The order of work for a new window:
 *
 *   describe   calls and roots in canonical form, with their launch partitions
 *   group      the longest fusible prefix, again and again (group.c)
 *   decide     which of the roots that the window creates are stored
 *   weave      each group into loops (weave.c)
 *   revise     results that may not be reachable when their group runs cost a collection each time;
 *              where it is cheaper to store them, or some that they were made of, or to save what the group
 *              overwrites, that is done and the groups woven again, which may leave others of that sort
 */
#include "plan/fuse.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "plan/group.h"
#include "plan/verify.h"
#include "plan/weave.h"

enum { ATTEMPTS = 6 };
static const double STORE_BYTES_PER_NS = 10; /* what storing a temporary costs ... */
static const double RESULT_NS = 200;         /* ... and what it takes of its own, however small */
static const double SAVE_BYTES_PER_NS = 20;  /* to copy what was in cache */
/* Results are not stored that have so many times the bytes of what is saved for them. */
enum { WORTH_SAVING = 2 };
/* What may turn out to be useless must not cost more than one part in so many of what it may spare. */
enum { WORTH_TRYING = 4 };

const char *lgt_refusal_text(int refusal) {
#define X(NAME, text) text,
  static const char *const texts[] = {LGT_REFUSAL_LIST(X)};
#undef X
  return texts[refusal];
}

/* ---- the table --------------------------------------------------------------------------------- */

lgt_status lgt_fuser_init(lgt_fuser *fuser) {
  fuser->mask = 255;
  fuser->count = 0;
  fuser->table = lgt_mem_zalloc(((size_t)fuser->mask + 1) * sizeof *fuser->table);
  fuser->by_form = lgt_mem_zalloc(LGT_FORMS * sizeof *fuser->by_form);
  fuser->seen = lgt_mem_zalloc(LGT_FORMS * sizeof *fuser->seen);
  return fuser->table && fuser->by_form && fuser->seen
             ? LGT_OK
             : lgt_err(LGT_NO_MEMORY, "out of memory for the table of plans");
}

static void clear_groups(lgt_plan *plan) {
  for (int g = 0; g < plan->ngroup; g++) lgt_plan_group_fini(&plan->group[g]);
  lgt_mem_free(plan->group);
  plan->group = NULL;
  plan->ngroup = 0;
}

void lgt_plan_free(lgt_plan *plan) {
  if (!plan) return;
  clear_groups(plan);
  lgt_mem_free(plan->word);
  lgt_mem_free(plan->form);
  lgt_mem_free(plan->layout);
  lgt_mem_free(plan->call);
  lgt_mem_free(plan->align);
  lgt_mem_free(plan->root);
  lgt_mem_free(plan->lessons);
  lgt_mem_free(plan);
}

void lgt_fuser_fini(lgt_fuser *fuser) {
  for (uint32_t i = 0; fuser->table && i <= fuser->mask; i++) lgt_plan_free(fuser->table[i]);
  for (int i = 0; i < fuser->nretired; i++) lgt_plan_free(fuser->retired[i]);
  lgt_mem_free(fuser->table);
  lgt_mem_free(fuser->by_form);
  lgt_mem_free(fuser->seen);
  lgt_mem_free(fuser->retired);
  lgt_mem_free(fuser->gone);
  fuser->table = NULL;
  fuser->retired = NULL;
}

/* A plan may still be running or have recipes when nobody shall find it any more.  False when out of memory. */
static bool put_aside(lgt_fuser *fuser, lgt_plan *plan) {
  if (!lgt_mem_grow((void **)&fuser->retired, &fuser->retired_room, fuser->nretired + 1,
                    sizeof *fuser->retired))
    return false;
  lgt_plan **of_form = &fuser->by_form[plan->form_hash % LGT_FORMS];
  if (*of_form == plan) *of_form = NULL;
  plan->retired = true;
  fuser->retired[fuser->nretired++] = plan;
  return true;
}

void lgt_fuser_clear(lgt_fuser *fuser) {
  for (uint32_t i = 0; i <= fuser->mask; i++) {
    if (!fuser->table[i]) continue;
    if (!put_aside(fuser, fuser->table[i])) {
      fuser->table[i]->lessons->stale = true; /* it stays where it is and will be made again */
      continue;
    }
    fuser->table[i] = NULL;
    fuser->count--;
  }
}

static uint32_t position_of(const lgt_fuser *fuser, uint64_t hash, const uint64_t *word, int nword) {
  uint32_t i = (uint32_t)hash & fuser->mask;
  for (; fuser->table[i]; i = (i + 1) & fuser->mask) {
    const lgt_plan *p = fuser->table[i];
    if (p->hash == hash && p->nword == nword && !memcmp(p->word, word, (size_t)nword * sizeof *word)) break;
  }
  return i;
}

void lgt_plan_want(const lgt_plan *plan, uint16_t root) {
  plan->lessons->wanted[root] = true;
  plan->lessons->stale = true;
}

lgt_plan *lgt_fuser_find(const lgt_fuser *fuser, const lgt_window *window) {
  return fuser->table[position_of(fuser, window->hash, window->word, window->nword)];
}

lgt_plan *lgt_fuser_find_form(const lgt_fuser *fuser, const lgt_window *window) {
  lgt_plan *plan = fuser->by_form[window->form_hash % LGT_FORMS];
  bool found = plan && plan->form_hash == window->form_hash && plan->nform == window->nform &&
               !memcmp(plan->form, window->form, (size_t)plan->nform * sizeof *plan->form);
  return found ? plan : NULL;
}

static bool grow(lgt_fuser *fuser) {
  uint32_t old_mask = fuser->mask, mask = old_mask * 2 + 1;
  lgt_plan **table = lgt_mem_zalloc(((size_t)mask + 1) * sizeof *table), **old = fuser->table;
  if (!table) return false;
  fuser->table = table;
  fuser->mask = mask;
  for (uint32_t i = 0; i <= old_mask; i++)
    if (old[i]) table[position_of(fuser, old[i]->hash, old[i]->word, old[i]->nword)] = old[i];
  lgt_mem_free(old);
  return true;
}

void lgt_fuser_retire(lgt_fuser *fuser) {
  lgt_plan **old = fuser->table, **table = lgt_mem_zalloc(((size_t)fuser->mask + 1) * sizeof *table);
  if (!table) return;
  fuser->table = table;
  fuser->count = 0;
  for (uint32_t i = 0; i <= fuser->mask; i++) {
    lgt_plan *plan = old[i];
    if (!plan || (plan->epoch + 1 < fuser->stores->epoch && put_aside(fuser, plan))) continue;
    table[position_of(fuser, plan->hash, plan->word, plan->nword)] = plan;
    fuser->count++;
  }
  lgt_mem_free(old);
}

void lgt_fuser_sweep(lgt_fuser *fuser) {
  int n = 0;
  if (!fuser->gone)
    fuser->gone = lgt_mem_zalloc(LGT_GONE * sizeof *fuser->gone); /* without it nothing is told */
  for (int i = 0; i < fuser->nretired; i++) {
    lgt_plan *plan = fuser->retired[i];
    if (plan->refs) {
      fuser->retired[n++] = plan;
      continue;
    }
    fuser->calls -= plan->ncall;
    if (fuser->gone) fuser->gone[plan->calls_hash % LGT_GONE] = plan->calls_hash;
    lgt_plan_free(plan);
  }
  fuser->nretired = n;
}

void lgt_fuser_forget_seen(lgt_fuser *fuser) { memset(fuser->seen, 0, LGT_FORMS * sizeof *fuser->seen); }

static bool insert(lgt_fuser *fuser, lgt_plan *plan) {
  if (fuser->count * 2 > fuser->mask && !grow(fuser)) return false;
  uint64_t *gone = fuser->gone ? &fuser->gone[plan->calls_hash % LGT_GONE] : NULL;
  uint32_t i = position_of(fuser, plan->hash, plan->word, plan->nword);
  if (fuser->table[i] && !put_aside(fuser, fuser->table[i])) return false;
  fuser->count += !fuser->table[i];
  fuser->calls += plan->ncall;
  fuser->made++;
  if (gone && *gone == plan->calls_hash) fuser->again++, *gone = 0;
  fuser->table[i] = plan;
  if (plan->form) fuser->by_form[plan->form_hash % LGT_FORMS] = plan;
  return true;
}

/* ---- describe ------------------------------------------------------------------------------------ */

static void log_launch(const lgt_plan_call *call) {
  const lgt_partition *p = call->launch;
  char text[128] = "";
  int used = 0;
  for (int d = 0; p->kind == LGT_PARTITION_TILING && d < p->ndim; d++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld from %lld", d ? " x " : " of ",
                     (long long)p->tile[d], (long long)p->offset[d]);
  lgt_log_print(LGT_LOG_CONSTRAINT, "%s: %d tiles%s (%s)", call->kind->name, p->ncolour, text, call->reason);
}

/* Keys as they will be when a call runs: `state` is by root and follows the window's writes. */
static lgt_status describe_call(lgt_fuser *fuser, const lgt_call *call, const lgt_solver_key_state *state,
                                lgt_plan_call *out) {
  lgt_solver_key_state args[LGT_MAX_ARGS];
  out->kind = call->kind;
  out->nargs = call->nargs;
  for (int a = 0; a < call->nargs; a++) {
    out->root[a] = lgt_store_at(fuser->stores, call->store[a])->number;
    out->layout[a] = call->layout[a];
  }
  lgt_status status = lgt_space_of_call(fuser->stores, call, &out->space);
  if (status) return status;
  for (int a = 0; a < call->nargs; a++) args[a] = state[out->root[a]];
  out->launch = lgt_solver_choose(&fuser->solver, fuser->stores, call, &out->space, args, &out->reason);
  if (!out->launch) return LGT_NO_MEMORY;
  if (lgt_log_on(CONSTRAINT, 3)) log_launch(out);
  const lgt_partition **recent = fuser->solver.recent;
  if (out->launch->ncolour > 1 && recent[0] != out->launch) {
    memmove(recent + 1, recent, sizeof fuser->solver.recent - sizeof *recent);
    recent[0] = out->launch;
  }
  if (!out->launch->ndim && out->launch->kind == LGT_PARTITION_TILING) fuser->solver.number = out->launch;
  return LGT_OK;
}

/* The keys of what a call has written. */
static void follow_keys(const lgt_fuser *fuser, const lgt_plan_call *call, lgt_solver_key_state *state) {
  for (int a = 0; a < call->nargs && !lgt_solver_whole(&fuser->solver); a++)
    if (lgt_kind_writes(call->kind, a)) {
      const lgt_layout *layout = lgt_layout_at(fuser->stores, call->layout[a]);
      lgt_solver_key_state *s = &state[call->root[a]];
      *s = (lgt_solver_key_state){
          lgt_solver_key_after(&fuser->solver, layout, &call->space.align[a], call->launch,
                               call->kind->privilege[a] & LGT_PRIV_REDUCE, s->key),
          true};
    }
}

/* A launch that writes where something is already, which its tiles follow: others over the same extent shall do so, too. */
static void note_anchor(const lgt_plan_call *call, const lgt_solver_key_state *state,
                        const lgt_partition **anchor) {
  int n = 0;
  bool writes = false;
  for (int a = 0; a < call->nargs; a++) writes |= lgt_kind_writes(call->kind, a) && state[call->root[a]].key;
  while (n < LGT_ANCHORS && anchor[n] && anchor[n] != call->launch) n++;
  if (writes && call->launch->ncolour > 1 && n < LGT_ANCHORS) anchor[n] = call->launch;
}

/* All calls, and again once it is known where they write. */
static lgt_status describe_calls(lgt_fuser *fuser, const lgt_window *window, int n, lgt_plan *plan) {
  lgt_solver *solver = &fuser->solver;
  lgt_solver_key_state *state = lgt_mem_zalloc(((size_t)window->nroot + 1) * sizeof *state);
  lgt_status status = state ? LGT_OK : lgt_no_memory_to_fuse();
  const lgt_partition *anchor[LGT_ANCHORS] = {NULL};
  memset(solver->anchor, 0, sizeof solver->anchor);
  for (int round = 0; round < 2 && !status && (round == 0 || anchor[0]); round++) {
    for (int r = 0; r < window->nroot; r++)
      state[r] = (lgt_solver_key_state){plan->root[r].key = lgt_store_at(fuser->stores, window->root[r])->key,
                                        false};
    memset(solver->recent, 0, sizeof solver->recent);
    solver->number = NULL;
    memcpy(solver->anchor, anchor, sizeof anchor);
    for (int i = 0; i < n && !status; i++) {
      status = describe_call(fuser, &window->call[i], state, &plan->call[i]);
      if (round == 0 && !status) note_anchor(&plan->call[i], state, anchor);
      if (!status) follow_keys(fuser, &plan->call[i], state);
    }
    for (int r = 0; r < window->nroot; r++) plan->root[r].last_key = state[r].key;
  }
  lgt_mem_free(state);
  return status;
}

/* Does the first use of a root write all of it, without looking? */
static bool defines(const lgt_fuser *fuser, const lgt_plan_call *call, uint16_t root) {
  bool defined = false;
  for (int a = 0; a < call->nargs; a++) {
    if (call->root[a] != root) continue;
    int privilege = call->kind->privilege[a];
    if (privilege & LGT_PRIV_READ) return false;
    if (lgt_layout_covers(lgt_layout_at(fuser->stores, call->layout[a]), privilege & LGT_PRIV_REDUCE))
      defined = true;
  }
  return defined;
}

/* No piece meets another one. */
int lgt_plan_pieces(const lgt_fuser *fuser, const lgt_plan *plan, uint16_t root) {
  enum { MOST_PIECES = 8 };
  lgt_rect piece[MOST_PIECES], common;
  int64_t left = lgt_layout_at(fuser->stores, plan->root[root].layout)->size;
  int n = 0, i = 0;
  for (; i < plan->ncall && left > 0; i++)
    for (int a = 0; a < plan->call[i].nargs; a++) {
      const lgt_plan_call *call = &plan->call[i];
      const lgt_layout *l = lgt_layout_at(fuser->stores, call->layout[a]);
      if (call->root[a] != root) continue;
      if (call->kind->privilege[a] != LGT_PRIV_WRITE || !lgt_layout_exact(l) || n == MOST_PIECES) return 0;
      lgt_rect all = lgt_rect_of_shape(l->ndim, l->shape);
      piece[n] = lgt_layout_root_rect(l, &all);
      for (int k = 0; k < n; k++)
        if (lgt_rect_intersect(&piece[k], &piece[n], &common)) return 0;
      left -= lgt_rect_size(&piece[n++]);
    }
  return left == 0 ? i : 0;
}

/* Arrays that are written piece by piece, as joined and rolled ones are. */
static void find_pieces(const lgt_fuser *fuser, const lgt_window *window, lgt_plan *plan) {
  for (int r = 0; r < plan->nroot && lgt_solver_whole(&fuser->solver); r++) {
    const lgt_store *store = lgt_store_at(fuser->stores, window->root[r]);
    lgt_plan_root *root = &plan->root[r];
    if (!root->fresh && root->writes > 1 && !store->written && !store->attached)
      root->pieces = (uint16_t)lgt_plan_pieces(fuser, plan, (uint16_t)r);
    root->joined = root->pieces > 0;
    root->fresh |= root->joined;
  }
  for (int i = 0; i < plan->ncall; i++)
    for (int a = 0; a < plan->call[i].nargs; a++)
      if (lgt_kind_writes(plan->call[i].kind, a))
        plan->root[plan->call[i].root[a]].joined &= plan->call[i].kind->is_copy;
}

static void describe_roots(lgt_fuser *fuser, const lgt_window *window, lgt_plan *plan) {
  for (int r = 0; r < plan->nroot; r++) {
    const lgt_store *store = lgt_store_at(fuser->stores, window->root[r]);
    plan->root[r].layout = store->layout;
    plan->root[r].attached = store->attached;
    plan->root[r].fresh = !store->written && !store->attached;
    plan->root[r].alive = lgt_store_reachable(store);
    plan->root[r].first_group = LGT_NONE;
  }
  for (int i = plan->ncall - 1; i >= 0; i--) /* backwards: the first use has the last word */
    for (int a = 0; a < plan->call[i].nargs; a++) {
      const lgt_plan_call *call = &plan->call[i];
      lgt_plan_root *root = &plan->root[call->root[a]];
      root->uses++;
      if (lgt_kind_writes(call->kind, a)) root->writes++;
      if (call->kind->privilege[a] & LGT_PRIV_REDUCE) root->reduced = true;
      const lgt_store *store = lgt_store_at(fuser->stores, window->root[call->root[a]]);
      root->fresh = !store->written && !store->attached && defines(fuser, call, call->root[a]);
    }
  find_pieces(fuser, window, plan);
}

/* ---- decide --------------------------------------------------------------------------------------- */

static bool is_single(const lgt_fuser *fuser, const lgt_plan_root *root) {
  return lgt_layout_at(fuser->stores, root->layout)->size == 1;
}

static int64_t bytes_of(const lgt_fuser *fuser, const lgt_plan_root *root) {
  return lgt_layout_bytes(lgt_layout_at(fuser->stores, root->layout));
}

/* Can what a call writes be computed again from arrays that somebody holds, and that stay as they are? */
static bool comes_from_held(const lgt_plan *plan, const lgt_plan_call *call) {
  bool good = !call->kind->reduces && !lgt_kind_alone(call->kind);
  for (int a = 0; a < call->nargs && good; a++) {
    const lgt_plan_root *root = &plan->root[call->root[a]];
    if (lgt_kind_writes(call->kind, a)) good = root->fresh && root->writes == 1;
    else good = root->spare || (!root->fresh && root->alive && !root->writes);
  }
  return good;
}

/* Results that the group reads on, and whose recipes would keep no memory that is not kept anyway. */
static void find_spare(lgt_plan *plan) {
  for (int i = 0; i < plan->ncall; i++) {
    const lgt_plan_call *call = &plan->call[i];
    bool spare = comes_from_held(plan, call);
    for (int a = 0; a < call->nargs; a++) {
      lgt_plan_root *root = &plan->root[call->root[a]];
      if (lgt_kind_writes(call->kind, a)) root->spare = spare;
      else root->read = true;
    }
  }
  for (int r = 0; r < plan->nroot; r++) plan->root[r].spare &= plan->root[r].read;
}

/* An array of which groups write a piece each is no group's own. */
static void tear_pieces(lgt_plan *plan) {
  for (int r = 0; r < plan->nroot; r++) {
    lgt_plan_root *root = &plan->root[r];
    if (!root->pieces) continue;
    const lgt_plan_group *group = &plan->group[root->first_group];
    if (root->pieces > group->first + group->count) root->pieces = 0, root->fresh = root->joined = false;
  }
}

static bool is_in(const lgt_plan_root *root, int group) {
  return root->first_group <= group && group <= root->last_group;
}

/* May recipes want what a group of one domain finds in a root and overwrites, and do not have it yet? */
static bool may_save(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan_root *root, int number) {
  bool may = plan->saves && lgt_solver_whole(&fuser->solver);
  return may && is_in(root, number) && root->writes && !root->fresh && !root->attached && !root->saved;
}

static int64_t bytes_to_save(const lgt_fuser *fuser, const lgt_plan *plan, int number) {
  int64_t bytes = 0;
  for (int r = 0; r < plan->nroot; r++)
    if (may_save(fuser, plan, &plan->root[r], number)) bytes += bytes_of(fuser, &plan->root[r]);
  return bytes;
}

static void save_all(const lgt_fuser *fuser, lgt_plan *plan, int number) {
  for (int r = 0; r < plan->nroot; r++) plan->root[r].saved |= may_save(fuser, plan, &plan->root[r], number);
}

/* Does a group write an array again that somebody wrote before? */
static bool overwrites(const lgt_plan *plan, int number) {
  bool any = false;
  for (int r = 0; r < plan->nroot; r++) {
    const lgt_plan_root *root = &plan->root[r];
    any |= is_in(root, number) && !root->attached && root->writes > root->fresh;
  }
  return any;
}

/* Bytes of what a group finds, that only recipes would keep. */
static int64_t bytes_to_keep(const lgt_fuser *fuser, const lgt_plan *plan, int number) {
  int64_t bytes = bytes_to_save(fuser, plan, number);
  for (int r = 0; r < plan->nroot; r++) {
    const lgt_plan_root *root = &plan->root[r];
    if (is_in(root, number) && root->read && !root->fresh && !root->alive && !root->writes)
      bytes += bytes_of(fuser, root);
  }
  return bytes;
}

/* Is a result of a group stored only because the program still has it, but was made for other calls of the group, as are the
 * variables of a loop, which its next turn sets anew?  And would a recipe keep little, so many bytes, for its sake? */
static bool is_passing(const lgt_fuser *fuser, const lgt_plan *plan, int r, int number, int64_t kept) {
  const lgt_plan_root *root = &plan->root[r];
  bool of_group = root->fresh && root->first_group == number && root->last_group == number;
  bool passed_on = of_group && root->read && root->writes == 1;
  return passed_on && root->alive && !root->spare && !plan->lessons->wanted[r] &&
         kept <= WORTH_SAVING * bytes_of(fuser, root);
}

/* Where these would take much more memory than what they were made of, and nobody else needs any more, the group keeps that
 * for recipes instead.  (What it makes itself a recipe makes again.) */
static void spare_passing(const lgt_fuser *fuser, lgt_plan *plan, int number) {
  if (!plan->saves || !lgt_solver_whole(&fuser->solver)) return;
  int64_t bytes = 0, saved = bytes_to_save(fuser, plan, number), kept = bytes_to_keep(fuser, plan, number);
  if (!kept && !overwrites(plan, number)) return;
  for (int r = 0; r < plan->nroot; r++)
    if (is_passing(fuser, plan, r, number, kept)) bytes += bytes_of(fuser, &plan->root[r]);
  if (bytes / WORTH_SAVING < kept) return;
  for (int r = 0; r < plan->nroot; r++)
    if (is_passing(fuser, plan, r, number, kept)) {
      plan->root[r].stored = false;
      plan->root[r].passing = true;
    }
  save_all(fuser, plan, number);
  plan->spares |= saved > fuser->most_saved;
}

bool lgt_plan_spares_still(const lgt_fuser *fuser, const lgt_plan *plan, int number) {
  int64_t bytes = 0, least = INT64_MAX, kept = bytes_to_keep(fuser, plan, number);
  for (int r = 0; r < plan->nroot; r++) {
    const lgt_plan_root *root = &plan->root[r];
    if (!is_in(root, number)) continue;
    if (root->saved) kept += bytes_of(fuser, root);
    if (!root->passing || root->stored) continue;
    bytes += bytes_of(fuser, root);
    if (bytes_of(fuser, root) < least) least = bytes_of(fuser, root);
  }
  return least == INT64_MAX || (bytes / WORTH_SAVING >= kept && kept / WORTH_SAVING <= least);
}

static void decide_stored(const lgt_fuser *fuser, lgt_plan *plan) {
  tear_pieces(plan);
  find_spare(plan);
  for (int r = 0; r < plan->nroot; r++) {
    lgt_plan_root *root = &plan->root[r];
    bool asked = plan->lessons->wanted[r] || (root->alive && !(plan->lean && root->spare));
    bool elide = root->fresh && lgt_fuser_elides(fuser) && !asked && root->first_group == root->last_group &&
                 (lgt_solver_whole(&fuser->solver) || !is_single(fuser, root));
    root->stored = !elide;
    root->passing = false;
  }
  for (int g = 0; g < plan->ngroup && lgt_fuser_elides(fuser); g++) spare_passing(fuser, plan, g);
  /* What a CPU variant writes is stored; so is what several colours reduce: all ranks take part in it, so whether
   * one of them holds the result must not matter.  A single element that comes from larger arrays is, too: no recipe should
   * keep these for it. */
  for (int i = 0; i < plan->ncall; i++) {
    const lgt_plan_call *call = &plan->call[i];
    bool singles = !call->kind->reduces;
    for (int a = 0; a < call->nargs; a++) singles &= is_single(fuser, &plan->root[call->root[a]]);
    for (int a = 0; a < call->nargs; a++)
      if (lgt_kind_alone(call->kind) ||
          (call->launch->ncolour > 1 && call->kind->privilege[a] & LGT_PRIV_REDUCE) ||
          (!singles && is_single(fuser, &plan->root[call->root[a]])))
        plan->root[call->root[a]].stored = true;
  }
}

/* A call is needed if it writes something that lasts, or that a needed call reads. */
static void decide_needed(lgt_plan *plan, bool *needed, bool *read) {
  for (int i = plan->ncall - 1; i >= 0; i--) {
    const lgt_plan_call *call = &plan->call[i];
    needed[i] = lgt_kind_alone(call->kind);
    for (int a = 0; a < call->nargs; a++) {
      const lgt_plan_root *root = &plan->root[call->root[a]];
      if (lgt_kind_writes(call->kind, a) && (!root->fresh || root->stored || read[call->root[a]]))
        needed[i] = true;
    }
    for (int a = 0; a < call->nargs && needed[i]; a++)
      if (call->kind->privilege[a] & LGT_PRIV_READ) read[call->root[a]] = true;
  }
}

/* Shall a group of one domain leave alone what it finds in arrays that it overwrites, and work in copies, for the sake of
 * results that otherwise must die?  `storing`: what it would take to store those, in ns.  The next windows of this form may
 * have larger ones. */
static bool save(const lgt_fuser *fuser, lgt_plan *plan, int number, double storing, double collection_ns) {
  int64_t bytes = bytes_to_save(fuser, plan, number);
  double saving = (double)bytes / SAVE_BYTES_PER_NS;
  if (!bytes || bytes > fuser->most_saved || saving > storing || saving > collection_ns) return false;
  save_all(fuser, plan, number);
  return true;
}

/* Bytes of the roots that a group finds and reads. */
static int64_t bytes_found(const lgt_fuser *fuser, const lgt_plan *plan, int number) {
  int64_t bytes = 0;
  for (int r = 0; r < plan->nroot; r++) {
    const lgt_plan_root *root = &plan->root[r];
    if (is_in(root, number) && root->read && !root->fresh) bytes += bytes_of(fuser, root);
  }
  return bytes;
}

static bool is_reduced_and_must_die(const lgt_plan *plan, const lgt_plan_elided *elided) {
  return elided->must_die && plan->root[elided->root].reduced;
}

/* A recipe does not go through a reduction.  If what was reduced is stored, what is made of it may have recipes; not if it must
 * die for another reason, too, and so storing must cost little beside the alternative, to collect or to store all of it.  Nor
 * must it cost more to copy what these recipes keep, should the next window overwrite that. */
static bool store_reductions(const lgt_fuser *fuser, lgt_plan *plan, int number, double alternative_ns) {
  const lgt_plan_group *group = &plan->group[number];
  double cost = 0;
  for (int e = 0; e < group->nelided; e++)
    if (is_reduced_and_must_die(plan, &group->elided[e]))
      cost += (double)bytes_of(fuser, &plan->root[group->elided[e].root]) / STORE_BYTES_PER_NS + RESULT_NS;
  if (cost == 0 || cost > alternative_ns / WORTH_TRYING) return false;
  if ((double)bytes_found(fuser, plan, number) / SAVE_BYTES_PER_NS > alternative_ns) return false;
  for (int e = 0; e < group->nelided; e++)
    if (is_reduced_and_must_die(plan, &group->elided[e])) plan->lessons->wanted[group->elided[e].root] = true;
  return true;
}

/* Results that must die before their group runs, but are cheaper to store than to collect; or that need not if the group
 * stores the reductions among what they were made of, or saves what it overwrites of that, which is cheaper still. */
static bool revise(const lgt_fuser *fuser, lgt_plan *plan, double collection_ns) {
  bool changed = false;
  for (int g = 0; g < plan->ngroup; g++) {
    lgt_plan_group *group = &plan->group[g];
    double bytes = 0;
    int large = 0;
    for (int e = 0; e < group->nelided; e++) {
      lgt_plan_root *root = &plan->root[group->elided[e].root];
      const lgt_layout *l = lgt_layout_at(fuser->stores, root->layout);
      if (!group->elided[e].must_die) continue;
      bytes += (double)lgt_layout_bytes(l);
      if (is_single(fuser, root)) plan->lessons->wanted[group->elided[e].root] = changed = true;
      else large++;
    }
    if (!large) continue;
    double storing = bytes / STORE_BYTES_PER_NS + large * RESULT_NS;
    if (store_reductions(fuser, plan, g, storing < collection_ns ? storing : collection_ns) ||
        save(fuser, plan, g, storing, collection_ns)) {
      changed = true;
      continue;
    }
    if (bytes / STORE_BYTES_PER_NS > collection_ns) continue;
    for (int e = 0; e < group->nelided; e++)
      if (group->elided[e].must_die) plan->lessons->wanted[group->elided[e].root] = changed = true;
  }
  return changed;
}

/* For tests: where a collection costs nothing, small results are treated as large ones are. */
static double cost_of_collection(lgt_fuser *fuser) {
  return lgt_random_choice(&fuser->jitter) ? 0 : fuser->collection_ns;
}

static lgt_status weave_groups(lgt_fuser *fuser, lgt_plan *plan) {
  bool *needed = lgt_mem_zalloc((size_t)plan->ncall + (size_t)plan->nroot + 1);
  lgt_status status = needed ? LGT_OK : lgt_no_memory_to_fuse();
  if (!status) decide_needed(plan, needed, needed + plan->ncall);
  for (int g = 0; g < plan->ngroup && !status; g++)
    status = lgt_weave(fuser, &plan->group[g], needed + plan->group[g].first);
  lgt_mem_free(needed);
  return status;
}

/* ---- what LGT_DEBUG=fuse shows --------------------------------------------------------------------- */

static void log_summary(const lgt_plan *plan) {
  int passes = 0, elided = 0;
  for (int g = 0; g < plan->ngroup; g++) {
    passes += plan->group[g].nloop;
    elided += plan->group[g].nelided;
  }
  lgt_log_print(LGT_LOG_FUSE, "%d launch%s become %d task%s of %d loop%s; %d result%s not stored",
                plan->ncall, plan->ncall == 1 ? "" : "es", plan->ngroup, lgt_plural(plan->ngroup), passes,
                lgt_plural(passes), elided, elided == 1 ? " is" : "s are");
}

/* Groups and loops; a root is r if it is stored, t if not, with its number and layout. */
static void log_plan(const lgt_plan *plan) {
  for (int g = 0; g < plan->ngroup; g++) {
    const lgt_plan_group *group = &plan->group[g];
    lgt_log_print(LGT_LOG_FUSE, "group %d: %d calls, %d loops, %d slots, %d elided, %d colours; ended: %s", g,
                  group->count, group->nloop, group->nslot, group->nelided, group->launch->ncolour,
                  lgt_refusal_text(group->refusal));
    for (int i = group->first; i < group->first + group->count; i++) {
      char text[256] = "";
      int used = 0;
      for (int a = 0; a < plan->call[i].nargs && used < 200; a++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %c%d:%u",
                         plan->root[plan->call[i].root[a]].stored ? 'r' : 't', plan->call[i].root[a],
                         plan->call[i].layout[a]);
      lgt_log_print(LGT_LOG_FUSE, "  %s%s", plan->call[i].kind->name, text);
    }
    for (int l = 0; l < group->nloop; l++) {
      const lgt_plan_loop *loop = &group->loop[l];
      for (int k = 0; k < loop->nnative; k++)
        lgt_log_print(LGT_LOG_FUSE, "  loop %d: %s", l, loop->native[k].kind->name);
      if (loop->kernel)
        lgt_log_print(LGT_LOG_FUSE, "  loop %d: %d instructions, %d accesses, %d chunks, %lld bytes%s", l,
                      loop->kernel->loop->ninst, loop->kernel->loop->naccess, loop->shape.nchunk,
                      (long long)loop->bytes, loop->stream ? ", streaming" : "");
    }
  }
}

/* ---- entry ---------------------------------------------------------------------------------------- */

void lgt_plan_want_code(const lgt_fuser *fuser, const lgt_plan_group *group) {
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    if (loop->kernel)
      lgt_kernel_want(fuser->kernels, loop->kernel, loop->stream ? LGT_KERNEL_STREAM : LGT_KERNEL_PLAIN,
                      loop->shape.size);
  }
}

void lgt_plan_want_host_code(const lgt_fuser *fuser, const lgt_plan *plan) {
  if (lgt_kernels_for_devices(fuser->kernels)) return;
  for (int g = 0; g < plan->ngroup; g++) lgt_plan_want_code(fuser, &plan->group[g]);
}

static bool copy_form(const lgt_window *window, lgt_plan *plan) {
  plan->form = lgt_mem_alloc(((size_t)window->nform + 1) * sizeof *plan->form);
  plan->layout = lgt_mem_alloc(((size_t)window->nlayout + 1) * sizeof *plan->layout);
  if (!plan->form || !plan->layout) return false;
  plan->form_hash = window->form_hash;
  plan->nform = window->nform;
  plan->nlayout = window->nlayout;
  memcpy(plan->form, window->form, (size_t)plan->nform * sizeof *plan->form);
  memcpy(plan->layout, window->layout, (size_t)plan->nlayout * sizeof *plan->layout);
  return true;
}

static lgt_plan *plan_new(const lgt_window *window, int n, uint32_t epoch) {
  lgt_plan *plan = lgt_mem_zalloc(sizeof *plan);
  if (!plan) return NULL;
  plan->hash = window->hash;
  for (int i = 0; i < n; i++) plan->calls_hash = lgt_hash_mix(plan->calls_hash, window->token[i]);
  plan->nword = window->nword;
  plan->ncall = n;
  plan->nroot = window->nroot;
  plan->saves = window->saves;
  plan->lean = window->lean;
  plan->devices = window->devices;
  plan->epoch = epoch;
  plan->word = lgt_mem_alloc(((size_t)plan->nword + 1) * sizeof *plan->word);
  plan->call = lgt_mem_zalloc(((size_t)n + 1) * sizeof *plan->call);
  plan->root = lgt_mem_zalloc(((size_t)plan->nroot + 1) * sizeof *plan->root);
  plan->lessons = lgt_mem_zalloc(sizeof *plan->lessons + (size_t)plan->nroot * sizeof *plan->lessons->wanted);
  if (plan->lessons) plan->lessons->wanted = (bool *)(plan->lessons + 1);
  size_t nargs = 1;
  for (int i = 0; i < n; i++) nargs += window->call[i].nargs;
  plan->align = lgt_mem_alloc(nargs * sizeof *plan->align);
  lgt_alignment *align = plan->align;
  for (int i = 0; i < n && plan->call && align; i++, align += window->call[i - 1].nargs)
    plan->call[i].space.align = align;
  if (plan->word && plan->call && plan->align && plan->root && plan->lessons && copy_form(window, plan)) {
    memcpy(plan->word, window->word, (size_t)plan->nword * sizeof *plan->word);
    return plan;
  }
  lgt_plan_free(plan);
  return NULL;
}

/* The plan's calls and roots; a plan that failed is the caller's, too. */
static lgt_status describe(lgt_fuser *fuser, const lgt_window *window, int n, lgt_plan **out) {
  lgt_plan *plan = *out = plan_new(window, n, fuser->stores->epoch);
  lgt_status status = plan ? describe_calls(fuser, window, n, plan) : lgt_no_memory_to_fuse();
  if (!status) describe_roots(fuser, window, plan);
  return status;
}

lgt_status lgt_fuser_decide(lgt_fuser *fuser, const lgt_window *window, int n, lgt_plan **out) {
  lgt_status status = describe(fuser, window, n, out);
  if (!status) status = lgt_group_calls(fuser, *out);
  if (!status) return LGT_OK;
  lgt_plan_free(*out);
  *out = NULL;
  return status;
}

lgt_status lgt_fuser_plan(lgt_fuser *fuser, const lgt_window *window, int n, lgt_plan **out) {
  lgt_plan *old = lgt_fuser_find(fuser, window), *plan;
  if (!old) old = lgt_fuser_find_form(fuser, window); /* its roots are numbered alike */
  lgt_status status = describe(fuser, window, n, &plan);
  double collection_ns = cost_of_collection(fuser);
  for (int r = 0; old && !status && r < plan->nroot; r++) plan->lessons->wanted[r] = old->lessons->wanted[r];
  for (int attempt = 0; attempt < ATTEMPTS && !status; attempt++) {
    clear_groups(plan);
    status = lgt_group_calls(fuser, plan);
    decide_stored(fuser, plan);
    if (!status) status = weave_groups(fuser, plan);
    if (status || attempt + 1 == ATTEMPTS || !revise(fuser, plan, collection_ns)) break;
  }
  if (!status && !insert(fuser, plan))
    status = lgt_err(LGT_NO_MEMORY, "out of memory for the table of plans");
  if (status) {
    lgt_plan_free(plan);
    return status;
  }
  lgt_plan_want_host_code(fuser, plan);
  if (fuser->config->check) lgt_verified(lgt_plan_verify(fuser, plan));
  if (lgt_log_on(FUSE, 1)) log_summary(plan);
  if (lgt_log_on(FUSE, 3)) log_plan(plan);
  *out = plan;
  return LGT_OK;
}
