/* window.c - taking launches from the front, cutting, and the canonical form.  See window.h. */
#include "plan/window.h"

#include <string.h>

#include "base/hash.h"

lgt_status lgt_window_init(lgt_window *window, int room) {
  *window = (lgt_window){.room = room};
  window->call = lgt_mem_alloc((size_t)room * sizeof *window->call);
  window->token = lgt_mem_alloc((size_t)room * sizeof *window->token);
  window->form_token = lgt_mem_alloc((size_t)room * sizeof *window->form_token);
  return window->call && window->token && window->form_token
             ? LGT_OK
             : lgt_err(LGT_NO_MEMORY, "out of memory for the window of launches");
}

/* Launches that were dropped leave a gap, which is closed only when others come: a window may be dropped in many parts. */
static void close_gap(lgt_window *window) {
  int gap = window->gap;
  if (!gap) return;
  window->call -= gap;
  window->token -= gap;
  window->form_token -= gap;
  memmove(window->call, window->call + gap, (size_t)window->count * sizeof *window->call);
  memmove(window->token, window->token + gap, (size_t)window->count * sizeof *window->token);
  memmove(window->form_token, window->form_token + gap, (size_t)window->formed * sizeof *window->form_token);
  window->gap = 0;
}

void lgt_window_fini(lgt_window *window) {
  close_gap(window);
  lgt_mem_free(window->call);
  lgt_mem_free(window->token);
  lgt_mem_free(window->form_token);
  lgt_mem_free(window->form);
  lgt_mem_free(window->layout);
  lgt_mem_free(window->word);
  lgt_mem_free(window->root);
  *window = (lgt_window){0};
}

/* The store of a handle; a handle that only has a layout gets its store now. */
static lgt_status find_store(lgt_stores *stores, lgt_front *front, lgt_id id, uint32_t line,
                             lgt_store **out) {
  lgt_handle *handle = &front->handles[id <= front->max_id ? id : 0];
  if (!handle->layout)
    return handle->store ? lgt_err(LGT_RELEASED, "it was detached")
                         : lgt_err(LGT_BAD_ARGUMENT, "array handle %u is not in use", id);
  if (!handle->store) {
    lgt_store *store = lgt_store_new(stores, handle->layout);
    if (!store) return LGT_NO_MEMORY;
    store->handles = 1;
    store->line = line;
    handle->store = store->id;
  }
  *out = lgt_store_at(stores, handle->store);
  return LGT_OK;
}

static lgt_status resolve(lgt_stores *stores, const lgt_kinds *kinds, lgt_front *front,
                          const lgt_launch *launch, lgt_call *call) {
  const lgt_kind *kind = lgt_kinds_find(kinds, launch->kind);
  if (!kind) return LGT_BAD_ARGUMENT;
  if (launch->nargs != kind->nargs)
    return lgt_err(LGT_BAD_ARGUMENT, "task '%s' takes %d argument%s, %d were given", kind->name, kind->nargs,
                   lgt_plural(kind->nargs), launch->nargs);
  call->kind = kind;
  call->kind_number = launch->kind;
  call->nargs = launch->nargs;
  call->nparams = launch->nparams;
  call->line = launch->line;
  for (int a = 0; a < launch->nargs; a++) {
    lgt_store *store = NULL;
    lgt_status status = find_store(stores, front, launch->arg[a], launch->line, &store);
    if (status) return lgt_err_within(status, "task '%s', argument %d", kind->name, a + 1);
    call->store[a] = store->id;
    call->layout[a] = front->handles[launch->arg[a]].layout;
  }
  for (int a = 0; a < launch->nargs; a++) stores->store[call->store[a]].refs++;
  if (launch->nparams) memcpy(call->param, launch->param, launch->nparams * sizeof *call->param);
  return LGT_OK;
}

/* By contents and not by numbers, which differ between ranks: all must cut at the same places. */
static uint64_t token_of(const lgt_stores *stores, const lgt_call *call) {
  uint64_t h = call->kind->hash;
  for (int a = 0; a < call->nargs; a++) h = lgt_hash_mix(h, lgt_layout_at(stores, call->layout[a])->hash);
  return h;
}

static uint64_t form_token_of(lgt_stores *stores, const lgt_call *call) {
  uint64_t h = call->kind->hash;
  for (int a = 0; a < call->nargs; a++) h = lgt_hash_mix(h, lgt_layout_form(stores, call->layout[a]));
  return h;
}

lgt_status lgt_window_take(lgt_window *window, lgt_stores *stores, const lgt_kinds *kinds, lgt_front *front,
                           uint32_t *line) {
  lgt_status status = LGT_OK;
  close_gap(window);
  lgt_assert(window->count + (int)front->count <= window->room);
  uint32_t taken = 0;
  while (taken < front->count && !status) {
    lgt_call *call = &window->call[window->count];
    *line = front->launches[taken].line;
    status = resolve(stores, kinds, front, &front->launches[taken++], call);
    if (status) break;
    window->token[window->count++] = token_of(stores, call);
  }
  if (taken < front->count)
    memmove(front->launches, front->launches + taken, (front->count - taken) * sizeof *front->launches);
  front->count -= taken;
  return status;
}

bool lgt_window_reserve(lgt_window *window, int n) {
  close_gap(window);
  int need = window->count + n, room[3] = {window->room, window->room, window->room};
  if (!lgt_mem_grow((void **)&window->call, &room[0], need, sizeof *window->call) ||
      !lgt_mem_grow((void **)&window->token, &room[1], need, sizeof *window->token) ||
      !lgt_mem_grow((void **)&window->form_token, &room[2], need, sizeof *window->form_token))
    return false;
  window->room = room[0];
  return true;
}

void lgt_window_add(lgt_window *window, lgt_stores *stores, const lgt_call *call) {
  lgt_assert(window->gap + window->count < window->room);
  window->call[window->count] = *call;
  window->token[window->count++] = token_of(stores, call);
}

/* Where the last repetition of a loop ends, if loops fill at least half of the window; else 0.  *period: its length, the
 * shortest one: two equal calls at the end of the window are no loop, but what repeats from its middle on is one. */
static int end_of_loop(const uint64_t *token, int n, int *period) {
  for (int p = 1; p <= n / 2; p++) {
    int start = n - p; /* where the repetition begins */
    while (start > 0 && token[start - 1] == token[start - 1 + p]) start--;
    if (n - start < 2 * p || n - start < n / 2) continue;
    *period = p;
    return start + (n - start) / p * p;
  }
  *period = 0;
  return 0;
}

/* A hash of the tokens around place i. */
static uint64_t surroundings(const uint64_t *token, int i) {
  return lgt_hash_mix(lgt_hash_mix(lgt_hash_mix(token[i - 2 < 0 ? 0 : i - 2], token[i - 1]), token[i]),
                      token[i + 1]);
}

static bool number_root(lgt_window *window, lgt_store *store) {
  if (!lgt_mem_grow((void **)&window->root, &window->root_room, window->nroot + 1, sizeof *window->root))
    return false;
  store->stamp = window->stamp;
  store->uses = 0;
  store->number = (uint16_t)window->nroot;
  window->root[window->nroot++] = store->id;
  return true;
}

/* Bytes of a store that the program makes in the window; 0: it was there before. */
static int64_t bytes_made(const lgt_stores *stores, const lgt_store *store) {
  const lgt_layout *layout = lgt_layout_at(stores, store->layout);
  return store->written || store->attached ? 0 : lgt_layout_bytes(layout);
}

/* Of a store: the call that makes it, plus 1 (0: none of the window does); the last place that it is known to cross. */
typedef struct crossing {
  int made, until;
} crossing;

/* For each place of the window, between two calls: bytes of what is made up to `near` calls before it and used up to as
 * many behind it.  What lies further off does not count, or a landmark would depend on where the window begins.  NULL
 * when out of memory. */
static int64_t *bytes_across(lgt_window *window, lgt_stores *stores, int n, int near) {
  window->nroot = 0;
  window->stamp++;
  int64_t *bytes = lgt_mem_zalloc(((size_t)n + 2) * sizeof *bytes);
  crossing *known = NULL;
  int room = 0;
  for (int i = 0; i < n && bytes; i++)
    for (int a = 0; a < window->call[i].nargs; a++) {
      lgt_store *store = lgt_store_at(stores, window->call[i].store[a]);
      bool first = store->stamp != window->stamp;
      if (first && (!number_root(window, store) ||
                    !lgt_mem_grow((void **)&known, &room, window->nroot, sizeof *known))) {
        lgt_mem_free(bytes);
        lgt_mem_free(known);
        return NULL;
      }
      crossing *k = &known[store->number];
      if (first) *k = (crossing){lgt_kind_writes(window->call[i].kind, a) ? i + 1 : 0, i};
      int from = i - near + 1 > k->until + 1 ? i - near + 1 : k->until + 1,
          to = i < k->made - 1 + near ? i : k->made - 1 + near;
      if (first || !k->made || from > to) continue;
      bytes[from] += bytes_made(stores, store);
      bytes[to + 1] -= bytes_made(stores, store);
      k->until = to;
    }
  for (int i = 0; i < n && bytes; i++) bytes[i + 1] += bytes[i];
  lgt_mem_free(known);
  return bytes;
}

/* A program's loop may be longer than the window.  Then cut at a landmark: the place in the second half where fewest
 * bytes cross, for these have to be stored; among such places, where a hash of the neighbouring forms is least; and
 * among those, of the neighbouring tokens.  It depends on the program's text only, so successive turns of the loop soon
 * are cut at the same places (content-defined chunking; Muthitacharoen et al., SOSP'01). */
static int landmark(lgt_window *window, lgt_stores *stores, int n) {
  int best = n, near = n / 8;
  int64_t fewest = INT64_MAX, *across = bytes_across(window, stores, n, near);
  uint64_t least = UINT64_MAX, least_token = UINT64_MAX;
  for (int i = n / 2 + 1; across && i + (near > 1 ? near : 1) < n; i++) {
    uint64_t h = surroundings(window->form_token, i), t = surroundings(window->token, i);
    if (across[i] > fewest) continue;
    if (across[i] == fewest && (h > least || (h == least && t >= least_token))) continue;
    fewest = across[i];
    least = h;
    least_token = t;
    best = i;
  }
  lgt_mem_free(across);
  return best;
}

int lgt_window_cut(lgt_window *window, lgt_stores *stores, bool forced, int *period) {
  int n = window->count;
  *period = 0;
  if (forced || n == 0) return n;
  int end = end_of_loop(window->token, n, period);
  for (; !end && window->formed < n; window->formed++)
    window->form_token[window->formed] = form_token_of(stores, &window->call[window->formed]);
  if (!end) end = end_of_loop(window->form_token, n, period); /* of which each turn has slices of its own */
  if (end) return end;
  *period = 0;
  return landmark(window, stores, n);
}

/* Number the stores of some calls; by number: the last call that uses it, then 0.  NULL when out of memory. */
static int *last_uses(lgt_window *window, lgt_stores *stores, int from, int to) {
  window->nroot = 0;
  window->stamp++;
  for (int i = from; i < to; i++)
    for (int a = 0; a < window->call[i].nargs; a++) {
      lgt_store *store = lgt_store_at(stores, window->call[i].store[a]);
      if (store->stamp != window->stamp && !number_root(window, store)) return NULL;
    }
  int *last = lgt_mem_zalloc((2 * (size_t)window->nroot + 1) * sizeof *last);
  for (int i = from; i < to && last; i++)
    for (int a = 0; a < window->call[i].nargs; a++)
      last[lgt_store_at(stores, window->call[i].store[a])->number] = i;
  return last;
}

/* Does it make an array through an argument?  What changes a part of one does not: that is stored in any case. */
static bool makes(const lgt_stores *stores, const lgt_call *call, int arg) {
  return lgt_kind_writes(call->kind, arg) && lgt_layout_covers(lgt_layout_at(stores, call->layout[arg]),
                                                               call->kind->privilege[arg] & LGT_PRIV_REDUCE);
}

/* Results are followed from two periods before the cut, so that those which cross the first candidate are known when it
 * is reached, to one period behind it, where the last use of what crosses the cut itself lies. */
int lgt_window_fit(lgt_window *window, lgt_stores *stores, int cut, int period) {
  int from = cut - 2 * period > 0 ? cut - 2 * period : 0, best = cut;
  int to = cut + period < window->count ? cut + period : window->count;
  int *last = period > 1 ? last_uses(window, stores, from, to) : NULL;
  int *crosses = last ? last + window->nroot : NULL;
  int64_t crossing = 0, least = INT64_MAX;
  for (int i = from; i < cut && last; i++) { /* is behind call i a better place? */
    const lgt_call *call = &window->call[i];
    for (int a = 0; a < call->nargs; a++) {
      const lgt_store *store = lgt_store_at(stores, call->store[a]);
      int until = last[store->number], *across = &crosses[store->number];
      if (*across == (until > i) || (until > i && !makes(stores, call, a))) continue;
      *across = until > i;
      crossing += *across ? bytes_made(stores, store) : -bytes_made(stores, store);
    }
    if (i < cut - period || crossing > least) continue;
    least = crossing;
    best = i + 1;
  }
  lgt_mem_free(last);
  return best;
}

/* What the window is planned for, which is part of each call's word. */
static uint64_t word_of_purpose(const lgt_window *window) {
  return (uint64_t)window->saves << 32 | (uint64_t)window->lean << 33 | (uint64_t)window->devices << 34;
}

static uint64_t word_of_call(const lgt_call *call) { return call->kind_number | (uint64_t)call->nargs << 16; }

static uint64_t word_of_argument(uint32_t layout, bool first, const lgt_store *store) {
  return (uint64_t)layout << 32 | (uint64_t)first << 16 | store->number;
}

static bool is_first(uint64_t word_of_argument) { return word_of_argument >> 16 & 1; }

/* What planning asks of a store, besides how it is cut: did it exist, does it stay in place? */
static uint64_t word_of_state(const lgt_store *store) {
  return (uint64_t)store->written | (uint64_t)store->attached << 1;
}

bool lgt_window_canonical(lgt_window *window, lgt_stores *stores, int n) {
  int k = 0;
  uint64_t h = (uint64_t)n, pattern = (uint64_t)n;
  window->nroot = 0;
  window->stamp++;
  if (!lgt_mem_grow((void **)&window->word, &window->word_room, n * (1 + 3 * LGT_MAX_ARGS),
                    sizeof *window->word))
    return false;
  uint64_t *word = window->word, made_for = word_of_purpose(window);
  for (int i = 0; i < n; i++) {
    const lgt_call *call = &window->call[i];
    word[k] = word_of_call(call) | made_for;
    h = lgt_hash_mix(h, word[k++]);
    for (int a = 0; a < call->nargs; a++) {
      lgt_store *store = lgt_store_at(stores, call->store[a]);
      bool first = store->stamp != window->stamp;
      if (first && !number_root(window, store)) return false;
      store->uses++;
      word[k] = word_of_argument(call->layout[a], first, store);
      h = lgt_hash_mix(h, word[k++]);
      pattern = lgt_hash_mix(pattern, store->number);
      if (!first) continue;
      word[k] = word_of_state(store);
      h = lgt_hash_mix(h, word[k++]);
      word[k] = (uint64_t)(uintptr_t)store->key;
      h = lgt_hash_mix(h, word[k++]);
    }
  }
  window->nword = k;
  window->hash = h;
  window->pattern = pattern;
  return true;
}

/* A store that the known form has met before must be the same; only one that is new to it is looked at. */
static lgt_difference compare_call(lgt_window *window, lgt_stores *stores, const lgt_call *call,
                                   const uint64_t **word) {
  for (int a = 0; a < call->nargs; a++) {
    uint64_t known = *(*word)++;
    uint16_t number = (uint16_t)known;
    if ((uint32_t)(known >> 32) != call->layout[a]) return LGT_OTHER_CALLS;
    if (!is_first(known)) {
      if (window->root[number] != call->store[a]) return LGT_OTHER_STORES;
      continue;
    }
    lgt_store *store = lgt_store_at(stores, call->store[a]);
    if (store->stamp == window->stamp) return LGT_OTHER_STORES;
    store->stamp = window->stamp;
    store->number = number;
    window->root[window->nroot++] = store->id;
    if (*(*word)++ != word_of_state(store)) return LGT_OTHER_STATE;
    if (*(*word)++ != (uint64_t)(uintptr_t)store->key) return LGT_OTHER_KEY;
  }
  return LGT_NO_DIFFERENCE;
}

/* As long as words are equal, both forms have the same words to come: none is read beyond the known form. */
lgt_difference lgt_window_compare(lgt_window *window, lgt_stores *stores, int n, const uint64_t *word,
                                  int nword, int nroot) {
  const uint64_t *end = word + nword, made_for = word_of_purpose(window);
  window->nroot = 0;
  window->stamp++;
  if (!lgt_mem_grow((void **)&window->root, &window->root_room, nroot, sizeof *window->root))
    return LGT_UNNUMBERED;
  for (int i = 0; i < n; i++) {
    const lgt_call *call = &window->call[i];
    if (word == end) return LGT_OTHER_CALLS;
    uint64_t other = (word_of_call(call) | made_for) ^ *word++;
    if (other) return (uint32_t)other ? LGT_OTHER_CALLS : LGT_OTHER_SAVES;
    lgt_difference difference = compare_call(window, stores, call, &word);
    if (difference) return difference;
  }
  return word == end ? LGT_NO_DIFFERENCE : LGT_OTHER_CALLS;
}

/* The number of a layout in the window; pushes its form when it is new.  -1 when out of memory. */
static int number_layout(lgt_window *window, lgt_stores *stores, uint32_t layout, int *k) {
  lgt_layout_note *note = &stores->note[layout];
  if (note->stamp == window->stamp) return (int)note->number;
  if (!lgt_mem_grow((void **)&window->layout, &window->layout_room, window->nlayout + 1,
                    sizeof *window->layout))
    return -1;
  window->form[(*k)++] = lgt_layout_form(stores, layout);
  note->stamp = window->stamp;
  note->number = (uint32_t)window->nlayout;
  window->layout[window->nlayout] = layout;
  return window->nlayout++;
}

bool lgt_window_form(lgt_window *window, lgt_stores *stores, int n) {
  int k = 0, root = 0;
  if (window->form_stamp == window->stamp) return true;
  window->nlayout = 0;
  if (!lgt_mem_grow((void **)&window->form, &window->form_room, n * (1 + 5 * LGT_MAX_ARGS),
                    sizeof *window->form))
    return false;
  for (int i = 0; i < n; i++) {
    const lgt_call *call = &window->call[i];
    window->form[k++] = word_of_call(call) | word_of_purpose(window);
    for (int a = 0; a < call->nargs; a++) {
      const lgt_store *store = lgt_store_at(stores, call->store[a]);
      int layout = number_layout(window, stores, call->layout[a], &k), whole = 0;
      bool first = store->number == root; /* roots were numbered in this order */
      if (first) root++, whole = number_layout(window, stores, store->layout, &k);
      if (layout < 0 || whole < 0) return false;
      window->form[k++] = (uint64_t)layout << 32 | (uint64_t)first << 16 | store->number;
      if (first)
        window->form[k++] = (uint64_t)whole << 2 | (uint64_t)store->written | (uint64_t)store->attached << 1;
    }
  }
  window->nform = k;
  window->form_stamp = window->stamp;
  window->form_hash = (uint64_t)n;
  for (int i = 0; i < k; i++) window->form_hash = lgt_hash_mix(window->form_hash, window->form[i]);
  return true;
}

void lgt_window_drop(lgt_window *window, int n) {
  window->call += n;
  window->token += n;
  window->form_token += n;
  window->formed = window->formed > n ? window->formed - n : 0;
  window->gap += n;
  window->count -= n;
}
