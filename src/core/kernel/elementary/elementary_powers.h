/* elementary_powers.h - x^n for a constant n that is whole, or 1/2 or -1/2; see elementary_functions.h.
 *
 * By squaring and multiplying, in twofold arithmetic: with one rounding a step, x^64 could be off by dozens of units.  The
 * low part is never normalised; it is small enough to stay so for seven steps.  A negative power is that of 1/x, so that
 * nothing overflows but results that do.  Where a step overflows, the low part is NaN and the high part says it all; so
 * it does where the low part is 0, lest a zero lose its sign.
 */

/* x^n, n > 2 or n < -1. */
OF twofold whole_power(F x, int n) {
  twofold base = {x, number(0)};
  unsigned size = (unsigned)(n < 0 ? -n : n), bit = 1;
  if (n < 0) {
    base.high = divide(number(1), x);
    base.low = mul(fnmadd(base.high, x, number(1)), base.high);
    base.low = choose(is_nan(base.low), number(0), base.low);
  }
  while (2 * bit <= size) bit *= 2;
  twofold power = base;
  for (bit /= 2; bit; bit /= 2) {
    power = twofold_product(power, power);
    if (size & bit) power = twofold_product(power, base);
  }
  return power;
}

/* x^(-1/2): r = 1 / sqrt(x), and what one step of Newton's adds to it. */
OF twofold inverse_root(F x) {
  F r = divide(number(1), square_root(x));
  twofold square = two_product(r, r);
  F rest = fnmadd(x, square.low, fnmadd(x, square.high, number(1)));
  r = choose(equal(x, number(-__builtin_inf())), number(0), magnitude(r));
  return (twofold){r, mul(mul(r, number(0.5)), rest)};
}

/* Its low part is 0 or NaN where the high part says it all. */
OF twofold constant_power(F x, int n) {
  if (n == -LGT_POWER_ROOT) return inverse_root(x);
  if (n != LGT_POWER_ROOT) return whole_power(x, n);
  F root = add(square_root(x), number(0)); /* of -0: 0 */
  return (twofold){choose(equal(x, number(-__builtin_inf())), magnitude(x), root), number(0)};
}

/* n as body.h has it for POWER. */
OF F power_f64(F x, int n) {
  twofold p = constant_power(x, n);
  return choose(less(number(0), magnitude(p.low)), total(p), p.high);
}

/* Rounded to odd, so that what lies beside the middle of two float32 is not taken for it. */
OF F power_f32(F x, int n) {
  twofold p = constant_power(x, n);
  return choose(less(number(0), magnitude(p.low)), odd_total(p), p.high);
}
