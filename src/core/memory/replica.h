/* replica.h - the instances that a domain has of a store, and which of them has what.
 *
 * Mostly it is one: a tile and its halo lie in one piece of memory.  What a domain needs from far away (columns of an
 * array whose rows it owns, say) would make that piece as large as everything between, so it gets a piece of its own.
 * The *main* instance is the one that is worked with now: who acquires elements makes it so, what comes from other
 * domains goes there, and what is written is written there.  The others are *put aside*.
 *
 * An element may be in several instances.  `old` says of each for which elements another one has newer ones.  That a
 * domain has an element at all is for the history to say (coherence.h): what is not old here may be old there.
 *
 * All of this is local to a rank.  Belongs to the submitting thread.
 */
#ifndef LGT_REPLICA_H
#define LGT_REPLICA_H

#include "memory/map.h"

enum { LGT_REPLICA_MAIN = -1, LGT_REPLICA_NEW = -2 };

/* What to work with for a rect in a memory: the main instance, number n of those put aside, or a new one.  It may have to grow, and
 * then *waste of its elements are what nobody has asked for. */
int lgt_replica_choose(const lgt_replica *replica, const lgt_memory *memory, const lgt_rect *rect, int64_t *waste);
/* Number k becomes the main one. */
void lgt_replica_turn(lgt_replica *replica, int k);
/* `inst` becomes the main one (takes over a reference), beside what there is.  False when out of memory. */
bool lgt_replica_add(lgt_map *map, lgt_replica *replica, lgt_instance *inst);
/* The main instance is another one than before, with what the one before it had in `had` (NULL: nothing).  False when
 * out of memory. */
bool lgt_replica_changed(lgt_replica *replica, const lgt_rect *had);

/* An instance with all of a rect, none of it old; NULL: there is none. */
lgt_instance *lgt_replica_holder(const lgt_replica *replica, const lgt_rect *rect);
/* Append where the newest elements of a region are, as pieces in instances, and take those out of it.  False when out of memory. */
bool lgt_replica_find(const lgt_replica *replica, lgt_region *want, lgt_pieces *found);

/* What of an instance another one has newer; NULL: it is none of the replica's. */
lgt_region *lgt_replica_old(lgt_replica *replica, const lgt_instance *inst);
/* The instance has the newest elements of a rect; NULL: none has.  False when out of memory. */
bool lgt_replica_written(lgt_replica *replica, const lgt_instance *inst, const lgt_rect *rect);
/* Drop number k of those put aside; those of which nothing is new, or all is in the main one. */
void lgt_replica_drop(lgt_map *map, lgt_replica *replica, int k);
void lgt_replica_tidy(lgt_map *map, lgt_replica *replica);
/* All that matters is in the main one. */
void lgt_replica_drop_asides(lgt_map *map, lgt_replica *replica);

#endif
