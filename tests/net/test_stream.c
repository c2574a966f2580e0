/* test_stream.c - histories of streams, reports of them, and where two differ. */
#include "stream.h"

#include "check.h"
#include "base/mem.h"

/* n operations; the one at position `odd` differs. */
static lgt_stream stream(uint64_t n, uint64_t odd) {
  lgt_stream s;
  if (lgt_stream_init(&s)) return (lgt_stream){0};
  for (uint64_t p = 1; p <= n; p++)
    lgt_stream_note(&s, &(lgt_operation){p == odd ? 99 : p % 7, p == odd ? 99 : (uint32_t)(p % 5), 0, 0});
  return s;
}

/* Of the reports of two streams up to `until`: the first position known to differ (0: none), and *same. */
static uint64_t differ(lgt_stream a, lgt_stream b, uint64_t until, uint64_t *same) {
  lgt_report *x = lgt_report_make(&a, until, "", NULL, NULL), *y = lgt_report_make(&b, until, "", NULL, NULL);
  lgt_difference d = lgt_report_compare(x, y);
  uint64_t at = d.a ? d.a->position : 0;
  if (d.a && d.a->position != d.b->position) at = UINT64_MAX;
  *same = d.same;
  lgt_mem_free(x);
  lgt_mem_free(y);
  lgt_stream_fini(&a);
  lgt_stream_fini(&b);
  return at;
}

TEST(equal_streams_do_not_differ) {
  static const uint64_t lengths[] = {0, 1, 511, 512, 513, 5000, 300000};
  uint64_t same;
  for (int i = 0; i < 7; i++) {
    CHECK_EQ(differ(stream(lengths[i], 0), stream(lengths[i], 0), UINT64_MAX, &same), 0);
    CHECK_EQ(same, lengths[i]);
  }
}

TEST(the_first_difference_is_found) {
  uint64_t same;
  CHECK_EQ(differ(stream(400, 1), stream(400, 0), UINT64_MAX, &same), 1);
  CHECK_EQ(same, 0);
  CHECK_EQ(differ(stream(400, 0), stream(400, 400), UINT64_MAX, &same), 400);
  CHECK_EQ(same, 399);
  CHECK_EQ(differ(stream(1000000, 999600), stream(1000000, 0), UINT64_MAX, &same), 999600);
  CHECK_EQ(same, 999599);
}

/* Further back the marks are sparse, but never so far apart that nothing is known. */
TEST(an_older_difference_is_narrowed_down) {
  static const uint64_t n = 200000, places[] = {1, 5000, 100000, 170000, 190000, 199000, 199400};
  for (int i = 0; i < 7; i++) {
    uint64_t same, at = differ(stream(n, places[i]), stream(n, 0), UINT64_MAX, &same);
    if (at < places[i] || same >= places[i] || at - same > 4096)
      FAIL("%d: %d %d", (int)places[i], (int)same, (int)at);
    if (n - at < 30000 && at - same > 64) FAIL("%d: %d %d", (int)places[i], (int)same, (int)at);
  }
}

TEST(a_rank_that_is_far_ahead_is_compared_up_to_the_other) {
  uint64_t same;
  CHECK_EQ(differ(stream(101, 101), stream(200000, 0), 101, &same), 101);
  CHECK_EQ(same, 100);
  CHECK_EQ(differ(stream(101, 0), stream(200000, 102), 101, &same), 0);
  CHECK_EQ(same, 101);
  /* beyond what is remembered: nothing is claimed */
  CHECK_EQ(differ(stream(101, 101), stream(LGT_STREAM_MARKS + 101, 0), 101, &same), 0);
  CHECK_EQ(same, 0);
}

static void text_of(void *context, uint32_t line, char *text, size_t room) {
  snprintf(text, room, "%s:%u", (const char *)context, line);
}

TEST(a_report_has_texts) {
  lgt_stream s = stream(1000, 700);
  lgt_report *report = lgt_report_make(&s, UINT64_MAX, "for Godot", text_of, "play.lua");
  CHECK(lgt_report_valid(report, report->bytes));
  CHECK_TEXT(lgt_report_what(report), "for Godot");
  CHECK_TEXT(lgt_report_line(report, 3), "play.lua:3");
  CHECK_TEXT(lgt_report_line(report, 99), "play.lua:99");
  CHECK_TEXT(lgt_report_line(report, 17), "an earlier line");
  CHECK(!lgt_report_valid(report, report->bytes - 1));
  ((char *)report)[report->bytes - 1] = 'x';
  CHECK(!lgt_report_valid(report, report->bytes));
  lgt_mem_free(report);
  report = lgt_report_make(&s, UINT64_MAX, "", NULL, NULL);
  report->count = 100000;
  CHECK(!lgt_report_valid(report, report->bytes));
  lgt_mem_free(report);
  lgt_stream_fini(&s);
}

TEST(many_lines_and_long_texts_fit) {
  char what[1000];
  lgt_stream s;
  CHECK(!lgt_stream_init(&s));
  memset(what, 'w', sizeof what - 1);
  what[sizeof what - 1] = 0;
  for (uint32_t p = 1; p < 5000; p++) lgt_stream_note(&s, &(lgt_operation){p, 4000000000u + p, 0, 0});
  lgt_report *report = lgt_report_make(&s, UINT64_MAX, what, text_of, what);
  CHECK(lgt_report_valid(report, report->bytes));
  CHECK_EQ(strlen(lgt_report_what(report)), 159);
  CHECK_EQ(strlen(lgt_report_line(report, 4000004999u)), 159);
  CHECK(lgt_mem_live() == 1);
  lgt_mem_free(report);
  lgt_stream_fini(&s);
}

int main(void) {
  RUN(equal_streams_do_not_differ);
  RUN(the_first_difference_is_found);
  RUN(an_older_difference_is_narrowed_down);
  RUN(a_rank_that_is_far_ahead_is_compared_up_to_the_other);
  RUN(a_report_has_texts);
  RUN(many_lines_and_long_texts_fit);
  return check_done();
}
