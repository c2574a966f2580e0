/* control.c - see control.h.
 *
 * Two threads write the socket, under `lock`: the control thread its beats, the submitting thread the rest.
 * One reads it: before WELCOME the opening thread, later the control thread, which puts addresses where the
 * submitting thread looks for them.
 */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "hub.h"
#include "base/mem.h"
#include "base/profile.h"
#include "terminal.h"

enum {
  PATIENCE_MS = 1000,
  LAST_WORDS_MS = 10000, /* for the hub to answer, which it always does */
  STUCK_MS = 200,
  STARVED_MS = 2000,
  LOOK_MS = 20,
  INSIST_MS = 1000, /* between two, at least */
  REASON_MS = 400,  /* from SIGTERM until it is obeyed */
  AGAIN_MS = 5000,  /* if all were to stop at one place, which some may not come to */
  STACK = 256 << 10
};

enum { ONCE = 1, INSISTING }; /* of lgt_control.pressed */

struct control_private {
  lgt_control_options options;
  int socket;
  bool launched, gathered;
  pthread_t thread, submitter;
  pid_t submitter_id;
  bool running;                        /* the thread */
  _Atomic bool stop;                   /* of close, for the thread */
  int stop_fd;                         /* eventfd that tells it, or of an interrupt */
  bool scattered;                      /* of the thread: the last Ctrl-C stopped each rank wherever it was */
  int64_t passed_on;                   /* ms, of the thread: when it told the hub of an interrupt */
  int64_t stop_asked;                  /* ms, of the thread: when the hub asked where this rank is */
  int64_t stop_used;                   /* ms of a processor that the submitting thread had had by then */
  int asleep;                          /* times in a row that it was seen asleep since */
  bool stop_answered;                  /* protected by lock */
  void (*on_interrupt)(void *context); /* both protected by lock */
  void *interrupt_context;
  lgt_inbox inbox;      /* of the reading thread */
  int64_t heard, beat;  /* ms, of the reading thread */
  pthread_mutex_t lock; /* protects writing to the socket, and the answer */
  pthread_cond_t answered;
  _Atomic uint64_t asked_until; /* of the hub's last TELL; written before `wanted` */
  int asked;                    /* the rank whose address is awaited */
  char *answer;                 /* owned: lgt_place, then the address */
  size_t answer_bytes;
  lgt_wireup wireup; /* kept for its close */
  int64_t terminate; /* ms, of the thread: when SIGTERM is obeyed; 0: there was none */
  /* the hub, on rank 0 without a launcher */
  lgt_hub *hub;
  pthread_t hub_thread;
  _Atomic bool hub_stop;
};

/* ---- the end ---------------------------------------------------------------------------------------- */

static void flush_output(void) {
  if (ftrylockfile(stdout)) return; /* somebody is stuck in it */
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

/* Ends the process.  The hub's own process gives the others' messages time to leave. */
_Noreturn static void end(lgt_control *c, const char *reason, bool print) {
  struct control_private *p = c->p;
  flush_output();
  lgt_terminal_restore();
  lgt_profile_finish();
  if (print) fprintf(stderr, "lgt: %s\n", reason);
  if (p->hub) usleep(50000);
  _exit(1);
}

_Noreturn static void end_told(lgt_control *c, const char *reason) {
  end(c, reason, !c->p->launched && (!c->p->gathered || c->rank == 0));
}

_Noreturn static void end_alone(lgt_control *c, const char *why) {
  char text[256];
  snprintf(text, sizeof text, "rank %d lost the hub of this run (%s): %s", c->rank,
           c->p->launched ? "its launcher" : "in rank 0", why);
  end(c, text, !c->p->gathered || c->rank == 1);
}

/* The control thread ends the process when the hub has answered. */
_Noreturn static void end_by(lgt_control *c, int frame, const char *reason) {
  struct control_private *p = c->p;
  char text[LGT_WIRE_TEXT];
  snprintf(text, sizeof text - 64, "%s", reason); /* the hub says who, too */
  pthread_mutex_lock(&p->lock);
  bool sent = lgt_wire_send(p->socket, frame, c->rank, text, strlen(text) + 1);
  pthread_mutex_unlock(&p->lock);
  for (int64_t until = lgt_wire_now() + LAST_WORDS_MS; sent && lgt_wire_now() < until;) usleep(10000);
  end(c, reason, true);
}

_Noreturn void lgt_control_abort(lgt_control *c, const char *reason) { end_by(c, LGT_FRAME_ABORT, reason); }
_Noreturn void lgt_control_fail(lgt_control *c, const char *error) { end_by(c, LGT_FRAME_FAIL, error); }

/* ---- reading ----------------------------------------------------------------------------------------- */

static void take_address(struct control_private *p, const lgt_frame *frame) {
  pthread_mutex_lock(&p->lock);
  if (frame->rank == p->asked && frame->bytes > sizeof(lgt_place)) {
    lgt_mem_free(p->answer);
    p->answer = lgt_mem_alloc(frame->bytes);
    p->answer_bytes = frame->bytes;
    if (p->answer) memcpy(p->answer, lgt_wire_body(frame), frame->bytes);
    p->asked = -1;
    pthread_cond_signal(&p->answered);
  }
  pthread_mutex_unlock(&p->lock);
}

static void act_on_interrupt(struct control_private *p) {
  pthread_mutex_lock(&p->lock);
  if (p->on_interrupt) p->on_interrupt(p->interrupt_context);
  pthread_mutex_unlock(&p->lock);
}

/* Ctrl-C on rank 0: the hub shall ask where all are. */
static void pass_interrupt_on(lgt_control *c) {
  struct control_private *p = c->p;
  int pressed = atomic_load_explicit(&c->pressed, memory_order_relaxed);
  if (!pressed ||
      lgt_wire_now() - p->passed_on < (pressed == INSISTING && !p->scattered ? AGAIN_MS : INSIST_MS))
    return;
  if (pressed == ONCE) atomic_compare_exchange_strong(&c->pressed, &pressed, 0);
  p->passed_on = lgt_wire_now();
  pthread_mutex_lock(&p->lock);
  lgt_wire_send(p->socket, LGT_FRAME_INTERRUPT, c->rank, NULL, 0);
  pthread_mutex_unlock(&p->lock);
}

static void answer_stop(lgt_control *c, uint64_t checkpoint, bool stopped) {
  struct control_private *p = c->p;
  lgt_at at = {.checkpoint = checkpoint, .stopped = stopped};
  pthread_mutex_lock(&p->lock);
  if (!p->stop_answered) lgt_wire_send(p->socket, LGT_FRAME_AT, c->rank, &at, sizeof at);
  p->stop_answered = true;
  pthread_mutex_unlock(&p->lock);
}

/* ms of a processor that the submitting thread has had. */
static int64_t processor_ms(const struct control_private *p) {
  clockid_t clock;
  struct timespec t;
  if (pthread_getcpuclockid(p->submitter, &clock) || clock_gettime(clock, &t)) return 0;
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Does the submitting thread wait for something, other than a processor? */
static bool is_asleep(const struct control_private *p) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)p->submitter_id);
  FILE *file = fopen(path, "re");
  if (!file) return true;
  size_t got = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char *state = memrchr(text, ')', got);
  return state && state[1] == ' ' && state[2] == 'S';
}

/* Has the submitting thread been busy elsewhere, or waited, since the hub asked?  On a machine with much to do it may
 * rather not have run. */
static bool is_stuck(struct control_private *p) {
  int64_t took = lgt_wire_now() - p->stop_asked;
  p->asleep = is_asleep(p) ? p->asleep + 1 : 0;
  if (took < STUCK_MS) return false;
  return took >= STARVED_MS || processor_ms(p) - p->stop_used >= STUCK_MS ||
         p->asleep >= STUCK_MS / 2 / LOOK_MS;
}

/* The submitting thread is busy elsewhere: the next checkpoint is the earliest that it can stop at. */
static void answer_for_stuck(lgt_control *c) {
  if (atomic_load_explicit(&c->stopping, memory_order_relaxed) != LGT_STOPPING || !is_stuck(c->p)) return;
  answer_stop(c, atomic_load_explicit(&c->checkpoints, memory_order_relaxed) + 1, false);
}

static void on_stop(lgt_control *c) {
  pthread_mutex_lock(&c->p->lock);
  c->p->stop_answered = false;
  pthread_mutex_unlock(&c->p->lock);
  c->p->stop_asked = lgt_wire_now();
  c->p->stop_used = processor_ms(c->p);
  c->p->asleep = 0;
  atomic_store_explicit(&c->stopping, LGT_STOPPING, memory_order_release);
}

static void on_stop_known(lgt_control *c, int stopping) {
  atomic_store_explicit(&c->stopping, stopping, memory_order_release);
  lgt_control_wake(c);
}

static void on_frame(lgt_control *c, const lgt_frame *frame) {
  uint64_t until = UINT64_MAX;
  switch (frame->type) {
    case LGT_FRAME_ADDRESS:
      take_address(c->p, frame);
      break;
    case LGT_FRAME_TELL:
      if (frame->bytes == sizeof(uint64_t)) memcpy(&until, lgt_wire_body(frame), sizeof until);
      c->p->asked_until = until;
      atomic_store_explicit(&c->wanted, true, memory_order_release);
      lgt_control_wake(c);
      break;
    case LGT_FRAME_STOP:
      on_stop(c);
      break;
    case LGT_FRAME_STOP_AT:
      if (frame->bytes == sizeof(uint64_t)) memcpy(&until, lgt_wire_body(frame), sizeof until);
      c->stop_at = until;
      c->p->scattered = false;
      on_stop_known(c, LGT_STOP_KNOWN);
      break;
    case LGT_FRAME_INTERRUPT:
      c->p->scattered = true;
      c->p->passed_on = lgt_wire_now(); /* this rank is about to stop: again only if it does not */
      on_stop_known(c, 0);
      act_on_interrupt(c->p);
      break;
    case LGT_FRAME_ABORT:
      end_told(c, lgt_wire_text(frame, 0));
    case LGT_FRAME_BYE:
      atomic_store_explicit(&c->finished, true, memory_order_release);
      lgt_control_wake(c);
      break;
  }
}

static int beat_ms(const struct control_private *p) {
  return p->options.dead_ms / 10 ? p->options.dead_ms / 10 : 1;
}

/* Beat if it is time; see whether the hub has been silent for too long.  If this thread itself was stopped
 * for a while, silence proves nothing. */
static void pulse(lgt_control *c) {
  struct control_private *p = c->p;
  int64_t now = lgt_wire_now(), gap = now - p->beat;
  if (gap < beat_ms(p)) return;
  p->beat = now;
  if (gap > p->options.dead_ms / 2) p->heard = now;
  pthread_mutex_lock(&p->lock);
  lgt_wire_send(p->socket, LGT_FRAME_BEAT, c->rank, NULL, 0);
  pthread_mutex_unlock(&p->lock);
  if (now - p->heard > p->options.dead_ms && !c->finished)
    end_alone(c, "no sign of life for too long; it was stopped, or the network is down");
}

/* Handles what has arrived, up to a frame of type `until`, which it returns (-1: all). */
static const lgt_frame *handle_frames(lgt_control *c, int until, bool *garbage) {
  const lgt_frame *frame;
  while ((frame = lgt_wire_next(&c->p->inbox, garbage))) {
    if ((int)frame->type == until) return frame;
    on_frame(c, frame);
  }
  return NULL;
}

/* mpirun and its like end all processes by SIGTERM when one of them dies.  The one that has the hub waits a moment, so
 * that it can say why. */
static volatile sig_atomic_t terminated, terminated_fd = -1;

static void on_terminate(int number) {
  int error = errno;
  uint64_t one = 1;
  (void)number;
  terminated = 1;
  ssize_t written = write(terminated_fd, &one, sizeof one);
  (void)written;
  errno = error;
}

static void catch_terminate(const struct control_private *p) {
  struct sigaction now, wait = {.sa_handler = on_terminate, .sa_flags = SA_RESTART};
  if (sigaction(SIGTERM, NULL, &now) || now.sa_handler != SIG_DFL) return;
  terminated_fd = p->stop_fd;
  sigaction(SIGTERM, &wait, NULL);
}

static void release_terminate(const struct control_private *p) {
  if (terminated_fd != p->stop_fd) return;
  signal(SIGTERM, SIG_DFL);
  terminated_fd = -1;
  if (terminated) raise(SIGTERM);
}

static void obey_terminate(struct control_private *p) {
  if (!terminated || terminated_fd != p->stop_fd) return;
  int64_t now = lgt_wire_now();
  if (!p->terminate) p->terminate = now + REASON_MS;
  if (now < p->terminate) return;
  signal(SIGTERM, SIG_DFL);
  kill(getpid(), SIGTERM);
}

/* Reads once, waiting no longer than until the next beat.  False if the hub is gone.  What has come is read before the
 * silence is judged. */
static bool listen_once(lgt_control *c, int until, const lgt_frame **found) {
  struct control_private *p = c->p;
  struct pollfd event[2] = {{p->socket, POLLIN, 0}, {p->stop_fd, POLLIN, 0}};
  bool garbage = false;
  int got = 0;
  if ((*found = handle_frames(c, until, &garbage))) return true;
  int left = (int)(p->beat + beat_ms(p) - lgt_wire_now());
  if ((c->pressed || c->stopping == LGT_STOPPING || p->terminate) && left > LOOK_MS) left = LOOK_MS;
  poll(event, 2, left > 0 ? left : 0);
  uint64_t told;
  if (event[1].revents && !p->stop && read(p->stop_fd, &told, sizeof told) < 0) return true;
  obey_terminate(p);
  pass_interrupt_on(c);
  answer_for_stuck(c);
  if (event[0].revents && (got = lgt_wire_receive(p->socket, &p->inbox)) >= 0) p->heard = lgt_wire_now();
  pulse(c);
  *found = handle_frames(c, until, &garbage);
  return *found || (got >= 0 && !garbage);
}

static void *control_main(void *context) {
  lgt_control *c = context;
  const lgt_frame *none;
  while (!c->p->stop)
    if (!listen_once(c, -1, &none)) {
      if (c->finished || c->p->stop) return NULL;
      end_alone(c, "the connection was closed");
    }
  return NULL;
}

static void *hub_main(void *context) {
  struct control_private *p = context;
  struct pollfd event = {lgt_hub_fd(p->hub), POLLIN, 0};
  while (!p->hub_stop) {
    poll(&event, 1, lgt_hub_tick(p->hub));
    lgt_hub_serve(p->hub);
  }
  return NULL;
}

/* ---- opening ----------------------------------------------------------------------------------------- */

/* Signals are for the program's own threads. */
static int start_thread(pthread_t *thread, void *(*body)(void *), void *context) {
  sigset_t all, old;
  pthread_attr_t attributes;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = pthread_create(thread, &attributes, body, context);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

static lgt_status start_hub(lgt_control *c, const lgt_wireup *wireup, int *socket) {
  struct control_private *p = c->p;
  int pair[2];
  lgt_hub_options options = {.size = c->size,
                             .start_ms = p->options.start_ms,
                             .dead_ms = p->options.dead_ms,
                             .listener = wireup->listener,
                             .cookie = wireup->cookie};
  lgt_status status = lgt_hub_new(&options, &p->hub);
  if (status) return status;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return lgt_err(LGT_SYSTEM, "cannot make a pair of sockets: %s", strerror(errno));
  *socket = pair[0];
  status = lgt_hub_adopt(p->hub, 0, pair[1]);
  if (!status && start_thread(&p->hub_thread, hub_main, p))
    status = lgt_err(LGT_SYSTEM, "cannot start a thread");
  if (status) p->hub_stop = true;
  return status;
}

static lgt_status say_hello(lgt_control *c) {
  struct control_private *p = c->p;
  lgt_hello who = {.cookie = p->wireup.cookie, .rank = c->rank, .size = c->size};
  lgt_place here;
  const char *version = p->options.version, *agreed = p->options.agreed;
  size_t n = strlen(version) + 1, m = strlen(agreed) + 1;
  char *body = lgt_mem_alloc(sizeof who + n + m);
  if (!body) return lgt_err(LGT_NO_MEMORY, "out of memory while joining the run");
  lgt_place_here(&here);
  memcpy(who.machine, here.machine, sizeof who.machine);
  gethostname(who.host, sizeof who.host - 1);
  memcpy(body, &who, sizeof who);
  memcpy(body + sizeof who, version, n);
  memcpy(body + sizeof who + n, agreed, m);
  bool sent = lgt_wire_send(p->socket, LGT_FRAME_HELLO, c->rank, body, sizeof who + n + m);
  lgt_mem_free(body);
  return sent
             ? LGT_OK
             : lgt_err(LGT_SYSTEM, "rank %d cannot talk to the hub of the run: %s", c->rank, strerror(errno));
}

/* The hub decides when waiting for others has taken too long; only its own silence is noticed here. */
static lgt_status await_welcome(lgt_control *c) {
  struct control_private *p = c->p;
  const lgt_frame *welcome = NULL;
  int64_t end_ms = lgt_wire_now() + p->options.start_ms + p->options.dead_ms;
  p->heard = p->beat = lgt_wire_now();
  while (!welcome) {
    if (!listen_once(c, LGT_FRAME_WELCOME, &welcome))
      return lgt_err(
          LGT_SYSTEM,
          "rank %d was turned away at the start: %s closed the connection; perhaps another run uses "
          "the same port, or another version of lgt",
          c->rank, p->launched ? "the launcher" : "rank 0");
    if (!welcome && lgt_wire_now() > end_ms)
      return lgt_err(LGT_SYSTEM, "rank %d got no answer from the hub within %g s", c->rank,
                     p->options.start_ms / 1e3);
  }
  lgt_welcome local = {0, 1};
  if (welcome->bytes == sizeof local) memcpy(&local, lgt_wire_body(welcome), sizeof local);
  c->local_rank = local.local_rank;
  c->local_size = local.local_size;
  return LGT_OK;
}

static void tune(int socket, int dead_ms) {
  unsigned patience = (unsigned)dead_ms;
  int on = 1;
  struct timeval limit = {dead_ms / 1000 + 1, 0};
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* these two fail on a socketpair, rightly */
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static void defaults(lgt_control_options *o) {
  if (!o->start_ms) o->start_ms = LGT_START_MS;
  if (!o->dead_ms) o->dead_ms = LGT_DEAD_MS;
  if (!o->patience_ms) o->patience_ms = PATIENCE_MS;
  if (!o->agreed) o->agreed = "";
  if (!o->version) o->version = "";
}

static lgt_status join(lgt_control *c, lgt_wireup *wireup) {
  struct control_private *p = c->p;
  lgt_status status = wireup->listener >= 0 ? start_hub(c, wireup, &p->socket)
                                            : lgt_wireup_connect(wireup, p->options.start_ms, &p->socket);
  if (status) return status;
  tune(p->socket, p->options.dead_ms);
  if ((status = say_hello(c)) || (status = await_welcome(c))) return status;
  if (start_thread(&p->thread, control_main, c)) return lgt_err(LGT_SYSTEM, "cannot start a thread");
  p->running = true;
  if (p->hub) catch_terminate(p);
  return LGT_OK;
}

lgt_status lgt_control_open(const lgt_control_options *options, lgt_wireup *wireup, lgt_control **out) {
  lgt_control *c = lgt_mem_zalloc(sizeof *c);
  struct control_private *p = lgt_mem_zalloc(sizeof *p);
  if (!c || !p) {
    lgt_mem_free(c);
    lgt_mem_free(p);
    return lgt_err(LGT_NO_MEMORY, "out of memory while joining the run");
  }
  c->p = p;
  c->rank = wireup->rank;
  c->size = wireup->size;
  c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  p->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  p->socket = p->asked = -1;
  p->submitter = pthread_self();
  p->submitter_id = gettid();
  p->options = *options;
  p->wireup = *wireup;
  p->launched = wireup->launched;
  p->gathered = wireup->gathered;
  defaults(&p->options);
  lgt_status status = lgt_stream_init(&c->stream);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->answered, NULL);
  if (!status) status = join(c, &p->wireup);
  *wireup = (lgt_wireup)LGT_WIREUP_NONE;
  if (status) lgt_control_close(c);
  else *out = c;
  return status;
}

void lgt_control_leave(lgt_control *c) {
  pthread_mutex_lock(&c->p->lock);
  lgt_wire_send(c->p->socket, LGT_FRAME_BYE, c->rank, NULL, 0);
  pthread_mutex_unlock(&c->p->lock);
}

/* The hub has told everybody when its thread ends. */
static void end_hub(struct control_private *p) {
  if (!p->hub || p->hub_stop) return;
  p->hub_stop = true;
  pthread_join(p->hub_thread, NULL);
}

void lgt_control_left(lgt_control *c) {
  end_hub(c->p);
  lgt_wireup_close(&c->p->wireup);
}

void lgt_control_close(lgt_control *c) {
  if (!c) return;
  struct control_private *p = c->p;
  uint64_t one = 1;
  p->stop = true;
  if (write(p->stop_fd, &one, sizeof one) < 0) perror("lgt: eventfd");
  if (p->running) pthread_join(p->thread, NULL);
  release_terminate(p);
  end_hub(p);
  lgt_hub_free(p->hub);
  if (p->socket >= 0) close(p->socket);
  close(p->stop_fd);
  close(c->wake);
  lgt_stream_fini(&c->stream);
  lgt_inbox_fini(&p->inbox);
  lgt_mem_free(p->answer);
  lgt_wireup_close(&p->wireup);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->answered);
  lgt_mem_free(p);
  lgt_mem_free(c);
}

/* ---- talking ----------------------------------------------------------------------------------------- */

/* Up to the position that the hub asked for, if it did, else to the end. */
void lgt_control_report(lgt_control *c, const char *what) {
  struct control_private *p = c->p;
  uint64_t until = UINT64_MAX;
  if (atomic_exchange_explicit(&c->wanted, false, memory_order_acquire)) until = p->asked_until;
  lgt_report *report = lgt_report_make(&c->stream, until, what, p->options.line_text, p->options.context);
  if (!report) return;
  pthread_mutex_lock(&p->lock);
  lgt_wire_send(p->socket, LGT_FRAME_REPORT, c->rank, report, report->bytes);
  pthread_mutex_unlock(&p->lock);
  lgt_mem_free(report);
}

lgt_status lgt_control_publish(lgt_control *c, const void *address, size_t bytes) {
  struct control_private *p = c->p;
  char *body = lgt_mem_alloc(sizeof(lgt_place) + bytes);
  if (!body) return lgt_err(LGT_NO_MEMORY, "out of memory while publishing an address");
  lgt_place_here((lgt_place *)body);
  memcpy(body + sizeof(lgt_place), address, bytes);
  pthread_mutex_lock(&p->lock);
  bool sent = lgt_wire_send(p->socket, LGT_FRAME_ADDRESS, c->rank, body, sizeof(lgt_place) + bytes);
  pthread_mutex_unlock(&p->lock);
  lgt_mem_free(body);
  return sent ? LGT_OK : lgt_err(LGT_SYSTEM, "cannot publish this rank's address: %s", strerror(errno));
}

/* Bounded by the hub's own deadlines: if that rank dies before it publishes, this process ends. */
lgt_status lgt_control_address(lgt_control *c, int rank, const char **address, size_t *bytes,
                               lgt_place *place) {
  struct control_private *p = c->p;
  pthread_mutex_lock(&p->lock);
  p->asked = rank;
  bool sent = lgt_wire_send(p->socket, LGT_FRAME_GET, rank, NULL, 0);
  while (sent && p->asked == rank) pthread_cond_wait(&p->answered, &p->lock);
  pthread_mutex_unlock(&p->lock);
  if (!sent) return lgt_err(LGT_SYSTEM, "cannot ask for the address of rank %d: %s", rank, strerror(errno));
  if (!p->answer) return lgt_err(LGT_NO_MEMORY, "out of memory for the address of rank %d", rank);
  memcpy(place, p->answer, sizeof *place);
  *address = p->answer + sizeof *place;
  *bytes = p->answer_bytes - sizeof *place;
  return LGT_OK;
}

void lgt_control_wake(lgt_control *c) {
  uint64_t one = 1;
  ssize_t written = write(c->wake, &one, sizeof one);
  (void)written; /* full means that it is readable */
}

void lgt_control_interrupt(lgt_control *c, bool insist) {
  uint64_t one = 1;
  int error = errno;
  atomic_store_explicit(&c->pressed, insist ? INSISTING : ONCE, memory_order_relaxed);
  ssize_t written = write(c->p->stop_fd, &one, sizeof one);
  (void)written;
  errno = error;
}

void lgt_control_forget(lgt_control *c) { atomic_store_explicit(&c->pressed, 0, memory_order_relaxed); }

uint64_t lgt_control_arrive(lgt_control *c, uint64_t checkpoint) {
  if (atomic_load_explicit(&c->stopping, memory_order_acquire) == LGT_STOPPING)
    answer_stop(c, checkpoint, true);
  return checkpoint;
}

bool lgt_control_stops(lgt_control *c, uint64_t checkpoint) {
  if (atomic_load_explicit(&c->stopping, memory_order_acquire) != LGT_STOP_KNOWN || checkpoint < c->stop_at)
    return false;
  int known = LGT_STOP_KNOWN; /* unless the hub asks again */
  atomic_compare_exchange_strong(&c->stopping, &known, 0);
  return true;
}

void lgt_control_on_interrupt(lgt_control *c, void (*act)(void *), void *context) {
  pthread_mutex_lock(&c->p->lock);
  c->p->on_interrupt = act;
  c->p->interrupt_context = context;
  pthread_mutex_unlock(&c->p->lock);
}

int lgt_control_patience(const lgt_control *c) { return c->p->options.patience_ms; }
