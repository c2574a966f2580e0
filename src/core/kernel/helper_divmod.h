/* helper_divmod.h - FMOD, MOD and FLOORDIV of floats by vectors, since C's fmod goes bit by bit.
 *
 * helper.c includes it once for each type and instruction set (so it has no guard), with these macros:
 *
 *   NAME    the function            T       the type of an element
 *   ISA     for `target`            V, I    vectors of it, and of integers as wide
 *   CALL    CALL(floor) is the intrinsic for V           MOST    2^(digits of T - 1)
 *   ANY     ANY(mask): is a lane of this I not 0?
 *
 * The bits are those of the plain functions, by this reasoning.  |x| / |y| is rounded, and then cut to an integer: the
 * true quotient's or, where that lies just below an integer and is rounded to it, one more.  So |x| minus that many |y| is
 * fmod's rest or, in the second case, the rest minus |y|.  Both are multiples of the last bit of |x| or of |y| and not
 * above |y|, hence exact, and so is what corrects the second.  It needs a quotient below MOST, and a finite divisor that is
 * not 0; vectors in which a lane has something else are left to `loop`.  What follows is the plain functions' steps.
 */
__attribute__((target(ISA))) static void NAME(int op, void (*loop)(T *, const T *, const T *, int64_t), T *out, const T *a,
                                              const T *b, int64_t n) {
  const int64_t lanes = sizeof(V) / sizeof(T);
  const V zero = {0}, one = zero + 1, most = zero + MOST, infinity = zero + (T)INFINITY;
  const I sign = (I)-zero;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V x, y;
    memcpy(&x, a + i, sizeof x);
    memcpy(&y, b + i, sizeof y);
    V dividend = (V)((I)x & ~sign), divisor = (V)((I)y & ~sign), quotient = dividend / divisor;
    if (ANY(~((I)(quotient < most) & (I)(divisor < infinity)))) {
      loop(out + i, a + i, b + i, lanes);
      continue;
    }
    V rest = CALL(fnmadd)(CALL(floor)(quotient), divisor, dividend);
    rest += (V)((I)divisor & (I)(rest < zero));
    const I none = (I)(rest == zero), opposite = ((I)x ^ (I)y) < 0;
    rest = (V)((I)rest | ((I)x & sign));
    V result = rest;
    if (op == LGT_OP_MOD) {
      result = rest + (V)((I)y & opposite);
      result = (V)(((I)result & ~none) | ((I)y & sign & none));
    } else if (op == LGT_OP_FLOORDIV) {
      quotient = (x - rest) / y - (V)((I)one & opposite & ~none);
      result = CALL(floor)(quotient);
      result += (V)((I)one & (I)(quotient - result > one / 2));
      const I nothing = (I)(quotient == zero);
      result = (V)(((I)result & ~nothing) | (((I)x ^ (I)y) & sign & nothing));
    }
    memcpy(out + i, &result, sizeof result);
  }
  loop(out + i, a + i, b + i, n - i);
}
#undef NAME
#undef ISA
#undef T
#undef V
#undef I
#undef CALL
#undef MOST
#undef ANY
