/* elementary_powers.h - x^n for a constant n that is whole, or 1/2 or -1/2; see elementary_functions.h.
 *
 * By squaring and multiplying, in twofold arithmetic: with one rounding a step, x^64 could be off by dozens of units.  The
 * low part is never normalised; it is small enough to stay so for seven steps.  A negative power is that of 1/x, so that
 * nothing overflows but results that do.  Where a step overflows, the low part is NaN or infinite and the high part says it
 * all; so it does where that is 0, lest a zero lose its sign.
 *
 * Of a float32 (or float16) that precision is needed by few exponents, of which the least is 34: up to PLAIN, float64 without
 * low parts was right for all arguments.  (The first 53 digits of a result depend on those of x alone, not on its exponent:
 * all x of two binades were tried, all that are subnormal, and all whose result is or overflows.)
 */

enum { PLAIN = 32 };

OF twofold twofold_times(twofold a, F b) {
  twofold product = two_product(a.high, b);
  return (twofold){product.high, fmadd(a.low, b, product.low)};
}

/* The greatest power of two that is at most n. */
static inline unsigned highest_bit(unsigned n) {
  unsigned bit = 1;
  while (2 * bit <= n) bit *= 2;
  return bit;
}

/* x^n, n > 2. */
OF twofold positive_power(F x, unsigned n) {
  unsigned bit = highest_bit(n) / 2;
  twofold power = two_product(x, x);
  if (n & bit) power = twofold_times(power, x);
  for (bit /= 2; bit; bit /= 2) {
    power = twofold_product(power, power);
    if (n & bit) power = twofold_times(power, x);
  }
  return power;
}

/* x^-n, n > 1. */
OF twofold negative_power(F x, unsigned n) {
  F inverse = divide(number(1), x), rest = mul(fnmadd(inverse, x, number(1)), inverse);
  twofold base = {inverse, choose(is_nan(rest), number(0), rest)}, power = base;
  for (unsigned bit = highest_bit(n) / 2; bit; bit /= 2) {
    power = twofold_product(power, power);
    if (n & bit) power = twofold_product(power, base);
  }
  return power;
}

/* x^n, n > 2 or n < -1, rounded at each step. */
OF F plain_power(F x, int n) {
  unsigned size = (unsigned)(n < 0 ? -n : n);
  F power = x;
  for (unsigned bit = highest_bit(size) / 2; bit; bit /= 2) {
    power = mul(power, power);
    if (size & bit) power = mul(power, x);
  }
  return n < 0 ? divide(number(1), power) : power;
}

/* x^(-1/2): r = 1 / sqrt(x), and what one step of Newton's adds to it. */
OF twofold inverse_root(F x) {
  F r = divide(number(1), square_root(x));
  twofold square = two_product(r, r);
  F rest = fnmadd(x, square.low, fnmadd(x, square.high, number(1)));
  r = choose(equal(x, number(-__builtin_inf())), number(0), magnitude(r));
  return (twofold){r, mul(mul(r, number(0.5)), rest)};
}

/* Its low part does not count where it is not the smaller one, or is 0. */
OF twofold constant_power(F x, int n) {
  if (n == -LGT_POWER_ROOT) return inverse_root(x);
  if (n != LGT_POWER_ROOT) return n < 0 ? negative_power(x, (unsigned)-n) : positive_power(x, (unsigned)n);
  F root = add(square_root(x), number(0)); /* of -0: 0 */
  return (twofold){choose(equal(x, number(-__builtin_inf())), magnitude(x), root), number(0)};
}

/* n as body.h has it for POWER. */
OF F power_f64(F x, int n) {
  twofold p = constant_power(x, n);
  return choose(less(magnitude(p.low), magnitude(p.high)), total(p), p.high);
}

/* Rounded to odd, so that what lies beside the middle of two float32 is not taken for it. */
OF F power_f32(F x, int n) {
  if (-PLAIN <= n && n <= PLAIN) return plain_power(x, n);
  twofold p = constant_power(x, n);
  F result = choose(less(magnitude(p.low), magnitude(p.high)), odd_total(p), p.high);
  return choose(equal(p.low, number(0)), p.high, result);
}
