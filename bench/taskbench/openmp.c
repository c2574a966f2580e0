/* openmp.c - Task Bench with OpenMP: each point is a task whose depend clauses name its dependences.
 *
 *   openmp PATTERN STEPS WIDTH [compute | memory]
 */
#include "graph.h"

static void work(graph *g, int64_t n) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < g->ntasks; i++) {
    const task *t = &g->tasks[i];
    double *before = t->step ? result_of(g, t->step - 1, 0) : NULL, *mine = result_of(g, t->step, t->point);
    (void)mine, (void)before;
#pragma omp task depend(iterator(k = 0 : t->ndeps), in : before[t->deps[k]]) depend(out : *mine)
    run_task(g, t, n);
  }
}

int main(int argc, char **argv) {
  serve_graph(graph_new(argc, argv), work);
  return 0;
}
