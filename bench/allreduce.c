/* allreduce.c - the sum of one double, or of several, over all ranks: src/net's contestant beside rivals/allreduce.c.
 *
 *   bench_allreduce RANKS ELEMENTS
 */
#include <sched.h>
#include <string.h>

#include "base/dtype.h"
#include "kernel/loop.h"
#include "base/mem.h"
#include "net.h"
#include "launch.h"
#include "rivals/rival.h"

enum { TURN = 100 };

static _Noreturn void die(void) {
  fprintf(stderr, "bench_allreduce: %s\n", lgt_message());
  exit(1);
}

/* Each rank has a processor of its own, as mpirun gives it. */
static void bind(int rank, int ranks) {
  cpu_set_t all, own;
  if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < ranks) return;
  int cpu = 0;
  for (int skip = rank; !CPU_ISSET(cpu, &all) || skip--;) cpu++;
  CPU_ZERO(&own);
  CPU_SET(cpu, &own);
  sched_setaffinity(0, sizeof own, &own);
}

static void reduce(lgt_net *net, const double *mine, double *sum, int n) {
  memcpy(sum, mine, (size_t)n * sizeof *sum);
  if (lgt_allreduce(net->transport, 1, LGT_REDOP_SUM, LGT_FLOAT64, sum, NULL, n)) die();
}

static void serve_all(lgt_net *net, int n) {
  double *mine = calloc((size_t)n, sizeof *mine), *sum = calloc((size_t)n, sizeof *sum);
  for (int i = 0; i < n; i++) mine[i] = net->rank + 1;
  reduce(net, mine, sum, n);
  if (net->rank == 0) printf("ready %.17g\n", sum[n - 1]), fflush(stdout);
  for (;;) {
    char line[64];
    int turns = 0;
    if (net->rank == 0) turns = fgets(line, sizeof line, stdin) ? atoi(line) : 0;
    if (lgt_broadcast(net->transport, 2, 0, &turns, sizeof turns)) die();
    if (!turns) break;
    if (lgt_barrier(net->transport, 3)) die();
    double begin = seconds();
    for (int i = 0; i < turns * TURN; i++) reduce(net, mine, sum, n);
    if (net->rank == 0) printf("%.9f\n", seconds() - begin), fflush(stdout);
  }
  free(mine);
  free(sum);
}

int main(int argc, char **argv) {
  lgt_spawn_options spawn = {.ranks = argc > 1 ? atoi(argv[1]) : 2};
  lgt_net_options options = {.control.version = lgt_version()};
  lgt_wireup wireup;
  lgt_net *net;
  bool launcher;
  int status;
  if (lgt_spawn(&spawn, &wireup, &launcher, &status)) die();
  if (launcher) return status;
  if (lgt_net_open(&options, &wireup, &net)) die();
  bind(net->rank, net->size);
  serve_all(net, argc > 2 ? atoi(argv[2]) : 1);
  if (lgt_net_leave(net, 0)) die();
  lgt_net_free(net);
  return 0;
}
