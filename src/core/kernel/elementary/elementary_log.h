/* elementary_log.h - logarithms; see elementary_functions.h.
 *
 * x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m - 1, s = f/(2 + f).  Then log(m) = 2 atanh(s), a series in
 * s^2 that converges fast, since |s| < 0.172.  But s is rounded, so the result is written with as much as
 * possible of f, which is exact (fdlibm's e_log.c has the idea):
 *
 *   log(1 + f) = f - f^2/2 + s (f^2/2 + z r(z)),   z = s^2
 *
 * f - f^2/2 is kept in two parts, with all of its rounding errors.  The rest, s (...), is at most a 19th of
 * the result.  Its errors before the last rounding are, in ulp: 0.07 of s, 0.03 of r, 0.05 of rounding.  The
 * division costs less than the dozen terms more that a polynomial in f would need.
 *
 * For float32 all of this is shorter, with an error of 2^-51.  Where a result is so near to the midpoint of
 * two float32 that this may be too much (once in 2^25), the long way is taken, and its result rounded to
 * odd.  (All float32 were tried: log2 never needs it.)
 *
 * Coefficients: tools/coefficients/log.sollya.
 */

/* 2 atanh(s)/s = 2 + z r(z), z < 0.0295.  Relative errors of r: 2^-50.9, and 2^-43.7 for float32. */
static const double log_r[] = {0x1.5555555555558p-1, 0x1.9999999995323p-2, 0x1.2492492deec42p-2,
                               0x1.c71c62e683355p-3, 0x1.7462b4ac023e3p-3, 0x1.39fe5b3e15808p-3,
                               0x1.2b58acc8384fp-3};
static const double log_r32[] = {0x1.55555555553b7p-1, 0x1.9999999b87d7ep-2, 0x1.249246297a416p-2,
                                 0x1.c71fcdf806002p-3, 0x1.7382b03e63d62p-3, 0x1.546c85f2d23eap-3};

/* LN2, LOG10_2_HIGH and the like: elementary_exp.h. */
#define LOG2E_LOW    0x1.777d0ffda0d24p-56
#define LOG10E       0x1.bcb7b1526e50ep-2
#define LOG10E_LOW   0x1.95355baaafad3p-57
#define LOG10_2      0x1.34413509f79ffp-2

/* As bits. */
#define SQRT_HALF    0x3fe6a09e667f3bcd
#define ONE          0x3ff0000000000000
#define LEAST_NORMAL 0x0010000000000000
#define INFINITE     0x7ff0000000000000
#define FRACTION     0x000fffffffffffff

/* ---- the logarithm of a fraction ---------------------------------------------------------------- */

/* x = 2^k m, f = m - 1, of a normal number above 0.  The low 12 bits of *k are k + 1023. */
OF F log_split(F x, I *k) {
  I shifted = i_add(bits(x), whole(ONE - SQRT_HALF));
  *k = i_or(shift_right(shifted, 52), bits(number(0x1p52)));
  return sub(from_bits(i_add(i_and(shifted, whole(FRACTION)), whole(SQRT_HALF))), number(1));
}
OF F log_count(I k) { return sub(from_bits(k), number(0x1p52 + 1023)); }

/* log(1 + f).  high is f - f^2/2, rounded.  (Sums are preferred to fused products: CPUs have units of their
 * own for them.) */
OF twofold log_fraction(F f) {
  F s = divide(f, add(f, number(2))), z = mul(s, s);
  twofold half_square = two_product(mul(f, number(0.5)), f);
  F high = sub(f, half_square.high), error = sub(sub(sub(f, high), half_square.high), half_square.low);
  F sum = fmadd(s, half_square.high, error);
  return (twofold){high, fmadd(mul(s, z), polynomial_tree(z, log_r, COUNT(log_r)), sum)};
}

OF twofold log_fraction_short(F f) {
  F s = divide(f, add(f, number(2))), z = mul(s, s), half_square = mul(mul(f, number(0.5)), f);
  F low = fmadd(mul(s, z), polynomial_tree(z, log_r32, COUNT(log_r32)), mul(s, half_square));
  return (twofold){sub(f, half_square), low};
}

/* k (high + low) + the logarithm of a fraction, to the same base.  k high is exact, and 0 or greater than
 * the latter. */
OF twofold log_plus(F k, double high, double low, twofold fraction) {
  twofold sum = fast_two_sum(mul(k, number(high)), fraction.high);
  return (twofold){sum.high, add(fmadd(k, number(low), sum.low), fraction.low)};
}

/* Not a normal number above 0.  (Turned by the least normal number, those come first in the order of signed
 * integers.) */
OF B log_is_edge(F x) {
  I turned = i_add(bits(x), whole(INT64_MAX - LEAST_NORMAL + 1));
  return i_less(whole(INT64_MIN + (INFINITE - LEAST_NORMAL) - 1), turned);
}

/* There, subnormal numbers are multiplied by 2^54 first; result: what is then right for them and for normal
 * numbers. */
OF F log_edge_split(F x, F *count) {
  B subnormal = less(x, number(0x1p-1022));
  I k;
  F f = log_split(mul(x, choose(subnormal, number(0x1p54), number(1))), &k);
  *count = sub(log_count(k), choose(subnormal, number(54), number(0)));
  return f;
}
OF F log_edge_result(F x, F result) {
  result = choose(less(x, number(INFINITY)), result, x);
  result = choose(less(x, number(0)), number(NAN), result);
  return choose(equal(x, number(0)), number(-INFINITY), result);
}

/* ---- log ---------------------------------------------------------------------------------------- */

OF twofold log_sum(F k, twofold fraction) { return log_plus(k, LN2_HIGH, LN2_LOW, fraction); }

OF twofold log_normal(F x) {
  I k;
  F f = log_split(x, &k);
  return log_sum(log_count(k), log_fraction(f));
}

RARE F log_edge(F x) {
  F count, f = log_edge_split(x, &count);
  return log_edge_result(x, total(log_sum(count, log_fraction(f))));
}

OF F log_f64(F x) { return rare(log_is_edge(x), log_edge, x, total(log_normal(x))); }

RARE F log_hard(F x) { return log_edge_result(x, odd_total(log_normal(x))); }

OF F log_f32(F x) {
  I k;
  twofold fraction = log_fraction_short(log_split(x, &k));
  F result = add(fmadd(log_count(k), number(LN2), fraction.high), fraction.low);
  return rare(either(log_is_edge(x), near_midpoint(result)), log_hard, x, result);
}

/* ---- log2, log10 -------------------------------------------------------------------------------- */

OF twofold log_times(twofold fraction, double high, double low) {
  twofold product = two_product(fraction.high, number(high));
  F rest = fmadd(fraction.high, number(low), product.low);
  return (twofold){product.high, fmadd(fraction.low, number(high), rest)};
}

OF twofold log2_sum(F k, twofold fraction) {
  twofold scaled = log_times(fraction, LOG2E, LOG2E_LOW), sum = fast_two_sum(k, scaled.high);
  return (twofold){sum.high, add(sum.low, scaled.low)};
}

RARE F log2_edge(F x) {
  F count, f = log_edge_split(x, &count);
  return log_edge_result(x, total(log2_sum(count, log_fraction(f))));
}

OF F log2_f64(F x) {
  I k;
  F f = log_split(x, &k), result = total(log2_sum(log_count(k), log_fraction(f)));
  return rare(log_is_edge(x), log2_edge, x, result);
}

OF F log2_f32(F x) {
  I k;
  twofold fraction = log_fraction_short(log_split(x, &k));
  F result = fmadd(total(fraction), number(LOG2E), log_count(k));
  return rare(log_is_edge(x), log2_edge, x, result);
}

OF twofold log10_sum(F k, twofold fraction) {
  twofold scaled = log_times(fraction, LOG10E, LOG10E_LOW);
  return log_plus(k, LOG10_2_HIGH, LOG10_2_LOW, scaled);
}

OF twofold log10_normal(F x) {
  I k;
  F f = log_split(x, &k);
  return log10_sum(log_count(k), log_fraction(f));
}

RARE F log10_edge(F x) {
  F count, f = log_edge_split(x, &count);
  return log_edge_result(x, total(log10_sum(count, log_fraction(f))));
}

OF F log10_f64(F x) { return rare(log_is_edge(x), log10_edge, x, total(log10_normal(x))); }

RARE F log10_hard(F x) { return log_edge_result(x, odd_total(log10_normal(x))); }

OF F log10_f32(F x) {
  I k;
  twofold fraction = log_fraction_short(log_split(x, &k));
  F result = fmadd(total(fraction), number(LOG10E), mul(log_count(k), number(LOG10_2)));
  return rare(either(log_is_edge(x), near_midpoint(result)), log10_hard, x, result);
}

/* ---- log1p -------------------------------------------------------------------------------------- */

/* log(1 + x + low), with low at most half a unit in the last place of x.  1 + x = 2^k (1 + f); if k is 0, f
 * is x itself. Otherwise what was lost of 1 + x is added to low.  It is divided by 1 + x and added to the
 * logarithm; for that, 1 - 1.12 f + f^2 is 1/(1 + f) to within 2 %, which is enough, and if f is small, the
 * more so. */
OF twofold log1p_normal(F x, F low) {
  I k;
  F sum = add(x, number(1)), lost = add(sub(x, sub(sum, number(1))), low);
  F f = log_split(sum, &k), count = log_count(k);
  F unit = from_bits(i_sub(whole(0x7fe0000000000000), shift_left(k, 52))); /* 2^-k */
  B near = equal(count, number(0));
  low = choose(near, low, mul(lost, unit));
  f = choose(near, x, f);
  twofold fraction = log_fraction(f);
  fraction.low = fmadd(low, fmadd(f, sub(f, number(1.12)), number(1)), fraction.low);
  return log_sum(count, fraction);
}

OF F log1p_normal_short(F x) {
  I k;
  F f = log_split(add(x, number(1)), &k), count = log_count(k);
  twofold fraction = log_fraction_short(choose(equal(count, number(0)), x, f));
  return add(fmadd(count, number(LN2), fraction.high), fraction.low);
}

OF B log1p_is_edge(F x) { return opposite(both(less(number(-1), x), less(x, number(0x1p1000)))); }

OF F log1p_edge_result(F x, F result) {
  result = choose(less(x, number(INFINITY)), result, x);
  result = choose(less(x, number(-1)), number(NAN), result);
  return choose(equal(x, number(-1)), number(-INFINITY), result);
}

RARE F log1p_edge(F x) { return log1p_edge_result(x, total(log_normal(x))); }

OF F log1p_f64(F x) {
  return rare(log1p_is_edge(x), log1p_edge, x, with_sign(total(log1p_normal(x, number(0))), x));
}

RARE F log1p_hard(F x) { return log1p_edge_result(x, with_sign(odd_total(log1p_normal(x, number(0))), x)); }

OF F log1p_f32(F x) {
  F result = with_sign(log1p_normal_short(x), x);
  return rare(either(log1p_is_edge(x), near_midpoint(result)), log1p_hard, x, result);
}
