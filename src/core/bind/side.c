/* side.c - see side.h. */
#include "bind/side.h"

#include <math.h>

#include "base/random.h"
#include "memory/replica.h"
#include "plan/inline.h"

/* Rates of the host for each worker: rather too good than too bad, for then less goes to devices.  Memory serves no more than
 * so many workers.  What the last-level cache holds is read faster. */
static const double HOST_MEMORY = 12e9, HOST_OPERATIONS = 16e9, HOST_STEP = 1e-6;
enum { HOST_SERVED = 24, HOST_CACHED = 3 };
/* Of a device: a kernel after another one in its queue; to hand over a task, and to see its end; a copy of few bytes. */
static const double DEVICE_KERNEL = 3e-6, DEVICE_TASK = 15e-6, DEVICE_COPY = 15e-6;
enum { KERNELS_OF_REDUCTION = 3 };
/* Seconds to open a device (the driver's initialisation, a context), and to compile a loop for it. */
static const double OPENING = 0.3, COMPILE = 0.03;
/* Of a device that nobody has opened yet. */
static const lgt_rates USUAL = {.memory = 1e12, .operations = 2e12, .bus = 12e9};
static const double ALLOWANCE = 0.1;
/* Of late groups' time, in which a group counts for LASTS as much as the next one. */
static const double NEARLY_ALL = 0.9, LASTS = 0.9;

static const char *const TOO_SMALL = "a device would not be faster";
static const char *const TOO_FAR = "the copies would cost more than a device saves";
static const char *const NO_CREDIT = "the program has not run long enough to pay for the copies";
static const char *const NO_CODE = "its code for devices is being compiled";

void lgt_side_begin(lgt_binder *binder, double credit, uint64_t jitter) {
  binder->side =
      (lgt_side){.by_estimate = true, .unopened = true, .credit = credit, .missed = credit, .jitter = jitter};
}

void lgt_side_opened(lgt_binder *binder, bool some) {
  lgt_side *side = &binder->side;
  side->unopened = side->wanted = false;
  side->by_estimate = some;
  side->stage++;
  if (some) side->credit -= OPENING;
}

/* Where sides are drawn, this is, too. */
bool lgt_side_devices(lgt_binder *binder) {
  lgt_side *side = &binder->side;
  if (!side->by_estimate || side->unopened) return !side->by_estimate;
  if (side->jitter) return lgt_random_choice(&side->jitter);
  return side->there > 0 && side->there >= NEARLY_ALL * side->recent;
}

/* ---- estimates ------------------------------------------------------------------------------------------- */

static const lgt_rates *device_rates(const lgt_binder *binder) {
  return binder->side.unopened ? &USUAL : &binder->map->memory[1].device->traits.rates;
}

/* The part of a group's work that is this rank's. */
static double share(const lgt_attempt *try) {
  const lgt_map *map = try->binder->map;
  if (try->group->launch->kind == LGT_PARTITION_NONE) return 1;
  return (double)map->local / map->domains;
}

/* Operations of a loop with numbers of 8 bytes.  Of shorter ones as many more are done at a time. */
static double operations(const lgt_plan_loop *loop) {
  const lgt_loop *code = loop->kernel->loop;
  double n = 0;
  for (int i = 0; i < code->ninst; i++) n += lgt_inline_work(&code->inst[i]);
  for (int d = 0; d < loop->space_ndim; d++) n *= (double)loop->extent[d];
  return n;
}

/* What calls of C take is not known: at least as long as to read and write their arguments. */
static double call_bytes(const lgt_attempt *try, const lgt_plan_loop *loop) {
  double bytes = 0;
  for (int i = 0; i < loop->nnative; i++)
    for (int a = 0; a < loop->native[i].kind->nargs; a++)
      bytes += (double)lgt_layout_bytes(lgt_layout_at(try->binder->stores, loop->native[i].access[a].layout));
  return bytes;
}

static void estimate(const lgt_attempt *try, lgt_plan_notes *notes) {
  const lgt_binder *binder = try->binder;
  const lgt_rates *device = device_rates(binder);
  double part = share(try);
  int workers = lgt_exec_cpus(binder->exec), served = workers < HOST_SERVED ? workers : HOST_SERVED;
  notes->on.host = 0;
  notes->on.device = DEVICE_TASK;
  for (int l = 0; l < try->group->nloop; l++) {
    const lgt_plan_loop *loop = &try->group->loop[l];
    double bytes = part * (double)loop->bytes + part * call_bytes(try, loop),
           work = loop->kernel ? part * operations(loop) : 0;
    double memory = HOST_MEMORY * served * (bytes < (double)binder->fuser->cache_bytes ? HOST_CACHED : 1);
    notes->on.host += HOST_STEP + fmax(bytes / memory, work / (HOST_OPERATIONS * workers));
    notes->on.device += DEVICE_KERNEL * (loop->shape.partial ? KERNELS_OF_REDUCTION : 1) +
                        fmax(bytes / device->memory, work / device->operations);
  }
  notes->estimated = binder->side.stage + 1;
}

/* The bytes of an instance that has all that the replica has, on the host or beside it; 0: there is none. */
static double held(const lgt_replica *replica, bool host) {
  if (!replica->inst) return 0;
  for (int k = -1; k < replica->naside; k++) {
    const lgt_instance *inst = k < 0 ? replica->inst : replica->aside[k].inst;
    if (lgt_instance_on_host(inst) == host && !(k < 0 ? &replica->old : &replica->aside[k].old)->count)
      return (double)(inst->elem * lgt_rect_size(&inst->rect));
  }
  return 0;
}

/* Copies that each side would have to wait for, in seconds. */
static void find_copies(lgt_attempt *try) {
  const lgt_map *map = try->binder->map;
  double bus = device_rates(try->binder)->bus;
  lgt_estimate *e = &try->estimate;
  for (int s = 0; s < try->group->nslot; s++) {
    const lgt_plan_slot *slot = &try->group->slot[s];
    const lgt_store *store = slot->initial && !slot->defined ? lgt_attempt_store(try, slot->root) : NULL;
    for (int d = 0; store && store->replica && d < map->local; d++) {
      double here = held(&store->replica[d], true), there = held(&store->replica[d], false);
      if (here > 0 && !(there > 0)) e->up += DEVICE_COPY + here / bus;
      if (there > 0 && !(here > 0)) e->down += DEVICE_COPY + there / bus;
    }
  }
}

/* Seconds that it takes to bring back what devices hold, and what the group would leave there besides. */
static double return_of_all(const lgt_attempt *try) {
  const lgt_map *map = try->binder->map;
  const lgt_plan_group *group = try->group;
  double bytes = 0;
  for (int m = 1; m < map->nmemory; m++)
    bytes += (double)(map->memory[m].pool->limit - lgt_pool_left(map->memory[m].pool));
  for (int f = 0; f < group->nfinal; f++) {
    const lgt_plan_slot *slot = &group->slot[group->slot_of_final[2 * f + 1]];
    const lgt_store *store = slot->initial ? lgt_attempt_store(try, slot->root) : NULL;
    bool there = store && store->replica && held(&store->replica[0], false) > 0;
    if (!there)
      bytes += share(try) * (double)lgt_layout_bytes(lgt_layout_at(try->binder->stores, slot->layout));
  }
  return bytes / device_rates(try->binder)->bus;
}

/* ---- the choice -------------------------------------------------------------------------------------------- */

/* Loops of the group for which devices have no code yet; -1: and cannot get any. */
static int count_cold(const lgt_attempt *try) {
  int cold = 0;
  for (int l = 0; l < try->group->nloop; l++) {
    lgt_kernel_state state = lgt_kernel_state_on_targets(try->group->loop[l].kernel);
    if (state == LGT_KERNEL_FAILED) return -1;
    cold += state != LGT_KERNEL_READY;
  }
  return cold;
}

/* Compile for devices, while the host goes on. */
static void prepare(const lgt_attempt *try) {
  for (int l = 0; l < try->group->nloop; l++)
    lgt_kernel_prepare(try->binder->fuser->kernels, try->group->loop[l].kernel);
}

const char *lgt_side_choose(lgt_attempt *try) {
  lgt_side *side = &try->binder->side;
  lgt_plan_notes *notes = try->group->notes, *lasting = lgt_plan_group_lasting(try->group)->notes;
  if (notes->estimated != side->stage + 1) estimate(try, notes);
  lgt_estimate *e = &try->estimate;
  *e = (lgt_estimate){.host = notes->on.host, .device = notes->on.device};
  find_copies(try);
  if (side->jitter) return lgt_random_choice(&side->jitter) ? NULL : "so it was drawn";
  double gain = e->host + e->down - e->device - e->up;
  if (e->device >= e->host && gain <= 0) return TOO_SMALL;
  if (gain <= 0 && lasting->missed < ldexp(-gain, lasting->moves)) return TOO_FAR;
  double credit = side->credit + e->host - e->device - e->up - return_of_all(try);
  if (credit < 0) return NO_CREDIT;
  int cold = count_cold(try);
  double wait = cold * COMPILE;
  if (cold <= 0 || (gain > wait && credit > wait)) return e->wait = cold > 0 ? wait : 0, NULL;
  prepare(try);
  return count_cold(try) == 0 ? NULL : NO_CODE;
}

/* ---- what came of it ------------------------------------------------------------------------------------------- */

/* Copies between the host and devices since this was done last. */
static double new_copies(lgt_binder *binder) {
  const lgt_map *map = binder->map;
  lgt_side *side = &binder->side;
  int64_t count = map->uploads + map->downloads, bytes = map->up_bytes + map->down_bytes;
  double seconds = DEVICE_COPY * (double)(count - side->copies) +
                   (double)(bytes - side->bytes) / device_rates(binder)->bus;
  side->copies = count;
  side->bytes = bytes;
  return seconds;
}

/* No device is open yet. */
static void count_unopened(lgt_attempt *try) {
  lgt_side *side = &try->binder->side;
  lgt_plan_notes *notes = try->group->notes;
  if (notes->estimated != side->stage + 1) estimate(try, notes);
  side->credit += ALLOWANCE * notes->on.host;
  if (!try->group->nnative && notes->on.host > notes->on.device)
    side->missed += notes->on.host - notes->on.device;
  side->wanted = side->jitter || (side->credit >= OPENING && side->missed >= OPENING);
}

void lgt_side_count(lgt_attempt *try) {
  lgt_side *side = &try->binder->side;
  lgt_plan_notes *notes = lgt_plan_group_lasting(try->group)->notes;
  const lgt_estimate *e = &try->estimate;
  if (!side->by_estimate || try->source) return;
  notes->chosen = *e;
  notes->alone = side->unopened;
  if (side->unopened) return count_unopened(try);
  if (try->group->notes->estimated != side->stage + 1) estimate(try, try->group->notes);
  double host = try->group->notes->on.host;
  side->credit += ALLOWANCE * host - new_copies(try->binder);
  side->recent = LASTS * side->recent + e->host;
  side->there = LASTS * side->there + (try->host ? 0 : e->host);
  if (try->host) {
    notes->missed += e->host > e->device ? e->host - e->device : 0;
    return;
  }
  side->credit += host - e->device - e->wait;
  if (e->up > 0 && notes->moves < LGT_MOST_MOVES) notes->moves++;
  else if (!(e->up > 0)) notes->moves = 0;
  notes->missed = 0;
}
