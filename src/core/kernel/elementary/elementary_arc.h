/* elementary_arc.h - asin, acos, atan, atan2; see elementary_functions.h.
 *
 * asin x = x + x z s(z) with z = x^2 up to |x| = 1/2, and beyond it asin x = pi/2 - 2 asin y, y = sqrt(z), with z =
 * (1 - |x|)/2, which is exact.  What y lacks is (z - y^2) / 2y; it is so small that 1/y need not be right beyond its
 * first digits, which the bits of z give: their half, taken from a constant, as in the well-known estimate of
 * 1/sqrt(x) (Lomont, "Fast inverse square root", 2003).  acos is pi/2, 0 or pi, and asin's terms.
 *
 * atan of a quotient n/m, 0 <= n <= m: t = n/m if that is at most 1/2, else t = (n - m)/(n + m), of which the atan
 * is less by pi/4 (and n - m is exact); so |t| <= 1/2.  atan t = t - t z p(z), z = t^2.  Quotients above 1 and the
 * other quadrants of atan2 are reflections.  The error of the division, which is exactly (n - t m) / m, and that of
 * n + m are added to the small terms.
 *
 * Sums with a multiple of pi/4 are kept in two parts until the last addition.  Errors: of that addition 0.5 ulp; of
 * the terms which it adds, 0.25 at most; of the polynomials 0.05.  The worst that was found is 0.66 for asin and
 * acos, 0.79 for atan, 0.75 for atan2.
 */

/* error 2^-57.765625 */
static const double atan_t[] = {0x1.5555555555516p-2,  -0x1.9999999991119p-3, 0x1.249249215c8e8p-3,
                                -0x1.c71c70905d7a6p-4, 0x1.745cf4bc09e8bp-4,  -0x1.3b113cc2513d5p-4,
                                0x1.10f3146ed9788p-4,  -0x1.dfe8e1e3fb4c2p-5, 0x1.a395b7e5066c5p-5,
                                -0x1.56ee12faf0c0cp-5, 0x1.c1669bcce6eb1p-6,  -0x1.4b602a23fef44p-7};
/* error 2^-53.484375 */
static const double atan_short[] = {0x1.5555555555137p-2,  -0x1.9999999920c24p-3, 0x1.249248fdf861p-3,
                                    -0x1.c71c65714c386p-4, 0x1.745bf0e0d7da9p-4,  -0x1.3b025373a3f9ep-4,
                                    0x1.106398d52d335p-4,  -0x1.d8bcc25a44af3p-5, 0x1.85570f2e9f5c1p-5,
                                    -0x1.062d936814a3ap-5, 0x1.93f4f184ace0bp-7};
/* error 2^-59.84375 */
static const double asin_s[] = {0x1.5555555555577p-3, 0x1.333333332e11p-4,  0x1.6db6db7214efbp-5,
                                0x1.f1c71a93b97ebp-6, 0x1.6e8bdf08f8534p-6, 0x1.1c49ed235bd06p-6,
                                0x1.ca1fe269719c4p-7, 0x1.75829a894d308p-7, 0x1.614e1abb4519p-7,
                                0x1.e4dcd1b187bcbp-9, 0x1.63f6350de18b1p-6, -0x1.58825b47200d6p-6,
                                0x1.0b7205b37454ap-5};
/* error 2^-55.890625 */
static const double asin_short[] = {0x1.555555555538ep-3, 0x1.333333336ec3dp-4,  0x1.6db6db424bab2p-5,
                                    0x1.f1c72c48e69cdp-6, 0x1.6e89f2b076866p-6,  0x1.1c6bfa1bc577p-6,
                                    0x1.c6fbce60e35efp-7, 0x1.8ed02b053074cp-7,  0x1.ab5a5a0be6e54p-8,
                                    0x1.4046a166cd6b9p-6, -0x1.0a569c41a84c3p-6, 0x1.059b65564f755p-5};

#define PI_4_HIGH 0x1.921fb54442d18p-1
#define PI_4_LOW  0x1.1a62633145c07p-55

/* The next number above pi/2 is far enough off that acos of two float32 come out on the right side of a midpoint. */
#define PI_2_ABOVE 0x1.921fb54442d19p0

/* ---- asin, acos ----------------------------------------------------------------------------------- */

/* asin |x| = start + rest, or pi/2 - 2 (start + rest) if |x| > 1/2. */
typedef struct arc_sine {
  F start, rest;
  B beyond;
} arc_sine;

OF arc_sine arc_sine_of(F x, bool single) {
  F a = magnitude(x);
  B beyond = less(number(0.5), a);
  F z = choose(beyond, fnmadd(number(0.5), a, number(0.5)), mul(a, a)), root = square_root(z);
  F start = choose(beyond, root, a), term = mul(start, z);
  if (single) return (arc_sine){start, mul(term, polynomial_tree(z, asin_short, COUNT(asin_short))), beyond};
  F half_inverse = from_bits(i_sub(whole(0x5fd6eb50c7b537a9), shift_right(bits(z), 1)));
  F lack = choose(beyond, mul(fnmadd(root, root, z), half_inverse), number(0));
  return (arc_sine){start, fmadd(term, polynomial_tree(z, asin_s, COUNT(asin_s)), lack), beyond};
}

OF F asin_f64(F x) {
  arc_sine v = arc_sine_of(x, false);
  F far = fnmadd(number(2), v.start, number(PI_2_HIGH)),
    far_low = fnmadd(number(2), v.start, sub(number(PI_2_HIGH), far));
  F low = choose(v.beyond, fnmadd(number(2), v.rest, add(far_low, number(PI_2_LOW))), v.rest);
  return with_sign(add(choose(v.beyond, far, v.start), low), x);
}

OF F asin_f32(F x) {
  arc_sine v = arc_sine_of(x, true);
  F sum = add(v.start, v.rest);
  return with_sign(choose(v.beyond, fnmadd(number(2), sum, number(PI_2_HIGH)), sum), x);
}

/* pi/2, or beyond 1/2 on either side 0 and pi; and whether asin's terms are to be added to it */
OF F acos_start(F x, B beyond, F middle) {
  return choose(beyond, choose(less(x, number(0)), add(middle, middle), number(0)), middle);
}
OF I acos_sign(F x, B beyond) {
  I sign = whole(INT64_MIN), all = i_xor(bits(x), i_choose(beyond, sign, whole(0)));
  return i_and(i_xor(all, sign), sign);
}

OF F acos_f64(F x) {
  arc_sine v = arc_sine_of(x, false);
  F twice = choose(v.beyond, number(2), number(1));
  I sign = acos_sign(x, v.beyond);
  F start = from_bits(i_xor(bits(mul(v.start, twice)), sign)),
    rest = from_bits(i_xor(bits(mul(v.rest, twice)), sign));
  F base = acos_start(x, v.beyond, number(PI_2_HIGH));
  twofold sum = fast_two_sum(base, start);
  return add(sum.high, add(add(sum.low, acos_start(x, v.beyond, number(PI_2_LOW))), rest));
}

OF F acos_f32(F x) {
  arc_sine v = arc_sine_of(x, true);
  F sum = mul(add(v.start, v.rest), choose(v.beyond, number(2), number(1)));
  return add(acos_start(x, v.beyond, number(PI_2_ABOVE)),
             from_bits(i_xor(bits(sum), acos_sign(x, v.beyond))));
}

/* ---- atan, atan2 ------------------------------------------------------------------------------------ */

/* A quotient of 0 < larger < infinity, as numerator / (denominator + low), and how many pi/4 the arc is more. */
typedef struct arc {
  F above, below, low, count;
} arc;

OF arc arc_of(F larger, F smaller) {
  B middle = less(larger, add(smaller, smaller));
  F sum = add(larger, smaller);
  return (arc){.above = choose(middle, sub(smaller, larger), smaller),
               .below = choose(middle, sum, larger),
               .low = choose(middle, sub(smaller, sub(sum, larger)), number(0)),
               .count = choose(middle, number(1), number(0))};
}

/* start + atan of the quotient.  The error of t is so small that an estimate of 1 / below, to 5 %, is enough: its
 * bits are about those of 1, twice, less those of below. */
OF F arc_sum(arc v, twofold start) {
  F t = divide(v.above, v.below), inverse = from_bits(i_sub(whole(0x7fde6238502484ba), bits(v.below)));
  F lack = mul(fmadd(t, v.low, fmsub(t, v.below, v.above)), inverse), z = mul(t, t);
  F rest = fmadd(mul(t, z), polynomial_tree(z, atan_t, COUNT(atan_t)), fnmadd(lack, z, lack));
  twofold sum = fast_two_sum(start.high, t);
  return add(sum.high, sub(add(sum.low, start.low), rest));
}

/* count pi/4 */
OF twofold quarters(F count) {
  F high = mul(count, number(PI_4_HIGH));
  return (twofold){high, fmadd(count, number(PI_4_LOW), fmsub(count, number(PI_4_HIGH), high))};
}

OF F arc_sum_single(arc v) {
  F t = divide(v.above, v.below), z = mul(t, t);
  F arc = fnmadd(mul(t, z), polynomial_tree(z, atan_short, COUNT(atan_short)), t);
  return fmadd(v.count, number(PI_4_HIGH), arc);
}

/* With the other sign, if the sign bit of `by` is set: a reflected arc is taken away from count pi/4. */
OF F reflected(F x, I by) { return from_bits(i_xor(bits(x), by)); }
#define SIGN_IF(when) i_choose(when, whole(INT64_MIN), whole(0))

/* That of atan a, 0 <= a < infinity. */
OF arc arc_of_one(F a, B above_one) {
  arc v = arc_of(choose(above_one, a, number(1)), choose(above_one, number(1), a));
  v.count = choose(above_one, sub(number(2), v.count), v.count);
  v.above = reflected(v.above, SIGN_IF(above_one));
  return v;
}

OF F atan_f64(F x) {
  F a = magnitude(x), bounded = smaller_of(number(0x1p60), a); /* pi/2 to all digits */
  B above_one = less(number(1), a);
  arc v = arc_of_one(bounded, above_one);
  /* the products with 0, 1 and 2 are exact */
  twofold start = {mul(v.count, number(PI_4_HIGH)), mul(v.count, number(PI_4_LOW))};
  return with_sign(arc_sum(v, start), x);
}

/* The one float32 of which atan is closer to a midpoint than a float64 can be; the next float64 leads to the right
 * side. */
#define ATAN_HARD       0x1.1ad646p-4
#define ATAN_HARD_ABOVE 0x1.1ad6460000001p-4

OF F atan_f32(F x) {
  F a = magnitude(x), usual = choose(equal(a, number(ATAN_HARD)), number(ATAN_HARD_ABOVE), a);
  B above_one = less(number(1), a);
  return with_sign(arc_sum_single(arc_of_one(usual, above_one)), x);
}

/* The arc of atan2 |y|, x; larger and smaller are those of |x| and |y|. */
OF arc arc_of_two(F y, F x, F larger, F smaller) {
  B steep = less(magnitude(x), magnitude(y)), left = i_less(bits(x), whole(0));
  arc v = arc_of(larger, smaller);
  v.count = choose(steep, sub(number(2), v.count), v.count);
  v.count = choose(left, sub(number(4), v.count), v.count);
  v.above = reflected(v.above, i_xor(SIGN_IF(steep), i_and(bits(x), whole(INT64_MIN))));
  return v;
}

/* Zeros, infinities and NaN; numbers so far apart or from 1 that a product could overflow or lose digits. */
RARE F atan2_edge(F y, F x) {
  F a = magnitude(x), b = magnitude(y), infinity = number(INFINITY);
  F larger = larger_of(a, b), smaller = smaller_of(a, b);
  B infinite = equal(larger, infinity), nothing = equal(larger, number(0));
  /* As much as counts: the quotient of any two such numbers is 0 beside pi/4 if it is below 2^-60. */
  F by = choose(less(larger, number(0x1p-500)), number(0x1p600), number(0x1p-100));
  F scaled = choose(either(infinite, nothing), number(1), mul(larger, by));
  F other = choose(infinite, choose(equal(smaller, infinity), number(1), number(0)), mul(smaller, by));
  arc v = arc_of_two(y, x, scaled, other);
  F result = arc_sum(v, quarters(v.count));
  B flat = both(less(b, mul(a, number(0x1p-30))), i_less(whole(-1), bits(x)));
  F quotient = divide(b, a), cube = mul(quotient, mul(quotient, quotient));
  result = choose(flat, fnmadd(cube, number(0x1.5555555555555p-2), quotient), result);
  return choose(either(is_nan(x), is_nan(y)), add(x, y), with_sign(result, y));
}

OF F atan2_f64(F y, F x) {
  F a = magnitude(x), b = magnitude(y), larger = larger_of(a, b), smaller = smaller_of(a, b);
  B usual = both(less(larger, number(0x1p500)), less(number(0x1p-500), smaller));
  arc v = arc_of_two(y, x, larger, smaller);
  return rare_2(opposite(usual), atan2_edge, y, x, with_sign(arc_sum(v, quarters(v.count)), y));
}

/* The result may be half-way between two subnormal numbers, while the true value is below. */
RARE F atan2_edge_single(F y, F x) {
  F result = atan2_edge(y, x), a = magnitude(result);
  B exact = both(less(number(0), a), equal(mul(a, magnitude(x)), magnitude(y)));
  return choose(both(exact, less(a, number(0x1p-120))), from_bits(i_sub(bits(result), whole(1))), result);
}

OF F atan2_f32(F y, F x) {
  F a = magnitude(x), b = magnitude(y), larger = larger_of(a, b), smaller = smaller_of(a, b);
  arc v = arc_of_two(y, x, larger, smaller);
  F result = arc_sum_single(v);
  B usual = both(less(larger, number(INFINITY)), less(number(0x1p-120), result));
  return rare_2(opposite(usual), atan2_edge_single, y, x, with_sign(result, y));
}
