/* window.h - recorded launches in program order, and their canonical form.
 *
 * The window takes launches from the front (the ring that Lua fills), resolves their handles to
 * stores, and keeps them until the flush has dealt with them.  Each resolved call holds a reference
 * on its stores, so that a handle may die as soon as its launch is in the window.
 *
 * The *canonical form* of the first n calls is a string of words that tells everything planning
 * depends on and nothing else: kinds, layouts, key partitions, and the stores only by the order of
 * their first use.  Windows of equal form get the same plan; by-value parameters are not in it.
 *
 * When the window is full rather than forced, it is cut where a repetition of the program's inner
 * loop ends, so that the next window begins at the same place of the loop and has the same form.
 *
 * Its *form* (lgt_window_form) says the same without the numbers in the layouts, which are numbered by their
 * first use as the stores are: windows of equal form may share a plan but for the numbers in it (shift.h).
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_WINDOW_H
#define LGT_WINDOW_H

#include "model/call.h"

typedef struct lgt_window {
  lgt_call *call;       /* owned */
  uint64_t *token;      /* owned, one for each call: a hash of kind and layouts */
  uint64_t *form_token; /* owned: the same of kind and forms, of the first `formed` calls */
  int count, room;      /* of all three; there always is room for what lgt_window_take takes */
  int formed;
  int gap; /* places before the first call, which are owned, too */

  bool saves;     /* part of the canonical form: plans may leave former contents to recipes ... */
  bool lean;      /* ... and store less, since memory is short (lgt_plan.lean) */
  bool devices;   /* ... and are made for a device, not for the host (inline.h) */
  uint64_t *word; /* owned: the canonical form of the last lgt_window_canonical */
  int nword, word_room;
  uint64_t hash;
  uint64_t pattern; /* a hash of how its stores repeat: the numbers in it alone */
  uint32_t *root;   /* owned: store by number, in order of first use */
  int nroot, root_room;
  uint32_t stamp;

  uint64_t *form; /* owned: of the last lgt_window_form */
  int nform, form_room;
  uint64_t form_hash;
  uint32_t form_stamp; /* of the canonical form it belongs to */
  uint32_t *layout;    /* owned: layouts by number, in order of first use */
  int nlayout, layout_room;
} lgt_window;

/* `room`: the greatest number of calls. */
lgt_status lgt_window_init(lgt_window *window, int room);
void lgt_window_fini(lgt_window *window);

/* Move the front's launches into the window.  Stops at the first bad launch: its status is returned,
 * it and nothing else is dropped.  *line is then the source line it came from. */
lgt_status lgt_window_take(lgt_window *window, lgt_stores *stores, const lgt_kinds *kinds, lgt_front *front, uint32_t *line);

/* Make room for n more calls behind those there are; false when out of memory. */
bool lgt_window_reserve(lgt_window *window, int n);
/* Append a call for which there is room, and which holds its references already. */
void lgt_window_add(lgt_window *window, lgt_stores *stores, const lgt_call *call);

/* How many calls to plan now: all when `forced`, else up to the end of a repetition, of *period calls (0: none). */
int lgt_window_cut(lgt_window *window, lgt_stores *stores, bool forced, int *period);
/* A repetition may end anywhere; where results of fewest bytes are needed beyond it?  At `cut` or less than a period
 * before.  What crosses has to be stored.  Follows from the stream alone, as every cut. */
int lgt_window_fit(lgt_window *window, lgt_stores *stores, int cut, int period);

/* Build the canonical form of the first n calls; numbers the stores.  False when out of memory. */
bool lgt_window_canonical(lgt_window *window, lgt_stores *stores, int n);

/* In what a window's canonical form differs from another one. */
typedef enum lgt_difference {
  LGT_NO_DIFFERENCE,
  LGT_OTHER_CALLS,  /* kinds or layouts */
  LGT_OTHER_STORES, /* how they repeat */
  LGT_OTHER_STATE,  /* was a store written before, is it attached? */
  LGT_OTHER_KEY,    /* how is a store cut? */
  LGT_OTHER_SAVES,  /* what plans are made for: `saves`, `lean`, `devices` */
  LGT_UNNUMBERED    /* there is no memory to number the stores */
} lgt_difference;

/* Number the stores of the first n calls as lgt_window_canonical does, and compare their canonical form with one that is
 * known (with nroot stores), up to the first difference; the form itself is not built, and what uses stores have is left
 * to the caller, who knows it with the form. */
lgt_difference lgt_window_compare(lgt_window *window, lgt_stores *stores, int n, const uint64_t *word, int nword, int nroot);

/* Build the form of the first n calls, whose canonical form was built last.  False when out of memory. */
bool lgt_window_form(lgt_window *window, lgt_stores *stores, int n);

/* Forget the first n calls (their store references have been released). */
void lgt_window_drop(lgt_window *window, int n);

#endif
