/* stream.c - see stream.h.
 *
 * Behind the marks of a report come strings, each with its zero: what the rank waits for, then for each of its
 * lines and names the number, in decimal, and the text.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FINE = 512, MIDDLE = 64, MIDDLE_COUNT = 512, COARSE = 4096, LINES_MAX = 192, TEXT_ROOM = 160 };
enum { MARKS_MAX = FINE + MIDDLE_COUNT + LGT_STREAM_MARKS / COARSE };

lgt_status lgt_stream_init(lgt_stream *s) {
  *s = (lgt_stream){.mark = lgt_mem_reserve(LGT_STREAM_MARKS * sizeof *s->mark)};
  return s->mark ? LGT_OK : lgt_err(LGT_NO_MEMORY, "out of memory for the history of the stream");
}

void lgt_stream_fini(lgt_stream *s) {
  if (s->mark) lgt_mem_release(s->mark, LGT_STREAM_MARKS * sizeof *s->mark);
  s->mark = NULL;
}

/* The position of the next mark before p in a report up to `until`. */
static uint64_t step_back(uint64_t p, uint64_t until) {
  if (until - p + 1 < FINE) return p - 1;
  uint64_t stride = until - p + MIDDLE < (uint64_t)MIDDLE * MIDDLE_COUNT ? MIDDLE : COARSE;
  return (p - 1) / stride * stride;
}

static uint32_t collect_marks(const lgt_stream *s, uint64_t until, lgt_report_mark *out) {
  uint32_t count = 0;
  for (uint64_t p = until; p && s->position - p < LGT_STREAM_MARKS && count < MARKS_MAX;
       p = step_back(p, until))
    out[count++] = (lgt_report_mark){p, s->mark[p % LGT_STREAM_MARKS]};
  for (uint32_t i = 0, j = count; i + 1 < j; i++) { /* they ascend */
    lgt_report_mark m = out[i];
    out[i] = out[--j];
    out[j] = m;
  }
  return count;
}

static int add_line(uint32_t *line, int count, uint32_t number) {
  int i = 0;
  while (i < count && line[i] != number) i++;
  if (i < LINES_MAX) line[i] = number;
  return i < count || count == LINES_MAX ? count : count + 1;
}

/* The distinct lines and names of the newest marks. */
static int collect_lines(const lgt_report *report, uint32_t *line) {
  int count = 0;
  for (uint32_t k = report->count; k-- > 0;) {
    const lgt_mark *mark = &report->mark[k].mark;
    count = add_line(line, count, mark->line);
    if (mark->what) count = add_line(line, count, mark->what);
  }
  return count;
}

static char *append(char *end, const char *text) {
  size_t n = strlen(text) < TEXT_ROOM ? strlen(text) : TEXT_ROOM - 1;
  memcpy(end, text, n);
  end[n] = 0;
  return end + n + 1;
}

lgt_report *lgt_report_make(const lgt_stream *s, uint64_t until, const char *what, lgt_line_text text,
                            void *context) {
  uint32_t line[LINES_MAX];
  char words[TEXT_ROOM];
  lgt_report *report = lgt_mem_alloc(sizeof *report + MARKS_MAX * sizeof *report->mark +
                                     (size_t)(LINES_MAX * 2 + 1) * TEXT_ROOM);
  if (!report) return NULL;
  if (until > s->position) until = s->position;
  *report = (lgt_report){.position = s->position, .until = until};
  report->count = collect_marks(s, until, report->mark);
  char *end = append((char *)&report->mark[report->count], what);
  int lines = collect_lines(report, line);
  for (int i = 0; i < lines; i++) {
    snprintf(words, sizeof words, "%u", line[i]);
    end = append(end, words);
    snprintf(words, sizeof words, "line %u", line[i]);
    if (text) text(context, line[i], words, sizeof words);
    end = append(end, words);
  }
  report->bytes = (uint32_t)(end - (char *)report);
  return report;
}

bool lgt_report_valid(const void *bytes, size_t size) {
  const lgt_report *report = bytes;
  return size > sizeof *report && report->bytes == size && report->count <= MARKS_MAX &&
         sizeof *report + report->count * sizeof *report->mark < size && ((const char *)bytes)[size - 1] == 0;
}

const char *lgt_report_what(const lgt_report *report) { return (const char *)&report->mark[report->count]; }

const char *lgt_report_line(const lgt_report *report, uint32_t line) {
  const char *end = (const char *)report + report->bytes, *at = lgt_report_what(report);
  for (at += strlen(at) + 1; at < end; at += strlen(at) + 1) {
    const char *number = at;
    at += strlen(at) + 1;
    if (at >= end) break;
    if (strtoul(number, NULL, 10) == line) return at;
  }
  return "an earlier line";
}

lgt_difference lgt_report_compare(const lgt_report *a, const lgt_report *b) {
  lgt_difference d = {0};
  for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
    const lgt_report_mark *x = &a->mark[i], *y = &b->mark[j];
    if (x->position == y->position) {
      if (x->mark.hash != y->mark.hash) return d.a = x, d.b = y, d;
      d.same = x->position;
    }
    i += x->position <= y->position;
    j += y->position <= x->position;
  }
  return d;
}

void lgt_report_explain(const lgt_report *a, const lgt_report *b, lgt_difference d, char *text, size_t room) {
  static const char *const parts[LGT_PARTS] = {"of other shapes or types", "of other arrays",
                                               "with other numbers"};
  const lgt_mark *x = &d.a->mark, *y = &d.b->mark;
  *text = 0;
  if (d.a->position != d.same + 1 || !x->what || !y->what) return;
  const char *first = lgt_report_line(a, x->what), *second = lgt_report_line(b, y->what);
  if (strcmp(first, second)) {
    snprintf(text, room, ": '%s' and '%s'", first, second);
    return;
  }
  bool elsewhere = strcmp(lgt_report_line(a, x->line), lgt_report_line(b, y->line)) != 0;
  const char *how = elsewhere ? "from another line" : "that does something else";
  for (int p = LGT_PARTS - 1; p >= 0; p--)
    if ((x->parts ^ y->parts) >> 8 * p & 255) how = parts[p];
  snprintf(text, room, ": '%s', %s", first, how);
}
