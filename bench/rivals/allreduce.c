/* allreduce.c - the sum of one double, or of several, over all ranks, with MPI.
 *
 *   mpirun -n N allreduce ELEMENTS
 *
 * A turn is TURN allreduces.
 */
#include "rival_mpi.h"

enum { TURN = 100 };

static int n;
static double *mine, *sum;

static void work(void) {
  for (int i = 0; i < TURN; i++) MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int rank;
  n = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  mine = calloc(n, sizeof *mine), sum = calloc(n, sizeof *sum);
  for (int i = 0; i < n; i++) mine[i] = rank + 1;
  MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("ready %.17g\n", sum[n - 1]), fflush(stdout);
  serve_ranks(work);
  MPI_Finalize();
  return 0;
}
