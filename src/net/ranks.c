/* ranks.c - see ranks.h. */
#include "ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "kernel/helper.h"
#include "launch.h"
#include "base/log.h"
#include "base/mem.h"

enum { AGREED_ROOM = 1024, AGREE = 0x61677265 };
#define SEATS_TAG  (LGT_PEERS_TAGS + LGT_PEERS_TAGS / 2)
#define DECIDE_TAG (SEATS_TAG + 1)
#define AGREE_TAG  (SEATS_TAG + 2)
#define CORES_TAG  (SEATS_TAG + 3)

struct lgt_ranks {
  lgt_net *net; /* owned; NULL: this is the only rank */
  bool launched;
};

/* ---- the machine ---------------------------------------------------------------------------------------- */

/* Where a rank runs: equal for those that compete for the same cores. */
typedef struct seat {
  uint64_t machine, cores;
} seat;

static uint64_t hash_bytes(const void *data, size_t bytes) {
  const unsigned char *p = data;
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 1099511628211u;
  return h;
}

/* The part-th of `count` equal parts of the cores of `set`, neighbours in the machine. */
static bool cut_cores(const cpu_set_t *set, int part, int count, cpu_set_t *out) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology)) return false;
  int n = CPU_COUNT(set), seen = 0;
  CPU_ZERO(out);
  if (hwloc_topology_load(topology) == 0)
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, o));) {
      if (o->os_index >= CPU_SETSIZE || !CPU_ISSET(o->os_index, set)) continue;
      if (seen * (int64_t)count / n == part) CPU_SET(o->os_index, out);
      seen++;
    }
  hwloc_topology_destroy(topology);
  return seen == n && CPU_COUNT(out) > 0;
}

/* The part-th share of the cores of `set`, for which `count` ranks compete. */
static void take_cores(lgt_config *config, const cpu_set_t *set, int part, int count, int rank) {
  cpu_set_t own;
  lgt_log(NET, 2, "rank %d shares %d cores with %d others, and takes %lld bytes of memory at most", rank,
          CPU_COUNT(set), count - 1, (long long)config->mem);
  if (CPU_COUNT(set) < count || !cut_cores(set, part, count, &own)) config->cpus = 1;
  else if (sched_setaffinity(0, sizeof own, &own)) config->cpus = CPU_COUNT(&own);
}

static int first_core(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return -1;
  for (int core = 0; core < CPU_SETSIZE; core++)
    if (CPU_ISSET(core, &set)) return core;
  return -1;
}

/* Where the ranks of this machine run, by their numbers there: devices are chosen near them. */
static lgt_status tell_cores(lgt_ranks *ranks, lgt_config *config, seat *seats, int64_t *offset) {
  const lgt_control *control = ranks->net->control;
  uint64_t machine = seats[control->rank].machine;
  seats[control->rank] = (seat){machine, (uint64_t)first_core()};
  lgt_status status = lgt_allgather(ranks->net->transport, CORES_TAG, seats, offset);
  for (int r = 0, local = 0; r < control->size && !status; r++)
    if (seats[r].machine == machine && local < LGT_MOST_LOCAL)
      config->local_core[local++] = (int)seats[r].cores;
  return status;
}

/* Cores and memory are divided among the ranks of this machine, cores unless somebody has done so. */
static lgt_status take_share(lgt_ranks *ranks, lgt_config *config) {
  const lgt_control *control = ranks->net->control;
  int size = control->size, local = control->local_size, competing = 0, before = 0;
  config->local_rank = control->local_rank;
  config->local_size = control->local_size;
  if (config->mem == 0 && local > 1) config->mem = lgt_mem_available("") / 10 * 9 / local;
  cpu_set_t set;
  lgt_place here;
  lgt_place_here(&here);
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set)) CPU_SET(0, &set);
  seat *seats = lgt_mem_zalloc((size_t)size * sizeof *seats);
  int64_t *offset = lgt_mem_alloc(((size_t)size + 1) * sizeof *offset);
  lgt_status status = LGT_OK;
  if (!seats || !offset) status = lgt_err(LGT_NO_MEMORY, "out of memory for %d ranks", size);
  for (int r = 0; r <= size && !status; r++) offset[r] = r * (int64_t)sizeof *seats;
  if (!status) {
    seats[control->rank] =
        (seat){hash_bytes(here.machine, sizeof here.machine), hash_bytes(&set, sizeof set)};
    status = lgt_allgather(ranks->net->transport, SEATS_TAG, seats, offset);
  }
  for (int r = 0; r < size && !status; r++) {
    bool same = !memcmp(&seats[r], &seats[control->rank], sizeof *seats);
    competing += same;
    before += same && r < control->rank;
  }
  if (!status && !config->cpus && competing > 1) take_cores(config, &set, before, competing, control->rank);
  if (!status) status = tell_cores(ranks, config, seats, offset);
  lgt_mem_free(seats);
  lgt_mem_free(offset);
  return status;
}

/* ---- joining ---------------------------------------------------------------------------------------------- */

static int milliseconds(double seconds) { return seconds < 2e6 ? (int)(seconds * 1e3 + 0.5) : 2000000000; }

/* What must be alike: the options, and the instructions that kernels use, since they decide about bits. */
static void agreed_text(const lgt_config *config, char *text, size_t room) {
  lgt_config_agreed(config, text, room);
  size_t used = strlen(text);
  const char *isa = *config->isa ? config->isa : lgt_isa_name(lgt_isa_host());
  snprintf(text + used, room - used, "isa=%s\n", isa);
}

static lgt_status join(lgt_config *config, lgt_wireup *wireup, lgt_ranks **out) {
  lgt_ranks *ranks = lgt_mem_zalloc(sizeof *ranks);
  if (!ranks) return lgt_err(LGT_NO_MEMORY, "out of memory for the ranks");
  char agreed[AGREED_ROOM];
  agreed_text(config, agreed, sizeof agreed);
  lgt_net_options options = {.tcp = config->tcp,
                             .control = {.version = lgt_version(),
                                         .agreed = agreed,
                                         .start_ms = milliseconds(config->start_timeout),
                                         .dead_ms = milliseconds(config->heartbeat),
                                         .patience_ms = milliseconds(config->patience)}};
  ranks->launched = wireup->launched;
  lgt_status status = lgt_log_set(config->debug);
  if (!status && wireup->size > 1) status = lgt_net_open(&options, wireup, &ranks->net);
  lgt_wireup_close(wireup);
  if (!status && ranks->net) {
    status = take_share(ranks, config);
    if (status) lgt_net_abort(ranks->net, lgt_message());
    config->peers = lgt_net_peers(ranks->net);
  }
  if (status) lgt_mem_free(ranks);
  else *out = ranks;
  return status;
}

lgt_status lgt_ranks_open(lgt_config *config, lgt_ranks **out) {
  lgt_wireup_options options = {
      .rank = config->rank, .size = config->ranks, .start_ms = milliseconds(config->start_timeout)};
  if (*config->rendezvous) options.rendezvous = config->rendezvous;
  else if (config->rank)
    return lgt_err(LGT_BAD_ARGUMENT, "rank = %d, but no rendezvous: give --rendezvous HOST:PORT",
                   config->rank);
  lgt_wireup wireup;
  lgt_status status = lgt_wireup_find(&options, &wireup);
  if (status) return status;
  if (config->ranks && config->ranks != wireup.size) {
    status =
        wireup.size > 1
            ? lgt_err(LGT_BAD_ARGUMENT, "ranks = %d, but %s started %d processes: leave the number to it",
                      config->ranks, wireup.how, wireup.size)
            : lgt_err(LGT_BAD_ARGUMENT,
                      "ranks = %d, but nobody started them: use lgt -n, mpirun, srun, or a rendezvous",
                      config->ranks);
    lgt_wireup_close(&wireup);
    return status;
  }
  return join(config, &wireup, out);
}

lgt_status lgt_ranks_spawn(lgt_config *config, bool prompt, lgt_ranks **out, bool *launcher, int *status) {
  lgt_spawn_options options = {.ranks = config->ranks,
                               .all_output = config->all_output,
                               .prompt = prompt,
                               .start_ms = milliseconds(config->start_timeout),
                               .dead_ms = milliseconds(config->heartbeat)};
  lgt_wireup wireup;
  if (getenv("PMIX_RANK"))
    return lgt_err(LGT_BAD_ARGUMENT, "%d ranks inside of another launcher's process: leave the number to it",
                   config->ranks);
  lgt_status result = lgt_log_set(config->debug); /* once, not on each rank */
  if (!result) result = lgt_spawn(&options, &wireup, launcher, status);
  return result || *launcher ? result : join(config, &wireup, out);
}

int lgt_ranks_rank(const lgt_ranks *ranks) { return ranks->net ? ranks->net->rank : 0; }
int lgt_ranks_size(const lgt_ranks *ranks) { return ranks->net ? ranks->net->size : 1; }
lgt_peers *lgt_ranks_peers(lgt_ranks *ranks) { return ranks->net ? &ranks->net->peers : NULL; }

lgt_status lgt_ranks_close(lgt_ranks *ranks) {
  if (!ranks) return LGT_OK;
  lgt_status status = LGT_OK;
  if (ranks->net && !ranks->net->left) status = lgt_net_leave(ranks->net, 0);
  lgt_net_free(ranks->net);
  lgt_mem_free(ranks);
  return status;
}

lgt_status lgt_ranks_end(lgt_ranks *ranks, int status) {
  if (ranks && ranks->net) lgt_ranks_leave(&ranks->net->peers, "the end of the program", status);
  return lgt_ranks_close(ranks);
}

bool lgt_ranks_decide(lgt_ranks *ranks, bool mine) {
  unsigned char decision = mine;
  if (ranks->net && lgt_broadcast(ranks->net->transport, DECIDE_TAG, 0, &decision, 1))
    lgt_net_abort(ranks->net, lgt_message());
  return decision;
}

/* ---- the prompt -------------------------------------------------------------------------------------------- */

typedef struct verdict {
  uint64_t history;
  int64_t bytes; /* of the error, with its zero; 0: none */
} verdict;

const char *lgt_ranks_agree(lgt_ranks *ranks, const char *error, int *rank, bool *on_all) {
  static char text[LGT_WIRE_TEXT];
  lgt_net *net = ranks->net;
  int size = net->size, failed = 0;
  uint32_t line = lgt_net_line(net, "the prompt");
  net->mishap = NULL; /* it is the error, as a rule */
  lgt_control_note(net->control, &(lgt_operation){.token = AGREE, .line = line, .what = line});
  verdict *all = lgt_mem_zalloc((size_t)size * sizeof *all);
  int64_t *offset = lgt_mem_alloc(((size_t)size + 1) * sizeof *offset);
  if (!all || !offset) lgt_net_abort(net, "out of memory");
  for (int r = 0; r <= size; r++) offset[r] = r * (int64_t)sizeof *all;
  if (error) snprintf(text, sizeof text, "%s", error);
  all[net->rank] = (verdict){lgt_net_history(net), error ? (int64_t)strlen(text) + 1 : 0};
  if (lgt_allgather(net->transport, AGREE_TAG, all, offset)) lgt_net_abort(net, lgt_message());
  for (int r = size - 1; r >= 0; r--) {
    if (all[r].history != all[0].history) lgt_net_disagree(net, "for the ranks to agree at the prompt");
    if (all[r].bytes) *rank = r, failed++;
  }
  *on_all = failed == size;
  if (failed && lgt_broadcast(net->transport, AGREE_TAG, *rank, text, (size_t)all[*rank].bytes))
    lgt_net_abort(net, lgt_message());
  lgt_mem_free(all);
  lgt_mem_free(offset);
  return failed ? text : NULL;
}

void lgt_ranks_interrupt(lgt_ranks *ranks, bool insist) {
  lgt_control_interrupt(ranks->net->control, insist);
}
void lgt_ranks_forget_interrupt(lgt_ranks *ranks) { lgt_control_forget(ranks->net->control); }
void lgt_ranks_on_interrupt(lgt_ranks *ranks, void (*act)(void *), void *context) {
  lgt_control_on_interrupt(ranks->net->control, act, context);
}

/* ---- output ------------------------------------------------------------------------------------------------ */

/* The output and the errors of a rank whose lines are marked. */
static struct marked {
  int rank, fd;
  bool middle; /* of a line */
} marked_output, marked_errors;

static ssize_t write_marked(void *cookie, const char *text, size_t bytes) {
  struct marked *marked = cookie;
  char line[4096 + 32];
  size_t used = 0;
  for (size_t i = 0; i < bytes; i++) {
    if (!marked->middle) used += (size_t)snprintf(line + used, sizeof line - used, "[%d] ", marked->rank);
    line[used++] = text[i];
    marked->middle = text[i] != '\n';
    if (marked->middle && used < 4096 && i + 1 < bytes) continue;
    for (size_t done = 0; done < used;) {
      ssize_t n = write(marked->fd, line + done, used - done);
      if (n < 0 && errno != EINTR) return -1;
      if (n > 0) done += (size_t)n;
    }
    used = 0;
  }
  return (ssize_t)bytes;
}

/* What is written to a stream, in lines marked with the rank, as whole as the buffer leaves them. */
static FILE *mark_lines(struct marked *marked, int rank, int fd, int buffering) {
  *marked = (struct marked){.rank = rank, .fd = fd};
  FILE *stream = fopencookie(marked, "w", (cookie_io_functions_t){.write = write_marked});
  if (stream) setvbuf(stream, NULL, buffering, buffering == _IONBF ? 0 : 4096);
  return stream;
}

void lgt_ranks_silence(const lgt_ranks *ranks, bool all_output) {
  if (!ranks->net || ranks->launched) return;
  fflush(stdout);
  if (all_output) {
    FILE *output = mark_lines(&marked_output, ranks->net->rank, 1, _IOLBF),
         *errors = mark_lines(&marked_errors, ranks->net->rank, 2, _IONBF);
    if (output) stdout = output;
    if (errors) stderr = errors;
  } else if (ranks->net->rank) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return;
    dup2(null, 1);
    close(null);
  }
}

/* ---- lines, and the end -------------------------------------------------------------------------------------- */

uint32_t lgt_ranks_line(lgt_peers *peers, const char *text) {
  lgt_net *net = lgt_net_of(peers);
  return net ? lgt_net_line(net, text) : 0;
}

void lgt_ranks_leave(lgt_peers *peers, const char *line, int status) {
  lgt_net *net = lgt_net_of(peers);
  if (!net || net->left) return;
  uint32_t number = lgt_net_line(net, line);
  peers->note(peers, &(lgt_operation){.token = 0x65786974u ^ (uint64_t)(unsigned)status << 32,
                                      .line = number,
                                      .what = lgt_net_line(net, "exit")});
  if (lgt_net_leave(net, number)) lgt_net_abort(net, lgt_message());
}

void lgt_ranks_fail(lgt_ranks *ranks, const char *error) {
  if (ranks->net) lgt_control_fail(ranks->net->control, error);
  fprintf(stderr, "lgt: %s\n", error);
  exit(1);
}
