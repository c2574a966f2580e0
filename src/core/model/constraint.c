/* constraint.c - parsing constraint sets, and solving a launch for its partition.  See constraint.h.
 *
 * Deriving from a key partition: the key cuts the root; a view with unit steps turns the root's tiles
 * into tiles of the view (shifted by where the view begins), and the argument's alignment carries
 * them into the space.  A view with other steps, or one that drops a cut dimension, tells nothing,
 * and the next costliest argument is asked; unless it lies within one tile, as cells mirrored at an edge do, along which
 * it may go as it likes.
 */
#include "model/constraint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVAR = LGT_MAX_ARGS * LGT_MAX_DIM, MANY = 4 };

static int find(int *parent, int v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

/* "a.d" -> variable number, or -1. */
static int parse_pair(const char **text, int nargs) {
  int arg, dim, used;
  if (sscanf(*text, "%d.%d%n", &arg, &dim, &used) != 2 || arg < 0 || arg >= nargs || dim < 0 ||
      dim >= LGT_MAX_DIM)
    return -1;
  *text += used;
  return arg * LGT_MAX_DIM + dim;
}

static bool accept(const char **text, const char *token) {
  while (isspace((unsigned char)**text)) ++*text;
  size_t n = strlen(token);
  if (strncmp(*text, token, n)) return false;
  *text += n;
  while (isspace((unsigned char)**text)) ++*text;
  return true;
}

static bool parse_number(const char **text, int32_t *out) {
  int used;
  if (sscanf(*text, "%d%n", out, &used) != 1) return false;
  *text += used;
  return true;
}

static bool parse_argument(const char **text, int nargs, int8_t *out) {
  int32_t arg;
  if (!parse_number(text, &arg) || arg < 0 || arg >= nargs) return false;
  *out = (int8_t)arg;
  return true;
}

typedef enum image_kind { POINTS, RANGES, INVERSE } image_kind;

/* What follows the word: "sources:argument.dimension,...", but for ranges also ";base". */
static bool parse_image(const char **text, int nargs, image_kind kind, lgt_constraint_set *set) {
  lgt_image_constraint image = {.source = {-1, -1}, .tile = {-1, -1}};
  int first = set->nimage;
  if (!parse_argument(text, nargs, &image.source[0])) return false;
  if (kind == RANGES && !(accept(text, ",") && parse_argument(text, nargs, &image.source[1]))) return false;
  if (kind == INVERSE) {
    int v = accept(text, ",") ? parse_pair(text, nargs) : -1;
    if (v < 0) return false;
    image.tile[0] = (int8_t)(v / LGT_MAX_DIM);
    image.tile[1] = (int8_t)(v % LGT_MAX_DIM);
  }
  if (!accept(text, ":")) return false;
  do {
    int v = parse_pair(text, nargs);
    if (v < 0 || set->nimage == LGT_MAX_IMAGES) return false;
    image.arg = (int8_t)(v / LGT_MAX_DIM);
    image.dim = (int8_t)(v % LGT_MAX_DIM);
    for (int i = 0; i < set->nimage; i++)
      if (set->image[i].arg == image.arg) return false;
    if ((kind != INVERSE && image.arg == image.source[0]) || image.arg == image.source[1]) return false;
    set->image[set->nimage++] = image;
  } while (accept(text, ","));
  if (kind != RANGES && accept(text, ";") && !parse_number(text, &image.base)) return false;
  for (int i = first; i < set->nimage; i++) set->image[i].base = image.base;
  return accept(text, ")");
}

/* One constraint; false when it is malformed. */
static bool parse_one(const char **text, int nargs, int *parent, bool *mentioned, bool *whole,
                      lgt_constraint_set *set) {
  if (accept(text, "varies")) return set->varies = true;
  if (accept(text, "by_rows")) return set->by_rows = true;
  if (accept(text, "align(")) {
    int first = parse_pair(text, nargs);
    if (first < 0) return false;
    mentioned[first] = true;
    while (accept(text, ",")) {
      int next = parse_pair(text, nargs);
      if (next < 0) return false;
      mentioned[next] = true;
      parent[find(parent, next)] = find(parent, first);
    }
    return accept(text, ")");
  }
  if (accept(text, "broadcast(")) {
    do {
      int v = parse_pair(text, nargs);
      if (v < 0) return false;
      whole[v] = true;
    } while (accept(text, ","));
    return accept(text, ")");
  }
  if (accept(text, "image_ranges(")) return parse_image(text, nargs, RANGES, set);
  if (accept(text, "image_points(")) return parse_image(text, nargs, POINTS, set);
  if (accept(text, "image_inverse(")) return parse_image(text, nargs, INVERSE, set);
  if (accept(text, "bloat(")) {
    int v = parse_pair(text, nargs);
    int32_t below, above;
    if (v < 0 || !accept(text, ",") || !parse_number(text, &below) || !accept(text, ",") ||
        !parse_number(text, &above))
      return false;
    if (below < 0 || above < 0) return false;
    mentioned[v] = true;
    set->below[v / LGT_MAX_DIM][v % LGT_MAX_DIM] = below;
    set->above[v / LGT_MAX_DIM][v % LGT_MAX_DIM] = above;
    return accept(text, ")");
  }
  if (accept(text, "scale(")) {
    int v = parse_pair(text, nargs);
    int32_t block = LGT_BLOCK_FITS;
    if (v < 0 || (accept(text, ",") && (!parse_number(text, &block) || block < 1))) return false;
    mentioned[v] = true;
    set->block[v / LGT_MAX_DIM][v % LGT_MAX_DIM] = block;
    return accept(text, ")");
  }
  return false;
}

lgt_constraint_set *lgt_constraint_parse(const char *text, int nargs) {
  lgt_constraint_set *set = lgt_mem_zalloc(sizeof *set);
  int parent[NVAR], number[NVAR];
  bool mentioned[NVAR] = {false}, whole[NVAR] = {false}, never[NVAR] = {false};
  const char *p = text;
  if (!set) {
    lgt_err(LGT_NO_MEMORY, "out of memory for constraints");
    return NULL;
  }
  set->nargs = nargs;
  for (int v = 0; v < NVAR; v++) parent[v] = v, number[v] = -1;
  while (accept(&p, ""), *p) {
    if (!parse_one(&p, nargs, parent, mentioned, whole, set)) {
      lgt_err(LGT_BAD_ARGUMENT,
              "constraints \"%s\": expected align(a.d,a.d,...), broadcast(a.d,...), bloat(a.d,below,above), "
              "scale(a.d,block), scale(a.d), image_points(a:a.d,...;base), image_ranges(a,a:a.d,...), "
              "image_inverse(a,a.d:a.d,...;base) "
              "with arguments 0 to %d, varies, or by_rows, at \"%s\"",
              text, nargs - 1, p);
      lgt_mem_free(set);
      return NULL;
    }
  }
  for (int i = 0; i < set->nimage; i++) whole[set->image[i].arg * LGT_MAX_DIM + set->image[i].dim] = true;
  for (int v = 0; v < NVAR; v++)
    if (whole[v]) never[find(parent, v)] = true; /* a class with a broadcast member is never cut */
  for (int a = 0; a < nargs; a++)
    for (int d = 0; d < LGT_MAX_DIM; d++) {
      int v = a * LGT_MAX_DIM + d, root = find(parent, v);
      set->class_of[a][d] = -1;
      if (!mentioned[v] || never[root]) continue;
      if (number[root] < 0 && set->nclass < LGT_MAX_DIM) number[root] = set->nclass++;
      set->class_of[a][d] = (int8_t)number[root];
    }
  if (set->by_rows && (set->nclass != 1 || set->class_of[0][0] != 0 || set->block[0][0])) {
    lgt_err(LGT_BAD_ARGUMENT, "constraints \"%s\": by_rows needs one dimension that is cut, 0.0 among others",
            text);
    lgt_mem_free(set);
    return NULL;
  }
  return set;
}

/* ---- spaces ------------------------------------------------------------------------------------- */

static lgt_status space_of_generator(const lgt_stores *stores, const lgt_call *call, lgt_space *space) {
  lgt_status status = lgt_call_space(stores, call, &space->ndim, space->extent);
  if (status) return status;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    for (int d = 0; d < l->ndim; d++) space->align[a].to[d] = (int8_t)(space->ndim - l->ndim + d);
  }
  return LGT_OK;
}

/* The blocks of what is scaled to the extents of the space. */
static void fit_blocks(const lgt_stores *stores, const lgt_call *call, lgt_space *space) {
  const lgt_constraint_set *set = call->kind->constraints;
  int64_t unit[LGT_MAX_DIM] = {0};
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    for (int d = 0; d < l->ndim; d++) {
      int k = set->class_of[a][d];
      if (k < 0 || !set->block[a][d]) continue;
      int64_t extent = space->extent[k] > 0 ? space->extent[k] : 1, block = set->block[a][d];
      if (block == LGT_BLOCK_FITS) block = (l->shape[d] + extent - 1) / extent;
      space->align[a].block[d] = block < 1 ? 1 : block;
      if (block > unit[k]) unit[k] = block;
    }
  }
  for (int k = 0; k < space->ndim; k++) space->unit *= unit[k] > 0 ? unit[k] : 1;
}

/* How much a point stands for: the elements of lines, say, along which nothing is cut. */
static int64_t whole_part(const lgt_stores *stores, const lgt_call *call) {
  const lgt_constraint_set *set = call->kind->constraints;
  int64_t most = 1;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    int64_t whole = 1;
    bool cut = false;
    for (int d = 0; d < l->ndim; d++)
      if (set->class_of[a][d] >= 0) cut = true;
      else whole *= l->shape[d];
    if (cut && whole > most) most = whole;
  }
  for (int i = 0; i < set->nimage; i++) { /* of what ranges name, each point has a part */
    const lgt_image_constraint *image = &set->image[i];
    if (image->source[1] < 0 || set->class_of[image->source[0]][0] < 0) continue;
    const lgt_layout *target = lgt_layout_at(stores, call->layout[image->arg]),
                     *source = lgt_layout_at(stores, call->layout[image->source[0]]);
    int64_t points = source->ndim ? source->shape[0] : 1;
    if (points > 0 && target->size / points > most) most = target->size / points;
  }
  return most;
}

static lgt_status space_of_set(const lgt_stores *stores, const lgt_call *call, lgt_space *space) {
  const lgt_constraint_set *set = call->kind->constraints;
  bool known[LGT_MAX_DIM] = {false};
  int first = lgt_layout_at(stores, call->layout[0])->ndim;
  if (set->by_rows && first != 1)
    return lgt_err(LGT_BAD_SHAPE, "'%s' works by rows: its first argument is a vector, not of %d dimensions",
                   call->kind->name, first);
  space->ndim = set->nclass;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    for (int d = 0; d < l->ndim; d++) {
      int k = set->class_of[a][d];
      int64_t block = set->block[a][d], extent = block > 0 ? (l->shape[d] + block - 1) / block : l->shape[d];
      space->align[a].to[d] = (int8_t)k;
      space->align[a].below[d] = set->below[a][d];
      space->align[a].above[d] = set->above[a][d];
      if (k < 0 || block == LGT_BLOCK_FITS) continue;
      if (known[k] && space->extent[k] != extent)
        return lgt_err(LGT_BAD_SHAPE, "'%s' wants dimension %d of argument %d to have %lld %s%s, it has %lld",
                       call->kind->name, d + 1, a + 1, (long long)space->extent[k],
                       block ? "block" : "element", lgt_plural(space->extent[k]), (long long)extent);
      known[k] = true;
      space->extent[k] = extent;
    }
  }
  for (int k = 0; k < space->ndim; k++)
    if (!known[k]) space->extent[k] = 1;
  space->unit = whole_part(stores, call);
  fit_blocks(stores, call, space);
  return LGT_OK;
}

lgt_status lgt_space_of_call(const lgt_stores *stores, const lgt_call *call, lgt_space *space) {
  *space = (lgt_space){.unit = 1, .align = space->align};
  for (int a = 0; a < call->nargs; a++) {
    space->align[a] = (lgt_alignment){0};
    memset(space->align[a].to, -1, sizeof space->align[a].to);
  }
  return call->kind->body ? space_of_generator(stores, call, space) : space_of_set(stores, call, space);
}

lgt_rect lgt_space_view_rect(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile) {
  lgt_rect r = lgt_rect_of_shape(layout->ndim, layout->shape);
  for (int d = 0; d < layout->ndim; d++) {
    int k = align->to[d];
    if (k < 0 || (layout->shape[d] == 1 && tile->hi[k] > tile->lo[k])) continue; /* whole, or broadcast */
    int64_t block = lgt_alignment_block(align, d);
    int64_t lo = tile->lo[k] * block - align->below[d], hi = tile->hi[k] * block + align->above[d];
    if (lo > r.lo[d]) r.lo[d] = lo;
    if (hi < r.hi[d]) r.hi[d] = hi;
    if (r.hi[d] < r.lo[d]) r.hi[d] = r.lo[d];
  }
  return r;
}

/* ---- the solver ----------------------------------------------------------------------------------- */

/* The dimension of the home grid along which the owners of a dimension's tiles lie; -1: none. */
static int home_of(const lgt_home *home, int dim) {
  for (int j = 0; j < home->ndim; j++)
    if (home->dim[j] == dim) return j;
  return -1;
}

static int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/* The owners of the root's tiles along dimension r own those of the space along k, the first of which is the root's number
 * `tile`. */
static void take_home(const lgt_partition *key, int r, int k, int64_t tile, lgt_home *home) {
  for (int j = 0; j < home->ndim; j++)
    if (key->home.dim[j] == r) home->dim[j] = (int8_t)k, home->first[j] = key->home.first[j] + (int32_t)tile;
}

/* The same for a reshaped view of a root that is cut in rows: edges of tiles move to the nearest index. */
static bool derive_rows(const lgt_layout *l, const lgt_alignment *align, const lgt_partition *key,
                        const lgt_space *space, int64_t *tile, int64_t *offset, lgt_home *home) {
  unsigned cut = 0;
  *home = key->home;
  for (int j = 0; j < home->ndim; j++) home->dim[j] = -1;
  for (int d = 0; d < space->ndim; d++) tile[d] = space->extent[d] < 1 ? 1 : space->extent[d], offset[d] = 0;
  for (int r = 0; r < key->ndim; r++) {
    lgt_outer o;
    if (key->grid[r] == 1) continue;
    if (!lgt_layout_outer(l, r, &o)) return false;
    int k = align->to[o.dim];
    if (k < 0 || (space->whole | cut) & (1u << k) || l->shape[o.dim] != space->extent[k] ||
        align->block[o.dim] > 1)
      return false;
    cut |= 1u << k;
    offset[k] = floor_divide(key->offset[r] * o.unit - o.at + o.block / 2, o.block);
    tile[k] = (key->tile[r] * o.unit + o.block / 2) / o.block;
    if (tile[k] * key->grid[r] < space->extent[k] - offset[k])
      tile[k] = (key->tile[r] * o.unit + o.block - 1) / o.block;
    take_home(key, r, k, 0, home);
  }
  return true;
}

/* Does a box of a root lie within one tile along a dimension? */
static bool in_one_tile(const lgt_partition *key, int r, const lgt_rect *box) {
  return lgt_partition_tile_at(key, r, box->lo[r]) == lgt_partition_tile_at(key, r, box->hi[r] - 1);
}

/* Tiles of the space from the key partition of an argument's root, with its owners; false when the view hides
 * them.  Where it walks along several dimensions that are cut, as diagonals do, the finest tiles count, and all owners do if
 * tiles are alike. */
static bool derive(const lgt_layout *l, const lgt_alignment *align, const lgt_partition *key,
                   const lgt_space *space, int64_t *tile, int64_t *offset, lgt_home *home) {
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM][LGT_MAX_DIM];
  if (key->kind != LGT_PARTITION_TILING) return false;
  if (l->flags & LGT_LAYOUT_RESHAPED && derive_rows(l, align, key, space, tile, offset, home)) return true;
  if (!lgt_layout_steps(l, begin, step)) return false;
  *home = key->home;
  for (int j = 0; j < home->ndim; j++) { /* a row of tiles, unless the view walks along it */
    int r = key->home.dim[j];
    home->dim[j] = -1;
    if (r >= 0) home->first[j] += (int32_t)lgt_partition_tile_at(key, r, begin[r]);
  }
  lgt_rect all = lgt_rect_of_shape(l->ndim, l->shape), box = lgt_layout_root_rect(l, &all);
  for (int k = 0; k < space->ndim; k++) tile[k] = space->extent[k] < 1 ? 1 : space->extent[k], offset[k] = 0;
  unsigned cut = 0;
  for (int d = 0; d < l->ndim; d++) {
    int k = align->to[d], main = -1;
    int64_t block = lgt_alignment_block(align, d);
    for (int r = 0; r < l->root_ndim; r++) {
      if (key->grid[r] == 1 || step[d][r] == 0) continue;
      if (step[d][r] != 1 && in_one_tile(key, r, &box)) continue; /* as if it did not walk */
      if (k < 0 || space->whole & (1u << k) || cut & (1u << r) || step[d][r] != 1 ||
          (l->shape[d] + block - 1) / block != space->extent[k])
        return false;
      cut |= 1u << r;
      if (main < 0 || key->tile[r] < key->tile[main]) main = r;
    }
    if (main < 0) continue;
    /* In whole blocks: edges of tiles move to the nearest one, unless that makes more tiles. */
    offset[k] = floor_divide(key->offset[main] - begin[main] + block / 2, block);
    tile[k] = (key->tile[main] + block / 2) / block;
    if (tile[k] * key->grid[main] < space->extent[k] - offset[k])
      tile[k] = (key->tile[main] + block - 1) / block;
    take_home(key, main, k, 0, home);
    for (int r = 0; r < l->root_ndim; r++)
      if (r != main && key->grid[r] > 1 && step[d][r] && key->tile[r] == key->tile[main])
        take_home(
            key, r, k,
            floor_divide(begin[r] + offset[k] * block + key->tile[r] / 2 - key->offset[r], key->tile[r]),
            home);
  }
  return true;
}

/* The argument to ask next: the costliest to move; among equals a part of something larger, which would be scattered;
 * then a recent one.  -1: none is left. */
static int costliest(const lgt_stores *stores, const lgt_call *call, const lgt_solver_key_state *state,
                     const bool *asked) {
  int best = -1;
  int64_t most = -1, largest = -1;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    int64_t bytes = lgt_layout_bytes(l), root = lgt_layout_root_size(l);
    if (asked[a] || !state[a].key || bytes < most) continue;
    if (bytes == most && (root < largest || (root == largest && (state[best].recent || !state[a].recent))))
      continue;
    best = a;
    most = bytes;
    largest = root;
  }
  return best;
}

/* Does the call write elements that it uses through another view too?  Each domain reads its own copy of what others
 * write, so that matters only where two colours share a domain; but what is reduced lives in memory of its own until
 * the colours' results are folded, and two writers may have boxes that meet. */
typedef enum reuse { NO_REUSE, REUSES_A_COPY, REUSES } reuse;

static reuse reuse_of(const lgt_stores *stores, const lgt_call *call) {
  reuse worst = NO_REUSE;
  for (int a = 0; a < call->nargs; a++)
    for (int b = 0; b < call->nargs && call->kind->privilege[a] != LGT_PRIV_READ; b++) {
      if (a == b || call->store[a] != call->store[b]) continue;
      if ((call->kind->privilege[a] | call->kind->privilege[b]) & LGT_PRIV_REDUCE) return REUSES;
      const lgt_layout *la = lgt_layout_at(stores, call->layout[a]),
                       *lb = lgt_layout_at(stores, call->layout[b]);
      /* A writer that leaves elements out owns the whole box around its tile. */
      if (la == lb || (!lgt_layout_may_overlap(la, lb) && lgt_layout_exact(la))) continue;
      if (call->kind->privilege[b] != LGT_PRIV_READ || lgt_kind_native(call->kind)) return REUSES;
      worst = REUSES_A_COPY;
    }
  return worst;
}

/* Tiles of the space where an argument's elements are; NULL: its key tells nothing. */
static const lgt_partition *derived(const lgt_solver *solver, const lgt_stores *stores, const lgt_call *call,
                                    const lgt_space *space, const lgt_partition *key, int arg) {
  int64_t tile[LGT_MAX_DIM], offset[LGT_MAX_DIM];
  lgt_home home;
  if (!derive(lgt_layout_at(stores, call->layout[arg]), &space->align[arg], key, space, tile, offset, &home))
    return NULL;
  const lgt_partition *p =
      lgt_partition_tiling_at(solver->partitions, space->ndim, space->extent, tile, offset, &home);
  return p && p->ncolour <= MANY * solver->most
             ? p
             : NULL; /* else tiles of a small part all over a large array */
}

/* How far the tiles of a launch may lie from the elements of its views: what moves then is a thin halo. */
static int64_t thin(const lgt_partition *p, int d) {
  enum { FINE = 4, THIN = 32 };
  return p->tile[d] >= THIN ? p->tile[d] / THIN : p->tile[d] >= FINE ? 1 : 0;
}

/* Do two tilings have the same tiles of the same owners, but for where they begin, and almost so large? */
static bool same_but_shifted(const lgt_partition *a, const lgt_partition *b) {
  bool same = a->kind == LGT_PARTITION_TILING && b->kind == LGT_PARTITION_TILING && a->ndim == b->ndim &&
              a->home.ndim == b->home.ndim;
  for (int d = 0; same && d < a->ndim; d++)
    same = llabs(a->tile[d] - b->tile[d]) <= thin(a, d) && a->extent[d] == b->extent[d];
  for (int j = 0; same && j < a->home.ndim; j++)
    same = a->home.grid[j] == b->home.grid[j] && a->home.dim[j] == b->home.dim[j] &&
           (a->home.dim[j] >= 0 || a->home.first[j] == b->home.first[j]);
  return same;
}

/* Where the first owner's tile begins. */
static int64_t origin(const lgt_partition *p, int d) {
  int j = home_of(&p->home, d);
  return p->offset[d] - (j < 0 ? 0 : p->home.first[j] * p->tile[d]);
}

/* Would the first and the last cut of a dimension, with such tiles from `at` on, lie between those that begin at lo and hi,
 * or a little beyond? */
static bool cuts_near(const lgt_partition *p, int d, int64_t at, int64_t tile, int64_t lo, int64_t hi) {
  int j = home_of(&p->home, d);
  int64_t more = tile - p->tile[d], cuts = j < 0 ? 0 : p->home.grid[j] - 1, margin = thin(p, d);
  int64_t first = at + (cuts > 0 ? more : 0), last = at + cuts * more;
  return first >= lo - margin && first <= hi + margin && last >= lo - margin && last <= hi + margin;
}

/* Is it another way to cut p's space, and does it lie between lo and hi, or a little beyond? */
static bool lies_near(const lgt_partition *p, const lgt_partition *other, const int64_t *lo,
                      const int64_t *hi) {
  bool near = same_but_shifted(p, other);
  for (int d = 0; d < p->ndim && near; d++)
    near = cuts_near(p, d, origin(other, d), other->tile[d], lo[d], hi[d]);
  return near;
}

/* Equal tiles for all owners of a dimension, from its begin on, if that is near. */
static bool cut_evenly(const lgt_partition *p, int d, int64_t lo, int64_t hi, int64_t *tile) {
  int j = home_of(&p->home, d);
  int64_t even = j < 0 ? p->tile[d] : (p->extent[d] + p->home.grid[j] - 1) / p->home.grid[j];
  *tile = p->tile[d];
  if (even > 0 && llabs(even - p->tile[d]) <= thin(p, d) && cuts_near(p, d, 0, even, lo, hi))
    return *tile = even, true;
  return lo <= thin(p, d) && hi >= -thin(p, d);
}

/* Views that are shifted against each other pull the tiles to several sides, and whichever tiles are taken, halos move.  So
 * that launches fuse, all over one extent have the same ones, if not much more moves then: those of a launch that writes where
 * something is already; those of an earlier one; those that begin where the first owner's elements do, which do not depend
 * on what came before; else half way.  But what is written stays with its owners. */
static const lgt_partition *settle(const lgt_solver *solver, const lgt_stores *stores, const lgt_call *call,
                                   const lgt_space *space, const lgt_solver_key_state *state,
                                   const lgt_partition *p) {
  enum { NRECENT = sizeof solver->recent / sizeof *solver->recent };
  int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM];
  for (int d = 0; d < p->ndim; d++) lo[d] = hi[d] = origin(p, d);
  for (int a = 0; a < call->nargs; a++) {
    const lgt_partition *q = state[a].key ? derived(solver, stores, call, space, state[a].key, a) : NULL;
    if (!q || !same_but_shifted(p, q)) continue;
    if (call->kind->privilege[a] != LGT_PRIV_READ) return q;
    for (int d = 0; d < p->ndim; d++) {
      int64_t at = origin(q, d);
      if (at < lo[d]) lo[d] = at;
      if (at > hi[d]) hi[d] = at;
    }
  }
  for (int i = 0; i < LGT_ANCHORS && solver->anchor[i]; i++)
    if (lies_near(p, solver->anchor[i], lo, hi)) return solver->anchor[i];
  for (int i = 0; i < NRECENT && solver->recent[i]; i++)
    if (lies_near(p, solver->recent[i], lo, hi)) return solver->recent[i];
  lgt_home home = p->home;
  for (int j = 0; j < home.ndim; j++)
    if (home.dim[j] >= 0) home.first[j] = 0;
  int64_t tile[LGT_MAX_DIM];
  for (int d = 0; d < p->ndim; d++)
    lo[d] = cut_evenly(p, d, lo[d], hi[d], &tile[d]) ? 0 : lo[d] + (hi[d] - lo[d]) / 2;
  return lgt_partition_tiling_at(solver->partitions, p->ndim, p->extent, tile, lo, &home);
}

/* The dimensions of the space along which tiles of a reshaped view have rows of their own; if there are none, the one where
 * it makes its greatest steps, so that few rows are needed twice. */
static unsigned rows_of_reshaped(const lgt_layout *l, const lgt_alignment *align) {
  unsigned dims = 0;
  lgt_outer o;
  int big = 0;
  for (int r = 0; r < l->root_ndim; r++)
    if (l->root_shape[r] > 1 && lgt_layout_outer(l, r, &o) && align->to[o.dim] >= 0)
      dims |= 1u << align->to[o.dim];
  for (int d = 1; d < l->ndim; d++)
    if (l->shape[d] > 1 && (l->shape[big] == 1 || l->stride[d] > l->stride[big])) big = d;
  return dims ? dims : align->to[big] >= 0 ? 1u << align->to[big] : 0;
}

/* A reshaped view is read and written in whole rows of its root: only there do tiles of it go with tiles of the root.
 * `written`: of those alone that are written. */
static unsigned whole_for_reshaped(const lgt_stores *stores, const lgt_call *call, const lgt_space *space,
                                   bool written) {
  unsigned whole = 0;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    if (!(l->flags & LGT_LAYOUT_RESHAPED) || (written && call->kind->privilege[a] == LGT_PRIV_READ)) continue;
    unsigned all = (1u << space->ndim) - 1;
    whole |= all & ~rows_of_reshaped(l, &space->align[a]);
  }
  return whole;
}

/* Is an argument a view of something that is cut which leaves out most elements of its box, and is that large?  All of it
 * would come to whoever needs the view. */
static bool is_scattered(const lgt_solver *solver, const lgt_stores *stores, const lgt_call *call,
                         const lgt_solver_key_state *state) {
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    lgt_rect all = lgt_rect_of_shape(l->ndim, l->shape), box = lgt_layout_root_rect(l, &all);
    int64_t size = lgt_rect_size(&box);
    if (state[a].key && size >= solver->min_tile && size > 2 * lgt_layout_distinct(l)) return true;
  }
  return false;
}

/* The launch of the window that writes where something is already, in several tiles, over the same extent, or one on a single
 * number; NULL: there is none. */
static const lgt_partition *anchor_of(const lgt_solver *solver, const lgt_space *space) {
  if (!space->ndim) return solver->number;
  for (int i = 0; i < LGT_ANCHORS && solver->anchor[i]; i++) {
    const lgt_partition *p = solver->anchor[i];
    bool same = p->ndim == space->ndim && p->ncolour > 1;
    for (int d = 0; d < p->ndim && same; d++)
      same = p->extent[d] == space->extent[d] && (p->grid[d] == 1 || !(space->whole & 1u << d));
    if (same) return p;
  }
  return NULL;
}

/* Is the space cut, and most of what its tiles could hold? */
static bool goes_across(const lgt_partition *p) {
  for (int d = 0; d < p->ndim; d++)
    if (2 * p->extent[d] < p->tile[d] * p->grid[d]) return false;
  return p->ncolour > 1;
}

/* A launch that is not worth several tiles runs everywhere, unless it touches a part of something that is cut: that
 * part stays where it is.  What is written has the first word.  What is only read comes to the tiles of others over the same
 * extent, which may want the result: a row, to those who work on columns; or a number to the owner of the one before it. */
static const lgt_partition *choose_small(const lgt_solver *solver, const lgt_stores *stores,
                                         const lgt_call *call, const lgt_space *space,
                                         const lgt_solver_key_state *state, const char **reason) {
  for (int writes = 1; writes >= 0; writes--)
    for (int a = 0; a < call->nargs; a++) {
      if (!state[a].key || (call->kind->privilege[a] != LGT_PRIV_READ) != writes) continue;
      const lgt_partition *p = derived(solver, stores, call, space, state[a].key, a), *anchor = NULL;
      if (p && p->ncolour == 1 && !writes) anchor = anchor_of(solver, space);
      *reason = !anchor                    ? "where the part is"
                : anchor == solver->number ? "where the number before it is"
                                           : "where others over this extent write";
      if (p && !writes && goes_across(p)) return settle(solver, stores, call, space, state, p);
      if (p) return anchor ? anchor : p;
    }
  *reason = "its parts are scattered";
  if (is_scattered(solver, stores, call, state))
    return lgt_partition_natural(solver->partitions, space->ndim, space->extent,
                                 space->whole | whole_for_reshaped(stores, call, space, false), solver->most,
                                 1);
  *reason = "smaller than two tiles";
  return lgt_partition_none(solver->partitions, space->ndim, space->extent);
}

/* Is an argument a small part of what one domain has of its root?  It is worked on there. */
static bool is_strip(const lgt_stores *stores, const lgt_call *call, const lgt_partition *key, int arg) {
  enum { SMALL = 8 };
  const lgt_layout *l = lgt_layout_at(stores, call->layout[arg]);
  return l->size * SMALL * key->ncolour <= lgt_layout_root_size(l);
}

static const lgt_partition *choose(const lgt_solver *solver, const lgt_stores *stores, const lgt_call *call,
                                   const lgt_space *space, const lgt_solver_key_state *state,
                                   const char **reason) {
  int64_t size = space->unit;
  for (int d = 0; d < space->ndim; d++) size *= space->extent[d];
  *reason = "there are no elements"; /* but a reduction over them has a result */
  if (size == 0) return lgt_partition_none(solver->partitions, space->ndim, space->extent);
  if (size < 2 * solver->min_tile || size < 2)
    return choose_small(solver, stores, call, space, state, reason);
  bool asked[LGT_MAX_ARGS] = {false};
  for (int a; (a = costliest(stores, call, state, asked)) >= 0;) {
    asked[a] = true;
    /* What is stretched over the space is cheap to move, and knows nothing of most of its dimensions. */
    if (lgt_layout_distinct(lgt_layout_at(stores, call->layout[a])) < size / 8) continue;
    const lgt_partition *p = derived(solver, stores, call, space, state[a].key, a);
    if (!p || (p->ncolour == 1 && !is_strip(stores, call, state[a].key, a)))
      continue; /* too large for one domain */
    const lgt_partition *q = settle(solver, stores, call, space, state, p);
    *reason = q != p            ? "near the tiles of what it uses"
              : state[a].recent ? "partition of a result it uses"
                                : "key partition of the largest argument";
    return q;
  }
  *reason = "natural";
  return lgt_partition_natural(solver->partitions, space->ndim, space->extent,
                               space->whole | whole_for_reshaped(stores, call, space, false), solver->most,
                               (solver->min_tile + space->unit - 1) / space->unit);
}

/* ---- writes through reshaped views: between rows of the root ------------------------------------------------ */

static bool writes_reshaped(const lgt_stores *stores, const lgt_call *call, int arg) {
  return call->kind->privilege[arg] != LGT_PRIV_READ &&
         lgt_layout_at(stores, call->layout[arg])->flags & LGT_LAYOUT_RESHAPED;
}

/* May the call write through a reshaped view if its space is cut at all? */
static bool may_cut_reshaped(const lgt_stores *stores, const lgt_call *call, int arg) {
  const lgt_layout *l = lgt_layout_at(stores, call->layout[arg]);
  bool any = false;
  lgt_outer o;
  for (int r = 0; r < l->root_ndim; r++) any |= lgt_layout_outer(l, r, &o);
  return any && !(call->kind->privilege[arg] & LGT_PRIV_REDUCE);
}

/* Do tiles of the space write rows that do not meet? */
static bool writes_rows(const lgt_solver *solver, const lgt_stores *stores, const lgt_call *call,
                        const lgt_space *space, const lgt_partition *p) {
  for (int a = 0; a < call->nargs && p->ncolour > 1; a++)
    if (writes_reshaped(stores, call, a) &&
        !lgt_solver_key(solver, lgt_layout_at(stores, call->layout[a]), &space->align[a], p))
      return false;
  return true;
}

/* Tiles of about the size of those of `p`, between rows of an argument. */
static const lgt_partition *between_rows(const lgt_solver *solver, const lgt_layout *l,
                                         const lgt_alignment *align, const lgt_partition *p) {
  int64_t tile[LGT_MAX_DIM], offset[LGT_MAX_DIM];
  if (p->kind != LGT_PARTITION_TILING) return NULL;
  memcpy(tile, p->tile, sizeof tile);
  memcpy(offset, p->offset, sizeof offset);
  for (int r = 0; r < l->root_ndim; r++) {
    lgt_outer o;
    if (!lgt_layout_outer(l, r, &o) || align->to[o.dim] < 0) continue;
    int k = align->to[o.dim];
    tile[k] = (tile[k] + o.unit - 1) / o.unit * o.unit;
    offset[k] = floor_divide(offset[k] + o.at, o.unit) * o.unit - o.at;
  }
  return lgt_partition_tiling_at(solver->partitions, p->ndim, p->extent, tile, offset, &p->home);
}

/* The partition of a call that writes through reshaped views: that of any other, if it writes rows, or one like it. */
static const lgt_partition *choose_rows(const lgt_solver *solver, const lgt_stores *stores,
                                        const lgt_call *call, const lgt_space *space,
                                        const lgt_solver_key_state *state, const char **reason) {
  lgt_space cut = *space;
  cut.whole |= whole_for_reshaped(stores, call, space, true);
  const lgt_partition *p = choose(solver, stores, call, &cut, state, reason);
  if (!p || writes_rows(solver, stores, call, space, p)) return p;
  for (int a = 0; a < call->nargs; a++) {
    if (!writes_reshaped(stores, call, a)) continue;
    const lgt_partition *q =
        between_rows(solver, lgt_layout_at(stores, call->layout[a]), &space->align[a], p);
    *reason = "rows of what it writes";
    if (q && writes_rows(solver, stores, call, space, q)) return q;
  }
  *reason = "it writes a reshaped view";
  return lgt_partition_none(solver->partitions, space->ndim, space->extent);
}

const lgt_partition *lgt_solver_choose(const lgt_solver *solver, const lgt_stores *stores,
                                       const lgt_call *call, const lgt_space *space,
                                       const lgt_solver_key_state *state, const char **reason) {
  const lgt_partition *none = lgt_partition_none(solver->partitions, space->ndim, space->extent);
  *reason = "one domain";
  if (lgt_solver_whole(solver)) return none;
  *reason = "it writes a reshaped view";
  bool reshaped = false;
  for (int a = 0; a < call->nargs; a++) {
    if (!writes_reshaped(stores, call, a)) continue;
    if (!may_cut_reshaped(stores, call, a)) return none;
    reshaped = true;
  }
  reuse reuses = reuse_of(stores, call);
  *reason = "it overwrites what it reads";
  if (reuses == REUSES) return none;
  const char *why;
  const lgt_partition *p = (reshaped ? choose_rows : choose)(solver, stores, call, space, state, &why);
  if (p && reuses && p != none && !lgt_partition_apart(p, solver->domains)) return none;
  *reason = why;
  return p;
}
