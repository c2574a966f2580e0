/* elementary_hyperbolic.h - expm1, sinh, cosh and tanh; see elementary_functions.h.
 *
 * x = n ln 2 + r as for exp, and so
 *
 *   expm1(x) = (2^n - 1) + 2^n (r + r^2/2 + r^3 q(r))
 *   sinh(x)  = a cosh(r) + b sinh(r), where a = (2^n - 2^-n) / 2 and b = (2^n + 2^-n) / 2; cosh(x) with a and b exchanged
 *   tanh(x)  = (m + p t) / (p + m t), where p = 2^n + 1, m = 2^n - 1, t = tanh(r); here x = n ln 2 / 2 + r
 *
 * For n = 0 these are odd polynomials (or r + r^2/2 + ...), so small x needs no path of its own.  The constants that
 * depend on n are exact, or what they lack is added later; the greatest terms are summed in two parts.  What is left is
 * expm1 0.70, sinh 0.75 and cosh 0.66 ulp.  sinh(x) for x near ln 2 / 2 would lose
 * more if n were 1 and r near -ln 2 / 2, where b sinh(r) takes away half of a; so n stays 0 until r is 0.6 ln 2.
 *
 * tanh has one division, by d = p + m t, and no low parts: a quotient g of 26 bits is improved by (m + p t - g d) / d.  The
 * numerator is (m - g p) + (p - g m) t, where m - g p and p - g m are exact as long as it matters.  0.56 ulp, and 0.71 where
 * tanh is within 2^-50 of 1.
 *
 * The results of float32 are right for all arguments.
 */

static const double expm1_q[] = {0x1.5555555555559p-3,  0x1.555555555554ap-5,  0x1.111111110f648p-7,
                                 0x1.6c16c16c1c0cdp-10, 0x1.a01a01b00c07ap-13, 0x1.a01a01873502p-16,
                                 0x1.71ddf7f339aeap-19, 0x1.27e521a1c592p-22,  0x1.af5f671c86717p-26,
                                 0x1.1f048a7e575e7p-29};
static const double expm1_short[] = {0x1.0000000000005p-1,  0x1.555555555553ap-3,  0x1.55555555520e6p-5,
                                     0x1.1111111118c58p-7,  0x1.6c16c17f3deap-10,  0x1.a01a01768dc54p-13,
                                     0x1.a019a66a95444p-16, 0x1.71de84054a0bdp-19, 0x1.28a2cd8f1ed63p-22,
                                     0x1.ae730e835bdd8p-26};
static const double sinh_s[] = {0x1.555555555556cp-3, 0x1.1111111109d8dp-7, 0x1.a01a01cfe9af8p-13,
                                0x1.71ddb02b58f0ep-19, 0x1.afceb2d73a67cp-26};
static const double cosh_c[] = {0x1.5555555555566p-5, 0x1.6c16c16c0f269p-10, 0x1.a01a01c84fd31p-16,
                                0x1.27e498cb2411bp-22, 0x1.1fd2058ddaba5p-29};
static const double sinh_short[] = {0x1.55555555521eep-3, 0x1.1111112150128p-7, 0x1.a0199b8ed9c96p-13,
                                    0x1.72daca1adf335p-19};
static const double cosh_short[] = {0x1.000000000000cp-1, 0x1.555555554fe11p-5, 0x1.6c16c18605aeap-10,
                                    0x1.a01995b911aafp-16, 0x1.28b0fde2abfeap-22};
static const double tanh_t[] = {-0x1.555555555545dp-2, 0x1.11111110c8ab6p-3,  -0x1.ba1ba0d90bdccp-5,
                                0x1.664ea78209b9ap-6,  -0x1.2233dd830afb6p-7, 0x1.c1edd8b7fd8fdp-9};
static const double tanh_short[] = {-0x1.555555554c11bp-2, 0x1.111110eeeec73p-3, -0x1.ba1b4ff922f6bp-5,
                                    0x1.66247d207a8aap-6, -0x1.1838fff420a24p-7};

/* 2^n, 2^n / 2 and 2^-n / 2, n in the low bits of shifted. */
OF F power_of_two(F shifted) { return from_bits(i_add(shift_left(bits(shifted), 52), bits(number(1)))); }
OF F half_power(F shifted) { return from_bits(i_add(shift_left(bits(shifted), 52), bits(number(0.5)))); }
OF F half_inverse(F shifted) { return from_bits(i_sub(bits(number(0.5)), shift_left(bits(shifted), 52))); }

/* x with the last 27 bits cleared, so that its product with a number of 27 bits is exact. */
OF F upper_bits(F x) { return from_bits(i_and(bits(x), whole(-0x8000000))); }

/* x with the sign bit of sign added to its own: gives a zero its sign. */
OF F or_sign(F x, F sign) { return from_bits(i_or(bits(x), i_and(bits(sign), whole(INT64_MIN)))); }

/* x = n ln 2 + r, with n in the low bits of what is given. */
OF F reduce_short(F x, F *r) {
  F shifted = fmadd(x, number(LOG2E), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  *r = fnmadd(count, number(LN2_LOW), fnmadd(count, number(LN2_HIGH), x));
  return shifted;
}

/* ---- expm1 ------------------------------------------------------------------------------------ */

RARE F expm1_edge(F x) { return choose(less(x, number(0)), number(-1), exp_edge(x)); }

OF F expm1_f64(F x) {
  F shifted = fmadd(x, number(LOG2E), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(LN2_HIGH), x), least = mul(count, number(-LN2_LOW)), r = add(first, least);
  F power = power_of_two(shifted), rest = sub(power, number(1));
  F high = fmadd(power, first, rest), low = fmadd(power, first, sub(rest, high));
  low = add(low, sub(sub(power, rest), number(1))); /* what rest lacks where n > 53 */
  F square = mul(r, r), half = mul(power, number(0.5)), sum = fmadd(half, square, high);
  F sum_low = fmadd(half, square, add(sub(high, sum), low));
  F r_low = add(sub(first, r), least), small = fmadd(r_low, r, least);
  F term = fmadd(mul(square, r), polynomial_paired(r, expm1_q, COUNT(expm1_q)), small);
  F result = or_sign(add(sum, fmadd(power, term, sum_low)), x);
  return rare(opposite(at_most(magnitude(x), number(708))), expm1_edge, x, result);
}

OF F expm1_f32(F x) {
  F bounded = within(x, -30, 100), r, shifted = reduce_short(bounded, &r), power = power_of_two(shifted);
  F fraction = fmadd(mul(r, r), polynomial_paired(r, expm1_short, COUNT(expm1_short)), r);
  return or_sign(fmadd(power, fraction, sub(power, number(1))), x);
}

/* ---- sinh and cosh ---------------------------------------------------------------------------- */

/* x = n ln 2 + r: half of 2^n and of 2^-n, sinh and cosh of r. */
typedef struct hyperbolic_parts {
  F up, down, first, least, square, r;
} hyperbolic_parts;

OF hyperbolic_parts hyperbolic_reduce(F x) {
  F shifted = add(fmadd(x, number(LOG2E), number(-0.1)), number(SHIFTER)),
    count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(LN2_HIGH), x), least = mul(count, number(-LN2_LOW)), r = add(first, least);
  return (hyperbolic_parts){half_power(shifted), half_inverse(shifted), first, least, mul(r, r), r};
}

/* a cosh(r) + b sinh(r), where a and b lack error and -error. */
OF F hyperbolic_sum(F a, F b, F error, hyperbolic_parts p) {
  F high = fmadd(b, p.first, a), low = fmadd(b, p.first, sub(a, high));
  F s = fmadd(mul(p.square, p.r), polynomial(p.square, sinh_s, COUNT(sinh_s)), p.least);
  F c = mul(p.square, fmadd(polynomial(p.square, cosh_c, COUNT(cosh_c)), p.square, number(0.5)));
  low = add(low, fnmadd(error, p.first, error));
  return add(high, fmadd(a, c, fmadd(b, s, low)));
}

/* exp(|x|) / 2, where exp(-|x|) is nothing to it. */
RARE F cosh_edge(F x) {
  I n;
  F fraction = exp_fraction(within(magnitude(x), 0, 720), &n);
  return scale_far(fraction, i_sub(n, whole(1)));
}
RARE F sinh_edge(F x) { return with_sign(cosh_edge(x), x); }

OF F sinh_f64(F x) {
  F size = magnitude(x);
  hyperbolic_parts p = hyperbolic_reduce(size);
  F a = sub(p.up, p.down), b = add(p.up, p.down);
  F result = with_sign(hyperbolic_sum(a, b, sub(sub(p.up, a), p.down), p), x);
  return rare(opposite(at_most(size, number(708))), sinh_edge, x, result);
}

OF F cosh_f64(F x) {
  F size = magnitude(x);
  hyperbolic_parts p = hyperbolic_reduce(size);
  F a = add(p.up, p.down), b = sub(p.up, p.down);
  F result = hyperbolic_sum(a, b, add(sub(p.up, a), p.down), p);
  return rare(opposite(at_most(size, number(708))), cosh_edge, x, result);
}

/* a cosh(r) + b sinh(r) */
OF F hyperbolic_short(F a, F b, F r) {
  F square = mul(r, r);
  F s = fmadd(mul(square, r), polynomial(square, sinh_short, COUNT(sinh_short)), r);
  F c = mul(square, polynomial(square, cosh_short, COUNT(cosh_short)));
  return fmadd(b, s, fmadd(a, c, a));
}

/* One result lies so near to the middle of two float32 that float64 gives that: the argument is moved. */
OF F sinh_f32(F x) {
  F moved = choose(equal(magnitude(x), number(0x1.250bfep-11)), mul(x, number(1 - 0x1p-51)), x);
  F r, shifted = reduce_short(within(moved, -100, 100), &r);
  F up = half_power(shifted), down = half_inverse(shifted);
  return or_sign(hyperbolic_short(sub(up, down), add(up, down), r), x);
}

OF F cosh_f32(F x) {
  F r, shifted = reduce_short(within(x, -100, 100), &r);
  F up = half_power(shifted), down = half_inverse(shifted);
  return hyperbolic_short(add(up, down), sub(up, down), r);
}

/* ---- tanh ------------------------------------------------------------------------------------- */

OF F tanh_f64(F x) {
  F size = magnitude(x), bounded = smaller_of(number(20), size);
  F shifted = fmadd(bounded, number(2 * LOG2E), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(LN2_HIGH / 2), bounded), least = mul(count, number(-LN2_LOW / 2));
  F r = add(first, least), square = mul(r, r);
  F rest = fmadd(mul(square, r), polynomial_paired(square, tanh_t, COUNT(tanh_t)), least),
    t = add(first, rest);
  F plus = add(power_of_two(shifted), number(1)), minus = sub(plus, number(2));
  F inverse = divide(number(1), fmadd(minus, t, plus)),
    guess = upper_bits(mul(fmadd(plus, t, minus), inverse));
  F weight = fnmadd(guess, minus, plus), left = fmadd(weight, first, fnmadd(guess, plus, minus));
  return or_sign(fmadd(fmadd(weight, rest, left), inverse, guess), x);
}

OF F tanh_f32(F x) {
  F size = magnitude(x), bounded = smaller_of(number(20), size);
  F shifted = fmadd(bounded, number(2 * LOG2E), number(SHIFTER));
  F r = fnmadd(sub(shifted, number(SHIFTER)), number(LN2 / 2), bounded), square = mul(r, r);
  F t = fmadd(mul(square, r), polynomial(square, tanh_short, COUNT(tanh_short)), r);
  F power = power_of_two(shifted), minus = sub(power, number(1)), plus = add(power, number(1));
  return or_sign(divide(fmadd(plus, t, minus), fmadd(minus, t, plus)), x);
}
