/* elementary_words.h - polynomials and twofold numbers, in the vocabulary of elementary.h; see elementary_functions.h.
 *
 * No guard: elementary_functions.h includes it, and emit_math.c does for the powers that kernels have inlined.
 */

/* c[0] + c[1] x + ... + c[n-1] x^(n-1), from the top (Horner). */
OF F polynomial(F x, const double *c, int n) {
  F sum = number(c[n - 1]);
  for (int i = n - 2; i >= 0; i--) sum = fmadd(sum, x, number(c[i]));
  return sum;
}

/* The same in two chains, which takes half the time where nothing else is to be done meanwhile. */
OF F polynomial_paired(F x, const double *c, int n) {
  F square = mul(x, x), even = number(c[(n - 1) & ~1]), odd = number(c[(n - 2) | 1]);
  for (int i = ((n - 1) & ~1) - 2; i >= 0; i -= 2) even = fmadd(even, square, number(c[i]));
  for (int i = ((n - 2) | 1) - 2; i >= 1; i -= 2) odd = fmadd(odd, square, number(c[i]));
  return fmadd(odd, x, even);
}

/* The same as a tree (Estrin): the shortest wait for a result, for a few products more. */
OF F polynomial_tree(F x, const double *c, int n) {
  F part[16];
  for (int i = 0; i < n / 2; i++) part[i] = fmadd(x, number(c[2 * i + 1]), number(c[2 * i]));
  if (n % 2) part[n / 2] = number(c[n - 1]);
  for (int count = (n + 1) / 2; count > 1; count = (count + 1) / 2) {
    x = mul(x, x);
    for (int i = 0; i < count / 2; i++) part[i] = fmadd(x, part[2 * i + 1], part[2 * i]);
    if (count % 2) part[count / 2] = part[count - 1];
  }
  return part[0];
}

/* Twice float64: the value is high + low, and low is at most half a unit in the last place of high. */
typedef struct twofold {
  F high, low;
} twofold;

/* a + b exactly, where |a| >= |b| or a is 0 (Dekker); a + b exactly (Knuth); a * b exactly. */
OF twofold fast_two_sum(F a, F b) {
  F sum = add(a, b);
  return (twofold){sum, sub(b, sub(sum, a))};
}
OF twofold two_sum(F a, F b) {
  F sum = add(a, b), part = sub(sum, a);
  return (twofold){sum, add(sub(a, sub(sum, part)), sub(b, part))};
}
OF twofold two_product(F a, F b) {
  F product = mul(a, b);
  return (twofold){product, fmsub(a, b, product)};
}

/* Without the product of the low parts, which does not count. */
OF twofold twofold_product(twofold a, twofold b) {
  twofold product = two_product(a.high, b.high);
  return (twofold){product.high, fmadd(a.high, b.low, fmadd(a.low, b.high, product.low))};
}

/* Rounded to nearest. */
OF F total(twofold a) { return add(a.high, a.low); }

/* For a result that is rounded again: rounded towards zero, and then the last bit is set (rounding to odd:
 * Boldo and Melquiond, see elementary_lanes.c).  So it lies on the same side of each midpoint of two float32
 * as the sum does. |a.high| >= |a.low|, or a.high is 0. */
OF F odd_total(twofold a) {
  twofold sum = fast_two_sum(a.high, a.low);
  I beyond = shift_right(i_xor(bits(sum.high), bits(sum.low)), 63);
  return from_bits(i_or(i_sub(bits(sum.high), beyond), whole(1)));
}
