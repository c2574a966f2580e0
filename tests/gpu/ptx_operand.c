/* ptx_operand.c - the operands and modifiers of one instruction, for the functions that decode it.
 *
 * A decoder takes the modifiers and operands in their order; what it leaves is an error, so no form is accepted by
 * mistake.  Registers must have the size of the instruction's type and a kind that goes with it, as ptxas demands.
 */
#include "ptx_inner.h"

/* ---- Modifiers ---- */

bool take(ptx_parser *p, const char *mod) {
  if (p->mod_at == p->mods || strcmp(p->mod[p->mod_at], mod)) return false;
  p->mod_at++;
  return true;
}

static ptx_type named_type(const char *name) {
  for (int t = T_PRED; t < T_COUNT; t++)
    if (!strcmp(name, ptx_types[t].name)) return (ptx_type)t;
  return T_NONE;
}

ptx_type last_type(const ptx_parser *p) { return p->mods ? named_type(p->mod[p->mods - 1]) : T_NONE; }
bool next_is_type(ptx_parser *p) { return p->mod_at < p->mods && named_type(p->mod[p->mod_at]) != T_NONE; }

ptx_type take_type(ptx_parser *p) {
  if (!next_is_type(p)) parse_fail(p, "%s: a type was expected", p->opcode);
  return named_type(p->mod[p->mod_at++]);
}

ptx_round take_round(ptx_parser *p) {
  static const char *names[] = {"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};
  for (int k = ROUND_N; k <= ROUND_PI; k++)
    if (take(p, names[k])) return (ptx_round)k;
  return ROUND_NONE;
}

bool take_scope(ptx_parser *p) { return take(p, "cta") || take(p, "gpu") || take(p, "sys"); }

ptx_space take_space(ptx_parser *p) {
  static const struct {
    const char *name;
    ptx_space space;
  } names[] = {{"global", SPACE_GLOBAL},
               {"shared", SPACE_SHARED},
               {"local", SPACE_LOCAL},
               {"const", SPACE_CONST},
               {"param", SPACE_PARAM}};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (take(p, names[k].name)) return names[k].space;
  return SPACE_GENERIC;
}

/* ---- Operands ---- */

bool more_operands(const ptx_parser *p) { return p->operand_at < p->operands; }

ptx_operand *this_operand(ptx_parser *p) {
  if (!more_operands(p)) parse_fail(p, "%s: an operand is missing", p->opcode);
  return &p->operand[p->operand_at];
}

static ptx_operand *next_operand(ptx_parser *p) {
  ptx_operand *o = this_operand(p);
  p->operand_at++;
  return o;
}

static void read_register(ptx_parser *p, int32_t number) {
  ptx_inst *i = p->i;
  for (int k = 0; k < i->nreads; k++)
    if (i->reads[k] == number) return;
  if (i->nreads == MAX_READS) parse_fail(p, "too many operands");
  i->reads[i->nreads++] = number;
}

static void read_pred(ptx_parser *p, int32_t number) {
  if (!number) return;
  if (p->i->npreads == 3) parse_fail(p, "too many predicates");
  p->i->preads[p->i->npreads++] = number;
}

/* Goes a register of this type with an instruction of that one? */
static void check_type(ptx_parser *p, const char *name, ptx_type has, ptx_type type, bool wide) {
  int bytes = type_bytes(has), wanted = type_bytes(type);
  char a = ptx_types[has].family, b = ptx_types[type].family;
  bool kind = a == 'b' || b == 'b' || (a == 'f') == (b == 'f');
  if (a == 'f' && b == 'f' && has != type) kind = false;
  if (wide ? bytes < wanted : bytes != wanted) kind = false;
  if (!kind)
    parse_fail(p, "%s is .%s, which does not go with .%s", name, ptx_types[has].name, ptx_types[type].name);
}

static int32_t find_register(ptx_parser *p, const char *name, ptx_type type, bool wide, ptx_type *has) {
  int64_t number;
  const ptx_symbol *s = parse_symbol(p, name, &number);
  if (!s) parse_fail(p, "%s is not declared", name);
  if (s->kind != SYMBOL_REGISTERS) parse_fail(p, "%s is no register for values", name);
  check_type(p, name, s->type, type, wide);
  *has = s->type;
  return (int32_t)(s->value + number);
}

static int32_t find_pred(ptx_parser *p, const char *name) {
  int64_t number;
  const ptx_symbol *s = parse_symbol(p, name, &number);
  if (!s) parse_fail(p, "%s is not declared", name);
  if (s->kind != SYMBOL_PREDICATES) parse_fail(p, "%s is no predicate", name);
  return (int32_t)(s->value + number);
}

static void put_dst(ptx_parser *p, const ptx_operand *o, ptx_type type, bool wide) {
  ptx_inst *i = p->i;
  if (o->kind != OPERAND_NAME || o->negative || o->addend) parse_fail(p, "a register was expected as result");
  if (i->nd == MAX_DST) parse_fail(p, "too many results");
  if (!strcmp(o->name, "_")) {
    i->d[i->nd++] = 0;
    return;
  }
  ptx_type has;
  i->d[i->nd++] = find_register(p, o->name, type, wide, &has);
  i->width = (uint8_t)type_bytes(has);
}

void want_dst(ptx_parser *p, ptx_type type) { put_dst(p, next_operand(p), type, false); }
void want_dst_wide(ptx_parser *p, ptx_type type) { put_dst(p, next_operand(p), type, true); }

void want_dst_vector(ptx_parser *p, ptx_type type, int count, bool wide) {
  ptx_operand *o = next_operand(p);
  if (o->kind != OPERAND_VECTOR || o->count != count) parse_fail(p, "a vector of %d was expected", count);
  for (int k = 0; k < count; k++) put_dst(p, &p->part[o->first + k], type, wide);
}

void want_dst_pred(ptx_parser *p) {
  ptx_operand *o = next_operand(p);
  if (o->kind != OPERAND_NAME || o->negative) parse_fail(p, "a predicate was expected as result");
  if (strcmp(o->name, "_")) p->i->dp = find_pred(p, o->name);
  if (o->second && strcmp(o->second, "_")) p->i->dq = find_pred(p, o->second);
}

void want_second_pred(ptx_parser *p) {
  const ptx_operand *o = &p->operand[p->operand_at - 1];
  if (o->second && strcmp(o->second, "_")) p->i->dp = find_pred(p, o->second);
}

static int special_named(const char *name, int *bytes) {
  static const char *names[SPECIAL_COUNT] = {"%tid.x",
                                             "%tid.y",
                                             "%tid.z",
                                             "%ntid.x",
                                             "%ntid.y",
                                             "%ntid.z",
                                             "%ctaid.x",
                                             "%ctaid.y",
                                             "%ctaid.z",
                                             "%nctaid.x",
                                             "%nctaid.y",
                                             "%nctaid.z",
                                             "%laneid",
                                             "%warpid",
                                             "%nwarpid",
                                             "%smid",
                                             "%nsmid",
                                             "%gridid",
                                             "%lanemask_eq",
                                             "%lanemask_le",
                                             "%lanemask_lt",
                                             "%lanemask_ge",
                                             "%lanemask_gt",
                                             "%clock",
                                             "%clock64",
                                             "%globaltimer",
                                             "%total_smem_size",
                                             "",
                                             "%dynamic_smem_size",
                                             "",
                                             ""};
  for (int k = 0; k < SPECIAL_COUNT; k++)
    if (names[k][0] && !strcmp(name, names[k])) {
      *bytes = k == SPECIAL_CLOCK64 || k == SPECIAL_GLOBALTIMER || k == SPECIAL_GRIDID ? 8 : 4;
      return k;
    }
  return -1;
}

static void put_src(ptx_parser *p, const ptx_operand *o, ptx_type type, bool wide) {
  ptx_inst *i = p->i;
  if (i->ns == MAX_SRC) parse_fail(p, "too many operands");
  ptx_ref *s = &i->s[i->ns++];
  if (o->kind == OPERAND_NUMBER) {
    uint64_t bits;
    if (!ptx_number(o->name, o->negative, type, &bits))
      parse_fail(p, "%s is no .%s", o->name, ptx_types[type].name);
    *s = ~parse_constant(p, bits);
    return;
  }
  if (o->kind != OPERAND_NAME || o->second || o->addend || o->negative) parse_fail(p, "a value was expected");
  int bytes, special = special_named(o->name, &bytes);
  if (special >= 0) {
    if (bytes != type_bytes(type)) parse_fail(p, "%s has %d bits", o->name, 8 * bytes);
    *s = SPECIAL_BASE + special;
    return;
  }
  ptx_type has;
  *s = find_register(p, o->name, type, wide, &has);
  read_register(p, *s);
}

void want_src(ptx_parser *p, ptx_type type) { put_src(p, next_operand(p), type, false); }
void want_src_wide(ptx_parser *p, ptx_type type) { put_src(p, next_operand(p), type, true); }

void want_src_vector(ptx_parser *p, ptx_type type, int count) {
  ptx_operand *o = next_operand(p);
  if (o->kind != OPERAND_VECTOR || o->count != count) parse_fail(p, "a vector of %d was expected", count);
  for (int k = 0; k < count; k++) put_src(p, &p->part[o->first + k], type, true);
}

void want_src_pred(ptx_parser *p) {
  ptx_operand *o = next_operand(p);
  if (o->kind == OPERAND_NUMBER) {
    uint64_t bits;
    if (!ptx_number(o->name, o->negative, T_PRED, &bits)) parse_fail(p, "%s is no predicate", o->name);
    p->i->sp = bits ? TRUE_PRED : FALSE_PRED;
    return;
  }
  if (o->kind != OPERAND_NAME || o->second) parse_fail(p, "a predicate was expected");
  int32_t number = find_pred(p, o->name);
  p->i->sp = 2 * number + o->negative;
  read_pred(p, number);
}

int64_t want_integer(ptx_parser *p) {
  ptx_operand *o = next_operand(p);
  uint64_t bits;
  if (o->kind != OPERAND_NUMBER || !ptx_number(o->name, o->negative, T_S64, &bits))
    parse_fail(p, "a number was expected");
  return (int64_t)bits;
}

/* ---- Addresses ---- */

static int patched_constant(ptx_parser *p, int variable) {
  ptx_module *m = p->m;
  for (int k = 0; k < m->npatches; k++)
    if (m->patches[k].variable == variable) return m->patches[k].constant;
  m->constants = parse_grow(p, m->constants, m->nconstants, sizeof *m->constants);
  m->patches = parse_grow(p, m->patches, m->npatches, sizeof *m->patches);
  memset(&m->constants[m->nconstants], 0, sizeof *m->constants);
  m->patches[m->npatches++] = (ptx_patch){m->nconstants, variable, 0};
  return m->nconstants++;
}

/* The address of a name: base and addend.  Says in `from` and `entry` what the name is. */
static void put_symbol(ptx_parser *p, const char *name, int64_t addend) {
  ptx_inst *i = p->i;
  int64_t number;
  const ptx_symbol *s = parse_symbol(p, name, &number);
  if (!s) parse_fail(p, "%s is not declared", name);
  ptx_ref base;
  switch (s->kind) {
    case SYMBOL_GLOBAL:
      base = ~patched_constant(p, (int)s->value);
      i->to_space = p->m->variables[s->value].info.constant ? SPACE_CONST : SPACE_GLOBAL;
      break;
    case SYMBOL_SHARED:
      base = ~parse_constant(p, 0);
      addend += s->value;
      i->to_space = SPACE_SHARED;
      break;
    case SYMBOL_DYNAMIC:
      base = SPECIAL_BASE + SPECIAL_DYNAMIC;
      p->f->dynamic = true;
      i->to_space = SPACE_SHARED;
      break;
    case SYMBOL_LOCAL:
      base = SPECIAL_BASE + SPECIAL_DEPOT;
      addend += s->value;
      i->to_space = SPACE_LOCAL;
      break;
    case SYMBOL_PARAM:
      base = ~parse_constant(p, 0);
      addend += s->value;
      i->to_space = s->entry ? SPACE_ENTRY : SPACE_PARAM;
      break;
    default:
      parse_fail(p, "%s has no address", name);
  }
  i->s[i->ns++] = base;
  i->offset = addend;
}

void want_symbol(ptx_parser *p) {
  ptx_operand *o = next_operand(p);
  if (o->kind != OPERAND_NAME || o->negative || o->second) parse_fail(p, "a name was expected");
  put_symbol(p, o->name, o->addend);
}

void want_address(ptx_parser *p) {
  ptx_operand *o = next_operand(p);
  ptx_inst *i = p->i;
  if (o->kind != OPERAND_ADDRESS) parse_fail(p, "an address was expected");
  i->to_space = SPACE_GENERIC;
  int64_t number;
  uint64_t bits;
  const ptx_symbol *s = parse_symbol(p, o->name, &number);
  if (s && s->kind == SYMBOL_REGISTERS) {
    if (type_bytes(s->type) != 8 || type_float(s->type))
      parse_fail(p, "%s is no address of 64 bits", o->name);
    ptx_ref base = (ptx_ref)(s->value + number);
    read_register(p, base);
    i->s[i->ns++] = base;
    i->offset = o->addend;
  } else if (!s && ptx_number(o->name, false, T_U64, &bits)) {
    i->s[i->ns++] = ~parse_constant(p, bits);
    i->offset = o->addend;
  } else put_symbol(p, o->name, o->addend);
}

/* ---- All of an instruction ---- */

void decode_instruction(ptx_parser *p) {
  static bool (*const all[])(ptx_parser *) = {decode_integer, decode_bits,    decode_compare, decode_float,
                                              decode_half,    decode_convert, decode_memory,  decode_atomic,
                                              decode_warp,    decode_control};
  size_t k = 0;
  while (k < sizeof all / sizeof *all && !all[k](p)) k++;
  if (k == sizeof all / sizeof *all) parse_fail(p, "the opcode %s is not known in this form", p->opcode);
  if (p->mod_at < p->mods) parse_fail(p, "%s with .%s is not known", p->opcode, p->mod[p->mod_at]);
  if (more_operands(p)) parse_fail(p, "%s has more operands than this form takes", p->opcode);
  if (p->i->control == PLAIN && !p->i->run) parse_fail(p, "%s is not known in this form", p->opcode);
}
