/* allreduce.c - the sum of one double, or of several, over all ranks, with MPI.
 *
 *   mpirun -n N allreduce ELEMENTS
 *
 * A turn is TURN allreduces.  Rank 0 speaks the protocol of rival.h for all.
 */
#include <mpi.h>
#include <unistd.h>

#include "rival.h"

enum { TURN = 100 };

/* A broadcast during which nobody spins: other contestants have their turn meanwhile. */
static void share(int *turns) {
  MPI_Request request;
  int done = 0;
  MPI_Ibcast(turns, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) usleep(200);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int rank, size, turns, n = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *mine = calloc(n, sizeof *mine), *sum = calloc(n, sizeof *sum);
  for (int i = 0; i < n; i++) mine[i] = rank + 1;
  MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("ready %.17g\n", sum[n - 1]), fflush(stdout);
  for (;;) {
    char line[64];
    if (rank == 0) turns = fgets(line, sizeof line, stdin) ? atoi(line) : 0;
    share(&turns);
    if (!turns) break;
    double begin = seconds();
    for (int i = 0; i < turns * TURN; i++) MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%.9f\n", seconds() - begin), fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
