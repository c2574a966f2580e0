/* plain.c - what the cores can do at the most: Task Bench's tasks in plain loops, a share of the points for each thread, which
 * do not wait for each other.
 *
 *   plain PATTERN STEPS WIDTH [compute | memory]
 *
 * The results are not those of the graph: a dependence has any value.
 */
#include "graph.h"

#include <omp.h>

static void work(graph *g, int64_t n) {
#pragma omp parallel
  for (int i = 0; i < g->ntasks; i++)
    if (g->tasks[i].point * omp_get_num_threads() / g->width == omp_get_thread_num())
      run_task(g, &g->tasks[i], n);
}

int main(int argc, char **argv) {
  serve_graph(graph_new(argc, argv), work);
  return 0;
}
