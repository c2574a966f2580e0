/* map.c - instances, replicas, the pool of free memory.  See map.h.
 *
 * Pool classes: sizes are rounded up to a quarter of a power of two, four classes for each octave, so
 * a block wastes at most a quarter and programs that allocate the same shapes again and again hit the
 * same list.  Lists are last in, first out: the warmest block is reused first.
 */
#include "map.h"

#include <string.h>

enum { RECORDS = 1024 }; /* bytes of bookkeeping, about, that go with a block of elements */

/* ---- memory --------------------------------------------------------------------------------------- */

static int class_of(int64_t bytes, int64_t *rounded) {
  if (bytes <= 64) {
    *rounded = 64;
    return 0;
  }
  int octave = 63 - __builtin_clzll((unsigned long long)(bytes - 1)); /* 2^octave < bytes <= 2^(octave + 1) */
  int64_t step = octave >= 8 ? (int64_t)1 << (octave - 2) : 64;
  *rounded = (bytes + step - 1) / step * step;
  int quarter = (int)((*rounded - ((int64_t)1 << octave) - 1) / ((int64_t)1 << (octave - 2)));
  return 1 + octave * 4 + quarter;
}

static char *take_block(lgt_map *map, int64_t bytes, int64_t *rounded) {
  int c = class_of(bytes, rounded);
  lgt_free_block *block = map->pool[c];
  if (block) {
    map->pool[c] = block->next;
    map->pooled -= *rounded;
  } else {
    if (map->live + map->pooled + *rounded > map->budget) lgt_map_trim(map);
    if (map->live + *rounded > map->budget) return NULL;
    block = lgt_mem_pages_alloc((size_t)*rounded);
    if (!block && map->pooled) {
      lgt_map_trim(map);
      block = lgt_mem_pages_alloc((size_t)*rounded);
    }
    if (!block) return NULL;
  }
  map->live += *rounded;
  map->since_collection += *rounded + RECORDS;
  if (map->live > map->peak) map->peak = map->live;
  return (char *)block;
}

static void give_block(lgt_map *map, char *data, int64_t rounded) {
  int64_t same;
  int c = class_of(rounded, &same);
  lgt_free_block *block = (lgt_free_block *)data;
  lgt_assert(same == rounded);
  block->next = map->pool[c];
  map->pool[c] = block;
  map->pooled += rounded;
  map->live -= rounded;
}

/* The size of the blocks of a class: the inverse of class_of. */
static int64_t class_size(int c) {
  if (c == 0) return 64;
  int octave = (c - 1) / 4, quarter = (c - 1) % 4;
  return ((int64_t)1 << octave) + ((int64_t)1 << (octave - 2)) * (quarter + 1);
}

void lgt_map_trim(lgt_map *map) {
  for (int c = 0; c < LGT_POOL_CLASSES; c++) {
    lgt_free_block *block = map->pool[c];
    map->pool[c] = NULL;
    while (block) {
      lgt_free_block *next = block->next;
      lgt_mem_pages_free(block, (size_t)class_size(c));
      map->pooled -= class_size(c);
      block = next;
    }
  }
}

void lgt_map_init(lgt_map *map, lgt_stores *stores, int domains, int64_t budget) {
  *map = (lgt_map){.stores = stores, .domains = domains, .budget = budget};
}

void lgt_map_fini(lgt_map *map) {
  lgt_map_trim(map);
  for (lgt_instance *inst; (inst = map->spare_instance);) {
    map->spare_instance = inst->next;
    lgt_mem_free(inst->reader);
    lgt_mem_free(inst);
  }
  for (lgt_replica *replica; (replica = map->spare_replicas);) {
    map->spare_replicas = replica->next;
    for (int d = 0; d < map->domains; d++) lgt_region_fini(&replica[d].valid);
    lgt_mem_free(replica);
  }
}

/* ---- instances -------------------------------------------------------------------------------------- */

static lgt_instance *instance_of(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect) {
  lgt_instance *inst = map->spare_instance;
  if (inst) map->spare_instance = inst->next;
  else if (!(inst = lgt_mem_zalloc(sizeof *inst))) return NULL;
  *inst = (lgt_instance){.refs = 1,
                         .domain = domain,
                         .elem = lgt_dtype_size(root->dtype),
                         .rect = *rect,
                         .reader = inst->reader,
                         .reader_room = inst->reader_room};
  int64_t s = inst->elem;
  for (int d = rect->ndim - 1; d >= 0; d--) {
    int64_t extent = rect->hi[d] - rect->lo[d];
    inst->stride[d] = s;
    s *= extent > 0 ? extent : 1;
  }
  return inst;
}

static void put_aside(lgt_map *map, lgt_instance *inst) {
  inst->next = map->spare_instance;
  map->spare_instance = inst;
}

lgt_instance *lgt_instance_new(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect) {
  lgt_instance *inst = instance_of(map, domain, root, rect);
  if (!inst) return NULL;
  int64_t bytes = lgt_rect_size(rect) * inst->elem;
  inst->data = take_block(map, bytes > 0 ? bytes : 1, &inst->bytes);
  if (inst->data) return inst;
  put_aside(map, inst);
  return NULL;
}

lgt_instance *lgt_instance_attach(lgt_map *map, const lgt_layout *root, void *data) {
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  lgt_instance *inst = instance_of(map, 0, root, &all);
  if (inst) inst->data = data;
  return inst;
}

void lgt_instance_release(lgt_map *map, lgt_instance *inst) {
  if (!inst || --inst->refs > 0) return;
  if (inst->bytes) give_block(map, inst->data, inst->bytes);
  lgt_failure_release(inst->failure);
  put_aside(map, inst);
}

char *lgt_instance_at(const lgt_instance *inst, const int64_t *coordinate) {
  char *p = inst->data;
  for (int d = 0; d < inst->rect.ndim; d++) p += (coordinate[d] - inst->rect.lo[d]) * inst->stride[d];
  return p;
}

/* ---- replicas ------------------------------------------------------------------------------------------ */

lgt_replica *lgt_store_replicas(lgt_map *map, lgt_store *store) {
  if (store->replica) return store->replica;
  store->replica = map->spare_replicas;
  if (store->replica) map->spare_replicas = store->replica->next;
  else store->replica = lgt_mem_zalloc((size_t)map->domains * sizeof *store->replica);
  return store->replica;
}

void lgt_replica_set(lgt_map *map, lgt_replica *replica, lgt_instance *inst) {
  if (replica->inst) {
    replica->inst->owners--;
    lgt_instance_release(map, replica->inst);
  }
  replica->inst = inst;
  if (inst) inst->owners++;
}

void lgt_store_forget(lgt_map *map, lgt_store *store) {
  if (!store->replica) return;
  for (int d = 0; d < map->domains; d++) {
    lgt_replica_set(map, &store->replica[d], NULL);
    lgt_region_clear(&store->replica[d].valid);
  }
  store->replica->next = map->spare_replicas;
  map->spare_replicas = store->replica;
  store->replica = NULL;
}

bool lgt_store_written(lgt_map *map, lgt_store *store, int domain, const lgt_rect *rect) {
  for (int d = 0; d < map->domains; d++)
    if ((d == domain || store->replica[d].valid.count) && !lgt_region_reserve(&store->replica[d].valid, rect))
      return false;
  for (int d = 0; d < map->domains; d++)
    if (d != domain) lgt_region_remove(&store->replica[d].valid, rect);
  return lgt_region_add(&store->replica[domain].valid, rect);
}

static bool push_copy(lgt_copy **copies, int *count, int *room, lgt_copy copy) {
  if (!lgt_mem_grow((void **)copies, room, *count + 1, sizeof **copies)) return false;
  (*copies)[(*count)++] = copy;
  return true;
}

bool lgt_store_fetch(lgt_map *map, lgt_store *store, int domain, const lgt_rect *rect, lgt_copy **copies,
                     int *count, int *room) {
  lgt_replica *mine = &store->replica[domain];
  if (lgt_region_contains(&mine->valid, rect)) return true;
  lgt_region missing = {0};
  bool good = lgt_region_add(&missing, rect);
  for (int i = 0; i < mine->valid.count && good; i++)
    good = lgt_region_remove(&missing, &mine->valid.rect[i]);
  for (int d = 0; d < map->domains && good; d++) {
    lgt_replica *other = &store->replica[d];
    if (d == domain || !other->inst) continue;
    for (int i = 0; i < other->valid.count && good; i++) {
      int before = *count;
      for (int k = 0; k < missing.count && good; k++) {
        lgt_copy copy = {other->inst, mine->inst, missing.rect[k]};
        if (!lgt_rect_intersect(&other->valid.rect[i], &missing.rect[k], &copy.rect)) continue;
        good = push_copy(copies, count, room, copy);
        map->copied += lgt_rect_size(&copy.rect) * mine->inst->elem;
      }
      for (int k = before; k < *count && good; k++) good = lgt_region_remove(&missing, &(*copies)[k].rect);
    }
  }
  lgt_region_fini(
      &missing); /* what nobody has was never written; its contents are undefined wherever they are */
  return good;
}

void lgt_copy_run(const lgt_copy *copy) {
  const lgt_rect *r = &copy->rect;
  int64_t index[LGT_MAX_DIM];
  int n = r->ndim;
  if (lgt_rect_empty(r)) return;
  memcpy(index, r->lo, sizeof index);
  size_t run = (size_t)copy->to->elem * (n ? (size_t)(r->hi[n - 1] - r->lo[n - 1]) : 1);
  for (;;) {
    memcpy(lgt_instance_at(copy->to, index), lgt_instance_at(copy->from, index), run);
    int d = n - 2;
    for (; d >= 0; d--) {
      if (++index[d] < r->hi[d]) break;
      index[d] = r->lo[d];
    }
    if (d < 0) return;
  }
}
