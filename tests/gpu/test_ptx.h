/* test_ptx.h - memory of a pretended device, and launches, for the tests of the emulator of PTX. */
#ifndef LGT_TEST_PTX_H
#define LGT_TEST_PTX_H

#include <stdlib.h>
#include "check.h"
#include "ptx.h"

enum { PRETENDED_ALLOCATIONS = 16 };

typedef struct {
  ptx_memory block[PRETENDED_ALLOCATIONS];
  int count;
} pretended;

static bool pretended_find(void *context, uint64_t address, ptx_memory *out) {
  const pretended *d = context;
  for (int k = 0; k < d->count; k++)
    if (address - d->block[k].base < d->block[k].bytes) return *out = d->block[k], true;
  return false;
}

/* Bytes on the device, not written yet. */
static uint64_t pretended_alloc(pretended *d, size_t bytes) {
  ptx_memory *m = &d->block[d->count];
  *m = (ptx_memory){.base = 0x700000000000u + (uint64_t)d->count * 0x100000000u, .bytes = bytes};
  m->host = malloc(bytes + 1);
  m->written = calloc(1, bytes + 1);
  memset(m->host, 0xcd, bytes);
  d->count++;
  return m->base;
}

static uint64_t pretended_copy(pretended *d, const void *from, size_t bytes) {
  uint64_t address = pretended_alloc(d, bytes);
  memcpy(d->block[d->count - 1].host, from, bytes);
  memset(d->block[d->count - 1].written, 1, bytes);
  return address;
}

static __attribute__((unused)) void *pretended_host(pretended *d, uint64_t address) {
  for (int k = 0; k < d->count; k++)
    if (d->block[k].base == address) return d->block[k].host;
  return NULL;
}

static void pretended_free(pretended *d) {
  for (int k = 0; k < d->count; k++) {
    free(d->block[k].host);
    free(d->block[k].written);
  }
  d->count = 0;
}

#endif
