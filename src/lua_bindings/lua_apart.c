/* lua_apart.c - work apart, for lib/array/io/apart.lua.  See lua_support.h and apart.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart.h"
#include "lua_support.h"
#include "runtime/runtime.h"

enum { PATIENCE = 100, LONGEST = 1 << 30 }; /* ms between looks for Ctrl-C; bytes of a reply */
static const int64_t LEAST_MEMORY = 1 << 30;

struct lgt_apart {
  int control, users; /* its children, and whoever began it */
  pid_t helper;
};

struct lgt_apart_child {
  lgt_apart *apart;
  pid_t pid;
  int socket, memory;
  void *window; /* owned: a mapping of `memory`, `room` bytes */
  size_t room;
  int failed; /* of the last request, and hence of later ones: they could get its reply */
};

/* ---- the helper ------------------------------------------------------------------------------------------- */

/* lgt-apart lies beside the library that this code is in. */
static bool find_program(char *path) {
  Dl_info info;
  if (!dladdr((void *)find_program, &info) || !realpath(info.dli_fname, path)) return false;
  char *name = strrchr(path, '/') + 1;
  return snprintf(name, (size_t)(PATH_MAX - (name - path)), "lgt-apart") < PATH_MAX - (name - path);
}

/* The helper has descriptors 0 to 3 only, all signals as at the beginning of a program, and Ctrl-C is not for it. */
static int spawn(pid_t *pid, char *program, const char *script, int control) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t all, none;
  char *const words[] = {program, (char *)script, NULL};
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, control, APART_CONTROL);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, APART_CONTROL + 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  int failed = posix_spawn(pid, program, &files, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

lgt_apart *lgt_lua_apart_begin(const char *script) {
  char program[PATH_MAX];
  int ends[2];
  lgt_apart *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  if (!find_program(program) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) goto no_socket;
  errno = spawn(&a->helper, program, script, ends[1]);
  if (errno) goto no_helper;
  close(ends[1]);
  a->control = ends[0];
  a->users = 1;
  return a;
no_helper:
  close(ends[0]);
  close(ends[1]);
no_socket:
  free(a);
  return NULL;
}

void lgt_lua_apart_end(lgt_apart *a) {
  if (--a->users) return;
  close(a->control); /* which ends it */
  while (waitpid(a->helper, NULL, 0) < 0 && errno == EINTR) {}
  free(a);
}

/* What the helper answers; -1: it is no longer there. */
static int order(const lgt_apart *a, const apart_order *what, const int *descriptors) {
  int answer;
  ssize_t got;
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(2 * sizeof(int))];
  } with = {0};
  struct iovec text = {(void *)what, sizeof *what};
  struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
  if (descriptors) {
    message.msg_control = with.room, message.msg_controllen = sizeof with.room;
    with.header.cmsg_level = SOL_SOCKET, with.header.cmsg_type = SCM_RIGHTS;
    with.header.cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(&with.header), descriptors, 2 * sizeof(int));
  }
  do got = sendmsg(a->control, &message, MSG_NOSIGNAL);
  while (got < 0 && errno == EINTR);
  if (got < 0) return -1;
  do got = recv(a->control, &answer, sizeof answer, 0);
  while (got < 0 && errno == EINTR);
  return got == sizeof answer ? answer : -1;
}

/* ---- children --------------------------------------------------------------------------------------------- */

lgt_apart_child *lgt_lua_apart_fork(lgt_runtime *rt, lgt_apart *a) {
  int ends[2];
  apart_order what = {.memory = rt->map.pool->limit > LEAST_MEMORY ? rt->map.pool->limit : LEAST_MEMORY};
  lgt_apart_child *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) goto no_socket;
  c->memory = memfd_create("lgt-apart", MFD_CLOEXEC);
  if (c->memory < 0) goto no_memory;
  c->pid = order(a, &what, (int[]){ends[1], c->memory});
  close(ends[1]);
  if (c->pid <= 0) goto no_child;
  c->socket = ends[0];
  c->apart = a;
  a->users++;
  return c;
no_child:
  close(c->memory);
  ends[1] = -1;
  errno = EAGAIN;
no_memory:
  close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
no_socket:
  free(c);
  return NULL;
}

int lgt_lua_apart_close(lgt_apart_child *c, int gently) {
  lgt_apart *a = c->apart;
  close(c->socket);
  int status = order(a, &(apart_order){.pid = c->pid, .gently = gently}, NULL);
  if (c->window) munmap(c->window, c->room);
  close(c->memory);
  free(c);
  lgt_lua_apart_end(a);
  return status;
}

void *lgt_lua_apart_window(lgt_apart_child *c, size_t bytes) {
  if (bytes <= c->room) return c->window;
  if (ftruncate(c->memory, (off_t)bytes)) return NULL;
  void *window = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->memory, 0);
  if (window == MAP_FAILED) return NULL;
  if (c->window) munmap(c->window, c->room);
  c->room = bytes;
  return c->window = window;
}

int lgt_lua_apart_failed(const lgt_apart_child *c) { return c->failed; }

/* ---- requests --------------------------------------------------------------------------------------------- */

/* 0: something can be done with the socket; poll returns for a signal, whatever its handler wants. */
static int wait_for(lgt_runtime *rt, int socket, short events) {
  struct pollfd look = {.fd = socket, .events = events};
  for (;;) {
    int ready = poll(&look, 1, PATIENCE);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) return LGT_APART_GONE;
    if (lgt_exec_interrupted(rt->exec)) return LGT_APART_INTERRUPTED;
  }
}

static int move(lgt_runtime *rt, int socket, void *data, size_t bytes, bool in) {
  for (char *at = data; bytes;) {
    int stopped = wait_for(rt, socket, in ? POLLIN : POLLOUT);
    if (stopped) return stopped;
    ssize_t n =
        in ? recv(socket, at, bytes, MSG_DONTWAIT) : send(socket, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return LGT_APART_GONE;
    at += n, bytes -= (size_t)n;
  }
  return 0;
}

int lgt_lua_apart_call(lgt_runtime *rt, lgt_apart_child *c, const char *request, size_t length, int seconds,
                       char **reply, size_t *reply_length) {
  apart_head head = {.length = length, .seconds = seconds};
  char *text = NULL;
  if (c->failed) return c->failed;
  int failed = move(rt, c->socket, &head, sizeof head, false);
  if (!failed) failed = move(rt, c->socket, (void *)request, length, false);
  if (!failed) failed = move(rt, c->socket, &head, sizeof head, true);
  if (!failed && head.length < LONGEST) text = malloc(head.length + 1);
  if (!failed && !text) failed = LGT_APART_GONE;
  if (!failed) failed = move(rt, c->socket, text, head.length, true);
  if (failed) return free(text), c->failed = failed;
  *reply = text;
  *reply_length = head.length;
  return 0;
}
