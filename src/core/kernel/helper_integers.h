/* helper_integers.h - DIV, FMOD, MOD and FLOORDIV of integers by vectors, since CPUs divide integers one by one.
 *
 * helper.c includes it once for each type and instruction set (so it has no guard), with these macros:
 *
 *   NAME    the function            T       int64_t or uint64_t
 *   ISA     for `target`            LANES   of a vector
 *   N       the integer that this set converts to float64 and back     BITS    of numbers that go through it
 *
 * The quotient is float64's, cut to an integer: a true quotient that is none lies at least 1/|y| below the next one, of at
 * most 2^52 / |y|, and so is not rounded to it.  That holds for numbers of BITS <= 52; vectors in which a lane has others, or
 * a divisor of 0 or -1, are left to `loop`.
 */
__attribute__((target(ISA))) static void NAME(int op, void (*loop)(T *, const T *, const T *, int64_t), T *out, const T *a,
                                              const T *b, int64_t n) {
  typedef uint64_t U __attribute__((vector_size(8 * LANES)));
  typedef int64_t I __attribute__((vector_size(8 * LANES)));
  typedef double D __attribute__((vector_size(8 * LANES)));
  typedef N C __attribute__((vector_size(sizeof(N) * LANES)));
  const uint64_t least = (T)-1 < 1 ? UINT64_C(1) << BITS : 0, range = (UINT64_C(1) << BITS) + least;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    U x, y;
    memcpy(&x, a + i, sizeof x);
    memcpy(&y, b + i, sizeof y);
    I other = (x + least >= range) | (y + least >= range) | (y + 1 <= 1);
    int64_t any = 0;
    for (int lane = 0; lane < LANES; lane++) any |= other[lane];
    if (any) {
      loop(out + i, a + i, b + i, LANES);
      continue;
    }
    D quotient = __builtin_convertvector(__builtin_convertvector((I)x, C), D) /
                 __builtin_convertvector(__builtin_convertvector((I)y, C), D);
    U result = (U) __builtin_convertvector(__builtin_convertvector(quotient, C), I);
    if (op != LGT_OP_DIV) {
      U rest = x - result * y;
      I below = (rest != 0) & ((I)(rest ^ y) < 0); /* the quotient was cut upwards */
      if (op == LGT_OP_FLOORDIV) result += (U)below;
      else result = op == LGT_OP_MOD ? rest + (y & (U)below) : rest;
    }
    memcpy(out + i, &result, sizeof result);
  }
  loop(out + i, a + i, b + i, n - i);
}
#undef NAME
#undef ISA
#undef T
#undef LANES
#undef N
#undef BITS
