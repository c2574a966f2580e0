/* elementary_exp.h - exp and its kin; see elementary_functions.h.
 *
 * exp(x) = 2^n exp(r) with n = nearest(x / ln 2), r = x - n ln 2, |r| <= ln 2 / 2.  n is at hand as an integer since it is
 * the low bits of x / ln 2 + 1.5 * 2^52.  n ln 2 is subtracted in two parts, of which the first is exact: r = first - n
 * LN2_LOW.  exp(r) = 1 + r + r^2 q(r), where 1 + first is kept in two parts and everything small is added to the second, so
 * that only the last addition rounds: 0.68 ulp (the rounding of r, the square, q and the product add to the half).
 *
 * exp2 and exp10 are the same with a logarithm before r.  1 + r ln b is one fused multiply-add, of which a second one finds
 * the error: 0.61 and 0.68 ulp.  Results that are representable are exact, since what is added to them is exact or far
 * below half a unit in the last place.
 *
 * For float32, 2^r by a polynomial of degree 10 is all that is needed.  Of all arguments some two hundred have results
 * within 2^-47 of the middle of two float32, and all of these are rounded rightly.
 *
 * The scheme is Tang's (ACM TOMS 15, 1989) without his table; the two parts of ln 2 are fdlibm's idea.
 */

static const double exp_q[] = {0x1.000000000000ap-1,  0x1.55555555554fcp-3,  0x1.5555555550689p-5,
                               0x1.111111112725dp-7,  0x1.6c16c18488a72p-10, 0x1.a01a012dcb964p-13,
                               0x1.a01999231b74ap-16, 0x1.71df1d1476cecp-19, 0x1.28ae3c99da451p-22,
                               0x1.ad8d55a54a7bdp-26};
static const double exp2_p[] = {0x1.7b44f7394f0c5p-55, 0x1.ebfbdff82c5a4p-3,  0x1.c6b08d7049fdap-5,
                                0x1.3b2ab6fba01acp-7,  0x1.5d87fe78cf8d3p-10, 0x1.4309130ec0559p-13,
                                0x1.ffcbfba08a2e4p-17, 0x1.62bfc7d2d3cfep-20, 0x1.b5268dd759381p-24,
                                0x1.e61afd0bc2aecp-28, 0x1.e784010d51854p-32};
static const double exp10_p[] = {-0x1.5ae1f7eb52b54p-53, 0x1.53524c73cea77p1,  0x1.0470591de2c16p1,
                                 0x1.2bd7609fd5064p0,    0x1.1429ffd1f79dcp-1, 0x1.a7ed70a1a18c8p-3,
                                 0x1.16e4df58438d5p-4,   0x1.41165ec865586p-6, 0x1.4898d2c1c79f7p-8,
                                 0x1.2f73f7f219c48p-10,  0x1.f95ba0cc30d99p-13};
static const double exp_short[] = {0x1.62e42fefa3a12p-1,  0x1.ebfbdff82c431p-3,  0x1.c6b08d703e18ep-5,
                                   0x1.3b2ab6fbd6dbep-7,  0x1.5d87fe9b8d2a2p-10, 0x1.4309126be05f9p-13,
                                   0x1.ffcb58ce7eb4dp-17, 0x1.62c147edea337p-20, 0x1.b671af6e9ace6p-24,
                                   0x1.e3a8908819ee9p-28};

#define SHIFTER      0x1.8p52
#define LOG2E        0x1.71547652b82fep0
#define LN2          0x1.62e42fefa39efp-1
#define LN2_HIGH     0x1.62e42fefa38p-1 /* 42 bits, so that its product with a number of 11 bits is exact */
#define LN2_LOW      0x1.ef35793c7673p-45
#define LOG2_10      0x1.a934f0979a371p1
#define LOG2_10_LOW  0x1.7f2495fb7fa6dp-53
#define LN10         0x1.26bb1bbb55516p1
#define LOG10_2_HIGH 0x1.34413509f78p-2
#define LOG10_2_LOW  0x1.fef311f12b358p-46

/* x between two bounds; NaN stays. */
OF F within(F x, double low, double high) { return larger_of(smaller_of(number(high), x), number(low)); }

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
  return scale(fmadd(polynomial_paired(r, exp_short, COUNT(exp_short)), r, number(1)), bits(shifted));
}

/* The bounds are where float32 has nothing but infinity and 0. */
OF F exp_f32(F x) {
  F bounded = within(x, -110, 100), shifted = fmadd(bounded, number(LOG2E), number(SHIFTER));
  return exp_short_scaled(fmsub(bounded, number(LOG2E), sub(shifted, number(SHIFTER))), shifted);
}

/* ---- exp2 ------------------------------------------------------------------------------------- */

OF F exp2_fraction(F x, I *n) {
  F shifted = add(x, number(SHIFTER)), r = sub(x, sub(shifted, number(SHIFTER)));
  F high = fmadd(r, number(LN2), number(1)), low = fmadd(r, number(LN2), sub(number(1), high));
  *n = bits(shifted);
  return add(high, fmadd(r, polynomial_paired(r, exp2_p, COUNT(exp2_p)), low));
}

RARE F exp2_edge(F x) {
  I n;
  F fraction = exp2_fraction(within(x, -1080, 1025), &n);
  return scale_far(fraction, n);
}

OF F exp2_f64(F x) {
  I n;
  F fraction = exp2_fraction(x, &n);
  return rare(opposite(at_most(magnitude(x), number(1021))), exp2_edge, x, scale(fraction, n));
}

/* Two results lie so near to the middle of two float32 that float64 gives that: the arguments are moved. */
OF F exp2_f32(F x) {
  F moved = choose(equal(x, number(0x1.853a6ep-9)), number(0x1.853a6e00006p-9), x);
  moved = choose(equal(x, number(-0x1.e7526ep-6)), number(-0x1.e7526dfffff8p-6), moved);
  F bounded = within(moved, -160, 140), shifted = add(bounded, number(SHIFTER));
  return exp_short_scaled(sub(bounded, sub(shifted, number(SHIFTER))), shifted);
}

/* ---- exp10 ------------------------------------------------------------------------------------ */

OF F exp10_fraction(F x, I *n) {
  F shifted = fmadd(x, number(LOG2_10), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(LOG10_2_HIGH), x), r = fnmadd(count, number(LOG10_2_LOW), first);
  F high = fmadd(first, number(LN10), number(1)), low = fmadd(first, number(LN10), sub(number(1), high));
  low = fnmadd(count, number(LOG10_2_LOW * LN10), low);
  *n = bits(shifted);
  return add(high, fmadd(r, polynomial_paired(r, exp10_p, COUNT(exp10_p)), low));
}

RARE F exp10_edge(F x) {
  I n;
  F fraction = exp10_fraction(within(x, -330, 310), &n);
  return scale_far(fraction, n);
}

OF F exp10_f64(F x) {
  I n;
  F fraction = exp10_fraction(x, &n);
  return rare(opposite(at_most(magnitude(x), number(307))), exp10_edge, x, scale(fraction, n));
}

OF F exp10_f32(F x) {
  F bounded = within(x, -50, 40), shifted = fmadd(bounded, number(LOG2_10), number(SHIFTER));
  F r = fmsub(bounded, number(LOG2_10), sub(shifted, number(SHIFTER)));
  return exp_short_scaled(fmadd(bounded, number(LOG2_10_LOW), r), shifted);
}
