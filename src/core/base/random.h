/* random.h - a stream of random words (xorshift): for tests, in which what may be decided at will is decided at random. */
#ifndef LGT_RANDOM_H
#define LGT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* The next word of a stream whose state is not 0. */
static inline uint64_t lgt_random_next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

/* True half of the time; always false where nothing is random: the state is 0. */
static inline bool lgt_random_choice(uint64_t *state) { return *state && lgt_random_next(state) >> 32 & 1; }

#endif
