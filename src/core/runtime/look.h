/* look.h - the script looks at elements: everything before is flushed, what has failed is agreed on among the ranks, and
 * the newest elements come into one instance of this rank's first domain. */
#ifndef LGT_LOOK_H
#define LGT_LOOK_H

#include "runtime/runtime.h"

/* What is done with elements: read at once (TRY: what has failed does not count as reported); or left where they are, to
 * be read or written through a pointer. */
typedef enum lgt_look { LGT_LOOK_TRY, LGT_LOOK_PEEK, LGT_LOOK_READ, LGT_LOOK_WRITE, LGT_LOOK_READ_WRITE } lgt_look;

/* The instance that has a store's newest elements, if these are there already: nothing is left to be launched or in flight, and
 * they have not failed.  NULL: there may be something to do, or to tell.  Borrowed. */
lgt_instance *lgt_look_there(const lgt_runtime *rt, const lgt_store *store);
/* The elements of a rect of a store, with nothing in flight on them.  *out: a ref. */
lgt_status lgt_look_rect(lgt_runtime *rt, lgt_store *store, const lgt_rect *rect, lgt_look access, lgt_instance **out);
/* The same for a part of a view, in the view's coordinates; NULL: all of it. */
lgt_status lgt_look_part(lgt_runtime *rt, lgt_id array, const lgt_rect *part, lgt_look access, const lgt_layout **layout,
                         lgt_instance **inst);
/* What is in a view now: where its newest elements are in *inst, a ref. */
lgt_status lgt_look_peek(lgt_runtime *rt, lgt_id array, lgt_tile *tile, lgt_instance **inst);
/* The same for a caller that can do without, and does not tell the script what has failed. */
lgt_status lgt_look_try(lgt_runtime *rt, lgt_id array, lgt_tile *tile, lgt_instance **inst);
/* Memory for a new array of a dense layout, all of which the caller writes before anybody looks.  With one domain. */
lgt_status lgt_look_new(lgt_runtime *rt, lgt_id array, lgt_tile *tile);
/* Where a view's elements are within an instance that has all of them. */
void lgt_look_locate(const lgt_layout *layout, const lgt_instance *inst, lgt_tile *tile);

/* A span of the profile in which the script waits.  0: no profile is written. */
int64_t lgt_look_begins(lgt_runtime *rt);
void lgt_look_ended(lgt_runtime *rt, int64_t begin, const char *what, const char *unit, int64_t n);

#endif
