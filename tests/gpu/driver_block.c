/* driver_block.c - of the emulated driver: blocks of memory, on devices and pinned ones of the host.  See driver.h.
 *
 * Each device has a range of addresses that nobody may touch, and one of the same size where the bytes are.  Blocks are
 * placed one behind the other, with gaps, around the range and again from its begin: an address is used anew only after
 * all the others.  Pages of freed blocks go back to the system.
 *
 * The table holds live blocks by address.  What operations are about to use is kept by `refs` also after it left.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRAVES = 4096, PAGE = 4096, GARBAGE = 1 << 20 };
static const uint64_t MOST_RANGE = (uint64_t)64 << 30, LEAST_RANGE = (uint64_t)1 << 30;

typedef struct range {
  char *guarded, *open;
  uint64_t bytes;
  uint64_t next; /* where the next block goes */
} range;
static range ranges[MOST_DEVICES];

static fake_block **table;
static int blocks, room;

static struct grave { uint64_t base, bytes, call; } grave[GRAVES];
static int graves;

/* ---- the table -------------------------------------------------------------------------------------- */

/* The first block that ends behind the address. */
static int first_after(uint64_t address) {
  int low = 0, high = blocks;
  while (low < high) {
    int mid = (low + high) / 2;
    if (table[mid]->base + table[mid]->bytes > address) high = mid;
    else low = mid + 1;
  }
  return low;
}

fake_block *fake_block_at(uint64_t address) {
  int i = first_after(address);
  return i < blocks && table[i]->base <= address ? table[i] : NULL;
}

bool fake_block_overlaps(uint64_t address, size_t bytes) {
  int i = first_after(address);
  return i < blocks && table[i]->base < address + bytes;
}

static void enter(fake_block *block) {
  int i = first_after(block->base);
  if (blocks == room) {
    room = 2 * room + 64;
    table = realloc(table, (size_t)room * sizeof(void *));
  }
  memmove(&table[i + 1], &table[i], (size_t)(blocks - i) * sizeof(void *));
  table[i] = block;
  blocks++;
}

void fake_block_each(void (*f)(fake_block *block, void *context), void *context) {
  for (int i = blocks - 1; i >= 0; i--) f(table[i], context); /* f may take it out */
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

static bool map_range(range *r) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  for (uint64_t bytes = MOST_RANGE; !r->open && bytes >= LEAST_RANGE; bytes /= 2) { /* valgrind has less */
    void *both = mmap(NULL, 2 * bytes, PROT_NONE, flags, -1, 0);
    if (both == MAP_FAILED) continue;
    char *open = (char *)both + bytes;
    if (!mprotect(open, bytes, PROT_READ | PROT_WRITE))
      *r = (range){.guarded = both, .open = open, .bytes = bytes};
    else munmap(both, 2 * bytes);
  }
  return r->open;
}

bool fake_is_device_address(uint64_t address) {
  for (int d = 0; d < MOST_DEVICES; d++)
    if (ranges[d].open && address - (uint64_t)ranges[d].guarded < ranges[d].bytes) return true;
  return false;
}

/* The next hole of the range that takes so many bytes; the end of the range if there is none. */
static uint64_t find_hole(const range *r, uint64_t bytes) {
  uint64_t at = r->next, base = (uint64_t)r->guarded;
  for (int turn = 0; turn < 2; turn++, at = 0)
    while (at + bytes <= r->bytes) {
      int i = first_after(base + at);
      if (i == blocks || table[i]->base >= base + at + bytes) return at;
      at = table[i]->base + table[i]->bytes - base;
      at = (at + 2 * GRAIN - 1) / GRAIN * GRAIN;
    }
  return r->bytes;
}

static fake_block *new_block(uint64_t base, size_t bytes, int device) {
  fake_block *block = calloc(1, sizeof *block);
  *block = (fake_block){.base = base, .bytes = bytes, .device = device, .refs = 1, .born = fake.calls};
  enter(block);
  return block;
}

fake_block *fake_block_new(CUcontext context, size_t bytes) {
  range *r = &ranges[context->device];
  if (!map_range(r)) return NULL;
  uint64_t padded = (bytes + 2 * GRAIN - 1) / GRAIN * GRAIN, at = find_hole(r, padded);
  if (at == r->bytes) return NULL;
  r->next = at + padded;
  fake_block *block = new_block((uint64_t)r->guarded + at, bytes, context->device);
  block->host = r->open + at;
  block->context = context;
  memset(block->host, 0xfb, bytes < GARBAGE ? bytes : GARBAGE);
  if (fake.set.unwritten) block->written = calloc(1, bytes);
  return block;
}

/* Mapped twice: by the address that the caller has, and by that of the emulator. */
fake_block *fake_block_pin(size_t bytes) {
  int file = memfd_create("pinned", MFD_CLOEXEC);
  if (file < 0) return NULL;
  void *address = MAP_FAILED, *open = MAP_FAILED;
  if (!ftruncate(file, (off_t)bytes)) {
    address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    open = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  if (address == MAP_FAILED || open == MAP_FAILED) return NULL;
  fake_block *block = new_block((uint64_t)address, bytes, -1);
  block->host = open;
  return block;
}

fake_block *fake_block_register(void *address, size_t bytes) {
  fake_block *block = new_block((uint64_t)address, bytes, -1);
  block->host = address;
  block->registered = true;
  return block;
}

static void give_pages_back(const fake_block *block) {
  uint64_t begin = ((uint64_t)block->host + PAGE - 1) / PAGE * PAGE;
  uint64_t end = ((uint64_t)block->host + block->bytes) / PAGE * PAGE;
  if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void fake_block_release(fake_block *block) {
  if (--block->refs) return;
  if (block->device >= 0) give_pages_back(block);
  else if (!block->registered) {
    munmap((void *)block->base, block->bytes);
    munmap(block->host, block->bytes);
  }
  free(block->written);
  free(block->span);
  free(block);
}

void fake_block_kill(fake_block *block) {
  int i = first_after(block->base);
  memmove(&table[i], &table[i + 1], (size_t)(blocks - i - 1) * sizeof(void *));
  blocks--;
  grave[graves++ % GRAVES] =
      (struct grave){block->base, block->bytes, block->died ? block->died : fake.calls};
  block->dead = true;
  fake_block_release(block);
}

/* ---- what the host may not touch yet ---------------------------------------------------------------- */

typedef struct guard {
  fake_block *block; /* ref */
  uint64_t begin, end;
  bool written;
  fake_access until;
} guard;
static guard *guards; /* owned */
static int nguard, guard_room;

static void apply(const guard *g) {
  mprotect((void *)g->begin, g->end - g->begin, g->written ? PROT_NONE : PROT_READ);
}

/* Those of what is written last, since they forbid more. */
static void apply_all(void) {
  for (int written = 0; written < 2; written++)
    for (int i = 0; i < nguard; i++)
      if (guards[i].written == written) apply(&guards[i]);
}

void fake_block_guard(fake_block *block, size_t begin, size_t end, bool written, fake_access until) {
  if (block->registered || block->device >= 0) return;
  uint64_t from = (block->base + begin + PAGE - 1) / PAGE * PAGE, to = (block->base + end) / PAGE * PAGE;
  if (from >= to || fake_clock_has(&fake.host, until)) return;
  if (nguard == guard_room) {
    guard_room = 2 * guard_room + 16;
    guards = realloc(guards, (size_t)guard_room * sizeof *guards);
  }
  block->refs++;
  guards[nguard++] = (guard){block, from, to, written, until};
  apply_all();
}

void fake_unguard(void) {
  int kept = 0, before = nguard;
  for (int i = 0; i < before; i++) {
    guard g = guards[i];
    if (!fake_clock_has(&fake.host, g.until)) {
      guards[kept++] = g;
      continue;
    }
    mprotect((void *)g.begin, g.end - g.begin, PROT_READ | PROT_WRITE);
    fake_block_release(g.block);
  }
  nguard = kept;
  if (kept < before) apply_all();
}

/* ---- texts ------------------------------------------------------------------------------------------ */

const char *fake_address_text(uint64_t address, char *text, size_t size) {
  const fake_block *block = fake_block_at(address);
  if (block) {
    snprintf(text, size, "byte %llu of the %llu of call %llu", (unsigned long long)(address - block->base),
             (unsigned long long)block->bytes, (unsigned long long)block->born);
    return text;
  }
  for (int i = graves; i-- > 0 && i >= graves - GRAVES;) {
    const struct grave *g = &grave[i % GRAVES];
    if (address - g->base >= g->bytes) continue;
    snprintf(text, size, "byte %llu of what call %llu freed", (unsigned long long)(address - g->base),
             (unsigned long long)g->call);
    return text;
  }
  snprintf(text, size, "0x%llx, where nothing is", (unsigned long long)address);
  return text;
}
