/* ptx_text.c - the text as tokens, and numbers.
 *
 * A word holds letters, digits and _ $ % . so that opcodes with their modifiers, directives, registers, labels and
 * numbers are one token each.  Everything else is a sign of one character.  Comments are left out.
 */
#include <ctype.h>
#include <inttypes.h>
#include "ptx_inner.h"

const ptx_type_info ptx_types[T_COUNT] = {
    [T_NONE] = {"", 0, ' '},       [T_PRED] = {"pred", 1, 'p'}, [T_U8] = {"u8", 1, 'u'},
    [T_U16] = {"u16", 2, 'u'},     [T_U32] = {"u32", 4, 'u'},   [T_U64] = {"u64", 8, 'u'},
    [T_S8] = {"s8", 1, 's'},       [T_S16] = {"s16", 2, 's'},   [T_S32] = {"s32", 4, 's'},
    [T_S64] = {"s64", 8, 's'},     [T_B8] = {"b8", 1, 'b'},     [T_B16] = {"b16", 2, 'b'},
    [T_B32] = {"b32", 4, 'b'},     [T_B64] = {"b64", 8, 'b'},   [T_F16] = {"f16", 2, 'f'},
    [T_F16X2] = {"f16x2", 4, 'f'}, [T_F32] = {"f32", 4, 'f'},   [T_F64] = {"f64", 8, 'f'},
};

static bool in_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

typedef struct {
  ptx_token *list;
  int count, room;
  bool failed;
} tokens;

static void add(tokens *t, ptx_token_kind kind, const char *from, size_t length, uint32_t line) {
  if (t->count == t->room) {
    int room = t->room ? 2 * t->room : 1024;
    ptx_token *list = realloc(t->list, (size_t)room * sizeof *list);
    if (!list) {
      t->failed = true;
      return;
    }
    t->list = list;
    t->room = room;
  }
  char *text = strndup(from, length);
  if (!text) t->failed = true;
  else t->list[t->count++] = (ptx_token){kind, text, line};
}

/* Past white space and comments; counts lines.  NULL: a comment that does not end. */
static const char *skip(const char *c, uint32_t *line) {
  for (;;) {
    if (*c == '\n') ++*line, c++;
    else if (isspace((unsigned char)*c)) c++;
    else if (c[0] == '/' && c[1] == '/') c += strcspn(c, "\n");
    else if (c[0] == '/' && c[1] == '*') {
      for (c += 2; *c && !(c[0] == '*' && c[1] == '/'); c++) *line += *c == '\n';
      if (!*c) return NULL;
      c += 2;
    } else return c;
  }
}

ptx_token *ptx_tokens(const char *text, int *count, char *log, size_t log_size) {
  tokens t = {0};
  uint32_t line = 1;
  const char *wrong = NULL;
  for (const char *c = text; !t.failed && !wrong;) {
    if (!(c = skip(c, &line))) {
      wrong = "a comment does not end";
      break;
    }
    if (!*c) break;
    size_t length = 1;
    if (in_word(*c)) {
      while (in_word(c[length])) length++;
      add(&t, TOKEN_WORD, c, length, line);
    } else if (*c == '"') {
      length += strcspn(c + 1, "\"\n") + 1;
      if (c[length - 1] != '"') wrong = "a string does not end";
      else add(&t, TOKEN_TEXT, c + 1, length - 2, line);
    } else if (strchr("{}[]()<>,;:=+-!@|", *c)) add(&t, TOKEN_SIGN, c, 1, line);
    else wrong = "a character that PTX does not have";
    c += length;
  }
  if (!wrong && !t.failed) add(&t, TOKEN_END, "", 0, line);
  if (!wrong && !t.failed) {
    *count = t.count;
    return t.list;
  }
  snprintf(log, log_size, "line %" PRIu32 ": %s", line, wrong ? wrong : "out of memory");
  ptx_tokens_free(t.list, t.count);
  return NULL;
}

void ptx_tokens_free(ptx_token *list, int count) {
  for (int k = 0; k < count; k++) free(list[k].text);
  free(list);
}

/* 0f and eight digits, 0d and sixteen: false if it is neither. */
static bool exact(const char *word, ptx_type type, uint64_t *bits) {
  bool is_float = word[0] == '0' && (word[1] == 'f' || word[1] == 'F');
  bool is_double = word[0] == '0' && (word[1] == 'd' || word[1] == 'D');
  size_t digits = is_float ? 8 : 16;
  if (!is_float && !is_double) return false;
  if (strlen(word) != 2 + digits || strspn(word + 2, "0123456789abcdefABCDEF") != digits) return false;
  uint64_t value = strtoull(word + 2, NULL, 16);
  if (type == T_F32 && is_double) value = bits_of_float((float)double_of(value));
  if (type == T_F64 && is_float) value = bits_of_double((double)float_of(value));
  if (!type_float(type) && type_bytes(type) != (is_float ? 4 : 8)) return false;
  *bits = value;
  return type != T_F16 && type != T_F16X2;
}

static bool integer(const char *word, uint64_t *value) {
  char *end;
  if (!strcmp(word, "WARP_SZ")) return *value = LANES, true;
  if (!isdigit((unsigned char)word[0])) return false;
  if (word[0] == '0' && (word[1] == 'b' || word[1] == 'B')) *value = strtoull(word + 2, &end, 2);
  else *value = strtoull(word, &end, 0);
  if (*end == 'U') end++;
  return !*end;
}

bool ptx_number(const char *word, bool negative, ptx_type type, uint64_t *bits) {
  uint64_t value;
  if (exact(word, type, &value)) {
    if (negative) value ^= type_bytes(type) == 4 ? 1ull << 31 : 1ull << 63;
    *bits = value;
    return true;
  }
  if (integer(word, &value) && !type_float(type)) {
    if (negative) value = -value;
    int bytes = type_bytes(type);
    *bits = type == T_PRED ? value != 0 : bytes == 8 ? value : value & ((1ull << 8 * bytes) - 1);
    return true;
  }
  if ((type == T_F32 || type == T_F64) && isdigit((unsigned char)word[0]) && strpbrk(word, ".eE")) {
    char *end;
    double x = strtod(word, &end);
    if (*end) return false;
    *bits = type == T_F64 ? bits_of_double(negative ? -x : x) : bits_of_float((float)(negative ? -x : x));
    return true;
  }
  return false;
}

const char *ptx_line(const ptx_module *m, uint32_t line) {
  if (line < 1 || line > (uint32_t)m->nlines) return "";
  const char *text = m->line[line - 1];
  return text + strspn(text, " \t");
}
