/* test_order.c - the emulated driver finds a race exactly where there is one.
 *
 * Random programs: streams fill and copy ranges of two blocks, record events, wait for them, and the host waits for
 * streams.  The oracle knows which operation is behind which by following all edges, and compares every two of them byte
 * by byte.  The driver must report a program if the oracle finds a pair, and no other.
 */
#include "driver_test.h"

#include <stdbool.h>

enum { STREAMS = 3, EVENTS = 3, BLOCKS = 2, BYTES = 64, OPS = 14 };

typedef enum what { FILL, COPY, RECORD, WAIT, SYNC_STREAM, SYNC_EVENT, WHATS } what;

typedef struct operation {
  what what;
  int stream, event;
  int to_block, from_block, to, from, bytes;
} operation;

static operation program[OPS];
static uint64_t state;

static int draw(int n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)n);
}

static void make_program(uint64_t seed) {
  static const what often[] = {FILL, FILL, COPY, COPY, RECORD, RECORD, WAIT, WAIT, SYNC_STREAM, SYNC_EVENT};
  state = seed;
  for (int i = 0; i < OPS; i++) {
    operation *o = &program[i];
    *o = (operation){.what = often[draw(10)], .stream = draw(STREAMS), .event = draw(EVENTS)};
    o->bytes = 1 + draw(BYTES / 4);
    o->to_block = draw(BLOCKS);
    o->from_block = 1 - o->to_block;
    o->to = draw(BYTES - o->bytes);
    o->from = draw(BYTES - o->bytes);
  }
}

/* ---- the oracle ------------------------------------------------------------------------------------- */

static bool before[OPS][OPS]; /* [i][j]: i is over when j begins; i < j */

static void follow(int first, int then) {
  before[first][then] = true;
  for (int k = 0; k < first; k++) before[k][then] |= before[k][first];
}

/* What is over behind operation i, for whoever follows it: for a record all that its stream had. */
static void find_edges(void) {
  int last[STREAMS], recorded[EVENTS], seen[OPS], nseen = 0;
  memset(before, 0, sizeof before);
  memset(last, -1, sizeof last);
  memset(recorded, -1, sizeof recorded);
  for (int i = 0; i < OPS; i++) {
    const operation *o = &program[i];
    if (o->what == SYNC_STREAM || o->what == SYNC_EVENT) {
      int end = o->what == SYNC_STREAM ? last[o->stream] : recorded[o->event];
      if (end >= 0) seen[nseen++] = end;
      continue;
    }
    if (o->what == WAIT && recorded[o->event] < 0) continue;
    for (int s = 0; s < nseen; s++) follow(seen[s], i);
    if (last[o->stream] >= 0) follow(last[o->stream], i);
    if (o->what == WAIT) follow(recorded[o->event], i);
    if (o->what == RECORD) recorded[o->event] = i;
    last[o->stream] = i;
  }
}

static bool meet(int block, int begin, int bytes, int other_block, int other, int other_bytes) {
  return block == other_block && begin < other + other_bytes && other < begin + bytes;
}

static bool share(const operation *a, const operation *b) {
  if (a->what > COPY || b->what > COPY) return false;
  if (meet(a->to_block, a->to, a->bytes, b->to_block, b->to, b->bytes)) return true;
  if (b->what == COPY && meet(a->to_block, a->to, a->bytes, b->from_block, b->from, b->bytes)) return true;
  return a->what == COPY && meet(a->from_block, a->from, a->bytes, b->to_block, b->to, b->bytes);
}

static bool has_race(void) {
  find_edges();
  for (int i = 0; i < OPS; i++)
    for (int j = i + 1; j < OPS; j++)
      if (!before[i][j] && share(&program[i], &program[j])) return true;
  return false;
}

/* ---- the program ------------------------------------------------------------------------------------ */

static void body(void) {
  CUstream stream[STREAMS];
  CUevent event[EVENTS];
  CUdeviceptr block[BLOCKS];
  test_open(0);
  for (int s = 0; s < STREAMS; s++) stream[s] = test_stream();
  for (int e = 0; e < EVENTS; e++) event[e] = test_event();
  for (int b = 0; b < BLOCKS; b++) block[b] = test_alloc(BYTES);
  for (int i = 0; i < OPS; i++) {
    const operation *o = &program[i];
    CUdeviceptr to = block[o->to_block] + (CUdeviceptr)o->to,
                from = block[o->from_block] + (CUdeviceptr)o->from;
    switch (o->what) {
      case FILL:
        cuMemsetD8Async(to, 1, (size_t)o->bytes, stream[o->stream]);
        break;
      case COPY:
        cuMemcpyDtoDAsync_v2(to, from, (size_t)o->bytes, stream[o->stream]);
        break;
      case RECORD:
        cuEventRecord(event[o->event], stream[o->stream]);
        break;
      case WAIT:
        cuStreamWaitEvent(stream[o->stream], event[o->event], 0);
        break;
      case SYNC_STREAM:
        cuStreamSynchronize(stream[o->stream]);
        break;
      case SYNC_EVENT:
        cuEventSynchronize(event[o->event]);
        break;
      default:
        break;
    }
  }
  cuCtxSynchronize();
  for (int b = 0; b < BLOCKS; b++) cuMemFree_v2(block[b]);
  for (int e = 0; e < EVENTS; e++) cuEventDestroy_v2(event[e]);
  for (int s = 0; s < STREAMS; s++) cuStreamDestroy_v2(stream[s]);
  test_close(0);
}

static int races, rightly;

TEST(random_programs) {
  int count = getenv("STRESS") ? 100000 : 500;
  for (int seed = 1; seed <= count; seed++) {
    make_program((uint64_t)seed);
    bool race = has_race();
    int status = test_run(body, NULL);
    bool found = WIFEXITED(status) && WEXITSTATUS(status) == REPORTED;
    if (race != found || (!race && status))
      FAIL("seed %d: the oracle says %s, the driver 0x%x: %s", seed, race ? "race" : "no race",
           (unsigned)status, test_said);
    if (race) races++;
    else rightly++;
  }
  CHECK(races > count / 10 && rightly > count / 10);
}

int main(void) {
  RUN(random_programs);
  return check_done();
}
