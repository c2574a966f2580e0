/* agree.c - see agree.h. */
#include "move/agree.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "move/poison.h"

enum { RANK_BITS = 20, PLACE = 8191, REASON = 62, TEXT = 1000 };

/* What is folded, each the least of all ranks'. */
typedef struct ballot {
  int64_t failure;       /* position and rank of one; INT64_MAX: none */
  int64_t stream, again; /* a hash, and its complement: their sum is -1 if all have the same */
  int64_t search;        /* less than 0: so many launches are wished for while what repeats is searched */
} ballot;

typedef struct reason {
  lgt_status status;
  char text[TEXT];
} reason;

void lgt_agree_note(lgt_binder *binder, const lgt_operation *operation) {
  if (!binder->peers) return;
  binder->agreed.stream = lgt_hash_mix(binder->agreed.stream, operation->token);
  binder->peers->note(binder->peers, operation);
}

static bool never(void *context) {
  (void)context;
  return false;
}

static ballot vote(lgt_binder *binder, int64_t failure) {
  int64_t stream = (int64_t)(binder->agreed.stream >> 1);
  ballot mine = {failure, stream, ~stream, -binder->search_wish};
  binder->agreed.exchanges++;
  lgt_message_least(binder, lgt_message_tag(binder, PLACE, LGT_MESSAGE_FOLDS), &mine.failure,
                    sizeof mine / sizeof mine.failure);
  binder->agreed.search = -mine.search;
  if (mine.stream != ~mine.again) /* the hub will find out where, and end the run */
    binder->peers->until(binder->peers, never, NULL, "for ranks that have launched something else");
  return mine;
}

static int64_t key_of(const lgt_binder *binder, int64_t position) {
  return (position + 1) << RANK_BITS | binder->peers->rank;
}

/* What a domain had no memory for, others have, and it may ask again.  Not what was to become the domain's own, which is lost:
 * that stays absent.  False when out of memory. */
static bool forget_absent(const lgt_binder *binder, const lgt_store *store, int domain) {
  lgt_region *absent = &store->replica[domain].absent;
  lgt_pieces others = {0};
  bool good = true;
  if (!store->history) return lgt_region_clear(absent), true;
  for (int i = 0; i < absent->count && good; i++)
    good = lgt_history_lacks(store->history, &binder->map->footprints, NULL, binder->map->first + domain,
                             &absent->rect[i], &others);
  for (int i = 0; i < others.count && good; i++) good = lgt_region_remove(absent, &others.piece[i].rect);
  lgt_mem_free(others.piece);
  return good;
}

lgt_status lgt_agree(lgt_binder *binder, lgt_status status, int64_t position) {
  if (!binder->peers) return status;
  reason why = {.status = status};
  if (status) snprintf(why.text, sizeof why.text, "%s", lgt_message());
  if (status == LGT_INTERRUPTED) position = -1;
  ballot all = vote(binder, status ? key_of(binder, position) : INT64_MAX);
  if (all.failure == INT64_MAX) return LGT_OK;
  if (all.failure >> RANK_BITS == LGT_POSITION_UNKNOWN + 1) {
    /* Who looks has it from somebody who has not looked at what failed there: what did? */
    const lgt_failure *cause = binder->unreported ? binder->unreported : binder->reported;
    if (cause && cause->position != LGT_POSITION_UNKNOWN) {
      why.status = cause->status;
      snprintf(why.text, sizeof why.text, "%s", cause->message);
      position = cause->position;
    } else if (status) position = LGT_POSITION_UNKNOWN;
    all = vote(binder, why.status ? key_of(binder, position) : INT64_MAX);
  }
  int rank = (int)(all.failure & ((1 << RANK_BITS) - 1));
  lgt_message_tell(binder, lgt_message_tag(binder, PLACE, REASON), rank, &why, sizeof why);
  /* Copies that did not come to be on some rank are fetched again when they are next wanted. */
  for (uint32_t i = 1; i < binder->stores->nstore; i++) {
    lgt_store *store = lgt_store_at(binder->stores, i);
    if (store->history && !lgt_history_forget_reads(&binder->map->histories, &store->history))
      binder->peers->abort(binder->peers, "out of memory for what becomes of an array");
    for (int d = 0; d < binder->map->local && store->replica; d++)
      if (store->replica[d].absent.count && !forget_absent(binder, store, d))
        binder->peers->abort(binder->peers, "out of memory for what becomes of an array");
  }
  /* Each rank may have failed in its own way, and need not have what the script looked at. */
  const lgt_failure *own = binder->unreported;
  bool same = own && own->status == why.status && own->position != LGT_POSITION_UNKNOWN &&
              own->position == (all.failure >> RANK_BITS) - 1;
  bool lost = own && own->status == LGT_DEVICE_LOST && why.status == LGT_DEVICE_LOST;
  if (own && (same || lost || !strcmp(own->message, why.text))) lgt_poison_reported(binder);
  return lgt_err(why.status, "%s", why.text);
}
