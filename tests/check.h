/* check.h - what the C tests share: one line for each case, exit status 1 if any failed.
 *
 *   TEST(name) { CHECK(1 + 1 == 2); CHECK_EQ(f(x), 3, "x = %d", x); }
 *   int main(void) { RUN(name); return check_done(); }
 *
 * A check that fails ends its function; its case is reported once, with the first reason.
 */
#ifndef LGT_CHECK_H
#define LGT_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *check_case;
static int check_failed, check_total;

__attribute__((format(printf, 3, 4), unused)) static void check_fail(const char *file, int line, const char *format, ...) {
  if (check_failed++) return;
  const char *slash = strrchr(file, '/');
  printf("FAIL %s: %s:%d: ", check_case, slash ? slash + 1 : file, line);
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  putchar('\n');
}

static void check_run(const char *name, void (*body)(void)) {
  check_case = name;
  check_failed = 0;
  body();
  if (check_failed) check_total++;
  else printf("ok %s\n", name);
  fflush(stdout);
}

static int check_done(void) { return check_total != 0; }

#define TEST(name) static void name(void)
#define RUN(name)  check_run(#name, name)
#define FAIL(...)                                \
  do {                                           \
    check_fail(__FILE__, __LINE__, __VA_ARGS__); \
    return;                                      \
  } while (0)
#define CHECK(condition)                      \
  do {                                        \
    if (!(condition)) FAIL("%s", #condition); \
  } while (0)
/* Integers. */
#define CHECK_EQ(got, expected)                                                 \
  do {                                                                          \
    long long got_ = (long long)(got), expected_ = (long long)(expected);       \
    if (got_ != expected_) FAIL("%s is %lld, not %lld", #got, got_, expected_); \
  } while (0)
#define CHECK_TEXT(got, expected)                                                         \
  do {                                                                                    \
    const char *got_ = (got), *expected_ = (expected);                                    \
    if (strcmp(got_, expected_)) FAIL("%s is \"%s\", not \"%s\"", #got, got_, expected_); \
  } while (0)
/* The text contains the words. */
#define CHECK_HAS(text, words)                                                            \
  do {                                                                                    \
    const char *text_ = (text);                                                           \
    if (!strstr(text_, words)) FAIL("%s is \"%s\", without \"%s\"", #text, text_, words); \
  } while (0)

#endif
