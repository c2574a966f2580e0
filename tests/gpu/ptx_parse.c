/* ptx_parse.c - from tokens to a module: directives, variables, functions, statements.
 *
 * The first error ends the parser by a jump to ptx_load: there is nothing to give back between them but what the
 * module and the parser hold.  Names are looked up from the newest to the oldest, and a brace that closes forgets the
 * names since the one that opened.
 */
#include <ctype.h>
#include <inttypes.h>
#include "ptx_inner.h"

_Noreturn void parse_fail(ptx_parser *p, const char *format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  uint32_t line = p->line ? p->line : p->tokens[p->at].line;
  snprintf(p->log, p->log_size, "line %" PRIu32 ": %s: %.160s", line, text, ptx_line(p->m, line));
  longjmp(p->stop, 1);
}

/* Room for one more; doubles at powers of two. */
void *parse_grow(ptx_parser *p, void *array, int count, size_t size) {
  if (count & (count - 1)) return array;
  void *larger = realloc(array, size * (count ? 2 * (size_t)count : 1));
  if (!larger) parse_fail(p, "out of memory");
  return larger;
}

/* ---- Tokens ---- */

static ptx_token *here(ptx_parser *p) { return &p->tokens[p->at]; }
static bool is(ptx_parser *p, const char *text) {
  return here(p)->kind != TOKEN_TEXT && here(p)->kind != TOKEN_END && !strcmp(here(p)->text, text);
}
static bool accept(ptx_parser *p, const char *text) {
  if (!is(p, text)) return false;
  p->at++;
  return true;
}
static void expect(ptx_parser *p, const char *text) {
  if (!accept(p, text)) parse_fail(p, "\"%s\" was expected, not \"%s\"", text, here(p)->text);
}
static char *word(ptx_parser *p) {
  if (here(p)->kind != TOKEN_WORD) parse_fail(p, "a word was expected, not \"%s\"", here(p)->text);
  return p->tokens[p->at++].text;
}
static uint64_t number(ptx_parser *p, ptx_type type) {
  bool negative = accept(p, "-");
  uint64_t bits;
  const char *text = word(p);
  if (!ptx_number(text, negative, type, &bits)) parse_fail(p, "%s is no .%s", text, ptx_types[type].name);
  return bits;
}
static size_t size_number(ptx_parser *p) {
  uint64_t n = number(p, T_U64);
  if (n > 1u << 30) parse_fail(p, "%" PRIu64 " is too large", n);
  return (size_t)n;
}
static void rest_of_line(ptx_parser *p) {
  uint32_t line = here(p)->line;
  while (here(p)->kind != TOKEN_END && here(p)->line == line) p->at++;
}
/* Up to the sign. */
static void skip_to(ptx_parser *p, const char *sign) {
  for (; !is(p, sign); p->at++)
    if (here(p)->kind == TOKEN_END) parse_fail(p, "\"%s\" was expected", sign);
}
static void past_braces(ptx_parser *p) {
  skip_to(p, "{");
  int depth = 0;
  do {
    if (here(p)->kind == TOKEN_END) parse_fail(p, "a brace does not close");
    depth += is(p, "{") - is(p, "}");
    p->at++;
  } while (depth);
}
static size_t align_up(size_t n, size_t align) { return (n + align - 1) / align * align; }

/* ---- Names ---- */

static ptx_symbol *new_symbol(ptx_parser *p, ptx_symbol_kind kind, const char *name) {
  p->symbols = parse_grow(p, p->symbols, p->nsymbols, sizeof *p->symbols);
  ptx_symbol *s = &p->symbols[p->nsymbols++];
  *s = (ptx_symbol){.kind = kind, .name = name, .count = -1};
  return s;
}

/* `number`: which of the registers %r<count>, 0 for other symbols. */
const ptx_symbol *parse_symbol(ptx_parser *p, const char *name, int64_t *number) {
  for (int k = p->nsymbols; k--;) {
    const ptx_symbol *s = &p->symbols[k];
    *number = 0;
    if (s->count < 0) {
      if (!strcmp(s->name, name)) return s;
      continue;
    }
    size_t length = strlen(s->name);
    const char *digits = name + length;
    if (strncmp(s->name, name, length) || !isdigit((unsigned char)*digits)) continue;
    if (digits[strspn(digits, "0123456789")]) continue;
    if ((*number = atoll(digits)) < s->count) return s;
  }
  return NULL;
}

int parse_constant(ptx_parser *p, uint64_t bits) {
  ptx_module *m = p->m;
  for (int k = m->nconstants; k-- && k > m->nconstants - 64;)
    if (m->constants[k].lane[0] == bits) {
      bool patched = false;
      for (int j = 0; j < m->npatches; j++) patched |= m->patches[j].constant == k;
      if (!patched) return k;
    }
  m->constants = parse_grow(p, m->constants, m->nconstants, sizeof *m->constants);
  for (int l = 0; l < LANES; l++) m->constants[m->nconstants].lane[l] = bits;
  return m->nconstants++;
}

/* ---- Variables ---- */

typedef struct {
  ptx_type type;
  size_t align, bytes;
  const char *name;
  bool array, open; /* name[N], name[] */
} declared;

static ptx_type type_of(const char *name) {
  for (int t = T_PRED; t < T_COUNT; t++)
    if (name[0] == '.' && !strcmp(name + 1, ptx_types[t].name)) return (ptx_type)t;
  return T_NONE;
}

/* [.align N] [.v2|.v4] .type [.ptr ...] name[N]... */
static declared declaration(ptx_parser *p) {
  declared d = {0};
  size_t vector = 1;
  for (; here(p)->text[0] == '.'; p->at++) {
    if (is(p, ".align")) {
      p->at++;
      d.align = size_number(p);
      p->at--;
    } else if (is(p, ".v2") || is(p, ".v4")) vector = here(p)->text[2] == '2' ? 2 : 4;
    else if (is(p, ".ptr")) { /* .ptr .global .align 8: what a pointer points to */ p->at++;
      while (here(p)->text[0] == '.') {
        bool align = is(p, ".align");
        p->at++;
        if (align) size_number(p);
      }
      p->at--;
    } else if (d.type == T_NONE && type_of(here(p)->text) != T_NONE) d.type = type_of(here(p)->text);
    else parse_fail(p, "%s is not understood in a declaration", here(p)->text);
  }
  if (d.type == T_NONE || d.type == T_PRED) parse_fail(p, "a declaration without type");
  d.bytes = (size_t)type_bytes(d.type) * vector;
  if (!d.align) d.align = d.bytes;
  if (d.align & (d.align - 1)) parse_fail(p, "an alignment of %zu", d.align);
  d.name = word(p);
  while (accept(p, "[")) {
    d.array = true;
    if (accept(p, "]")) {
      d.open = true;
      continue;
    }
    d.bytes *= size_number(p);
    if (d.bytes > 1u << 30) parse_fail(p, "%s is too large", d.name);
    expect(p, "]");
  }
  return d;
}

static void initial(ptx_parser *p, ptx_variable *v, ptx_type type, size_t *at) {
  if (accept(p, "{")) {
    if (!is(p, "}")) do
        initial(p, v, type, at);
      while (accept(p, ","));
    expect(p, "}");
    return;
  }
  size_t bytes = (size_t)type_bytes(type);
  if (*at + bytes > v->info.bytes) parse_fail(p, "%s has too many initial values", v->name);
  uint64_t bits = number(p, type);
  memcpy(v->initial + *at, &bits, bytes);
  *at += bytes;
}

static void global_variable(ptx_parser *p, bool constant, bool external) {
  do {
    declared d = declaration(p);
    if (external) parse_fail(p, "%s is defined nowhere", d.name);
    ptx_module *m = p->m;
    new_symbol(p, SYMBOL_GLOBAL, d.name)->value = m->nvariables;
    m->variables = parse_grow(p, m->variables, m->nvariables, sizeof *m->variables);
    ptx_variable *v = &m->variables[m->nvariables++];
    *v = (ptx_variable){.info = {.bytes = d.bytes, .align = d.align, .constant = constant}};
    v->name = strdup(d.name);
    v->initial = calloc(1, d.bytes ? d.bytes : 1);
    if (!v->name || !v->initial) parse_fail(p, "out of memory");
    v->info.name = v->name;
    v->info.initial = v->initial;
    size_t at = 0;
    if (accept(p, "=")) initial(p, v, d.type, &at);
  } while (accept(p, ","));
  expect(p, ";");
}

static void shared_variable(ptx_parser *p, bool external) {
  do {
    declared d = declaration(p);
    ptx_symbol *s = new_symbol(p, external ? SYMBOL_DYNAMIC : SYMBOL_SHARED, d.name);
    if (external) continue;
    if (d.open) parse_fail(p, "%s has no size", d.name);
    if (p->f && !p->f->entry) parse_fail(p, "shared memory in a function that is no kernel");
    size_t *bytes = p->f ? &p->f->shared_bytes : &p->m->shared_bytes;
    *bytes = align_up(*bytes, d.align);
    s->value = (int64_t)*bytes;
    *bytes += d.bytes;
  } while (accept(p, ","));
  expect(p, ";");
}

static void registers(ptx_parser *p) {
  const char *type_name = word(p);
  ptx_type type = type_of(type_name);
  if (type == T_NONE || type == T_B8 || type == T_U8 || type == T_S8)
    parse_fail(p, "registers of type %s", type_name);
  do {
    ptx_symbol *s = new_symbol(p, type == T_PRED ? SYMBOL_PREDICATES : SYMBOL_REGISTERS, word(p));
    s->type = type;
    int *total = type == T_PRED ? &p->f->predicates : &p->f->registers;
    s->value = *total;
    if (accept(p, "<")) {
      s->count = (int)size_number(p);
      if (s->count > 1 << 20) parse_fail(p, "too many registers");
      expect(p, ">");
    }
    int count = s->count < 0 ? 1 : s->count;
    *total += count;
    if (type != T_PRED) p->f->info.registers += (unsigned)(count * (type_bytes(type) == 8 ? 2 : 1));
  } while (accept(p, ","));
  expect(p, ";");
}

static void local_variable(ptx_parser *p) {
  declared d = declaration(p);
  ptx_symbol *s = new_symbol(p, SYMBOL_LOCAL, d.name);
  p->f->local_bytes = align_up(p->f->local_bytes, d.align);
  s->value = (int64_t)p->f->local_bytes;
  p->f->local_bytes += d.bytes;
  expect(p, ";");
}

static void param_array(ptx_parser *p) {
  declared d = declaration(p);
  ptx_symbol *s = new_symbol(p, SYMBOL_PARAM, d.name);
  p->f->frame_bytes = align_up(p->f->frame_bytes, d.align);
  s->value = (int64_t)p->f->frame_bytes;
  s->count = -1;
  p->f->frame_bytes += d.bytes;
  expect(p, ";");
}

/* ---- Statements ---- */

static void operand(ptx_parser *p, ptx_operand *o);

static void operand_parts(ptx_parser *p, ptx_operand *o, const char *end) {
  *o = (ptx_operand){.kind = *end == '}' ? OPERAND_VECTOR : OPERAND_LIST, .first = p->parts};
  while (!accept(p, end)) {
    if (o->count && !accept(p, ",")) parse_fail(p, "\",\" was expected");
    if (p->parts == MAX_OPERANDS) parse_fail(p, "too many operands");
    ptx_operand *part = &p->part[p->parts++];
    o->count++;
    operand(p, part);
    if (part->kind != OPERAND_NAME && part->kind != OPERAND_NUMBER) parse_fail(p, "a vector in a vector");
  }
}

static int64_t operand_addend(ptx_parser *p) {
  bool plus = accept(p, "+"), minus = !plus && accept(p, "-");
  if (!plus && !minus) return 0;
  int64_t n = (int64_t)number(p, T_S64);
  return minus ? -n : n;
}

static void operand(ptx_parser *p, ptx_operand *o) {
  if (accept(p, "{")) {
    operand_parts(p, o, "}");
    return;
  }
  if (accept(p, "(")) {
    operand_parts(p, o, ")");
    return;
  }
  *o = (ptx_operand){.kind = OPERAND_NAME};
  if (accept(p, "[")) {
    o->kind = OPERAND_ADDRESS;
    o->name = word(p);
    o->addend = operand_addend(p);
    expect(p, "]");
    return;
  }
  o->negative = accept(p, "-") || accept(p, "!");
  o->name = word(p);
  if (isdigit((unsigned char)o->name[0]) || !strcmp(o->name, "WARP_SZ")) o->kind = OPERAND_NUMBER;
  else if (accept(p, "|")) o->second = word(p);
  else o->addend = operand_addend(p);
}

static void split_opcode(ptx_parser *p, const char *text) {
  if (strlen(text) >= sizeof p->opcode) parse_fail(p, "an opcode that is not known");
  strcpy(p->opcode, text);
  p->mods = p->mod_at = 0;
  for (char *dot = strchr(p->opcode, '.'); dot; dot = strchr(dot + 1, '.')) {
    *dot = '\0';
    if (p->mods == MAX_MODS) parse_fail(p, "too many modifiers");
    p->mod[p->mods++] = dot + 1;
  }
}

static void instruction(ptx_parser *p) {
  p->line = here(p)->line;
  ptx_module *m = p->m;
  m->code = parse_grow(p, m->code, m->ncode, sizeof *m->code);
  ptx_inst *i = p->i = &m->code[m->ncode];
  memset(i, 0, sizeof *i);
  for (int k = 0; k < MAX_DST; k++) i->d[k] = NO_REF;
  for (int k = 0; k < MAX_SRC; k++) i->s[k] = NO_REF;
  i->dp = i->dq = NO_PRED;
  i->sp = i->guard = NO_PRED;
  i->line = p->line;
  if (accept(p, "@")) {
    bool negative = accept(p, "!");
    int64_t n;
    const ptx_symbol *s = parse_symbol(p, word(p), &n);
    if (!s || s->kind != SYMBOL_PREDICATES) parse_fail(p, "the guard is no predicate");
    i->guard = (ptx_pred)(2 * (s->value + n) + negative);
  }
  split_opcode(p, word(p));
  p->operands = p->parts = p->operand_at = 0;
  while (!accept(p, ";")) {
    if (p->operands && !accept(p, ",")) parse_fail(p, "\",\" was expected before \"%s\"", here(p)->text);
    if (p->operands == MAX_OPERANDS) parse_fail(p, "too many operands");
    operand(p, &p->operand[p->operands++]);
  }
  m->ncode++;
  decode_instruction(p);
  p->line = 0;
}

static void label(ptx_parser *p) {
  const char *name = word(p);
  expect(p, ":");
  if (accept(p, ".branchtargets")) {
    new_symbol(p, SYMBOL_TARGETS, name)->value = p->at;
    skip_to(p, ";");
    p->at++;
    return;
  }
  for (int k = 0; k < p->nlabels; k++)
    if (!strcmp(p->labels[k].name, name)) parse_fail(p, "the label %s is there twice", name);
  p->labels = parse_grow(p, p->labels, p->nlabels, sizeof *p->labels);
  p->labels[p->nlabels++] = (ptx_label){name, (uint32_t)p->m->ncode};
}

static bool body_directive(ptx_parser *p) {
  if (is(p, ".loc")) rest_of_line(p);
  else if (accept(p, ".reg")) registers(p);
  else if (accept(p, ".shared")) shared_variable(p, false);
  else if (accept(p, ".local")) local_variable(p);
  else if (accept(p, ".param")) param_array(p);
  else if (accept(p, ".global")) global_variable(p, false, false);
  else if (accept(p, ".const")) global_variable(p, true, false);
  else if (accept(p, ".pragma")) rest_of_line(p);
  else return false;
  return true;
}

static void statements(ptx_parser *p) {
  int known = p->nsymbols;
  while (!accept(p, "}")) {
    if (accept(p, "{")) statements(p);
    else if (here(p)->kind == TOKEN_SIGN && !is(p, "@")) {
      if (!accept(p, ";")) parse_fail(p, "\"%s\" begins no statement", here(p)->text);
    } else if (here(p)->kind == TOKEN_END) parse_fail(p, "the body does not end");
    else if (here(p)->text[0] == '.') {
      if (!body_directive(p)) parse_fail(p, "%s is not understood", here(p)->text);
    } else if (!strcmp(p->tokens[p->at + 1].text, ":")) label(p);
    else instruction(p);
  }
  p->nsymbols = known;
}

/* ---- Functions ---- */

static ptx_function *function_named(ptx_parser *p, const char *name, bool entry) {
  ptx_module *m = p->m;
  for (int k = 0; k < m->nfunctions; k++)
    if (!strcmp(m->functions[k].name, name)) {
      if (m->functions[k].defined) parse_fail(p, "%s is there twice", name);
      return &m->functions[k];
    }
  m->functions = parse_grow(p, m->functions, m->nfunctions, sizeof *m->functions);
  ptx_function *f = &m->functions[m->nfunctions];
  *f = (ptx_function){.entry = entry, .line = here(p)->line, .registers = 1, .predicates = 1};
  if (!(f->name = strdup(name))) parse_fail(p, "out of memory");
  m->nfunctions++;
  new_symbol(p, SYMBOL_FUNCTION, name)->value = m->nfunctions - 1;
  return f;
}

static void param_list(ptx_parser *p, ptx_function *f) {
  while (!accept(p, ")")) {
    if (!accept(p, ".param")) parse_fail(p, ".param was expected, not \"%s\"", here(p)->text);
    declared d = declaration(p);
    if (!f->entry && !d.array && d.bytes < 4) parse_fail(p, "a function's parameter of less than 32 bits");
    ptx_symbol *s = new_symbol(p, SYMBOL_PARAM, d.name);
    s->entry = f->entry;
    f->param_bytes = align_up(f->param_bytes, d.align);
    s->value = (int64_t)f->param_bytes;
    f->param = parse_grow(p, f->param, f->params + f->results, sizeof *f->param);
    f->param[f->params + f->results] = (ptx_param){f->param_bytes, d.bytes, d.align};
    f->params++;
    f->param_bytes += d.bytes;
    if (!accept(p, ",") && !is(p, ")")) parse_fail(p, "\",\" was expected");
  }
}

static void tuning(ptx_parser *p, ptx_function *f) {
  for (;; p->line = 0) {
    unsigned *dims = is(p, ".maxntid") ? f->info.maxntid : is(p, ".reqntid") ? f->info.reqntid : NULL;
    if (dims) {
      p->at++;
      dims[0] = dims[1] = dims[2] = 1;
      for (int k = 0; k < 3 && (!k || accept(p, ",")); k++) dims[k] = (unsigned)size_number(p);
    } else if (accept(p, ".minnctapersm")) f->info.minctasm = (unsigned)size_number(p);
    else if (accept(p, ".maxnreg")) size_number(p);
    else if (accept(p, ".noreturn")) continue;
    else if (is(p, ".pragma")) rest_of_line(p);
    else return;
  }
}

static void resolve_labels(ptx_parser *p) {
  for (int k = 0; k < p->nfixups; k++) {
    const ptx_fixup *x = &p->fixups[k];
    int at = 0;
    while (at < p->nlabels && strcmp(p->labels[at].name, x->name)) at++;
    p->line = x->line;
    if (at == p->nlabels) parse_fail(p, "the label %s is nowhere", x->name);
    if (x->list < 0) p->m->code[x->inst].target = p->labels[at].at;
    else p->m->code[x->inst].list[x->list] = (int32_t)p->labels[at].at;
  }
  p->line = 0;
  p->nfixups = p->nlabels = 0;
}

static void implicit_return(ptx_parser *p) {
  p->m->code = parse_grow(p, p->m->code, p->m->ncode, sizeof *p->m->code);
  ptx_inst *i = &p->m->code[p->m->ncode++];
  memset(i, 0, sizeof *i);
  i->control = RET;
  i->guard = i->sp = i->dp = i->dq = NO_PRED;
  i->line = p->tokens[p->at - 1].line;
}

static void function(ptx_parser *p, bool entry) {
  int known = p->nsymbols;
  int results_at = p->at;
  if (is(p, "(")) { /* the result comes first; it is read after the parameters */
    skip_to(p, ")");
    p->at++;
  } else results_at = -1;
  const char *name = word(p);
  ptx_function *f = function_named(p, name, entry);
  known = p->nsymbols;
  f->params = f->results = 0;
  f->param_bytes = 0;
  if (accept(p, "(")) param_list(p, f);
  int after = p->at, params = f->params;
  if (results_at >= 0) {
    p->at = results_at + 1;
    param_list(p, f);
    p->at = after;
    f->results = f->params - params;
    f->params = params;
  }
  tuning(p, f);
  if (!accept(p, ";")) {
    expect(p, "{");
    p->f = f;
    f->defined = true;
    f->start = (uint32_t)p->m->ncode;
    f->frame_bytes = align_up(f->param_bytes, 16);
    f->shared_bytes = p->m->shared_bytes;
    statements(p);
    implicit_return(p);
    f->end = (uint32_t)p->m->ncode;
    resolve_labels(p);
    p->f = NULL;
  }
  p->nsymbols = known;
}

static void directive(ptx_parser *p) {
  bool external = false;
  while (is(p, ".visible") || is(p, ".extern") || is(p, ".weak") || is(p, ".common"))
    external |= is(p, ".extern"), p->at++;
  if (accept(p, ".entry")) function(p, true);
  else if (accept(p, ".func")) {
    accept(p, ".noreturn");
    function(p, false);
  } else if (accept(p, ".global")) global_variable(p, false, external);
  else if (accept(p, ".const")) global_variable(p, true, external);
  else if (accept(p, ".shared")) shared_variable(p, external);
  else if (is(p, ".file") || is(p, ".loc") || is(p, ".pragma")) rest_of_line(p);
  else if (accept(p, ".section")) past_braces(p);
  else parse_fail(p, "%s is not understood", here(p)->text);
}

static void heading(ptx_parser *p) {
  expect(p, ".version");
  const char *version = word(p);
  p->m->version = (int)(10 * strtod(version, NULL) + 0.5);
  if (p->m->version < 60 || p->m->version > 90) parse_fail(p, "version %s", version);
  expect(p, ".target");
  const char *target = word(p);
  int chip = strncmp(target, "sm_", 3) ? 0 : atoi(target + 3);
  if (chip < 70) parse_fail(p, "target %s: sm_70 or later was expected", target);
  while (accept(p, ",")) word(p); /* texmode, debug */
  expect(p, ".address_size");
  if (size_number(p) != 64) parse_fail(p, "addresses of 64 bits were expected");
}

static void check_calls(ptx_parser *p) {
  for (int k = 0; k < p->m->ncode; k++) {
    const ptx_inst *i = &p->m->code[k];
    if (i->control != CALL || p->m->functions[i->target].defined) continue;
    p->line = i->line;
    parse_fail(p, "%s is called and has no body", p->m->functions[i->target].name);
  }
}

/* What is known only at the end. */
static void complete(ptx_parser *p) {
  ptx_module *m = p->m;
  check_calls(p);
  for (int k = 0; k < m->nfunctions; k++) {
    ptx_function *f = &m->functions[k];
    f->local_bytes = align_up(f->local_bytes, 16);
    m->nkernels += f->entry && f->defined;
    if (f->entry) continue;
    if (f->registers > m->most_registers) m->most_registers = f->registers;
    if (f->predicates > m->most_predicates) m->most_predicates = f->predicates;
    if (f->frame_bytes > m->most_frame) m->most_frame = f->frame_bytes;
    if (f->local_bytes > m->most_local) m->most_local = f->local_bytes;
  }
  if (!(m->kernels = calloc((size_t)m->nkernels + 1, sizeof *m->kernels))) parse_fail(p, "out of memory");
  int at = 0;
  for (int k = 0; k < m->nfunctions; k++) {
    ptx_function *f = &m->functions[k];
    if (!f->entry || !f->defined) continue;
    m->kernels[at++] = (ptx_kernel){m, k};
    ptx_kernel_info *n = &f->info;
    n->name = f->name;
    n->params = f->params;
    n->param = f->param;
    n->param_bytes = f->param_bytes;
    size_t all = f->shared_bytes > m->shared_bytes ? f->shared_bytes : m->shared_bytes;
    n->static_shared = all;
    n->dynamic_shared = f->dynamic;
    n->local_bytes = f->local_bytes;
  }
}

static bool split_lines(ptx_module *m, const char *text) {
  if (!(m->lines = strdup(text))) return false;
  for (char *c = m->lines; *c; c++) m->nlines += *c == '\n';
  m->nlines++;
  if (!(m->line = calloc((size_t)m->nlines, sizeof *m->line))) return false;
  int at = 0;
  for (char *c = m->lines; c; at++) {
    m->line[at] = c;
    c = strchr(c, '\n');
    if (c) *c++ = '\0';
  }
  return true;
}

static bool parse_all(ptx_parser *p) {
  if (setjmp(p->stop)) return false;
  heading(p);
  while (here(p)->kind != TOKEN_END) directive(p);
  complete(p);
  p->log[0] = '\0';
  return true;
}

ptx_module *ptx_load(const char *text, char *log, size_t log_size) {
  ptx_module *m = calloc(1, sizeof *m);
  ptx_parser *p = calloc(1, sizeof *p);
  bool good = false;
  snprintf(log, log_size, "out of memory");
  if (m) ptx_pool_modules(1);
  if (p && m && split_lines(m, text)) {
    p->m = m;
    p->log = log;
    p->log_size = log_size;
    if ((p->tokens = ptx_tokens(text, &p->ntokens, log, log_size))) good = parse_all(p);
    if (p->tokens) ptx_tokens_free(p->tokens, p->ntokens);
    free(p->symbols);
    free(p->labels);
    free(p->fixups);
  }
  free(p);
  if (good) return m;
  ptx_free(m);
  return NULL;
}

void ptx_free(ptx_module *m) {
  if (!m) return;
  for (int k = 0; k < m->ncode; k++) free(m->code[k].list);
  for (int k = 0; k < m->nfunctions; k++) {
    free(m->functions[k].name);
    free(m->functions[k].param);
  }
  for (int k = 0; k < m->nvariables; k++) {
    free(m->variables[k].name);
    free(m->variables[k].initial);
  }
  free(m->code);
  free(m->constants);
  free(m->functions);
  free(m->kernels);
  free(m->variables);
  free(m->patches);
  free(m->lines);
  free(m->line);
  free(m);
  ptx_pool_modules(-1);
}

int ptx_kernels(const ptx_module *m) { return m->nkernels; }
const ptx_kernel *ptx_kernel_at(const ptx_module *m, int number) { return &m->kernels[number]; }
const ptx_kernel *ptx_find(const ptx_module *m, const char *name) {
  for (int k = 0; k < m->nkernels; k++)
    if (!strcmp(m->functions[m->kernels[k].function].name, name)) return &m->kernels[k];
  return NULL;
}
const ptx_kernel_info *ptx_info(const ptx_kernel *k) { return &k->module->functions[k->function].info; }

int ptx_globals(const ptx_module *m) { return m->nvariables; }
const ptx_global *ptx_global_at(const ptx_module *m, int number) { return &m->variables[number].info; }
void ptx_place(ptx_module *m, int number, uint64_t address) {
  m->variables[number].info.address = address;
  for (int k = 0; k < m->npatches; k++) {
    if (m->patches[k].variable != number) continue;
    for (int l = 0; l < LANES; l++)
      m->constants[m->patches[k].constant].lane[l] = address + (uint64_t)m->patches[k].addend;
  }
}
