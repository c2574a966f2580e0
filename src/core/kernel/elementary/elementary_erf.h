/* elementary_erf.h - erf and erfc; see elementary_functions.h.
 *
 * erf(x) = x + x p(x^2 - 1/2) for |x| < 1, and sign(x) (1 - exp(-x^2) q(|x| - 2)) beyond.  The smaller erfc is beside 1, the
 * less q need be right, so it minimises the error of the product.  exp(-x^2) is 2^r by exp2's polynomial, where r takes in
 * the rounding error of x^2, but its own is left.  0.9 ulp near 1, where both halves are worst; erf is monotonic there.
 *
 * The polynomial of small x is about the middle of its range, since its terms about 0 are large and cancel.  That of float32
 * is about 0, where the first coefficient decides the results.  These are right for all arguments.
 *
 * erfc(x) = 1 - x - x p(x^2 - 9/32) for |x| < 3/4, and exp(-x^2) g(t) / (x + 5/8) beyond, or 2 - that of -x.  Here exp is in
 * two parts.  g is between 0.56 and 0.7 and so flat that the rounding of t = (a - b x) / (x + 4) hardly matters; its last
 * operation and the quotient are corrected, and one division serves both denominators.  0.85 ulp.  Schonfelder (Math. Comp.
 * 32, 1978) has such an expansion, in one denominator.  float32 has t alone: g is then exp(x^2) erfc(x).  One result lies so
 * near to the middle of two float32 that float64 gives that, so the argument is moved.
 */

static const double erf_small[] = {-0x1.1ae14dc34815ap-5,  -0x1.1fd16292151fdp-2,  0x1.454368017b042p-4,
                                   -0x1.2b902b7b2f28ep-6,  0x1.c82aa249df46p-9,    -0x1.263991b802ee6p-11,
                                   0x1.486638bc9befep-14,  -0x1.429e93e668f24p-17, 0x1.1ad5edf90dd8p-20,
                                   -0x1.bf8d2c72b9b8cp-24, 0x1.428e938efe043p-27,  -0x1.acbabce2865e7p-31,
                                   0x1.05ffd737fb32ep-34};
static const double erf_great[] = {
    0x1.058671b52c774p-2,  -0x1.b57034efd3f5ap-4,  0x1.5672b9ea147dp-5,   -0x1.fa9d3ac95290ap-7,
    0x1.6490721536545p-8,  -0x1.e028e8a8af954p-10, 0x1.369ffa21415a4p-11, -0x1.8382209216b9ep-13,
    0x1.d37b9fac8c4f4p-15, -0x1.115d1612a3d69p-16, 0x1.3697d140a330ep-18, -0x1.577522cff7267p-20,
    0x1.72406771fff23p-22, -0x1.85ec4acdfc9f7p-24, 0x1.918e42e07583ap-26, -0x1.91e5d924aa949p-28,
    0x1.875a0c43beca3p-30, -0x1.86d47d3c65ae1p-32, 0x1.99aa4adf280d2p-34, -0x1.7746508bdd626p-36,
    0x1.c0e4b5fd4eac5p-39, -0x1.e2298c5eff04ap-43};
static const double erf_small_short[] = {
    0x1.06eba8214db69p-3, -0x1.812746b037521p-2,  0x1.ce2f21a0091edp-4,  -0x1.b82ce3037ee14p-6,
    0x1.565bcb1bc612p-8,  -0x1.c02d698bdea02p-11, 0x1.f99c3f97ba179p-14, -0x1.f46900edf2dc1p-17,
    0x1.b5d7878bf44bp-20, -0x1.46342e9a801a5p-23, 0x1.440bf00d976cp-27};
static const double erf_great_short[] = {
    0x1.058671b52c8cp-2,   -0x1.b57034efd5e4ep-4,  0x1.5672b9e9b0db6p-5,  -0x1.fa9d3aca5fa8p-7,
    0x1.64907250abff4p-8,  -0x1.e028e740ceda1p-10, 0x1.369feec51c5f7p-11, -0x1.838272f9bd135p-13,
    0x1.d37d8f6ad0d77p-15, -0x1.115562e8f2b8fp-16, 0x1.3680a1e0ef0fp-18,  -0x1.582dff7caaa5bp-20,
    0x1.73af5efcd0aecp-22, -0x1.7cad51c85e4b6p-24, 0x1.80e372415e856p-26, -0x1.cc96fea2ab157p-28,
    0x1.02b2d4832cf2fp-29, -0x1.1c6260713854ep-32};

/* exp(-square), where that is a normal number. */
OF F exp_of_minus(F square) {
  F shifted = fnmadd(square, number(LOG2E), number(SHIFTER));
  return exp_short_scaled(fnmadd(square, number(LOG2E), sub(number(SHIFTER), shifted)), shifted);
}

OF F erf_f64(F x) {
  F size = magnitude(x), y = smaller_of(number(5.95), size), t = sub(y, number(2));
  F square = mul(y, y), low = fmsub(y, y, square);
  F shifted = fnmadd(square, number(LOG2E), number(SHIFTER));
  F r = fnmadd(square, number(LOG2E), sub(number(SHIFTER), shifted));
  r = fnmadd(low, number(LOG2E), r);
  F fraction = fmadd(r, polynomial_paired(r, exp2_p, COUNT(exp2_p)), fmadd(r, number(LN2), number(1)));
  F small = fmadd(y, polynomial_paired(sub(square, number(0.5)), erf_small, COUNT(erf_small)), y);
  F great =
      fnmadd(scale(fraction, bits(shifted)), polynomial_paired(t, erf_great, COUNT(erf_great)), number(1));
  return or_sign(choose(less(y, number(1)), small, great), x);
}

OF F erf_f32(F x) {
  F size = magnitude(x), y = smaller_of(number(4), size), square = mul(y, y), t = sub(y, number(2));
  F small = fmadd(y, polynomial_paired(square, erf_small_short, COUNT(erf_small_short)), y);
  F great = fnmadd(exp_of_minus(square), polynomial_paired(t, erf_great_short, COUNT(erf_great_short)), number(1));
  return or_sign(choose(less(y, number(1)), small, great), x);
}

/* ---- erfc ------------------------------------------------------------------------------------- */

static const double erfc_small[] = {0x1.fb2184ae7fc2cp-6,   -0x1.463cc3a12a7f2p-2,  0x1.7ac15799c5023p-4,
                                    -0x1.622345eddb99fp-6,  0x1.103c193008979p-8,   -0x1.618237113a75bp-11,
                                    0x1.8c79d2f2da765p-14,  -0x1.86edbe838e071p-17, 0x1.57b5f9632d3a5p-20,
                                    -0x1.1104cce0ba9a3p-23, 0x1.8a312cb07e6ccp-27};
static const double erfc_g[] = {
    0x1.42d2fa4cfab88p-1,   0x1.24eb63b0f0c18p-4,   0x1.2e40ef08cc96fp-6,   -0x1.bf4a8a683b43dp-9,
    -0x1.0c3fcef35df51p-7,  -0x1.9f83b8a4afa28p-8,  -0x1.c4110eb747983p-9,  -0x1.7cc97833ae5bfp-10,
    -0x1.f182d994e4741p-12, -0x1.d68746f2bddd6p-14, -0x1.de0f892d2477p-17,  0x1.ad72ac972d765p-20,
    0x1.420ac8c295b68p-20,  0x1.8bacda024153ep-23,  -0x1.35f23199a5ccfp-25, -0x1.3b357505ac87ap-26,
    -0x1.c09677b0395dcp-32, 0x1.51abd3f8fddabp-30,  0x1.547c77b06afd8p-33,  -0x1.4402834985bcp-34,
    -0x1.9826434ce6ea4p-37, 0x1.e726a60a9e56p-39};
static const double erfc_small_short[] = {
    0x1.fb2184ae7fc4p-6,   -0x1.463cc3a12a7f2p-2,  0x1.7ac15799c43cbp-4,  -0x1.622345eddbe87p-6,
    0x1.103c1934e92fap-8,  -0x1.6182370f7ba9bp-11, 0x1.8c79a7c954229p-14, -0x1.86edc5de620e8p-17,
    0x1.5851e0d604253p-20, -0x1.10fa781af6375p-23};
static const double erfc_short[] = {0x1.63497be1d5c0fp-3,   0x1.71862f997c98dp-3,   0x1.7606622fbe247p-4,
                                    0x1.4953ad58b7e92p-5,   0x1.f5945384147fbp-7,   0x1.466a05672ee51p-8,
                                    0x1.631f5c9dc3bf4p-10,  0x1.35802df9ff2edp-12,  0x1.87b435a2a7ab4p-15,
                                    0x1.ed262bb109c31p-19,  -0x1.e67b8b7fee96fp-22, -0x1.81584c44a1432p-23,
                                    -0x1.da7d1ca3246b8p-27, 0x1.06f1a36514371p-28,  0x1.e0dabf7a2644fp-31,
                                    -0x1.c517e4343d982p-35, -0x1.0c4ded15bff1fp-35, -0x1.83a05454b8d7dp-46};
#define ERFC_G_LOW -0x1.2fcdeb6a28a4dp-55 /* what erfc_g[0] lacks */

/* erfc(x) before it is scaled by 2^n, and n in the low bits of *n; 0.75 <= x < 30. */
OF F erfc_fraction(F x, I *n) {
  F square = mul(x, x), square_low = fmsub(x, x, square);
  F shifted = fnmadd(square, number(LOG2E), number(SHIFTER)), count = sub(shifted, number(SHIFTER));
  F first = fnmadd(count, number(LN2_HIGH), neg(square)),
    least = fnmadd(count, number(LN2_LOW), neg(square_low));
  F r = add(first, least), r_low = add(sub(first, r), least), r_square = mul(r, r),
    high = add(number(1), first);
  F low = fmadd(r_low, r, add(add(sub(number(1), high), first), least));
  F cubic = fmadd(mul(r_square, r), polynomial_paired(r, exp_q + 1, COUNT(exp_q) - 1), low);
  twofold e = fast_two_sum(high, fmadd(r_square, number(exp_q[0]), cubic));
  F d = add(x, number(0.625)), d_low = sub(number(0.625), sub(d, x)), k = add(x, number(4));
  F both_inverse = divide(number(1), mul(d, k));
  F t = mul(fnmadd(x, number(1.35546875), number(5.765625)), mul(d, both_inverse));
  F slope = polynomial_paired(t, erfc_g + 1, COUNT(erfc_g) - 1);
  F g = fmadd(t, slope, number(erfc_g[0]));
  F g_low = add(fmadd(t, slope, sub(number(erfc_g[0]), g)), number(ERFC_G_LOW));
  twofold above = two_product(e.high, g);
  above.low = fmadd(e.high, g_low, fmadd(e.low, g, above.low));
  F inverse = mul(k, both_inverse), quotient = mul(above.high, inverse);
  F left = fnmadd(quotient, d_low, add(fnmadd(quotient, d, above.high), above.low));
  *n = bits(shifted);
  return fmadd(left, inverse, quotient);
}

RARE F erfc_edge(F x) {
  I n;
  F fraction = erfc_fraction(within(x, 1, 27.4), &n);
  return choose(less(x, number(0)), number(2), scale_far(fraction, n));
}

OF F erfc_f64(F x) {
  F size = magnitude(x);
  I n;
  F fraction = erfc_fraction(size, &n), great = scale(fraction, n);
  great = choose(less(x, number(0)), sub(number(2), great), great);
  F high = sub(number(1), x), low = sub(sub(number(1), high), x);
  F p = polynomial_paired(fmsub(x, x, number(0.28125)), erfc_small, COUNT(erfc_small));
  F small = add(high, fnmadd(x, p, low));
  F result = choose(less(size, number(0.75)), small, great);
  return rare(opposite(at_most(size, number(26))), erfc_edge, x, result);
}

OF F erfc_f32(F x) {
  F moved = choose(equal(x, number(-0x1.d93ec4p-17)), number(-0x1.d93ec3ffep-17), x);
  F y = within(moved, -5, 10.1), size = magnitude(y), square = mul(y, y);
  F t = divide(fnmadd(size, number(2.015625), number(6.2578125)), add(size, number(4)));
  F great = mul(exp_of_minus(square), polynomial_paired(t, erfc_short, COUNT(erfc_short)));
  great = choose(less(y, number(0)), sub(number(2), great), great);
  F p = polynomial_paired(sub(square, number(0.28125)), erfc_small_short, COUNT(erfc_small_short));
  F small = fnmadd(y, p, sub(number(1), y));
  return choose(less(size, number(0.75)), small, great);
}
