/* elementary_gamma.h - the gamma function and its logarithm; see elementary_functions.h.
 *
 * Both come from one sum in twofold arithmetic, log Gamma(x) for x > 0:
 *
 *   x > 4.5     Stirling: (x - 1/2)(log x - 1) + c + w p(w^2), w = 1/x
 *   x <= 4.5    x = n + e with |e| <= 1/2: log Gamma(2 + e), a polynomial with the factor e, and the logarithm of
 *               Gamma(x)/Gamma(2 + e), which is 1/(x (x+1)), 1/x, 1, x - 1 or (x-1)(x-2).  The zeros at 1 and 2 come out of
 *               e and log x, which are accurate there
 *
 * lgamma is the sum, rounded; tgamma is e to the sum.  The sum's error is some 2^-59, or 2^-66 of it if that is more, so that
 * both stay below 0.56 ulp, factorials are exact, and float32 (rounded from a sum that was rounded to odd) is right.
 *
 * Negative x, rare in programs, is out of line, by the reflection Gamma(x) Gamma(-x) = -pi/(x sin(pi x)).  There log |Gamma|
 * has two zeros between most integers, where this formula cancels.  Beside the five zeros above -4.1 it is replaced by a
 * polynomial about the zero; the others lie beside poles, at a distance d of about 1/n! from -n, where Gamma(1 + d) and
 * (-d)(1-d) ... (n-d) are multiplied out in twofold arithmetic.  So lgamma is below 0.87 ulp there too, but for one float64,
 * that next to the zero at -5.008, where it is 1.61 ulp.  tgamma is below 0.56 ulp, and 0.75 where it is subnormal.
 *
 * Stirling's series with exact zeros apart is how fdlibm's e_lgamma_r.c begins, too; that zeros want expansions of their own is
 * glibc's lgamma_neg.c.  Coefficients: tools/coefficients/gamma.sollya.
 */

/* log Gamma(2 + e) = e (c0 + e (c1 + e p(e))), |e| <= 1/2; error of p: 2^-57. */
static const double gamma_2[][2] = {{0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58},
                                    {0x1.4a34cc4a60fa6p-2, 0x1.1873d8912200cp-56}};
static const double gamma_2_rest[] = {-0x1.13e001a557607p-4,  0x1.51322ac7d8486p-6,   -0x1.e404fc218ee37p-8,
                                      0x1.7add6eadb5bdp-9,    -0x1.38ac5c2c84ecbp-10, 0x1.0b36af87384fdp-11,
                                      -0x1.d3fd4be7bb4ep-13,  0x1.a127b00bbc09ap-14,  -0x1.78de832e21b6p-15,
                                      0x1.580e079724a73p-16,  -0x1.3cb646a0d07c5p-17, 0x1.258f5fcd7ef99p-18,
                                      -0x1.124e5684fa0a9p-19, 0x1.011f843beec3ap-20,  -0x1.d0d373fe9f144p-22,
                                      0x1.b3f0f03309244p-23,  -0x1.1b214bb287b72p-23, 0x1.125fe9198a492p-24};

/* The constant (log(2 pi) - 1)/2, and p of Stirling's series; error: 2^-57.6, which is that of 1/12. */
static const double gamma_constant[][2] = {{0x1.acfe390c97d69p-2, 0x1.3494bc9001442p-56}};
static const double gamma_stirling[] = {0x1.5555555555555p-4,   -0x1.6c16c16c0fb6dp-9, 0x1.a01a016594251p-11,
                                        -0x1.381350c3c06c5p-11, 0x1.b93d6155ec3cp-11,  -0x1.f42ca835d9ef5p-10,
                                        0x1.8c70c7b57ca99p-8,   -0x1.5761e130e3cf8p-6, 0x1.8d36e22debcfbp-5};

/* 2/3, and p of log m = 2 s + s z (2/3 + z p(z)), z = s^2 < 0.0295; error: 2^-55.3. */
static const double gamma_two_thirds[][2] = {{0x1.5555555555555p-1, 0x1.5555555555555p-55}};
static const double gamma_log[] = {0x1.999999999999ap-2, 0x1.24924924922fdp-2, 0x1.c71c71c74cc72p-3,
                                   0x1.745d173c9f36ap-3, 0x1.3b13a9e7bc8cap-3, 0x1.11154b44f125bp-3,
                                   0x1.e01aa2fd8039ap-4, 0x1.da9916e9d1d2ep-4};

/* e^r = 1 + r + r^2/2 + r^3 p(r), |r| <= ln 2 / 2; error: 2^-55.6. */
static const double gamma_exp[] = {0x1.5555555555556p-3,  0x1.5555555555556p-5,  0x1.111111111070bp-7,
                                   0x1.6c16c16c15f3fp-10, 0x1.a01a01a902364p-13, 0x1.a01a01a89ffa1p-16,
                                   0x1.71de0a3cd9d36p-19, 0x1.27e4d64ca68f2p-22, 0x1.af3f06520859ep-26,
                                   0x1.1f7c9e0b827ep-29};

/* sin(pi d)/(pi d) = 1 + v (c1 + v (c2 + v p(v))), v = d^2 <= 1/4; error of p: 2^-55. */
static const double gamma_sine[][2] = {{0x1p0, 0},
                                       {-0x1.a51a6625307d3p0, -0x1.1873d8912200cp-55},
                                       {0x1.9f9cb402bc46cp-1, 0x1.487acd8cd312cp-55}};
static const double gamma_sine_rest[] = {-0x1.86a8e4720db67p-3, 0x1.ac6805cf350dp-6,    -0x1.33816aa45a3acp-9,
                                         0x1.374719e9ec543p-13, -0x1.d4247af1535fbp-18, 0x1.0fbd3978f23f3p-22,
                                         -0x1.ec44ae2fb136ep-28};

/* log Gamma(1 + d) = d (c0 + d (c1 + ...)), |d| < 2^-6: its Taylor series. */
static const double gamma_1[][2] = {
    {-0x1.2788cfc6fb619p-1, 0x1.6cb90701fbfabp-58},  {0x1.a51a6625307d3p-1, 0x1.1873d8912200cp-56},
    {-0x1.9a4d55beab2d7p-2, 0x1.4c26d1b465993p-59},  {0x1.151322ac7d848p-2, 0x1.b5f91211196e5p-57},
    {-0x1.a8b9c17aa6149p-3, -0x1.2e826a4fdae1ap-58}, {0x1.5b40cb100c306p-3, 0x1.4a79940f15696p-59},
    {-0x1.2703a1dcea3aep-3, -0x1.6307fd0794ac4p-57}};
static const double gamma_1_rest[] = {0x1.010b36af86397p-3,  -0x1.c806706d57db4p-4, 0x1.9a01e385d5f8fp-4,
                                      -0x1.748c33114c6d6p-4, 0x1.556ad63243bc4p-4,  -0x1.3b1d971fc5985p-4,
                                      0x1.2496df8320c5fp-4};

/* The zeros between -4.1 and -2, log |Gamma| = d (slope + d p(d)) about each, up to 1/32; error: 2^-59.8 of the result. */
static const double gamma_zero[][2] = {{-0x1.3a7fc9600f86cp1, -0x1.55f64f98af8dp-55},
                                       {-0x1.5fb410a1bd901p1, 0x1.a19a96d2e6f85p-54},
                                       {-0x1.9260dbc9e59afp1, -0x1.f717cd335a7b3p-53},
                                       {-0x1.fa471547c2fe5p1, -0x1.70d4561291237p-56},
                                       {-0x1.0284e78599581p2, 0x1.e78c1e9e43cfep-53}};
static const double gamma_zero_slope[][2] = {{0x1.83fe966af535fp0, -0x1.775909a36a6a4p-55},
                                             {-0x1.ea12da904b18cp0, -0x1.220130f99b2cfp-54},
                                             {0x1.f20a65f2fac55p2, -0x1.1d258e4b0be84p-53},
                                             {-0x1.4b99d966c5647p4, 0x1.9cba2450afff3p-50},
                                             {0x1.aca5cf4921642p4, 0x1.a46a2e0d8fe1p-51}};
static const double gamma_zero_rest[][12] = {
    {0x1.36eebb002f55dp2, 0x1.694a6058a7858p0, 0x1.1718d7ca08793p3, 0x1.7339fe04b26c2p2, 0x1.8d32f69a0f1fbp4,
     0x1.809f04eded7b8p4, 0x1.48ea59c1c1577p6, 0x1.9297b141bd7a3p6, 0x1.28e20c2d1bbe8p8, 0x1.a92614bd18627p8,
     0x1.bda5d25299b72p9, 0x1.cbd56575ceca7p10},
    {0x1.3267f3c265a52p3, -0x1.4185ac30c8bf1p4, 0x1.f504accc9e793p5, -0x1.858845820920dp7,
     0x1.4373f7cd93af8p9, -0x1.12239bd8b1873p11, 0x1.dba65f370b45fp12, -0x1.a2d260a0a0133p14,
     0x1.757c05a6f0239p16, -0x1.505e6fc10fecap18, 0x1.35c73784d9d7cp20, -0x1.1d4360f430414p22},
    {0x1.9d4d2977150efp4, 0x1.c1137124d5c5bp6, 0x1.267203d779271p9, 0x1.99a6337da47dbp11, 0x1.293c3f36099cp14,
     0x1.bb97a9f9bccb1p16, 0x1.51ed16e2eebe3p19, 0x1.057fb5516b5c1p22, 0x1.8bc90d75e3a36p24,
     0x1.43099d6e9873cp27, 0x1.aaf52a27e9e47p33, 0x1.cee0ba66a9377p33},
    {0x1.f76deae0436bep7, -0x1.d25359d4b2f38p11, 0x1.e8f829f13fd8ap15, -0x1.116f7806d234dp20,
     0x1.3e8f3acfdbc67p24, -0x1.7dbbe066e0791p28, 0x1.d2f6973b740d8p32, -0x1.2225ef2f627acp37,
     0x1.6edf6129f78c6p41, -0x1.d03225025806fp45, -0x1.ed6fa906a37e8p47, -0x1.5c43b760a908ap54},
    {0x1.44415cd813f8ep8, 0x1.559b11b2a9c7cp12, 0x1.96d18e21af36cp16, 0x1.0261eb57334fap21,
     0x1.55e3dbf01d79p25, 0x1.d14fe48eb91e9p29, 0x1.433e1c2475929p34, 0x1.c839fccd9fb6ap38,
     0x1.44e3dd60cd70cp43, 0x1.d555f5866842bp47, 0x1.624b73aaa7f5dp53, 0x1.b729c66b5dd4fp57}};

/* c[0] + x (c[1] + x (... + x rest)), where each constant is greater than what is added to it. */
OF twofold twofold_polynomial(F x, const double (*c)[2], int n, F rest) {
  twofold sum = {rest, number(0)};
  for (int i = n - 1; i >= 0; i--) {
    twofold product = two_product(x, sum.high);
    F low = add(fmadd(x, sum.low, product.low), number(c[i][1]));
    sum = fast_two_sum(number(c[i][0]), product.high);
    sum.low = add(sum.low, low);
  }
  return sum;
}

OF twofold twofold_choose(B when, twofold a, twofold b) {
  return (twofold){choose(when, a.high, b.high), choose(when, a.low, b.low)};
}

/* ---- logarithm and exponential ------------------------------------------------------------------ */

/* log(a) to 2^-66 of its size, of a normal number above 0; log_split and the idea: elementary_log.h.  Here s has two parts,
 * and so has s z (2/3 + ...). */
OF twofold gamma_log_of(twofold a) {
  I k;
  F f = log_split(a.high, &k), count = log_count(k);
  F f_low = mul(a.low, from_bits(i_sub(whole(0x7fe0000000000000), shift_left(k, 52))));
  F below = add(f, number(2)), below_low = add(sub(f, sub(below, number(2))), f_low);
  F inverse = divide(number(1), below), s = mul(f, inverse);
  F s_low = mul(add(fnmadd(s, below, f), fnmadd(s, below_low, f_low)), inverse);
  twofold z = two_product(s, s);
  z.low = fmadd(add(s, s), s_low, z.low);
  F rest = polynomial_paired(z.high, gamma_log, COUNT(gamma_log));
  twofold factor = twofold_polynomial(z.high, gamma_two_thirds, 1, rest);
  factor.low = fmadd(z.low, rest, factor.low);
  twofold cubic = twofold_product((twofold){s, s_low}, twofold_product(z, factor));
  twofold sum = fast_two_sum(mul(count, number(LN2_HIGH)), add(s, s)),
          all = fast_two_sum(sum.high, cubic.high);
  F low = add(add(s_low, s_low), fmadd(count, number(LN2_LOW), cubic.low));
  return (twofold){all.high, add(all.low, add(sum.low, low))};
}

/* e^a = result * 2^*count; as in elementary_exp.h, but with r^2/2 exact. */
OF twofold gamma_exp_of(twofold a, F *count) {
  *count = sub(fmadd(a.high, number(LOG2E), number(SHIFTER)), number(SHIFTER));
  F first = fnmadd(*count, number(LN2_HIGH), a.high), r = fnmadd(*count, number(LN2_LOW), first);
  F r_low = add(fnmadd(*count, number(LN2_LOW), sub(first, r)), a.low);
  twofold square = two_product(r, r);
  F rest = mul(mul(square.high, r), polynomial_paired(r, gamma_exp, COUNT(gamma_exp)));
  twofold sum = fast_two_sum(number(1), r), all = fast_two_sum(sum.high, mul(number(0.5), square.high));
  F low = add(all.low, add(sum.low, fmadd(number(0.5), square.low, rest)));
  return (twofold){all.high, fmadd(r_low, add(all.high, rest), low)};
}

/* 2^n, -1023 < n < 1024. */
OF F gamma_two_to(F n) { return from_bits(shift_left(bits(add(n, number(0x1.8p52 + 1023))), 52)); }

/* ---- log Gamma ---------------------------------------------------------------------------------- */

/* By Stirling's series, given log x. */
OF twofold gamma_stirling_sum(F x, twofold log) {
  F h = sub(x, number(0.5)), w = divide(number(1), x);
  twofold factor = {h, sub(sub(x, h), number(0.5))}, less_one = fast_two_sum(log.high, number(-1));
  less_one.low = add(less_one.low, log.low);
  twofold product = twofold_product(factor, less_one);
  F series = fmadd(w, polynomial_paired(mul(w, w), gamma_stirling, COUNT(gamma_stirling)),
                   number(gamma_constant[0][1]));
  twofold sum = fast_two_sum(product.high, number(gamma_constant[0][0]));
  return (twofold){sum.high, add(add(sum.low, product.low), series)};
}

/* log Gamma(2 + e). */
OF twofold gamma_middle(F e) {
  F rest = polynomial_paired(e, gamma_2_rest, COUNT(gamma_2_rest));
  twofold factor = twofold_polynomial(e, gamma_2, 2, rest), product = two_product(e, factor.high);
  return (twofold){product.high, fmadd(e, factor.low, product.low)};
}

/* 2^-1000 <= x <= 2^1000. */
OF twofold lgamma_sum(F x) {
  F n = nearest(x), e = sub(x, n);
  B far = less(number(4.5), x), first = equal(n, number(0)), second = equal(n, number(2)),
    last = less(number(3), n);
  F a = choose(second, number(1), choose(less(n, number(3)), x, sub(x, number(1)))),
    above = add(x, number(1));
  F b = choose(first, above, choose(last, sub(x, number(2)), number(1)));
  F b_low = choose(first, sub(x, sub(above, number(1))), number(0));
  twofold product = two_product(a, b);
  product.low = fmadd(a, b_low, product.low);
  twofold log = gamma_log_of(twofold_choose(far, (twofold){x, number(0)}, product));
  twofold great = gamma_stirling_sum(x, log), middle = gamma_middle(e);
  B under = less(n, number(2));
  twofold small = two_sum(choose(under, neg(log.high), log.high), middle.high);
  small.low = add(small.low, add(choose(under, neg(log.low), log.low), middle.low));
  twofold sum = twofold_choose(far, great, small);
  return fast_two_sum(sum.high, sum.low);
}

/* ---- negative x --------------------------------------------------------------------------------- */

/* Gamma(a) Gamma(-a) = -1/p up to its sign, with p = a |d| sin(pi d)/(pi d), where d is the distance of a to the nearest
 * integer. */
OF twofold gamma_reflected(F a) {
  F d = sub(a, nearest(a));
  twofold v = two_product(d, d);
  F rest = polynomial_paired(v.high, gamma_sine_rest, COUNT(gamma_sine_rest));
  twofold sine = twofold_polynomial(v.high, gamma_sine, 3, rest);
  F slope = fmadd(v.high, fmadd(mul(v.high, rest), number(3), number(2 * gamma_sine[2][0])),
                  number(gamma_sine[1][0]));
  sine.low = fmadd(v.low, slope, sine.low);
  return twofold_product(two_product(a, magnitude(d)), sine);
}

OF B lgamma_is_edge(F x) {
  return opposite(both(at_most(number(0x1p-1000), x), at_most(x, number(0x1p1000))));
}

/* |x| < 2^-60: -log |x|.  x > 2^1000: x (log x - 1), to be multiplied by 2^100.  x < 0. */
OF twofold lgamma_edge_sum(F x) {
  F a = magnitude(x);
  B tiny = less(a, number(0x1p-60)), huge = less(number(0x1p1000), x),
    outside = either(tiny, less(number(0x1p1000), a));
  twofold positive = lgamma_sum(choose(outside, number(3), a)), reflected = gamma_reflected(a);
  F scaled = mul(a, choose(huge, number(0x1p-100), number(0x1p100)));
  twofold log = gamma_log_of(twofold_choose(outside, (twofold){scaled, number(0)}, reflected));
  twofold rest = twofold_choose(tiny, (twofold){number(-100 * LN2_HIGH), number(-100 * LN2_LOW)}, positive);
  rest = twofold_choose(huge, (twofold){number(100 * LN2_HIGH - 1), number(100 * LN2_LOW)}, rest);
  twofold sum = two_sum(log.high, rest.high);
  sum = fast_two_sum(sum.high, add(sum.low, add(log.low, rest.low)));
  return twofold_choose(huge, twofold_product((twofold){scaled, number(0)}, sum),
                        (twofold){neg(sum.high), neg(sum.low)});
}

OF F lgamma_edge_result(F x, F result) {
  B pole = both(at_most(x, number(0)), equal(x, nearest(x)));
  result = choose(less(number(0x1p1000), x), mul(result, number(0x1p100)), result);
  result = choose(either(pole, equal(magnitude(x), number(INFINITY))), number(INFINITY), result);
  return choose(is_nan(x), x, result);
}

/* Beside the zeros of -4.5 < x < -2: by a polynomial about each. */
OF F gamma_at_zero(F x, double a, double b, double c, double d, double e) {
  F result = choose(less(number(-4), x), number(d), number(e));
  result = choose(less(number(-3.5), x), number(c), result);
  return choose(less(number(-2.6), x), number(a), choose(less(number(-3), x), number(b), result));
}
#define AT_ZERO(array, index) \
  gamma_at_zero(x, array[0] index, array[1] index, array[2] index, array[3] index, array[4] index)

OF twofold lgamma_isolated_zero(F x) {
  twofold d = fast_two_sum(sub(x, AT_ZERO(gamma_zero, [0])), neg(AT_ZERO(gamma_zero, [1])));
  F rest = number(0);
  for (int i = 12 - 1; i >= 0; i--) rest = fmadd(rest, d.high, AT_ZERO(gamma_zero_rest, [i]));
  twofold slope = fast_two_sum(AT_ZERO(gamma_zero_slope, [0]), mul(rest, d.high));
  slope.low = add(slope.low, AT_ZERO(gamma_zero_slope, [1]));
  return twofold_product(d, slope);
}

/* Beside the zeros of x < -4.5, where d = x + n is small: Gamma(x) = Gamma(1 + d)/(d (d-1) ... (d-n)). */
OF twofold lgamma_zero_at_pole(F x) {
  F n = neg(nearest(x)), d = add(x, n);
  twofold product = {magnitude(d), number(0)};
  for (int i = 1; i <= 18; i++) {
    B with = at_most(number(i), n);
    twofold factor = fast_two_sum(number(i), neg(d));
    product = twofold_product(product, twofold_choose(with, factor, (twofold){number(1), number(0)}));
    product = fast_two_sum(product.high, product.low);
  }
  F rest = polynomial(d, gamma_1_rest, COUNT(gamma_1_rest));
  twofold above =
      twofold_product((twofold){d, number(0)}, twofold_polynomial(d, gamma_1, COUNT(gamma_1), rest));
  twofold log = gamma_log_of(product), sum = two_sum(above.high, neg(log.high));
  return (twofold){sum.high, add(sum.low, sub(above.low, log.low))};
}

OF twofold lgamma_zero_sum(F x) {
  twofold sum = twofold_choose(less(number(-4.5), x), lgamma_isolated_zero(x), lgamma_zero_at_pole(x));
  return fast_two_sum(sum.high, sum.low);
}

OF B lgamma_near_zero(F x, F result) {
  B small = less(magnitude(result), choose(less(number(-4.5), x), number(0x1p-5), number(0.25)));
  return both(small, both(less(x, number(-2)), less(number(-18.5), x)));
}

RARE F lgamma_zero(F x) { return total(lgamma_zero_sum(x)); }
RARE F lgamma_zero_odd(F x) { return odd_total(lgamma_zero_sum(x)); }

RARE F lgamma_edge(F x) {
  twofold sum = lgamma_edge_sum(x);
  F result = lgamma_edge_result(x, total(sum));
  return rare(lgamma_near_zero(x, sum.high), lgamma_zero, x, result);
}
RARE F lgamma_edge_odd(F x) {
  twofold sum = lgamma_edge_sum(x);
  F result = lgamma_edge_result(x, odd_total(sum));
  return rare(lgamma_near_zero(x, sum.high), lgamma_zero_odd, x, result);
}

OF F lgamma_f64(F x) { return rare(lgamma_is_edge(x), lgamma_edge, x, total(lgamma_sum(x))); }
OF F lgamma_f32(F x) { return rare(lgamma_is_edge(x), lgamma_edge_odd, x, odd_total(lgamma_sum(x))); }

/* ---- Gamma -------------------------------------------------------------------------------------- */

OF B tgamma_is_edge(F x) { return opposite(both(at_most(number(0x1p-1000), x), at_most(x, number(170)))); }

OF twofold tgamma_fraction(F x, F *count) { return gamma_exp_of(lgamma_sum(x), count); }

/* x > 170 and x < 0, without the sign; |x| >= 2^-60. */
OF twofold tgamma_edge_fraction(F x, F *count) {
  F a = magnitude(x), inside = choose(less(a, number(190)), a, number(190));
  twofold sum = lgamma_sum(choose(less(a, number(0x1p-60)), number(3), inside)),
          reflected = gamma_reflected(a);
  B negative = less(x, number(0));
  sum.high = choose(negative, neg(sum.high), sum.high);
  sum.low = choose(negative, neg(sum.low), sum.low);
  twofold up = gamma_exp_of(sum, count);
  up = fast_two_sum(up.high, up.low);
  F quotient = divide(up.high, reflected.high), remainder = fnmadd(quotient, reflected.high, up.high);
  remainder = fnmadd(quotient, reflected.low, add(remainder, up.low));
  return twofold_choose(negative, (twofold){quotient, divide(remainder, reflected.high)}, up);
}

/* Infinities, NaN, poles, signs, |x| < 2^-60. */
OF F tgamma_edge_result(F x, F fraction, F count) {
  F a = magnitude(x), n = nearest(a), d = sub(a, n), half = nearest(mul(count, number(0.5)));
  F result = mul(mul(fraction, gamma_two_to(half)), gamma_two_to(sub(count, half)));
  B even = equal(mul(n, number(0.5)), nearest(mul(n, number(0.5))));
  F turned = choose(even, neg(d), d);
  result = choose(less(x, number(0)), with_sign(result, turned), result);
  B pole = both(less(x, number(0)), either(equal(d, number(0)), equal(a, number(INFINITY))));
  result = choose(pole, number(NAN), result);
  result = choose(less(a, number(0x1p-60)), divide(number(1), x), result);
  return choose(either(is_nan(x), equal(x, number(INFINITY))), x, result);
}

RARE F tgamma_edge(F x) {
  F count;
  twofold fraction = tgamma_edge_fraction(x, &count);
  return tgamma_edge_result(x, total(fraction), count);
}
RARE F tgamma_edge_odd(F x) {
  F count;
  twofold fraction = tgamma_edge_fraction(x, &count);
  return tgamma_edge_result(x, odd_total(fraction), count);
}

OF F tgamma_f64(F x) {
  F count;
  twofold fraction = tgamma_fraction(x, &count);
  return rare(tgamma_is_edge(x), tgamma_edge, x, mul(total(fraction), gamma_two_to(count)));
}
OF F tgamma_f32(F x) {
  F count;
  twofold fraction = tgamma_fraction(x, &count);
  return rare(tgamma_is_edge(x), tgamma_edge_odd, x, mul(odd_total(fraction), gamma_two_to(count)));
}
