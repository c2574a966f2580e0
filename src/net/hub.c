/* hub.c - see hub.h.
 *
 * Sockets are served through one epoll descriptor, which others can poll.  Writes do not wait: all the hub ever
 * sends is small, so a rank whose socket is full has not read for very long and counts as dead.
 *
 * Time.  If the hub itself was stopped for a while (a suspended laptop, Ctrl-Z on the whole job), silence proves
 * nothing: whenever its own pulse has missed some beats all ranks begin again.
 */
#include "hub.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "stream.h"
#include "wire.h"

enum { EVENTS = 64, NOBODY = -1, TELL_MS = 500, STALE_MS = 3000, ALL_FAIL_MS = 2000, VERDICT_MS = 2000 };

typedef struct guest {
  int socket; /* -1: gone */
  int rank;   /* NOBODY until it said hello */
  bool hello, bye;
  int64_t heard; /* ms */
  int wants;     /* the rank whose address it waits for, or NOBODY */
  lgt_inbox inbox;
  lgt_hello who;
  char *version, *agreed; /* owned */
  char *address;          /* owned */
  size_t address_bytes;
  char *failure; /* owned: the error that ended its program */
} guest;

struct lgt_hub {
  lgt_hub_options options;
  lgt_hub_state state;
  int epoll;
  guest **guest; /* owned, in order of arrival */
  int nguest, room;
  guest **rank; /* owned array, size; the guest that is this rank, or NULL */
  int nhello, nbye, nfailed;
  int64_t failed; /* ms: when the first program ended by an error */
  bool stopping;  /* after Ctrl-C: the ranks have been asked where they are */
  bool scattered; /* and came to no common place */
  int answers, nstopped;
  uint64_t furthest;    /* checkpoint of those that have answered */
  int64_t began, pulse; /* ms: when the hub began, when it last beat */
  int64_t told;         /* ms: when reports were last asked for */
  lgt_report *report;   /* owned: the one that others are compared with */
  int report_rank;
  char verdict[LGT_WIRE_TEXT]; /* how two ranks differ, while they are asked for more; "": they do not */
  int disputant[2];
  uint64_t disputed; /* the first operation known to differ */
  int64_t asked;     /* ms: when they were first asked */
  char *waits;       /* owned array, size * WAITS_MAX: what a rank last said it waits for */
  char reason[LGT_WIRE_TEXT];
};

enum { WAITS_MAX = 200 };

/* ---- life ------------------------------------------------------------------------------------------ */

lgt_status lgt_hub_new(const lgt_hub_options *options, lgt_hub **out) {
  lgt_hub *hub = lgt_mem_zalloc(sizeof *hub);
  if (!hub) return lgt_err(LGT_NO_MEMORY, "out of memory for the hub");
  hub->options = *options;
  hub->epoll = epoll_create1(EPOLL_CLOEXEC);
  hub->rank = lgt_mem_zalloc((size_t)options->size * sizeof *hub->rank);
  hub->waits = lgt_mem_zalloc((size_t)options->size * WAITS_MAX);
  hub->began = hub->pulse = lgt_wire_now();
  hub->report_rank = NOBODY;
  if (hub->epoll < 0 || !hub->rank || !hub->waits) {
    lgt_hub_free(hub);
    return lgt_err(LGT_NO_MEMORY, "cannot make a hub of %d ranks", options->size);
  }
  if (options->listener >= 0) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    fcntl(options->listener, F_SETFL, O_NONBLOCK);
    epoll_ctl(hub->epoll, EPOLL_CTL_ADD, options->listener, &event);
  }
  *out = hub;
  return LGT_OK;
}

static void drop(lgt_hub *hub, guest *g) {
  if (g->socket < 0) return;
  epoll_ctl(hub->epoll, EPOLL_CTL_DEL, g->socket, NULL);
  close(g->socket);
  g->socket = -1;
}

void lgt_hub_free(lgt_hub *hub) {
  if (!hub) return;
  /* First: a forked copy of the hub must not take its sockets out of the set that it shares with the original. */
  if (hub->epoll >= 0) close(hub->epoll);
  hub->epoll = -1;
  for (int i = 0; i < hub->nguest; i++) {
    guest *g = hub->guest[i];
    drop(hub, g);
    lgt_inbox_fini(&g->inbox);
    lgt_mem_free(g->version);
    lgt_mem_free(g->agreed);
    lgt_mem_free(g->address);
    lgt_mem_free(g->failure);
    lgt_mem_free(g);
  }
  lgt_mem_free(hub->guest);
  lgt_mem_free(hub->rank);
  lgt_mem_free(hub->waits);
  lgt_mem_free(hub->report);
  lgt_mem_free(hub);
}

static guest *add_guest(lgt_hub *hub, int socket, int rank) {
  guest *g = lgt_mem_zalloc(sizeof *g);
  if (!g || !lgt_mem_grow((void **)&hub->guest, &hub->room, hub->nguest + 1, sizeof *hub->guest)) {
    lgt_mem_free(g);
    return NULL;
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = g};
  unsigned patience = (unsigned)hub->options.dead_ms;
  int on = 1;
  fcntl(socket, F_SETFL, O_NONBLOCK);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* these two fail on a socketpair, rightly */
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
  *g = (guest){.socket = socket, .rank = rank, .heard = lgt_wire_now(), .wants = NOBODY};
  epoll_ctl(hub->epoll, EPOLL_CTL_ADD, socket, &event);
  return hub->guest[hub->nguest++] = g;
}

lgt_status lgt_hub_adopt(lgt_hub *hub, int rank, int socket) {
  guest *g = add_guest(hub, socket, rank);
  if (!g) return lgt_err(LGT_NO_MEMORY, "out of memory for the hub");
  hub->rank[rank] = g;
  return LGT_OK;
}

int lgt_hub_fd(const lgt_hub *hub) { return hub->epoll; }
lgt_hub_state lgt_hub_now(const lgt_hub *hub) { return hub->state; }
const char *lgt_hub_reason(const lgt_hub *hub) { return hub->reason; }

static int beat_ms(const lgt_hub *hub) { return hub->options.dead_ms ? hub->options.dead_ms / 10 : 1000; }
int lgt_hub_tick(const lgt_hub *hub) {
  int tick = beat_ms(hub) / 2 < 1 ? 1 : beat_ms(hub) / 2;
  return hub->nfailed && tick > ALL_FAIL_MS / 5 ? ALL_FAIL_MS / 5 : tick;
}

/* ---- failing --------------------------------------------------------------------------------------- */

void lgt_hub_abort(lgt_hub *hub, int rank, const char *reason) {
  if (hub->state >= LGT_HUB_DONE) return;
  hub->state = LGT_HUB_FAILED;
  snprintf(hub->reason, sizeof hub->reason, "%s", reason);
  /* The rank that holds the hub last: it exits when it hears. */
  for (int i = hub->nguest - 1; i >= 0; i--) {
    guest *g = hub->guest[i];
    if (g->socket >= 0) lgt_wire_send(g->socket, LGT_FRAME_ABORT, rank, hub->reason, strlen(hub->reason) + 1);
  }
}

__attribute__((format(printf, 3, 4))) static void fail(lgt_hub *hub, int rank, const char *format, ...) {
  char text[sizeof hub->reason];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  lgt_hub_abort(hub, rank, text);
}

/* Who waits for the rank that died: what is known of it, for the message. */
static void append_waiting(const lgt_hub *hub, int except, char *text, size_t room) {
  for (int r = 0; r < hub->options.size; r++) {
    const char *waits = hub->waits + (size_t)r * WAITS_MAX;
    size_t used = strlen(text);
    if (r == except || !*waits || used + 16 >= room) continue;
    snprintf(text + used, room - used, "; rank %d waits %s", r, waits);
    return;
  }
}

static void gone(lgt_hub *hub, guest *g) {
  drop(hub, g);
  if (g->rank == NOBODY || g->bye || hub->state >= LGT_HUB_DONE) return;
  char fate[600] = "died (its control connection was closed)";
  if (hub->options.fate) hub->options.fate(hub->options.context, g->rank, fate, sizeof fate);
  append_waiting(hub, g->rank, fate, sizeof fate);
  fail(hub, g->rank, "rank %d%s%s%s %s", g->rank, *g->who.host ? " on " : "", g->who.host,
       hub->state == LGT_HUB_STARTING ? ", while the run began," : "", fate);
}

static void send_to(lgt_hub *hub, guest *g, int type, int rank, const void *body, size_t bytes) {
  if (g->socket < 0 || lgt_wire_send(g->socket, type, rank, body, bytes)) return;
  if (g->bye || g->rank == NOBODY) drop(hub, g);
  else if (errno != EAGAIN) gone(hub, g);
  else fail(hub, g->rank, "rank %d on %s does not read what the hub sends", g->rank, g->who.host);
}

static void send_all(lgt_hub *hub, int type, const void *body, size_t bytes) {
  for (int i = 0; i < hub->nguest; i++)
    if (hub->guest[i]->hello) send_to(hub, hub->guest[i], type, NOBODY, body, bytes);
}

/* ---- the start -------------------------------------------------------------------------------------- */

/* The first line that differs between two lists of lines, in both. */
static void first_difference(const char *a, const char *b, char *line_a, char *line_b, size_t room) {
  while (*a && *b) {
    size_t m = strcspn(a, "\n"), n = strcspn(b, "\n");
    if (m != n || memcmp(a, b, m)) break;
    a += m + (a[m] == '\n');
    b += n + (b[n] == '\n');
  }
  snprintf(line_a, room, "%.*s", (int)strcspn(a, "\n"), a);
  snprintf(line_b, room, "%.*s", (int)strcspn(b, "\n"), b);
}

/* Do two ranks fit together?  Fails the run if not. */
static bool fit(lgt_hub *hub, const guest *a, const guest *b) {
  if (strcmp(a->version, b->version)) {
    fail(hub, b->rank, "the ranks run different versions: rank %d is lgt %s, rank %d is lgt %s", a->rank,
         a->version, b->rank, b->version);
  } else if (strcmp(a->agreed, b->agreed)) {
    char x[200], y[200];
    first_difference(a->agreed, b->agreed, x, y, sizeof x);
    fail(hub, b->rank, "the ranks have different options: rank %d has %s, rank %d has %s", a->rank,
         *x ? x : "nothing", b->rank, *y ? y : "nothing");
  }
  return hub->state != LGT_HUB_FAILED;
}

static void all_arrived(lgt_hub *hub) {
  for (int r = 1; r < hub->options.size; r++)
    if (!fit(hub, hub->rank[0], hub->rank[r])) return;
  hub->state = LGT_HUB_RUNNING;
  for (int r = 0; r < hub->options.size; r++) {
    lgt_welcome welcome = {0, 0};
    for (int q = 0; q < hub->options.size; q++) {
      bool together = !strcmp(hub->rank[q]->who.machine, hub->rank[r]->who.machine);
      welcome.local_rank += together && q < r;
      welcome.local_size += together;
    }
    send_to(hub, hub->rank[r], LGT_FRAME_WELCOME, r, &welcome, sizeof welcome);
  }
}

static void on_hello(lgt_hub *hub, guest *g, const lgt_frame *frame) {
  lgt_hello who;
  if (frame->bytes < sizeof who + 2 || g->hello) return drop(hub, g);
  memcpy(&who, lgt_wire_body(frame), sizeof who);
  who.host[sizeof who.host - 1] = who.machine[sizeof who.machine - 1] = 0;
  if (who.cookie != hub->options.cookie) return drop(hub, g); /* of another run */
  if (who.size != hub->options.size || who.rank < 0 || who.rank >= who.size)
    return fail(hub, NOBODY, "rank %d on %s was told of %d ranks, the hub of %d", who.rank, who.host,
                who.size, hub->options.size);
  guest *other = hub->rank[who.rank];
  if (other && other != g)
    return fail(hub, who.rank, "two processes are rank %d, on %s and on %s", who.rank, other->who.host,
                who.host);
  const char *version = lgt_wire_text(frame, sizeof who);
  const char *agreed = lgt_wire_text(frame, sizeof who + strlen(version) + 1);
  g->version = lgt_mem_strdup(version);
  g->agreed = lgt_mem_strdup(agreed);
  if (!g->version || !g->agreed) return fail(hub, NOBODY, "out of memory in the hub");
  g->who = who;
  g->rank = who.rank;
  g->hello = true;
  hub->rank[g->rank] = g;
  if (++hub->nhello == hub->options.size) all_arrived(hub);
}

static void check_start(lgt_hub *hub, int64_t now) {
  if (hub->state != LGT_HUB_STARTING || now - hub->began < hub->options.start_ms) return;
  char missing[200] = "";
  size_t used = 0;
  for (int r = 0; r < hub->options.size && used + 16 < sizeof missing; r++)
    if (!hub->rank[r] || !hub->rank[r]->hello)
      used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%d", used ? ", " : "", r);
  fail(hub, NOBODY, "only %d of %d ranks have arrived within %g s; missing: %s", hub->nhello,
       hub->options.size, hub->options.start_ms / 1e3, missing);
}

/* ---- addresses --------------------------------------------------------------------------------------- */

static void send_address(lgt_hub *hub, guest *to, int rank) {
  const guest *of = rank >= 0 && rank < hub->options.size ? hub->rank[rank] : NULL;
  to->wants = of && of->address ? NOBODY : rank;
  if (of && of->address) send_to(hub, to, LGT_FRAME_ADDRESS, rank, of->address, of->address_bytes);
}

static void on_address(lgt_hub *hub, guest *g, const lgt_frame *frame) {
  if (g->address) return;
  g->address = lgt_mem_alloc(frame->bytes + 1);
  if (!g->address) return fail(hub, NOBODY, "out of memory in the hub");
  memcpy(g->address, lgt_wire_body(frame), frame->bytes);
  g->address_bytes = frame->bytes;
  for (int i = 0; i < hub->nguest; i++)
    if (hub->guest[i]->wants == g->rank) send_address(hub, hub->guest[i], g->rank);
}

/* ---- divergence --------------------------------------------------------------------------------------- */

static void write_verdict(lgt_hub *hub, int rank, const lgt_report *report, lgt_difference d) {
  char since[80] = "", what[400];
  lgt_report_explain(hub->report, report, d, what, sizeof what);
  if (!d.same && d.a->position > 1) snprintf(since, sizeof since, ", and they differ since an earlier one");
  else if (d.a->position != d.same + 1)
    snprintf(since, sizeof since, ", and they differ since some operation after the %lluth",
             (unsigned long long)d.same);
  snprintf(
      hub->verdict, sizeof hub->verdict,
      "the ranks do not run the same program: operation %llu is issued at %s by rank %d and at %s by rank "
      "%d%s%s; which operations run must not depend on lgt.rank(), on clocks, or on files that differ%s",
      (unsigned long long)d.a->position, lgt_report_line(hub->report, d.a->mark.line), hub->report_rank,
      lgt_report_line(report, d.b->mark.line), rank, since, what,
      hub->scattered ? " (before, Ctrl-C has stopped each where it was)" : "");
}

/* False: there is no memory for it. */
static bool keep_report(lgt_hub *hub, int rank, const lgt_report *report) {
  lgt_report *copy = lgt_mem_realloc(hub->report, report->bytes);
  if (!copy) return false;
  memcpy(copy, report, report->bytes);
  hub->report = copy;
  hub->report_rank = rank;
  return true;
}

/* The rank's report differs from that of another.  Of operations long ago they have few marks: then both ranks are asked
 * for what they know up to the first that differs, which is more, until nothing lies between (stream.h), or until one
 * does not answer. */
static void diverged(lgt_hub *hub, int rank, const lgt_report *report, lgt_difference d) {
  bool first = !*hub->verdict;
  write_verdict(hub, rank, report, d);
  if (d.a->position == d.same + 1 || (!first && d.a->position >= hub->disputed))
    return fail(hub, rank, "%s", hub->verdict);
  if (first) hub->asked = lgt_wire_now();
  hub->disputed = d.a->position;
  hub->disputant[0] = hub->report_rank;
  hub->disputant[1] = rank;
  hub->report_rank = NOBODY;
  for (int i = 0; i < 2; i++)
    send_to(hub, hub->rank[hub->disputant[i]], LGT_FRAME_TELL, NOBODY, &hub->disputed, sizeof hub->disputed);
}

/* More of what the two ranks know. */
static void on_evidence(lgt_hub *hub, int rank, const lgt_report *report) {
  if ((rank != hub->disputant[0] && rank != hub->disputant[1]) || report->until != hub->disputed) return;
  if (hub->report_rank == NOBODY) keep_report(hub, rank, report);
  if (hub->report_rank == NOBODY || hub->report_rank == rank) return;
  lgt_difference d = lgt_report_compare(hub->report, report);
  if (d.a) diverged(hub, rank, report, d);
}

/* The reference is the report of whoever is least far; the others are asked for theirs up to there. */
static void ask_others(lgt_hub *hub) {
  hub->told = lgt_wire_now();
  for (int r = 0; r < hub->options.size; r++)
    if (r != hub->report_rank && hub->rank[r])
      send_to(hub, hub->rank[r], LGT_FRAME_TELL, NOBODY, &hub->report->until, sizeof hub->report->until);
}

static void on_report(lgt_hub *hub, guest *g, const lgt_frame *frame) {
  const lgt_report *report = (const lgt_report *)lgt_wire_body(frame);
  if (!lgt_report_valid(report, frame->bytes)) return;
  int64_t now = lgt_wire_now();
  snprintf(hub->waits + (size_t)g->rank * WAITS_MAX, WAITS_MAX, "%s", lgt_report_what(report));
  if (*hub->verdict) return on_evidence(hub, g->rank, report);
  if (hub->report && hub->report_rank != g->rank) {
    lgt_difference d = lgt_report_compare(hub->report, report);
    if (d.a) return diverged(hub, g->rank, report, d);
    if (report->position >= hub->report->position && now - hub->told < STALE_MS) return;
  }
  bool news = hub->report_rank != g->rank || now - hub->told >= TELL_MS;
  if (keep_report(hub, g->rank, report) && news) ask_others(hub);
}

/* ---- serving ------------------------------------------------------------------------------------------ */

static void on_bye(lgt_hub *hub, guest *g) {
  if (g->bye) return;
  g->bye = true;
  if (++hub->nbye < hub->options.size || hub->state != LGT_HUB_RUNNING) return;
  if (*hub->verdict) return fail(hub, hub->disputant[1], "%s", hub->verdict);
  send_all(hub, LGT_FRAME_BYE, NULL, 0);
  hub->state = LGT_HUB_DONE;
}

static void on_abort(lgt_hub *hub, guest *g, const lgt_frame *frame) {
  const char *why = lgt_wire_text(frame, 0);
  fail(hub, g->rank, "rank %d%s%s: %s", g->rank, *g->who.host ? " on " : "", g->who.host,
       *why ? why : "no reason given");
}

static void on_interrupt(lgt_hub *hub) {
  if (hub->stopping || hub->state != LGT_HUB_RUNNING) return;
  hub->stopping = true;
  hub->answers = hub->nstopped = 0;
  hub->furthest = 0;
  send_all(hub, LGT_FRAME_STOP, NULL, 0);
}

/* All can stop at the checkpoint of whoever is furthest, unless none comes to any. */
static void on_at(lgt_hub *hub, const lgt_frame *frame) {
  lgt_at at;
  if (!hub->stopping || frame->bytes != sizeof at) return;
  memcpy(&at, lgt_wire_body(frame), sizeof at);
  hub->nstopped += at.stopped != 0;
  if (at.checkpoint > hub->furthest) hub->furthest = at.checkpoint;
  if (++hub->answers < hub->options.size) return;
  hub->stopping = false;
  hub->scattered = hub->nstopped == 0;
  if (hub->nstopped) send_all(hub, LGT_FRAME_STOP_AT, &hub->furthest, sizeof hub->furthest);
  else send_all(hub, LGT_FRAME_INTERRUPT, NULL, 0);
}

/* The errors of two programs; tracebacks hold addresses. */
static bool same_failure(const char *a, const char *b) {
  const char *end_a = strstr(a, "\nstack traceback:"), *end_b = strstr(b, "\nstack traceback:");
  size_t n = end_a ? (size_t)(end_a - a) : strlen(a), m = end_b ? (size_t)(end_b - b) : strlen(b);
  return n == m && !memcmp(a, b, n);
}

/* All programs ended by an error, or those that will: says it, once. */
static void failed(lgt_hub *hub) {
  const guest *first = NULL;
  int others = 0;
  for (int r = 0; r < hub->options.size; r++) {
    const guest *g = hub->rank[r];
    if (!g->failure) continue;
    if (!first) first = g;
    else others += !same_failure(g->failure, first->failure);
  }
  if (hub->nfailed == hub->options.size && !others) return lgt_hub_abort(hub, NOBODY, first->failure);
  if (!others) return fail(hub, first->rank, "rank %d: %s", first->rank, first->failure);
  fail(hub, first->rank, "rank %d: %s\n(on %d other rank%s the program ended by another error)", first->rank,
       first->failure, others, lgt_plural(others));
}

static void on_fail(lgt_hub *hub, guest *g, const lgt_frame *frame) {
  if (g->failure || hub->state != LGT_HUB_RUNNING) return;
  const char *why = lgt_wire_text(frame, 0);
  if (!(g->failure = lgt_mem_strdup(*why ? why : "an error")))
    return fail(hub, NOBODY, "out of memory in the hub");
  if (!hub->nfailed++) hub->failed = lgt_wire_now();
  if (hub->nfailed == hub->options.size) failed(hub);
}

static void on_frame(lgt_hub *hub, guest *g, const lgt_frame *frame) {
  g->heard = lgt_wire_now();
  if (frame->type == LGT_FRAME_HELLO) return on_hello(hub, g, frame);
  if (!g->hello) return drop(hub, g);
  switch (frame->type) {
    case LGT_FRAME_ADDRESS:
      return on_address(hub, g, frame);
    case LGT_FRAME_GET:
      return send_address(hub, g, frame->rank);
    case LGT_FRAME_REPORT:
      return on_report(hub, g, frame);
    case LGT_FRAME_INTERRUPT:
      return on_interrupt(hub);
    case LGT_FRAME_AT:
      return on_at(hub, frame);
    case LGT_FRAME_FAIL:
      return on_fail(hub, g, frame);
    case LGT_FRAME_ABORT:
      return on_abort(hub, g, frame);
    case LGT_FRAME_BYE:
      return on_bye(hub, g);
  }
}

static void serve_guest(lgt_hub *hub, guest *g) {
  int more = 1;
  while (more > 0 && g->socket >= 0) {
    more = lgt_wire_receive(g->socket, &g->inbox);
    const lgt_frame *frame;
    bool garbage = false;
    while (g->socket >= 0 && (frame = lgt_wire_next(&g->inbox, &garbage))) on_frame(hub, g, frame);
    if (garbage) more = -1;
  }
  if (more < 0 && g->socket >= 0) gone(hub, g);
}

static void accept_guests(lgt_hub *hub) {
  int socket;
  while ((socket = accept4(hub->options.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
    if (!add_guest(hub, socket, NOBODY)) close(socket);
}

/* Beat, and see who has been silent for too long. */
static void pulse(lgt_hub *hub, int64_t now) {
  int64_t gap = now - hub->pulse;
  if (gap < beat_ms(hub)) return;
  hub->pulse = now;
  send_all(hub, LGT_FRAME_BEAT, NULL, 0);
  for (int i = 0; i < hub->nguest && hub->options.dead_ms; i++) {
    guest *g = hub->guest[i];
    if (gap > hub->options.dead_ms / 2) g->heard = now;
    if (g->socket < 0 || !g->hello || now - g->heard <= hub->options.dead_ms) continue;
    fail(hub, g->rank,
         "rank %d on %s has given no sign of life for %g s: it was stopped, or its network is down", g->rank,
         g->who.host, (double)(now - g->heard) / 1e3);
  }
}

void lgt_hub_serve(lgt_hub *hub) {
  struct epoll_event event[EVENTS];
  int n = epoll_wait(hub->epoll, event, EVENTS, 0);
  for (int i = 0; i < n; i++) {
    if (event[i].data.ptr) serve_guest(hub, event[i].data.ptr);
    else accept_guests(hub);
  }
  int64_t now = lgt_wire_now();
  pulse(hub, now);
  check_start(hub, now);
  if (hub->nfailed && hub->state == LGT_HUB_RUNNING && now - hub->failed >= ALL_FAIL_MS) failed(hub);
  if (*hub->verdict && hub->state == LGT_HUB_RUNNING && now - hub->asked >= VERDICT_MS)
    fail(hub, hub->disputant[1], "%s", hub->verdict);
}
