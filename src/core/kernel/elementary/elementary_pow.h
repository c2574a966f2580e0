/* elementary_pow.h - pow, cbrt, hypot; see elementary_functions.h.
 *
 * x^y = 2^(y log2 |x|), with the sign of x if y is odd.  The exponent is up to 1024, so an error of the
 * logarithm counts a thousandfold, and the logarithm must be twofold.  With s = (m - 1)/(m + 1) of
 * elementary_log.h, and z = s^2,
 *
 *   log2(m) = s (2/ln 2 + z (2/(3 ln 2) + z p(z)))
 *
 * where all but p(z) is twofold: z (...) is less than a hundredth of 2/ln 2, and z p(z) less than a fiftieth
 * of its neighbour, so the relative error is 2^-65.  (fdlibm's e_pow.c has the idea, with numbers cut in
 * halves.)  The product with y is twofold, too, and so are the leading terms of
 *
 *   2^r = 1 + r ln 2 + r^2 q(r),   |r| <= 1/2
 *
 * Errors before the last rounding, in ulp: 0.1 of 2^r, and 0.1 of the logarithm where results are next to
 * overflow.  So what is representable is exact.
 *
 * All special values are found by one test: of x, of the exponent (which is NaN or huge if y is) and of x <
 * 0 with a y that is not whole.  For float32 there is one more: a result that is the midpoint of two
 * float32.  Mostly the true value is only near to it, and the side decides.  Where even a twofold value
 * cannot tell (within 2^-58), it is taken for the midpoint if y is a multiple of 1/8: x^(n/2^j) = M,
 * with M odd and of 25 digits, means that M = c^n and x = c^(2^j) but for powers of 2; x has 24 digits and c
 * is at least 3, so j is at most 3.
 *
 * Coefficients: tools/coefficients/pow.sollya.
 */

/* Relative error 2^-53. */
static const double pow_log[] = {0x1.2776c50ef9bfep-1, 0x1.a61762a7ae41fp-2, 0x1.484b13d735a4p-2,
                                 0x1.0c9a85003d152p-2, 0x1.c68f04d647156p-3, 0x1.8a0627add4fe1p-3,
                                 0x1.593a53efe7074p-3, 0x1.604356f6bb41dp-3};
#define POW_1_HIGH 0x1.71547652b82fep1 /* 2/ln 2 */
#define POW_1_LOW  0x1.777d0ffda0d24p-55
#define POW_3_HIGH 0x1.ec709dc3a03fdp-1 /* 2/(3 ln 2) */
#define POW_3_LOW  0x1.d27f05548af0cp-55

static const double pow_exp[] = {0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0c2p-5,  0x1.3b2ab6fba4cc3p-7,
                                 0x1.5d87fe78a509fp-10, 0x1.430912f90475cp-13, 0x1.ffcbfc67be6e3p-17,
                                 0x1.62c01f87f4a9dp-20, 0x1.b524f94363bc7p-24, 0x1.e4d9fa563813ap-28,
                                 0x1.e9d6ab98e16bap-32, 0x1.b4c52edc3c88fp-36};
#define LN2_REST 0x1.abc9e3b39803fp-56 /* beyond LN2 */

/* log2(1 + f). */
OF twofold pow_log2(F f) {
  F below = add(f, number(2)), below_rest = sub(f, sub(below, number(2)));
  F inverse = divide(number(1), below), s = mul(f, inverse);
  F s_rest = mul(fnmadd(s, below_rest, fnmadd(s, below, f)), inverse);
  twofold z = two_product(s, s);
  z.low = fmadd(add(s, s), s_rest, z.low);
  twofold third =
      fast_two_sum(number(POW_3_HIGH), mul(z.high, polynomial_tree(z.high, pow_log, COUNT(pow_log))));
  third.low = add(third.low, fmadd(z.low, number(pow_log[0]), number(POW_3_LOW)));
  twofold term = two_product(z.high, third.high);
  term.low = fmadd(z.low, third.high, fmadd(z.high, third.low, term.low));
  twofold first = fast_two_sum(number(POW_1_HIGH), term.high);
  first.low = add(first.low, add(term.low, number(POW_1_LOW)));
  twofold result = two_product(s, first.high);
  result.low = fmadd(s_rest, first.high, fmadd(s, first.low, result.low));
  return result;
}

/* y (k + log2(1 + f)). */
OF twofold pow_exponent(F k, F f, F y) {
  twofold fraction = pow_log2(f), sum = fast_two_sum(k, fraction.high), result = two_product(sum.high, y);
  result.low = fmadd(add(sum.low, fraction.low), y, result.low);
  return result;
}

/* 2^exponent / 2^n, and n in the low bits of *n. */
OF twofold pow_fraction(twofold exponent, I *n) {
  F shifted = add(exponent.high, number(SHIFTER));
  twofold r = fast_two_sum(sub(exponent.high, sub(shifted, number(SHIFTER))), exponent.low);
  twofold term = two_product(r.high, number(LN2));
  term.low = fmadd(r.low, number(LN2), fmadd(r.high, number(LN2_REST), term.low));
  F small = fmadd(mul(r.high, r.high), polynomial_tree(r.high, pow_exp, COUNT(pow_exp)), term.low);
  twofold sum = fast_two_sum(number(1), term.high);
  *n = bits(shifted);
  return (twofold){sum.high, add(sum.low, small)};
}

OF B is_whole(F y) { return equal(nearest(y), y); }

/* The result's sign, of a whole y. */
OF F pow_signed(F result, F x, F y) {
  return with_sign(result, choose(is_whole(mul(y, number(0.5))), number(1), x));
}

/* Not computable in the short way: exponents from `most` on, too. */
OF B pow_is_edge(F x, F y, F exponent, double most) {
  B broken = both(less(x, number(0)), opposite(is_whole(y)));
  B far = opposite(less(magnitude(exponent), number(most)));
  return either(log_is_edge(magnitude(x)), either(far, broken));
}

/* The exponent for all x and y, but at most `most` in magnitude.  (y is bounded so that y log2 |x| is a
 * number.) */
OF twofold pow_edge_exponent(F x, F y, double most) {
  F a = magnitude(x), count, f = log_edge_split(a, &count);
  y = choose(less(magnitude(y), number(0x1p65)), y, with_sign(number(0x1p65), y));
  twofold exponent = pow_exponent(count, f, y);
  B far = opposite(less(magnitude(exponent.high), number(most)));
  exponent.low = choose(far, number(0), exponent.low);
  exponent.high = choose(far, with_sign(number(most), exponent.high), exponent.high);
  return exponent;
}

/* What is right for all x and y, where `result` is right for x > 0 and numbers y. */
OF F pow_edge_result(F x, F y, F result) {
  F a = magnitude(x);
  B zero = equal(a, number(0)), infinite = equal(a, number(INFINITY));
  B negative = less(y, number(0)),
    vanishes = either(both(zero, opposite(negative)), both(infinite, negative));
  result = choose(either(zero, infinite), choose(vanishes, number(0), number(INFINITY)), result);
  B broken = both(opposite(is_whole(y)), both(less(x, number(0)), opposite(infinite)));
  result = choose(is_whole(y), pow_signed(result, x, y), choose(broken, number(NAN), result));
  result = choose(either(is_nan(x), is_nan(y)), number(NAN), result);
  return choose(either(equal(x, number(1)), equal(y, number(0))), number(1), result);
}

/* Rounded to a multiple of the last bit of `great`, a power of two greater than a. */
OF F total_at(F great, twofold a) {
  twofold sum = two_sum(great, a.high);
  return sub(add(sum.high, add(sum.low, a.low)), great);
}

/* A subnormal result is rounded before it is scaled, at the last bit of the subnormals. */
RARE F pow_edge(F x, F y) {
  I n;
  twofold fraction = pow_fraction(pow_edge_exponent(x, y, 1100), &n);
  n = i_sub(n, bits(number(SHIFTER)));
  F normal = total(fraction);
  B subnormal = either(i_less(n, whole(-1022)), both(i_equal(n, whole(-1022)), less(normal, number(1))));
  F great = choose(subnormal, from_bits(shift_left(i_sub(whole(1), n), 52)), number(0));
  return pow_edge_result(x, y, scale_far(choose(subnormal, total_at(great, fraction), normal), n));
}

OF F pow_f64(F x, F y) {
  I k, n;
  F f = log_split(magnitude(x), &k);
  twofold exponent = pow_exponent(log_count(k), f, y);
  F fraction = total(pow_fraction(exponent, &n)), result = pow_signed(scale(fraction, n), x, y);
  return rare_2(pow_is_edge(x, y, exponent.high, 1021), pow_edge, x, y, result);
}

/* 1/n! from 1/4! on. */
static const double pow_tail[] = {
    1.0 / 24,      1.0 / 120,      1.0 / 720,       1.0 / 5040,       1.0 / 40320,       1.0 / 362880,
    1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800, 1.0 / 87178291200, 1.0 / 1307674368000,
};
#define SIXTH     0x1.5555555555555p-3
#define SIXTH_LOW 0x1.5555555555555p-57

/* a + b, where a is the greater. */
OF twofold pow_plus(double a, twofold b) {
  twofold sum = fast_two_sum(number(a), b.high);
  return (twofold){sum.high, add(sum.low, b.low)};
}

/* 2^exponent / 2^n to 2^-64: of the series of e^t, four terms are twofold. */
OF twofold pow_fraction_long(twofold exponent, I *n) {
  F shifted = add(exponent.high, number(SHIFTER));
  twofold r = fast_two_sum(sub(exponent.high, sub(shifted, number(SHIFTER))), exponent.low);
  twofold t = twofold_product(r, (twofold){number(LN2), number(LN2_REST)});
  F tail = mul(t.high, polynomial(t.high, pow_tail, COUNT(pow_tail)));
  twofold sum = pow_plus(SIXTH, (twofold){tail, number(SIXTH_LOW)});
  sum = pow_plus(1, twofold_product(t, pow_plus(0.5, twofold_product(t, sum))));
  sum = pow_plus(1, twofold_product(t, sum));
  *n = bits(shifted);
  return fast_two_sum(sum.high, sum.low);
}

RARE F pow_hard(F x, F y) {
  I n;
  twofold sum = pow_fraction_long(pow_edge_exponent(x, y, 200), &n);
  B exact = both(less(magnitude(sum.low), number(0x1p-58)), is_whole(mul(y, number(8))));
  return pow_edge_result(x, y, scale(choose(exact, sum.high, odd_total(sum)), n));
}

OF F pow_f32(F x, F y) {
  I k, n;
  F f = log_split(magnitude(x), &k);
  twofold exponent = pow_exponent(log_count(k), f, y);
  F fraction = total(pow_fraction(exponent, &n)), result = pow_signed(scale(fraction, n), x, y);
  B middle = i_equal(i_and(bits(result), whole((1 << 29) - 1)), whole(1 << 28));
  return rare_2(either(pow_is_edge(x, y, exponent.high, 126), middle), pow_hard, x, y, result);
}

/* ---- cbrt --------------------------------------------------------------------------------------- */

/* A third of the bits (Kahan's; fdlibm's s_cbrt.c has it) gives y = x^(-1/3) to 3.4 %; with e = 1 - x y^3,
 * one step of high order, y (1 - e)^(-1/3), gives 26 bits without any division.  c = x y^2 is as near to the
 * cube root, and x - c^3 can be computed with its own first 26 bits, so the next step, c (1 - (x -
 * c^3)/x)^(-1/3) by two terms of the series, is right to 2^-77. */

/* (1 - e)^(-1/3) for |e| < 0.1021: error 2^-26. */
static const double cbrt_step[] = {0x1.00000011210ecp0,  0x1.555556cac7353p-2, 0x1.c718d71045acap-3,
                                   0x1.61f2c5206cda3p-3, 0x1.2a91a69ee48c5p-3, 0x1.03fd92abba91ep-3};

/* a^(-1/3) for a normal number a > 0. */
OF F cbrt_inverse(F a) {
  I third = shift_right(low_product(shift_right(bits(a), 32), whole(0x55555556)), 32);
  F y = from_bits(shift_left(i_sub(whole(0x553ee961), third), 32)),
    e = fnmadd(mul(y, y), mul(a, y), number(1));
  return mul(y, polynomial_paired(e, cbrt_step, COUNT(cbrt_step)));
}

OF F cbrt_normal(F a) {
  F y = cbrt_inverse(a), square = mul(y, y), c = mul(a, square);
  twofold c_square = two_product(c, c);
  F rest = fnmadd(c_square.low, c, fnmadd(c_square.high, c, a)); /* a - c^3 */
  F part = mul(rest, square), e = mul(part, y);                  /* c rest/a, rest/a */
  return fmadd(part, fmadd(e, number(2.0 / 9), number(1.0 / 3)), c);
}

/* From 2^-900 on all intermediate results are normal numbers. */
OF B cbrt_is_edge(F a) { return opposite(both(at_most(number(0x1p-900), a), less(a, number(INFINITY)))); }

RARE F cbrt_edge(F x) {
  F a = magnitude(x);
  B usable = both(less(number(0), a), less(a, number(INFINITY))), tiny = less(a, number(0x1p-900));
  F scaled = mul(choose(usable, a, number(1)), choose(tiny, number(0x1p300), number(1)));
  F result = mul(cbrt_normal(scaled), choose(tiny, number(0x1p-100), number(1)));
  return choose(usable, with_sign(result, x), x);
}

OF F cbrt_f64(F x) {
  F a = magnitude(x);
  return rare(cbrt_is_edge(a), cbrt_edge, x, with_sign(cbrt_normal(a), x));
}

OF F cbrt_f32(F x) {
  F a = magnitude(x), y = cbrt_inverse(a), c = mul(a, mul(y, y)), e = fnmadd(c, y, number(1));
  F result = fmadd(mul(c, e), fmadd(e, number(5.0 / 9), number(2.0 / 3)), c); /* c (1 - e)^(-2/3) */
  return rare(cbrt_is_edge(a), cbrt_edge, x, with_sign(result, x));
}

/* ---- hypot -------------------------------------------------------------------------------------- */

/* The sum of the squares is twofold; what a rounded square root leaves of it gives the root's error to half
 * its digits (C. Borges, "Algorithm 1014: An improved algorithm for hypot(x, y)", ACM Trans. Math. Softw.
 * 47, 2020).  For float32 the squares are exact, and the sign of what is left decides between two float32. */

OF twofold hypot_root(F great, F small) {
  twofold g = two_product(great, great), s = two_product(small, small), sum = fast_two_sum(g.high, s.high);
  F root = square_root(sum.high), rest = add(fnmadd(root, root, sum.high), add(sum.low, add(g.low, s.low)));
  F factor = mul(root, divide(number(0.5), add(sum.high, number(0x1p-1022)))); /* 1/(2 root), or 0 */
  return (twofold){root, mul(rest, factor)};
}

/* Far from 1 the numbers are scaled. */
RARE F hypot_edge(F x, F y) {
  F a = magnitude(x), b = magnitude(y);
  F great = larger_of(a, b), small = smaller_of(a, b);
  B tiny = less(great, number(0x1p-400));
  F by = choose(tiny, number(0x1p600), number(0x1p-600));
  twofold root = hypot_root(mul(great, by), mul(small, by));
  F result = total(root);
  B subnormal = both(tiny, less(result, number(0x1p-422)));
  result = choose(subnormal, total_at(number(0x1p-422), root), result);
  result = mul(result, choose(tiny, number(0x1p-600), number(0x1p600)));
  B huge = either(equal(a, number(INFINITY)), equal(b, number(INFINITY)));
  return choose(huge, number(INFINITY), result);
}

OF F hypot_f64(F x, F y) {
  F a = magnitude(x), b = magnitude(y), great = larger_of(a, b), small = smaller_of(a, b);
  /* Less than 2^-400 but not 0: 0 is the greatest of the signed integers then. */
  B tiny = i_less(i_add(bits(great), whole(INT64_MAX)), i_add(bits(number(0x1p-400)), whole(INT64_MAX)));
  B huge = opposite(at_most(great, number(0x1p500)));
  return rare_2(either(tiny, huge), hypot_edge, x, y, total(hypot_root(great, small)));
}

OF F hypot_f32(F x, F y) {
  F a = magnitude(x), b = magnitude(y), great = larger_of(a, b), small = smaller_of(a, b);
  F square = mul(great, great), sum = fmadd(small, small, square), root = square_root(sum);
  F rest = add(fnmadd(root, root, sum), fmadd(small, small, sub(square, sum)));
  I odd = i_or(i_sub(bits(root), shift_right(bits(rest), 63)), whole(1));
  F result = choose(equal(rest, number(0)), root, from_bits(odd));
  return rare_2(opposite(less(great, number(INFINITY))), hypot_edge, x, y, result);
}
