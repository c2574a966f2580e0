/* kernel_cache.c - objects on disk, one file for each loop and host.
 *
 * The file's name is a hash of everything that the object depends on: the loop's bytes, the versions
 * of lgt and of LLVM, the emitter module that is in use (its size and time, so that a rebuilt one
 * starts afresh), the CPU's name and features, and the instruction set.  The file is a header, which
 * repeats the key and has a checksum, and the object's bytes.
 *
 * Several processes may use a directory at once, and a machine may stop at any time: a file is written
 * under a name of its own and renamed, so a name has either nothing or a whole file, and the checksum
 * finds what a crash or a bad disk leaves.  A file that does not fit is as good as none: the loop is
 * compiled and the file replaced.
 *
 * The number of files is bounded: a file that is read is marked with the date, and once in a runtime
 * that compiles anything, the oldest quarter goes when there are too many.
 *
 * Machine code is read from here, so the directory must belong to this user and be writable by nobody
 * else, and so must the file; else it is not used.
 *
 * Threads: reading and writing need no lock; the structure does not change between open and close.
 */
#include "kernel/kernel_cache.h"

#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/log.h"
#include "base/mem.h"

enum { FORMAT = 1, FILE_MAX = 16 << 20, FILES_MAX = 4096, DAY = 24 * 3600 };

typedef struct header {
  char magic[8];
  uint32_t format, size; /* of the header */
  uint64_t key[2];
  uint64_t object_size;
  uint64_t check[2]; /* of the object's bytes */
} header;

static const char magic[8] = "lgtkern";

static void hash_bytes(uint64_t out[2], const void *bytes, size_t size) {
  XXH128_hash_t h = XXH3_128bits(bytes, size);
  out[0] = h.low64;
  out[1] = h.high64;
}

/* ---- keys --------------------------------------------------------------------------------------- */

typedef struct host {
  char lgt[32], llvm[32];
  int64_t emitter_size, emitter_time[2];
  uint32_t cpu[4 * 8];
  uint32_t isa;
} host;

/* Vendor, model and features.  What differs between the cores of one machine (leaf 1's EBX) is left out. */
static void read_cpu(uint32_t cpu[4 * 8]) {
  static const uint32_t leaf[8][2] = {{0, 0},          {1, 0},          {7, 0},          {7, 1},
                                      {0x80000001, 0}, {0x80000002, 0}, {0x80000003, 0}, {0x80000004, 0}};
  for (int i = 0; i < 8; i++) {
    uint32_t *r = cpu + 4 * i;
    if (!__get_cpuid_count(leaf[i][0], leaf[i][1], &r[0], &r[1], &r[2], &r[3])) memset(r, 0, 4 * sizeof *r);
    if (leaf[i][0] == 1) r[1] = 0;
  }
}

static void hash_host(uint64_t out[2], const char *emitter, lgt_isa isa) {
  host h;
  struct stat status;
  memset(&h, 0, sizeof h);
  snprintf(h.lgt, sizeof h.lgt, "%s", LGT_VERSION);
  snprintf(h.llvm, sizeof h.llvm, "%s", LGT_LLVM_VERSION);
  if (*emitter && stat(emitter, &status) == 0) {
    h.emitter_size = status.st_size;
    h.emitter_time[0] = status.st_mtim.tv_sec;
    h.emitter_time[1] = status.st_mtim.tv_nsec;
  }
  read_cpu(h.cpu);
  h.isa = (uint32_t)isa;
  hash_bytes(out, &h, sizeof h);
}

static void key_of(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop, uint64_t key[2]) {
  uint64_t all[6] = {cache->host[0], cache->host[1], loop->hash[0], loop->hash[1]};
  if (kind) hash_bytes(all + 4, kind, strlen(kind));
  hash_bytes(key, all, kind ? sizeof all : 4 * sizeof *all);
}

static void name_of(const uint64_t key[2], char name[40]) {
  snprintf(name, 40, "%016llx%016llx.o", (unsigned long long)key[1], (unsigned long long)key[0]);
}

/* ---- the directory --------------------------------------------------------------------------------- */

static char *join(const char *a, const char *b) {
  size_t room = strlen(a) + strlen(b) + 1;
  char *path = lgt_mem_alloc(room);
  if (path) snprintf(path, room, "%s%s", a, b);
  return path;
}

/* "" when there is no home; NULL without memory. */
static char *default_dir(void) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (xdg && *xdg == '/') return join(xdg, "/lgt"); /* a relative one is to be ignored, says the standard */
  if (home && *home == '/') return join(home, "/.cache/lgt");
  return join("", "");
}

static void make_parents(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700); /* opening the whole will tell whether it worked */
    *slash = '/';
  }
  mkdir(path, 0700);
}

static bool is_ours(const struct stat *status) {
  return status->st_uid == geteuid() && !(status->st_mode & 022);
}

static int open_dir(char *path) {
  struct stat status;
  if (!*path) {
    lgt_log(KERNEL, 1, "no cache: neither cache_dir, XDG_CACHE_HOME nor HOME is set");
    return -1;
  }
  make_parents(path);
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status)) {
    lgt_log(KERNEL, 1, "no cache: %s: %s", path, strerror(errno));
  } else if (!is_ours(&status)) {
    lgt_log(KERNEL, 1, "no cache: %s belongs to another user, or others may write to it (mode %o)", path,
            (unsigned)(status.st_mode & 0777));
  } else {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

lgt_status lgt_kernel_cache_open(lgt_kernel_cache *cache, const char *dir, const char *emitter, lgt_isa isa) {
  cache->fd = -1;
  cache->path = *dir ? join(dir, "") : default_dir();
  if (!cache->path) return lgt_err(LGT_NO_MEMORY, "out of memory for the cache's path");
  hash_host(cache->host, emitter, isa);
  cache->fd = open_dir(cache->path);
  return LGT_OK;
}

void lgt_kernel_cache_close(lgt_kernel_cache *cache) {
  if (cache->fd >= 0) close(cache->fd);
  lgt_mem_free(cache->path);
  cache->fd = -1;
  cache->path = NULL;
}

/* ---- files ---------------------------------------------------------------------------------------------- */

static bool read_exactly(int fd, void *to, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(fd, (char *)to + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static bool write_exactly(int fd, const void *from, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = write(fd, (const char *)from + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

/* The object behind the header, if the file is what its name says. */
static void *read_file(int fd, const uint64_t key[2], size_t *size) {
  struct stat status;
  header head;
  if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !is_ours(&status)) return NULL;
  if (!read_exactly(fd, &head, sizeof head)) return NULL;
  if (memcmp(head.magic, magic, sizeof magic) || head.format != FORMAT || head.size != sizeof head)
    return NULL;
  if (memcmp(head.key, key, sizeof head.key) || head.object_size > FILE_MAX) return NULL;
  if (status.st_size != (off_t)(sizeof head + head.object_size)) return NULL;
  uint64_t check[2];
  void *object = lgt_mem_alloc(head.object_size + 1);
  if (!object) return NULL;
  if (read_exactly(fd, object, head.object_size)) {
    hash_bytes(check, object, head.object_size);
    if (memcmp(check, head.check, sizeof check) == 0) {
      if (status.st_mtime < time(NULL) - DAY) futimens(fd, NULL);
      *size = head.object_size;
      return object;
    }
  }
  lgt_mem_free(object);
  return NULL;
}

void *lgt_kernel_cache_read(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop,
                            size_t *size) {
  uint64_t key[2];
  char name[40];
  if (cache->fd < 0) return NULL;
  key_of(cache, kind, loop, key);
  name_of(key, name);
  int fd = openat(cache->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return NULL;
  void *object = read_file(fd, key, size);
  if (!object) lgt_log(KERNEL, 1, "%s/%s is damaged or not ours: ignored", cache->path, name);
  close(fd);
  return object;
}

static bool write_file(int fd, const uint64_t key[2], const void *object, size_t size) {
  header head;
  memset(&head, 0, sizeof head);
  memcpy(head.magic, magic, sizeof magic);
  head.format = FORMAT;
  head.size = sizeof head;
  head.key[0] = key[0];
  head.key[1] = key[1];
  head.object_size = size;
  hash_bytes(head.check, object, size);
  return write_exactly(fd, &head, sizeof head) && write_exactly(fd, object, size);
}

void lgt_kernel_cache_write(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop,
                            const void *object, size_t size) {
  static atomic_uint counter;
  uint64_t key[2];
  char name[40], temporary[80];
  if (cache->fd < 0 || size > FILE_MAX) return;
  key_of(cache, kind, loop, key);
  name_of(key, name);
  snprintf(temporary, sizeof temporary, "%s.%ld.%u", name, (long)getpid(),
           atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed));
  unlinkat(cache->fd, temporary, 0); /* left by a process of that number that was killed */
  int fd = openat(cache->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool written = fd >= 0 && write_file(fd, key, object, size);
  if (fd >= 0 && close(fd)) written = false;
  if (written && renameat(cache->fd, temporary, cache->fd, name) == 0) return;
  lgt_log(KERNEL, 1, "cannot write %s/%s: %s", cache->path, name, strerror(errno));
  if (fd >= 0) unlinkat(cache->fd, temporary, 0);
}

/* ---- trimming --------------------------------------------------------------------------------------- */

typedef struct aged {
  int64_t time;
  char name[80];
} aged;

static int older(const void *a, const void *b) {
  int64_t x = ((const aged *)a)->time, y = ((const aged *)b)->time;
  return (x > y) - (x < y);
}

/* The directory's files with their times, as many as there is room for; how many there are. */
static int list_files(const lgt_kernel_cache *cache, aged *file, int room) {
  struct stat status;
  int n = 0, fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) {
    if (fd >= 0) close(fd);
    return 0;
  }
  for (struct dirent *entry; (entry = readdir(dir));) {
    size_t length = strlen(entry->d_name);
    if (entry->d_name[0] == '.' || length >= sizeof file->name) continue;
    if (n < room) {
      memcpy(file[n].name, entry->d_name, length + 1);
      file[n].time = fstatat(cache->fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ? 0 : status.st_mtime;
    }
    n++;
  }
  closedir(dir);
  return n;
}

void lgt_kernel_cache_trim(const lgt_kernel_cache *cache) {
  if (cache->fd < 0) return;
  int room = list_files(cache, NULL, 0), excess = room - FILES_MAX;
  aged *file = excess > 0 ? lgt_mem_alloc((size_t)room * sizeof *file) : NULL;
  if (!file) return;
  int n = list_files(cache, file, room);
  if (n > room) n = room; /* somebody else adds to them */
  qsort(file, (size_t)n, sizeof *file, older);
  for (int i = 0; i < n && i < excess + FILES_MAX / 4; i++) unlinkat(cache->fd, file[i].name, 0);
  lgt_log(KERNEL, 1, "%s had %d files: the %d oldest are gone", cache->path, n, excess + FILES_MAX / 4);
  lgt_mem_free(file);
}
