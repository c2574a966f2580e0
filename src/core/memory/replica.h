/* replica.h - the instances that a domain has of a store, and which of them has what.
 *
 * Mostly there is one: a tile and its halo lie in one piece of memory.  Elements that a domain needs from far away
 * (columns of an array whose rows it owns, say) would make that piece as large as everything between, so they get an
 * instance of their own.  The *main* instance is the one that is worked with now: acquiring elements makes an instance
 * the main one; elements that come from other domains, and elements that are written, go there.  The other instances are
 * put aside: *asides*.
 *
 * An element may be in several instances.  The region `old` of an instance has the elements for which another instance
 * of the replica has newer ones.  Whether the domain has the newest elements at all, only the history says (coherence.h):
 * an element that is old in no instance of this domain may still be older than that of another domain.
 *
 * All of this is local to a rank.  Belongs to the submitting thread.
 */
#ifndef LGT_REPLICA_H
#define LGT_REPLICA_H

#include "memory/map.h"

enum { LGT_REPLICA_MAIN = -1, LGT_REPLICA_NEW = -2 };

/* Which instance to work with for a rect in a memory: LGT_REPLICA_MAIN, the number of an aside, or LGT_REPLICA_NEW.  The
 * chosen instance may have to grow; *waste of its elements will then be ones that were never asked for. */
int lgt_replica_choose(const lgt_replica *replica, const lgt_memory *memory, const lgt_rect *rect, int64_t *waste);
/* Aside number k becomes the main instance, and the main instance an aside. */
void lgt_replica_turn(lgt_replica *replica, int k);
/* `inst` becomes the main instance (takes over a reference); the former one is put aside.  False when out of memory. */
bool lgt_replica_add(lgt_map *map, lgt_replica *replica, lgt_instance *inst);
/* The caller has replaced the main instance by one that has the former one's elements of `had` (NULL: none of them).
 * False when out of memory. */
bool lgt_replica_changed(lgt_replica *replica, const lgt_rect *had);

/* Has any instance memory for an element of a rect? */
bool lgt_replica_meets(const lgt_replica *replica, const lgt_rect *rect);
/* An instance that has all of a rect, with no element of it old; NULL: there is none. */
lgt_instance *lgt_replica_holder(const lgt_replica *replica, const lgt_rect *rect);
/* Append to `found` the pieces of instances where the newest elements of the region `want` are, and take these elements
 * out of the region.  False when out of memory. */
bool lgt_replica_find(const lgt_replica *replica, lgt_region *want, lgt_pieces *found);

/* The elements of an instance for which another instance has newer ones; NULL: the replica has no such instance. */
lgt_region *lgt_replica_old(lgt_replica *replica, const lgt_instance *inst);
/* From now on `inst` alone has the newest elements of a rect; NULL: no instance has.  False when out of memory. */
bool lgt_replica_written(lgt_replica *replica, const lgt_instance *inst, const lgt_rect *rect);
/* Drop aside number k. */
void lgt_replica_drop(lgt_map *map, lgt_replica *replica, int k);
/* Drop each aside that is old as a whole, or all of whose newest elements the main instance has, too. */
void lgt_replica_tidy(lgt_map *map, lgt_replica *replica);
/* Drop all asides: the main instance has every element that matters. */
void lgt_replica_drop_asides(lgt_map *map, lgt_replica *replica);

#endif
