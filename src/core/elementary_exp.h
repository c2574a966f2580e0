/* elementary_exp.h - exp and its kin; see elementary_functions.h.
 *
 * exp(x) = 2^n exp(r) with n = nearest(x / ln 2), r = x - n ln 2, |r| <= ln 2 / 2.  n is at hand as an integer since it is
 * the low bits of x / ln 2 + 1.5 * 2^52.  n ln 2 is subtracted in two parts, of which the first is exact: r = first - n
 * LN2_LOW.  exp(r) = 1 + r + r^2 q(r), where 1 + first is kept in two parts and everything small is added to the second, so
 * that only the last addition rounds: 0.65 ulp (the square, q and the product add 0.15 to the half).
 *
 * For float32, 2^r by a polynomial of degree 10 (2^-52) is all that is needed.  The results of all arguments are right
 * (some hundred come within 2^-48 of the middle of two float32).
 *
 * The scheme is Tang's (ACM TOMS 15, 1989) without his table; the two parts of ln 2 are fdlibm's idea.
 */

static const double exp_q[] = {0x1.000000000000ap-1,  0x1.55555555554fcp-3,  0x1.5555555550689p-5,
                               0x1.111111112725dp-7,  0x1.6c16c18488a72p-10, 0x1.a01a012dcb964p-13,
                               0x1.a01999231b74ap-16, 0x1.71df1d1476cecp-19, 0x1.28ae3c99da451p-22,
                               0x1.ad8d55a54a7bdp-26};
static const double exp_short[] = {0x1.62e42fefa3a12p-1,  0x1.ebfbdff82c431p-3,  0x1.c6b08d703e18ep-5,
                                   0x1.3b2ab6fbd6dbep-7,  0x1.5d87fe9b8d2a2p-10, 0x1.4309126be05f9p-13,
                                   0x1.ffcb58ce7eb4dp-17, 0x1.62c147edea337p-20, 0x1.b671af6e9ace6p-24,
                                   0x1.e3a8908819ee9p-28};

#define SHIFTER  0x1.8p52
#define LOG2E    0x1.71547652b82fep0
#define LN2_HIGH 0x1.62e42fefa38p-1 /* 42 bits, so that its product with a number of 11 bits is exact */
#define LN2_LOW  0x1.ef35793c7673p-45

/* x between two bounds; NaN stays. */
OF F within(F x, double low, double high) {
  F upper = choose(less(number(high), x), number(high), x);
  return choose(less(upper, number(low)), number(low), upper);
}

/* x 2^n where both and the result are normal numbers. */
OF F scale(F x, I n) { return from_bits(i_add(bits(x), shift_left(n, 52))); }

/* x 2^n, n in the low bits of SHIFTER + n, in two steps, of which only the last may overflow or round; -2100 < n < 2100. */
OF F scale_far(F x, I shifted) {
  I n = i_sub(shifted, bits(number(SHIFTER)));
  I half = i_sub(shift_right(i_add(n, whole(4096)), 1), whole(2048)), rest = i_sub(n, half);
  F first = from_bits(shift_left(i_add(half, whole(1023)), 52));
  return mul(mul(x, first), from_bits(shift_left(i_add(rest, whole(1023)), 52)));
}

/* ---- exp -------------------------------------------------------------------------------------- */

/* exp(x) before it is scaled by 2^n, and n in the low bits of *n. */
OF F exp_fraction(F x, I *n) {
  F shifted = fmadd(x, number(LOG2E), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(LN2_HIGH), x), r = fnmadd(count, number(LN2_LOW), first);
  F high = add(number(1), first), low = add(sub(number(1), high), first);
  low = fnmadd(count, number(LN2_LOW), low);
  *n = bits(shifted);
  return add(high, fmadd(mul(r, r), polynomial_paired(r, exp_q, COUNT(exp_q)), low));
}

/* Results that overflow, are subnormal or 0; infinities and NaN. */
RARE F exp_edge(F x) {
  I n;
  F fraction = exp_fraction(within(x, -750, 710), &n);
  return scale_far(fraction, n);
}

OF F exp_f64(F x) {
  I n;
  F fraction = exp_fraction(x, &n);
  return rare(opposite(at_most(magnitude(x), number(708))), exp_edge, x, scale(fraction, n));
}

/* 2^(r + n), n in the low bits of shifted. */
OF F exp_short_scaled(F r, F shifted) {
  return scale(fmadd(polynomial(r, exp_short, COUNT(exp_short)), r, number(1)), bits(shifted));
}

/* The bounds are where float32 has nothing but infinity and 0. */
OF F exp_f32(F x) {
  F bounded = within(x, -110, 100), shifted = fmadd(bounded, number(LOG2E), number(SHIFTER));
  return exp_short_scaled(fmsub(bounded, number(LOG2E), sub(shifted, number(SHIFTER))), shifted);
}
