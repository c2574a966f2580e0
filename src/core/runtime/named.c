/* named.c - traces that the script names (trace/manual.h): where they begin and end, and what is told of them. */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/runtime.h"

/* With other ranks a trace is an operation of the stream: it cuts the window. */
static void note_trace(lgt_runtime *rt, const char *name) {
  if (!rt->binder.peers) return;
  uint64_t hash = XXH3_64bits(name, strlen(name));
  lgt_agree_note(&rt->binder, &(lgt_operation){.token = hash,
                                               .line = rt->front.line,
                                               .what = rt->note_name[LGT_NOTE_TRACE],
                                               .parts = lgt_operation_part(LGT_PART_NUMBERS, hash)});
}

/* Of a trace that is recorded all launches say their lines: another time they may be what was there before. */
static void want_lines(lgt_runtime *rt) {
  const lgt_manual *manual = &rt->tracer.manual;
  rt->front.all_lines = rt->config->peers || rt->profile || (manual->now && manual->recording);
}

lgt_status lgt_trace_begin(lgt_runtime *rt, const char *name) {
  lgt_status status = lgt_flush(rt);
  note_trace(rt, name);
  if (!status) status = lgt_tracer_begin(&rt->tracer, name, rt->target);
  want_lines(rt);
  return status;
}

/* A launch in a message: its operation, and the line that launched it. */
static int put_launch(lgt_runtime *rt, const lgt_manual_launch *l, char *text, size_t room) {
  const char *line = l->line ? rt->binder.line_text(rt, l->line) : NULL;
  return snprintf(text, room, "%.*s%s%s", (int)strcspn(l->kind->name, ":"), l->kind->name, line ? " at " : "",
                  line ? line : "");
}

/* Of a trace that had other launches, into the runtime's text. */
static const char *difference_text(lgt_runtime *rt, const char *name) {
  const lgt_manual_difference *d = &rt->tracer.manual.difference;
  char was[200], is[200];
  if (!rt->text && !(rt->text = lgt_mem_alloc(LGT_TEXT_ROOM)))
    return "a trace had other launches than before";
  put_launch(rt, d->expected.kind ? &d->expected : &d->last, was, sizeof was);
  if (d->is.kind) put_launch(rt, &d->is, is, sizeof is);
  if (!d->expected.kind)
    snprintf(rt->text, LGT_TEXT_ROOM,
             "trace \"%s\": it had %d launches before, the last of them %s, and now goes on with %s", name,
             d->at, was, is);
  else if (!d->is.kind)
    snprintf(rt->text, LGT_TEXT_ROOM,
             "trace \"%s\": it ended%s after %d launches, where launch %d was %s before", name,
             d->looked ? ", or looked at values," : "", d->at, d->at + 1, was);
  else
    snprintf(rt->text, LGT_TEXT_ROOM, "trace \"%s\": launch %d was %s before, and is %s%s now", name,
             d->at + 1, was, is,
             d->expected.kind == d->is.kind ? ", on arrays of other shapes or types," : "");
  return rt->text;
}

lgt_status lgt_trace_end(lgt_runtime *rt, const char **why) {
  char name[80] = "";
  const lgt_manual_trace *now = rt->tracer.manual.now;
  if (now) snprintf(name, sizeof name, "%s", now->name);
  lgt_status status = lgt_flush(rt);
  note_trace(rt, name);
  bool differs = lgt_tracer_end(&rt->tracer, why && !status);
  want_lines(rt);
  if (why) *why = differs ? difference_text(rt, name) : NULL;
  return status;
}
