/* disk_cache.c - what costs time to make, kept on disk: a file for each.  See disk_cache.h.
 *
 * A file is a header, which repeats the key and has a checksum, and the bytes that are kept.
 *
 * Several processes may use a directory at once, and a machine may stop at any time: a file is written
 * under a name of its own and renamed, so a name has either nothing or a whole file, and the checksum
 * finds what a crash or a bad disk leaves.  A file that does not fit is as good as none.
 */
#include "base/disk_cache.h"

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
  uint64_t bytes;
  uint64_t check[2]; /* of the bytes */
} header;

static const char magic[8] = "lgtkern"; /* kernels were the first to be kept so */

void lgt_disk_cache_hash(uint64_t out[2], const void *bytes, size_t size) {
  XXH128_hash_t h = XXH3_128bits(bytes, size);
  out[0] = h.low64;
  out[1] = h.high64;
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

lgt_status lgt_disk_cache_open(lgt_disk_cache *cache, const char *dir, const char *suffix) {
  *cache = (lgt_disk_cache){.path = *dir ? join(dir, "") : default_dir(), .suffix = suffix, .fd = -1};
  if (!cache->path) return lgt_err(LGT_NO_MEMORY, "out of memory for the cache's path");
  cache->fd = open_dir(cache->path);
  return LGT_OK;
}

void lgt_disk_cache_close(lgt_disk_cache *cache) {
  if (cache->fd >= 0) close(cache->fd);
  lgt_mem_free(cache->path);
  cache->fd = -1;
  cache->path = NULL;
}

static void name_of(const lgt_disk_cache *cache, const uint64_t key[2], char name[64]) {
  snprintf(name, 64, "%016llx%016llx%s", (unsigned long long)key[1], (unsigned long long)key[0],
           cache->suffix);
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

/* What is behind the header, if the file is what its name says. */
static void *read_file(int fd, const uint64_t key[2], size_t *size) {
  struct stat status;
  header head;
  if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !is_ours(&status)) return NULL;
  if (!read_exactly(fd, &head, sizeof head)) return NULL;
  if (memcmp(head.magic, magic, sizeof magic) || head.format != FORMAT || head.size != sizeof head)
    return NULL;
  if (memcmp(head.key, key, sizeof head.key) || head.bytes > FILE_MAX) return NULL;
  if (status.st_size != (off_t)(sizeof head + head.bytes)) return NULL;
  uint64_t check[2];
  void *out = lgt_mem_alloc(head.bytes + 1);
  if (!out) return NULL;
  if (read_exactly(fd, out, head.bytes)) {
    lgt_disk_cache_hash(check, out, head.bytes);
    if (memcmp(check, head.check, sizeof check) == 0) {
      if (status.st_mtime < time(NULL) - DAY) futimens(fd, NULL);
      *size = head.bytes;
      return out;
    }
  }
  lgt_mem_free(out);
  return NULL;
}

void *lgt_disk_cache_read(const lgt_disk_cache *cache, const uint64_t key[2], size_t *size) {
  char name[64];
  if (cache->fd < 0) return NULL;
  name_of(cache, key, name);
  int fd = openat(cache->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return NULL;
  void *bytes = read_file(fd, key, size);
  if (!bytes) lgt_log(KERNEL, 1, "%s/%s is damaged or not ours: ignored", cache->path, name);
  close(fd);
  return bytes;
}

static bool write_file(int fd, const uint64_t key[2], const void *bytes, size_t size) {
  header head;
  memset(&head, 0, sizeof head);
  memcpy(head.magic, magic, sizeof magic);
  head.format = FORMAT;
  head.size = sizeof head;
  head.key[0] = key[0];
  head.key[1] = key[1];
  head.bytes = size;
  lgt_disk_cache_hash(head.check, bytes, size);
  return write_exactly(fd, &head, sizeof head) && write_exactly(fd, bytes, size);
}

void lgt_disk_cache_write(const lgt_disk_cache *cache, const uint64_t key[2], const void *bytes,
                          size_t size) {
  static atomic_uint counter;
  char name[64], temporary[96];
  if (cache->fd < 0 || size > FILE_MAX) return;
  name_of(cache, key, name);
  snprintf(temporary, sizeof temporary, "%s.%ld.%u", name, (long)getpid(),
           atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed));
  unlinkat(cache->fd, temporary, 0); /* left by a process of that number that was killed */
  int fd = openat(cache->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool written = fd >= 0 && write_file(fd, key, bytes, size);
  if (fd >= 0 && close(fd)) written = false;
  if (written && renameat(cache->fd, temporary, cache->fd, name) == 0) return;
  lgt_log(KERNEL, 1, "cannot write %s/%s: %s", cache->path, name, strerror(errno));
  if (fd >= 0) unlinkat(cache->fd, temporary, 0);
}

/* ---- trimming --------------------------------------------------------------------------------------- */

typedef struct aged {
  int64_t time;
  char name[96];
} aged;

static int older(const void *a, const void *b) {
  int64_t x = ((const aged *)a)->time, y = ((const aged *)b)->time;
  return (x > y) - (x < y);
}

/* The directory's files with their times, as many as there is room for; how many there are. */
static int list_files(const lgt_disk_cache *cache, aged *file, int room) {
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

void lgt_disk_cache_trim(const lgt_disk_cache *cache) {
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
