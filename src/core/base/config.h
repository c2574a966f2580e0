/* config.h - every variable that configures a runtime, in one table.
 *
 * A variable is set, from weakest to strongest, by its default, by LGT_<NAME> in the environment,
 * by --<name> on the command line (underscores written as dashes), and some by lgt.options{...} at
 * run time.  The help text of `lgt --help` and the manual are printed from this table.
 */
#ifndef LGT_CONFIG_H
#define LGT_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/* type, field, default, may change at run time, must be the same on all ranks, help.
 * Types: INT (0 or more), COUNT (1 or more), BOOL (0 or 1, also no/yes, off/on, false/true), SIZE (bytes or
 * elements; text may end in K, M, G or T: powers of 1024), DEVICES (a number, "none": 0, "all": LGT_ALL_DEVICES, or
 * "auto": LGT_DEVICES_BY_ESTIMATE), EXTENT (a SIZE of 1 or more), TIME (seconds), TEXT (owned
 * string). */
/* clang-format off */
#define LGT_CONFIG_LIST(X)                                                                          \
  X(INT, cpus, "0", 0, 0, "worker threads including the script's own; 0: one for each core")        \
  X(COUNT, domains, "1", 0, 1, "memory domains this process behaves as, each with its own copies of data") \
  X(INT, emulate, "0", 0, 1, "for tests: devices that this process emulates, each for a domain of its own") \
  X(SIZE, emulate_mem, "256M", 0, 0, "bytes of memory of each of them") \
  X(DEVICES, gpus, "auto", 0, 1, "GPUs for each process to compute on: a number, all, none, or auto: one, for what it is faster at") \
  X(SIZE, gpu_mem, "0", 0, 0, "bytes of memory of each of them that arrays may take; 0: most of what is free") \
  X(INT, gpu_credit, "0", 0, 0, "with gpus=auto: milliseconds that trying a GPU may cost besides a tenth of the program's time") \
  X(BOOL, gpu_strict, "0", 0, 1, "refuse what has no variant for GPUs, instead of running it on the host") \
  X(SIZE, mem, "0", 0, 0, "bytes that arrays may take; 0: what the machine or its cgroup has to give") \
  X(INT, ranks, "0", 0, 0, "processes that run the script together; -n N starts them; 0: as mpirun has") \
  X(TEXT, rendezvous, "", 0, 0, "HOST:PORT where the ranks meet, if each is started by itself")     \
  X(INT, rank, "0", 0, 0, "which of them this is; rank 0 runs on HOST")                             \
  X(INT, pretend_ranks, "0", 0, 0, "issue as one rank of so many would, compute nothing, and say what that costs") \
  X(INT, as_rank, "0", 0, 0, "with --pretend-ranks: which of them")                                   \
  X(BOOL, tcp, "0", 0, 1, "let ranks talk over TCP only")                                           \
  X(BOOL, all_output, "0", 0, 0, "show what every rank prints, not only rank 0")                    \
  X(TIME, heartbeat, "10", 0, 0, "seconds of silence after which a rank counts as dead")            \
  X(TIME, start_timeout, "30", 0, 0, "seconds within which all ranks must have met")                \
  X(TIME, patience, "1", 0, 0, "seconds of waiting after which ranks compare what they have done")  \
  X(BOOL, fusion, "1", 1, 1, "fuse launches into tasks")                                            \
  X(BOOL, kernel_fusion, "1", 1, 1, "merge the loops of a fused task into common passes")           \
  X(BOOL, temporaries, "1", 1, 1, "do not store results that only the task itself needs")           \
  X(BOOL, cache, "1", 0, 0, "keep kernels and bytecode on disk")                                    \
  X(TEXT, cache_dir, "", 0, 0, "where; default $XDG_CACHE_HOME/lgt or ~/.cache/lgt")                \
  X(BOOL, compile, "1", 1, 0, "compile kernels; 0: interpret them")                                 \
  X(BOOL, background, "1", 1, 0, "compile while the interpreter runs; 0: wait for the compiler")    \
  X(BOOL, finish, "1", 0, 0, "a program that ends leaves its last kernels to a process that compiles them for the next run") \
  X(TEXT, isa, "", 0, 0, "limit kernels to avx2 or generic vector instructions")                    \
  X(BOOL, reproducible, "0", 1, 1, "the same bits for any number of ranks, domains and tiles")           \
  X(COUNT, window, "256", 1, 1, "greatest number of launches analysed together; with one GPU twice as many") \
  X(BOOL, trace, "1", 1, 1, "find what repeats among launches, and plan it once")                        \
  X(COUNT, trace_sample, "250", 0, 1, "launches between two searches for what repeats")               \
  X(COUNT, trace_history, "8000", 0, 1, "launches that are searched at most")                         \
  X(COUNT, trace_shortest, "2", 0, 1, "least number of launches of a trace")                          \
  X(INT, trace_longest, "0", 0, 1, "greatest number of launches of a trace; 0: as many as a window has") \
  X(BOOL, mix, "1", 1, 1, "for tests: one task of launches that are cut apart between the same domains; 0: a task each") \
  X(INT, widen, "20", 1, 1, "microseconds for which domains compute what others do, too, to spare an exchange; 0: never") \
  X(INT, overlap, "20", 0, 0, "microseconds that a message across a network takes: large tasks do meanwhile what needs none; 0: they wait") \
  X(SIZE, between, "8M", 1, 1, "bytes that the loops of one task may leave for one another in memory") \
  X(SIZE, skew, "1M", 1, 1, "bytes that loops which follow each other row by row touch at once, a share of a core's cache; 0: none do") \
  X(SIZE, abreast, "16K", 1, 1, "cost of a loop, as moving so many bytes, that makes it run at once with others of its task; 0: none do") \
  X(SIZE, replicate, "1G", 1, 1, "with ranks: bytes of an array that an operation may bring to every rank whole") \
  X(EXTENT, min_tile, "64K", 1, 1, "smallest tile worth a domain of its own, in elements")            \
  X(INT, max_tiles, "0", 1, 1, "greatest number of tiles; 0: one for each domain")                  \
  X(INT, jitter, "0", 0, 0, "seed of random local decisions, for tests; 0: none")                   \
  X(TEXT, profile, "", 0, 0, "file for a trace of what runs when, for ui.perfetto.dev; rank R writes FILE.rankR") \
  X(TEXT, debug, "", 0, 0, "what to log: a list such as fuse:3,exec of topics and levels 1 to 4")   \
  X(BOOL, check, "0", 0, 0, "verify each pass's result and each kernel's accesses (not --check SCRIPT)")
/* clang-format on */

enum { LGT_MOST_LOCAL = 64 }; /* ranks of a machine of which is known where they run */
enum { LGT_ALL_DEVICES = -1, LGT_DEVICES_BY_ESTIMATE = -2 };

struct lgt_config {
#define LGT_CONFIG_INT(field)                 int field;
#define LGT_CONFIG_DEVICES(field)             int field;
#define LGT_CONFIG_COUNT(field)               int field;
#define LGT_CONFIG_BOOL(field)                bool field;
#define LGT_CONFIG_SIZE(field)                int64_t field;
#define LGT_CONFIG_EXTENT(field)              int64_t field;
#define LGT_CONFIG_TEXT(field)                char *field; /* owned */
#define LGT_CONFIG_TIME(field)                double field;
#define X(TYPE, field, def, live, same, help) LGT_CONFIG_##TYPE(field)
  LGT_CONFIG_LIST(X)
#undef X
  struct lgt_peers *peers;        /* borrowed (peers.h): the other ranks; NULL: there are none */
  int local_rank, local_size;     /* number of this rank among those of its machine; 0: there are no others */
  int local_core[LGT_MOST_LOCAL]; /* by number of a rank of its machine: a core that it runs on; -1: unknown */
  bool own_process;               /* the process is lgt's own: it may leave a child behind */
};

/* A copy that the caller frees with lgt_config_free; NULL when out of memory. */
lgt_config *lgt_config_copy(const lgt_config *config);
/* Like lgt_config_set, but refuses variables that cannot change once a runtime runs. */
lgt_status lgt_config_set_live(lgt_config *config, const char *name, const char *value);

/* Lines "name=value" of what must be the same on all ranks. */
void lgt_config_agreed(const lgt_config *config, char *text, size_t room);

#endif
