/* routine.c - what a function of a library launches for operands of some layouts, launched again by one call.
 *
 * Such a function looks at shapes, makes views and results, and launches a few kinds on them: in a binding's language that
 * takes longer than small arrays take to be computed.  But all of it follows from the layouts of its operands, and from which
 * of them are one array.  So it is watched once: the calls that it has added to the window are its *routine*, with each
 * argument named as an operand or as a new array, and the layout through which it takes part.
 *
 * What is more than that cannot be kept: where it waited, for the script's next steps may depend on what it has seen; where a
 * flush came between; where arrays take part that were there before and are no operands; where the result is a view of an
 * operand, of which libraries may know more.  Nor where launches say their lines or are replaced by others (reproducible.h).
 *
 * Belongs to the submitting thread.
 */
#include <stddef.h>
#include <string.h>

#include "lgt_binding.h"
#include "runtime/handles.h"

enum { MOST_STEPS = 8, MOST_NEW = 8 };

/* An array of a routine: operand n, or new array n - LGT_MOST_OPERANDS. */
typedef uint8_t name;

typedef struct step {
  uint16_t kind;
  uint8_t nargs, nparams;
  bool says_line;
  name arg[LGT_MAX_ARGS];
  uint32_t layout[LGT_MAX_ARGS];
  lgt_scalar param[LGT_MAX_PARAMS];
} step;

/* Plain memory, which the binding keeps. */
struct lgt_routine {
  uint32_t epoch, settings; /* the front's, when it was watched */
  int32_t nargs;            /* of all steps */
  int8_t noperands, nnew, nsteps;
  name result;
  uint32_t layout;              /* of the result */
  name same[LGT_MOST_OPERANDS]; /* the first operand that has the same store */
  uint32_t made[MOST_NEW];      /* the layouts of new arrays */
  step step[MOST_STEPS];        /* nsteps of them */
};

_Static_assert(sizeof(struct lgt_routine) <= LGT_ROUTINE_BYTES, "LGT_ROUTINE_BYTES is too little");

/* Which of the first n + 1 operands, of which this is the last one, has its store first? */
static name first_of_store(const lgt_runtime *rt, const lgt_id *operands, int n) {
  const lgt_handle *handle = rt->stores.handle;
  for (int i = 0; i < n; i++)
    if (operands[i] == operands[n] ||
        (handle[operands[n]].store && handle[operands[i]].store == handle[operands[n]].store))
      return (name)i;
  return (name)n;
}

/* ---- watching -------------------------------------------------------------------------------------------------- */

void lgt_routine_watch(lgt_runtime *rt, lgt_watch *watch) {
  lgt_runtime_take(rt);
  rt->looked = false; /* or something might be done at once, which the window does not show */
  *watch = (lgt_watch){
      .windows = rt->windows, .waits = rt->waits, .count = rt->window.count, .epoch = rt->stores.epoch};
}

/* What has been watched, as it becomes a routine. */
typedef struct draft {
  lgt_runtime *rt;
  const lgt_watch *watch;
  lgt_routine *routine;
  uint32_t operand[LGT_MOST_OPERANDS]; /* stores */
  uint32_t made[MOST_NEW];             /* likewise */
} draft;

/* Nobody has computed or read it before the function began. */
static bool is_new(const draft *d, const lgt_store *store) {
  if (store->version || store->written || store->attached || store->replica || store->recipe ||
      store->failure)
    return false;
  for (int i = 0; i < d->watch->count; i++) {
    const lgt_call *call = &d->rt->window.call[i];
    for (int a = 0; a < call->nargs; a++)
      if (call->store[a] == store->id) return false;
  }
  return true;
}

/* What a store is called in the routine; false: it must not be in one. */
static bool name_store(draft *d, uint32_t number, name *out) {
  lgt_routine *r = d->routine;
  for (int i = 0; i < r->noperands; i++)
    if (d->operand[i] == number) return *out = (name)i, true;
  for (int i = 0; i < r->nnew; i++)
    if (d->made[i] == number) return *out = (name)(LGT_MOST_OPERANDS + i), true;
  const lgt_store *store = lgt_store_at(&d->rt->stores, number);
  if (r->nnew == MOST_NEW || !is_new(d, store)) return false;
  d->made[r->nnew] = number;
  r->made[r->nnew] = store->layout;
  *out = (name)(LGT_MOST_OPERANDS + r->nnew++);
  return true;
}

static bool add_step(draft *d, const lgt_call *call) {
  step *s = &d->routine->step[d->routine->nsteps++];
  *s = (step){.kind = call->kind_number,
              .nargs = call->nargs,
              .nparams = call->nparams,
              .says_line = call->line != 0};
  for (int a = 0; a < call->nargs; a++) {
    s->layout[a] = call->layout[a];
    if (!name_store(d, call->store[a], &s->arg[a])) return false;
  }
  d->routine->nargs += call->nargs;
  memcpy(s->param, call->param, call->nparams * sizeof *s->param);
  return true;
}

static bool name_operands(draft *d, const lgt_id *operands, int n) {
  for (int i = 0; i < n; i++) {
    lgt_store *store;
    if (lgt_handle_store(d->rt, operands[i], &store)) return false;
    d->operand[i] = store->id;
    d->routine->same[i] = first_of_store(d->rt, operands, i);
  }
  return true;
}

static bool name_result(draft *d, lgt_id result) {
  lgt_handle handle = d->rt->stores.handle[result];
  lgt_routine *r = d->routine;
  int nnew = r->nnew;
  r->layout = handle.layout;
  return handle.layout && handle.store && name_store(d, handle.store, &r->result) && r->nnew == nnew &&
         r->result >= LGT_MOST_OPERANDS;
}

int lgt_routine_end(lgt_runtime *rt, const lgt_watch *watch, const lgt_id *operands, int n, lgt_id result,
                    lgt_routine *routine, int *line) {
  lgt_runtime_take(rt);
  int nsteps = rt->window.count - watch->count;
  bool undisturbed =
      rt->windows == watch->windows && rt->waits == watch->waits && rt->stores.epoch == watch->epoch;
  if (!undisturbed || rt->front.all_lines || rt->config->reproducible) return 0;
  if (nsteps < 0 || nsteps > MOST_STEPS || n > LGT_MOST_OPERANDS || !result) return 0;
  draft d = {.rt = rt, .watch = watch, .routine = routine};
  *routine = (lgt_routine){.epoch = watch->epoch, .settings = rt->front.settings, .noperands = (int8_t)n};
  bool good = name_operands(&d, operands, n);
  *line = 0;
  for (int i = 0; i < nsteps && good; i++) {
    const lgt_call *call = &rt->window.call[watch->count + i];
    good = add_step(&d, call);
    if (call->line) *line = 1;
  }
  if (!good || !name_result(&d, result)) return 0;
  return (int)(offsetof(lgt_routine, step) + (size_t)nsteps * sizeof(step));
}

/* ---- launching ------------------------------------------------------------------------------------------------- */

/* Handles of a launch that is being made. */
typedef struct hands {
  lgt_id array[LGT_MOST_OPERANDS + MOST_NEW]; /* by name */
  lgt_id view[MOST_STEPS * LGT_MAX_ARGS + 1];
  int nview;
} hands;

/* A handle of a named array through a layout; 0: there is none. */
static lgt_id through(lgt_runtime *rt, hands *h, name array, uint32_t layout) {
  lgt_id id = h->array[array];
  if (rt->stores.handle[id].layout == layout) return id;
  lgt_id view = lgt_layout_view(rt, id, layout);
  if (view) h->view[h->nview++] = view;
  return view;
}

static bool fill(lgt_runtime *rt, hands *h, const step *s, uint32_t line, lgt_launch *out) {
  out->kind = s->kind;
  out->nargs = s->nargs;
  out->nparams = s->nparams;
  out->line = s->says_line ? line : 0;
  memcpy(out->param, s->param, s->nparams * sizeof *s->param);
  bool good = true;
  for (int a = 0; a < s->nargs && good; a++)
    good = (out->arg[a] = through(rt, h, s->arg[a], s->layout[a])) != 0;
  return good;
}

/* Can it be launched now, on these operands? */
static bool fits(lgt_runtime *rt, const lgt_routine *r, const lgt_id *operands) {
  const lgt_front *front = &rt->front;
  bool stale = r->epoch != rt->stores.epoch || r->settings != front->settings;
  if (front->all_lines || stale || front->count + (uint32_t)r->nsteps > front->limit) return false;
  for (int i = 0; i < r->noperands; i++)
    if (first_of_store(rt, operands, i) != r->same[i]) return false;
  return lgt_handle_reserve(rt, LGT_SPARE_HANDLES + r->nnew + r->nargs + 1) == LGT_OK;
}

lgt_id lgt_launch_routine(lgt_runtime *rt, const lgt_routine *r, const lgt_id *operands, uint32_t line) {
  if (!fits(rt, r, operands)) return 0;
  lgt_front *front = &rt->front;
  hands h;
  h.nview = 0;
  memcpy(h.array, operands, (size_t)r->noperands * sizeof *operands);
  for (int i = 0; i < r->nnew; i++) {
    lgt_id id = h.array[LGT_MOST_OPERANDS + i] = front->free_ids[--front->nfree];
    front->handles[id] = (lgt_handle){.layout = r->made[i]};
  }
  bool good = true;
  for (int i = 0; i < r->nsteps && good; i++)
    good = fill(rt, &h, &r->step[i], line, &front->launches[front->count + (uint32_t)i]);
  lgt_id result = good ? through(rt, &h, r->result, r->layout) : 0;
  if (result) front->count += (uint32_t)r->nsteps;
  for (int i = 0; i < h.nview; i++)
    if (h.view[i] != result) lgt_handle_drop(rt, h.view[i]);
  for (int i = 0; i < r->nnew; i++)
    if (h.array[LGT_MOST_OPERANDS + i] != result) lgt_handle_drop(rt, h.array[LGT_MOST_OPERANDS + i]);
  return result;
}
