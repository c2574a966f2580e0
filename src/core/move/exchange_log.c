/* exchange_log.c - what domains work on, what moves for that, and what they hold then: LGT_DEBUG=map:3 and move:3.
 *
 * Arrays have the numbers of their stores.  What domains work on and hold is for tests, which work out by themselves what
 * has to move and has to be held (tests/net/moves.py).  An instance with a * is one that other arrays have, too.
 */
#include "move/exchange.h"

#include <stdio.h>

#include "memory/replica.h"

void lgt_exchange_log_calls(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  for (int i = group->first; i < group->first + group->count; i++) {
    const lgt_plan_call *call = &group->plan->call[i];
    char text[2048] = " everywhere", arrays[16 * LGT_MAX_ARGS] = "";
    int used = 0;
    for (int a = 0; a < call->nargs; a++)
      used +=
          snprintf(arrays + used, sizeof arrays - (size_t)used, "%s%u", a ? "," : "", root[call->root[a]]);
    used = 0;
    for (int c = 0; call->launch->ncolour > 1 || call->launch->kind == LGT_PARTITION_TILING; c++) {
      if (c == call->launch->ncolour || used > (int)sizeof text - 160) break;
      lgt_rect tile = lgt_partition_rect(call->launch, c);
      used += snprintf(text + used, sizeof text - (size_t)used, " %d",
                       lgt_partition_domain(call->launch, binder->map->domains, c));
      for (int d = 0; d < tile.ndim; d++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld:%lld", d ? "," : "@",
                         (long long)tile.lo[d], (long long)tile.hi[d]);
    }
    lgt_log_print(LGT_LOG_MAP, "exchange %llx, %s(%s):%s", (unsigned long long)binder->agreed.exchanges,
                  call->kind->name, arrays, text);
  }
}

static int put_instance(char *text, size_t room, int domain, const lgt_instance *inst) {
  int used = inst ? snprintf(text, room, " %d", domain) : 0;
  for (int d = 0; inst && d < inst->rect.ndim; d++)
    used += snprintf(text + used, room - (size_t)used, "%s%lld:%lld", d ? "," : "@",
                     (long long)inst->rect.lo[d], (long long)inst->rect.hi[d]);
  return used + (inst && inst->owners > 1 ? snprintf(text + used, room - (size_t)used, "*") : 0);
}

void lgt_exchange_log_instances(const lgt_exchange *x, const lgt_store *store) {
  enum { LINE = 200 };
  const lgt_map *map = x->binder->map;
  char text[4096] = "";
  int used = 0;
  for (int d = 0; d < map->local; d++)
    for (int k = -1; k < store->replica[d].naside && used < (int)sizeof text - LINE; k++)
      used += put_instance(text + used, sizeof text - (size_t)used, map->first + d,
                           k < 0 ? store->replica[d].inst : store->replica[d].aside[k].inst);
  lgt_log_print(LGT_LOG_MAP, "exchange %llx holds of array %u:%s",
                (unsigned long long)x->binder->agreed.exchanges, store->id, text);
}

void lgt_exchange_log_moves(const lgt_exchange *x) {
  const lgt_binder *binder = x->binder;
  for (int i = 0; i < binder->nmove; i++) {
    const lgt_move *move = &binder->move[i];
    char text[400] = "", to[30] = "everybody";
    int used = 0;
    for (int k = move->first; k < move->first + move->count && used < (int)sizeof text - 120; k++) {
      const lgt_piece *piece = &binder->pieces.piece[k];
      used += snprintf(text + used, sizeof text - (size_t)used, " [");
      for (int d = 0; d < piece->rect.ndim; d++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld:%lld", d ? ", " : "",
                         (long long)piece->rect.lo[d], (long long)piece->rect.hi[d]);
      used += snprintf(text + used, sizeof text - (size_t)used, "]%s of domain %d",
                       piece->runs ? " in runs" : "", piece->from);
    }
    if (move->to != LGT_NOBODY) snprintf(to, sizeof to, "domain %d", move->to);
    lgt_log_print(LGT_LOG_MOVE, "exchange %llx, array %u to %s, %s%s:%s",
                  (unsigned long long)binder->agreed.exchanges, x->store[move->root]->id, to,
                  move->peer < 0 ? "here"
                  : move->sends  ? "by a message"
                                 : "from a message",
                  move->early ? ", before the others" : "", text);
  }
}
