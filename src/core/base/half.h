/* half.h - float16 by bits, in code that a compiler turns into vector instructions.
 *
 * The results are those of the F16C instructions, so that compiled kernels may use them: round to
 * nearest even, subnormals kept, a NaN made quiet with its upper payload bits kept.
 */
#ifndef LGT_HALF_H
#define LGT_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t lgt_float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float lgt_float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float lgt_half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t shifted = (uint32_t)(half & 0x7fff) << 13; /* exponent and fraction in place, exponent 112 too low */
  uint32_t exponent = shifted & 0x0f800000;
  uint32_t normal = shifted + (112u << 23);
  uint32_t subnormal = lgt_float_bits(lgt_float_of_bits(normal + (1u << 23)) - 0x1p-14f);
  uint32_t special = (normal + (112u << 23)) | ((shifted & 0x007fffff) ? 0x00400000 : 0);
  uint32_t bits = exponent == 0x0f800000 ? special : exponent == 0 ? subnormal : normal;
  return lgt_float_of_bits(bits | sign);
}

static inline uint16_t lgt_half_from_float(float x) {
  uint32_t bits = lgt_float_bits(x);
  uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  uint32_t nan = 0x7e00 | (bits >> 13 & 0x3ff);
  /* 0.5 has the unit in the last place of a subnormal half: the addition rounds. */
  uint32_t subnormal = lgt_float_bits(lgt_float_of_bits(bits) + 0.5f) - 0x3f000000;
  uint32_t normal = (bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  uint32_t half = bits > 0x7f800000    ? nan
                  : bits >= 0x477ff000 ? 0x7c00 /* 65520, halfway between the greatest half and the next */
                  : bits < 0x38800000  ? subnormal
                                       : normal;
  return (uint16_t)(half | sign);
}

/* To float32 with rounding to odd, after which a second rounding to float16 is right. */
static inline float lgt_float_round_odd(double x) {
  float nearest = (float)x;
  double back = (double)nearest;
  uint32_t bits = lgt_float_bits(nearest);
  uint32_t odd = (back < 0 ? -back : back) > (x < 0 ? -x : x) ? bits - 1 : bits + 1;
  return lgt_float_of_bits(back != x && !(bits & 1) && x == x ? odd : bits);
}

static inline uint16_t lgt_half_from_double(double x) { return lgt_half_from_float(lgt_float_round_odd(x)); }

/* The nearest float16 as a float32. */
static inline float lgt_half_round(float x) { return lgt_half_to_float(lgt_half_from_float(x)); }

#endif
