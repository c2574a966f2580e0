/* rival_mpi.h - the protocol of rival.h for a contestant of several MPI ranks: rank 0 speaks for all. */
#ifndef RIVAL_MPI_H
#define RIVAL_MPI_H

#include <mpi.h>
#include <unistd.h>

#include "rival.h"

/* A broadcast during which nobody spins, or looks often: other contestants have their turn meanwhile. */
static inline void share(int *turns) {
  MPI_Request request;
  int done = 0;
  MPI_Ibcast(turns, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) usleep(5000);
  MPI_Barrier(MPI_COMM_WORLD);
}

static inline void serve_ranks(void (*work)(void)) {
  int rank, turns = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (;;) {
    char line[64];
    if (rank == 0) turns = fgets(line, sizeof line, stdin) ? atoi(line) : 0;
    share(&turns);
    if (!turns) return;
    double begin = seconds();
    for (int i = 0; i < turns; i++) work();
    if (rank == 0) printf("%.9f\n", seconds() - begin), fflush(stdout);
  }
}

#endif
