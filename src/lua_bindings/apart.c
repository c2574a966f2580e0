/* apart.c - the program lgt-apart: runs what may crash, or never end, on behalf of lgt.  See apart.h.
 *
 *   lgt-apart script
 *
 * The script returns a function: answer(request, window) gives the text of the reply; window is a descriptor.  Its errors
 * are replies as well: the letter "e" and the message.  answer(nil) closes what is open.
 */
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lualib.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apart.h"

enum { GRACE = 10, KEPT = 32 << 20 }; /* seconds in which a file is closed; bytes */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIMITS_MEMORY = 0 }; /* sanitizers reserve terabytes */
#else
enum { LIMITS_MEMORY = 1 };
#endif

/* ---- a child ---------------------------------------------------------------------------------------------- */

static bool move(int socket, void *data, size_t bytes, bool in) {
  for (char *at = data; bytes;) {
    ssize_t n = in ? read(socket, at, bytes) : send(socket, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, bytes -= (size_t)n;
  }
  return true;
}

/* What is mapped from files and shared is not counted: only what is allocated. */
static void limit_memory(int64_t bytes) {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  if (LIMITS_MEMORY) setrlimit(RLIMIT_DATA, &(struct rlimit){(rlim_t)bytes, (rlim_t)bytes});
}

/* SIGXCPU ends the process when it takes longer. */
static void limit_time(int64_t seconds) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  setrlimit(RLIMIT_CPU, &(struct rlimit){(rlim_t)(used.tv_sec + 1 + seconds), RLIM_INFINITY});
}

/* The script's answer, on the top of the stack; the function is at place 1. */
static const char *answer(lua_State *L, const char *request, size_t length, int window,
                          size_t *reply_length) {
  lua_settop(L, 1);
  lua_pushvalue(L, 1);
  if (request) lua_pushlstring(L, request, length);
  else lua_pushnil(L);
  lua_pushinteger(L, window);
  if (lua_pcall(L, 2, 1, 0)) {
    const char *why = lua_tostring(L, -1);
    lua_pushfstring(L, "e: %s", why ? why : "an error that is no text");
  }
  return lua_tolstring(L, -1, reply_length);
}

static void serve(lua_State *L, int socket, int window) {
  apart_head head;
  size_t length;
  while (move(socket, &head, sizeof head, true)) {
    limit_time(head.seconds);
    char *request = malloc(head.length + 1);
    if (!request || !move(socket, request, head.length, true)) _exit(EXIT_FAILURE);
    const char *reply = answer(L, request, head.length, window, &length);
    free(request);
    head.length = length;
    if (!reply || !move(socket, &head, sizeof head, false) || !move(socket, (void *)reply, length, false))
      break;
  }
  answer(L, NULL, 0, window, &length);
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                              SIGABRT}; /* sanitizers handle them otherwise */

static int begin_child(lua_State *L, const apart_order *order, const int *descriptors) {
  pid_t parent = getpid(), pid = descriptors[1] < 0 ? -1 : fork();
  if (pid == 0) {
    close(APART_CONTROL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    for (int i = 0; i < (int)(sizeof crashes / sizeof *crashes); i++) signal(crashes[i], SIG_DFL);
    int null = open("/dev/null", O_WRONLY); /* what libraries say when they abort */
    dup2(null, STDERR_FILENO);
    close(null);
    limit_memory(order->memory);
    serve(L, descriptors[0], descriptors[1]);
    _exit(EXIT_SUCCESS);
  }
  close(descriptors[0]);
  close(descriptors[1]);
  return pid;
}

/* ---- the program ------------------------------------------------------------------------------------------ */

static int end_child(const apart_order *order) {
  const struct timespec pause = {.tv_nsec = 1000000};
  int status = -1;
  for (int turn = 0; order->gently && turn < GRACE * 1000; turn++) {
    if (waitpid(order->pid, &status, WNOHANG) != 0) return status;
    nanosleep(&pause, NULL);
  }
  kill(order->pid, SIGKILL); /* if it has ended already, its status is the one it had */
  return waitpid(order->pid, &status, 0) < 0 ? -1 : status;
}

/* False: lgt is gone.  Descriptors that did not come, for want of room for them, are -1. */
static bool receive(apart_order *order, int *descriptors) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(2 * sizeof(int))];
  } with = {0};
  struct iovec text = {order, sizeof *order};
  struct msghdr message = {
      .msg_iov = &text, .msg_iovlen = 1, .msg_control = with.room, .msg_controllen = sizeof with.room};
  ssize_t got;
  do got = recvmsg(APART_CONTROL, &message, 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof *order) return false;
  descriptors[0] = descriptors[1] = -1;
  if (with.header.cmsg_len > CMSG_LEN(0))
    memcpy(descriptors, CMSG_DATA(&with.header), with.header.cmsg_len - CMSG_LEN(0));
  return true;
}

int main(int argc, char **argv) {
  apart_order order;
  int descriptors[2];
  /* Buffers of chunks come and go: their pages are not given back each time. */
  mallopt(M_MMAP_THRESHOLD, KEPT);
  mallopt(M_TRIM_THRESHOLD, KEPT);
  signal(SIGINT, SIG_IGN); /* the terminal's; lgt ends a child if its user does not want to wait */
  lua_State *L = luaL_newstate();
  if (argc != 2 || !L) return EXIT_FAILURE;
  luaL_openlibs(L);
  lua_pushstring(L, argv[1]);
  if (luaL_loadfile(L, argv[1])) return fprintf(stderr, "lgt-apart: %s\n", lua_tostring(L, -1)), EXIT_FAILURE;
  lua_insert(L, 1);
  if (lua_pcall(L, 1, 1, 0)) return fprintf(stderr, "lgt-apart: %s\n", lua_tostring(L, -1)), EXIT_FAILURE;
  while (receive(&order, descriptors)) {
    int answer = order.pid ? end_child(&order) : begin_child(L, &order, descriptors);
    send(APART_CONTROL, &answer, sizeof answer, MSG_NOSIGNAL);
  }
  alarm(GRACE); /* then they end with this process */
  while (wait(NULL) > 0) {}
  _exit(EXIT_SUCCESS);
}
