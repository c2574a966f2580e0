/* plain.c - what the cores can do at the most: Task Bench's tasks in plain loops, a share of the points for each thread, which
 * do not wait for each other.
 *
 *   plain PATTERN STEPS WIDTH [compute | memory]
 *
 * The results are not those of the graph: a dependence has any value.
 */
#include "graph.h"

static void work(graph *g, int64_t n) {
#pragma omp parallel for schedule(static)
  for (int point = 0; point < g->width; point++)
    for (int i = 0; i < g->ntasks; i++)
      if (g->tasks[i].point == point) run_task(g, &g->tasks[i], n);
}

int main(int argc, char **argv) {
  serve_graph(graph_new(argc, argv), work);
  return 0;
}
