/* ranks.c - what ranks do in the tests of src/net, under whatever starts them.
 *
 *   ranks [options] messages            every way to send, with all pairs of ranks
 *   ranks [options] collectives         barrier, broadcast, allgather; many sizes; several at once, in any order
 *   ranks [options] reduce IN OUT       allreduce of the cases in the file IN; rank 0 writes the results
 *   ranks [options] FAULT R             something goes wrong on rank R, see `faults` below
 *
 *   -n N                                forked
 *   --rendezvous host:port --rank r --ranks n
 *   --all-output  --tcp  --start MS  --dead MS  --patience MS
 *   --version V  --agreed TEXT          what this rank says it is
 *   --odd R                             rank R says that it has another version;  --odd-option R another option
 *   --pids DIR                          each rank writes its process id to DIR/rank
 *
 * Exit status 0 and "done" from rank 0 if all went well.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/dtype.h"
#include "launch.h"
#include "kernel/loop.h"
#include "net.h"

static lgt_net *net;
static lgt_transport *T;
static int me, size;

__attribute__((format(printf, 2, 3))) static void need(bool condition, const char *format, ...) {
  if (condition) return;
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  lgt_net_abort(net, text);
}

static void good(lgt_status status, const char *what) { need(!status, "%s: %s", what, lgt_message()); }

/* Bytes that follow from who sends what to whom. */
static void pattern(unsigned char *data, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)((i * 2654435761u + seed * 40503u) >> 7);
}

static bool is_pattern(const unsigned char *data, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; i++)
    if (data[i] != (unsigned char)((i * 2654435761u + seed * 40503u) >> 7)) return false;
  return true;
}

/* ---- messages --------------------------------------------------------------------------------------------- */

enum { FLIGHT = 16 };

/* All pairs at once, own rank included, several messages each; receives before or after the sends. */
static void all_pairs(size_t bytes, bool receive_first) {
  int n = size * FLIGHT;
  lgt_request *in = calloc((size_t)n, sizeof *in), *out = calloc((size_t)n, sizeof *out);
  unsigned char *from = malloc((size_t)n * bytes + 1), *to = calloc((size_t)n * bytes + 1, 1);
  for (int i = 0; i < n; i++) pattern(from + (size_t)i * bytes, bytes, (unsigned)(me * 1000 + i));
  for (int phase = 0; phase < 2; phase++)
    for (int i = 0; i < n; i++) {
      int peer = i / FLIGHT, k = i % FLIGHT;
      /* every second pair of messages shares a tag: these match in order */
      uint64_t tag = (1ull << 39) + (uint64_t)(k / 2);
      if ((phase == 0) == receive_first)
        good(lgt_transport_recv(T, peer, tag, to + (size_t)i * bytes, bytes, &in[i]), "recv");
      else good(lgt_transport_send(T, peer, tag, from + (size_t)i * bytes, bytes, &out[i]), "send");
    }
  good(lgt_transport_wait(T, in, n), "wait for receives");
  good(lgt_transport_wait(T, out, n), "wait for sends");
  for (int i = 0; i < n; i++) {
    int peer = i / FLIGHT, k = i % FLIGHT;
    need(is_pattern(to + (size_t)i * bytes, bytes, (unsigned)(peer * 1000 + me * FLIGHT + k)),
         "message %d of %zu bytes from rank %d arrived damaged", k, bytes, peer);
  }
  free(in), free(out), free(from), free(to);
}

static void counters(void) {
  lgt_transport_counters a = lgt_transport_count(T);
  all_pairs(100, true);
  lgt_transport_counters b = lgt_transport_count(T);
  uint64_t n = (uint64_t)size * FLIGHT;
  need(b.messages_sent - a.messages_sent == n && b.messages_received - a.messages_received == n,
       "messages are counted");
  need(b.bytes_sent - a.bytes_sent == 100 * n && b.bytes_received - a.bytes_received == 100 * n,
       "bytes are counted");
}

static void cancelling(void) {
  lgt_request r[2];
  char never[8], later[8] = "";
  good(lgt_transport_recv(T, me, 77, never, sizeof never, &r[0]), "recv");
  need(!lgt_transport_test(T, &r[0]), "nothing arrived");
  lgt_transport_cancel(T, &r[0]);
  need(r[0].done && r[0].cancelled && !lgt_request_status(&r[0]), "cancelled");
  good(lgt_transport_recv(T, me, 77, later, sizeof later, &r[0]), "recv");
  good(lgt_transport_send(T, me, 77, "1234567", 8, &r[1]), "send");
  good(lgt_transport_wait(T, r, 2), "wait");
  need(!strcmp(later, "1234567"), "the next receive of that tag gets the message");
}

static void mismatches(void) {
  lgt_request r[2];
  char buffer[8];
  for (int k = 0; k < 2; k++) { /* shorter, longer than expected */
    good(lgt_transport_send(T, me, 5, "123456789", k ? 10 : 4, &r[0]), "send");
    lgt_status early = lgt_transport_recv(T, me, 5, buffer, sizeof buffer, &r[1]);
    need(early || lgt_transport_wait(T, r, 2), "a message of another size is an error");
    need(strstr(lgt_message(), k ? "a longer message came" : "a shorter message came") &&
             strstr(lgt_message(), "tag 0x5"),
         "the error says so: %s", lgt_message());
  }
  need(lgt_transport_send(T, size, 0, "", 0, &r[0]) == LGT_BAD_ARGUMENT, "a peer that is none");
  need(lgt_transport_send(T, 0, 1ull << LGT_TAG_BITS, "", 0, &r[0]) == LGT_BAD_ARGUMENT,
       "a tag that is too long");
}

static _Atomic bool signalled;
static int looks;
static bool is_signalled(void *context) {
  (void)context;
  looks++;
  return atomic_load_explicit(&signalled, memory_order_acquire);
}
static void *signaller(void *context) {
  usleep(20000);
  lgt_transport_wake(context); /* for nothing */
  usleep(20000);
  atomic_store_explicit(&signalled, true, memory_order_release);
  lgt_transport_wake(context);
  return NULL;
}

/* On a busy machine anything may be late, but not always. */
enum { TRIES = 200 };

/* Another thread ends a wait at once, not when its sleep is over. */
static void waking(void) {
  bool quick = false;
  for (int i = 0; i < TRIES && !quick; i++) {
    pthread_t thread;
    looks = 0;
    signalled = false;
    pthread_create(&thread, NULL, signaller, T);
    int64_t begin = lgt_wire_now();
    good(lgt_transport_until(T, is_signalled, NULL, "for a thread"), "until");
    int64_t took = lgt_wire_now() - begin;
    pthread_join(thread, NULL);
    quick = took >= 35 && took < 90 && looks < 1800; /* who waits sleeps, and does not look again and again */
  }
  need(quick, "a wait ended by another thread takes 40 ms, and %d looks", looks);
}

/* Ready at the n-th look after 30 ms: the thread sleeps between looks by then. */
static struct {
  int64_t begin;
  int looks, at;
  bool said, again;
} once;
static bool is_ready_once(void *context) {
  (void)context;
  once.again |= once.said;
  if (lgt_wire_now() - once.begin >= 30) once.said |= ++once.looks == once.at;
  return once.said;
}
static void *waker(void *context) {
  for (int i = 0; i < 60; i++) usleep(1000), lgt_transport_wake(context);
  return NULL;
}

/* What was ready may be gone afterwards: who has said so is not asked again. */
static void asking(void) {
  for (int at = 1; at <= 4; at++) {
    pthread_t thread;
    once.begin = lgt_wire_now();
    once.looks = 0, once.at = at;
    once.said = once.again = false;
    pthread_create(&thread, NULL, waker, T);
    good(lgt_transport_until(T, is_ready_once, NULL, "for a look"), "until");
    pthread_join(thread, NULL);
    need(!once.again, "a wait that ends with look %d asks no more", at);
  }
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* ms, the median on the rank where it is the longest, that a message takes to a rank that sleeps. */
static int64_t latency(void) {
  enum { N = 21 };
  int late[N];
  for (int i = 0; i < N; i++) {
    lgt_request r[2];
    int64_t sent = 0, now;
    good(lgt_barrier(T, 8), "barrier");
    good(lgt_transport_recv(T, (me + 1) % size, 8, &sent, 8, &r[0]), "recv");
    if (me % 2 == i % 2) usleep(5000); /* the others are asleep by then */
    now = lgt_wire_now();
    good(lgt_transport_send(T, (me + size - 1) % size, 8, &now, 8, &r[1]), "send");
    good(lgt_transport_wait(T, r, 2), "wait");
    late[i] = (int)(lgt_wire_now() - sent);
  }
  qsort(late, N, sizeof *late, by_value);
  int64_t longest = late[N / 2];
  good(lgt_allreduce(T, 9, LGT_REDOP_MAX, LGT_INT64, &longest, NULL, 1), "max");
  return longest;
}

/* Messages reach a rank that sleeps far earlier than the 100 ms after which it would look by itself. */
static void dozing(void) {
  int64_t took = latency();
  for (int i = 0; i < TRIES && took >= 50; i++) took = latency();
  need(took < 50, "a sleeping rank gets a message after %d ms", (int)took);
}

static void messages(void) {
  static const size_t sizes[] = {0, 1, 8, 1000, 8192, 70000, 1 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (sizes[i] > 70000 && size > 2) continue;
    all_pairs(sizes[i], true);
    all_pairs(sizes[i], false);
  }
  counters();
  cancelling();
  mismatches();
  waking();
  asking();
  dozing();
}

/* ---- collectives ------------------------------------------------------------------------------------------- */

static void broadcasts(void) {
  static const size_t sizes[] = {0, 1, 4096, 300000};
  unsigned char *data = malloc(300000);
  for (size_t i = 0; i < 4; i++)
    for (int root = 0; root < size; root++) {
      memset(data, 0, sizes[i]);
      if (me == root) pattern(data, sizes[i], (unsigned)root);
      good(lgt_broadcast(T, 1, root, data, sizes[i]), "broadcast");
      need(is_pattern(data, sizes[i], (unsigned)root), "broadcast of %zu bytes from rank %d", sizes[i], root);
    }
  free(data);
}

/* Ranks have 0, s, 2s, ... bytes; or the other way round. */
static void allgathers(void) {
  static const int64_t units[] = {0, 1, 999, 20000};
  int64_t *offset = calloc((size_t)size + 1, sizeof *offset);
  for (int i = 0; i < 8; i++) {
    for (int r = 0; r < size; r++) offset[r + 1] = offset[r] + units[i / 2] * (i % 2 ? r : size - 1 - r);
    unsigned char *data = calloc((size_t)offset[size] + 1, 1);
    pattern(data + offset[me], (size_t)(offset[me + 1] - offset[me]), (unsigned)me);
    good(lgt_allgather(T, 2, data, offset), "allgather");
    for (int r = 0; r < size; r++)
      need(is_pattern(data + offset[r], (size_t)(offset[r + 1] - offset[r]), (unsigned)r),
           "allgather: part of rank %d", r);
    free(data);
  }
  free(offset);
}

/* Nobody leaves the barrier before the last has come. */
static void barriers(void) {
  for (int late = 0; late < size && late < 3; late++) {
    int64_t begin = lgt_wire_now();
    good(lgt_barrier(T, 3), "barrier");
    if (me == late) usleep(30000);
    good(lgt_barrier(T, 3), "barrier");
    need(size == 1 || lgt_wire_now() - begin >= 29, "a barrier waits for rank %d", late);
  }
}

/* Several at once, begun in an order that differs from rank to rank, while one waits for something else only. */
static void several(void) {
  enum { N = 9 };
  for (int turn = 0; turn < 20; turn++) {
    lgt_collective c[N];
    double value[N];
    int64_t token = 0;
    lgt_request r[2];
    for (int i = 0; i < N; i++) {
      int k = (i * (me % 2 ? 4 : 1) + me * 5 + turn) % N; /* 4 and 9 have no common factor */
      value[k] = me + 100 * k;
      good(lgt_allreduce_begin(T, (uint64_t)(100 + k), LGT_REDOP_SUM, LGT_FLOAT64, &value[k], NULL, 1, true,
                               &c[k]),
           "begin");
    }
    good(lgt_transport_recv(T, (me + 1) % size, 4, &token, 8, &r[0]), "recv");
    good(lgt_transport_send(T, (me + size - 1) % size, 4, &(int64_t){turn + 1}, 8, &r[1]), "send");
    good(lgt_transport_wait(T, r, 2), "wait");
    need(token == turn + 1, "the token");
    for (int k = N - 1; k >= 0; k--) {
      good(lgt_collective_wait(&c[k]), "collective");
      need(value[k] == size * (size - 1) / 2 + 100.0 * k * size, "allreduce %d of several", k);
    }
  }
}

static void collectives(void) {
  barriers();
  broadcasts();
  allgathers();
  several();
  double x = 1;
  int64_t at = 0;
  need(lgt_allreduce(T, 9, LGT_REDOP_SUM, LGT_FLOAT64, &x, &at, 1) == LGT_BAD_ARGUMENT,
       "sums have no positions");
  need(lgt_allreduce(T, 9, LGT_REDOP_ARGMIN, LGT_FLOAT64, &x, NULL, 1) == LGT_BAD_ARGUMENT, "argmin has");
}

/* ---- the table of operations ------------------------------------------------------------------------------- */

static lgt_peers *peers;
typedef struct awaited {
  lgt_pending *pending;
  bool intact;
} awaited;
static bool is_over(void *context) {
  awaited *a = context;
  return peers->done(peers, a->pending, &a->intact);
}
static bool intact(lgt_pending *pending) {
  awaited a = {pending, false};
  need(pending != NULL, "begun");
  peers->until(peers, is_over, &a, "for a message");
  return a.intact;
}

/* Lengths that differ from what is expected, begun before and after the message comes, small and large. */
static void odd_lengths(void) {
  static const size_t lengths[][2] = {{0, 0},           {8, 8},        {0, 8},      {8, 0},
                                      {7, 8},           {9, 8},        {0, 200000}, {200000, 200000},
                                      {199999, 200000}, {200000, 100}, {1, 0}};
  int next = (me + 1) % size, last = (me + size - 1) % size;
  char *data = malloc(200000), *into = malloc(200000);
  pattern((unsigned char *)data, 200000, 7);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (int late = 0; late < 2; late++) {
      size_t sent = lengths[i][0], expected = lengths[i][1];
      lgt_pending *in = NULL, *out;
      if (!late) in = peers->recv(peers, last, UINT64_MAX, into, expected);
      out = peers->send(peers, next, UINT64_MAX, data, sent);
      if (late) {
        for (int64_t end = lgt_wire_now() + 20; lgt_wire_now() < end;) peers->progress(peers);
        in = peers->recv(peers, last, UINT64_MAX, into, expected);
      }
      need(intact(in) == (sent == expected), "%zu bytes where %zu were expected", sent, expected);
      need(intact(out), "sending");
      if (sent == expected) need(is_pattern((unsigned char *)into, sent, 7), "%zu bytes are as sent", sent);
    }
  free(data), free(into);
}

/* Rank `bad` (none: -1) has nothing to contribute. */
static void contributions(int bad, int64_t n) {
  double *data = malloc((size_t)(n * size) * 8 + 8);
  int64_t *at = malloc((size_t)n * 8 + 8), *offset = calloc((size_t)size + 1, sizeof *offset);
  for (int64_t i = 0; i < n; i++) data[i] = (double)(i + me), at[i] = me;
  need(intact(peers->allreduce(peers, 3, LGT_REDOP_SUM, LGT_FLOAT64, data, NULL, n, me != bad)) == (bad < 0),
       "allreduce of %d, rank %d is bad", (int)n, bad);
  for (int64_t i = 0; i < n && bad < 0; i++)
    need(data[i] == (double)(i * size + size * (size - 1) / 2), "sum %d", (int)i);
  for (int64_t i = 0; i < n; i++) data[i] = me;
  need(intact(peers->allreduce(peers, 3, LGT_REDOP_ARGMAX, LGT_FLOAT64, data, at, n, me != bad)) == (bad < 0),
       "argmax");
  for (int64_t i = 0; i < n && bad < 0; i++)
    need(data[i] == size - 1 && at[i] == size - 1, "argmax %d", (int)i);
  for (int r = 0; r < size; r++)
    offset[r + 1] = offset[r] + (r == size / 2 ? 0 : n * 8); /* one rank has no bytes */
  need(intact(peers->allgather(peers, 3, data, offset, me != bad)) == (bad < 0), "allgather, rank %d is bad",
       bad);
  for (int root = 0; root < size; root++)
    need(intact(peers->broadcast(peers, 3, root, data, (size_t)n * 8, me != bad)) == (bad != root),
         "broadcast from %d, rank %d is bad", root, bad);
  free(data), free(at), free(offset);
}

/* Ctrl-C stops all ranks at one checkpoint, however far apart they are. */
static void stops(void) {
  for (int turn = 0; turn < 4; turn++) {
    int64_t k = 0, pace = (me * 7 + turn * 5) % 4 * 100, pressed = 0, least, most;
    for (;; k++) {
      /* Again if on a busy machine all were taken to be stuck. */
      if (me == 0 && (k == 10 + 20 * turn || (k > 10 + 20 * turn && lgt_wire_now() - pressed > 5000))) {
        lgt_control_interrupt(net->control, false);
        pressed = lgt_wire_now();
      }
      if (peers->checkpoint(peers)) break;
      if (turn % 2) usleep((unsigned)pace);
      else if (k % 8 == 7)
        need(intact(peers->allreduce(peers, 5, LGT_REDOP_SUM, LGT_INT64, &(int64_t){1}, NULL, 1, true)),
             "sum");
    }
    least = most = k;
    good(lgt_allreduce(T, 9, LGT_REDOP_MIN, LGT_INT64, &least, NULL, 1), "min");
    good(lgt_allreduce(T, 9, LGT_REDOP_MAX, LGT_INT64, &most, NULL, 1), "max");
    need(least == most, "ranks stop at checkpoints %d to %d", (int)least, (int)most);
    lgt_control_forget(net->control);
    usleep(450000); /* the next press counts again */
  }
}

static void table(void) {
  peers = lgt_net_peers(net);
  need(peers->rank == me && peers->size == size && strlen(peers->how), "who they are");
  if (size > 1) odd_lengths();
  for (int bad = -1; bad < size; bad++) {
    if (size == 1 && bad == 0) continue; /* it knows */
    contributions(bad, 0), contributions(bad, 1), contributions(bad, 1000), contributions(bad, 30000);
  }
  stops();
  /* Many in flight, and the transport works on afterwards. */
  enum { N = 200 };
  static double value[N];
  lgt_pending *all[N];
  for (int i = 0; i < N; i++) {
    value[i] = i;
    all[i] =
        peers->allreduce(peers, (uint64_t)i, LGT_REDOP_SUM, LGT_FLOAT64, &value[i], NULL, 1, i % 7 || me);
  }
  for (int i = N - 1; i >= 0; i--)
    need(intact(all[i]) == (i % 7 != 0) && (i % 7 == 0 || value[i] == i * size), "number %d", i);
}

/* ---- reductions --------------------------------------------------------------------------------------------- */

/* IN: for each case int64 redop, dtype, n, then n elements of each rank in turn, then with positions n int64 of
 * each rank.  OUT: for each case n elements, then n positions. */
static void reduce_case(FILE *in, FILE *out, const int64_t *head) {
  int64_t n = head[2], bytes = n * lgt_dtype_size((int)head[1]);
  bool positions = head[0] >= LGT_REDOP_ARGMIN;
  char *data = malloc((size_t)bytes + 1), *of0 = malloc((size_t)(bytes + n * 8) + 1);
  int64_t *at = malloc((size_t)n * 8 + 1);
  long begin = ftell(in);
  fseek(in, begin + me * bytes, SEEK_SET);
  need(fread(data, 1, (size_t)bytes, in) == (size_t)bytes, "the file is too short");
  fseek(in, begin + size * bytes + me * n * 8, SEEK_SET);
  if (positions) need(fread(at, 8, (size_t)n, in) == (size_t)n, "the file is too short");
  fseek(in, begin + size * (bytes + (positions ? n * 8 : 0)), SEEK_SET);
  good(lgt_allreduce(T, 6, (int)head[0], (int)head[1], data, positions ? at : NULL, n), "allreduce");
  memcpy(of0, data, (size_t)bytes);
  if (positions) memcpy(of0 + bytes, at, (size_t)n * 8);
  size_t all = (size_t)(bytes + (positions ? n * 8 : 0));
  good(lgt_broadcast(T, 7, 0, of0, all), "broadcast");
  need(!memcmp(of0, data, (size_t)bytes) && (!positions || !memcmp(of0 + bytes, at, (size_t)n * 8)),
       "allreduce %s of %s: rank %d has other bits than rank 0", lgt_redop_name((int)head[0]),
       lgt_dtype_name((int)head[1]), me);
  if (me == 0) fwrite(of0, 1, all, out);
  free(data), free(of0), free(at);
}

static void reduce(const char *in_name, const char *out_name) {
  FILE *in = fopen(in_name, "rb"), *out = me == 0 ? fopen(out_name, "wb") : NULL;
  int64_t head[3];
  need(in && (out || me), "cannot open the files");
  while (fread(head, sizeof head, 1, in) == 1) reduce_case(in, out, head);
  fclose(in);
  if (out) fclose(out);
}

/* ---- faults -------------------------------------------------------------------------------------------------- */

enum { OPERATIONS = 3000 };

static void line_text(void *context, uint32_t line, char *text, size_t room) {
  (void)context;
  snprintf(text, room, "script.lua:%u", line);
}

static void issue(int from, int to) {
  for (int i = from; i < to; i++)
    lgt_control_note(net->control,
                     &(lgt_operation){.token = (uint64_t)i * 7, .line = (uint32_t)(10 + i % 5)});
}

static void compute(double seconds) {
  for (int64_t end = lgt_wire_now() + (int64_t)(seconds * 1e3); lgt_wire_now() < end;)
    for (volatile int i = 0; i < 1000; i++) continue;
}

static void receive_forever(int peer) {
  lgt_request r;
  char data[8];
  good(lgt_transport_recv(T, peer, 99, data, 8, &r), "recv");
  good(lgt_transport_wait(T, &r, 1), "wait");
}

static void fault_compute(int odd) { (void)odd, compute(3600); }
static void fault_short(int odd) {
  compute(me == odd ? 5 : 0);
} /* longer than the heartbeats' limit: legal */
static void fault_wait(int odd) {
  if (me == odd) compute(3600);
  receive_forever(odd);
}
static void fault_printed(int odd) {
  if (me == 0) printf("written before the fault");
  good(lgt_barrier(T, 1), "barrier");
  if (me == odd) raise(SIGKILL);
  receive_forever(odd);
}
static void fault_barrier(int odd) {
  if (me == odd) compute(3600);
  good(lgt_barrier(T, 1), "barrier");
}
/* One operation differs; then all wait, for nothing. */
static void fault_diverge(int odd) {
  issue(0, OPERATIONS);
  if (me == odd) lgt_control_note(net->control, &(lgt_operation){.token = 12345, .line = 77});
  else lgt_control_note(net->control, &(lgt_operation){.token = 54321, .line = 78});
  issue(0, 5);
  receive_forever((me + 1) % size);
}
/* One rank issues an operation more, waits for it, and the others go on for long before they wait. */
static void fault_extra(int odd) {
  issue(0, 100);
  if (me == odd)
    lgt_control_note(net->control, &(lgt_operation){.token = 777, .line = 42}),
        receive_forever((me + 1) % size);
  issue(100, 100 + OPERATIONS);
  receive_forever((me + 1) % size);
}
/* The others never wait, but issue. */
static void fault_extra_busy(int odd) {
  issue(0, 100);
  if (me == odd)
    lgt_control_note(net->control, &(lgt_operation){.token = 777, .line = 42}),
        receive_forever((me + 1) % size);
  for (int i = 100;; i++) issue(i, i + 1), usleep(1000);
}
static void fault_exit0(int odd) {
  if (me == odd) exit(0);
  receive_forever(odd);
}
static void fault_exit3(int odd) {
  if (me == odd) exit(3);
  receive_forever(odd);
}
static void fault_leave(int odd) {
  issue(0, 10);
  if (me == odd) good(lgt_net_leave(net, 99), "leave");
  issue(10, 12);
  receive_forever(odd);
}
static void fault_abort(int odd) {
  if (me == odd) lgt_net_abort(net, "out of luck at script.lua:5");
  receive_forever(odd);
}
static void fault_segv(int odd) {
  if (me == odd) signal(SIGSEGV, SIG_DFL), raise(SIGSEGV); /* not for a sanitizer to catch */
  receive_forever(odd);
}
/* All exit alike, as os.exit(4) on all ranks does. */
static void fault_exit_all(int odd) {
  (void)odd;
  issue(0, 3);
  good(lgt_net_leave(net, 5), "leave");
  exit(4);
}
static void fault_output(int odd) {
  (void)odd;
  printf("out of %d\nunfinished", me);
  fprintf(stderr, "err of %d\n", me);
}

static const struct {
  const char *name;
  void (*run)(int odd);
} faults[] = {
    {"compute", fault_compute}, {"short", fault_short},       {"wait", fault_wait},
    {"barrier", fault_barrier}, {"diverge", fault_diverge},   {"extra", fault_extra},
    {"exit0", fault_exit0},     {"exit3", fault_exit3},       {"extra_busy", fault_extra_busy},
    {"leave", fault_leave},     {"abort", fault_abort},       {"printed", fault_printed},
    {"segv", fault_segv},       {"exit_all", fault_exit_all}, {"output", fault_output},
};

/* ---- the program ------------------------------------------------------------------------------------------------ */

typedef struct arguments {
  lgt_net_options net;
  lgt_wireup_options wireup;
  lgt_spawn_options launch;
  int odd_version, odd_option;
  bool early; /* write the process id before joining; the odd rank never joins */
  const char *pids;
} arguments;

static int parse(arguments *a, int argc, char **argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    const char *o = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    i++;
    if (!strcmp(o, "-n")) a->launch.ranks = atoi(value);
    else if (!strcmp(o, "--rendezvous")) a->wireup.rendezvous = value;
    else if (!strcmp(o, "--rank")) a->wireup.rank = atoi(value);
    else if (!strcmp(o, "--ranks")) a->wireup.size = atoi(value);
    else if (!strcmp(o, "--start"))
      a->wireup.start_ms = a->launch.start_ms = a->net.control.start_ms = atoi(value);
    else if (!strcmp(o, "--dead")) a->launch.dead_ms = a->net.control.dead_ms = atoi(value);
    else if (!strcmp(o, "--patience")) a->net.control.patience_ms = atoi(value);
    else if (!strcmp(o, "--version")) a->net.control.version = value;
    else if (!strcmp(o, "--agreed")) a->net.control.agreed = value;
    else if (!strcmp(o, "--odd")) a->odd_version = atoi(value);
    else if (!strcmp(o, "--odd-option")) a->odd_option = atoi(value);
    else if (!strcmp(o, "--pids")) a->pids = value;
    else if (i--, !strcmp(o, "--all-output")) a->launch.all_output = true;
    else if (!strcmp(o, "--tcp")) a->net.tcp = true;
    else if (!strcmp(o, "--early")) a->early = true;
    else fprintf(stderr, "ranks: unknown option %s\n", o), exit(2);
  }
  return i;
}

static void write_pid(const char *folder, int rank) {
  char path[512], part[520];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  snprintf(part, sizeof part, "%s.part", path);
  FILE *file = fopen(part, "w");
  if (!file) return;
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  rename(part, path);
}

static int die(lgt_status status) {
  (void)status;
  fprintf(stderr, "ranks: %s\n", lgt_message());
  return 1;
}

static void run(int argc, char **argv, int i) {
  const char *what = i < argc ? argv[i] : "";
  if (!strcmp(what, "messages")) return messages();
  if (!strcmp(what, "collectives")) return collectives();
  if (!strcmp(what, "peers")) return table();
  if (!strcmp(what, "reduce") && i + 2 < argc) return reduce(argv[i + 1], argv[i + 2]);
  for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
    if (!strcmp(what, faults[f].name)) return faults[f].run(i + 1 < argc ? atoi(argv[i + 1]) : 0);
  need(false, "unknown command %s", what);
}

int main(int argc, char **argv) {
  arguments a = {.odd_version = -1, .odd_option = -1};
  a.net.control.version = "1.2.3";
  a.net.control.agreed = "fusion=1\nwindow=256\n";
  a.net.control.line_text = line_text;
  int i = parse(&a, argc, argv), exit_status;
  lgt_wireup wireup;
  lgt_status status;
  if (a.launch.ranks) {
    bool launcher;
    status = lgt_spawn(&a.launch, &wireup, &launcher, &exit_status);
    if (status) return die(status);
    if (launcher) return exit_status;
  } else if ((status = lgt_wireup_find(&a.wireup, &wireup))) return die(status);
  if (wireup.size == 1 && wireup.socket < 0) { /* needs no network */
    lgt_wireup_close(&wireup);
    return puts("done"), 0;
  }
  if (wireup.rank == a.odd_version) a.net.control.version = "1.2.4";
  if (wireup.rank == a.odd_option) a.net.control.agreed = "fusion=1\nwindow=512\n";
  if (a.pids && a.early) {
    write_pid(a.pids, wireup.rank);
    if (i + 1 < argc && wireup.rank == atoi(argv[i + 1])) pause(); /* until it is killed */
  }
  if ((status = lgt_net_open(&a.net, &wireup, &net))) return die(status);
  T = net->transport, me = net->rank, size = net->size;
  if (a.pids && !a.early) write_pid(a.pids, me);
  run(argc, argv, i);
  good(lgt_net_leave(net, 1), "leave");
  lgt_net_free(net);
  if (me == 0) puts("done");
  return 0;
}
