/* reproducible.h - launches in a form whose bits do not depend on how arrays are cut.
 *
 * Elementwise results have the same bits however arrays are cut; what is reduced over floats has not, since each
 * tile rounds its own sums.  In reproducible mode a launch is replaced by launches of which every one is either
 * elementwise or a reduction without rounding:
 *
 *   bound    m = max |x| over the elements x that go into one sum
 *   parts    each x is cut into x = q1 + q2 + q3 + rest.  q1 is x rounded to a multiple of a unit that m and n, the
 *            number of elements, determine: so large that any sum of n such numbers is exact in float64; q2 is what
 *            is left, rounded to a smaller unit, and so on.  t1 = sum of the q1, t2 = ..., in any order: exact
 *   total    t1 + t2 + t3, without loss but for the last rounding, in the target's type
 *
 * (Demmel and Nguyen, Parallel Reproducible Summation, IEEE Trans. Computers 64 (2015): pre-rounding with the largest
 * magnitude known.)  So a sum has the same bits for any ranks, domains, tiles, chunks and order of the elements.
 * With n <= 2^k, k one of 12, 20, 28, 36, the rest is below 2^(3k - 150) m for each element of float64, and below
 * 2^(2k - 100) m with the two parts that narrower floats get; so up to 2^28 elements the result is at least as good as
 * that of an ordinary sum, n 2^-53 sum |x|.  No partial sum overflows, so the result is infinite only where the exact
 * one is beyond the range.  If some x is not finite, the sum is of those alone: an infinity, or NaN.  A sum of zeros
 * is +0, as always.
 *
 * The least and the greatest float need no rounding; but which zero of -0 and +0 is the greater one depends on the
 * order, so here a zero that comes out is +0.  Which NaN comes out of anything is not specified.
 *
 * Products have no such form: np.prod multiplies halves, elementwise.  A task that reduces floats by `prod`, and a
 * variant in C that says it "varies", are refused.
 *
 * The cost: the elements are read, or computed, twice, and with several ranks a sum is two collectives instead of one.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_REPRODUCIBLE_H
#define LGT_REPRODUCIBLE_H

#include "model/constraint.h"

#define LGT_REPRODUCIBLE_CALLS 64 /* the most that one launch becomes */

/* May launches of this kind run in reproducible mode?  If not, a message says why. */
lgt_status lgt_reproducible_check(const lgt_kind *kind);

/* The calls that stand for `call`, in order; none: it stays as it is.  Each holds references on its stores; the
 * references of `call` stay. */
lgt_status lgt_reproducible_calls(lgt_stores *stores, lgt_kinds *kinds, const lgt_call *call,
                                  lgt_call out[LGT_REPRODUCIBLE_CALLS], int *count);

#endif
