/* kernel_cache.c - objects on disk, one file for each loop and host.
 *
 * The file's name is a hash of everything that the object depends on: the loop's bytes, the versions
 * of lgt and of LLVM, the emitter module that is in use (its size and time, so that a rebuilt one
 * starts afresh), the CPU's name and features, and the instruction set.
 */
#include "kernel/kernel_cache.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
  lgt_disk_cache_hash(out, &h, sizeof h);
}

static void key_of(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop, uint64_t key[2]) {
  uint64_t all[6] = {cache->host[0], cache->host[1], loop->hash[0], loop->hash[1]};
  if (kind) lgt_disk_cache_hash(all + 4, kind, strlen(kind));
  lgt_disk_cache_hash(key, all, kind ? sizeof all : 4 * sizeof *all);
}

/* ---- entry -------------------------------------------------------------------------------------------- */

lgt_status lgt_kernel_cache_open(lgt_kernel_cache *cache, const char *dir, const char *emitter, lgt_isa isa) {
  hash_host(cache->host, emitter, isa);
  return lgt_disk_cache_open(&cache->disk, dir, ".o");
}

void lgt_kernel_cache_close(lgt_kernel_cache *cache) { lgt_disk_cache_close(&cache->disk); }

void *lgt_kernel_cache_read(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop,
                            size_t *size) {
  uint64_t key[2];
  key_of(cache, kind, loop, key);
  return lgt_disk_cache_read(&cache->disk, key, size);
}

void lgt_kernel_cache_write(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop,
                            const void *object, size_t size) {
  uint64_t key[2];
  key_of(cache, kind, loop, key);
  lgt_disk_cache_write(&cache->disk, key, object, size);
}

void lgt_kernel_cache_trim(const lgt_kernel_cache *cache) { lgt_disk_cache_trim(&cache->disk); }
