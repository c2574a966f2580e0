/* test_config.c - variables from text, from the environment, and their help; and LGT_DEBUG's topics. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "made.h"
#include "base/config.h"
#include "base/log.h"
#include "base/mem.h"

/* What `f` writes to stderr. */
static const char *stderr_of(void (*f)(void)) {
  static char text[4000];
  char name[] = "/tmp/lgt-test-XXXXXX";
  int file = mkstemp(name), old = dup(2);
  unlink(name);
  dup2(file, 2);
  f();
  fflush(stderr);
  dup2(old, 2);
  close(old);
  ssize_t length = pread(file, text, sizeof text - 1, 0);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return text;
}

static void open_and_close(void) { lgt_config_free(config_new()); }

/* Must come first: the warning is given once. */
TEST(unknown_variables_draw_a_warning) {
  setenv("LGT_CPU", "3", 1);
  setenv("LGT_KERNAL_FUSION", "3", 1);
  setenv("LGT_COLOUR_OF_THE_SKY_AT_MIDNIGHT_IN_WINTER", "3", 1);
  setenv("LGT_TEST_SEED", "3", 1);
  setenv("LGT_FAKE_CUDA_SEED", "3", 1);
  const char *text = stderr_of(open_and_close);
  CHECK_HAS(text, "LGT_CPU is not one of lgt's; did you mean LGT_CPUS?\n");
  CHECK_HAS(text, "LGT_KERNAL_FUSION is not one of lgt's; did you mean LGT_KERNEL_FUSION?\n");
  CHECK_HAS(text, "LGT_COLOUR_OF_THE_SKY_AT_MIDNIGHT_IN_WINTER is not one of lgt's; lgt --help lists them\n");
  CHECK(!strstr(text, "_SEED"));
  CHECK_TEXT(stderr_of(open_and_close), "");
  unsetenv("LGT_CPU");
  unsetenv("LGT_KERNAL_FUSION");
  unsetenv("LGT_COLOUR_OF_THE_SKY_AT_MIDNIGHT_IN_WINTER");
}

TEST(defaults) {
  lgt_config *config = config_new();
  CHECK(config);
  CHECK_EQ(config->cpus, 0);
  CHECK_EQ(config->domains, 1);
  CHECK_EQ(config->min_tile, 64 << 10);
  CHECK(config->fusion && config->cache && !config->check);
  CHECK_TEXT(config->cache_dir, "");
  lgt_config_free(config);
}

TEST(the_environment_wins_over_defaults) {
  setenv("LGT_CPUS", "2", 1);
  setenv("LGT_CACHE_DIR", "/tmp/x", 1);
  setenv("LGT_MEM", "1.5G", 1);
  setenv("LGT_FUSION", "off", 1);
  lgt_config *config = config_new();
  CHECK(config);
  CHECK_EQ(config->cpus, 2);
  CHECK_EQ(config->mem, (int64_t)3 << 29);
  CHECK(!config->fusion);
  CHECK_TEXT(config->cache_dir, "/tmp/x");
  lgt_config_free(config);
  setenv("LGT_CPUS", "two", 1);
  CHECK(!config_new());
  CHECK_HAS(lgt_message(), "LGT_CPUS: cpus = \"two\"");
  CHECK_HAS(lgt_message(), "expected a whole number, 0 or more");
  unsetenv("LGT_CPUS");
  unsetenv("LGT_CACHE_DIR");
  unsetenv("LGT_MEM");
  unsetenv("LGT_FUSION");
}

TEST(setting) {
  lgt_config *config = config_new();
  CHECK_EQ(lgt_config_set(config, "cache-dir", "/a"), 0);
  CHECK_EQ(lgt_config_set(config, "cache_dir", "/b"), 0);
  CHECK_TEXT(config->cache_dir, "/b");
  static const struct {
    const char *text;
    int64_t size;
  } sizes[] = {{"0", 0},     {"17", 17}, {"3k", 3 << 10}, {"2M", 2 << 20}, {"1T", (int64_t)1 << 40},
               {"0.5K", 512}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    CHECK_EQ(lgt_config_set(config, "mem", sizes[i].text), 0);
    CHECK_EQ(config->mem, sizes[i].size);
  }
  static const char *const truths[] = {"1", "yes", "on", "TRUE", "0", "no", "off", "False"};
  for (int i = 0; i < 8; i++) {
    CHECK_EQ(lgt_config_set(config, "check", truths[i]), 0);
    CHECK_EQ(config->check, i < 4);
  }
  lgt_config_free(config);
}

TEST(bad_values_are_refused_with_a_reason) {
  lgt_config *config = config_new();
  static const char *const bad[][2] = {
      {"cpus", ""},         {"cpus", "-1"},       {"cpus", "1x"},      {"cpus", "99999999999"},
      {"cpus", " 1"},       {"domains", "0"},     {"mem", "K"},        {"mem", "1KB"},
      {"mem", "-1"},        {"mem", "0x10"},      {"mem", "1e30"},     {"mem", "nan"},
      {"mem", "0.5"},       {"min_tile", "0"},    {"min_tile", "0.2"}, {"min_tile", "-1"},
      {"fusion", "2"},      {"fusion", ""},       {"heartbeat", "0"},  {"heartbeat", "soon"},
      {"heartbeat", "1e9"}, {"heartbeat", "inf"}, {"patience", "-1"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (lgt_config_set(config, bad[i][0], bad[i][1]) != LGT_BAD_ARGUMENT)
      FAIL("%s = \"%s\"", bad[i][0], bad[i][1]);
    char quoted[64];
    snprintf(quoted, sizeof quoted, "%s = \"%s\": expected ", bad[i][0], bad[i][1]);
    CHECK_HAS(lgt_message(), quoted);
  }
  CHECK_EQ(config->cpus, 0);
  CHECK_EQ(config->domains, 1);
  CHECK_EQ(lgt_config_set(config, "fuson", "1"), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "did you mean fusion?");
  CHECK_EQ(lgt_config_set(config, "zzzzzzzz", "1"), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "lgt --help");
  lgt_config_free(config);
}

TEST(some_variables_cannot_change_later) {
  lgt_config *config = config_new();
  CHECK_EQ(lgt_config_set_live(config, "fusion", "0"), 0);
  CHECK(!config->fusion);
  CHECK_EQ(lgt_config_set_live(config, "cpus", "1"), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "cpus cannot change while the runtime runs");
  CHECK_EQ(lgt_config_set_live(config, "cpu", "1"), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "did you mean cpus?");
  lgt_config_free(config);
}

TEST(what_ranks_must_agree_on) {
  lgt_config *config = config_new();
  char text[1024];
  CHECK_EQ(lgt_config_set(config, "heartbeat", "0.25"), 0);
  CHECK(config->heartbeat == 0.25);
  lgt_config_set(config, "fusion", "0");
  lgt_config_set(config, "min_tile", "5G");
  lgt_config_agreed(config, text, sizeof text);
  CHECK_HAS(text, "fusion=0\n");
  CHECK_HAS(text, "min_tile=5368709120\n");
  CHECK(!strstr(text, "cpus") && !strstr(text, "heartbeat"));
  lgt_config_free(config);
}

TEST(copies_are_independent) {
  lgt_config *config = config_new();
  lgt_config_set(config, "cache_dir", "/a");
  lgt_config *copy = lgt_config_copy(config);
  CHECK(copy);
  lgt_config_set(config, "cache_dir", "/b");
  lgt_config_free(config);
  CHECK_TEXT(copy->cache_dir, "/a");
  lgt_config_free(copy);
}

TEST(out_of_memory_is_an_error) {
  int64_t live = lgt_mem_live();
  lgt_config *config = NULL;
  int n = 0;
  while (!config) {
    lgt_mem_fail_at(++n);
    config = config_new();
  }
  CHECK(n > 3);
  lgt_config *copy = NULL;
  for (n = 0; !copy;) {
    lgt_mem_fail_at(++n);
    copy = lgt_config_copy(config);
  }
  CHECK(n > 3);
  lgt_mem_fail_at(1);
  CHECK_EQ(lgt_config_set(config, "isa", "avx2"), LGT_NO_MEMORY);
  CHECK_TEXT(config->isa, "");
  lgt_mem_fail_at(0);
  lgt_config_free(config);
  lgt_config_free(copy);
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(help_lists_every_variable) {
#define X(TYPE, field, def, live, same, help) \
  CHECK_HAS(lgt_config_help(), help);         \
  CHECK(strlen(#field) < 20);
  LGT_CONFIG_LIST(X)
#undef X
  CHECK_HAS(lgt_config_help(), "  --cache-dir=TEXT  ");
  CHECK_HAS(lgt_config_help(), "[64K]");
}

static void log_lines(void) {
  lgt_log(FUSE, 3, "three %d", 3);
  lgt_log(FUSE, 4, "four");
  lgt_log(EXEC, 1, "one");
  lgt_log(MAP, 1, "map");
}

TEST(topics) {
  CHECK_EQ(lgt_log_set("fuse:3,exec"), 0);
  CHECK_TEXT(stderr_of(log_lines), "lgt fuse: three 3\nlgt exec: one\n");
  CHECK_EQ(lgt_log_set("fusion:3"), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "no topic \"fusion\"; the topics are: all constraint");
  CHECK_EQ(lgt_log_set("fuse:9"), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "\"fuse:9\": a level from 0 to 4");
  CHECK_EQ(lgt_log_level[LGT_LOG_FUSE], 3);
  CHECK_EQ(lgt_log_set("all:4,fuse:0"), 0);
  CHECK_EQ(lgt_log_level[LGT_LOG_MAP], 4);
  CHECK_EQ(lgt_log_level[LGT_LOG_FUSE], 0);
  CHECK_EQ(lgt_log_set(""), 0);
  CHECK_TEXT(stderr_of(log_lines), "");
  double before = lgt_time();
  CHECK(lgt_time() >= before);
}

int main(void) {
  RUN(unknown_variables_draw_a_warning);
  RUN(defaults);
  RUN(the_environment_wins_over_defaults);
  RUN(setting);
  RUN(bad_values_are_refused_with_a_reason);
  RUN(some_variables_cannot_change_later);
  RUN(what_ranks_must_agree_on);
  RUN(copies_are_independent);
  RUN(out_of_memory_is_an_error);
  RUN(help_lists_every_variable);
  RUN(topics);
  return check_done();
}
