/* market.c - the entries of Matrix Market files, read by slices.
 *
 *   market     arguments 0, 1, 2 = rows, columns (from 0) and values of entries of a file, one on each line
 *
 * The bytes behind the file's head are cut into slices of equal length; a line belongs to the slice in which it begins.
 * Once the entries of each slice are counted (lgt_market_count), a task knows where its own are: it begins at a slice,
 * passes over some lines, and reads its own, so nobody reads all of the file, and nothing is sent.
 *
 * Numbers: of at most 19 digits and a small power of ten, in extended precision, where one more rounding gives the
 * nearest double unless the result is half-way between two; all others by strtod.
 */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "ops/builtin.h"

enum { BUFFER = 1 << 16, REST = 256 };

/* ---- lines -------------------------------------------------------------------------------------------------- */

typedef struct reader {
  const lgt_market *market;
  char *buffer;       /* owned: BUFFER bytes and a zero */
  int64_t at;         /* of the file: where the buffer begins */
  int64_t stop;       /* and up to where it will be read, but for the rest of a line */
  int64_t begin, end; /* what of the buffer is still to be read */
} reader;

/* From the slice `first` on, through the one before `past`. */
static lgt_status begin_reading(reader *r, const lgt_market *market, int64_t first, int64_t past) {
  *r = (reader){.market = market,
                .at = market->begin + first * market->slice - (first > 0),
                .stop = market->begin + past * market->slice};
  if (r->stop > market->end) r->stop = market->end;
  r->buffer = lgt_mem_alloc(BUFFER + 1);
  return r->buffer ? LGT_OK : lgt_err(LGT_NO_MEMORY, "out of memory for a buffer");
}

/* More bytes, behind those that are left. */
static lgt_status refill(reader *r) {
  int64_t kept = r->end - r->begin, next = r->at + r->end;
  memmove(r->buffer, r->buffer + r->begin, (size_t)kept);
  r->at += r->begin, r->begin = 0, r->end = kept;
  int64_t goal = next < r->stop ? r->stop : next + REST < r->market->end ? next + REST : r->market->end;
  int64_t wanted = goal - next < BUFFER - kept ? goal - next : BUFFER - kept;
  if (kept == BUFFER) return lgt_err(LGT_IO, "has a line of more than %d bytes", BUFFER);
  ssize_t n;
  do n = pread(r->market->fd, r->buffer + kept, (size_t)wanted, next);
  while (n < 0 && errno == EINTR);
  if (n < 0) return lgt_err(LGT_IO, "cannot be read: %s", strerror(errno));
  if (n == 0) return lgt_err(LGT_IO, "was cut short by somebody else");
  r->end += n;
  return LGT_OK;
}

/* The next line, with a zero in place of its end, and where it begins; NULL in *line at the end of the file. */
static lgt_status next_line(reader *r, char **line, int64_t *place) {
  for (int64_t seen = 0;;) {
    char *from = r->buffer + r->begin, *stop = memchr(from + seen, '\n', (size_t)(r->end - r->begin - seen));
    bool last = !stop && r->at + r->end >= r->market->end;
    if (stop || last) {
      if (!stop) stop = r->buffer + r->end;
      *place = r->at + r->begin;
      *line = last && stop == from ? NULL : from;
      r->begin = stop - r->buffer + !last;
      *stop = 0;
      return LGT_OK;
    }
    seen = r->end - r->begin;
    lgt_status status = refill(r);
    if (status) return status;
  }
}

/* The same for lines with something on them, from that on. */
static lgt_status next_entry(reader *r, char **text, int64_t *place) {
  lgt_status status;
  do {
    status = next_line(r, text, place);
    while (!status && *text && isspace((unsigned char)**text)) ++*text;
  } while (!status && *text && !**text);
  return status;
}

/* The rest of the line in which the slice before ends. */
static lgt_status pass_first(reader *r, int64_t slice) {
  char *line;
  int64_t place;
  return slice ? next_line(r, &line, &place) : LGT_OK;
}

lgt_status lgt_market_count(const lgt_market *market, int64_t first, int64_t past, int64_t *counts) {
  reader r;
  lgt_status status = begin_reading(&r, market, first, past);
  if (!status) status = pass_first(&r, first);
  memset(counts, 0, (size_t)(past - first) * sizeof *counts);
  while (!status) {
    char *text;
    int64_t place;
    status = next_entry(&r, &text, &place);
    int64_t slice = status || !text ? past : (place - market->begin) / market->slice;
    if (slice >= past) break;
    counts[slice - first]++;
  }
  lgt_mem_free(r.buffer);
  return status;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

static locale_t plain; /* decimal points */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", NULL); }

static const char *blanks(const char *p) {
  while (*p == ' ' || *p == '\t' || *p == '\r') p++;
  return p;
}

/* What follows the number, NULL if there is none.  *negative: of digits beyond int64 it says only that. */
static const char *read_integer(const char *p, bool *negative, uint64_t *out) {
  uint64_t n = 0;
  p = blanks(p);
  *negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  if (!isdigit((unsigned char)*p)) return NULL;
  for (; isdigit((unsigned char)*p); p++)
    if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n)) return NULL;
  *out = n;
  return *p && !isspace((unsigned char)*p) ? NULL : p;
}

static const char *read_slowly(const char *p, double *out) {
  char *end;
  *out = strtod_l(p, &end, plain);
  return end == p || (*end && !isspace((unsigned char)*end)) ? NULL : end;
}

#if LDBL_MANT_DIG == 64
enum { DIGITS = 19, POWERS = 27 };

/* Digits and a power of ten, rounded to the nearest double; false: it cannot be told this way. */
static bool nearest(uint64_t digits, int power, double *out) {
  static const long double ten[POWERS + 1] = {
      1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
      1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  if (power < -POWERS || power > POWERS) return false;
  long double x = power < 0 ? (long double)digits / ten[-power] : (long double)digits * ten[power];
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits); /* the significand, 11 bits longer than a double's */
  *out = (double)x;
  return (bits & 0x7ff) != 0x400;
}

static const char *read_real(const char *start, double *out) {
  const char *p = blanks(start);
  bool negative = *p == '-';
  uint64_t digits = 0;
  int count = 0, power = 0, exponent = 0;
  if (*p == '-' || *p == '+') p++;
  const char *first = p;
  for (; isdigit((unsigned char)*p); p++) digits = digits * 10 + (uint64_t)(*p - '0'), count += digits > 0;
  int places = (int)(p - first);
  if (*p == '.')
    for (first = ++p; isdigit((unsigned char)*p); p++)
      digits = digits * 10 + (uint64_t)(*p - '0'), count += digits > 0, power--;
  if (power) places -= power;
  if ((*p == 'e' || *p == 'E') && places) {
    bool below = *++p == '-';
    if (*p == '-' || *p == '+') p++;
    if (!isdigit((unsigned char)*p)) return read_slowly(start, out);
    for (; isdigit((unsigned char)*p) && exponent < 10000; p++) exponent = exponent * 10 + (*p - '0');
    power += below ? -exponent : exponent;
  }
  if (!places || count > DIGITS || (*p && !isspace((unsigned char)*p)) || !nearest(digits, power, out))
    return read_slowly(start, out);
  if (negative) *out = -*out;
  return p;
}
#else
static const char *read_real(const char *p, double *out) { return read_slowly(p, out); }
#endif

/* ---- entries ------------------------------------------------------------------------------------------------ */

static const char *read_value(const char *p, int dtype, void *out) {
  bool negative;
  uint64_t n;
  switch (dtype) {
    case LGT_FLOAT64:
      return read_real(p, out);
    case LGT_COMPLEX128:
      p = read_real(p, out);
      return p ? read_real(p, (double *)out + 1) : NULL;
    default:
      p = read_integer(p, &negative, &n);
      if (p && (dtype == LGT_INT64 ? n > (uint64_t)INT64_MAX + negative : negative && n)) return NULL;
      if (p) *(uint64_t *)out = negative ? 0 - n : n;
      return p;
  }
}

static void put_index(const lgt_tile *tile, int64_t at, uint64_t value) {
  void *to = (char *)tile->data + at * tile->stride[0];
  if (tile->dtype == LGT_INT64) *(int64_t *)to = (int64_t)value;
  else *(int32_t *)to = (int32_t)value;
}

/* The text of entry `number` (from 0) into element `at` of the tiles. */
static lgt_status read_entry(const lgt_market *market, const lgt_tile *tiles, const char *text,
                             int64_t number, int64_t at) {
  uint64_t i = 0, j = 0;
  bool below_i = false, below_j = false;
  void *value = (char *)tiles[2].data + at * tiles[2].stride[0];
  const char *p = read_integer(text, &below_i, &i);
  if (p) p = read_integer(p, &below_j, &j);
  if (p && market->pattern) *(double *)value = 1;
  else if (p) p = read_value(p, tiles[2].dtype, value);
  if (!p || *blanks(p))
    return lgt_err(LGT_IO, "has no numbers where entry %" PRId64 " should be, or more of them than one has",
                   number + 1);
  if (below_i || below_j || i < 1 || j < 1 || i > (uint64_t)market->rows || j > (uint64_t)market->cols)
    return lgt_err(LGT_IO,
                   "has entry %" PRId64 " at (%s%" PRIu64 ", %s%" PRIu64 "), outside of %" PRId64
                   " rows and %" PRId64 " columns",
                   number + 1, below_i ? "-" : "", i, below_j ? "-" : "", j, market->rows, market->cols);
  put_index(&tiles[0], at, i - 1);
  put_index(&tiles[1], at, j - 1);
  return LGT_OK;
}

static int64_t slice_of(const lgt_market *market, int64_t number) {
  int64_t low = 0, high = market->nslice - 1;
  while (low < high) {
    int64_t middle = (low + high + 1) / 2;
    if (market->first[middle] <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

static lgt_status market(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_market *m = (const lgt_market *)(intptr_t)params[0].i;
  int64_t from = tiles[0].origin[0], slice = slice_of(m, from + lo), place;
  reader r;
  char *text;
  (void)nargs;
  if (lo >= hi) return LGT_OK;
  pthread_once(&once, make_plain);
  lgt_status status = begin_reading(&r, m, slice, slice_of(m, from + hi - 1) + 1);
  if (!status) status = pass_first(&r, slice);
  for (int64_t number = m->first[slice]; number < from + hi && !status; number++) {
    status = next_entry(&r, &text, &place);
    if (!status && !text) status = lgt_err(LGT_IO, "was changed by somebody else");
    if (!status && number >= from + lo) status = read_entry(m, tiles, text, number, number - from);
  }
  lgt_mem_free(r.buffer);
  return status;
}

const lgt_builtin lgt_market_builtins[] = {{"market", market}, {0}};
