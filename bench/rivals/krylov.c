/* krylov.c - Krylov methods on the 5-point Laplacian of an N x N grid, with PETSc.
 *
 *   mpirun -n RANKS krylov METHOD N ITERATIONS        METHOD is cg, bcgs, gmres, or mult: products with a vector
 *
 * A turn is that many iterations, without a preconditioner, from zeros.
 */
#include <petscksp.h>

#include "rival_mpi.h"

static Mat A;
static Vec x, b;
static KSP ksp;
static int iterations;

static void solve(void) {
  VecSet(x, 0);
  KSPSolve(ksp, b, x);
}

static void multiply(void) {
  for (int i = 0; i < iterations; i++) MatMult(A, b, x);
}

static void assemble(PetscInt n) {
  PetscInt first, past;
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 2, NULL, &A);
  MatGetOwnershipRange(A, &first, &past);
  for (PetscInt i = first; i < past; i++) {
    PetscInt row = i / n, column = i % n, at[5], count = 0;
    PetscScalar values[5];
    if (row > 0) at[count] = i - n, values[count++] = -1;
    if (column > 0) at[count] = i - 1, values[count++] = -1;
    at[count] = i, values[count++] = 4;
    if (column < n - 1) at[count] = i + 1, values[count++] = -1;
    if (row < n - 1) at[count] = i + n, values[count++] = -1;
    MatSetValues(A, 1, &i, count, at, values, INSERT_VALUES);
  }
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  MatCreateVecs(A, &x, &b);
  for (PetscInt i = first; i < past; i++) {
    double f = i * 0.6180339887498949;
    VecSetValue(b, i, f - floor(f), INSERT_VALUES);
  }
  VecAssemblyBegin(b);
  VecAssemblyEnd(b);
}

int main(int argc, char **argv) {
  int rank, mult;
  PC pc;
  PetscReal norm;
  if (argc < 4) return 2;
  mult = !strcmp(argv[1], "mult");
  iterations = atoi(argv[3]);
  PetscInitialize(NULL, NULL, NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assemble(atoi(argv[2]));
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOperators(ksp, A, A);
  if (!mult) KSPSetType(ksp, argv[1]);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCNONE);
  KSPSetTolerances(ksp, 1e-300, 1e-300, PETSC_DEFAULT, iterations);
  if (mult) multiply();
  else solve();
  VecNorm(x, NORM_2, &norm);
  if (rank == 0) printf("ready %.17g\n", norm), fflush(stdout);
  serve_ranks(mult ? multiply : solve);
  PetscFinalize();
  return 0;
}
