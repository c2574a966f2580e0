/* wire.h - the frames on control sockets.
 *
 * A frame is a head and `bytes` of body.  Ranks say HELLO with who they are, ADDRESS with where their
 * transport listens, GET to learn another's, BEAT so as not to be taken for dead, REPORT when they have
 * waited for long, FAIL when their program has ended by an error, INTERRUPT after Ctrl-C and AT where it
 * has stopped, ABORT when the run cannot go on, BYE at its regular end.  The hub answers WELCOME when all
 * are there, ADDRESS, BEAT, TELL to ask for a report, STOP and STOP_AT or INTERRUPT after Ctrl-C, ABORT, and BYE when
 * all have said it.
 *
 * Numbers travel as they lie in memory: a run has one kind of processor, and the magic number says so.
 *
 * Thread: one thread reads a socket; where several threads write to it, each must hold a lock.
 */
#ifndef LGT_WIRE_H
#define LGT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LGT_WIRE_MAGIC 0x34544e4cu /* changes when the frames do */

enum { LGT_WIRE_TEXT = 4096 }; /* the longest reason, with its zero; longer ones are cut */

/* Unless said otherwise: within which all ranks must have met; how long a silent one lives. */
enum { LGT_START_MS = 30000, LGT_DEAD_MS = 10000 };

typedef enum lgt_frame_type {
  LGT_FRAME_HELLO,   /* lgt_hello, version, what must agree: two strings */
  LGT_FRAME_WELCOME, /* lgt_welcome */
  LGT_FRAME_ADDRESS, /* of `rank`: lgt_place and the transport's bytes */
  LGT_FRAME_GET,     /* the address of `rank` is wanted */
  LGT_FRAME_BEAT,
  LGT_FRAME_REPORT,    /* see stream.h */
  LGT_FRAME_TELL,      /* a position of the stream: uint64 */
  LGT_FRAME_FAIL,      /* a string: the error that ended the program */
  LGT_FRAME_INTERRUPT, /* from rank 0: somebody pressed Ctrl-C; to all: stop wherever you are */
  LGT_FRAME_STOP,      /* to all: stop at the next checkpoint, and say AT */
  LGT_FRAME_AT,        /* lgt_at */
  LGT_FRAME_STOP_AT,   /* to all: a checkpoint's number, uint64 */
  LGT_FRAME_ABORT,     /* caused by `rank`; a string: why */
  LGT_FRAME_BYE
} lgt_frame_type;

typedef struct lgt_frame {
  uint32_t magic, type, bytes;
  int32_t rank;
} lgt_frame;

/* Processes of one place share memory. */
typedef struct lgt_place {
  char machine[40];  /* the kernel's boot id */
  uint64_t space[3]; /* its namespaces: network, processes, shared memory */
} lgt_place;

typedef struct lgt_hello {
  uint64_t cookie;
  int32_t rank, size;
  char machine[40]; /* as in lgt_place */
  char host[64];
} lgt_hello;

/* Among the ranks of its machine: how many they are, and which of them this is. */
typedef struct lgt_welcome {
  int32_t local_rank, local_size;
} lgt_welcome;

/* Which checkpoint a rank has stopped at, or will come to next. */
typedef struct lgt_at {
  uint64_t checkpoint;
  uint32_t stopped, unused;
} lgt_at;

/* What has arrived and was not taken yet. */
typedef struct lgt_inbox {
  char *data; /* owned */
  int used, taken, room;
} lgt_inbox;

/* False if the peer is gone or does not take it in. */
bool lgt_wire_send(int socket, int type, int rank, const void *body, size_t bytes);
/* Take what is there without waiting: 1 there may be more, 0 nothing now, -1 the peer is gone. */
int lgt_wire_receive(int socket, lgt_inbox *inbox);
/* The next whole frame, its body behind it, valid until the next call; NULL if there is none, or if what arrived
 * is no frame: then *garbage is set. */
const lgt_frame *lgt_wire_next(lgt_inbox *inbox, bool *garbage);
static inline const char *lgt_wire_body(const lgt_frame *frame) { return (const char *)(frame + 1); }
/* The string that begins at body + from and ends within the frame, else "". */
static inline const char *lgt_wire_text(const lgt_frame *frame, size_t from) {
  const char *body = lgt_wire_body(frame);
  return from < frame->bytes && body[frame->bytes - 1] == 0 ? body + from : "";
}
void lgt_inbox_fini(lgt_inbox *inbox);

int64_t lgt_wire_now(void); /* milliseconds, of the monotonic clock */
/* This process. */
void lgt_place_here(lgt_place *place);
static inline bool lgt_place_equal(const lgt_place *a, const lgt_place *b) { return !__builtin_memcmp(a, b, sizeof *a); }

#endif
