/* elementary_erf.h - erf; see elementary_functions.h.
 *
 * erf(x) = x + x p(x^2 - 1/2) for |x| < 1, and sign(x) (1 - exp(-x^2) q(|x| - 2)) beyond.  The smaller erfc is beside 1, the
 * less q need be right, so it minimises the error of the product.  exp(-x^2) is 2^r by exp2's polynomial, where r takes in
 * the rounding error of x^2, but its own is left.  0.9 ulp near 1, where both halves are worst; erf is monotonic there.
 *
 * The polynomial of small x is about the middle of its range, since its terms about 0 are large and cancel.  That of float32
 * is about 0, where the first coefficient decides the results.  These are right for all arguments.
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
  F size = magnitude(x), y = choose(less(number(5.95), size), number(5.95), size), t = sub(y, number(2));
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
  F size = magnitude(x), y = choose(less(number(4), size), number(4), size), square = mul(y, y),
    t = sub(y, number(2));
  F small = fmadd(y, polynomial(square, erf_small_short, COUNT(erf_small_short)), y);
  F great = fnmadd(exp_of_minus(square), polynomial(t, erf_great_short, COUNT(erf_great_short)), number(1));
  return or_sign(choose(less(y, number(1)), small, great), x);
}
