/* footprint.h - which elements of a store each domain touches through one argument of a launch.
 *
 * A footprint is a view, its alignment with the launch's space, and the partition of that space.  It tells which rects
 * of the root the colours of a given domain touch, and which colours touch a given rect, at a cost that does not depend
 * on the number of domains.  Footprints are interned: two are equal exactly when their
 * pointers are.
 *
 * A footprint that neither plans nor histories nor images name any more is freed at the next sweep (sweep.h).
 *
 * One kind of footprint has no colours: *everywhere*, a rect that the first domain of every rank touches.  It stands for
 * launches of a single colour, which every rank runs; for reads of values that the script looks at; and for the results
 * of reductions over several colours.
 *
 * Of another kind, an image (image.h), data says how far each domain reaches along one dimension of the root.  Such a
 * footprint belongs to its image and is not interned, unless elements are written through it.  Then it is *ordered*: the
 * reach of each domain lies behind the reaches of the domains before, and histories may contain the footprint.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_FOOTPRINT_H
#define LGT_FOOTPRINT_H

#include "base/hash.h"
#include "model/cell.h"

typedef struct lgt_footprint {
  const lgt_partition *launch; /* NULL: everywhere */
  uint32_t layout;             /* with colours */
  lgt_alignment align;         /* with colours */
  bool target;                 /* of a reduction: its elements are touched also where there is nothing to reduce */
  lgt_rect whole;              /* a bound of all elements that are touched */
  bool exact;                  /* every element of `whole` is touched */
  uint64_t hash;
  const int64_t (*reach)[2];  /* of an image, borrowed: by domain, first and past-the-end coordinate */
  int along;                  /* the dimension of the root in which `reach` says so */
  bool ordered;               /* `reach` is owned and ascends, and no two domains' reaches meet */
  bool sparse;                /* elements within a reach may be untouched */
  bool celled;                /* each domain touches its own cell alone, ... */
  lgt_cell cell[LGT_MAX_DIM]; /* ... by dimension of the grid of owners */
  bool marked;
} lgt_footprint;

enum { LGT_RECENT_FOOTPRINTS = 128 };
typedef struct lgt_footprints {
  const lgt_stores *stores; /* borrowed */
  int domains, local;       /* in all; on each rank */
  lgt_intern table;         /* of lgt_footprint */
  /* Those asked for last, by layout: many launches of a group have the same ones. */
  const lgt_footprint *recent[LGT_RECENT_FOOTPRINTS];
} lgt_footprints;

void lgt_footprints_init(lgt_footprints *footprints, const lgt_stores *stores, int domains, int local);
void lgt_footprints_fini(lgt_footprints *footprints);

/* For sweep.h: mark a footprint that is in use; a sweep frees those that were not marked since the last one.  False: the
 * sweep lacked memory, and all footprints stay. */
static inline void lgt_footprint_mark(const lgt_footprint *footprint) { ((lgt_footprint *)footprint)->marked = true; }
bool lgt_footprints_sweep(lgt_footprints *footprints);

/* NULL with an error when out of memory. */
const lgt_footprint *lgt_footprint_of(lgt_footprints *footprints, uint32_t layout, const lgt_alignment *align,
                                      const lgt_partition *launch, bool target);
const lgt_footprint *lgt_footprint_everywhere(lgt_footprints *footprints, const lgt_rect *rect);

/* The given footprint with the reach of each domain along a dimension of the root; not interned. */
lgt_footprint lgt_footprint_reaching(const lgt_footprint *footprint, int along, const int64_t (*reach)[2], int domains);

/* The interned, ordered footprint of a reaching one, for writing; the footprint must not be cut in any dimension but
 * `along`.  NULL and !*good: the reaches meet or do not ascend.  NULL and *good, with an error: out of memory. */
const lgt_footprint *lgt_footprint_ordered(lgt_footprints *footprints, const lgt_footprint *reaching, bool *good);

/* Does each domain certainly touch nothing but what it has written through another footprint, as that of a column of a matrix
 * whose rows are cut?  It costs the same however many domains there are. */
bool lgt_footprint_at_home(const lgt_footprint *footprint, const lgt_footprint *written);

/* The rect of the root that one colour, which must be one of `domain`, touches. */
lgt_rect lgt_footprint_rect(const lgt_footprints *footprints, const lgt_footprint *footprint, int domain, int colour);
/* The rects that a domain touches: for (i = -1; (i = lgt_footprint_next(f, fp, domain, i, &rect)) >= 0;).  A rect may
 * be empty. */
int lgt_footprint_next(const lgt_footprints *footprints, const lgt_footprint *footprint, int domain, int i, lgt_rect *rect);
/* Iterates over the colours of a footprint (not *everywhere*) whose rects meet `place`, with these rects and the colours'
 * domains: lgt_near_begin, then lgt_near_next until it returns false. */
typedef struct lgt_near {
  const lgt_footprints *footprints;
  const lgt_footprint *footprint;
  lgt_rect place;
  int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM], at[LGT_MAX_DIM]; /* tiles */
  bool more;
  int domain;    /* out */
  lgt_rect rect; /* out: never empty, meets the place */
} lgt_near;
void lgt_near_begin(lgt_near *near, const lgt_footprints *footprints, const lgt_footprint *footprint, const lgt_rect *place);
bool lgt_near_next(lgt_near *near);

#endif
