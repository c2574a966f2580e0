/* wireup.c - which back end a process belongs to, and the connection to the hub.  See wireup.h. */
#include "wireup.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

enum { RETRY_MS = 50, CONNECT_MS = 2000 };

/* Launchers that start several processes, by the variable that says how many. */
static const char *const size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};

static lgt_status refuse_copies(void) {
  for (size_t i = 0; i < sizeof size_variables / sizeof *size_variables; i++) {
    const char *text = getenv(size_variables[i]);
    if (text && atoi(text) > 1)
      return lgt_err(
          LGT_UNSUPPORTED,
          "this is one of %s processes (%s), but their launcher offers no PMIx, so they cannot find "
          "each other; start them with a launcher that does, with lgt -n, or with --rendezvous",
          text, size_variables[i]);
  }
  return LGT_OK;
}

lgt_status lgt_wireup_find(const lgt_wireup_options *options, lgt_wireup *out) {
  lgt_wireup_options wanted = *options;
  lgt_wireup found = LGT_WIREUP_NONE;
  const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
  lgt_status status;
  if (!wanted.start_ms) wanted.start_ms = LGT_START_MS;
  if (wanted.rendezvous) status = lgt_wireup_rendezvous(&wanted, &found);
  else if (getenv("PMIX_RANK")) status = lgt_wireup_pmix(&wanted, &found);
  else if (tasks && atoi(tasks) > 1 && getenv("SLURM_PROCID")) status = lgt_wireup_slurm(&wanted, &found);
  else status = refuse_copies();
  if (status) lgt_wireup_close(&found);
  else *out = found;
  return status;
}

lgt_status lgt_wireup_listen(int *port, int *out) {
  struct sockaddr_in6 any = {
      .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)*port), .sin6_addr = in6addr_any};
  struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
  struct sockaddr *address = (struct sockaddr *)&any;
  socklen_t length = sizeof any;
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, off = 0;
  if (fd < 0) { /* a host without IPv6 */
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address = (struct sockaddr *)&any4, length = sizeof any4;
  } else setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (fd < 0) return lgt_err(LGT_SYSTEM, "cannot make a socket: %s", strerror(errno));
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, address, length) || listen(fd, SOMAXCONN) || getsockname(fd, address, &length)) {
    lgt_err(LGT_SYSTEM, "rank 0 cannot listen on port %d: %s", *port, strerror(errno));
    close(fd);
    return LGT_SYSTEM;
  }
  *port = ntohs(address->sa_family == AF_INET6 ? any.sin6_port : any4.sin_port);
  *out = fd;
  return LGT_OK;
}

/* ---- connecting ---------------------------------------------------------------------------------- */

/* Connected within `limit` ms, or -1 with errno set. */
static int connect_within(const struct addrinfo *a, int limit) {
  int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
  socklen_t length = sizeof error;
  if (fd < 0) return -1;
  if (connect(fd, a->ai_addr, a->ai_addrlen)) {
    struct pollfd event = {fd, POLLOUT, 0};
    error = errno;
    if (error == EINPROGRESS) {
      if (poll(&event, 1, limit) <= 0) error = ETIMEDOUT;
      else getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    }
  }
  if (error) {
    close(fd);
    errno = error;
    return -1;
  }
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

/* One attempt at one host; -1 with the reason in `why`. */
static int try_host(const char *host, const char *port, int limit, char *why, size_t room) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
  int fd = -1, error = getaddrinfo(host, port, &hints, &list);
  if (error) {
    snprintf(why, room, "%s", gai_strerror(error));
    return -1;
  }
  for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
    fd = connect_within(a, limit);
    if (fd < 0) snprintf(why, room, "%s", strerror(errno));
  }
  freeaddrinfo(list);
  return fd;
}

/* One attempt at each of the hub's hosts. */
static int try_hub(const lgt_wireup *wireup, int limit, char *why, size_t room) {
  char list[sizeof wireup->address], *rest = list;
  memcpy(list, wireup->address, sizeof list);
  const char *port = strsep(&rest, " "), *host;
  int fd = -1;
  while (fd < 0 && (host = strsep(&rest, " "))) fd = try_host(host, port, limit, why, room);
  return fd;
}

lgt_status lgt_wireup_connect(lgt_wireup *wireup, int start_ms, int *out) {
  if (wireup->socket >= 0) {
    *out = wireup->socket;
    wireup->socket = -1;
    return LGT_OK;
  }
  char why[128] = "";
  int64_t end = lgt_wire_now() + (start_ms ? start_ms : LGT_START_MS), left;
  while ((left = end - lgt_wire_now()) > 0) {
    int fd = try_hub(wireup, left < CONNECT_MS ? (int)left : CONNECT_MS, why, sizeof why);
    if (fd >= 0) return *out = fd, LGT_OK;
    nanosleep(&(struct timespec){0, RETRY_MS * 1000000}, NULL);
  }
  return lgt_err(LGT_SYSTEM, "rank %d could not reach rank 0 (%s) within %g s, port and addresses %s: %s",
                 wireup->rank, wireup->how, (start_ms ? start_ms : LGT_START_MS) / 1e3, wireup->address, why);
}

void lgt_wireup_close(lgt_wireup *wireup) {
  if (wireup->socket >= 0) close(wireup->socket);
  if (wireup->listener >= 0) close(wireup->listener);
  if (wireup->close) wireup->close();
  *wireup = (lgt_wireup)LGT_WIREUP_NONE;
}
