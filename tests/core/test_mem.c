/* test_mem.c - allocation, alignment, arenas, and injected failures. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "base/mem.h"

TEST(blocks_are_counted) {
  int64_t live = lgt_mem_live(), count = lgt_mem_count();
  void *a = lgt_mem_alloc(10), *b = lgt_mem_zalloc(0);
  char *c = lgt_mem_strdup("text");
  CHECK(a && b && c);
  CHECK_TEXT(c, "text");
  CHECK_EQ(lgt_mem_live() - live, 3);
  CHECK(lgt_mem_count() - count >= 3);
  a = lgt_mem_realloc(a, 1000);
  CHECK_EQ(lgt_mem_live() - live, 3);
  lgt_mem_free(a);
  lgt_mem_free(b);
  lgt_mem_free(c);
  lgt_mem_free(NULL);
  CHECK_EQ(lgt_mem_live() - live, 0);
}

TEST(the_chosen_allocation_fails) {
  int64_t live = lgt_mem_live();
  lgt_mem_fail_at(2);
  void *a = lgt_mem_alloc(8), *b = lgt_mem_zalloc(8), *c = lgt_mem_alloc(8);
  CHECK(a && !b && c);
  lgt_mem_fail_at(1);
  CHECK(!lgt_mem_pages_alloc(100));
  lgt_mem_fail_at(1);
  CHECK(!lgt_mem_reserve(100));
  lgt_mem_fail_at(1);
  CHECK(!lgt_mem_realloc(a, 100));
  lgt_mem_fail_at(1);
  lgt_mem_fail_at(0);
  void *d = lgt_mem_strdup("x");
  CHECK(d);
  lgt_mem_free(a);
  lgt_mem_free(c);
  lgt_mem_free(d);
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(memory_runs_out) {
  lgt_mem_fail_from(2);
  void *a = lgt_mem_alloc(8), *b = lgt_mem_alloc(8), *c = lgt_mem_alloc(8);
  lgt_mem_fail_from(0);
  void *d = lgt_mem_alloc(8);
  CHECK(a && !b && !c && d);
  lgt_mem_fail_from(1);
  lgt_mem_fail_at(0);
  void *e = lgt_mem_alloc(8);
  CHECK(e);
  lgt_mem_free(a);
  lgt_mem_free(d);
  lgt_mem_free(e);
}

TEST(an_array_grows) {
  int *array = NULL, room = 0;
  for (int i = 0; i < 1000; i++) {
    CHECK(lgt_mem_grow((void **)&array, &room, i + 1, sizeof *array));
    CHECK(room > i);
    array[i] = i;
  }
  for (int i = 0; i < 1000; i++) CHECK_EQ(array[i], i);
  int *before = array, room_before = room;
  lgt_mem_fail_at(1);
  CHECK(!lgt_mem_grow((void **)&array, &room, room + 1, sizeof *array));
  lgt_mem_fail_at(0);
  CHECK(array == before && room == room_before);
  CHECK(!lgt_mem_grow((void **)&array, &room, 2000, SIZE_MAX / 16));
  lgt_mem_free(array);
}

TEST(blocks_that_come_and_go_are_kept_by_size) {
  enum { MANY = LGT_BLOCKS_KEPT + 5 };
  lgt_blocks blocks = {0};
  int64_t live = lgt_mem_live();
  char *block[MANY], *other = lgt_blocks_take(&blocks, 700);
  lgt_blocks_give(&blocks, other, 700);
  char *same = lgt_blocks_take(&blocks, 1000), *larger = lgt_blocks_take(&blocks, 1025);
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(same == other); /* both are of at most 1024 bytes ... */
#endif
  CHECK(larger != other); /* ... which this one is not */
  memset(same, 1, 1000);
  memset(larger, 1, 1025);
  lgt_blocks_give(&blocks, same, 1000);
  lgt_mem_fail_at(1); /* a kept block counts as an allocation, so that tests may make it fail */
  CHECK(!lgt_blocks_take(&blocks, 1000));
  lgt_mem_fail_at(0);
  lgt_blocks_give(&blocks, larger, 1025);
  for (int i = 0; i < MANY; i++) CHECK((block[i] = lgt_blocks_take(&blocks, 1)) != NULL);
  for (int i = 0; i < MANY; i++) lgt_blocks_give(&blocks, block[i], 1);
  CHECK(blocks.spare[0].count <= LGT_BLOCKS_KEPT); /* the others went */
  size_t huge = (size_t)LGT_BLOCK_LEAST << LGT_BLOCK_CLASSES;
  char *one = lgt_blocks_take(&blocks, huge);
  memset(one, 1, huge);
  lgt_blocks_give(&blocks, one, huge);
  lgt_blocks_fini(&blocks);
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(elements_are_aligned) {
  static const size_t sizes[] = {0, 1, 63, 64, 1000, 1 << 20, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 9 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t size = sizes[i];
    char *block = lgt_mem_pages_alloc(size);
    CHECK(block);
    CHECK_EQ((uintptr_t)block % 64, 0);
    if (size >= 2 << 20)
      for (size_t at = 0; at < size; at += 4096) CHECK_EQ(block[at], 0);
    memset(block, 1, size);
    lgt_mem_pages_free(block, size);
  }
  CHECK(!lgt_mem_pages_alloc(SIZE_MAX));
  CHECK(!lgt_mem_pages_alloc((size_t)1 << 62));
  lgt_mem_pages_free(NULL, 10);
}

TEST(blocks_of_many_pages_begin_at_different_places_of_a_page) {
  enum { N = 16, SIZE = 160 << 10 };
  size_t place[N];
  for (int i = 0; i < N; i++) {
    char *block = lgt_mem_pages_alloc(SIZE); /* malloc gives the memory of the one before again */
    memset(block, i, SIZE);
    place[i] = (uintptr_t)block % 4096;
    CHECK_EQ(place[i] % 64, 0);
    for (int k = 0; k < i; k++) CHECK(place[i] != place[k]);
    lgt_mem_pages_free(block, SIZE);
  }
}

TEST(large_blocks_begin_at_different_places_of_a_huge_page) {
  enum { N = 16, SIZE = 3 << 20 };
  char *block[N];
  for (int i = 0; i < N; i++) CHECK(block[i] = lgt_mem_pages_alloc(SIZE));
  for (int i = 0; i < N; i++)
    for (int k = 0; k < i; k++) /* other lines of a page: the same set of no cache that has 64 sets or more */
      CHECK((uintptr_t)block[i] % 4096 / 64 != (uintptr_t)block[k] % 4096 / 64);
  for (int i = 0; i < N; i++) {
    CHECK((uintptr_t)block[i] % (2 << 20) < 256 << 10); /* the rest of it is theirs */
    lgt_mem_pages_free(block[i], SIZE);
  }
}

/* Also if they have been in several blocks: on some systems those are several mappings, which cannot be moved at once. */
TEST(pages_go_on_from_block_to_block) {
  enum { HUGE = 2 << 20, SMALL = 4 << 20, LARGE = 8 << 20 };
  char *large = lgt_mem_pages_alloc(LARGE), *other = lgt_mem_pages_alloc(LARGE);
  size_t filled = 0;
  for (int i = 0; i < 2; i++) {
    char *block = lgt_mem_pages_alloc(SMALL);
    memset(block, 1 + i, SMALL);
    lgt_pages pages = lgt_mem_pages_keep(block, SMALL);
    CHECK_EQ(pages.bytes, SMALL);
    filled = lgt_mem_pages_move(&pages, large, LARGE, filled);
    CHECK(pages.bytes == 0 && filled == (size_t)(i + 1) * SMALL);
  }
  lgt_pages pages = lgt_mem_pages_keep(large, LARGE);
  CHECK_EQ(lgt_mem_pages_move(&pages, other, LARGE, HUGE), LARGE);
  CHECK_EQ(pages.bytes, HUGE);
  lgt_mem_pages_drop(&pages, 1);
  CHECK_EQ(pages.bytes, 0);
  CHECK_EQ(other[HUGE / 2], 0);
  CHECK_EQ(other[HUGE + HUGE / 2], 1);
  CHECK_EQ(other[3 * HUGE + HUGE / 2], 2);
  memset(other, 3, LARGE);
  lgt_mem_pages_free(other, LARGE);
}

TEST(reserved_space_appears_when_touched) {
  size_t size = (size_t)64 << 30;
  char *space = lgt_mem_reserve(size);
  CHECK(space);
  CHECK_EQ(space[size - 1], 0);
  space[size / 2] = 1;
  CHECK_EQ(space[size / 2 - 1], 0);
  lgt_mem_release(space, size);
}

TEST(an_arena_gives_zeroed_memory_and_reuses_its_blocks) {
  lgt_arena arena = {0};
  int64_t live = lgt_mem_live(), after_first = 0;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3000; i++) {
      size_t size = i % 100 == 99 ? 100000 : (size_t)(i % 300);
      char *p = lgt_arena_alloc(&arena, size);
      CHECK(p);
      CHECK_EQ((uintptr_t)p % 16, 0);
      for (size_t j = 0; j < size; j++) CHECK_EQ(p[j], 0);
      memset(p, 0xff, size);
    }
    if (round == 0) after_first = lgt_mem_live();
    CHECK_EQ(lgt_mem_live(), after_first);
    lgt_arena_reset(&arena);
  }
  CHECK(!lgt_arena_alloc(&arena, SIZE_MAX));
  lgt_arena_fini(&arena);
  CHECK_EQ(lgt_mem_live(), live);
  lgt_mem_fail_at(1);
  CHECK(!lgt_arena_alloc(&arena, 10));
  lgt_mem_fail_at(0);
  CHECK(lgt_arena_alloc(&arena, 10));
  lgt_arena_fini(&arena);
}

/* ---- how much there is ---------------------------------------------------------------------------- */

static char machine[64]; /* a folder with what /proc and /sys would say */

static void put(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s%s", machine, name);
  for (char *slash = strchr(path + strlen(machine) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

static void begin_machine(void) {
  strcpy(machine, "/tmp/lgt-test-XXXXXX");
  CHECK(mkdtemp(machine));
  put("/proc/meminfo", "MemTotal: 2000 kB\nMemFree: 1 kB\nMemAvailable:    1000 kB\n");
}

static int forget(const char *path, const struct stat *stat, int kind, struct FTW *walk) {
  (void)stat, (void)kind, (void)walk;
  return remove(path);
}
static void end_machine(void) { CHECK(!nftw(machine, forget, 8, FTW_DEPTH | FTW_PHYS)); }

TEST(the_machine_says_how_much_memory_there_is) {
  begin_machine();
  CHECK_EQ(lgt_mem_available(machine), 1000 * 1024);
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "max\n");
  CHECK_EQ(lgt_mem_available(machine), 1000 * 1024);
  put("/sys/fs/cgroup/memory.max", "9000000\n");
  CHECK_EQ(lgt_mem_available(machine), 1000 * 1024);
  put("/sys/fs/cgroup/memory.max", "70000\n");
  CHECK_EQ(lgt_mem_available(machine), 70000);
  put("/proc/self/cgroup", "0::/of/the/host/only\n");
  CHECK_EQ(lgt_mem_available(machine), 70000);
  end_machine();
  CHECK(lgt_mem_available("") > 0);
}

TEST(the_least_limit_of_all_cgroups_counts) {
  begin_machine();
  put("/proc/self/cgroup", "0::/user.slice/job.scope/step\n");
  put("/sys/fs/cgroup/user.slice/job.scope/step/memory.max", "max\n");
  put("/sys/fs/cgroup/user.slice/job.scope/memory.max", "50000\n");
  put("/sys/fs/cgroup/user.slice/memory.max", "60000\n");
  put("/sys/fs/cgroup/user.slice/other/memory.max", "10\n");
  CHECK_EQ(lgt_mem_available(machine), 50000);
  put("/sys/fs/cgroup/user.slice/job.scope/step/memory.max", "40000\n");
  CHECK_EQ(lgt_mem_available(machine), 40000);
  put("/sys/fs/cgroup/user.slice/memory.max", "30000\n");
  CHECK_EQ(lgt_mem_available(machine), 30000);
  end_machine();
}

TEST(cgroups_of_version_1_count_too) {
  begin_machine();
  put("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/slurm/job\n0::/x\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK_EQ(lgt_mem_available(machine), 1000 * 1024);
  put("/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "80000\n");
  CHECK_EQ(lgt_mem_available(machine), 80000);
  put("/sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "20000\n");
  CHECK_EQ(lgt_mem_available(machine), 20000);
  end_machine();
}

static bool resident(void *start, size_t bytes) {
  unsigned char in[64] = {0};
  if (mincore(start, bytes, in)) return false; /* it is not mapped */
  for (size_t i = 0; i < sizeof in; i++)
    if (in[i] & 1) return true;
  return false;
}

/* The kernel makes one mapping of neighbours, so that giving back the one in the middle makes one more. */
TEST(memory_goes_back_although_there_are_too_many_mappings) {
  enum { MOST = 200000 };
  size_t page = (size_t)sysconf(_SC_PAGESIZE), part = 16 * page;
  long most = MOST;
  FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
  if (file && fscanf(file, "%ld", &most) != 1) most = MOST;
  if (file) fclose(file);
  if (most >= MOST) {
    printf("# skip: a process may have as many mappings as it wants\n");
    return;
  }
  size_t n = 2 * (size_t)most, i = 1;
  char *block = lgt_mem_reserve(3 * part);
  char *many = mmap(NULL, n * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(block && many != MAP_FAILED);
  memset(block, 1, 3 * part);
  while (i < n && !mprotect(many + i * page, page, PROT_READ)) i += 2;
  CHECK(i < n && resident(block + part, part));
  lgt_mem_release(block + part, part);
  CHECK(!resident(block + part, part) && block[part - 1] == 1 && block[2 * part] == 1);
  CHECK(!munmap(many + page, page) && !munmap(many + 3 * page, page)); /* one of them each */
  CHECK(!munmap(many, n * page));
  lgt_mem_release(block, 3 * part);
}

int main(void) {
  RUN(blocks_are_counted);
  RUN(the_chosen_allocation_fails);
  RUN(memory_runs_out);
  RUN(an_array_grows);
  RUN(blocks_that_come_and_go_are_kept_by_size);
  RUN(elements_are_aligned);
  RUN(blocks_of_many_pages_begin_at_different_places_of_a_page);
  RUN(large_blocks_begin_at_different_places_of_a_huge_page);
  RUN(pages_go_on_from_block_to_block);
  RUN(reserved_space_appears_when_touched);
  RUN(memory_goes_back_although_there_are_too_many_mappings);
  RUN(an_arena_gives_zeroed_memory_and_reuses_its_blocks);
  RUN(the_machine_says_how_much_memory_there_is);
  RUN(the_least_limit_of_all_cgroups_counts);
  RUN(cgroups_of_version_1_count_too);
  return check_done();
}
