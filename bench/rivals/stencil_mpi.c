/* stencil_mpi.c - the 5-point stencil over rows that are divided among MPI ranks.
 *
 *   mpirun -n N stencil_mpi ROWS COLUMNS ITERATIONS
 *
 * ROWS x COLUMNS points in all, with a border of fixed values around them; a turn is ITERATIONS sweeps.  Each rank
 * has its rows and one of each neighbour; rows at the ends travel while those between are computed.
 */
#include <string.h>

#include "rival_mpi.h"

static int rows, columns, iterations, up, down;
static double *now, *next;

static double *row(double *grid, int i) { return grid + (size_t)i * (columns + 2); }

static void sweep(int from, int to) {
  for (int i = from; i < to; i++) {
    const double *restrict n = row(now, i - 1), *restrict c = row(now, i), *restrict s = row(now, i + 1);
    double *restrict out = row(next, i);
    for (int j = 1; j <= columns; j++) out[j] = 0.2 * (c[j] + n[j] + c[j + 1] + c[j - 1] + s[j]);
  }
}

static void work(void) {
  for (int k = 0; k < iterations; k++) {
    MPI_Request request[4];
    MPI_Irecv(row(now, 0) + 1, columns, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(row(now, rows + 1) + 1, columns, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(row(now, 1) + 1, columns, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(row(now, rows) + 1, columns, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &request[3]);
    sweep(2, rows);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    sweep(1, 2);
    sweep(rows, rows + 1);
    double *swap = now;
    now = next;
    next = swap;
  }
}

int main(int argc, char **argv) {
  int rank, size, all = atoi(argv[1]);
  columns = atoi(argv[2]), iterations = atoi(argv[3]);
  (void)argc;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rows = (int)((long)all * (rank + 1) / size - (long)all * rank / size);
  up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  size_t bytes = (size_t)(rows + 2) * (columns + 2) * sizeof(double);
  now = aligned_alloc(64, (bytes + 63) / 64 * 64), next = aligned_alloc(64, (bytes + 63) / 64 * 64);
  memset(now, 0, bytes);
  for (int j = 0; j < columns + 2 && rank == 0; j++) now[j] = 40;
  memcpy(next, now, bytes);
  work();
  double mine = 0, mean;
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j <= columns; j++) mine += row(now, i)[j];
  MPI_Allreduce(&mine, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("ready %.17g\n", mean / all / columns), fflush(stdout);
  serve_ranks(work);
  MPI_Finalize();
  return 0;
}
