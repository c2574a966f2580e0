/* launch.c - see launch.h.
 *
 * The launcher is one loop over a poll set: the hub, a signalfd, and the pipes of the ranks' output.  A rank's death
 * is seen twice, as a signal and as the end of its control socket; `reap` records how it ended, and the hub asks for
 * that (fate_of) before it says why the run failed.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hub.h"
#include "base/mem.h"
#include "terminal.h"
#include "wire.h"

enum { KILL_MS = 2000, FATE_MS = 3000, LINE_MAX_BYTES = 4096, STREAMS = 2, MOST = 1024 };
static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/* One output stream of a rank. */
typedef struct tap {
  int fd; /* read end of the pipe; -1: not tapped, or at its end */
  int to; /* 1 or 2 */
  int used;
  char line[LINE_MAX_BYTES];
} tap;

typedef struct child {
  pid_t pid;
  bool ended;
  int status; /* of waitpid */
  tap tap[STREAMS];
} child;

typedef struct launcher {
  lgt_spawn_options options;
  lgt_hub *hub;
  child *child;         /* owned, ranks */
  struct pollfd *event; /* owned */
  int alive;
  int exit_status;
  int signal_fd;
  int told;         /* a signal that asked the launcher, or rank 0, to end; 0: none */
  bool interrupted; /* by SIGINT, which the ranks had too */
  int64_t kill_at;  /* ms; 0: not yet */
  bool printed;     /* why the run failed */
  sigset_t old_mask;
} launcher;

/* ---- output -------------------------------------------------------------------------------------------- */

static void put(int to, const char *text, size_t n) {
  while (n) {
    ssize_t written = write(to, text, n);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text += written, n -= (size_t)written;
  }
}

static void put_line(const tap *t, int rank, const char *text, int n) {
  char line[LINE_MAX_BYTES + 32];
  int length = snprintf(line, sizeof line, "[%d] %.*s\n", rank, n, text);
  put(t->to, line, (size_t)length);
}

/* Passes on whole lines; at the end, and where a line is very long, what there is. */
static void drain(tap *t, int rank) {
  for (;;) {
    ssize_t got = read(t->fd, t->line + t->used, sizeof t->line - (size_t)t->used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got > 0) t->used += (int)got;
    char *begin = t->line, *end = t->line + t->used, *newline;
    while ((newline = memchr(begin, '\n', (size_t)(end - begin)))) {
      put_line(t, rank, begin, (int)(newline - begin));
      begin = newline + 1;
    }
    bool rest = begin < end && (got <= 0 || (begin == t->line && t->used == sizeof t->line));
    if (rest) put_line(t, rank, begin, (int)(end - begin)), begin = end;
    t->used = (int)(end - begin);
    memmove(t->line, begin, (size_t)t->used);
    if (got > 0) continue;
    close(t->fd);
    t->fd = -1;
    return;
  }
}

/* ---- the ranks ------------------------------------------------------------------------------------------ */

static void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

/* In the child: its own ends of what the launcher prepared. */
static void become_rank(launcher *l, int rank, pid_t parent, int pipes[STREAMS][2]) {
  die_with(parent);
  if (rank) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    if (pipes[0][1] < 0) dup2(null, 1);
    close(null);
  }
  for (int s = 0; s < STREAMS; s++)
    if (pipes[s][1] >= 0) {
      dup2(pipes[s][1], s + 1);
      close(pipes[s][1]);
      close(pipes[s][0]);
    }
  for (int r = 0; r < rank; r++)
    for (int s = 0; s < STREAMS; s++)
      if (l->child[r].tap[s].fd >= 0) close(l->child[r].tap[s].fd);
  close(l->signal_fd);
  sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

static bool tapped(const launcher *l, int rank, int stream) {
  if (l->options.ranks == 1) return false;
  return l->options.all_output ? rank || stream == 0 || !l->options.prompt : rank && stream == 1;
}

static lgt_status no_resource(const char *what) {
  return lgt_err(LGT_SYSTEM, "cannot start the ranks: %s: %s", what, strerror(errno));
}

/* In the rank *socket becomes its line to the hub; in the launcher it is -1. */
static lgt_status start(launcher *l, int rank, int *control) {
  int pair[2], pipes[STREAMS][2] = {{-1, -1}, {-1, -1}};
  pid_t parent = getpid();
  child *c = &l->child[rank];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return no_resource("socketpair");
  for (int s = 0; s < STREAMS; s++)
    if (tapped(l, rank, s) && pipe(pipes[s])) return no_resource("pipe");
  c->pid = fork();
  if (c->pid < 0) return no_resource("fork");
  if (c->pid == 0) {
    close(pair[0]);
    become_rank(l, rank, parent, pipes);
    *control = pair[1];
    return LGT_OK;
  }
  close(pair[1]);
  for (int s = 0; s < STREAMS; s++) {
    c->tap[s] = (tap){.fd = pipes[s][0], .to = s + 1};
    if (pipes[s][0] < 0) continue;
    close(pipes[s][1]);
    fcntl(pipes[s][0], F_SETFL, O_NONBLOCK);
    fcntl(pipes[s][0], F_SETFD, FD_CLOEXEC);
  }
  l->alive++;
  *control = -1;
  return lgt_hub_adopt(l->hub, rank, pair[0]);
}

/* ---- ends ------------------------------------------------------------------------------------------------ */

static void record(launcher *l, child *c, int status) {
  c->ended = true;
  c->status = status;
  /* No word is needed about Ctrl-C, nor where who reads what rank 0 writes has read enough. */
  int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0, code = number ? 128 + number : WEXITSTATUS(status);
  if ((number == SIGINT && l->interrupted) || (number == SIGPIPE && c == l->child)) l->told = number;
  l->alive--;
  if (number && lgt_hub_now(l->hub) == LGT_HUB_DONE)
    fprintf(stderr, "lgt: rank %d was killed by signal %d (%s) after its program had ended\n",
            (int)(c - l->child), number, strsignal(number));
  /* After the run has failed the others end because of it. */
  if (code && !l->exit_status && lgt_hub_now(l->hub) != LGT_HUB_FAILED) l->exit_status = code;
}

static void reap(launcher *l) {
  for (int r = 0; r < l->options.ranks; r++) {
    child *c = &l->child[r];
    int status;
    if (!c->ended && waitpid(c->pid, &status, WNOHANG) == c->pid) record(l, c, status);
  }
}

/* For the hub: a process closes its sockets some moments before it can be waited for. */
static void fate_of(void *context, int rank, char *text, size_t room) {
  launcher *l = context;
  child *c = &l->child[rank];
  for (int64_t end = lgt_wire_now() + FATE_MS; !c->ended && lgt_wire_now() < end; usleep(1000)) reap(l);
  if (!c->ended) snprintf(text, room, "closed its connection to the launcher");
  else if (WIFSIGNALED(c->status))
    snprintf(text, room, "was killed by signal %d (%s)", WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
  else
    snprintf(text, room, "ended with exit status %d without waiting for the others", WEXITSTATUS(c->status));
}

static void signal_all(launcher *l, int number) {
  for (int r = 0; r < l->options.ranks; r++)
    if (!l->child[r].ended && l->child[r].pid > 0) kill(l->child[r].pid, number);
}

/* Why the run failed, once; then the ranks have some time to end by themselves. */
static void see_failure(launcher *l) {
  if (lgt_hub_now(l->hub) != LGT_HUB_FAILED || l->printed) return;
  l->printed = true;
  reap(l);
  if (!l->exit_status) l->exit_status = 1;
  if (!l->told) fprintf(stderr, "lgt: %s\n", lgt_hub_reason(l->hub));
  l->kill_at = lgt_wire_now() + KILL_MS;
}

/* A signal for the launcher.  What comes from the terminal the ranks have too. */
static void on_signal(launcher *l) {
  struct signalfd_siginfo info;
  while (read(l->signal_fd, &info, sizeof info) == sizeof info) {
    int number = (int)info.ssi_signo;
    if (number == SIGCHLD) continue;
    if (number == SIGINT) l->interrupted = true;
    if (info.ssi_code <= 0) signal_all(l, number);
    if (number != SIGTERM && number != SIGHUP) continue;
    l->told = number;
    l->exit_status = 128 + number;
    if (!l->kill_at) l->kill_at = lgt_wire_now() + 3 * KILL_MS;
  }
}

/* System V segments that a rank had made and that nobody was attached to yet when it was killed: UCX marks them to go away
 * with whoever uses them only afterwards. */
static void remove_segments(const launcher *l) {
  struct shmid_ds segment;
  struct shm_info used;
  int last = shmctl(0, SHM_INFO, (struct shmid_ds *)&used);
  for (int i = 0; i <= last; i++) {
    int id = shmctl(i, SHM_STAT, &segment);
    if (id < 0 || segment.shm_nattch) continue;
    for (int r = 0; r < l->options.ranks; r++)
      if (l->child[r].pid > 0 && segment.shm_cpid == l->child[r].pid) shmctl(id, IPC_RMID, NULL);
  }
}

/* ---- the loop --------------------------------------------------------------------------------------------- */

static void serve_once(launcher *l) {
  int n = 0;
  l->event[n++] = (struct pollfd){lgt_hub_fd(l->hub), POLLIN, 0};
  l->event[n++] = (struct pollfd){l->signal_fd, POLLIN, 0};
  for (int r = 0; r < l->options.ranks; r++)
    for (int s = 0; s < STREAMS; s++)
      if (l->child[r].tap[s].fd >= 0) l->event[n++] = (struct pollfd){l->child[r].tap[s].fd, POLLIN, 0};
  poll(l->event, (nfds_t)n, lgt_hub_tick(l->hub));
  on_signal(l);
  for (int r = 0; r < l->options.ranks; r++)
    for (int s = 0; s < STREAMS; s++)
      if (l->child[r].tap[s].fd >= 0) drain(&l->child[r].tap[s], r);
  lgt_hub_serve(l->hub);
  reap(l);
  see_failure(l);
  if (l->kill_at && lgt_wire_now() >= l->kill_at) signal_all(l, SIGKILL);
}

/* What the ranks wrote last; who still holds a pipe (a background process of theirs) is not waited for. */
static void drain_all(launcher *l) {
  for (int r = 0; r < l->options.ranks; r++)
    for (int s = 0; s < STREAMS; s++) {
      tap *t = &l->child[r].tap[s];
      if (t->fd >= 0) drain(t, r);
      if (t->fd >= 0) close(t->fd);
      t->fd = -1;
    }
}

static void watch_signals(launcher *l) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) sigaddset(&mask, forwarded[i]);
  sigprocmask(SIG_BLOCK, &mask, &l->old_mask);
  l->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void fini(launcher *l, bool is_rank) {
  if (!is_rank) {
    if (l->signal_fd >= 0) close(l->signal_fd);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
  }
  lgt_hub_free(l->hub); /* in a rank: its copies of the sockets */
  lgt_mem_free(l->child);
  lgt_mem_free(l->event);
}

static lgt_status init(launcher *l, const lgt_spawn_options *options) {
  *l = (launcher){.options = *options, .signal_fd = -1};
  lgt_spawn_options *o = &l->options;
  if (o->ranks < 1) return lgt_err(LGT_BAD_ARGUMENT, "%d ranks: expected 1 or more", o->ranks);
  if (o->ranks > MOST) /* each is a process */
    return lgt_err(
        LGT_BAD_ARGUMENT,
        "-n %d: at most %d ranks are started on one machine; mpirun and srun start more on several", o->ranks,
        MOST);
  if (!o->start_ms) o->start_ms = LGT_START_MS;
  if (!o->dead_ms) o->dead_ms = LGT_DEAD_MS;
  lgt_hub_options hub = {.size = o->ranks,
                         .start_ms = o->start_ms,
                         .dead_ms = o->dead_ms,
                         .listener = -1,
                         .fate = fate_of,
                         .context = l};
  lgt_status status = lgt_hub_new(&hub, &l->hub);
  if (status) return status;
  l->child = lgt_mem_zalloc((size_t)o->ranks * sizeof *l->child);
  l->event = lgt_mem_zalloc((size_t)(2 + STREAMS * o->ranks) * sizeof *l->event);
  if (!l->child || !l->event) {
    fini(l, true);
    return lgt_err(LGT_NO_MEMORY, "out of memory for %d ranks", o->ranks);
  }
  return LGT_OK;
}

lgt_status lgt_spawn(const lgt_spawn_options *options, lgt_wireup *out, bool *is_launcher, int *exit_status) {
  launcher l;
  int control = -1;
  lgt_status status = init(&l, options);
  if (status) return status;
  fflush(NULL); /* or each rank would print it again */
  watch_signals(&l);
  for (int rank = 0; rank < options->ranks && !status && control < 0; rank++) {
    status = start(&l, rank, &control);
    if (control >= 0)
      *out = (lgt_wireup){.rank = rank,
                          .size = options->ranks,
                          .how = "lgt -n",
                          .socket = control,
                          .listener = -1,
                          .launched = true,
                          .gathered = true};
  }
  *is_launcher = control < 0;
  if (status) signal_all(&l, SIGKILL);
  while (control < 0 && l.alive) serve_once(&l);
  if (control < 0) drain_all(&l);
  if (control < 0 && l.exit_status) {
    remove_segments(&l);
    lgt_terminal_restore();
  }
  *exit_status = l.exit_status;
  fini(&l, control >= 0);
  return status;
}
