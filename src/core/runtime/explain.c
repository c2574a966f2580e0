/* explain.c - lgt_explain: how an array is stored, how it was made, what stopped fusion.
 *
 * The text speaks the user's language: shapes, domains, bytes, names of operations. */
#include <stdarg.h>
#include <stdio.h>

#include "move/image.h"
#include "move/poison.h"
#include "runtime/handles.h"

typedef struct writer {
  char *text;
  size_t room, used;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...) {
  va_list args;
  if (w->used >= w->room) return;
  va_start(args, format);
  int n = vsnprintf(w->text + w->used, w->room - w->used, format, args);
  va_end(args);
  if (n > 0) w->used += (size_t)n;
}

static void put_rect(writer *w, const lgt_rect *r) {
  put(w, "[");
  for (int d = 0; d < r->ndim; d++)
    put(w, "%s%lld:%lld", d ? ", " : "", (long long)r->lo[d] + 1, (long long)r->hi[d]);
  put(w, "]");
}

static void put_layout(writer *w, const lgt_layout *l) {
  put(w, "%s array (", lgt_dtype_name(l->dtype));
  for (int d = 0; d < l->ndim; d++) put(w, "%s%lld", d ? ", " : "", (long long)l->shape[d]);
  put(w, ")");
  if (l->flags & LGT_LAYOUT_WHOLE) return;
  put(w, ", a view of (");
  for (int d = 0; d < l->root_ndim; d++) put(w, "%s%lld", d ? ", " : "", (long long)l->root_shape[d]);
  put(w, ")%s", l->flags & LGT_LAYOUT_RESHAPED ? ", reshaped" : "");
}

static void put_place(writer *w, const lgt_runtime *rt, const lgt_store *store) {
  const lgt_failure *failure = lgt_poison_of(&rt->binder, store);
  if (failure) put(w, "poisoned: %s\n", failure->message);
  if (store->recipe) {
    put(w,
        "not stored: it was only needed inside a fused task of %d operations, and would be computed again if "
        "read\n",
        store->recipe->group->count);
    return;
  }
  if (!store->replica) {
    put(w, "no memory yet: nothing was written to it\n");
    return;
  }
  for (int d = 0; d < rt->map.local; d++) {
    const lgt_replica *replica = &store->replica[d];
    if (!replica->inst) continue;
    put(w, "domain %d: an instance of ", rt->map.first + d);
    put_rect(w, &replica->inst->rect);
    put(w, " (%lld bytes)%s", (long long)replica->inst->bytes,
        !store->attached || d ? ""
        : store->home         ? ", over memory of another library"
                              : ", memory of the host program");
    lgt_pieces old = {0};
    if (store->history)
      lgt_history_lacks(store->history, &rt->map.footprints, NULL, rt->map.first + d, &replica->inst->rect,
                        &old);
    for (int i = 0; i < old.count; i++) {
      put(w, i ? " " : ", older than others in ");
      put_rect(w, &old.piece[i].rect);
    }
    lgt_mem_free(old.piece);
    put(w, "\n");
  }
}

/* Which elements of others it names. */
static void put_images(writer *w, const lgt_runtime *rt, const lgt_store *store) {
  for (const lgt_image *image = store->images; image; image = image->next) {
    if (image->bad || image->key.version[0] != store->version) continue;
    put(w, image->rows ? "its positions were sorted by whom they lead to:"
                       : "it names elements of another array:");
    for (int d = 0; d < rt->map.local; d++) {
      const lgt_runs *runs = image->runs[d];
      put(w, "%s domain %d %s %lld", d ? "," : "", rt->map.first + d, image->rows ? "has" : "needs",
          (long long)runs->total);
      if (runs->count)
        put(w, " from %lld to %lld", (long long)runs->run[0][0] + 1,
            (long long)runs->run[runs->count - 1][1]);
    }
    put(w, "\n");
  }
}

static void put_partition(writer *w, const lgt_partition *p) {
  if (!p || p->kind == LGT_PARTITION_NONE) {
    put(w, "one tile");
    return;
  }
  put(w, "%d tiles of (", p->ncolour);
  for (int d = 0; d < p->ndim; d++) put(w, "%s%lld", d ? ", " : "", (long long)p->tile[d]);
  put(w, ")");
}

/* Does the group write one of these roots?  Then all that it takes is among them from now on. */
static bool takes_part(const lgt_plan_group *group, bool *needed, bool makes) {
  const lgt_plan_call *call = &group->plan->call[group->first];
  for (int i = 0; i < group->count; i++)
    for (int a = 0; a < call[i].nargs; a++)
      makes |= lgt_kind_writes(call[i].kind, a) && needed[call[i].root[a]];
  for (int i = 0; i < group->count; i++)
    for (int a = 0; a < call[i].nargs && makes; a++) needed[call[i].root[a]] = true;
  return makes;
}

static void put_estimate(writer *w, const lgt_plan_notes *notes) {
  const lgt_estimate *e = &notes->chosen;
  if (e->host <= 0) return;
  put(w, "by estimate: %.3g ms on the host, %.3g ms on a device, %.3g and %.3g of that for copies\n",
      1e3 * (e->host + e->down), 1e3 * (e->device + e->up), 1e3 * e->down, 1e3 * e->up);
}

/* Which of the tasks that made the store ran on the host although there are devices, and why: the last one, and those of its
 * window from whose results it came. */
static void put_host(writer *w, const lgt_plan_group *maker) {
  const lgt_plan *plan = maker->plan;
  bool *needed = lgt_mem_zalloc((size_t)plan->nroot + 1), some = false;
  int last = 0;
  while (last < plan->ngroup && &plan->group[last] != maker) last++;
  for (int g = last; needed && g >= 0; g--) {
    const lgt_plan_group *group = g == last ? maker : &plan->group[g]; /* a recipe's is none of the plan's */
    const lgt_plan_notes *notes = group->notes;
    if (!takes_part(group, needed, g == last) || !notes || !(notes->on_host || notes->alone)) continue;
    put(w, "the host computed a task of %d operation%s although there are devices, for %s\n", group->count,
        lgt_plural(group->count), notes->alone ? "none was opened yet" : notes->on_host);
    put_estimate(w, notes);
    some = true;
  }
  if (needed && !some) {
    put(w, "devices computed it, and what it was made from in this window\n");
    put_estimate(w, maker->notes);
  }
  lgt_mem_free(needed);
}

/* What wrote the store since a group did, and the group of the plan that last wrote it. */
static void put_history(writer *w, const lgt_runtime *rt, const lgt_store *store) {
  const lgt_plan_group *group = store->maker;
  if (store->at_once)
    put(w, "last written at once, by the thread that runs the script, without a task: %s\n", store->at_once);
  if (!group) return;
  put(w, "made by a task of %d operation%s in %d loop%s:", group->count, group->count == 1 ? "" : "s",
      group->nloop, group->nloop == 1 ? "" : "s");
  for (int i = 0; i < group->count && i < 40; i++)
    put(w, " %s", group->plan->call[group->first + i].kind->name);
  put(w, "%s\n", group->count > 40 ? " ..." : "");
  const lgt_trace *trace = group->plan->trace ? lgt_tracer_find(&rt->tracer, group->plan->trace) : NULL;
  if (trace)
    put(w, "part of trace %u, %d operations that repeat, replayed %lld times\n", trace->id, trace->length,
        (long long)trace->replays);
  put(w, "launched over ");
  put_partition(w, group->launch);
  put(w, " (%s)\n", group->plan->call[group->first].reason);
  if (group->turns)
    put(w, "computed in margins of its tiles, too, which spares %d exchange%s\n", group->turns - 1,
        lgt_plural(group->turns - 1));
  put(w, "the task ended there because: %s\n", lgt_refusal_text(group->refusal));
  if (rt->map.nmemory > 1) put_host(w, group);
}

lgt_status lgt_explain(lgt_runtime *rt, lgt_id array, const char **text) {
  lgt_runtime_note(rt, LGT_NOTE_FLUSH, NULL, NULL); /* it cuts the window: every rank must do it */
  lgt_runtime_settle(rt);
  lgt_store *store;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (status) return status;
  if (!rt->text) rt->text = lgt_mem_alloc(LGT_TEXT_ROOM);
  if (!rt->text) return lgt_err(LGT_NO_MEMORY, "out of memory for an explanation");
  writer w = {rt->text, LGT_TEXT_ROOM, 0};
  put_layout(&w, lgt_layout_at(&rt->stores, rt->stores.handle[array].layout));
  put(&w, "\n");
  put(&w, "key partition: ");
  put_partition(&w, store->key);
  put(&w, "\n");
  put_place(&w, rt, store);
  put_images(&w, rt, store);
  put_history(&w, rt, store);
  *text = rt->text;
  return LGT_OK;
}
