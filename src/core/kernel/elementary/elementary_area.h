/* elementary_area.h - asinh, acosh, atanh (area functions); see elementary_functions.h.
 *
 * Each is log(1 + t) of a t >= 0 that does not cancel:
 *
 *   asinh(a) = log1p(a + (sqrt(a^2 + 1) - 1))
 *   acosh(x) = log1p((x - 1) + sqrt(x^2 - 1))
 *   atanh(a) = log1p(2 a/(1 - a)) / 2
 *
 * where t is twofold: squares, sums and the residues of roots and quotients are exact.  So they are as good
 * as log1p of elementary_log.h.  For small a, the square root is 1 with nearly nothing beside it; that this
 * is a^2/2 to many digits is what makes asinh(a) = a - a^3/6 come out right.
 *
 * For float32, t is a float64; as with logarithms, a result next to a midpoint is computed again.
 */

OF twofold area_root(twofold a) {
  F root = square_root(a.high), factor = mul(root, divide(number(0.5), add(a.high, number(0x1p-1022))));
  return (twofold){root, mul(add(fnmadd(root, root, a.high), a.low), factor)};
}

/* log(2 x), which is asinh(x) and acosh(x) for great x. */
OF twofold area_far(F x) {
  I k;
  F f = log_split(x, &k);
  return log_sum(add(log_count(k), number(1)), log_fraction(f));
}
OF B area_is_far(F x) { return opposite(less(x, number(0x1p500))); }
OF F area_far_result(F x, F result) { return choose(less(x, number(INFINITY)), result, x); }

/* ---- asinh -------------------------------------------------------------------------------------- */

OF twofold asinh_normal(F a) {
  twofold square = two_product(a, a), sum = two_sum(number(1), square.high);
  sum.low = add(sum.low, square.low);
  twofold root = area_root(sum), t = fast_two_sum(a, sub(root.high, number(1)));
  t.low = add(t.low, root.low);
  return log1p_normal(t.high, t.low);
}

RARE F asinh_edge(F x) { return with_sign(area_far_result(magnitude(x), total(area_far(magnitude(x)))), x); }

OF F asinh_f64(F x) {
  F a = magnitude(x);
  return rare(area_is_far(a), asinh_edge, x, with_sign(total(asinh_normal(a)), x));
}

RARE F asinh_hard(F x) {
  return with_sign(area_far_result(magnitude(x), odd_total(asinh_normal(magnitude(x)))), x);
}

OF F asinh_f32(F x) {
  F a = magnitude(x), square = mul(a, a), root = square_root(add(square, number(1)));
  F result = with_sign(log1p_normal_short(add(a, divide(square, add(root, number(1))))), x);
  return rare(either(area_is_far(a), near_midpoint(result)), asinh_hard, x, result);
}

/* ---- acosh -------------------------------------------------------------------------------------- */

OF twofold acosh_normal(F x) {
  twofold square = two_product(x, x), difference = fast_two_sum(square.high, number(-1));
  twofold root = area_root(fast_two_sum(difference.high, add(difference.low, square.low)));
  twofold t = fast_two_sum(root.high, sub(x, number(1)));
  t.low = add(t.low, root.low);
  return log1p_normal(t.high, t.low);
}

OF B acosh_is_edge(F x) { return opposite(both(at_most(number(1), x), less(x, number(0x1p500)))); }
OF F acosh_edge_result(F x, F result) {
  return choose(less(x, number(1)), number(NAN), area_far_result(x, result));
}

RARE F acosh_edge(F x) { return acosh_edge_result(x, total(area_far(x))); }

OF F acosh_f64(F x) { return rare(acosh_is_edge(x), acosh_edge, x, total(acosh_normal(x))); }

RARE F acosh_hard(F x) { return acosh_edge_result(x, odd_total(acosh_normal(x))); }

OF F acosh_f32(F x) {
  F t = sub(x, number(1)), result = log1p_normal_short(add(t, square_root(fmadd(t, t, add(t, t)))));
  return rare(either(acosh_is_edge(x), near_midpoint(result)), acosh_hard, x, result);
}

/* ---- atanh -------------------------------------------------------------------------------------- */

OF twofold atanh_normal(F a) {
  twofold below = fast_two_sum(number(1), neg(a));
  F above = add(a, a), inverse = divide(number(1), below.high), quotient = mul(above, inverse);
  F rest = fnmadd(quotient, below.low, fnmadd(quotient, below.high, above));
  twofold result = log1p_normal(quotient, mul(rest, inverse));
  return (twofold){mul(result.high, number(0.5)), mul(result.low, number(0.5))};
}

OF B atanh_is_edge(F a) { return opposite(less(a, number(1))); }
OF F atanh_edge_result(F x, F result) {
  F a = magnitude(x);
  result = with_sign(choose(equal(a, number(1)), number(INFINITY), result), x);
  return choose(less(number(1), a), number(NAN), choose(is_nan(x), x, result));
}

RARE F atanh_edge(F x) { return atanh_edge_result(x, x); }

OF F atanh_f64(F x) {
  F a = magnitude(x);
  return rare(atanh_is_edge(a), atanh_edge, x, with_sign(total(atanh_normal(a)), x));
}

RARE F atanh_hard(F x) { return atanh_edge_result(x, odd_total(atanh_normal(magnitude(x)))); }

OF F atanh_f32(F x) {
  F a = magnitude(x), t = divide(add(a, a), sub(number(1), a));
  F result = with_sign(mul(log1p_normal_short(t), number(0.5)), x);
  return rare(either(atanh_is_edge(a), near_midpoint(result)), atanh_hard, x, result);
}
