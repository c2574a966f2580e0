/* footprint.h - which elements of a store each domain touches through one argument of a launch.
 *
 * A footprint is a view, how it lies in the launch's space, and the partition of that space: it answers, for any
 * domain, which rects of the root the domain's colours touch, and for any rect which colours touch it, at a cost
 * that does not depend on the number of domains.  Footprints are interned: two are equal exactly when their
 * pointers are.
 *
 * A footprint that neither plans nor histories nor images name any more is freed at the next sweep (sweep.h).
 *
 * One kind is without colours: *everywhere*, a rect that the first domain of every rank touches.  That is what
 * launches of a single colour do, which every rank runs, what values that the script looks at are read by, and
 * how the results of reductions over several colours are left.
 *
 * Another one has colours, but data says how far they reach along one dimension of the root: an image (image.h).  It
 * belongs to that image and is not interned, unless elements are written there: then it is *ordered*, each domain's reach
 * lies behind those of the domains before, and histories may speak of it.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_FOOTPRINT_H
#define LGT_FOOTPRINT_H

#include "model/constraint.h"

typedef struct lgt_footprint {
  const lgt_partition *launch; /* NULL: everywhere */
  uint32_t layout;             /* with colours */
  lgt_alignment align;         /* with colours */
  bool target;                 /* of a reduction: has its elements also where there is nothing to reduce */
  lgt_rect whole;              /* all that is touched lies in it */
  bool exact;                  /* and all of it is touched */
  uint64_t hash;
  const int64_t (*reach)[2];   /* of an image, borrowed: by domain, first and past-the-end ... */
  int along;                   /* ... in this dimension of the root */
  bool ordered;                /* the reach is owned, ascends, and no two domains' meet */
  bool sparse;                 /* not all between is touched */
  bool marked;
} lgt_footprint;

typedef struct lgt_footprints {
  const lgt_stores *stores; /* borrowed */
  int domains, local;       /* in all; on each rank */
  lgt_footprint **table;    /* owned, open addressing */
  uint32_t count, mask;
} lgt_footprints;

lgt_status lgt_footprints_init(lgt_footprints *footprints, const lgt_stores *stores, int domains, int local);
void lgt_footprints_fini(lgt_footprints *footprints);

/* For sweep.h: a footprint is in use; those that were not marked since the last sweep are freed.  False: all stay, for want of
 * memory. */
static inline void lgt_footprint_mark(const lgt_footprint *footprint) { ((lgt_footprint *)footprint)->marked = true; }
bool lgt_footprints_sweep(lgt_footprints *footprints);

/* NULL with an error when out of memory. */
const lgt_footprint *lgt_footprint_of(lgt_footprints *footprints, uint32_t layout, const lgt_alignment *align,
                                      const lgt_partition *launch, bool target);
const lgt_footprint *lgt_footprint_everywhere(lgt_footprints *footprints, const lgt_rect *rect);

/* The same, with the reach of each domain along a dimension of the root; not interned. */
lgt_footprint lgt_footprint_reaching(const lgt_footprint *footprint, int along, const int64_t (*reach)[2], int domains);

/* The same, interned, for what is written: in no other dimension is the footprint cut.  NULL without an error: reaches meet,
 * or do not ascend; with one: out of memory. */
const lgt_footprint *lgt_footprint_ordered(lgt_footprints *footprints, const lgt_footprint *reaching, bool *good);

/* What the launch's space touches in one tile of a domain. */
lgt_rect lgt_footprint_rect(const lgt_footprints *footprints, const lgt_footprint *footprint, int domain, int colour);
/* The rects that a domain touches: for (i = -1; (i = lgt_footprint_next(f, fp, domain, i, &rect)) >= 0;).  A rect may
 * be empty. */
int lgt_footprint_next(const lgt_footprints *footprints, const lgt_footprint *footprint, int domain, int i, lgt_rect *rect);
/* The colours of a footprint that has some whose rects may meet `place`, with their rects and domains:
 * begin, then next until false. */
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
