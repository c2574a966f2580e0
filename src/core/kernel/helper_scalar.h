/* helper_scalar.h - division, remainders and integer powers of one element.
 *
 * Without a guard: helper.c includes it, and device_functions.c, which computes the same for devices.  fmod, fmodf, floor,
 * floorf, copysign and copysignf are C's, or macros.
 */
static int64_t div_i64(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
static uint64_t div_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }

static int64_t fmod_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static uint64_t fmod_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }

static int64_t mod_i64(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
#define mod_u64 fmod_u64

static int64_t floordiv_i64(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return div_i64(a, b);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
#define floordiv_u64 div_u64

static uint64_t pow_u64(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}
static int64_t pow_i64(int64_t base, int64_t exponent) {
  if (exponent >= 0) return (int64_t)pow_u64((uint64_t)base, (uint64_t)exponent);
  return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
}

/* As NumPy's npy_divmod has it. */
#define FLOAT_DIVMOD(T, d, fmod, floor, copysign)          \
  static T fmod_##d(T a, T b) { return fmod(a, b); }       \
  static T mod_##d(T a, T b) {                             \
    T rest = fmod(a, b);                                   \
    if (b == 0) return rest;                               \
    if (rest == 0) return copysign(0, b);                  \
    return (b < 0) != (rest < 0) ? rest + b : rest;        \
  }                                                        \
  static T floordiv_##d(T a, T b) {                        \
    if (b == 0) return a / b;                              \
    T rest = fmod(a, b), quotient = (a - rest) / b;        \
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1; \
    if (quotient == 0) return copysign(0, a / b);          \
    T whole = floor(quotient);                             \
    return quotient - whole > (T)0.5 ? whole + 1 : whole;  \
  }
FLOAT_DIVMOD(double, f64, fmod, floor, copysign)
FLOAT_DIVMOD(float, f32, fmodf, floorf, copysignf)
