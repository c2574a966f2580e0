/* trie.c - see trie.h. */
#include "trace/trie.h"

#include <string.h>

#include "base/hash.h"

enum { CAP = 64 * LGT_TRACE_ONCE, HALF_LIFE = 2048, RECORDED_BONUS = 8 };

/* ---- traces ----------------------------------------------------------------------------------------------- */

static int64_t count_at(const lgt_trace *trace, int64_t position) {
  int64_t halves = (position - trace->seen) / HALF_LIFE;
  int64_t count = trace->count < CAP ? trace->count : CAP;
  return halves < 0 ? count : halves > 62 ? 0 : count >> halves;
}

int64_t lgt_trace_score(const lgt_trace *trace, int64_t position) {
  int64_t score = trace->length * count_at(trace, position);
  return trace->recorded ? score + score / RECORDED_BONUS : score;
}

void lgt_trace_seen(lgt_trace *trace, int64_t end) {
  trace->count = count_at(trace, end) + LGT_TRACE_ONCE;
  trace->seen = end;
  trace->recorded = true;
}

void lgt_trace_drop(lgt_trace *trace, int recording) {
  lgt_plan_release(trace->recording[recording].plan);
  memmove(&trace->recording[recording], &trace->recording[recording + 1],
          (size_t)(--trace->nrecording - recording) * sizeof *trace->recording);
}

void lgt_trace_keep(lgt_trace *trace, lgt_plan *plan, uint64_t pattern) {
  if (trace->nrecording == LGT_RECORDINGS) lgt_trace_drop(trace, LGT_RECORDINGS - 1);
  memmove(&trace->recording[1], &trace->recording[0], (size_t)trace->nrecording * sizeof *trace->recording);
  trace->recording[0] = (lgt_recording){lgt_plan_retain(plan), pattern};
  trace->nrecording++;
}

lgt_trace *lgt_trace_new(uint32_t id, const uint64_t *token, int length, bool look) {
  lgt_trace *trace = lgt_mem_zalloc(sizeof *trace);
  uint64_t *copy = lgt_mem_alloc((size_t)length * sizeof *copy);
  if (!trace || !copy) {
    lgt_mem_free(trace);
    lgt_mem_free(copy);
    return NULL;
  }
  memcpy(copy, token, (size_t)length * sizeof *copy);
  *trace = (lgt_trace){.id = id, .token = copy, .length = length, .look = look};
  return trace;
}

void lgt_trace_free(lgt_trace *trace) {
  while (trace->nrecording) lgt_trace_drop(trace, trace->nrecording - 1);
  lgt_mem_free(trace->token);
  lgt_mem_free(trace);
}

/* ---- the set of traces ------------------------------------------------------------------------------------ */

void lgt_trie_init(lgt_trie *trie, int64_t most) { *trie = (lgt_trie){.most = most, .mask = -1}; }

void lgt_trie_fini(lgt_trie *trie) {
  for (int i = 0; i < trie->count; i++) lgt_trace_free(trie->trace[i]);
  lgt_mem_free(trie->trace);
  lgt_mem_free(trie->node);
  lgt_mem_free(trie->edge);
  *trie = (lgt_trie){.mask = -1};
}

static void remove_trace(lgt_trie *trie, int i) {
  trie->straight = NULL;
  trie->tokens -= trie->trace[i]->length;
  lgt_trace_free(trie->trace[i]);
  memmove(&trie->trace[i], &trie->trace[i + 1], (size_t)(--trie->count - i) * sizeof *trie->trace);
}

int lgt_trie_forget(lgt_trie *trie, bool (*which)(const lgt_trace *trace, void *context), void *context) {
  int before = trie->count;
  for (int i = trie->count - 1; i >= 0; i--)
    if (which(trie->trace[i], context)) remove_trace(trie, i);
  return before - trie->count;
}

static int least_of(const lgt_trie *trie) {
  int least = 0;
  for (int i = 1; i < trie->count; i++)
    if (lgt_trace_score(trie->trace[i], trie->position) < lgt_trace_score(trie->trace[least], trie->position))
      least = i;
  return least;
}

static bool known(const lgt_trie *trie, const uint64_t *token, int length, bool look) {
  for (int i = 0; i < trie->count; i++) {
    const lgt_trace *t = trie->trace[i];
    if (t->length == length && t->look == look && !memcmp(t->token, token, (size_t)length * sizeof *token))
      return true;
  }
  return false;
}

const lgt_trace *lgt_trie_find(const lgt_trie *trie, uint32_t id) {
  for (int i = 0; i < trie->count; i++)
    if (trie->trace[i]->id == id) return trie->trace[i];
  return NULL;
}

lgt_status lgt_trie_add(lgt_trie *trie, const uint64_t *token, int length, bool look, int count, bool *made,
                        int *evicted) {
  *made = false;
  *evicted = 0;
  if (length < 1 || length > trie->most || known(trie, token, length, look)) return LGT_OK;
  lgt_trace *trace = lgt_trace_new(trie->last_id + 1, token, length, look);
  if (!trace || !lgt_mem_grow((void **)&trie->trace, &trie->room, trie->count + 1, sizeof *trie->trace)) {
    if (trace) lgt_trace_free(trace);
    return lgt_err(LGT_NO_MEMORY, "out of memory for a trace");
  }
  for (; trie->tokens + length > trie->most; ++*evicted) remove_trace(trie, least_of(trie));
  trie->last_id++;
  trace->count = (int64_t)count * LGT_TRACE_ONCE;
  trace->seen = trie->position;
  trie->trace[trie->count++] = trace;
  trie->tokens += length;
  *made = true;
  return LGT_OK;
}

/* ---- the trie --------------------------------------------------------------------------------------------- */

static uint32_t edge_of(const lgt_trie *trie, int parent, uint64_t token) {
  return (uint32_t)(lgt_hash_mix(token, (uint64_t)parent) & (uint64_t)trie->mask);
}

/* -1: there is none. */
static int child_of(const lgt_trie *trie, int parent, uint64_t token) {
  int first = trie->node[parent].child;
  if (first <= 0 || trie->node[first].token == token) return first ? first : -1;
  for (uint32_t at = edge_of(trie, parent, token); trie->edge[at] >= 0;
       at = (at + 1) & (uint32_t)trie->mask) {
    const lgt_trie_node *n = &trie->node[trie->edge[at]];
    if (n->parent == parent && n->token == token) return trie->edge[at];
  }
  return -1;
}

static int add_node(lgt_trie *trie, int parent, uint64_t token) {
  int n = trie->nnode++;
  trie->node[n] = (lgt_trie_node){.token = token,
                                  .parent = parent,
                                  .depth = trie->node[parent].depth + 1,
                                  .end = {-1, -1},
                                  .through = -1};
  if (!trie->node[parent].child) trie->node[parent].child = n;
  uint32_t at = edge_of(trie, parent, token);
  while (trie->edge[at] >= 0) at = (at + 1) & (uint32_t)trie->mask;
  trie->edge[at] = n;
  return n;
}

static void add_string(lgt_trie *trie, int number) {
  const lgt_trace *trace = trie->trace[number];
  int at = 0;
  for (int i = 0; i < trace->length; i++) {
    lgt_trie_node *n = &trie->node[at];
    if (n->through < 0 || trie->trace[n->through]->length < trace->length) n->through = number;
    int next = child_of(trie, at, trace->token[i]);
    at = next >= 0 ? next : add_node(trie, at, trace->token[i]);
  }
  trie->node[at].end[trace->look] = number;
}

static int follow(const lgt_trie *trie, int state, uint64_t token) {
  int next;
  while ((next = child_of(trie, state, token)) < 0 && state) state = trie->node[state].fail;
  return next < 0 ? 0 : next;
}

static void link_node(lgt_trie *trie, int n) {
  lgt_trie_node *node = &trie->node[n];
  node->fail = node->parent ? follow(trie, trie->node[node->parent].fail, node->token) : 0;
  node->output = node->end[false] >= 0 ? n : trie->node[node->fail].output;
}

/* A node's fail is less deep than the node: by depth, least first.  `next`: lists of nodes of equal depth. */
static bool link_nodes(lgt_trie *trie, int deepest) {
  int *first = lgt_mem_alloc(((size_t)deepest + 1 + (size_t)trie->nnode) * sizeof *first);
  if (!first) return false;
  int *next = first + deepest + 1;
  for (int d = 0; d <= deepest; d++) first[d] = -1;
  for (int n = trie->nnode - 1; n > 0; n--) {
    next[n] = first[trie->node[n].depth];
    first[trie->node[n].depth] = n;
  }
  for (int d = 1; d <= deepest; d++)
    for (int n = first[d]; n >= 0; n = next[n]) link_node(trie, n);
  lgt_mem_free(first);
  return true;
}

static bool make_room(lgt_trie *trie) {
  int64_t edges = 16;
  while (edges < 2 * (trie->tokens + 1)) edges *= 2;
  if (!lgt_mem_grow((void **)&trie->node, &trie->node_room, (int)trie->tokens + 1, sizeof *trie->node))
    return false;
  int *edge = lgt_mem_realloc(trie->edge, (size_t)edges * sizeof *edge);
  if (!edge) return false;
  memset(edge, 0xff, (size_t)edges * sizeof *edge);
  trie->edge = edge;
  trie->mask = (int)(edges - 1);
  return true;
}

lgt_status lgt_trie_build(lgt_trie *trie, int64_t position) {
  int deepest = 0;
  trie->nnode = 0;
  trie->straight = NULL;
  lgt_trie_restart(trie, position);
  trie->mask = -1;
  if (!trie->count) return LGT_OK;
  if (!make_room(trie)) return lgt_err(LGT_NO_MEMORY, "out of memory for traces");
  trie->node[trie->nnode++] = (lgt_trie_node){.end = {-1, -1}, .through = -1};
  for (int i = 0; i < trie->count; i++) {
    add_string(trie, i);
    if (trie->trace[i]->length > deepest) deepest = trie->trace[i]->length;
  }
  if (link_nodes(trie, deepest)) return LGT_OK;
  trie->mask = -1;
  trie->nnode = 0;
  return lgt_err(LGT_NO_MEMORY, "out of memory for traces");
}

/* ---- following the stream --------------------------------------------------------------------------------- */

void lgt_trie_restart(lgt_trie *trie, int64_t position) {
  trie->state = 0;
  trie->position = trie->begun = position;
  trie->held = (lgt_match){0};
  trie->holds = 0;
}

static void hold(lgt_trie *trie, lgt_trace *trace) {
  lgt_match *held = &trie->held, match = {trie->position - trace->length, trie->position, trace};
  trie->holds++;
  if (held->trace) {
    if (match.start >= held->end) return; /* the one that is held comes first */
    int64_t mine = lgt_trace_score(trace, trie->position),
            other = lgt_trace_score(held->trace, trie->position);
    bool covers = match.start <= held->start && trace->look;
    if (!covers && (mine < other || (mine == other && match.start > held->start))) return;
  }
  *held = match;
}

bool lgt_trie_feed(lgt_trie *trie, uint64_t token, int least) {
  trie->position++;
  if (trie->mask < 0) return true;
  const lgt_trie_node *before = &trie->node[trie->state];
  trie->state = follow(trie, trie->state, token);
  const lgt_trie_node *now = &trie->node[trie->state];
  for (int n = now->output; n; n = trie->node[trie->node[n].fail].output)
    hold(trie, trie->trace[trie->node[n].end[false]]);
  return now->depth > before->depth || before->depth < least || before->end[0] >= 0 || before->end[1] >= 0;
}

bool lgt_trie_settled(const lgt_trie *trie) {
  const lgt_match *held = &trie->held;
  if (!held->trace) return false;
  for (int n = trie->state; n; n = trie->node[n].fail) {
    const lgt_trie_node *node = &trie->node[n];
    if (trie->position - node->depth > held->start) break;
    if (node->through >= 0 && trie->trace[node->through]->length > held->trace->length) return false;
  }
  return true;
}

void lgt_trie_look(lgt_trie *trie) {
  if (trie->mask < 0) return;
  for (int n = trie->state; n; n = trie->node[n].fail)
    if (trie->node[n].end[true] >= 0) hold(trie, trie->trace[trie->node[n].end[true]]);
}

lgt_match lgt_trie_take(lgt_trie *trie, bool settled) {
  lgt_match match = trie->held;
  bool alone = trie->holds == 1 && match.start == trie->begun && match.end == trie->position;
  trie->straight = settled && alone ? match.trace : NULL;
  lgt_trie_restart(trie, match.end);
  return match;
}

lgt_match lgt_trie_again(const lgt_trie *trie, const uint64_t *token, int64_t n, bool look) {
  lgt_trace *trace = trie->straight;
  bool fits = trace && trie->position == trie->begun &&
              (trace->look ? look && trace->length == n : trace->length <= n) &&
              !memcmp(trace->token, token, (size_t)trace->length * sizeof *token);
  return fits ? (lgt_match){trie->position, trie->position + trace->length, trace} : (lgt_match){0};
}
