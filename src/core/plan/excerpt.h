/* excerpt.h - a part of a generator: the values or the effects that somebody needs, and what these are computed from.
 *
 *   lgt_excerpt_begin   for a generator as it was registered
 *   `need`              is set by the caller: of each instruction that the part is made for
 *   lgt_excerpt_args    adds what these use, and numbers the arguments among it
 *   lgt_excerpt_copy    appends it all to the new body
 *   lgt_excerpt_end     leaves the new body to the caller
 */
#ifndef LGT_EXCERPT_H
#define LGT_EXCERPT_H

#include "model/body.h"

typedef struct lgt_excerpt {
  const lgt_body *from;
  lgt_body *to;           /* the caller's; NULL after an error */
  int *value;             /* owned; by instruction of `from`: its value in `to` */
  bool *need;             /* owned */
  int slot[LGT_MAX_ARGS]; /* by argument of `from`; -1: not used */
  bool plus_zero;         /* the least and the greatest float must not depend on the order of zeros: none is -0 */
} lgt_excerpt;

/* False with a message: out of memory, and there is nothing to end. */
bool lgt_excerpt_begin(lgt_excerpt *excerpt, const lgt_body *from);
void lgt_excerpt_end(lgt_excerpt *excerpt);

/* All that the needed instructions use is needed; the arguments among it get numbers from `first`.  Returns how many,
 * in `args`. */
int lgt_excerpt_args(lgt_excerpt *excerpt, int first, uint8_t args[LGT_MAX_ARGS]);

/* False with a message: an append failed. */
bool lgt_excerpt_copy(lgt_excerpt *excerpt);

#endif
