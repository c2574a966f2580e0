/* weave.h - from the calls of one group to loops: kernel fusion.
 *
 * Weaving places each call's body into a loop, in program order, as early as its dependences allow:
 * a value read through the same view it was written through joins the writer's loop and travels in
 * a register; any other dependence puts the reader into a later loop.  Loops run one after another
 * with a barrier between them, and merge only calls over the same space.
 *
 * (What a later loop needs, and could as well compute itself, goes there at the end: sink.h.)  Two transformations keep data
 * dependences from costing passes over memory:
 *
 *   renaming    A write that would have to wait for readers of the old contents goes to new memory
 *               instead, as registers are renamed in a processor, when the write covers most of its root.
 *               The *rest*, the elements that are not written, is copied: by an item of the group, but with several
 *               colours when the group is bound, for each colour's memory has a rest of its own.  An in-place
 *               stencil becomes one pass.  Versions take turns in two memories, so that from the third on the rest
 *               mostly is there.
 *               A write of all of a root that the group has read is renamed, too, because elided results may have to
 *               be computed from the old contents.  If no recipe needs the old contents when the group runs, the new
 *               memory is the old memory.
 *   forwarding  A copy of a whole array is not made: readers of the copy read the original's memory, and
 *               the next write of the original is renamed.
 *
 * With one memory a new array may be written over one of the same layout that the group only reads, and has read by then: if
 * that is garbage when the group runs, their memory is one (`takes`), else the new array has memory of its own (attempt.c).
 * Among several domains a renamed array may be written over its former contents so, where no recipe needs them.
 *
 * A call of a CPU variant *by rows* (lgt.h), such as a sparse matrix times a vector, joins loops over its rows: for
 * each block of rows the call writes its results into the array, if they are needed there, else into a block of memory
 * that stays in the cache, and the loop's kernel loads them from there.  Later calls use the results as they use those of
 * any other call.  In a loop all such calls run before the kernel, on any rows.  Therefore an array that such a call reads
 * must be written in an earlier loop, and one that it reads at any place (x, in A x) may be overwritten only in a later
 * loop.
 *
 * A *buffer* is one version of a root's contents; most live in registers only.  A *slot*
 * (fuse.h) is memory; buffers whose lives do not meet share one.
 */
#ifndef LGT_WEAVE_H
#define LGT_WEAVE_H

#include "plan/fuse.h"

typedef struct lgt_weave_item {
  const lgt_kind *kind;
  uint16_t call; /* of the plan; LGT_NONE for copies that renaming makes */
  uint8_t nargs;
  uint16_t in[LGT_MAX_ARGS];  /* the buffer that the argument reads; LGT_NONE: none */
  uint16_t out[LGT_MAX_ARGS]; /* the buffer that it writes or reduces into; LGT_NONE: none */
  uint32_t layout[LGT_MAX_ARGS];
  uint16_t loop;         /* the loop it was placed in; LGT_NONE: none (a forwarded copy) */
  uint16_t cause;        /* a copy that renaming makes: the call whose write was renamed */
  uint8_t cause_arg;     /* and the argument of that write; 0xff: all of the root is copied */
  uint8_t piece, pieces; /* of how many pieces of the rest the copy copies which one */
  bool there;            /* what it would copy is in that memory already, from the version before: it is not run */
  uint16_t lasts;        /* bits of arguments whose contents stay in memory until the group ends */
  uint16_t pins;         /* bits of those among them whose contents recipes read there */
  uint16_t whole;        /* bits of arguments through which all of a root is overwritten */
} lgt_weave_item;

typedef struct lgt_weave_buffer {
  uint16_t root;
  uint8_t part;       /* of the root, as of calls */
  bool initial;       /* the root's contents as the group begins */
  bool loaded;        /* some loop loads it from memory */
  bool final;         /* the last version of a root that is stored, or that existed before the group */
  uint16_t rest;      /* the buffer that has this one's rest, the elements that are not written; LGT_NONE: none */
  uint16_t rest_call; /* the call whose write is not part of the rest */
  uint8_t rest_arg;   /* and the argument of that write; 0xff: the rest is everything */
  uint16_t takes;     /* the initial buffer that it may be written over; LGT_NONE: none */
  uint16_t writers;   /* items that write it */
  uint16_t last_writer;
  uint16_t slot;  /* LGT_NONE: registers only */
  bool versions;  /* rescues compute its versions again, up to the one that they read */
  uint16_t saved; /* the slot of the former contents from which they do so; LGT_NONE: none are needed */
  uint16_t first_loop, last_loop;
} lgt_weave_buffer;

typedef struct lgt_weave_items {
  lgt_weave_item *item; /* owned */
  int nitem, item_room;
  lgt_weave_buffer *buffer; /* owned */
  int nbuffer, buffer_room;
} lgt_weave_items;
void lgt_weave_items_free(lgt_weave_items *items);

/* weave_log.c: say what was woven, for LGT_DEBUG=weave:3. */
void lgt_weave_log(const lgt_plan_group *group);

/* Fill in the group's slots, loops, finals and elided results.  `needed` says for each call of the group
 * whether the call has to run at all. */
lgt_status lgt_weave(lgt_fuser *fuser, lgt_plan_group *group, const bool *needed);
void lgt_plan_group_fini(lgt_plan_group *group);
/* Of a group with so many elided results; the notes themselves are the caller's. */
void lgt_plan_notes_fini(lgt_plan_notes *notes, int nelided);

/* ---- between weave.c, place.c, assemble.c, recipes.c and shift.c -------------------------------------------- */

/* A loop in the making. */
typedef struct lgt_weave_loop {
  int ndim;
  int64_t extent[LGT_MAX_DIM];
  const lgt_partition *launch;
  bool reduces;
  unsigned kept;      /* reductions: space dimensions along which the targets move */
  int inner;          /* reductions: the dimension that is walked innermost; -1: any */
  int ninst, naccess; /* upper bounds */
  int nstream;        /* large arrays */
  bool alone;         /* it has a call of a CPU variant that no other call may join */
  bool by_rows;       /* it has calls of CPU variants by rows */
} lgt_weave_loop;

typedef struct lgt_weaver {
  lgt_fuser *fuser;
  lgt_plan_group *group;
  const lgt_plan *plan;
  lgt_weave_items *items;
  lgt_weave_loop *loop; /* owned */
  int nloop, loop_room;
} lgt_weaver;

/* Strides of an argument along the dimensions of the space that the argument is aligned with. */
typedef struct lgt_signature {
  int64_t offset, stride[LGT_MAX_DIM];
} lgt_signature;
lgt_signature lgt_signature_of(const lgt_layout *layout, const lgt_alignment *align);
static inline bool lgt_signature_equal(const lgt_signature *a, const lgt_signature *b) {
  return !__builtin_memcmp(a, b, sizeof *a);
}
/* Does each of two arguments, whose spaces have the same extents, name one element of their root at each point, both the same? */
bool lgt_pointwise(const lgt_layout *layout, const lgt_alignment *align, const lgt_layout *other, const lgt_alignment *its);
static inline const lgt_layout *lgt_weaver_layout(const lgt_weaver *weaver, uint32_t number) {
  return lgt_layout_at(weaver->fuser->stores, number);
}
/* The place of an item in the program; a copy made for a call's sake comes before it. */
static inline int lgt_item_order(const lgt_weave_item *item) {
  return item->call == LGT_NONE ? 2 * item->cause : 2 * item->call + 1;
}
/* The alignment of an item's argument; synthetic copies align one to one. */
lgt_alignment lgt_item_align(const lgt_weaver *weaver, const lgt_weave_item *item, int arg);

/* The space that an item is placed over. */
void lgt_item_space(const lgt_weaver *weaver, const lgt_weave_item *item, int *ndim, int64_t *extent);
/* Of a reduction: bits of the dimensions along which its targets move (kept), and the dimension that it walks innermost
 * (-1: any). */
unsigned lgt_item_kept(const lgt_weaver *weaver, const lgt_weave_item *item, int ndim);
int lgt_item_innermost(const lgt_weaver *weaver, const lgt_weave_item *item, int ndim, const int64_t *extent, unsigned kept);
static inline bool lgt_item_reduces(const lgt_weave_item *item, int arg) { return item->kind->privilege[arg] & LGT_PRIV_REDUCE; }
/* The launch partition of an item; that of the group for synthetic copies. */
const lgt_partition *lgt_item_launch(const lgt_weaver *weaver, const lgt_weave_item *item);
bool lgt_same_space(int andim, const int64_t *a, int bndim, const int64_t *b);

/* place.c.  The earliest loop for `item`, argument `arg`, given what an earlier item does to the same buffer
 * through its argument `other`.  `ordered`: the earlier access is a reduction or a CPU variant's, so
 * not even agreeing accesses may share its loop. */
int lgt_weave_after(const lgt_weaver *weaver, const lgt_weave_item *item, int arg, const lgt_weave_item *earlier, int other,
                    bool ordered);
/* The earliest loop for `item` that the dependences of its argument `arg` on all earlier items allow. */
int lgt_weave_earliest(const lgt_weaver *weaver, const lgt_weave_item *item, int arg, uint16_t buffer, bool writes);
/* Put the item into the first loop with a number of at least `from` that takes it. */
lgt_status lgt_weave_place(lgt_weaver *weaver, lgt_weave_item *item, int from);
/* Does a loop take the item, wherever else it may have to be?  If so: it joins that loop. */
bool lgt_weave_fits(const lgt_weaver *weaver, const lgt_weave_item *item, int loop);
void lgt_weave_join(lgt_weaver *weaver, lgt_weave_item *item, int loop);
/* Items have gone to other loops: note for each buffer the loops that it is needed in. */
void lgt_weave_note_loops(lgt_weaver *weaver);

/* The rest of a root: the elements that the view `written` (NULL: none) does not overwrite.  Returns the number of pieces. */
int lgt_weave_rest(const lgt_layout *root, const lgt_layout *written, lgt_rect piece[2 * LGT_MAX_DIM]);
/* Slots were chosen.  Is what the item, a copy of a piece of the rest, would copy in that memory already?  It is if the memory
 * had the version before the one that is copied from, that one has this piece from there, and neither changed it since. */
bool lgt_weave_is_there(const lgt_weaver *weaver, const lgt_weave_item *item);
/* The layout of one piece of a root; 0 when out of memory. */
uint32_t lgt_weave_piece(lgt_stores *stores, uint32_t root, const lgt_rect *piece);

/* Add a buffer, an item, a slot.  Buffers and slots are returned by number; -1 or NULL when out of memory. */
int lgt_weave_new_buffer(lgt_weaver *weaver, uint16_t root, bool initial);
lgt_weave_item *lgt_weave_new_item(lgt_weaver *weaver);
int lgt_weave_add_slot(lgt_plan_group *group, lgt_plan_slot slot);
/* The buffer's slot has its rest, if it has one, from the slot of the buffer that holds that. */
void lgt_weave_note_rest(const lgt_weave_items *items, const lgt_weave_buffer *buffer, lgt_plan_group *group);

/* Build all loops of the group, twice.  `scan` finds which buffers are loaded from memory; then slots are chosen; `build`
 * makes the code. */
lgt_status lgt_assemble_scan(lgt_weaver *weaver);
lgt_status lgt_assemble_build(lgt_weaver *weaver);

#endif
