/* elementary_judge.h - the judge of the elementary functions.
 *
 *   judge    what the right result is, and how far a result is from it
 *   points   inputs: deterministic, the same on every machine
 *   rivals   who computes: lgt, and those it is compared with
 *   cases    what the standard says: special values, exact results, order
 *   bits     whether they are the same on each instruction set, in each back end, at every place
 *
 * The last word is MPFR's, but MPFR takes microseconds.  So a faster function whose error is known comes
 * first: glibc's of double for float32 and float16, where only a value within 2^-42 of a midpoint is left in
 * doubt, and glibc's of long double for float64, which give the error to 2^-7 of a unit in the last place
 * (ulp); only an error that may be the worst so far is measured by MPFR.
 *
 * Values of float16 travel as float32, as they do through lgt_helper_math.
 */
#ifndef LGT_ELEMENTARY_JUDGE_H
#define LGT_ELEMENTARY_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct elementary {
  const char *name; /* the opcode's */
  int arity;
  double bound; /* the greatest error that float64 may have, in ulp */
  /* Outside of [low, high] the result is NaN, a constant or infinite, or (huge arguments) nothing new. */
  double low, high;
  double from[2], to[2];                         /* where arguments usually are */
  long double (*wide)(long double, long double); /* glibc's */
  double (*middle)(double, double);
  float (*narrow)(float, float);
  int (*exact)(void *result, const void *a, const void *b); /* MPFR's, rounded towards zero */
  double special[16];                                       /* where functions are hard to get right; ends with 0 */
} elementary;

extern const elementary elementary_list[];
extern const int elementary_count;
/* NULL if there is none of the name. */
const elementary *elementary_find(const char *name);
/* lgt's opcode, or -1. */
int elementary_op(const elementary *f);

/* ---- judge ---------------------------------------------------------------------------------- */

#define VERDICT_KEPT 20
typedef struct verdict {
  int64_t points;
  int64_t wrong; /* float64: above the bound; else not correctly rounded */
  double worst;  /* in ulp; infinite where a NaN, an infinity or the sign of a zero is wrong */
  double at[2];  /* the worst of float64 */
  double got, expected;
  int kept; /* the first wrong ones */
  double kept_at[VERDICT_KEPT][2], kept_got[VERDICT_KEPT], kept_expected[VERDICT_KEPT];
} verdict;

/* n results of dtype are added to what the verdict holds. */
void judge(const elementary *f, int dtype, const void *a, const void *b, const void *got, int64_t n, verdict *v);
void judge_merge(verdict *v, const verdict *other);
/* By MPFR alone: the correctly rounded result; the error of got in ulp. */
double judge_round(const elementary *f, int dtype, double a, double b);
double judge_error(const elementary *f, double a, double b, double got);
/* Equal, or both NaN; zeros have signs. */
bool judge_same(double a, double b);
/* Frees what MPFR has kept for this thread. */
void judge_done(void);

/* ---- points --------------------------------------------------------------------------------- */

uint64_t points_mix(uint64_t x);
/* Inputs number first to first + n - 1, as elements of dtype (float16: as float32). */
void points_fill(const elementary *f, int dtype, int64_t first, int64_t n, void *a, void *b);
/* The same, uniform between two numbers. */
void points_between(double low, double high, int64_t first, int64_t n, double *a);

/* ---- rivals --------------------------------------------------------------------------------- */

typedef struct rival {
  const char *name;
  bool (*has)(const elementary *f);
  void (*compute)(const elementary *f, int dtype, void *out, const void *a, const void *b, int64_t n);
} rival;

/* lgt comes first. */
extern const rival rival_list[];
extern const int rival_count;

/* ---- cases ---------------------------------------------------------------------------------- */

/* Each prints ok or FAIL, and says whether all is well. */
bool cases_special(const elementary *f);
bool cases_exact(const elementary *f);
bool cases_order(const elementary *f);
bool cases_hard(const elementary *f);

/* ---- bits ----------------------------------------------------------------------------------- */

/* Whether all ways to compute count results give the same bits, which are hashed: float64, float32, float16.
 * FAIL is printed if not. */
bool bits_same(const elementary *f, int64_t count, uint64_t hashes[3]);
/* The same of a few, and that their hashes are those in the file.  Prints ok or FAIL. */
bool bits_expected(const elementary *f, const char *path);
/* Writes that file.  The process's exit status. */
int bits_write(const char *path);

#endif
