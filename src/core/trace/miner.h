/* miner.h - the newest tokens of the stream, and what repeats in them.
 *
 * One token for each launch goes into a ring.  Every `sample` launches a part of it is searched for what repeats
 * (repeats.h): of so many launches, then of twice as many, of so many, of four times as many ...: the ruler function.
 * So short loops are found soon, long ones once their turn comes, and each launch is searched a few times at most.
 *
 * What is found are no strings from anywhere: each begins and ends where a window did.  Where windows are cut has been
 * thought about (window.h): a window that begins elsewhere in a program's loop might have to store what the other one keeps
 * in registers.  So repeats are taken apart into the windows in them.  How the stores of a window repeat is compared, too: of
 * windows with the same tokens, two at least must agree.
 *
 * Where the program goes along known traces already there is nothing to search for, and where searches tell nothing new there
 * are fewer of them: it may never repeat.
 *
 * The search is made by a thread of its own.  Its result is taken in when a number of launches have gone by, whether it was there
 * before or has to be waited for: so all ranks take it in at the same place of the stream.  A rank that had to wait wishes
 * for more launches; that is agreed on where ranks agree anyway (agree.h).
 *
 * Belongs to the submitting thread, but for jobs that wait for the miner's own: `lock` protects their list and what is in them.
 */
#ifndef LGT_MINER_H
#define LGT_MINER_H

#include "trace/repeats.h"

typedef struct lgt_miner lgt_miner;

typedef struct lgt_miner_options {
  int sample;    /* launches between two searches; 1 or more */
  int history;   /* of how many launches at most */
  int shortest;  /* window that is worth being found */
  uint64_t seed; /* not 0: at random, searches do not begin before they are waited for */
} lgt_miner_options;

/* A string that repeats. */
typedef struct lgt_found {
  uint64_t *token; /* borrowed from the search */
  int length, count;
  bool look; /* its windows ended where the script looked */
} lgt_found;

typedef struct lgt_findings {
  lgt_found *found; /* owned, like the tokens in it; in order of their first place */
  int count;
  bool failed; /* for lack of memory */
} lgt_findings;

lgt_status lgt_miner_new(const lgt_miner_options *options, lgt_miner **out);
void lgt_miner_free(lgt_miner *miner);
/* The next launch. */
void lgt_miner_token(lgt_miner *miner, uint64_t token);
/* The next n launches; false: results are to be taken in before the last of them, and none was noted. */
bool lgt_miner_tokens(lgt_miner *miner, const uint64_t *token, int64_t n);
/* Launches from `begin` on were a window; windows come one behind the other.  `traced`: it was a trace.  May begin a search:
 * false when out of memory for it. */
bool lgt_miner_window(lgt_miner *miner, int64_t begin, int length, uint64_t pattern, bool look, bool traced);
/* Results that are to be taken in before the next launch; waits for them.  NULL: there are none.  Valid until the next call. */
const lgt_findings *lgt_miner_due(lgt_miner *miner);
/* Did they tell something new? */
void lgt_miner_judge(lgt_miner *miner, bool useful);
/* How many launches a search may take: what this rank wishes for, and what holds from now on. */
int64_t lgt_miner_wish(const lgt_miner *miner);
void lgt_miner_allow(lgt_miner *miner, int64_t launches);

/* What repeats among n launches, by the same search.  False: out of memory. */
typedef struct lgt_mined_launch {
  uint64_t token;
  uint64_t pattern;
  int32_t length; /* of the window that begins here; 0: none does */
  bool look;
} lgt_mined_launch;
bool lgt_miner_search(const lgt_mined_launch *launch, int n, int shortest, lgt_findings *out);
void lgt_findings_fini(lgt_findings *findings);

#endif
