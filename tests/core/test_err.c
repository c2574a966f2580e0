/* test_err.c - messages: kept, prefixed, cut, one for each thread; and what lgt.h says of statuses. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "base/err.h"

TEST(a_message_is_kept) {
  CHECK_EQ(lgt_err(LGT_BAD_SHAPE, "extent %d", -3), LGT_BAD_SHAPE);
  CHECK_TEXT(lgt_message(), "extent -3");
  CHECK_EQ(lgt_fail(LGT_IO, "100% wrong"), LGT_IO);
  CHECK_TEXT(lgt_message(), "100% wrong");
}

TEST(callers_say_where) {
  lgt_err(LGT_IO, "no such file");
  CHECK_EQ(lgt_err_within(LGT_IO, "loading %s", "x.npy"), LGT_IO);
  CHECK_TEXT(lgt_message(), "loading x.npy: no such file");
  lgt_err_within(LGT_IO, "line %d", 7);
  CHECK_TEXT(lgt_message(), "line 7: loading x.npy: no such file");
}

TEST(a_message_may_quote_the_former_one) {
  lgt_err(LGT_IO, "inner");
  lgt_err(LGT_IO, "<%s>", lgt_message());
  CHECK_TEXT(lgt_message(), "<inner>");
}

TEST(long_messages_are_cut) {
  static char text[10000];
  memset(text, 'x', sizeof text - 1);
  lgt_err(LGT_IO, "%s", text);
  size_t length = strlen(lgt_message());
  CHECK(length > 1000 && length < sizeof text - 1);
  lgt_err_within(LGT_IO, "where");
  CHECK_HAS(lgt_message(), "where: xxx");
  lgt_err_within(LGT_IO, "%s", text);
  CHECK(strlen(lgt_message()) <= length + 1);
}

static void *other_thread(void *unused) {
  (void)unused;
  lgt_err(LGT_IO, "from the other thread");
  return NULL;
}

TEST(each_thread_has_its_own) {
  lgt_err(LGT_IO, "mine");
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, other_thread, NULL), 0);
  pthread_join(thread, NULL);
  CHECK_TEXT(lgt_message(), "mine");
}

TEST(statuses_have_names) {
  CHECK_TEXT(lgt_status_name(LGT_OK), "success");
  CHECK_TEXT(lgt_status_name(LGT_NO_MEMORY), "out of memory");
  CHECK_TEXT(lgt_status_name(-1000), "unknown status");
#define X(NAME, text) CHECK(LGT_##NAME <= 0 && strcmp(lgt_status_name(LGT_##NAME), "unknown status"));
  LGT_STATUS_LIST(X)
#undef X
}

TEST(a_broken_invariant_aborts_and_says_where) {
  int pipes[2], status;
  CHECK_EQ(pipe(pipes), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 2);
    lgt_assert(1 == 1);
    lgt_assert(1 == 2);
    _exit(0);
  }
  close(pipes[1]);
  char text[1000];
  ssize_t length = read(pipes[0], text, sizeof text - 1);
  close(pipes[0]);
  waitpid(child, &status, 0);
  text[length > 0 ? length : 0] = 0;
  CHECK(WIFSIGNALED(status));
  CHECK_HAS(text, "1 == 2");
  CHECK_HAS(text, "test_err.c");
}

int main(void) {
  RUN(a_message_is_kept);
  RUN(callers_say_where);
  RUN(a_message_may_quote_the_former_one);
  RUN(long_messages_are_cut);
  RUN(each_thread_has_its_own);
  RUN(statuses_have_names);
  RUN(a_broken_invariant_aborts_and_says_where);
  return check_done();
}
