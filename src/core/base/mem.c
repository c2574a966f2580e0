/* mem.c - allocation: bookkeeping blocks, array elements, reserved address space, arenas.
 *
 * Every function that can run out of memory asks `admit` first, which counts the request and makes the
 * one fail that a test chose with lgt_mem_fail_at.  So a test can walk through every allocation of a
 * program, whatever its kind.
 *
 * Array elements from HUGE bytes on are mapped in huge pages: worth 8% on a stencil and more on random access.  They begin
 * a little behind a multiple of HUGE, each somewhere else, lest a pass over many arrays finds the elements of one index
 * all in the same few places of a cache.  Smaller blocks come from malloc, which keeps freed ones warm; those of
 * SPREAD bytes and more take up to a page besides, to begin at different places of one, for the same reason.
 *
 * The counters are relaxed atomics: they are read when a test is at rest.  Any thread, except an arena.
 */
#include "base/mem.h"

#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE        ((size_t)2 << 20)
#define LINE        ((size_t)64)
#define PAGE        ((size_t)4096)
#define COLOURS     32
#define COLOUR      (PAGE + 128)       /* from one beginning to the next: another page, other lines of it */
#define SPREAD      ((size_t)32 << 10) /* blocks of so many bytes begin at different places of a page */
#define STEP        ((size_t)128)      /* from one of these to the next */
#define ARENA_BLOCK ((size_t)64 << 10)

static atomic_int_fast64_t count, live;
static atomic_int_fast64_t fail_in;             /* requests until one fails; 0 or less: that is over */
static atomic_bool fail_on;                     /* and all that follow */
static atomic_uint mapped_blocks, small_blocks; /* how many got a place of their own so far */

static bool admit(void) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  int_fast64_t left = atomic_load_explicit(&fail_in, memory_order_relaxed);
  if (left > 0) left = atomic_fetch_sub_explicit(&fail_in, 1, memory_order_relaxed);
  return left > 1 || (left < 1 && !atomic_load_explicit(&fail_on, memory_order_relaxed));
}

static void fail_after(int64_t n, bool on) {
  atomic_store_explicit(&fail_on, on, memory_order_relaxed);
  atomic_store_explicit(&fail_in, n, memory_order_relaxed);
}

void lgt_mem_fail_at(int64_t n) { fail_after(n, false); }
void lgt_mem_fail_from(int64_t n) { fail_after(n, n > 0); }
int64_t lgt_mem_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
int64_t lgt_mem_live(void) { return atomic_load_explicit(&live, memory_order_relaxed); }

/* ---- how much there is ------------------------------------------------------------------------- */

enum { LONGEST_PATH = 4096 };

/* The least of `bytes` and the number in a file, if it is there and has one ("max" is none). */
static int64_t least(int64_t bytes, const char *path) {
  FILE *file = fopen(path, "r");
  long long limit;
  if (file && fscanf(file, "%lld", &limit) == 1 && limit < bytes) bytes = limit;
  if (file) fclose(file);
  return bytes;
}

/* The least limit of a cgroup and those above it.  In a container the group's path may be that of the host,
 * where nothing is: then the root's limit is the container's. */
static int64_t least_of_groups(int64_t bytes, const char *mount, const char *group, const char *name) {
  char path[3 * LONGEST_PATH];
  for (int length = (int)strlen(group); length >= 0; length--) {
    if (length && group[length] && group[length] != '/') continue;
    snprintf(path, sizeof path, "%s%.*s/%s", mount, length, group, name);
    bytes = least(bytes, path);
  }
  return bytes;
}

int64_t lgt_mem_available(const char *root) {
  int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  char line[LONGEST_PATH], path[LONGEST_PATH];
  long long kib;
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1) bytes = kib * 1024;
  if (file) fclose(file);
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  file = fopen(path, "r");
  while (file &&
         fgets(line, sizeof line, file)) { /* number:controllers:path; version 2 names no controllers */
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    bool second = !controllers[1], first = strstr(controllers, "memory") != NULL;
    snprintf(path, sizeof path, "%s/sys/fs/cgroup%s", root, second ? "" : "/memory");
    if (second) bytes = least_of_groups(bytes, path, group, "memory.max");
    else if (first) bytes = least_of_groups(bytes, path, group, "memory.limit_in_bytes");
  }
  if (file) fclose(file);
  return bytes;
}

/* ---- bookkeeping ------------------------------------------------------------------------------ */

static void *counted(void *block) {
  if (block) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
  return block;
}

/* One byte at least, so that NULL always means out of memory. */
void *lgt_mem_alloc(size_t size) { return admit() ? counted(malloc(size ? size : 1)) : NULL; }
void *lgt_mem_zalloc(size_t size) { return admit() ? counted(calloc(1, size ? size : 1)) : NULL; }

void *lgt_mem_realloc(void *block, size_t size) {
  if (!block) return lgt_mem_alloc(size);
  return admit() ? realloc(block, size ? size : 1) : NULL;
}

void lgt_mem_free(void *block) {
  if (!block) return;
  atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
  free(block);
}

char *lgt_mem_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = lgt_mem_alloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

bool lgt_mem_enlarge(void **array, int *room, int need, size_t size) {
  int64_t more = *room < 8 ? 8 : 2 * (int64_t)*room;
  if (more < need) more = need;
  if (more > INT_MAX) more = INT_MAX;
  if ((size_t)more > SIZE_MAX / size) return false;
  void *grown = lgt_mem_realloc(*array, (size_t)more * size);
  if (!grown) return false;
  *array = grown;
  *room = (int)more;
  return true;
}

/* ---- blocks that come and go ------------------------------------------------------------------ */

/* A sanitizer is to see that a block is used after it was given back. */
#if defined(__SANITIZE_ADDRESS__)
enum { KEPT = 0 };
#else
enum { KEPT = LGT_BLOCKS_KEPT };
#endif

/* Blocks of more bytes than the largest class has are not kept. */
static int class_of(size_t size) {
  int bits = size <= LGT_BLOCK_LEAST ? 0 : 64 - __builtin_clzll((size - 1) / LGT_BLOCK_LEAST);
  return bits < LGT_BLOCK_CLASSES ? bits : -1;
}

void *lgt_blocks_take(lgt_blocks *blocks, size_t size) {
  int class = class_of(size);
  if (class < 0 || !blocks->spare[class].count)
    return lgt_mem_alloc(class < 0 ? size : (size_t)LGT_BLOCK_LEAST << class);
  return admit() ? lgt_spares_take(&blocks->spare[class], 0) : NULL;
}

void lgt_blocks_give(lgt_blocks *blocks, void *block, size_t size) {
  int class = class_of(size);
  bool full = class < 0 || blocks->spare[class].count >= KEPT;
  if (full || !lgt_spares_give(&blocks->spare[class], block)) lgt_mem_free(block);
}

void lgt_blocks_fini(lgt_blocks *blocks) {
  for (int c = 0; c < LGT_BLOCK_CLASSES; c++) {
    for (void *block; (block = lgt_spares_take(&blocks->spare[c], 0));) lgt_mem_free(block);
    lgt_mem_free(blocks->spare[c].item);
  }
  *blocks = (lgt_blocks){0};
}

/* ---- elements --------------------------------------------------------------------------------- */

static void *map(void *at, size_t size, int flags) {
  void *block = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return block == MAP_FAILED ? NULL : block;
}

/* A process may have only so many mappings, and to unmap a part of one makes two of it.  Where that is refused the addresses
 * are lost, but not the memory. */
static void unmap(void *start, size_t size) {
  if (munmap(start, size)) (void)madvise(start, size, MADV_DONTNEED);
}

static size_t round_up(size_t size, size_t unit) { return (size + unit - 1) & ~(unit - 1); }
static size_t mapped(size_t size) { return round_up(size + (COLOURS - 1) * COLOUR, PAGE); }

/* The place of the next block among COLOURS. */
static size_t next_colour(atomic_uint *count) {
  return atomic_fetch_add_explicit(count, 1, memory_order_relaxed) % COLOURS;
}

/* Of fewer than HUGE bytes.  Before a block that begins somewhere in a page stands where its memory begins. */
static void *small_alloc(size_t size) {
  bool spread = size >= SPREAD;
  void *start;
  if (posix_memalign(&start, LINE, round_up(size ? size : 1, LINE) + (spread ? LINE + COLOURS * STEP : 0)))
    return NULL;
  if (!spread) return start;
  void **block = (void **)((char *)start + LINE + next_colour(&small_blocks) * STEP);
  block[-1] = start;
  return block;
}
static void small_free(void *block, size_t size) { free(size >= SPREAD ? ((void **)block)[-1] : block); }

void *lgt_mem_pages_alloc(size_t size) {
  if (size > PTRDIFF_MAX - 2 * HUGE || !admit()) return NULL;
  if (size < HUGE) return small_alloc(size);
  /* Map more than needed, then give back what lies before and behind the aligned part. */
  size = mapped(size);
  char *start = map(NULL, size + HUGE, 0);
  if (!start) return NULL;
  char *block = (char *)round_up((size_t)start, HUGE);
  if (block > start) unmap(start, (size_t)(block - start));
  if (start + HUGE > block) unmap(block + size, (size_t)(start + HUGE - block));
  (void)madvise(block, size, MADV_HUGEPAGE); /* a kernel without huge pages is slower, not wrong */
  return block + next_colour(&mapped_blocks) * COLOUR;
}

void lgt_mem_pages_free(void *block, size_t size) {
  if (!block) return;
  if (size < HUGE) small_free(block, size);
  else unmap((char *)((size_t)block & -HUGE), mapped(size));
}

lgt_pages lgt_mem_pages_keep(void *block, size_t size) {
  if (size < HUGE) {
    small_free(block, size);
    return (lgt_pages){0};
  }
  lgt_pages pages = {(char *)((size_t)block & -HUGE), mapped(size) & -HUGE};
  if (mapped(size) > pages.bytes) unmap(pages.start + pages.bytes, mapped(size) - pages.bytes);
  return pages;
}

/* One huge page at a time: those of several blocks are several mappings, and before Linux 6.17 one call moves pages of one
 * mapping only.  A call that fails may have unmapped what it should have replaced. */
size_t lgt_mem_pages_move(lgt_pages *pages, void *block, size_t size, size_t filled) {
  if (size < HUGE) return filled;
  for (; pages->bytes && filled + HUGE <= mapped(size); filled += HUGE) {
    char *to = (char *)((size_t)block & -HUGE) + filled;
    if (mremap(pages->start, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
      (void)map(to, HUGE, MAP_FIXED);
      break;
    }
    pages->start += HUGE, pages->bytes -= HUGE;
  }
  return filled;
}

void lgt_mem_pages_drop(lgt_pages *pages, size_t bytes) {
  bytes = bytes < pages->bytes ? round_up(bytes, HUGE) : pages->bytes;
  pages->bytes -= bytes;
  if (bytes) unmap(pages->start + pages->bytes, bytes);
}

void lgt_mem_trim(void) { (void)malloc_trim(0); }

void *lgt_mem_reserve(size_t size) { return admit() ? map(NULL, size ? size : 1, MAP_NORESERVE) : NULL; }

void lgt_mem_release(void *block, size_t size) {
  if (block) unmap(block, size ? size : 1);
}

void lgt_mem_forget(void *pages, size_t size) { (void)madvise(pages, size, MADV_DONTNEED); }

/* ---- arenas ----------------------------------------------------------------------------------- */

struct lgt_arena_block {
  struct lgt_arena_block *next; /* owned */
  size_t room;                  /* bytes of data */
  _Alignas(16) char data[];
};

/* The block after the current one if `size` fits there, else a new one put in between. */
static struct lgt_arena_block *next_block(lgt_arena *arena, size_t size) {
  struct lgt_arena_block **link = arena->current ? &arena->current->next : &arena->first;
  if (*link && (*link)->room >= size) return *link;
  size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;
  if (room > SIZE_MAX - sizeof(struct lgt_arena_block)) return NULL;
  struct lgt_arena_block *block = lgt_mem_alloc(sizeof *block + room);
  if (!block) return NULL;
  block->next = *link;
  block->room = room;
  return *link = block;
}

void *lgt_arena_alloc(lgt_arena *arena, size_t size) {
  if (size > PTRDIFF_MAX) return NULL;
  size = round_up(size, 16);
  if (!arena->current || size > arena->current->room - arena->used) {
    struct lgt_arena_block *block = next_block(arena, size);
    if (!block) return NULL;
    arena->current = block;
    arena->used = 0;
  }
  void *place = arena->current->data + arena->used;
  arena->used += size;
  return memset(place, 0, size);
}

void lgt_arena_reset(lgt_arena *arena) {
  arena->current = arena->first;
  arena->used = 0;
}

void lgt_arena_fini(lgt_arena *arena) {
  for (struct lgt_arena_block *block = arena->first, *next; block; block = next) {
    next = block->next;
    lgt_mem_free(block);
  }
  *arena = (lgt_arena){0};
}
