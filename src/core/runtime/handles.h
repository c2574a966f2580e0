/* handles.h - the handles of arrays: which are in use, and the stores behind them. */
#ifndef LGT_HANDLES_H
#define LGT_HANDLES_H

#include "runtime/runtime.h"

/* Handles that a binding wants to remain free, so that it need not ask before each launch. */
enum { LGT_SPARE_HANDLES = 16 };

/* Is the handle in use? */
lgt_status lgt_handle_check(lgt_runtime *rt, lgt_id array);
/* The store behind a handle, made if it has none yet. */
lgt_status lgt_handle_store(lgt_runtime *rt, lgt_id array, lgt_store **out);
/* So many handles can be taken. */
lgt_status lgt_handle_reserve(lgt_runtime *rt, int count);
/* A free handle; 0 with a message if there is none. */
lgt_id lgt_handle_take(lgt_runtime *rt);
/* The handle is no longer used; with the last one of a store goes what the store owns. */
void lgt_handle_drop(lgt_runtime *rt, lgt_id array);

#endif
