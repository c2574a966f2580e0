/* result.h - layouts of what operations make of views: their common shape, what is left of it; and of parts of views.
 *
 * Libraries above ask for these with every launch, so answers are kept in a small table that forgets: two questions
 * that fall into one place take turns in it.  Nothing grows with the number of shapes that a program meets.
 */
#ifndef LGT_RESULT_H
#define LGT_RESULT_H

#include "model/store.h"

/* The layout of a new array of the shape that views `a` and `b` have in common, by broadcasting.  0: an error. */
uint32_t lgt_result_join(lgt_stores *stores, int dtype, uint32_t a, uint32_t b);
/* Would a view of `from`'s shape fill `target`, by broadcasting? */
bool lgt_result_fills(const lgt_stores *stores, uint32_t target, uint32_t from);
/* The layout of a new array that holds, for each element left when the common shape of `a` and `b` is reduced along
 * `axes` (a bit each), one result; and the view of it that has the common shape.  0: an error. */
uint32_t lgt_result_reduced(lgt_stores *stores, int dtype, uint32_t a, uint32_t b, unsigned axes, bool keepdims, uint32_t *view);

/* lgt_stores_slice, lgt_stores_project and lgt_stores_promote: programs ask for the same parts again and again, often at
 * once (x[k] = x[k] + y[k]). */
uint32_t lgt_result_slice(lgt_stores *stores, uint32_t of, int dim, int64_t first, int64_t count, int64_t step);
uint32_t lgt_result_project(lgt_stores *stores, uint32_t of, int dim, int64_t index);
uint32_t lgt_result_promote(lgt_stores *stores, uint32_t of, int dim, int64_t extent);

#endif
