/* repeats.h - which parts of a stream of tokens repeat: the finder of traces.
 *
 * From: R. Yadav et al., "Automatic Tracing in Task-Based Runtime Systems", ASPLOS 2025, algorithm 2.  Suffixes of the
 * stream are sorted; neighbours in that order share the longest prefixes, and each such prefix is a candidate.  (Where the
 * two overlap, the prefix is itself a repetition, of which both halves are candidates.)  Long candidates are chosen first,
 * and only those whose place is free.
 *
 * What is promised:
 *   - the places of all repeats are disjoint;
 *   - each repeat occurs at two places at least that do not overlap, though not all of them need have been free;
 *   - lengths are within the bounds that were asked for;
 *   - two repeats are different strings.
 * The choice is greedy, and not always the one that covers most: of `abababa` it takes `ab` twice, and never `aba`.
 *
 * The work grows as n log n.  Keeps nothing between calls: any thread may call it.
 */
#ifndef LGT_REPEATS_H
#define LGT_REPEATS_H

#include "core.h"

typedef struct lgt_repeat {
  int length;
  int first, count; /* its places, in `place` */
} lgt_repeat;

typedef struct lgt_repeats {
  lgt_repeat *repeat; /* owned; the longest first */
  int count;
  int *place;    /* owned: where repeats begin; ascending for each repeat */
  int64_t moves; /* how often an entry was put somewhere while sorting */
} lgt_repeats;

/* The repeats of `shortest` to `longest` tokens among n.  LGT_NO_MEMORY: `out` has none. */
lgt_status lgt_repeats_find(const uint64_t *token, int n, int shortest, int longest, lgt_repeats *out);
void lgt_repeats_fini(lgt_repeats *repeats);

#endif
