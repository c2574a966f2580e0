/* kind.c - registration of task kinds.  See kind.h. */
#include "model/kind.h"

#include <string.h>
#include <xxhash.h>

#include "base/hash.h"
#include "model/constraint.h"

static void kind_free(lgt_kind *kind) {
  if (!kind) return;
  lgt_mem_free(kind->name);
  lgt_body_free(kind->body);
  lgt_mem_free(kind->part);
  lgt_mem_free(kind->constraints);
  lgt_body_free(kind->source);
  lgt_mem_free(kind->steady);
  lgt_mem_free(kind->share);
  lgt_mem_free(kind);
}

void lgt_kinds_fini(lgt_kinds *kinds) {
  for (int i = 1; i < kinds->count; i++) kind_free(kinds->kind[i]);
  lgt_mem_free(kinds->kind);
  *kinds = (lgt_kinds){0};
}

/* Not of its name, which says nothing about what a generator does. */
static uint64_t hash_of(const lgt_kind *kind) {
  if (!kind->body) return XXH3_64bits(kind->name, strlen(kind->name));
  uint64_t hash = XXH3_64bits(kind->body->inst, (size_t)kind->body->ninst * sizeof *kind->body->inst);
  for (int i = 0; i < kind->body->nconst; i++)
    hash = lgt_hash_mix(hash, kind->body->constant[i].u); /* real ones: the rest is undefined */
  return hash;
}

static int add(lgt_kinds *kinds, lgt_kind *kind) {
  int number = kinds->count > 0 ? kinds->count : 1;
  if (number > UINT16_MAX) {
    lgt_err(LGT_NO_MEMORY, "more than %d task kinds", UINT16_MAX);
  } else if (!lgt_mem_grow((void **)&kinds->kind, &kinds->room, number + 1, sizeof *kinds->kind)) {
    lgt_err(LGT_NO_MEMORY, "out of memory for task kind '%s'", kind->name);
  } else {
    kind->hash = hash_of(kind);
    kinds->kind[0] = NULL;
    kinds->kind[number] = kind;
    kinds->count = number + 1;
    return number;
  }
  kind_free(kind);
  return -1;
}

/* What the body does to each argument. */
static lgt_status read_privileges(lgt_kind *kind, const lgt_body *body) {
  for (int i = 0; i < body->ninst; i++) {
    const lgt_inst *in = &body->inst[i];
    int arg = in->op == LGT_OP_LOAD ? in->a : in->b, add_priv = 0;
    if (in->op == LGT_OP_LOAD) add_priv = LGT_PRIV_READ;
    else if (in->op == LGT_OP_STORE) add_priv = LGT_PRIV_WRITE;
    else if (in->op == LGT_OP_REDUCE_ARG) add_priv = LGT_PRIV_WRITE | LGT_PRIV_REDUCE;
    else if (in->op == LGT_OP_REDUCE)
      add_priv = LGT_PRIV_REDUCE | (in->aux & LGT_REDUCE_FRESH ? LGT_PRIV_WRITE : LGT_PRIV_READ);
    else continue;
    int n = in->op == LGT_OP_REDUCE_ARG ? 2 : 1;
    if (arg + n > LGT_MAX_ARGS)
      return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' has more than %d arguments", kind->name, LGT_MAX_ARGS);
    for (int k = 0; k < n; k++) {
      int dtype = k ? LGT_INT64 : in->dtype;
      if (kind->dtype[arg + k] != LGT_NDTYPE && kind->dtype[arg + k] != dtype)
        return lgt_err(LGT_BAD_DTYPE, "task kind '%s' uses argument %d both as %s and as %s", kind->name,
                       arg + k + 1, lgt_dtype_name(kind->dtype[arg + k]), lgt_dtype_name(dtype));
      if ((kind->privilege[arg + k] | add_priv) & LGT_PRIV_REDUCE && kind->privilege[arg + k])
        return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' reduces into argument %d and uses it otherwise too",
                       kind->name, arg + k + 1);
      kind->dtype[arg + k] = (uint8_t)dtype;
      kind->privilege[arg + k] |= (uint8_t)add_priv;
      kind->redop[arg + k] = in->aux & ~LGT_REDUCE_FRESH;
      if (arg + k >= kind->nargs) kind->nargs = arg + k + 1;
    }
    if (!(add_priv & LGT_PRIV_REDUCE)) continue;
    kind->several = kind->reduces || n > 1;
    kind->reduces = true;
  }
  bool writes = false;
  for (int a = 0; a < kind->nargs; a++) {
    if (!kind->privilege[a])
      return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' does not use argument %d", kind->name, a + 1);
    writes |= kind->privilege[a] != LGT_PRIV_READ;
  }
  if (!writes) /* an append that failed, and whose result nobody looked at, for one */
    return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' neither stores nor reduces anything", kind->name);
  return LGT_OK;
}

static bool reduces_floats(const lgt_body *body) {
  for (int i = 0; i < body->ninst; i++)
    if (body->inst[i].op == LGT_OP_REDUCE && strchr("fc", lgt_dtype_class(body->inst[i].dtype))) return true;
  return false;
}

static bool is_copy(const lgt_body *body) {
  return body->ninst == 2 && body->inst[0].op == LGT_OP_LOAD && body->inst[0].a == 1 &&
         body->inst[1].op == LGT_OP_STORE && body->inst[1].b == 0 && body->inst[1].a == 0;
}

int lgt_kinds_add_generator(lgt_kinds *kinds, const char *name, lgt_body *body) {
  if (!body) return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' was given no generator", name), -1;
  lgt_kind *kind = lgt_mem_zalloc(sizeof *kind);
  if (!kind) goto no_memory;
  kind->name = lgt_mem_strdup(name);
  if (!kind->name) goto no_memory;
  memset(kind->dtype, LGT_NDTYPE, sizeof kind->dtype);
  if (body->failed) {
    lgt_err(body->failed, "task kind '%s': %s", name,
            body->why ? body->why : "an append to its generator failed");
    goto fail;
  }
  if (lgt_body_verify(body) || read_privileges(kind, body)) goto fail;
  kind->nparams = body->nparam;
  if (kind->nparams > LGT_MAX_PARAMS) {
    lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' has %d parameters, %d are possible", name, kind->nparams,
            LGT_MAX_PARAMS);
    goto fail;
  }
  kind->is_copy = is_copy(body);
  if (lgt_body_lower_complex(body, &kind->body, &kind->part)) goto fail;
  int reductions = 0;
  for (int i = 0; i < kind->body->ninst; i++)
    reductions += kind->body->inst[i].op == LGT_OP_REDUCE || kind->body->inst[i].op == LGT_OP_REDUCE_ARG;
  if (reductions > LGT_MAX_REDUCTIONS) {
    lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' has %d reductions (complex ones count twice), %d are possible",
            name, reductions, LGT_MAX_REDUCTIONS);
    goto fail;
  }
  kind->inexact = reduces_floats(body);
  if (kind->several || kind->inexact) kind->source = body;
  else lgt_body_free(body);
  return add(kinds, kind);
no_memory:
  lgt_err(LGT_NO_MEMORY, "out of memory for task kind '%s'", name);
fail:
  lgt_body_free(body);
  kind_free(kind);
  return -1;
}

/* Parts that see each other's elements may not write them: which part's would count, nothing says. */
static lgt_status refuse_wide_writes(const lgt_kind *kind, const char *privileges) {
  const lgt_constraint_set *set = kind->constraints;
  for (int a = 0; a < kind->nargs; a++)
    for (int d = 0; d < LGT_MAX_DIM; d++)
      if (lgt_kind_writes(kind, a) && (set->below[a][d] || set->above[a][d]))
        return lgt_err(LGT_BAD_ARGUMENT,
                       "task kind '%s': bloat(%d.%d,%d,%d) wants an argument that is only read (r), not '%c'",
                       kind->name, a, d, set->below[a][d], set->above[a][d], privileges[a]);
  return LGT_OK;
}

int lgt_kinds_add(lgt_kinds *kinds, const char *name, const char *privileges, const char *constraints) {
  int nargs = (int)strlen(privileges);
  if (nargs < 1 || nargs > LGT_MAX_ARGS) {
    lgt_err(LGT_BAD_ARGUMENT, "task kind '%s': privileges \"%s\" must be 1 to %d letters of r, w, m", name,
            privileges, LGT_MAX_ARGS);
    return -1;
  }
  lgt_kind *kind = lgt_mem_zalloc(sizeof *kind);
  if (kind) kind->name = lgt_mem_strdup(name);
  if (!kind || !kind->name) {
    lgt_err(LGT_NO_MEMORY, "out of memory for task kind '%s'", name);
    goto fail;
  }
  kind->nargs = nargs;
  kind->nparams = LGT_MAX_PARAMS;
  memset(kind->dtype, LGT_NDTYPE, sizeof kind->dtype);
  for (int a = 0; a < nargs; a++) {
    const char *letter = strchr("rwm", privileges[a]);
    if (!letter) {
      lgt_err(LGT_BAD_ARGUMENT, "task kind '%s': privilege '%c' is none of r, w, m", name, privileges[a]);
      goto fail;
    }
    kind->privilege[a] = *letter == 'r'   ? LGT_PRIV_READ
                         : *letter == 'w' ? LGT_PRIV_WRITE
                                          : LGT_PRIV_READ | LGT_PRIV_WRITE;
  }
  kind->constraints = lgt_constraint_parse(constraints, nargs);
  if (!kind->constraints || refuse_wide_writes(kind, privileges)) goto fail;
  if (kind->constraints->by_rows &&
      (privileges[0] != 'w' || strspn(privileges + 1, "r") != strlen(privileges + 1))) {
    lgt_err(LGT_BAD_ARGUMENT,
            "task kind '%s': by_rows wants to write its first argument and read the others, not \"%s\"", name,
            privileges);
    goto fail;
  }
  return add(kinds, kind);
fail:
  kind_free(kind);
  return -1;
}

int lgt_kinds_add_own(lgt_kinds *kinds, const char *name, const char *privileges, const char *constraints,
                      lgt_own_variant own, bool infallible) {
  int number = lgt_kinds_add(kinds, name, privileges, constraints);
  if (number < 0) return number;
  kinds->kind[number]->own = own;
  kinds->kind[number]->infallible = infallible;
  return number;
}

lgt_kind *lgt_kinds_find(const lgt_kinds *kinds, uint32_t number) {
  if (number > 0 && number < (uint32_t)kinds->count) return kinds->kind[number];
  return lgt_err(LGT_BAD_ARGUMENT, "task kind %u is not registered", number), NULL;
}

lgt_status lgt_kind_set_variant(lgt_kind *kind, int device, lgt_variant function, void *context) {
  if (kind->body || kind->own)
    return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' has a %s: it takes no other functions", kind->name,
                   kind->body ? "generator" : "variant of lgt's own");
  if (device < LGT_VARIANT_CPU || device >= LGT_NCLASS)
    return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s': %d is no class of devices", kind->name, device);
  if (!function) return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' was given no function", kind->name);
  if (kind->variant[device])
    return lgt_err(LGT_BAD_ARGUMENT, "task kind '%s' has a function for this class of devices already",
                   kind->name);
  kind->variant[device] = function;
  kind->context[device] = context;
  return LGT_OK;
}

lgt_status lgt_kind_ready(const lgt_kind *kind) {
  if (kind->body || kind->own || kind->variant[LGT_VARIANT_CPU]) return LGT_OK;
  return lgt_err(LGT_BAD_ARGUMENT,
                 "task kind '%s' has no function for the CPU: lgt_kind_variant gives it one", kind->name);
}
