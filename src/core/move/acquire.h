/* acquire.h - memory of a local domain that covers some elements of a store, and may be used as asked.
 *
 * A domain's instance of a store grows when more of it is wanted, or has one beside it when what is wanted is far away
 * (replica.h).  Memory that other stores share, or that a recipe refers to, is not written: the store parts from it.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_ACQUIRE_H
#define LGT_ACQUIRE_H

#include "move/binder.h"

/* What happens to the elements of an instance that is acquired. */
typedef enum lgt_use {
  LGT_USE_READ,
  LGT_USE_RECEIVE, /* they come from elsewhere, where this store may have been written */
  LGT_USE_WRITE
} lgt_use;
/* Copy what another instance of the domain has newer of a rect, but for what is to spare (NULL: nothing). */
lgt_status lgt_acquire_refresh(lgt_binder *binder, lgt_replica *replica, lgt_instance *inst,
                               const lgt_rect *rect, const lgt_rect *spare);
/* The local domain's main instance is in `memory` and covers `rect` afterwards, and may be used so.  `spare`: elements that need not be kept,
 * for they are about to be overwritten; NULL: none. */
lgt_status lgt_acquire(lgt_binder *binder, lgt_store *store, int domain, lgt_memory *memory, const lgt_rect *rect, lgt_use use,
                       const lgt_rect *spare);

/* What devices hold goes to the host's memory, as far as nobody works on it.  Waits. */
lgt_status lgt_acquire_evict(lgt_binder *binder);

#endif
