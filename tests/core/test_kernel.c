/* Kernels: where code is looked for, the cache on disk and what may be wrong with it, the compiling
 * thread.  The argument (the emitter module) is not needed: the table finds it beside this program. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "made.h"
#include "kernel/kernel.h"
#include "base/mem.h"
#include "random_loop.h"

static char base_dir[] = "/tmp/lgt-test-kernel-XXXXXX";

/* ---- small things ------------------------------------------------------------------------------- */

static void *copy_of(const void *bytes, size_t size) { return memcpy(lgt_mem_alloc(size + 1), bytes, size); }

/* out = a * x + n, a loop of its own for each n. */
static lgt_loop *make_loop(double n) {
  random_loop r;
  random_loop_init(&r);
  int a = add_inst(&r, LGT_OP_PARAM, LGT_FLOAT64, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE);
  int x = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT);
  int product = add_inst(&r, LGT_OP_MUL, LGT_FLOAT64, 0, a, x, LGT_NO_VALUE);
  r.constant[r.loop.nconst++].f = n;
  int constant = add_inst(&r, LGT_OP_CONST, LGT_FLOAT64, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE);
  int sum = add_inst(&r, LGT_OP_ADD, LGT_FLOAT64, 0, product, constant, LGT_NO_VALUE);
  int out = add_access(&r, LGT_ACCESS_STORE, LGT_FLOAT64, LGT_STRIDE_UNIT, 0);
  add_inst(&r, LGT_OP_STORE, LGT_FLOAT64, 0, sum, out, LGT_NO_VALUE);
  r.loop.nparam = 1;
  lgt_loop *loop = copy_of(&r.loop, sizeof r.loop);
  loop->access = copy_of(r.access, loop->naccess * sizeof *loop->access);
  loop->inst = copy_of(r.inst, loop->ninst * sizeof *loop->inst);
  loop->constant = copy_of(r.constant, loop->nconst * sizeof *loop->constant);
  lgt_loop_seal(loop);
  return loop;
}

static bool right(lgt_kernel_fn code, double n) {
  double x[21], y[21];
  for (int i = 0; i < 21; i++) x[i] = i, y[i] = -1;
  lgt_base base[2] = {{.address = (char *)x}, {.address = (char *)y}};
  int64_t row[2] = {0}, col[2] = {8, 8};
  lgt_scalar param = {.f = 3};
  lgt_slab slab = {1, 20, base, row, col, &param, 0};
  code(&slab);
  for (int i = 0; i < 20; i++)
    if (y[i] != 3 * x[i] + n) return false;
  return y[20] == -1;
}

static char *path_in(const char *dir, const char *name) {
  static char path[600];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return path;
}

static char *new_dir(const char *name) {
  char *dir = strdup(path_in(base_dir, name));
  mkdir(dir, 0700);
  return dir;
}

/* Files of the directory; the path of the last one in *path. */
static int files_in(const char *dir, char *path, size_t room) {
  int n = 0;
  DIR *d = opendir(dir);
  for (struct dirent *f; d && (f = readdir(d));) {
    if (f->d_name[0] == '.') continue;
    if (path) snprintf(path, room, "%s/%s", dir, f->d_name);
    n++;
  }
  if (d) closedir(d);
  return n;
}

typedef struct table {
  lgt_config *config;
  lgt_kernels *kernels;
} table;

static bool begin(table *s, const char *dir, const char *background) {
  s->config = config_new();
  s->kernels = NULL;
  lgt_config_set(s->config, "cache_dir", dir);
  lgt_config_set(s->config, "background", background);
  return lgt_kernels_new(s->config, &s->kernels) == LGT_OK;
}

static void end(table *s) {
  lgt_kernels_free(s->kernels);
  lgt_config_free(s->config);
}

/* The kernel of a loop that is to run over so many elements. */
static lgt_kernel *get_for(lgt_kernels *kernels, lgt_loop *loop, lgt_kernel_form form, int64_t elements) {
  lgt_kernel *kernel = lgt_kernel_get(kernels, loop);
  if (kernel) lgt_kernel_want(kernels, kernel, form, elements);
  return kernel;
}
static lgt_kernel *get(lgt_kernels *kernels, lgt_loop *loop) {
  return get_for(kernels, loop, LGT_KERNEL_PLAIN, 1 << 24);
}
static lgt_kernel_fn plain(lgt_kernel *kernel) { return lgt_kernel_code(kernel, LGT_KERNEL_PLAIN); }

/* Get one kernel from a table of its own; what it took: 'c' compiled, 'l' loaded, 'f' failed, '?' wrong. */
static char get_once(const char *dir, double n) {
  table s;
  if (!begin(&s, dir, "0")) return '!';
  lgt_kernel *kernel = get(s.kernels, make_loop(n));
  lgt_kernels_stats stats = lgt_kernels_stat(s.kernels);
  bool good = plain(kernel) && right(plain(kernel), n);
  end(&s);
  if (!good) return '?';
  return stats.failed                           ? 'f'
         : stats.compiled == 1 && !stats.loaded ? 'c'
         : stats.loaded == 1 && !stats.compiled ? 'l'
                                                : '?';
}

/* ---- cases ------------------------------------------------------------------------------------------ */

TEST(in_memory) {
  table s;
  char *dir = new_dir("memory");
  CHECK(begin(&s, dir, "0"));
  lgt_kernel *one = get(s.kernels, make_loop(1));
  CHECK(one && one == get(s.kernels, make_loop(1)));
  CHECK(one != get(s.kernels, make_loop(2)));
  CHECK_EQ(lgt_kernels_stat(s.kernels).compiled, 2);
  CHECK(lgt_kernels_stat(s.kernels).compile_seconds > 0);
  CHECK(right(plain(one), 1));
  CHECK_EQ(one->state[LGT_KERNEL_PLAIN], LGT_KERNEL_READY);
  lgt_kernels_stat_reset(s.kernels);
  CHECK_EQ(lgt_kernels_stat(s.kernels).compiled, 0);
  end(&s);
  free(dir);
}

TEST(background) {
  table s;
  char *dir = new_dir("background");
  lgt_kernel *kernel[100];
  CHECK(begin(&s, dir, "1"));
  for (int i = 0; i < 100; i++) kernel[i] = get(s.kernels, make_loop(i));
  for (int i = 99; i >= 0; i -= 3) {
    lgt_kernel_wait(s.kernels, kernel[i]);
    CHECK(right(plain(kernel[i]), i));
  }
  for (int i = 0; i < 100; i++) {
    lgt_kernel_wait(s.kernels, kernel[i]);
    CHECK(plain(kernel[i]) && right(plain(kernel[i]), i));
  }
  CHECK_EQ(lgt_kernels_stat(s.kernels).compiled, 100);
  end(&s);
  CHECK_EQ(files_in(dir, NULL, 0), 100);
  free(dir);
}

static bool is_ready(const lgt_kernel *kernel, lgt_kernel_form form) {
  return atomic_load(&kernel->state[form]) == LGT_KERNEL_READY;
}

/* Only the form that is wanted is compiled; what cannot be streamed has one form. */
TEST(forms) {
  table s;
  char *dir = new_dir("forms");
  for (int turn = 0; turn < 2; turn++) {
    CHECK(begin(&s, dir, "0"));
    lgt_kernel *kernel = get_for(s.kernels, make_loop(1), LGT_KERNEL_STREAM, 100);
    CHECK(is_ready(kernel, LGT_KERNEL_STREAM) && !plain(kernel));
    CHECK(right(lgt_kernel_code(kernel, LGT_KERNEL_STREAM), 1));
    CHECK(lgt_kernel_missing(kernel, LGT_KERNEL_PLAIN, 100, 100) ==
          lgt_kernel_code(kernel, LGT_KERNEL_STREAM));
    lgt_kernel_want_other(s.kernels, kernel, LGT_KERNEL_PLAIN);
    CHECK(plain(kernel) && right(plain(kernel), 1));
    lgt_loop *loop = make_loop(2);
    loop->access[1].inner = LGT_STRIDE_ANY;
    lgt_loop_seal(loop);
    kernel = get_for(s.kernels, loop, LGT_KERNEL_STREAM, 100);
    CHECK(plain(kernel) && right(plain(kernel), 2) && !lgt_kernel_code(kernel, LGT_KERNEL_STREAM));
    CHECK_EQ(lgt_kernels_stat(s.kernels).compiled, turn ? 0 : 3);
    CHECK_EQ(lgt_kernels_stat(s.kernels).loaded, turn ? 3 : 0);
    end(&s);
  }
  CHECK_EQ(files_in(dir, NULL, 0), 3);
  free(dir);
}

/* What takes the interpreter longest comes first, what takes it no time last and after a while, unless it is waited for.  All
 * are queued before the compiler may begin with any. */
TEST(order) {
  enum { FEW = 6 };
  table s;
  char *dir = new_dir("order");
  lgt_kernel *kernel[2 * FEW], **small = kernel, **large = kernel + FEW;
  int most = 0;
  CHECK(begin(&s, dir, "1"));
  for (int i = 0; i < 2 * FEW; i++) kernel[i] = get_for(s.kernels, make_loop(i), LGT_KERNEL_PLAIN, 10);
  for (int i = FEW - 1; i >= 0; i--)
    lgt_kernel_want(s.kernels, large[i], LGT_KERNEL_PLAIN, (int64_t)1 << (22 + i));
  while (!is_ready(large[0], LGT_KERNEL_PLAIN)) {
    int ready = 0, early = 0; /* of those looked at; of them before a large one that is not */
    for (int i = 0; i < 2 * FEW; i++)
      if (is_ready(kernel[i], LGT_KERNEL_PLAIN)) ready++;
      else if (i >= FEW) early = ready;
    if (early > most) most = early;
    usleep(100);
  }
  CHECK_EQ(most, 0);
  lgt_kernel_wait(s.kernels, small[FEW - 1]);
  CHECK(is_ready(small[FEW - 1], LGT_KERNEL_PLAIN));
  for (int i = 0; i < FEW; i++)
    while (!is_ready(small[i], LGT_KERNEL_PLAIN)) usleep(1000);
  end(&s);
  free(dir);
}

/* Whoever would interpret for long waits, and for what is compiled in no other way. */
TEST(missing) {
  table s;
  char *dir = new_dir("missing");
  int64_t many = (int64_t)1 << 34, few = 1 << 20;
  CHECK(begin(&s, dir, "1"));
  lgt_kernel *kernel = get_for(s.kernels, make_loop(1), LGT_KERNEL_PLAIN, many);
  lgt_kernel_fn code =
      lgt_kernel_missing(kernel, LGT_KERNEL_STREAM, many, many); /* is not wanted: the interpreter */
  CHECK(!code || code == plain(kernel));
  code = lgt_kernel_missing(kernel, LGT_KERNEL_PLAIN, many, many);
  CHECK(code && code == plain(kernel) && right(code, 1));
  for (int i = 2; i < 40; i++) kernel = get(s.kernels, make_loop(i));
  lgt_kernel_missing(kernel, LGT_KERNEL_PLAIN, few, few); /* is not waited for: so it still may be */
  code = lgt_kernel_missing(kernel, LGT_KERNEL_PLAIN, many, many);
  CHECK(code && code == plain(kernel) && right(code, 39));
  kernel = get_for(s.kernels, make_loop(40), LGT_KERNEL_PLAIN, 10);
  CHECK(!lgt_kernel_missing(kernel, LGT_KERNEL_PLAIN, 10, 10));
  CHECK_EQ(kernel->state[LGT_KERNEL_PLAIN], LGT_KERNEL_QUEUED);
  lgt_config_set(s.config, "compile", "0");
  kernel = get(s.kernels, make_loop(41));
  CHECK(!lgt_kernel_missing(kernel, LGT_KERNEL_PLAIN, many, many));
  end(&s);
  free(dir);
}

/* Closing does not wait for the queue. */
TEST(close_early) {
  table s;
  char *dir = new_dir("early");
  CHECK(begin(&s, dir, "1"));
  for (int i = 0; i < 200; i++) get(s.kernels, make_loop(i));
  end(&s);
  CHECK(files_in(dir, NULL, 0) < 100);
  free(dir);
}

TEST(disk) {
  char *dir = new_dir("disk");
  struct stat status;
  char path[600];
  CHECK_EQ(get_once(dir, 5), 'c');
  CHECK_EQ(get_once(dir, 5), 'l');
  CHECK_EQ(get_once(dir, 6), 'c');
  CHECK_EQ(files_in(dir, path, sizeof path), 2);
  CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
  free(dir);
}

/* A directory that does not exist is made, for this user alone. */
TEST(new_directory) {
  struct stat status;
  char dir[600];
  snprintf(dir, sizeof dir, "%s/a/b/c", base_dir);
  CHECK_EQ(get_once(dir, 5), 'c');
  CHECK_EQ(get_once(dir, 5), 'l');
  CHECK(stat(dir, &status) == 0 && (status.st_mode & 0777) == 0700);
}

static bool rewrite(const char *path, const char *bytes, size_t size) {
  FILE *f = fopen(path, "wb");
  bool done = f && fwrite(bytes, 1, size, f) == size;
  if (f) fclose(f);
  return done;
}

/* Whatever is wrong with a file, it is compiled again and replaced. */
TEST(damaged) {
  char *dir = new_dir("damaged"), path[600], bytes[20000];
  CHECK_EQ(get_once(dir, 5), 'c');
  CHECK_EQ(files_in(dir, path, sizeof path), 1);
  FILE *f = fopen(path, "rb");
  size_t size = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  for (int i = 0; i < 60; i++) {
    size_t at = i < 40 ? (size_t)i * 2 : (size_t)random_below((int)size);
    bytes[at] ^= 16;
    CHECK(rewrite(path, bytes, size));
    bytes[at] ^= 16;
    char what = get_once(dir, 5);
    if (what != 'c') FAIL("byte %zu of %zu changed: %c", at, size, what);
    CHECK_EQ(get_once(dir, 5), 'l');
  }
  for (size_t n = 0; n < size; n += 1 + size / 20) {
    CHECK(rewrite(path, bytes, n));
    CHECK_EQ(get_once(dir, 5), 'c');
  }
  bytes[size] = 0;
  CHECK(rewrite(path, bytes, size + 1));
  CHECK_EQ(get_once(dir, 5), 'c');
  CHECK(rewrite(path, bytes, size));
  CHECK_EQ(get_once(dir, 5), 'l');
  /* the right file under another loop's name */
  CHECK_EQ(get_once(dir, 6), 'c');
  DIR *d = opendir(dir);
  for (struct dirent *entry; (entry = readdir(d));)
    if (entry->d_name[0] != '.') rewrite(path_in(dir, entry->d_name), bytes, size);
  closedir(d);
  CHECK_EQ(get_once(dir, 6), 'c');
  CHECK_EQ(files_in(dir, NULL, 0), 2);
  free(dir);
}

TEST(permissions) {
  char *dir = new_dir("permissions"), path[600];
  CHECK_EQ(get_once(dir, 5), 'c');
  CHECK_EQ(files_in(dir, path, sizeof path), 1);
  chmod(path, 0622);
  CHECK_EQ(get_once(dir, 5), 'c'); /* the file could be anybody's: replaced */
  CHECK_EQ(get_once(dir, 5), 'l');
  chmod(dir, 0777);
  CHECK_EQ(get_once(dir, 5), 'c');
  CHECK_EQ(get_once(dir, 7), 'c');
  CHECK_EQ(files_in(dir, NULL, 0), 1);
  chmod(dir, 0700);
  CHECK_EQ(get_once(dir, 5), 'l');
  if (geteuid() == 0) {
    CHECK(chown(path, 12345, 12345) == 0);
    CHECK_EQ(get_once(dir, 5), 'c');
    CHECK(chown(dir, 12345, 12345) == 0);
    CHECK_EQ(get_once(dir, 5), 'c');
    CHECK_EQ(get_once(dir, 5), 'c');
    CHECK(chown(dir, 0, 0) == 0);
  }
  /* a link to somewhere else is not followed */
  char elsewhere[600];
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", base_dir);
  CHECK_EQ(get_once(dir, 5) != '?', 1);
  CHECK(rename(path, elsewhere) == 0 && symlink(elsewhere, path) == 0);
  CHECK_EQ(get_once(dir, 5), 'c');
  free(dir);
}

TEST(not_a_directory) {
  char *file = strdup(path_in(base_dir, "file"));
  CHECK(rewrite(file, "x", 1));
  CHECK_EQ(get_once(file, 5), 'c');
  CHECK_EQ(get_once(file, 5), 'c');
  free(file);
}

/* Too many files: those that were not used for longest go. */
TEST(trimming) {
  char *dir = new_dir("trimming"), name[40];
  CHECK_EQ(get_once(dir, 5), 'c');
  char used[600];
  CHECK_EQ(files_in(dir, used, sizeof used), 1);
  for (int i = 0; i < 4200; i++) {
    struct timespec when[2] = {{.tv_sec = 1000000 + i}, {.tv_sec = 1000000 + i}};
    snprintf(name, sizeof name, "%032d.o", i);
    CHECK(rewrite(path_in(dir, name), "x", 1));
    CHECK(utimensat(AT_FDCWD, path_in(dir, name), when, 0) == 0);
  }
  struct timespec old[2] = {{.tv_sec = 5}, {.tv_sec = 5}};
  CHECK(utimensat(AT_FDCWD, used, old, 0) == 0);
  CHECK_EQ(get_once(dir, 5), 'l'); /* used: no longer the oldest */
  CHECK_EQ(files_in(dir, NULL, 0), 4201);
  CHECK_EQ(get_once(dir, 6), 'c');
  int left = files_in(dir, NULL, 0);
  CHECK(left > 2500 && left <= 4096);
  snprintf(name, sizeof name, "%032d.o", 0);
  CHECK(access(path_in(dir, name), F_OK) != 0);
  snprintf(name, sizeof name, "%032d.o", 4199);
  CHECK(access(path_in(dir, name), F_OK) == 0);
  CHECK_EQ(get_once(dir, 5), 'l');
  CHECK_EQ(get_once(dir, 6), 'l');
  free(dir);
}

/* Many processes, one directory, the same loops at the same time. */
TEST(processes) {
  enum { PROCESSES = 4, LOOPS = 12 };
  char *dir = new_dir("processes");
  pid_t child[PROCESSES];
  for (int p = 0; p < PROCESSES; p++) {
    child[p] = fork();
    if (child[p]) continue;
    table s;
    bool good = begin(&s, dir, p % 2 ? "1" : "0");
    for (int i = 0; good && i < LOOPS; i++) {
      lgt_kernel *kernel = get(s.kernels, make_loop(i));
      lgt_kernel_wait(s.kernels, kernel);
      good = plain(kernel) && right(plain(kernel), i);
    }
    end(&s);
    _exit(!good);
  }
  for (int p = 0; p < PROCESSES; p++) {
    int status = -1;
    waitpid(child[p], &status, 0);
    CHECK_EQ(status, 0);
  }
  CHECK_EQ(files_in(dir, NULL, 0), LOOPS);
  for (int i = 0; i < LOOPS; i++) CHECK_EQ(get_once(dir, i), 'l');
  free(dir);
}

/* A loop that cannot be compiled is marked, and everything else goes on. */
TEST(failed) {
  table s;
  char *dir = new_dir("failed");
  for (int background = 0; background < 2; background++) {
    CHECK(begin(&s, dir, background ? "1" : "0"));
    lgt_loop *loop = make_loop(1);
    loop->inst[3].dtype = LGT_FLOAT32; /* the constant: an addition of two types */
    lgt_loop_seal(loop);
    fflush(stdout);
    int err = dup(2), null = open("/dev/null", O_WRONLY);
    dup2(null, 2); /* the report */
    lgt_kernel *kernel = get(s.kernels, loop), *other = get(s.kernels, make_loop(1));
    lgt_kernel_wait(s.kernels, kernel);
    lgt_kernel_wait(s.kernels, other);
    dup2(err, 2);
    close(err);
    close(null);
    CHECK_EQ(kernel->state[LGT_KERNEL_PLAIN], LGT_KERNEL_FAILED);
    CHECK(!plain(kernel));
    CHECK(plain(other) && right(plain(other), 1));
    CHECK_EQ(lgt_kernels_stat(s.kernels).failed, 1);
    end(&s);
  }
  free(dir);
}

TEST(options) {
  table s;
  char *dir = new_dir("options");
  CHECK(begin(&s, dir, "0"));
  lgt_config_set(s.config, "compile", "0");
  lgt_kernel *kernel = get(s.kernels, make_loop(1));
  CHECK_EQ(kernel->state[LGT_KERNEL_PLAIN], LGT_KERNEL_COLD);
  CHECK(!plain(kernel));
  lgt_kernel_wait(s.kernels, kernel);
  lgt_config_set(s.config, "compile", "1");
  CHECK(kernel == get(s.kernels, make_loop(1)));
  CHECK(plain(kernel));
  end(&s);
  s.config = config_new();
  lgt_config_set(s.config, "cache", "0");
  lgt_config_set(s.config, "background", "0");
  lgt_config_set(s.config, "cache_dir", dir);
  CHECK_EQ(lgt_kernels_new(s.config, &s.kernels), LGT_OK);
  get(s.kernels, make_loop(1));
  CHECK_EQ(lgt_kernels_stat(s.kernels).compiled, 1);
  get(s.kernels, make_loop(2));
  end(&s);
  CHECK_EQ(files_in(dir, NULL, 0), 1);
  free(dir);
}

/* Another instruction set is another kernel; two at once are refused. */
TEST(isa) {
  unsetenv("LGT_ISA"); /* first the host's set, then a narrower one */
  table s, t = {NULL, NULL};
  char *dir = new_dir("isa");
  CHECK_EQ(get_once(dir, 5), 'c');
  s.config = config_new();
  lgt_config_set(s.config, "isa", "generic");
  lgt_config_set(s.config, "background", "0");
  lgt_config_set(s.config, "cache_dir", dir);
  CHECK_EQ(lgt_kernels_new(s.config, &s.kernels), LGT_OK);
  lgt_kernel *kernel = get(s.kernels, make_loop(5));
  CHECK_EQ(lgt_kernels_stat(s.kernels).loaded, 0);
  CHECK(right(plain(kernel), 5));
  if (lgt_isa_host() != LGT_ISA_GENERIC) {
    CHECK(!begin(&t, dir, "0"));
    CHECK_HAS(lgt_message(), "another runtime");
    CHECK_EQ(lgt_isa_current(), LGT_ISA_GENERIC);
    lgt_config_free(t.config);
  }
  end(&s);
  s.config = config_new();
  lgt_config_set(s.config, "isa", "quantum");
  CHECK_EQ(lgt_kernels_new(s.config, &s.kernels), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "quantum");
  lgt_config_free(s.config);
  CHECK_EQ(get_once(dir, 5), 'l');
  free(dir);
}

/* Any allocation may fail: an error, or a kernel that works; nothing leaks. */
TEST(no_memory) {
  char *dir = new_dir("no_memory");
  get_once(dir, 5); /* whatever is allocated once a process */
  int64_t live = lgt_mem_live();
  bool clean = false;
  for (int n = 1; !clean; n++) {
    table s;
    s.config = config_new();
    lgt_config_set(s.config, "cache_dir", dir);
    lgt_config_set(s.config, "background", "0");
    lgt_loop *loop = make_loop(n % 2);
    int64_t before = lgt_mem_count();
    lgt_mem_fail_at(n);
    lgt_status status = lgt_kernels_new(s.config, &s.kernels);
    lgt_kernel *kernel = status ? NULL : get(s.kernels, loop);
    clean = lgt_mem_count() - before < n;
    lgt_mem_fail_at(0);
    if (status) lgt_loop_free(loop);
    else if (kernel && plain(kernel)) CHECK(right(plain(kernel), n % 2));
    if (clean) CHECK(kernel && plain(kernel));
    if (!status) lgt_kernels_free(s.kernels);
    lgt_config_free(s.config);
    CHECK_EQ(lgt_mem_live(), live);
  }
  free(dir);
}

/* exit() while a loop is being compiled. */
TEST(leave_at_once) {
  char *dir = new_dir("leave");
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      table s;
      begin(&s, dir, "1");
      free(dir);
      for (int k = 0; k < 50; k++) get(s.kernels, make_loop(i * 100 + k));
      usleep((useconds_t)i * 4000);
      exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
  }
  free(dir);
}

int main(void) {
  if (!mkdtemp(base_dir)) return perror(base_dir), 1;
  RUN(processes); /* first: these fork */
  RUN(leave_at_once);
  RUN(in_memory);
  RUN(background);
  RUN(forms);
  RUN(order);
  RUN(missing);
  RUN(close_early);
  RUN(disk);
  RUN(new_directory);
  RUN(damaged);
  RUN(permissions);
  RUN(not_a_directory);
  RUN(trimming);
  RUN(failed);
  RUN(options);
  RUN(isa);
  RUN(no_memory);
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", base_dir);
  if (system(command)) printf("cannot remove %s\n", base_dir);
  return check_done();
}
