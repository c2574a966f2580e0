/* ptx_control.c - decoding of what changes the way of a thread: branches, calls, barriers, ends. */
#include "ptx_inner.h"

static void new_fixup(ptx_parser *p, const char *name, int list) {
  p->fixups = parse_grow(p, p->fixups, p->nfixups, sizeof *p->fixups);
  p->fixups[p->nfixups++] = (ptx_fixup){name, (uint32_t)(p->m->ncode - 1), p->line, list};
}

static const char *want_name(ptx_parser *p) {
  const ptx_operand *o = this_operand(p);
  if (o->kind != OPERAND_NAME || o->negative || o->addend || o->second) parse_fail(p, "a name was expected");
  p->operand_at++;
  return o->name;
}

static void new_list(ptx_parser *p, int count) {
  if (!(p->i->list = calloc((size_t)count, sizeof *p->i->list))) parse_fail(p, "out of memory");
  p->i->lists = count;
}

/* brx.idx r, name, where a `name: .branchtargets a, b, c;` comes before it. */
static void decode_indexed(ptx_parser *p) {
  ptx_inst *i = p->i;
  i->control = BRANCH_INDEXED;
  if (!take(p, "idx")) parse_fail(p, "brx: .idx was expected");
  take(p, "uni");
  want_src(p, T_U32);
  int64_t unused;
  const ptx_symbol *s = parse_symbol(p, want_name(p), &unused);
  if (!s || s->kind != SYMBOL_TARGETS) parse_fail(p, "brx: no list of targets");
  int count = 0;
  for (int at = (int)s->value; strcmp(p->tokens[at].text, ";"); at++)
    count += p->tokens[at].kind == TOKEN_WORD;
  new_list(p, count);
  count = 0;
  for (int at = (int)s->value; strcmp(p->tokens[at].text, ";"); at++)
    if (p->tokens[at].kind == TOKEN_WORD) new_fixup(p, p->tokens[at].text, count++);
}

/* An argument or result: where its .param array lies in the caller's frame. */
static int32_t param_offset(ptx_parser *p, const ptx_operand *o) {
  int64_t unused;
  const ptx_symbol *s = o->kind == OPERAND_NAME ? parse_symbol(p, o->name, &unused) : NULL;
  if (!s || s->kind != SYMBOL_PARAM || s->entry) parse_fail(p, "call: a .param array was expected");
  return (int32_t)s->value;
}

/* call (result), name, (arguments): the list has the arguments, then the result or -1. */
static void decode_call(ptx_parser *p) {
  ptx_inst *i = p->i;
  i->control = CALL;
  take(p, "uni");
  const ptx_operand *result = NULL, *arguments = NULL;
  if (this_operand(p)->kind == OPERAND_LIST) result = &p->operand[p->operand_at++];
  const char *name = want_name(p);
  int64_t unused;
  const ptx_symbol *s = parse_symbol(p, name, &unused);
  if (!s || s->kind != SYMBOL_FUNCTION) parse_fail(p, "%s is no function of this module", name);
  if (more_operands(p)) arguments = &p->operand[p->operand_at++];
  if (arguments && arguments->kind != OPERAND_LIST) parse_fail(p, "call: arguments were expected");
  const ptx_function *f = &p->m->functions[s->value];
  int count = arguments ? arguments->count : 0, results = result ? result->count : 0;
  if (f->entry) parse_fail(p, "a kernel is called");
  if (count != f->params || results != f->results || results > 1)
    parse_fail(p, "%s takes %d arguments and has %d results", name, f->params, f->results);
  i->target = (uint32_t)s->value;
  new_list(p, count + 1);
  for (int k = 0; k < count; k++) i->list[k] = param_offset(p, &p->part[arguments->first + k]);
  i->list[count] = results ? param_offset(p, &p->part[result->first]) : -1;
}

/* bar.sync, barrier.sync, bar.red: of all threads of the block. */
static void decode_barrier(ptx_parser *p, bool aligned) {
  static const char *names[] = {"sync", "popc", "and", "or"};
  ptx_inst *i = p->i;
  i->control = BARRIER;
  take(p, "cta");
  bool red = take(p, "red");
  if (!red && !take(p, "sync")) parse_fail(p, "%s in this form", p->opcode);
  if (!aligned) aligned = take(p, "aligned");
  i->saturate = aligned;
  i->op = BARRIER_SYNC;
  if (red) {
    uint8_t op = BARRIER_POPC;
    while (op <= BARRIER_OR && !take(p, names[op])) op++;
    if (op > BARRIER_OR) parse_fail(p, "%s.red: .popc, .and or .or was expected", p->opcode);
    i->op = op;
    if (!take(p, op == BARRIER_POPC ? "u32" : "pred"))
      parse_fail(p, "%s.red: its type was expected", p->opcode);
    if (op == BARRIER_POPC) want_dst(p, T_U32);
    else want_dst_pred(p);
  }
  want_src(p, T_U32);
  int rest = p->operands - p->operand_at - red;
  if (rest > 0) want_src(p, T_U32);
  if (red) want_src_pred(p);
}

bool decode_control(ptx_parser *p) {
  const char *op = p->opcode;
  ptx_inst *i = p->i;
  if (!strcmp(op, "bra")) {
    i->control = BRANCH;
    take(p, "uni");
    new_fixup(p, want_name(p), -1);
  } else if (!strcmp(op, "brx")) decode_indexed(p);
  else if (!strcmp(op, "call")) decode_call(p);
  else if (!strcmp(op, "ret")) {
    i->control = RET;
    take(p, "uni");
  } else if (!strcmp(op, "exit")) i->control = EXIT;
  else if (!strcmp(op, "trap") || !strcmp(op, "brkpt")) i->control = TRAP;
  else if (!strcmp(op, "bar")) decode_barrier(p, true);
  else if (!strcmp(op, "barrier")) decode_barrier(p, false);
  else if (!strcmp(op, "nanosleep")) {
    i->control = YIELD;
    if (!take(p, "u32")) parse_fail(p, "nanosleep: .u32 was expected");
    want_src(p, T_U32);
  } else return false;
  return true;
}
