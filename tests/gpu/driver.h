/* driver.h - inside the emulated driver: a libcuda.so.1 for machines without a GPU, which does not let mistakes pass.
 *
 * The functions are those of src/gpu/cuda_driver.h and do what NVIDIA's do, with these differences, all of them stricter:
 *
 *   memory     The host cannot touch it: addresses lie in a range that nobody may read or write, and the emulator reaches
 *              the bytes elsewhere.  Addresses of freed blocks stay unused for as long as the range lasts, there are
 *              gaps between blocks, and the first bytes of a block are garbage.
 *              Pinned memory that a copy is to read cannot be written by the host, what it is to write cannot be touched, as
 *              far as pages go, until the host has waited.
 *   order      A stream is a queue and a thread, which dawdles.  Every operation has a vector clock, and each byte of a
 *              block remembers who wrote it and who read it since (driver_order.c): two operations that share a byte, one of
 *              which writes it, must be ordered by a stream, an event, or the host that waited.  That is found even if
 *              they happened to run in the right order.
 *   kernels    run in the emulator of PTX (ptx.h), which has more rules.
 *   errors     A broken rule is a *report*: a line on stderr that begins with "libcuda emulation:", and an error that
 *              stays with the context, as one after a failed kernel does.
 *
 * The environment, which cuInit reads:
 *
 *   LGT_FAKE_CUDA_STRICT=1     reports, and what is left at exit or when a context ends, make the exit status 97
 *   LGT_FAKE_CUDA_DEVICES=N    devices, up to 8 (1); CUDA_VISIBLE_DEVICES chooses among them
 *   LGT_FAKE_CUDA_MEMORY=N     bytes of each device (1G); K, M and G may follow; at most 32G
 *   LGT_FAKE_CUDA_TAKEN=N      bytes of them that somebody else has (0)
 *   LGT_FAKE_CUDA_PINNED=N     bytes of pinned host memory at most (1G)
 *   LGT_FAKE_CUDA_SMS=N        multiprocessors of each device (4)
 *   LGT_FAKE_CUDA_CHIP=N       compute capability, 10 times (80)
 *   LGT_FAKE_CUDA_DRIVER=N     version of the driver (13000)
 *   LGT_FAKE_CUDA_SEED=N       of delays and of the order of blocks (1)
 *   LGT_FAKE_CUDA_DELAY=N      microseconds that an operation is late, at most (60)
 *   LGT_FAKE_CUDA_PEERS=0      devices have no access to each other's memory
 *   LGT_FAKE_CUDA_KERNELS=0    kernels do nothing, and are not put into streams: what a launch costs is the caller's own work
 *   LGT_FAKE_CUDA_WAITS=0      streams are not told to wait for events, which is what a program looks like that forgets to tell them
 *   LGT_FAKE_CUDA_UNWRITTEN=0  kernels may read bytes that were never written, as those of lgt do where a task has failed and a loop
 *                              computes with what it did not write and with other things
 *   LGT_FAKE_CUDA_INIT=CODE    cuInit fails so
 *   LGT_FAKE_CUDA_FAIL=NAME:N:CODE   the n-th call of that function fails; of any function if there is no NAME, but
 *                                    none that is only about which context is current; with what is usual for it if
 *                                    there is no CODE.  What releases something still releases it.
 *   LGT_FAKE_CUDA_FAIL_RUN=N:CODE    the n-th operation that streams carry out fails, and with it the context (719)
 *   LGT_FAKE_CUDA_LOG=FILE     a line for each call is appended: its number, name, arguments, result; counters at exit
 *   LGT_FAKE_CUDA_LAUNCHES=FOLDER    modules go into it as NUMBER.ptx, and into its file `launches` a line for each kernel: number,
 *                                    name, blocks, threads of each; instructions of threads, those with doubles; loads,
 *                                    their bytes, stores, theirs; bytes of memory that were read, and written; and how
 *                                    many pieces of 32 bytes, each once for an access of a warp; how often the thread waits
 *                                    for memory that does so most often
 *
 * Files: driver.c calls, reports, the environment; driver_device.c devices and contexts; driver_block.c blocks of memory;
 * driver_memory.c functions that allocate; driver_order.c who touched what; driver_stream.c streams and events;
 * driver_copy.c copies; driver_module.c modules, driver_launch.c kernels; driver_graph.c graphs.
 *
 * One lock protects everything; threads of streams let go of it while they copy or run a kernel.
 */
#ifndef LGT_FAKE_DRIVER_H
#define LGT_FAKE_DRIVER_H

#include "cuda_driver.h"
#include "ptx.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define LGT_FAKE_EXPORT(name, since, arguments) __attribute__((visibility("default"))) CUresult name arguments;
LGT_CUDA_FUNCTIONS(LGT_FAKE_EXPORT)

enum { MOST_DEVICES = 8, MOST_INNER = 8, SLOTS = 64, HOST = 0, MOST_READERS = 4, GRAIN = 512 };

/* ---- Handles ---- */

/* clang-format off */
typedef enum fake_kind {
  CONTEXT, STREAM, EVENT, MODULE, FUNCTION, LINK, POOL, GRAPH, NODE, GRAPH_EXEC, KINDS
} fake_kind;
/* clang-format on */

/* The first field of what a handle points to.  The memory of what was destroyed stays, so that its use is found. */
typedef struct fake_handle {
  fake_kind kind;
  bool alive;
  uint64_t born, died; /* calls */
  CUcontext context;   /* NULL for pools */
  struct fake_handle *next;
} fake_handle;

void *fake_handle_new(fake_kind kind, size_t bytes, CUcontext context);
void fake_handle_end(void *handle);
/* Is it a live handle of this kind?  What never was one, and what was destroyed, is reported. */
CUresult fake_handle_check(fake_kind kind, const void *handle);
/* Calls f for each live one of the context; NULL: of all. */
void fake_handle_each(fake_kind kind, CUcontext context, void (*f)(void *handle));

/* ---- Order ---- */

/* How far each slot was when this began.  Slot 0 is the host, all threads of which are taken to be ordered. */
typedef struct fake_clock {
  uint32_t at[SLOTS];
} fake_clock;

typedef struct fake_access {
  uint8_t slot;
  uint32_t at; /* 0: never */
} fake_access;

/* Bytes of a block that the same operations touched last. */
typedef struct fake_span {
  size_t begin, end;
  fake_access write, read[MOST_READERS];
  int reads;
} fake_span;

enum { READS = 1, WRITES = 2 };
typedef struct fake_run {
  size_t begin, end; /* in the block */
  int how;
} fake_run;

void fake_clock_join(fake_clock *clock, const fake_clock *other);
bool fake_clock_has(const fake_clock *clock, fake_access access);
void fake_host_sees(const fake_clock *clock); /* that all in it is over */

/* ---- Blocks of memory ---- */

typedef struct fake_block {
  uint64_t base, bytes;
  char *host; /* where its bytes are */
  int device; /* -1: pinned memory of the host */
  CUcontext context;
  CUmemoryPool pool; /* or NULL */
  bool registered;   /* the host's own */
  bool variable;     /* of a module */
  bool freed;        /* by a call */
  bool dead;         /* and nothing may come to it any more; out of the table */
  int refs;          /* operations that are about to use it, and the table */
  uint64_t born, died;
  uint8_t *written; /* a byte for each, or NULL */
  fake_span *span;  /* owned: what was touched, in order */
  int spans;
} fake_block;

fake_block *fake_block_at(uint64_t address);                 /* NULL if there is none */
fake_block *fake_block_new(CUcontext context, size_t bytes); /* on the context's device, or NULL */
fake_block *fake_block_pin(size_t bytes);                    /* new memory of the host, or NULL */
fake_block *fake_block_register(void *address, size_t bytes);
/* Until the host has seen that this is over it may not write these bytes, or not read them either: whole pages of them. */
void fake_block_guard(fake_block *block, size_t begin, size_t end, bool written, fake_access until);
void fake_unguard(void);                 /* what the host has seen end */
void fake_block_kill(fake_block *block); /* out of the table */
void fake_block_release(fake_block *block);
bool fake_block_overlaps(uint64_t address, size_t bytes); /* a live one */
bool fake_is_device_address(uint64_t address);
void fake_block_each(void (*f)(fake_block *block, void *context), void *context);
/* Why an address is not to be used: what was freed there, or that nothing is there. */
const char *fake_address_text(uint64_t address, char *text, size_t size);

/* ---- Devices, contexts, pools ---- */

typedef struct fake_device {
  int number; /* before CUDA_VISIBLE_DEVICES */
  CUcontext primary;
  int retained;
  uint64_t used; /* bytes, with what pools keep */
} fake_device;

struct CUctx_st {
  fake_handle handle;
  int device;
  CUresult error;             /* that stays */
  CUstream legacy;            /* stream 0, when it was used */
  CUstream inner[MOST_INNER]; /* those of graphs, when they were used */
  unsigned next_inner;
  bool peer[MOST_DEVICES];
};

struct CUmemPoolHandle_st {
  fake_handle handle;
  int device;
  uint64_t used, used_high, reserved, reserved_high, threshold;
  int reuse[3];
  bool access[MOST_DEVICES];
};

static inline uint64_t fake_padded(uint64_t bytes) { return (bytes + GRAIN - 1) / GRAIN * GRAIN; }
uint64_t fake_device_room(int device);
void fake_pools_trim(int device); /* at a wait */

/* ---- Streams, events, operations ---- */

typedef struct fake_mark { /* what an event stands for since it was recorded */
  int refs;
  bool done;
  double time; /* seconds */
  fake_clock clock;
} fake_mark;

struct CUevent_st {
  fake_handle handle;
  unsigned flags;
  fake_mark *mark; /* NULL: never recorded */
};

typedef struct fake_op fake_op;
struct fake_op {
  fake_op *next;
  const char *name; /* of the call */
  uint64_t call;
  CUstream stream;
  fake_clock clock;
  bool always;              /* also after an error */
  fake_mark *mark;          /* waited for, or recorded */
  void (*run)(fake_op *op); /* with the lock, which it may let go; NULL: nothing to do */
  void (*end)(fake_op *op); /* frees what is behind `data` */
  void *data;
};

struct CUstream_st {
  fake_handle handle;
  unsigned flags;
  bool inner; /* the driver's own */
  int slot;
  fake_clock clock; /* of what is put in next */
  pthread_t thread;
  pthread_cond_t some; /* something was put in, or the stream ends: for its thread alone */
  bool ending;
  fake_op *first, *last;
  uint64_t put, done; /* operations */
  uint64_t random;
};

/* The live stream behind a handle, 0 being the current context's. */
CUresult fake_stream_of(CUstream handle, CUstream *stream);
/* Puts an operation in; `op` is copied.  The result is its number in the stream. */
uint64_t fake_put(CUstream stream, const fake_op *op);
/* Until the next operation of any stream is over; the lock is given up meanwhile. */
void fake_wait_for_change(void);
/* Wakes the thread of the stream that the call has put something into.  With or without the lock: streams stay allocated. */
void fake_wake(void);
void fake_wait(CUstream stream, uint64_t number);            /* lets go of the lock */
CUstream fake_stream_new(CUcontext context, unsigned flags); /* NULL: there are too many */
/* Without what stream 0 asks for.  A mark is the caller's until it is released. */
fake_mark *fake_push_record(CUstream stream);
void fake_push_wait(CUstream stream, fake_mark *mark);
void fake_mark_release(fake_mark *mark);   /* or NULL */
void fake_context_wait(CUcontext context); /* for all its streams; the host has seen them end */
void fake_stream_end(CUstream stream);
void fake_context_end(CUcontext context);

/* The operation touches bytes of a block: false if nothing orders it after another one, which is reported.  Runs are in
   order and do not overlap. */
bool fake_touch(const fake_op *op, fake_block *block, const fake_run *run, int runs);
void fake_name_slot(int slot, uint32_t at, const char *name, uint64_t call);
/* Is all in this clock that ever touched it?  If not, says what. */
bool fake_settled(const fake_block *block, const fake_clock *seen, char *text, size_t size);

/* ---- What is put into a stream by a call, or by a graph ---- */

typedef struct fake_launch {
  CUfunction function;
  unsigned grid[3], block[3];
  size_t shared;
  bool cooperative;
  char *bytes;   /* owned: of the parameters */
  void **params; /* owned: where each is */
} fake_launch;

/* May it be launched with these parameters?  The copy has its own. */
CUresult fake_launch_copy(const fake_launch *launch, void **params, fake_launch *out);
void fake_launch_fini(fake_launch *launch);
CUresult fake_put_launch(const fake_launch *launch, CUstream stream, void **params);
CUresult fake_put_copy3(const CUDA_MEMCPY3D *copy, CUstream stream);
CUresult fake_put_fill(CUdeviceptr to, unsigned value, size_t size, size_t count, CUstream stream);
CUresult fake_put_host(CUhostFn function, void *context, CUstream stream);

/* ---- Modules ---- */

struct CUmod_st {
  fake_handle handle;
  ptx_module *ptx;
  fake_block **variable; /* owned array, as ptx_globals counts */
  CUfunction *function;  /* owned array, as ptx_kernels counts */
  int number;            /* from 1 on */
};

struct CUfunc_st {
  fake_handle handle;
  CUmodule module;
  const ptx_kernel *kernel;
  int dynamic_shared; /* allowed */
};

unsigned fake_threads_most(CUfunction function);
int fake_blocks_per_sm(CUfunction function, unsigned threads, size_t shared);
void fake_module_end(void *module);

/* ---- Everything ---- */

typedef struct fake_settings {
  bool strict, peers, kernels, waits, unwritten;
  FILE *launches; /* or NULL */
  int devices, sms, chip, driver, init;
  uint64_t memory, taken, pinned, seed, delay;
  char fail_name[64];
  int64_t fail_at, fail_run;
  int fail_code, fail_run_code;
} fake_settings;

typedef struct fake_state {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* an operation is over; see fake_wait_for_change */
  int waiting;            /* threads that wait for that */
  fake_settings set;
  int pid;     /* that called cuInit; 0: none did */
  bool forked; /* from that one */
  int devices;
  fake_device device[MOST_DEVICES];
  fake_clock host;
  uint64_t calls, reports;
  uint64_t pinned;                                                             /* bytes */
  uint64_t launches, waits, runs, pageable, bytes_in, bytes_out, bytes_across; /* counters */
  struct fake_slot_user {
    CUstream stream;
    uint32_t at;
  } slot[SLOTS];
} fake_state;
extern fake_state fake;

typedef struct fake_thread {
  CUcontext current;
  bool in_host_function;
  const char *name; /* of the call */
  CUresult late;    /* that it has in any case */
  char note[200];   /* for the log */
  CUstream filled;  /* to be woken when the call is over, or waits; NULL: none */
} fake_thread;
extern _Thread_local fake_thread fake_self;

/* What a call needs before it may do anything.  RELEASES: it does its work even if it is to fail. */
enum { NOTHING = 0, INIT = 1, CURRENT = 2, RELEASES = 4 };
CUresult fake_enter(const char *name, int needs); /* the lock is held if it is CUDA_SUCCESS */
CUresult fake_leave(CUresult result);
#define ENTER(needs)                               \
  do {                                             \
    CUresult enter_ = fake_enter(__func__, needs); \
    if (enter_) return enter_;                     \
  } while (0)
#define LEAVE(result) return fake_leave(result)
#define LEAVE_IF(condition, result)           \
  do {                                        \
    if (condition) return fake_leave(result); \
  } while (0)

__attribute__((format(printf, 1, 2))) void fake_note(const char *format, ...);
/* A broken rule.  The error stays with the context, if there is one. */
__attribute__((format(printf, 3, 4))) void fake_report(CUcontext context, CUresult error, const char *format, ...);
const char *fake_result_name(CUresult result);
void fake_read_settings(void);
void fake_tell_left(CUcontext context); /* what nobody released; NULL: of all */

#endif
