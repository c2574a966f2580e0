/* test_agree.c - what a rank makes of the verdict of all ranks.  The other rank is played by two functions. */
#include "move/agree.h"

#include "fusion.h"
#include "move/poison.h"

enum { RANK_BITS = 20 };

/* The other rank's vote, and what it says. */
static int64_t their_key;
static char said[100];

/* The least of this rank's numbers and of the other's, whose stream is the same. */
static lgt_pending *least(lgt_peers *p, uint64_t tag, int redop, int dtype, void *data, int64_t *at,
                          int64_t n, bool good) {
  int64_t *mine = data;
  (void)tag, (void)redop, (void)dtype, (void)at, (void)n, (void)good;
  if (their_key < *mine) *mine = their_key;
  return (lgt_pending *)p; /* done at once, whatever it is */
}

/* The other rank's reason, if it is asked for: a status and a text. */
static lgt_pending *tell(lgt_peers *p, uint64_t tag, int root, void *data, size_t bytes, bool good) {
  (void)tag, (void)good;
  if (root == 1 && bytes > sizeof said + sizeof(lgt_status)) {
    lgt_status status = LGT_NO_MEMORY;
    memcpy(data, &status, sizeof status);
    memcpy((char *)data + sizeof status, said, sizeof said);
  }
  return (lgt_pending *)p;
}

/* Rank 0 of two, with nothing to be reported. */
static lgt_binder *open_two(void) {
  if (open_with(&rt, "cpus", "1", "pretend_ranks", "2", NULL)) return NULL;
  rt->pretended->allreduce = least;
  rt->pretended->broadcast = tell;
  their_key = INT64_MAX;
  return &rt->binder;
}

static int64_t key(int64_t position, int rank) { return (position + 1) << RANK_BITS | rank; }

/* A failure of this rank that no look has reported. */
static void fail_at(lgt_binder *binder, int64_t position, const char *text) {
  int64_t now = binder->agreed.position;
  binder->agreed.position = position;
  lgt_failure_release(lgt_poison_new(binder, LGT_NO_MEMORY, text, 0));
  binder->agreed.position = now;
}

TEST(without_a_failure_all_is_well) {
  lgt_binder *binder = open_two();
  CHECK(binder);
  CHECK_EQ(lgt_agree(binder, LGT_OK, 0), LGT_OK);
  lgt_close(rt);
}

TEST(the_first_failure_of_the_stream_counts) {
  lgt_binder *binder = open_two();
  CHECK(binder);
  their_key = key(5, 1);
  snprintf(said, sizeof said, "they lack 8 bytes");
  CHECK_EQ(lgt_agree(binder, lgt_err(LGT_BAD_SHAPE, "mine"), 6), LGT_NO_MEMORY);
  CHECK(!strcmp(lgt_message(), "they lack 8 bytes"));
  CHECK_EQ(lgt_agree(binder, lgt_err(LGT_BAD_SHAPE, "mine"), 4), LGT_BAD_SHAPE);
  CHECK(!strcmp(lgt_message(), "mine"));
  lgt_close(rt);
}

/* The script looks at what this rank has nothing of: what failed here in the same group is reported with it, whatever its
 * text.  What failed elsewhere is still to be reported. */
TEST(a_failure_of_the_same_group_is_reported_with_it) {
  for (int other = 0; other < 2; other++) {
    lgt_binder *binder = open_two();
    CHECK(binder);
    fail_at(binder, other ? 7 : 5, "we lack 16 bytes");
    their_key = key(5, 1);
    snprintf(said, sizeof said, "they lack 8 bytes");
    CHECK_EQ(lgt_agree(binder, LGT_OK, 0), LGT_NO_MEMORY);
    CHECK_EQ(binder->unreported != NULL, other);
    if (!other) CHECK(binder->reported && !strcmp(binder->reported->message, "we lack 16 bytes"));
    lgt_poison_reported(binder);
    lgt_close(rt);
  }
}

/* A rank has the failure from a message, which says not where: those that know what failed say so. */
TEST(what_failed_is_named_by_who_knows) {
  lgt_binder *binder = open_two();
  CHECK(binder);
  fail_at(binder, 3, "we lack 16 bytes");
  their_key = key(LGT_POSITION_UNKNOWN, 1);
  CHECK_EQ(lgt_agree(binder, LGT_OK, 0), LGT_NO_MEMORY);
  CHECK(!strcmp(lgt_message(), "we lack 16 bytes"));
  CHECK(!binder->unreported);
  lgt_close(rt);
}

int main(void) {
  RUN(without_a_failure_all_is_well);
  RUN(the_first_failure_of_the_stream_counts);
  RUN(a_failure_of_the_same_group_is_reported_with_it);
  RUN(what_failed_is_named_by_who_knows);
  return check_done();
}
