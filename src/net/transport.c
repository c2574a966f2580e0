/* transport.c - see transport.h.
 *
 * The tag that UCX sees: | 3 bits: space | 21 bits: sender | 40 bits: tag |.  The sender is part of it because UCX
 * matches messages of any sender.
 *
 * Error handling is chosen for each connection: without, between ranks that share memory, because asking for it
 * would make UCX drop shared memory silently; with, for all others, containers on one machine included, for which UCX
 * would otherwise try shared memory and never wake up.  Both sides choose alike, since both compare the same two places.
 *
 * Waiting: at first it looks again and again, since a message between two ranks that both run takes 0.2 us: for at most
 * 20 us, and less and less where that was in vain because ranks share processors; then up to 200 times with the
 * processor yielded in between, best in that case; after that, arm and poll.
 */
#include "transport.h"

#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "base/log.h"
#include "base/mem.h"

enum {
  SPINS_LEAST = 16,
  SPINS_MOST = 1000,
  LOOKS = 200,
  LOOKS_BETWEEN_CLOCKS = 25,
  LOOKS_MS = 2,
  SLEEP_MS = 100,
  CLOSE_MS = 500,
  HUB_ENDS_US_MS = 5000
};
enum { SPACE_SHIFT = 61, SENDER_SHIFT = LGT_TAG_BITS, OUTER = 0, INNER = 1, RANKS_MAX = 1 << 21 };

/* clang-format off */
#define FUNCTIONS(X)                                                                                   \
  X(ucp_config_read) X(ucp_config_modify) X(ucp_config_release) X(ucp_init_version) X(ucp_cleanup)     \
  X(ucp_worker_create) X(ucp_worker_destroy) X(ucp_worker_get_address) X(ucp_worker_release_address)   \
  X(ucp_worker_get_efd) X(ucp_worker_arm) X(ucp_worker_progress) X(ucp_ep_create) X(ucp_ep_close_nbx)  \
  X(ucp_tag_send_nbx) X(ucp_tag_recv_nbx) X(ucp_request_check_status) X(ucp_request_cancel)            \
  X(ucp_request_free) X(ucs_status_string)
/* clang-format on */

static struct {
#define X(name) __typeof__(name) *name;
  FUNCTIONS(X)
#undef X
} ucx;

struct lgt_transport {
  lgt_control *control; /* borrowed */
  bool tcp;
  int spins; /* looks before the processor is yielded: more where they helped, fewer where not */
  ucp_context_h context;
  ucp_worker_h worker;
  int event;    /* UCX's, borrowed: readable when messages came after arming */
  ucp_ep_h *ep; /* owned array, size: connections to those this rank has sent to */
  lgt_place place;
  lgt_stepper *steppers;
  ucs_status_t broken; /* of a connection; UCS_OK: none */
  int broken_peer;
  bool leaving; /* peers may end before this rank hears that all have left: connections may break */
  lgt_transport_counters counters;
  /* True while the submitting thread sleeps or is about to: others then wake it by a system call.  Both sides exchange
   * it (acquire and release), so that either the waker sees the sleeper or the sleeper sees what the waker wrote. */
  _Atomic int sleeping;
};

/* ---- opening and closing ---------------------------------------------------------------------------- */

/* What UCX reads from the environment while it is loaded: or it would install handlers of SIGSEGV and others, and
 * write its complaints between the program's output. */
static const char *const load_time[][2] = {{"UCX_ERROR_SIGNALS", ""}, {"UCX_LOG_FILE", "stderr"}};
enum { NLOAD_TIME = sizeof load_time / sizeof *load_time };

static void *load_library(void) {
  bool ours[NLOAD_TIME];
  for (int i = 0; i < NLOAD_TIME; i++)
    ours[i] = !getenv(load_time[i][0]) && !setenv(load_time[i][0], load_time[i][1], 1);
  void *library = dlopen("libucp.so.0", RTLD_NOW);
  for (int i = 0; i < NLOAD_TIME; i++)
    if (ours[i]) unsetenv(load_time[i][0]); /* programs that this one starts need not have them */
  return library;
}

static lgt_status load(void) {
  if (ucx.ucs_status_string) return LGT_OK;
  void *library = load_library();
  if (!library) return lgt_err(LGT_UNSUPPORTED, "several ranks need UCX (Debian: libucx0): %s", dlerror());
#define X(name)                                                \
  if (!(ucx.name = (__typeof__(name) *)dlsym(library, #name))) \
    return lgt_err(LGT_UNSUPPORTED, "libucp.so.0 has no " #name "; lgt needs UCX 1.13 or newer");
  FUNCTIONS(X)
#undef X
  return LGT_OK;
}

static lgt_status failed(const char *what, ucs_status_t status) {
  return lgt_err(LGT_SYSTEM, "%s failed: %s", what, ucx.ucs_status_string(status));
}

static lgt_status open_context(lgt_transport *t) {
  ucp_config_t *config;
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                         .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
                         .estimated_num_eps = 8};
  ucs_status_t status = ucx.ucp_config_read(NULL, NULL, &config);
  if (status) return failed("ucp_config_read", status);
  if (t->tcp) {
    ucx.ucp_config_modify(config, "TLS", "tcp,self");
    ucx.ucp_config_modify(config, "RNDV_THRESH", "65536"); /* its own choice makes 8 KB four times slower */
  } else if (!getenv("UCX_TLS")) {
    /* System V segments vanish with their users at once; a process killed early leaves its POSIX ones behind. */
    ucx.ucp_config_modify(config, "TLS", "^posix");
  }
  status = ucx.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &t->context);
  ucx.ucp_config_release(config);
  return status ? failed("ucp_init", status) : LGT_OK;
}

static lgt_status open_worker(lgt_transport *t) {
  ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                .thread_mode = UCS_THREAD_MODE_SINGLE};
  ucp_address_t *address;
  size_t bytes;
  ucs_status_t status = ucx.ucp_worker_create(t->context, &params, &t->worker);
  if (status) return failed("ucp_worker_create", status);
  if ((status = ucx.ucp_worker_get_efd(t->worker, &t->event))) return failed("ucp_worker_get_efd", status);
  if ((status = ucx.ucp_worker_get_address(t->worker, &address, &bytes)))
    return failed("ucp_worker_get_address", status);
  lgt_status published = lgt_control_publish(t->control, address, bytes);
  ucx.ucp_worker_release_address(t->worker, address);
  return published;
}

/* Both with the signals blocked that UCX's own thread shall leave to the program's. */
static lgt_status open_quietly(lgt_transport *t) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  lgt_status status = open_context(t);
  if (!status) status = open_worker(t);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

lgt_status lgt_transport_open(lgt_control *control, bool tcp, lgt_transport **out) {
  lgt_status status = load();
  if (status) return status;
  if (control->size > RANKS_MAX)
    return lgt_err(LGT_UNSUPPORTED, "%d ranks; at most %d can be", control->size, RANKS_MAX);
  lgt_transport *t = lgt_mem_zalloc(sizeof *t);
  if (!t) return lgt_err(LGT_NO_MEMORY, "out of memory for the transport");
  t->control = control;
  t->tcp = tcp;
  t->spins = SPINS_MOST;
  lgt_place_here(&t->place);
  t->ep = lgt_mem_zalloc((size_t)control->size * sizeof *t->ep);
  status = t->ep ? open_quietly(t) : lgt_err(LGT_NO_MEMORY, "out of memory for the transport");
  if (status) {
    lgt_transport_close(t);
    return status;
  }
  lgt_log(NET, 1, "rank %d of %d, %d of them on this machine: %s", control->rank, control->size,
          control->local_size, t->tcp ? "TCP only" : "any transport");
  *out = t;
  return LGT_OK;
}

static void close_connections(lgt_transport *t) {
  int64_t end = lgt_wire_now() + CLOSE_MS;
  ucp_request_param_t param = {0};
  for (int r = 0; r < t->control->size; r++) {
    if (!t->ep[r]) continue;
    void *handle = ucx.ucp_ep_close_nbx(t->ep[r], &param);
    if (!UCS_PTR_IS_PTR(handle)) continue;
    while (ucx.ucp_request_check_status(handle) == UCS_INPROGRESS && lgt_wire_now() < end)
      if (!ucx.ucp_worker_progress(t->worker)) sched_yield();
    ucx.ucp_request_free(handle);
  }
}

void lgt_transport_close(lgt_transport *t) {
  if (!t) return;
  if (t->worker) {
    close_connections(t);
    ucx.ucp_worker_destroy(t->worker);
  }
  if (t->context) ucx.ucp_cleanup(t->context);
  lgt_mem_free(t->ep);
  lgt_mem_free(t);
}

void lgt_transport_leave(lgt_transport *t) { t->leaving = true; }
int lgt_transport_rank(const lgt_transport *t) { return t->control->rank; }
int lgt_transport_size(const lgt_transport *t) { return t->control->size; }
lgt_transport_counters lgt_transport_count(const lgt_transport *t) { return t->counters; }

void lgt_transport_wake(lgt_transport *t) {
  if (atomic_fetch_or_explicit(&t->sleeping, 0, memory_order_acq_rel)) lgt_control_wake(t->control);
}

/* ---- connections -------------------------------------------------------------------------------------- */

static void on_error(void *context, ucp_ep_h ep, ucs_status_t status) {
  lgt_transport *t = context;
  if (t->broken || t->leaving) return;
  for (int r = 0; r < t->control->size; r++)
    if (t->ep[r] == ep) t->broken_peer = r;
  t->broken = status;
}

static lgt_status connect_to(lgt_transport *t, int peer) {
  const char *address;
  size_t bytes;
  lgt_place place;
  lgt_status status = lgt_control_address(t->control, peer, &address, &bytes, &place);
  if (status) return status;
  bool near = !t->tcp && lgt_place_equal(&place, &t->place);
  lgt_log(NET, 3, "rank %d connects to rank %d over %s", t->control->rank, peer,
          near ? "shared memory" : "the network");
  ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                          UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                          UCP_EP_PARAM_FIELD_ERR_HANDLER,
                            .address = (const ucp_address_t *)address,
                            .err_mode = near ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER,
                            .err_handler = {on_error, t}};
  ucs_status_t error = ucx.ucp_ep_create(t->worker, &params, &t->ep[peer]);
  if (!error) return LGT_OK;
  t->ep[peer] = NULL;
  return lgt_err(LGT_SYSTEM, "rank %d cannot connect to rank %d: %s", t->control->rank, peer,
                 ucx.ucs_status_string(error));
}

/* ---- requests ----------------------------------------------------------------------------------------- */

static void finish(lgt_request *r, ucs_status_t status, size_t arrived) {
  lgt_transport_counters *n = &r->transport->counters;
  r->handle = NULL;
  r->done = true;
  r->cancelled = status == UCS_ERR_CANCELED;
  r->error = r->cancelled ? 0 : status;
  r->arrived = arrived;
  if (status) return;
  if (r->sending) n->messages_sent++, n->bytes_sent += r->bytes;
  else n->messages_received++, n->bytes_received += arrived;
}

lgt_status lgt_request_status(const lgt_request *r) {
  const char *why = ucx.ucs_status_string(r->error);
  if (r->error == UCS_ERR_MESSAGE_TRUNCATED) why = "a longer message came";
  else if (!r->error && !r->cancelled && r->arrived != r->bytes) why = "a shorter message came";
  else if (!r->error) return LGT_OK;
  return lgt_err(LGT_SYSTEM, "rank %d: %s %zu bytes %s rank %d (tag %#llx): %s", r->transport->control->rank,
                 r->sending ? "sending" : "receiving", r->bytes, r->sending ? "to" : "from", r->peer,
                 (unsigned long long)r->tag, why);
}

bool lgt_request_odd_length(const lgt_request *r) {
  if (r->sending || r->cancelled) return false;
  return r->error == UCS_ERR_MESSAGE_TRUNCATED || (!r->error && r->arrived != r->bytes);
}

static void on_sent(void *handle, ucs_status_t status, void *context) {
  lgt_request *r = context;
  finish(r, status, r->bytes);
  ucx.ucp_request_free(handle);
}

static void on_received(void *handle, ucs_status_t status, const ucp_tag_recv_info_t *info, void *context) {
  finish(context, status, info->length);
  ucx.ucp_request_free(handle);
}

static lgt_status check(lgt_transport *t, const char *what, int peer, uint64_t tag) {
  if (peer < 0 || peer >= t->control->size)
    return lgt_err(LGT_BAD_ARGUMENT, "%s rank %d of %d", what, peer, t->control->size);
  if (tag >> LGT_TAG_BITS)
    return lgt_err(LGT_BAD_ARGUMENT, "%s rank %d: a tag has %d bits", what, peer, LGT_TAG_BITS);
  return LGT_OK;
}

static uint64_t full_tag(int space, int sender, uint64_t tag) {
  return (uint64_t)space << SPACE_SHIFT | (uint64_t)sender << SENDER_SHIFT | tag;
}

static lgt_status begin_send(lgt_transport *t, int space, int peer, uint64_t tag, const void *data,
                             size_t bytes, lgt_request *r) {
  lgt_status status = check(t, "send to", peer, tag);
  if (!status && !t->ep[peer]) status = connect_to(t, peer);
  if (status) return status;
  *r = (lgt_request){.sending = true, .peer = peer, .tag = tag, .bytes = bytes, .transport = t};
  ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                               .cb.send = on_sent,
                               .user_data = r};
  void *handle =
      ucx.ucp_tag_send_nbx(t->ep[peer], data, bytes, full_tag(space, t->control->rank, tag), &param);
  if (UCS_PTR_IS_ERR(handle)) finish(r, UCS_PTR_STATUS(handle), 0);
  else if (handle) r->handle = handle;
  else finish(r, UCS_OK, bytes);
  return r->done ? lgt_request_status(r) : LGT_OK;
}

static lgt_status begin_recv(lgt_transport *t, int space, int peer, uint64_t tag, void *data, size_t bytes,
                             lgt_request *r) {
  lgt_status status = check(t, "receive from", peer, tag);
  if (status) return status;
  *r = (lgt_request){.peer = peer, .tag = tag, .bytes = bytes, .transport = t};
  /* UCX 1.13 does not always say how long a message was that completes at once: let it call back instead. */
  ucp_request_param_t param = {
      .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
      .cb.recv = on_received,
      .user_data = r};
  void *handle = ucx.ucp_tag_recv_nbx(t->worker, data, bytes, full_tag(space, peer, tag), UINT64_MAX, &param);
  if (UCS_PTR_IS_ERR(handle)) finish(r, UCS_PTR_STATUS(handle), 0);
  else if (!r->done) r->handle = handle;
  return r->done ? lgt_request_status(r) : LGT_OK;
}

lgt_status lgt_transport_send(lgt_transport *t, int peer, uint64_t tag, const void *data, size_t bytes,
                              lgt_request *r) {
  return begin_send(t, OUTER, peer, tag, data, bytes, r);
}

lgt_status lgt_transport_recv(lgt_transport *t, int peer, uint64_t tag, void *data, size_t bytes,
                              lgt_request *r) {
  return begin_recv(t, OUTER, peer, tag, data, bytes, r);
}

lgt_status lgt_transport_send_inner(lgt_transport *t, int peer, uint64_t tag, const void *data, size_t bytes,
                                    lgt_request *r) {
  return begin_send(t, INNER, peer, tag, data, bytes, r);
}

lgt_status lgt_transport_recv_inner(lgt_transport *t, int peer, uint64_t tag, void *data, size_t bytes,
                                    lgt_request *r) {
  return begin_recv(t, INNER, peer, tag, data, bytes, r);
}

void lgt_transport_cancel(lgt_transport *t, lgt_request *r) {
  lgt_assert(!r->sending);
  if (!r->done) ucx.ucp_request_cancel(t->worker, r->handle);
  while (!r->done) ucx.ucp_worker_progress(t->worker);
}

/* ---- progress ----------------------------------------------------------------------------------------- */

void lgt_transport_add(lgt_transport *t, lgt_stepper *stepper) {
  stepper->next = t->steppers;
  stepper->link = &t->steppers;
  if (t->steppers) t->steppers->link = &stepper->next;
  t->steppers = stepper;
}

void lgt_stepper_remove(lgt_stepper *stepper) {
  if (!stepper->link) return;
  *stepper->link = stepper->next;
  if (stepper->next) stepper->next->link = stepper->link;
  stepper->link = NULL;
}

bool lgt_transport_progress(lgt_transport *t) {
  bool any = ucx.ucp_worker_progress(t->worker) != 0;
  for (lgt_stepper *m = t->steppers, *next; m; m = next) {
    next = m->next;
    any |= m->advance(m);
  }
  return any;
}

bool lgt_transport_test(lgt_transport *t, lgt_request *r) {
  if (!r->done) lgt_transport_progress(t);
  return r->done;
}

/* ---- waiting ------------------------------------------------------------------------------------------ */

typedef struct wait {
  lgt_transport *transport;
  bool (*ready)(void *context);
  void (*describe)(void *context, char *text, size_t room); /* completes "waits ..." */
  void *context;
  int64_t began, report; /* ms: when the wait began, when it is reported next */
} wait;

static void report(wait *w) {
  char text[160];
  w->describe(w->context, text, sizeof text);
  lgt_control_report(w->transport->control, text);
  w->report = lgt_wire_now() + lgt_control_patience(w->transport->control);
}

/* Until a message may have come, somebody wakes this thread, or some time has passed. */
static void sleep_a_little(lgt_transport *t, int limit) {
  struct pollfd event[2] = {{t->event, POLLIN, 0}, {t->control->wake, POLLIN, 0}};
  uint64_t count;
  if (ucx.ucp_worker_arm(t->worker) != UCS_OK) return; /* busy: there is something to do */
  poll(event, 2, limit);
  if (event[1].revents && read(t->control->wake, &count, sizeof count) < 0) return;
}

/* A connection broke.  If a rank died the hub will say so soon, and better, by ending this process. */
static lgt_status broken(wait *w) {
  lgt_transport *t = w->transport;
  char text[160];
  w->describe(w->context, text, sizeof text);
  usleep(HUB_ENDS_US_MS * 1000);
  return lgt_err(LGT_SYSTEM, "the connection of rank %d to rank %d broke (%s) while it waited %s, for %.1f s",
                 t->control->rank, t->broken_peer, ucx.ucs_status_string(t->broken), text,
                 (double)(lgt_wire_now() - w->began) / 1e3);
}

static lgt_status wait_slowly(wait *w) {
  lgt_transport *t = w->transport;
  int64_t now = lgt_wire_now();
  w->report = now + lgt_control_patience(t->control);
  while (!w->ready(w->context)) {
    if (t->broken) return broken(w);
    if (atomic_load_explicit(&t->control->wanted, memory_order_acquire)) report(w);
    if (lgt_transport_progress(t)) continue;
    now = lgt_wire_now();
    if (now >= w->report) report(w);
    int64_t left = w->report - now;
    atomic_exchange_explicit(&t->sleeping, true, memory_order_acq_rel);
    bool ready = w->ready(w->context);
    if (!ready) sleep_a_little(t, left < 1 ? 1 : left < SLEEP_MS ? (int)left : SLEEP_MS);
    atomic_store_explicit(&t->sleeping, false, memory_order_relaxed);
    if (ready) return LGT_OK;
  }
  return LGT_OK;
}

static lgt_status wait_for(wait *w) {
  lgt_transport *t = w->transport;
  for (int i = 0; i < t->spins; i++) {
    if (w->ready(w->context)) {
      if (i && t->spins < SPINS_MOST) t->spins += t->spins / 4;
      return LGT_OK;
    }
    lgt_transport_progress(t);
  }
  t->spins = t->spins > SPINS_LEAST * 2 ? t->spins / 2 : SPINS_LEAST;
  w->began = lgt_wire_now();
  for (int i = 1; i <= LOOKS; i++) {
    if (w->ready(w->context)) return LGT_OK;
    if (!lgt_transport_progress(t)) sched_yield();
    /* If it takes long, others have work for this processor. */
    if (i % LOOKS_BETWEEN_CLOCKS == 0 && lgt_wire_now() - w->began >= LOOKS_MS) break;
  }
  return wait_slowly(w);
}

typedef struct request_list {
  lgt_request *request;
  int n, done; /* those before `done` are */
} request_list;

static bool all_done(void *context) {
  request_list *list = context;
  while (list->done < list->n && list->request[list->done].done) list->done++;
  return list->done == list->n;
}

static void describe_requests(void *context, char *text, size_t room) {
  request_list *list = context;
  const lgt_request *r = &list->request[list->done];
  int n = snprintf(text, room, "for a message of %zu bytes %s rank %d (tag %#llx)", r->bytes,
                   r->sending ? "to leave for" : "from", r->peer, (unsigned long long)r->tag);
  int more = 0;
  for (int i = list->done + 1; i < list->n; i++) more += !list->request[i].done;
  if (more && n > 0 && (size_t)n < room) snprintf(text + n, room - (size_t)n, " and %d more", more);
}

lgt_status lgt_transport_wait(lgt_transport *t, lgt_request *requests, int n) {
  request_list list = {requests, n, 0};
  wait w = {t, all_done, describe_requests, &list, 0, 0};
  lgt_status status = wait_for(&w);
  for (int i = 0; i < n && !status; i++) status = lgt_request_status(&requests[i]);
  if (!status || !w.began) return status; /* it did not wait long enough to look at the clock */
  return lgt_err(status, "%s, after %.1f s of waiting", lgt_message(),
                 (double)(lgt_wire_now() - w.began) / 1e3);
}

lgt_status lgt_transport_until_made(lgt_transport *t, bool (*ready)(void *),
                                    void (*describe)(void *, char *, size_t), void *context) {
  wait w = {t, ready, describe, context, 0, 0};
  return wait_for(&w);
}

typedef struct condition {
  bool (*ready)(void *context);
  void *context;
  const char *what;
} condition;

static bool condition_ready(void *context) {
  const condition *c = context;
  return c->ready(c->context);
}

static void describe_condition(void *context, char *text, size_t room) {
  snprintf(text, room, "%s", ((const condition *)context)->what);
}

lgt_status lgt_transport_until(lgt_transport *t, bool (*ready)(void *), void *context, const char *what) {
  condition c = {ready, context, what};
  return lgt_transport_until_made(t, condition_ready, describe_condition, &c);
}
