/* elementary_trig.h - sin, cos, tan; see elementary_functions.h.
 *
 * x = n pi/2 + r with n = nearest(x 2/pi), |r| <= pi/4.  n PI_2_HIGH is subtracted exactly, since with a fused
 * multiply-add only the difference must be representable, and it is: a multiple of 2^-52 below 1 (Cody and Waite,
 * "Software Manual for the Elementary Functions", 1980, without the short constants of old).  n PI_2_LOW then leaves
 * r, and the error of that rounding is kept.  What pi/2 has beyond PI_2_LOW counts n 2^-109, and the quotient may be
 * off by n 2^-54: too much if r is less than n 2^-40, which is `rare`.  As r is less than 1 that holds for every
 * large n too, so that one test tells all arguments for which this reduction is not right, infinities and NaN among
 * them; for |x| < 10^5 it is true once in 10^7 times.
 *
 * These go to the reduction of Payne and Hanek ("Radian reduction for trigonometric functions", SIGNUM Newsletter
 * 18, 1983): x is m 2^q, and of the digits of 2/pi those before 2^(2-q) give multiples of 4, which do not matter,
 * and those 192 bits further on are too small to matter.  The product of m with those between is computed in words
 * of 32 bits.
 *
 * sin r = r - (r z s(z) - low) and cos r = 1 - z/2 + z^2 c(z), where z = r^2; the sum 1 - z/2 is kept in two parts.
 * Both are computed and the one is chosen that n asks for, so that sin x and cos x of the same x share everything in
 * a kernel.  tan is their quotient, with the errors of both: the error of a quotient q of a and b is (a - q b) / b.
 *
 * float32 does not need that much: for it x = n pi + r, |r| <= pi/2, and sin x is sin r but for the sign, by one
 * polynomial; cos x is sin(x + pi/2).
 *
 * Errors: of the last addition 0.5 ulp; of r z s(z), which is at most 1/9 of sin r, three roundings, 0.25 ulp at
 * most; of the polynomials 0.04 ulp.  In tan r, which is up to 1.4 times sin r in the same binade, that would be more
 * than 1 ulp in rare cases, so tan adds what r z was rounded by.  The worst that was found is 0.85 for sin and cos, 0.91
 * for tan.
 */

/* error 2^-57.87, 2^-63.94, 2^-53.26 */
static const double sine_s[] = {0x1.5555555555548p-3,   -0x1.111111110f75fp-7, 0x1.a01a019bf28b4p-13,
                                -0x1.71de355f7915bp-19, 0x1.ae5e54dbfa73ap-26, -0x1.5d8e5779a7798p-33};
static const double cosine_c[] = {0x1.555555555554bp-5,   -0x1.6c16c16c15018p-10, 0x1.a01a019c8f932p-16,
                                  -0x1.27e4f7f1ec8dep-22, 0x1.1ee9dc1091329p-29,  -0x1.8fa6a7125b7f9p-37};
static const double cosine_short[] = {0x1.5555555552dd9p-5, -0x1.6c16c16720e42p-10, 0x1.a019fa5fcadfap-16,
                                      -0x1.27e00b7afad7ep-22, 0x1.1bbe87267f072p-29};

/* error 2^-52.53, up to pi/2 */
static const double sine_wide[] = {0x1.55555555554a8p-3,   -0x1.111111110a557p-7, 0x1.a01a019a64a46p-13,
                                   -0x1.71de38066a67bp-19, 0x1.ae635597a39d2p-26, -0x1.60e6bc2f38416p-33,
                                   0x1.9f14ca7edede1p-41};

/* 2/pi after 54 zero bits, in words of 32 bits. */
static const uint32_t inverse_words[] = {
    0,          651,        3859659065, 273983472,  2640267220, 3547792237, 2320917745, 239142905,
    1166978938, 4011165404, 2444814601, 927694873,  616278055,  1179153400, 2007790276, 2795305890,
    148362426,  3977384870, 1908447953, 2113471718, 1197008397, 1290261106, 293482231,  3835751551,
    3797942136, 375406524,  3158715752, 699694516,  3657120927, 740744509,  419273337,  2141763028,
    2666209199, 2546330868, 484957737,  1246472623, 3984508030, 896803160};

#define PI_2_HIGH    0x1.921fb54442d18p0
#define PI_2_LOW     0x1.1a62633145c07p-54
#define INVERSE_PI_2 0x1.45f306dc9c883p-1
#define PI_HIGH      0x1.921fb54442d18p1
#define PI_LOW       0x1.1a62633145c07p-53
#define INVERSE_PI   0x1.45f306dc9c883p-2

/* x = n pi/2 + r - low; n in the low bits, of which two count. */
typedef struct reduced {
  F r, low, count;
  I n;
} reduced;

OF reduced reduce(F x) {
  F shifted = fmadd(x, number(INVERSE_PI_2), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(PI_2_HIGH), x), r = fnmadd(count, number(PI_2_LOW), first);
  return (reduced){r, fmadd(count, number(PI_2_LOW), sub(r, first)), count, bits(shifted)};
}

/* That it is not right. */
OF B is_far(reduced v) { return opposite(at_most(mul(magnitude(v.count), number(0x1p-40)), magnitude(v.r))); }
/* That it is not right for x of float32, of which none within this bound is nearer to a multiple than 2^-32. */
OF B is_far_single(F x) { return opposite(at_most(magnitude(x), number(0x1p30))); }

/* value - less */
typedef struct difference {
  F value, less;
} difference;
typedef struct sine_cosine {
  difference sin, cos;
} sine_cosine;

/* finer: with what r z was rounded by. */
OF sine_cosine sine_and_cosine(F r, F low, bool finer) {
  F z = mul(r, r), cube = mul(z, r), half = mul(r, number(0.5));
  F first = fnmadd(half, r, number(1)), error = fmsub(half, r, sub(number(1), first)), sin_low = mul(low, first);
  if (finer) {
    F cube_low = fmadd(fmsub(r, r, z), r, fmsub(z, r, cube));
    sin_low = fmadd(cube_low, number(sine_s[0]), sin_low);
  }
  F sin_less = fmadd(cube, polynomial_tree(z, sine_s, COUNT(sine_s)), sin_low);
  F cos_less = fnmadd(mul(z, z), polynomial_tree(z, cosine_c, COUNT(cosine_c)), fnmadd(r, low, error));
  return (sine_cosine){{r, sin_less}, {first, cos_less}};
}

/* To float64's accuracy only. */
typedef struct sine_cosine_single {
  F sin, cos;
} sine_cosine_single;

OF sine_cosine_single sine_and_cosine_single(F r) {
  F z = mul(r, r);
  F first = fnmadd(mul(r, number(0.5)), r, number(1));
  F sin = sub(r, fmadd(mul(z, r), polynomial_tree(z, sine_s, COUNT(sine_s)), number(0))); /* -0 for -0 */
  return (sine_cosine_single){sin,
                              fmadd(mul(z, z), polynomial_tree(z, cosine_short, COUNT(cosine_short)), first)};
}

OF F turn(F x, I n) { return from_bits(i_xor(bits(x), shift_left(shift_right(n, 1), 63))); } /* -x if n & 2 */

OF F sine_of(F r, F low, I n) {
  sine_cosine v = sine_and_cosine(r, low, false);
  B odd = is_odd(n);
  return turn(sub(choose(odd, v.cos.value, v.sin.value), choose(odd, v.cos.less, v.sin.less)), n);
}
OF F cosine_of(F r, F low, I n) {
  sine_cosine v = sine_and_cosine(r, low, false);
  B odd = is_odd(n);
  return turn(sub(choose(odd, v.sin.value, v.cos.value), choose(odd, v.sin.less, v.cos.less)),
              i_add(n, whole(1)));
}

/* ---- arguments that are large, or close to a multiple of pi/2 ----------------------------------- */

/* V[j] = inverse_words[j + t / 32] for the first 7, where 0 <= t < 1024. */
OF void words_from(I *v, I t) {
  for (int i = 0; i < 38; i++) v[i] = whole(inverse_words[i]);
  for (int bit = 9, left = 38; bit >= 5; bit--) {
    B here = i_equal(i_and(t, whole((int64_t)1 << bit)), whole(0));
    left -= 1 << (bit - 5);
    for (int i = 0; i < left; i++) v[i] = i_choose(here, v[i], v[i + (1 << (bit - 5))]);
  }
}

/* The first 160 bits of |x| / 2pi modulo 1, in words of 32 bits, where 1 <= |x| < infinity. */
OF void turns(F x, I digit[5]) {
  I word[38], sum[6], t = i_sub(i_and(shift_right(bits(x), 52), whole(0x7ff)), whole(1023));
  words_from(word, t);
  F power = from_bits(shift_left(i_add(i_and(t, whole(31)), whole(1023)), 52));
  I factor = bits(add(power, number(0x1p52)));
  for (int i = 0; i < 7; i++) word[i] = low_product(word[i], factor);
  for (int i = 0; i < 6; i++) word[i] = i_or(i_and(word[i], whole(0xffffffff)), shift_right(word[i + 1], 32));
  I low = bits(x), high = i_or(i_and(shift_right(low, 32), whole(0xfffff)), whole(0x100000));
  for (int i = 0; i < 6; i++) sum[i] = whole(0);
  for (int i = 0; i < 6; i++) {
    I a = low_product(low, word[i]), b = low_product(high, word[i]);
    sum[i] = i_add(sum[i], i_and(a, whole(0xffffffff)));
    if (i >= 1) sum[i - 1] = i_add(sum[i - 1], i_add(shift_right(a, 32), i_and(b, whole(0xffffffff))));
    if (i >= 2) sum[i - 2] = i_add(sum[i - 2], shift_right(b, 32));
  }
  I carry = shift_right(sum[5], 32);
  for (int i = 4; i >= 0; i--) {
    I all = i_add(sum[i], carry);
    digit[i] = i_and(all, whole(0xffffffff));
    carry = shift_right(all, 32);
  }
}

/* An integer between -2^51 and 2^51. */
OF F float_of(I n) { return sub(from_bits(i_add(n, bits(number(SHIFTER)))), number(SHIFTER)); }

OF reduced reduce_far(F x) {
  I digit[5];
  turns(x, digit);
  I n = shift_right(i_add(digit[0], whole(0x20000000)), 30), negative = shift_right(bits(x), 63);
  digit[0] = i_sub(digit[0], shift_left(n, 30));
  /* the sum of all words, in quarters of a turn, of which the first ones may cancel */
  twofold sum = {mul(float_of(digit[4]), number(0x1p-158)), number(0)};
  static const double unit[] = {0x1p-30, 0x1p-62, 0x1p-94, 0x1p-126};
  for (int i = 3; i >= 0; i--) {
    twofold next = two_sum(mul(float_of(digit[i]), number(unit[i])), sum.high);
    sum = (twofold){next.high, add(next.low, sum.low)};
  }
  sum = fast_two_sum(sum.high, sum.low);
  twofold r = two_product(sum.high, number(PI_2_HIGH));
  r = fast_two_sum(r.high, fmadd(sum.high, number(PI_2_LOW), fmadd(sum.low, number(PI_2_HIGH), r.low)));
  I sign = shift_left(negative, 63), minus = i_sub(whole(0), negative);
  return (reduced){.r = from_bits(i_xor(bits(r.high), sign)),
                   .low = from_bits(i_xor(bits(neg(r.low)), sign)),
                   .count = number(0),
                   .n = i_sub(i_xor(n, minus), minus)};
}

/* NaN for infinities and NaN. */
OF F if_finite(F x, F result) { return choose(less(magnitude(x), number(INFINITY)), result, sub(x, x)); }

RARE F sin_far(F x) {
  reduced v = reduce_far(x);
  return if_finite(x, sine_of(v.r, v.low, v.n));
}
RARE F cos_far(F x) {
  reduced v = reduce_far(x);
  return if_finite(x, cosine_of(v.r, v.low, v.n));
}

/* result, or a neighbour if |x| is `at`: there the true value is closer to a midpoint of two float32 than a float64
 * can be, on the side of 0 (by: -1) or the other (1). */
OF F aside(F result, F x, double at, int by) {
  return choose(equal(magnitude(x), number(at)), from_bits(i_add(bits(result), whole(by))), result);
}

#define SIN_HARD 0x1.33333p+13

RARE F sin_far_single(F x) { return aside(sin_far(x), x, SIN_HARD, -1); }
RARE F cos_far_single(F x) { return aside(aside(cos_far(x), x, 0x1.3170fp+63, -1), x, 0x1.2b9622p+67, 1); }

/* The quotient of two differences of which the values are not far from the exact ones; -0 for -0 and 1. */
OF F quotient(difference above, difference below) {
  F a = sub(above.value, above.less), a_less = sub(above.less, sub(above.value, a));
  F b = sub(below.value, below.less), b_less = sub(below.less, sub(below.value, b));
  F inverse = divide(number(1), b), q = mul(a, inverse);
  F excess = add(fmsub(q, b, a), fnmadd(q, b_less, a_less));
  return fnmadd(excess, inverse, q);
}

OF difference choose_difference(B when, difference a, difference b) {
  return (difference){choose(when, a.value, b.value), choose(when, a.less, b.less)};
}

/* tan r, or -1 / tan r */
OF F tangent_of(F r, F low, I n) {
  sine_cosine v = sine_and_cosine(r, low, true);
  B odd = is_odd(n);
  F result = quotient(choose_difference(odd, v.cos, v.sin), choose_difference(odd, v.sin, v.cos));
  return from_bits(i_xor(bits(result), shift_left(n, 63)));
}

RARE F tan_far(F x) {
  reduced v = reduce_far(x);
  return if_finite(x, tangent_of(v.r, v.low, v.n));
}

/* ---- the functions ------------------------------------------------------------------------------ */

OF F sin_f64(F x) {
  reduced v = reduce(x);
  return rare(is_far(v), sin_far, x, sine_of(v.r, v.low, v.n));
}
OF F cos_f64(F x) {
  reduced v = reduce(x);
  return rare(is_far(v), cos_far, x, cosine_of(v.r, v.low, v.n));
}

/* (-1)^n sin(x - count pi), to some 2^-52, if that is at most pi/2; n in the low bit. */
OF F sine_single(F x, F count, I n) {
  F first = fnmadd(count, number(PI_HIGH), x), r = fnmadd(count, number(PI_LOW), first), z = mul(r, r);
  F less =
      fmadd(mul(z, r), polynomial_tree(z, sine_wide, COUNT(sine_wide)), number(0)); /* so that -0 gives -0 */
  return from_bits(i_xor(bits(sub(r, less)), shift_left(n, 63)));
}

OF F sin_f32(F x) {
  F shifted = fmadd(x, number(INVERSE_PI), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  B far = either(is_far_single(x), equal(magnitude(x), number(SIN_HARD)));
  return rare(far, sin_far_single, x, sine_single(x, count, bits(shifted)));
}

/* cos x = sin(x + pi/2) */
OF F cos_f32(F x) {
  F shifted = add(fmadd(x, number(INVERSE_PI), number(0.5)), number(SHIFTER));
  F count = sub(sub(shifted, number(SHIFTER)), number(0.5));
  return rare(is_far_single(x), cos_far_single, x, sine_single(x, count, bits(shifted)));
}

OF F tan_f64(F x) {
  reduced v = reduce(x);
  return rare(is_far(v), tan_far, x, tangent_of(v.r, v.low, v.n));
}

OF F tan_f32(F x) {
  reduced v = reduce(x);
  sine_cosine_single both = sine_and_cosine_single(v.r);
  B odd = is_odd(v.n);
  F result = divide(choose(odd, both.cos, both.sin), choose(odd, both.sin, both.cos));
  return rare(is_far_single(x), tan_far, x, from_bits(i_xor(bits(result), shift_left(v.n, 63))));
}
