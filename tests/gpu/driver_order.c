/* driver_order.c - of the emulated driver: are two operations that share bytes ordered?  See driver.h.
 *
 * Each stream has a slot, the host slot 0.  The n-th operation of slot s is the access (s, n).  A clock says for each slot
 * how many of its operations are over for sure; an operation has the clock of its stream when it was put in: what its
 * stream had before, what the events stood for that the stream was told to wait for, and all that the host had seen end.
 * So (s, n) is before an operation with clock c exactly if n <= c[s], and that does not depend on when threads ran.
 *
 * A block remembers for each span of bytes the last write and the reads since.  A read must be behind the write, a write
 * behind the write and the reads.  Of more than MOST_READERS reads that nothing orders the oldest is forgotten.
 *
 * What is not seen: two threads of the host that use a stream each and are not ordered, since the host has one slot.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fake_clock_join(fake_clock *clock, const fake_clock *other) {
  for (int s = 0; s < SLOTS; s++)
    if (clock->at[s] < other->at[s]) clock->at[s] = other->at[s];
}

bool fake_clock_has(const fake_clock *clock, fake_access access) {
  return access.at <= clock->at[access.slot];
}

void fake_host_sees(const fake_clock *clock) {
  fake_clock_join(&fake.host, clock);
  fake_unguard();
}

/* ---- names of accesses, for reports ----------------------------------------------------------------- */

enum { NAMES = 4096 };
static struct {
  uint32_t at;
  const char *name;
  uint64_t call;
} named[SLOTS][NAMES];

void fake_name_slot(int slot, uint32_t at, const char *name, uint64_t call) {
  named[slot][at % NAMES].at = at;
  named[slot][at % NAMES].name = name;
  named[slot][at % NAMES].call = call;
}

static const char *name_of(fake_access access, char text[100]) {
  if (named[access.slot][access.at % NAMES].at != access.at)
    snprintf(text, 100, "operation %u of stream %d", access.at, access.slot);
  else
    snprintf(text, 100, "%s of call %llu in stream %d", named[access.slot][access.at % NAMES].name,
             (unsigned long long)named[access.slot][access.at % NAMES].call, access.slot);
  return text;
}

/* ---- spans ------------------------------------------------------------------------------------------ */

typedef struct spans {
  fake_span *at;
  int count, room;
} spans;

static bool same_access(fake_access a, fake_access b) { return a.slot == b.slot && a.at == b.at; }

static bool same_state(const fake_span *a, const fake_span *b) {
  if (a->reads != b->reads || !same_access(a->write, b->write)) return false;
  for (int r = 0; r < a->reads; r++)
    if (!same_access(a->read[r], b->read[r])) return false;
  return true;
}

static void append(spans *to, const fake_span *span) {
  fake_span *last = to->count ? &to->at[to->count - 1] : NULL;
  if (last && last->end == span->begin && same_state(last, span)) {
    last->end = span->end;
    return;
  }
  if (to->count == to->room) {
    to->room = 2 * to->room + 4;
    to->at = realloc(to->at, (size_t)to->room * sizeof *to->at);
  }
  to->at[to->count++] = *span;
}

typedef struct conflict {
  bool found, now_writes, then_wrote;
  fake_access with;
  size_t begin, end;
} conflict;

static void note_conflict(conflict *c, const fake_span *span, fake_access with, bool now_writes,
                          bool then_wrote) {
  if (c->found) return;
  *c = (conflict){true, now_writes, then_wrote, with, span->begin, span->end};
}

static void read_span(fake_span *span, const fake_clock *clock, fake_access now, conflict *c) {
  int kept = 0;
  if (!fake_clock_has(clock, span->write)) note_conflict(c, span, span->write, false, true);
  for (int r = 0; r < span->reads; r++)
    if (!fake_clock_has(clock, span->read[r])) span->read[kept++] = span->read[r];
  if (kept == MOST_READERS) memmove(span->read, span->read + 1, (size_t)--kept * sizeof *span->read);
  span->read[kept++] = now;
  span->reads = kept;
}

static void write_span(fake_span *span, const fake_clock *clock, fake_access now, conflict *c) {
  if (!fake_clock_has(clock, span->write)) note_conflict(c, span, span->write, true, true);
  for (int r = 0; r < span->reads; r++)
    if (!fake_clock_has(clock, span->read[r])) note_conflict(c, span, span->read[r], true, false);
  span->write = now;
  span->reads = 0;
}

/* Old spans and runs, both in order, into new spans: piece by piece where either begins or ends. */
static spans merge(const fake_block *block, const fake_run *run, int runs, const fake_op *op, conflict *c) {
  spans out = {0};
  fake_access now = {(uint8_t)op->stream->slot, op->clock.at[op->stream->slot]};
  int s = 0, r = 0;
  for (size_t at = 0; s < block->spans || r < runs;) {
    const fake_span *old = s < block->spans ? &block->span[s] : NULL;
    size_t span_begin = !old ? SIZE_MAX : old->begin > at ? old->begin : at;
    size_t run_begin = r == runs ? SIZE_MAX : run[r].begin > at ? run[r].begin : at;
    size_t begin = span_begin < run_begin ? span_begin : run_begin;
    bool in_span = span_begin == begin, in_run = run_begin == begin;
    size_t span_stop = in_span ? old->end : span_begin, run_stop = in_run ? run[r].end : run_begin;
    fake_span piece = {0};
    if (in_span) piece = *old;
    piece.begin = begin;
    piece.end = span_stop < run_stop ? span_stop : run_stop;
    if (in_run && run[r].how & READS) read_span(&piece, &op->clock, now, c);
    if (in_run && run[r].how & WRITES) write_span(&piece, &op->clock, now, c);
    append(&out, &piece);
    at = piece.end;
    if (in_span && at == old->end) s++;
    if (in_run && at == run[r].end) r++;
  }
  return out;
}

bool fake_touch(const fake_op *op, fake_block *block, const fake_run *run, int runs) {
  conflict c = {0};
  spans out = merge(block, run, runs, op, &c);
  free(block->span);
  block->span = out.at;
  block->spans = out.count;
  if (!c.found) return true;
  char then[100];
  fake_report(op->stream->handle.context, CUDA_ERROR_ILLEGAL_ADDRESS,
              "%s of call %llu in stream %d %s bytes %zu to %zu of the block of call %llu that %s %s, and "
              "nothing orders them",
              op->name, (unsigned long long)op->call, op->stream->slot, c.now_writes ? "writes" : "reads",
              c.begin, c.end, (unsigned long long)block->born, name_of(c.with, then),
              c.then_wrote ? "writes" : "reads");
  return false;
}

bool fake_settled(const fake_block *block, const fake_clock *seen, char *text, size_t size) {
  for (int s = 0; s < block->spans; s++) {
    const fake_span *span = &block->span[s];
    fake_access open = {0};
    if (!fake_clock_has(seen, span->write)) open = span->write;
    for (int r = 0; r < span->reads; r++)
      if (!fake_clock_has(seen, span->read[r])) open = span->read[r];
    if (!open.at) continue;
    char then[100];
    snprintf(text, size, "%s", name_of(open, then));
    return false;
  }
  return true;
}
