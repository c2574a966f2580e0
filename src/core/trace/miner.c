/* miner.c - see miner.h. */
#include "trace/miner.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/random.h"

/* DELAY: launches until a result is taken in, at first; MOST_DELAY: at most; of a search among fewer than LONG launches it is
 * less in proportion, but LEAST_DELAY.  COVERED: of so many launches no more than one went along no trace: there is nothing
 * to search for.  BARREN: so many searches in vain make the next ones half as frequent, RARE times.  BEHIND: launches that wait
 * for their window. */
enum {
  DELAY = 128,
  MOST_DELAY = 1 << 14,
  LONG = 512,
  LEAST_DELAY = 16,
  COVERED = 16,
  BARREN = 4,
  RARE = 4,
  BEHIND = 4096
};

typedef struct job {
  struct job *next;
  lgt_mined_launch *launch; /* owned */
  int n;
  int64_t due;
  bool late; /* it does not begin before it is waited for */
  bool done;
  lgt_findings findings;
} job;

struct lgt_miner {
  lgt_miner_options options;
  lgt_mined_launch *ring; /* owned */
  int64_t mask;           /* launches in it, less one */
  int64_t position;       /* in the stream: where the next launch is */
  int64_t next;           /* where the next search begins */
  int32_t *astray; /* owned: launches that went along no trace, by the sample that their window ended in */
  int nsample;
  int64_t delay, wish;
  int vain; /* searches that were taken in and told nothing new, since one did */
  uint64_t random;

  pthread_mutex_t lock;
  pthread_cond_t work, done;
  job *first, *last; /* owned, in order */
  job *taken;        /* owned: whose result was handed out */
  pthread_t thread;
  bool has_thread, stop;
};

/* ---- the search ------------------------------------------------------------------------------------------- */

/* A window within a repeat. */
typedef struct piece {
  uint64_t hash, pattern;
  int at, length;
  bool look;
} piece;

static bool same_string(const lgt_mined_launch *launch, const piece *a, const piece *b) {
  if (a->hash != b->hash || a->length != b->length || a->look != b->look) return false;
  for (int i = 0; i < a->length; i++)
    if (launch[a->at + i].token != launch[b->at + i].token) return false;
  return true;
}

#define ORDER(a, b) \
  if ((a) != (b)) return (a) < (b) ? -1 : 1
static int by_string(const void *left, const void *right) {
  const piece *a = left, *b = right;
  ORDER(a->hash, b->hash);
  ORDER(a->length, b->length);
  ORDER(a->look, b->look);
  ORDER(a->pattern, b->pattern);
  ORDER(a->at, b->at);
  return 0;
}

static int by_place(const void *left, const void *right) {
  const lgt_found *a = left, *b = right;
  ORDER(a->token, b->token); /* they lie one behind the other */
  ORDER(a->look, b->look);
  return 0;
}

/* The windows within a repeat at one of its places. */
static int list_pieces(const lgt_mined_launch *launch, int from, int to, int shortest, piece *out) {
  int n = 0;
  for (int at = from; at < to; at++) {
    int length = launch[at].length;
    if (length < shortest || length == 0 || at + length > to) continue;
    uint64_t hash = (uint64_t)length;
    for (int i = 0; i < length; i++) hash = lgt_hash_mix(hash, launch[at + i].token);
    out[n++] = (piece){hash, launch[at].pattern, at, length, launch[at].look};
  }
  return n;
}

/* Equal windows become one finding, unless no two of them have stores that repeat alike.  A single one is believed: the repeat
 * it lies in occurs elsewhere, where windows were cut in other places. */
static void sum_up(const lgt_mined_launch *launch, const uint64_t *token, const piece *p, int n,
                   lgt_findings *out) {
  for (int i = 0, end; i < n; i = end) {
    int first = p[i].at, alike = 1, most = 1;
    for (end = i + 1; end < n && same_string(launch, &p[i], &p[end]); end++) {
      alike = p[end].pattern == p[end - 1].pattern ? alike + 1 : 1;
      if (alike > most) most = alike;
      if (p[end].at < first) first = p[end].at;
    }
    if (end - i > 1 && most < 2) continue;
    out->found[out->count++] = (lgt_found){(uint64_t *)token + first, p[i].length, end - i, p[i].look};
  }
  qsort(out->found, (size_t)out->count, sizeof *out->found, by_place);
}

/* The findings, and behind them the tokens, are one block. */
static bool collect(const lgt_mined_launch *launch, const uint64_t *token, int n, int shortest,
                    const lgt_repeats *r, lgt_findings *out) {
  piece *p = lgt_mem_alloc(((size_t)n + 1) * sizeof *p);
  int many = 0;
  for (int i = 0; p && i < r->count; i++)
    for (int k = 0; k < r->repeat[i].count; k++) {
      int at = r->place[r->repeat[i].first + k];
      many += list_pieces(launch, at, at + r->repeat[i].length, shortest, p + many);
    }
  if (p) out->found = lgt_mem_alloc(((size_t)many + 1) * sizeof *out->found + (size_t)n * sizeof *token);
  if (out->found) {
    uint64_t *copy = (uint64_t *)(out->found + many + 1);
    memcpy(copy, token, (size_t)n * sizeof *token);
    qsort(p, (size_t)many, sizeof *p, by_string);
    sum_up(launch, copy, p, many, out);
  }
  lgt_mem_free(p);
  return out->found != NULL;
}

bool lgt_miner_search(const lgt_mined_launch *launch, int n, int shortest, lgt_findings *out) {
  lgt_repeats repeats = {0};
  *out = (lgt_findings){0};
  uint64_t *token = lgt_mem_alloc(((size_t)n + 1) * sizeof *token);
  for (int i = 0; token && i < n; i++) token[i] = launch[i].token;
  bool good = token && !lgt_repeats_find(token, n, shortest, n, &repeats) &&
              collect(launch, token, n, shortest, &repeats, out);
  lgt_repeats_fini(&repeats);
  lgt_mem_free(token);
  out->failed = !good;
  return good;
}

void lgt_findings_fini(lgt_findings *findings) {
  lgt_mem_free(findings->found);
  *findings = (lgt_findings){0};
}

/* ---- the thread ------------------------------------------------------------------------------------------- */

static void free_job(job *j) {
  if (!j) return;
  lgt_findings_fini(&j->findings);
  lgt_mem_free(j->launch);
  lgt_mem_free(j);
}

static job *to_do(const lgt_miner *miner) {
  job *j = miner->first;
  while (j && (j->done || j->late)) j = j->next;
  return j;
}

/* The job stays in the list, where nobody frees it before it is done. */
static void *search_jobs(void *argument) {
  lgt_miner *miner = argument;
  pthread_mutex_lock(&miner->lock);
  for (;;) {
    job *j;
    while (!(j = to_do(miner)) && !miner->stop) pthread_cond_wait(&miner->work, &miner->lock);
    if (miner->stop) break;
    pthread_mutex_unlock(&miner->lock);
    lgt_miner_search(j->launch, j->n, miner->options.shortest, &j->findings);
    pthread_mutex_lock(&miner->lock);
    j->done = true;
    pthread_cond_signal(&miner->done);
  }
  pthread_mutex_unlock(&miner->lock);
  return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(lgt_miner *miner) {
  sigset_t all, before;
  if (miner->has_thread) return true;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  miner->has_thread = pthread_create(&miner->thread, NULL, search_jobs, miner) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return miner->has_thread;
}

lgt_status lgt_miner_new(const lgt_miner_options *options, lgt_miner **out) {
  lgt_miner *miner = lgt_mem_zalloc(sizeof *miner);
  int64_t room = 1;
  while (room < (int64_t)options->history + options->sample + BEHIND) room *= 2;
  if (miner) {
    miner->options = *options;
    miner->nsample = options->history / options->sample + 1;
    miner->ring = lgt_mem_alloc((size_t)room * sizeof *miner->ring);
    miner->astray = lgt_mem_zalloc((size_t)miner->nsample * sizeof *miner->astray);
  }
  if (!miner || !miner->ring || !miner->astray) {
    if (miner) {
      lgt_mem_free(miner->ring);
      lgt_mem_free(miner->astray);
    }
    lgt_mem_free(miner);
    return lgt_err(LGT_NO_MEMORY, "out of memory for the launches in which traces are searched for");
  }
  miner->mask = room - 1;
  miner->next = options->sample;
  miner->delay = miner->wish = DELAY;
  miner->random = options->seed;
  pthread_mutex_init(&miner->lock, NULL);
  pthread_cond_init(&miner->work, NULL);
  pthread_cond_init(&miner->done, NULL);
  *out = miner;
  return LGT_OK;
}

void lgt_miner_free(lgt_miner *miner) {
  if (!miner) return;
  if (miner->has_thread) {
    pthread_mutex_lock(&miner->lock);
    miner->stop = true;
    pthread_cond_signal(&miner->work);
    pthread_mutex_unlock(&miner->lock);
    pthread_join(miner->thread, NULL);
  }
  for (job *j = miner->first, *next; j; j = next) {
    next = j->next;
    free_job(j);
  }
  free_job(miner->taken);
  pthread_cond_destroy(&miner->done);
  pthread_cond_destroy(&miner->work);
  pthread_mutex_destroy(&miner->lock);
  lgt_mem_free(miner->ring);
  lgt_mem_free(miner->astray);
  lgt_mem_free(miner);
}

/* ---- the stream ------------------------------------------------------------------------------------------- */

void lgt_miner_token(lgt_miner *miner, uint64_t token) {
  miner->ring[miner->position++ & miner->mask] = (lgt_mined_launch){.token = token};
}

bool lgt_miner_tokens(lgt_miner *miner, const uint64_t *token, int64_t n) {
  if (miner->first && miner->first->due < miner->position + n) return false;
  for (int64_t i = 0; i < n; i++) lgt_miner_token(miner, token[i]);
  return true;
}

static bool at_random(lgt_miner *miner) { return miner->random && lgt_random_next(&miner->random) % 4 == 0; }

/* How many launches before the end of sample number k are searched: 1, 2, 1, 4 ... samples, as long as the ring has them. */
static int size_of(const lgt_miner *miner, int64_t k) {
  int64_t size = miner->options.sample * (k & -k);
  while (size > miner->options.history && size > miner->options.sample) size /= 2;
  return (int)size;
}

/* Of the launches up to the end of sample k, did nearly all go along traces? */
static bool is_covered(const lgt_miner *miner, int64_t k, int size) {
  int64_t sum = 0;
  for (int64_t i = 1; i <= size / miner->options.sample; i++) sum += miner->astray[(k - i) % miner->nsample];
  return sum <= size / COVERED;
}

/* A program that does not repeat is not searched all the time. */
static bool is_left_out(const lgt_miner *miner, int64_t k) {
  int rare = miner->vain / BARREN < RARE ? miner->vain / BARREN : RARE;
  return k % (1 << rare) != 0;
}

static int64_t delay_of(const lgt_miner *miner, int size) {
  int64_t delay = size < LONG ? miner->delay * size / LONG : miner->delay;
  return delay > LEAST_DELAY ? delay : LEAST_DELAY;
}

static bool begin_search(lgt_miner *miner, int64_t end, int size) {
  job *j = lgt_mem_zalloc(sizeof *j);
  if (j) j->launch = lgt_mem_alloc((size_t)size * sizeof *j->launch);
  if (!j || !j->launch) {
    free_job(j);
    return false;
  }
  for (int i = 0; i < size; i++) j->launch[i] = miner->ring[(end - size + i) & miner->mask];
  j->n = size;
  j->due = end + delay_of(miner, size);
  if (miner->first && j->due < miner->last->due) j->due = miner->last->due;
  j->late = at_random(miner);
  if (!start_thread(miner))
    j->done = lgt_miner_search(j->launch, j->n, miner->options.shortest, &j->findings) || true;
  pthread_mutex_lock(&miner->lock);
  if (miner->first) miner->last->next = j;
  else miner->first = j;
  miner->last = j;
  pthread_cond_signal(&miner->work);
  pthread_mutex_unlock(&miner->lock);
  return true;
}

bool lgt_miner_window(lgt_miner *miner, int64_t begin, int length, uint64_t pattern, bool look, bool traced) {
  lgt_mined_launch *launch = &miner->ring[begin & miner->mask];
  int64_t end = begin + length, sample = miner->options.sample;
  int size = 0;
  launch->length = length;
  launch->pattern = pattern;
  launch->look = look;
  for (int64_t at = miner->next; at <= end; at += sample) miner->astray[at / sample % miner->nsample] = 0;
  if (!traced) miner->astray[(end - 1) / sample % miner->nsample] += length;
  for (; miner->next <= end; miner->next += sample) {
    int64_t k = miner->next / sample;
    int more = size_of(miner, k);
    if (more > size && !is_left_out(miner, k) && !is_covered(miner, k, more)) size = more;
  }
  return !size || begin_search(miner, end, size);
}

const lgt_findings *lgt_miner_due(lgt_miner *miner) {
  job *j = miner->first;
  if (!j || miner->position < j->due) return NULL;
  free_job(miner->taken);
  pthread_mutex_lock(&miner->lock);
  j->late = false;
  if (!j->done && miner->has_thread) {
    pthread_cond_signal(&miner->work);
    miner->wish = 2 * miner->delay < MOST_DELAY ? 2 * miner->delay : MOST_DELAY;
  }
  while (!j->done && miner->has_thread) pthread_cond_wait(&miner->done, &miner->lock);
  miner->first = j->next;
  pthread_mutex_unlock(&miner->lock);
  miner->taken = j;
  return &j->findings;
}

void lgt_miner_judge(lgt_miner *miner, bool useful) { miner->vain = useful ? 0 : miner->vain + 1; }

int64_t lgt_miner_wish(const lgt_miner *miner) { return miner->wish; }
void lgt_miner_allow(lgt_miner *miner, int64_t launches) {
  if (launches > miner->delay) miner->delay = launches;
}
