/* elementary_functions.h - the elementary functions, in the vocabulary of elementary.h.
 *
 * It and the headers that it includes have no guards: elementary_lanes.c includes them once, after giving a
 * meaning to
 *
 *   F, I, B                      float64, int64, and truth, in all lanes
 *   number, whole                constants
 *   add sub mul divide neg magnitude with_sign square_root nearest (to even)
 *   fmadd fnmadd fmsub           a*b + c, c - a*b, a*b - c, rounded once
 *   bits from_bits               the representation
 *   i_add i_sub i_and i_or i_xor shift_left shift_right (logical) low_product i_choose
 *   smaller_of larger_of         choose(less(a, b), a, b), choose(less(a, b), b, a)
 *   less at_most equal is_nan i_less i_equal is_odd both either opposite choose
 *   rare(when, function, x, otherwise)   choose(when, function(x), otherwise), computed only if `when` holds somewhere
 *   rare_2(when, function, x, y, otherwise)          the same for a function of two operands
 *   OF                           what a function's definition begins with;  RARE: one that `rare` calls
 *
 * There is no branch and no table: both sides of a choice are computed, on every lane.  A function name_f64 gives float64
 * within the contract's bound; name_f32 takes float32 widened to float64 and gives float64 that rounds to the right float32
 * and the right float16.  (Which arguments come nearest to a rounding boundary is known, since all were tried.)
 *
 * Coefficients are made by tools/coefficients, which says what they minimise.
 */

#include "kernel/elementary/elementary_words.h"

/* Is x, a normal number, within 8 units in its last place of a midpoint of two float32?  Then it takes a
 * `rare` function to decide on which side the true value is. */
OF B near_midpoint(F x) {
  return i_less(i_and(i_add(bits(x), whole((1 << 28) + 8)), whole((1 << 29) - 1)), whole(17));
}

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#include "kernel/elementary/elementary_exp.h"
#include "kernel/elementary/elementary_log.h"
#include "kernel/elementary/elementary_gamma.h"
#include "kernel/elementary/elementary_powers.h"
#include "kernel/elementary/elementary_area.h"
#include "kernel/elementary/elementary_pow.h"
#include "kernel/elementary/elementary_trig.h"
#include "kernel/elementary/elementary_hyperbolic.h"
#include "kernel/elementary/elementary_arc.h"
#include "kernel/elementary/elementary_erf.h"
