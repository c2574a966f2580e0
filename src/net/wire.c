/* wire.c - see wire.h. */
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "base/mem.h"

enum { FRAME_MAX = 1 << 20, RECEIVE = 65536 };

int64_t lgt_wire_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool lgt_wire_send(int socket, int type, int rank, const void *body, size_t bytes) {
  lgt_frame head = {LGT_WIRE_MAGIC, (uint32_t)type, (uint32_t)bytes, rank};
  struct iovec part[2] = {{&head, sizeof head}, {(void *)body, bytes}};
  struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
  while (part[0].iov_len + part[1].iov_len) {
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    for (int i = 0; i < 2; i++) {
      size_t n = (size_t)sent < part[i].iov_len ? (size_t)sent : part[i].iov_len;
      part[i].iov_base = (char *)part[i].iov_base + n;
      part[i].iov_len -= n;
      sent -= (ssize_t)n;
    }
  }
  return true;
}

int lgt_wire_receive(int socket, lgt_inbox *inbox) {
  if (inbox->taken == inbox->used) inbox->taken = inbox->used = 0;
  if (!lgt_mem_grow((void **)&inbox->data, &inbox->room, inbox->used + RECEIVE, 1)) return -1;
  ssize_t got = recv(socket, inbox->data + inbox->used, RECEIVE, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  inbox->used += (int)got;
  return got == 0 ? -1 : got == RECEIVE;
}

const lgt_frame *lgt_wire_next(lgt_inbox *inbox, bool *garbage) {
  lgt_frame head;
  int there = inbox->used - inbox->taken;
  /* To the front, so that heads are aligned and a zero fits behind the body. */
  if (inbox->taken) memmove(inbox->data, inbox->data + inbox->taken, (size_t)there);
  inbox->used = there;
  inbox->taken = 0;
  *garbage = false;
  if (there < (int)sizeof head) return NULL;
  memcpy(&head, inbox->data, sizeof head);
  *garbage = head.magic != LGT_WIRE_MAGIC || head.bytes > FRAME_MAX;
  int size = (int)(sizeof head + head.bytes);
  if (*garbage || there < size) return NULL;
  inbox->taken = size;
  return (const lgt_frame *)inbox->data;
}

void lgt_inbox_fini(lgt_inbox *inbox) {
  lgt_mem_free(inbox->data);
  *inbox = (lgt_inbox){0};
}

void lgt_place_here(lgt_place *place) {
  static const char *const spaces[3] = {"/proc/self/ns/net", "/proc/self/ns/pid", "/proc/self/ns/ipc"};
  memset(place, 0, sizeof *place);
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file) {
    if (!fgets(place->machine, sizeof place->machine, file)) *place->machine = 0;
    fclose(file);
  }
  for (int i = 0; i < 3; i++) {
    struct stat info;
    if (!stat(spaces[i], &info)) place->space[i] = info.st_ino;
  }
}
