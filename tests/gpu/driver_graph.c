/* driver_graph.c - of the emulated driver: graphs.  See driver.h.
 *
 * A launch puts each node into a stream of the driver's own: behind what the graph was launched behind, behind the nodes that it
 * depends on, and behind nothing else.  A chain of nodes goes through one stream, so that nodes without an edge are in
 * different ones as long as there are enough; the stream of the launch waits for all of them.  So the order of nodes is
 * checked like that of streams.
 *
 * The parameters of a node are copied when it is added, those of an executable graph are its own.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

typedef enum node_kind { KERNEL_NODE, COPY_NODE, FILL_NODE, HOST_NODE, EMPTY_NODE } node_kind;

typedef struct work {
  node_kind kind;
  fake_launch launch;
  CUDA_MEMCPY3D copy;
  CUDA_MEMSET_NODE_PARAMS fill;
  CUDA_HOST_NODE_PARAMS host;
} work;

struct CUgraphNode_st {
  fake_handle handle;
  CUgraph graph;
  work work;
  int number;         /* in its graph */
  CUgraphNode *after; /* owned array */
  int afters;
};

struct CUgraph_st {
  fake_handle handle;
  CUgraphNode *node; /* owned array */
  int nodes;
};

typedef struct exec_node {
  CUgraphNode origin; /* its handle alone is looked at */
  work work;
  int *after; /* owned: places in the order */
  int afters;
} exec_node;

struct CUgraphExec_st {
  fake_handle handle;
  exec_node *node; /* owned, each behind what it depends on */
  int nodes;
  fake_mark *last; /* of the launch before, or NULL */
};

/* ---- what nodes do ---------------------------------------------------------------------------------- */

static CUresult copy_work(const work *from, work *to) {
  *to = *from;
  return from->kind == KERNEL_NODE ? fake_launch_copy(&from->launch, from->launch.params, &to->launch)
                                   : CUDA_SUCCESS;
}

static void fini_work(work *w) {
  if (w->kind == KERNEL_NODE) fake_launch_fini(&w->launch);
}

static CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS_v1 *p, work *out) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (p->extra) return CUDA_ERROR_NOT_SUPPORTED;
  work w = {.kind = KERNEL_NODE,
            .launch = {.function = p->func,
                       .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                       .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                       .shared = p->sharedMemBytes,
                       .params = p->kernelParams}};
  return copy_work(&w, out);
}

static CUresult put_rows(const CUDA_MEMSET_NODE_PARAMS *p, CUstream stream) {
  CUresult bad = CUDA_SUCCESS;
  for (size_t row = 0; row < p->height && !bad; row++)
    bad = fake_put_fill(p->dst + row * p->pitch, p->value, p->elementSize, p->width, stream);
  return bad;
}

static CUresult put_work(const work *w, CUstream stream) {
  switch (w->kind) {
    case KERNEL_NODE:
      return fake_put_launch(&w->launch, stream, w->launch.params);
    case COPY_NODE:
      return fake_put_copy3(&w->copy, stream);
    case FILL_NODE:
      return put_rows(&w->fill, stream);
    case HOST_NODE:
      return fake_put_host(w->host.fn, w->host.userData, stream);
    default:
      return CUDA_SUCCESS;
  }
}

/* ---- graphs ----------------------------------------------------------------------------------------- */

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  ENTER(CURRENT);
  LEAVE_IF(!graph || flags, CUDA_ERROR_INVALID_VALUE);
  *graph = fake_handle_new(GRAPH, sizeof **graph, fake_self.current);
  LEAVE(CUDA_SUCCESS);
}

static CUresult check_nodes(CUgraph graph, const CUgraphNode *node, size_t count) {
  if (count && !node) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    CUresult bad = fake_handle_check(NODE, node[i]);
    if (bad) return bad;
    if (node[i]->graph != graph) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

static void depend(CUgraphNode node, CUgraphNode on) {
  node->after = realloc(node->after, (size_t)(node->afters + 1) * sizeof(CUgraphNode));
  node->after[node->afters++] = on;
}

/* The caller has entered; what the work owns is the node's, or is released. */
static CUresult add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count, work *w) {
  CUresult bad = fake_handle_check(GRAPH, graph);
  if (!bad) bad = out ? check_nodes(graph, after, count) : CUDA_ERROR_INVALID_VALUE;
  if (bad) {
    fini_work(w);
    return bad;
  }
  CUgraphNode node = fake_handle_new(NODE, sizeof *node, graph->handle.context);
  node->graph = graph;
  node->work = *w;
  node->number = graph->nodes;
  for (size_t i = 0; i < count; i++) depend(node, after[i]);
  graph->node = realloc(graph->node, (size_t)(graph->nodes + 1) * sizeof(CUgraphNode));
  graph->node[graph->nodes++] = node;
  *out = node;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
  ENTER(CURRENT);
  work w;
  CUresult bad = kernel_work(params, &w);
  LEAVE_IF(bad, bad);
  LEAVE(add_node(node, graph, after, count, &w));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMCPY3D *copy, CUcontext context) {
  ENTER(CURRENT);
  LEAVE_IF(!copy, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(fake_handle_check(CONTEXT, context), CUDA_ERROR_INVALID_CONTEXT);
  LEAVE(add_node(node, graph, after, count, &(work){.kind = COPY_NODE, .copy = *copy}));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
  ENTER(CURRENT);
  LEAVE_IF(!params, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(fake_handle_check(CONTEXT, context), CUDA_ERROR_INVALID_CONTEXT);
  size_t size = params->elementSize;
  bool fits = (size == 1 || size == 2 || size == 4) && params->width && params->height;
  if (params->height > 1 && params->pitch < params->width * size) fits = false;
  LEAVE_IF(!fits || params->dst % size || params->pitch % size, CUDA_ERROR_INVALID_VALUE);
  LEAVE(add_node(node, graph, after, count, &(work){.kind = FILL_NODE, .fill = *params}));
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params) {
  ENTER(CURRENT);
  LEAVE_IF(!params || !params->fn, CUDA_ERROR_INVALID_VALUE);
  LEAVE(add_node(node, graph, after, count, &(work){.kind = HOST_NODE, .host = *params}));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count) {
  ENTER(CURRENT);
  LEAVE(add_node(node, graph, after, count, &(work){.kind = EMPTY_NODE}));
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(GRAPH, graph);
  if (!bad) bad = check_nodes(graph, from, count);
  if (!bad) bad = check_nodes(graph, to, count);
  LEAVE_IF(bad, bad);
  for (size_t i = 0; i < count; i++) depend(to[i], from[i]);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph graph) {
  ENTER(CURRENT | RELEASES);
  CUresult bad = fake_handle_check(GRAPH, graph);
  LEAVE_IF(bad, bad);
  for (int n = 0; n < graph->nodes; n++) {
    fini_work(&graph->node[n]->work);
    free(graph->node[n]->after);
    fake_handle_end(graph->node[n]);
  }
  free(graph->node);
  fake_handle_end(graph);
  LEAVE(CUDA_SUCCESS);
}

/* ---- executable graphs ------------------------------------------------------------------------------ */

static void free_exec(CUgraphExec exec) {
  for (int n = 0; n < exec->nodes; n++) {
    fini_work(&exec->node[n].work);
    free(exec->node[n].after);
  }
  free(exec->node);
  fake_mark_release(exec->last);
  fake_handle_end(exec);
}

/* Where a node is in the order; -1: not yet. */
static int place_of(const CUgraphExec exec, CUgraphNode node) {
  for (int n = 0; n < exec->nodes; n++)
    if (exec->node[n].origin == node) return n;
  return -1;
}

/* Takes the node, if all that it depends on was taken. */
static CUresult take(CUgraphExec exec, CUgraphNode node) {
  for (int a = 0; a < node->afters; a++)
    if (place_of(exec, node->after[a]) < 0) return CUDA_SUCCESS;
  exec_node *to = &exec->node[exec->nodes];
  CUresult bad = copy_work(&node->work, &to->work);
  if (bad) return bad;
  to->origin = node;
  to->afters = node->afters;
  to->after = malloc(((size_t)node->afters + 1) * sizeof(int));
  for (int a = 0; a < node->afters; a++) to->after[a] = place_of(exec, node->after[a]);
  exec->nodes++;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(GRAPH, graph);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!out || flags, CUDA_ERROR_INVALID_VALUE);
  CUgraphExec exec = fake_handle_new(GRAPH_EXEC, sizeof *exec, fake_self.current);
  exec->node = calloc((size_t)graph->nodes + 1, sizeof *exec->node);
  for (int before = -1; before < exec->nodes && !bad;) {
    before = exec->nodes;
    for (int n = 0; n < graph->nodes && !bad; n++)
      if (place_of(exec, graph->node[n]) < 0) bad = take(exec, graph->node[n]);
  }
  if (!bad && exec->nodes < graph->nodes) bad = CUDA_ERROR_INVALID_VALUE; /* a circle */
  if (bad) free_exec(exec);
  else *out = exec;
  LEAVE(bad);
}

/* The node of an executable graph that was made of this one. */
static CUresult find_node(CUgraphExec exec, CUgraphNode node, node_kind kind, exec_node **out) {
  CUresult bad = fake_handle_check(GRAPH_EXEC, exec);
  if (!bad) bad = fake_handle_check(NODE, node);
  if (bad) return bad;
  int place = place_of(exec, node);
  if (place < 0 || exec->node[place].work.kind != kind) return CUDA_ERROR_INVALID_VALUE;
  *out = &exec->node[place];
  return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
  ENTER(CURRENT);
  exec_node *found;
  work w;
  CUresult bad = find_node(exec, node, KERNEL_NODE, &found);
  if (!bad) bad = kernel_work(params, &w);
  LEAVE_IF(bad, bad);
  fini_work(&found->work);
  found->work = w;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                                        CUcontext context) {
  ENTER(CURRENT);
  exec_node *found;
  CUresult bad = find_node(exec, node, COPY_NODE, &found);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!copy, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(fake_handle_check(CONTEXT, context), CUDA_ERROR_INVALID_CONTEXT);
  found->work.copy = *copy;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ENTER(CURRENT | RELEASES);
  CUresult bad = fake_handle_check(GRAPH_EXEC, exec);
  LEAVE_IF(bad, bad);
  free_exec(exec);
  LEAVE(CUDA_SUCCESS);
}

/* ---- launches --------------------------------------------------------------------------------------- */

/* A stream for a node: that of a node it depends on, if that is the last there; else an idle one, else any. */
static CUstream choose(const exec_node *node, CUcontext context, const CUstream *of, int place) {
  for (int a = 0; a < node->afters; a++) {
    int later = node->after[a] + 1;
    while (later < place && of[later] != of[node->after[a]]) later++;
    if (later == place) return of[node->after[a]];
  }
  for (int i = 0; i < MOST_INNER; i++) { /* in turn, so that two launches have different ones, too */
    CUstream *stream = &context->inner[context->next_inner++ % MOST_INNER];
    if (!*stream) *stream = fake_stream_new(context, CU_STREAM_NON_BLOCKING);
    if (!*stream) break;
    (*stream)->inner = true;
    bool taken = (*stream)->done < (*stream)->put;
    for (int n = 0; n < place && !taken; n++) taken = of[n] == *stream;
    if (taken) continue;
    fake_clock fresh = {0}; /* what was there before does not order this */
    fresh.at[(*stream)->slot] = fake.slot[(*stream)->slot].at;
    (*stream)->clock = fresh;
    return *stream;
  }
  return context->inner[place % MOST_INNER];
}

static CUresult put_nodes(CUgraphExec exec, CUstream stream, CUstream *of, fake_mark **mark) {
  CUresult bad = CUDA_SUCCESS;
  fake_put(stream, &(fake_op){.always = true});
  fake_mark *begin = fake_push_record(stream);
  for (int n = 0; n < exec->nodes && !bad; n++) {
    const exec_node *node = &exec->node[n];
    CUstream inner = choose(node, fake_self.current, of, n);
    if (!inner) return CUDA_ERROR_OUT_OF_MEMORY;
    of[n] = inner;
    fake_push_wait(inner, begin);
    if (exec->last) fake_push_wait(inner, exec->last);
    for (int a = 0; a < node->afters; a++) fake_push_wait(inner, mark[node->after[a]]);
    bad = put_work(&node->work, inner);
    mark[n] = fake_push_record(inner);
  }
  for (int n = 0; n < exec->nodes; n++)
    if (mark[n]) fake_push_wait(stream, mark[n]);
  fake_mark_release(begin);
  fake_mark_release(exec->last);
  exec->last = fake_push_record(stream);
  return bad;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  ENTER(CURRENT);
  CUstream stream;
  CUresult bad = fake_handle_check(GRAPH_EXEC, exec);
  if (!bad) bad = fake_stream_of(handle, &stream);
  LEAVE_IF(bad, bad);
  CUstream *of = calloc((size_t)exec->nodes + 1, sizeof(CUstream));
  fake_mark **mark = calloc((size_t)exec->nodes + 1, sizeof *mark);
  bad = put_nodes(exec, stream, of, mark);
  for (int n = 0; n < exec->nodes; n++) fake_mark_release(mark[n]);
  free(mark);
  free(of);
  LEAVE(bad);
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle) {
  ENTER(CURRENT);
  CUstream stream;
  CUresult bad = fake_handle_check(GRAPH_EXEC, exec);
  if (!bad) bad = fake_stream_of(handle, &stream);
  LEAVE_IF(bad, bad);
  fake_put(stream, &(fake_op){.always = true});
  LEAVE(CUDA_SUCCESS);
}
