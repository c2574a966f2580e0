/* elementary_exp.h - exp and its kin; see elementary_functions.h.
 *
 * exp(x) = 2^n exp(r) with n = nearest(x / ln 2), r = x - n ln 2, |r| <= ln 2 / 2.  n ln 2 is subtracted in two parts, of
 * which the first is exact.  exp(r) = 1 + r + r^2 q(r), where the rounding errors of r and of 1 + r are kept and added to
 * the small term.  n is at hand as an integer since it is the low bits of x / ln 2 + 1.5 * 2^52.
 */

static const double exp_q[] = {0.5,
                               0x1.5555555555556p-3,
                               0x1.5555555555554p-5,
                               0x1.1111111110e0fp-7,
                               0x1.6c16c16c16a1p-10,
                               0x1.a01a01a6e1b3bp-13,
                               0x1.a01a01a1b4f9p-16,
                               0x1.71dddf3b5f6e5p-19,
                               0x1.27e4f3ff4a2d5p-22,
                               0x1.b0ee4a6ad8a5p-26};

#define SHIFTER  0x1.8p52
#define LOG2E    0x1.71547652b82fep0
#define LN2_HIGH 0x1.62e42fefa38p-1 /* 42 bits, so that its product with a number of 11 bits is exact */
#define LN2_LOW  0x1.ef35793c7673p-45

/* 2^n exp(r) before scaling, and n in the low bits of *n. */
OF F exp_fraction(F x, I *n) {
  F shifted = fmadd(x, number(LOG2E), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(LN2_HIGH), x), r = fnmadd(count, number(LN2_LOW), first);
  F low = fnmadd(count, number(LN2_LOW), sub(first, r));
  F term = fmadd(mul(r, r), polynomial_paired(r, exp_q, COUNT(exp_q)), low);
  twofold sum = fast_two_sum(number(1), r);
  *n = bits(shifted);
  return add(sum.high, add(sum.low, term));
}

/* x 2^n where both and the result are normal numbers. */
OF F scale(F x, I n) { return from_bits(i_add(bits(x), shift_left(n, 52))); }

/* x 2^n in two steps, of which only the last may overflow or round; -2100 < n < 2100. */
OF F scale_far(F x, I n) {
  I half = i_sub(shift_right(i_add(n, whole(4096)), 1), whole(2048)), rest = i_sub(n, half);
  F first = from_bits(shift_left(i_add(half, whole(1023)), 52));
  return mul(mul(x, first), from_bits(shift_left(i_add(rest, whole(1023)), 52)));
}

/* Results that overflow, are subnormal or 0; infinities and NaN. */
RARE F exp_edge(F x) {
  F bounded = choose(less(x, number(-750)), number(-750), choose(less(number(710), x), number(710), x));
  I n;
  F fraction = exp_fraction(bounded, &n);
  n = i_sub(n, bits(number(SHIFTER)));
  F result = scale_far(fraction, n);
  return choose(is_nan(x), x, result);
}

OF F exp_f64(F x) {
  I n;
  F fraction = exp_fraction(x, &n);
  return rare(opposite(at_most(magnitude(x), number(708))), exp_edge, x, scale(fraction, n));
}

OF F exp_f32(F x) { return exp_f64(x); }
