/* lua_files.c - files that come into being whole, for lib/array/io/output.lua.  See lua_support.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lua_support.h"

enum { NAME = 200 }; /* of a file, in that of the fresh one beside it */

/* The file that `path` means, without links in between; one that is not there yet has its folder's path. */
static bool resolve(const char *path, bool there, char *target) {
  if (there) return realpath(path, target) != NULL;
  const char *name = strrchr(path, '/');
  char folder[PATH_MAX] = ".";
  size_t length = name ? (size_t)(name - path) + 1 : 0;
  if (length >= sizeof folder) return errno = ENAMETOOLONG, false;
  if (name) memcpy(folder, path, length), folder[length] = 0;
  if (!realpath(folder, target)) return false;
  size_t used = strlen(target), room = PATH_MAX - used;
  if (snprintf(target + used, room, "/%s", name ? name + 1 : path) < (int)room) return true;
  return errno = ENAMETOOLONG, false;
}

int lgt_lua_file_begin(const char *path, char *fresh, char *target) {
  struct stat old;
  bool there = stat(path, &old) == 0;
  if (there && S_ISDIR(old.st_mode)) return errno = EISDIR, -1;
  if (there && !S_ISREG(old.st_mode)) return -2;
  if (there && access(path, W_OK)) return -1;
  if (!resolve(path, there, target)) return -1;
  const char *name = strrchr(target, '/') + 1;
  for (int turn = 0; turn < 1000; turn++) { /* names that a process of this number has left behind */
    int length = snprintf(fresh, PATH_MAX, "%.*s.%.*s.%ld-%d.part", (int)(name - target), target, NAME, name,
                          (long)getpid(), turn);
    if (length >= PATH_MAX) return errno = ENAMETOOLONG, -1;
    int fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd >= 0 && there) fchmod(fd, old.st_mode & 07777);
    return fd;
  }
  return -1;
}

int lgt_lua_file_join(const char *fresh) { return open(fresh, O_RDWR | O_CLOEXEC); }
