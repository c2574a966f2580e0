/* mpi.c - Task Bench with MPI: each rank has a block of points, and numbers go from point to point.
 *
 *   mpirun -n RANKS mpi PATTERN STEPS WIDTH [compute | memory]
 */
#include "../rivals/rival_mpi.h"
#include "graph.h"

static int rank, ranks;

static int owner(const graph *g, int point) { return (int)((int64_t)point * ranks / g->width); }

/* What a row needs from other ranks is on its way before the row begins, and is there before the first task that needs it: rows
 * are short.  A number goes to a rank once, however many of its points need it. */
typedef struct traffic {
  int nreceive, nsend;
  int *receive, *send, *to; /* points of the row before; of `send`, the ranks */
} traffic;

/* Of each row. */
static traffic *traffic_new(const graph *g) {
  traffic *all = calloc((size_t)g->steps, sizeof *all);
  char *seen = calloc((size_t)g->steps * g->width * ranks, 1);
  for (int step = 0; step < g->steps; step++) {
    size_t most = (size_t)g->width * ranks;
    all[step].receive = calloc(most, sizeof(int)), all[step].send = calloc(most, sizeof(int));
    all[step].to = calloc(most, sizeof(int));
  }
  for (int i = 0; i < g->ntasks; i++) {
    const task *t = &g->tasks[i];
    traffic *row = &all[t->step];
    int who = owner(g, t->point);
    for (int k = 0; k < t->ndeps; k++) {
      int whose = owner(g, t->deps[k]);
      char *known = &seen[((size_t)t->step * g->width + t->deps[k]) * ranks + who];
      if (who == whose || *known) continue;
      *known = 1;
      if (who == rank) row->receive[row->nreceive++] = t->deps[k];
      if (whose == rank) row->send[row->nsend] = t->deps[k], row->to[row->nsend++] = who;
    }
  }
  free(seen);
  return all;
}

static traffic *rows;
static MPI_Request *requests;

static void exchange(graph *g, int step) {
  const traffic *row = &rows[step];
  int n = 0;
  for (int k = 0; k < row->nreceive; k++)
    MPI_Irecv(result_of(g, step - 1, row->receive[k]), 1, MPI_DOUBLE, owner(g, row->receive[k]),
              row->receive[k], MPI_COMM_WORLD, &requests[n++]);
  for (int k = 0; k < row->nsend; k++)
    MPI_Isend(result_of(g, step - 1, row->send[k]), 1, MPI_DOUBLE, row->to[k], row->send[k], MPI_COMM_WORLD,
              &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void work(graph *g, int64_t n) {
  int i = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < g->steps; step++) {
    exchange(g, step);
    for (; i < g->ntasks && g->tasks[i].step == step; i++)
      if (owner(g, g->tasks[i].point) == rank) run_task(g, &g->tasks[i], n);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 has all results afterwards: what several ranks have of a number is the same, and others have 0. */
static void collect(graph *g) {
  int n = g->steps * g->width;
  if (rank == 0) MPI_Reduce(MPI_IN_PLACE, g->result, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  else MPI_Reduce(g->result, NULL, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  graph *g = graph_new(argc, argv);
  rows = traffic_new(g);
  requests = calloc((size_t)g->width * ranks * 2, sizeof *requests);
  work(g, CHECKED);
  collect(g);
  if (rank == 0) ready(g);
  for (int n = 0;;) {
    char line[64];
    if (rank == 0) n = fgets(line, sizeof line, stdin) ? atoi(line) : 0;
    share(&n);
    if (!n) break;
    for (int i = turns_before(n); i > 0; i--) work(g, n);
    double begin = seconds();
    work(g, n);
    if (rank == 0) printf("%.9f\n", seconds() - begin), fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
