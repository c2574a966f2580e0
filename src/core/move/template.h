/* template.h - jobs that are made by copying.
 *
 * What a job of a group consists of (nests, tiles of calls, parameters, steps) follows from the plan, the colour, the
 * portion of the colour's work that it does, and where in their roots the slots' instances lie.  As long as these are
 * alike, two jobs differ in addresses and values alone.  So the first job leaves a *template*: the bytes of its memory,
 * and for each word that depends on the run a *relocation* that says where it comes from.  The next job is a copy of
 * these bytes with the words filled in:
 *
 *   INSIDE     an address within the job's own memory
 *   ELEMENT    an address in the memory of a slot's instance, so many bytes behind its beginning
 *   VALUE      a parameter of a call
 *   SHAPE      one of the template's shapes
 *   WHERE      the source line that failures name
 *
 * Which loops of such jobs follow one another row by row (follow.h) also depends on which slots have the same
 * instance; once the template knows it, it is for jobs alone whose slots do as that one's did.
 *
 * A builder (point.c) writes a job's memory as it is to be, and notes a relocation for each such word.
 *
 * Belongs to the submitting thread.  A job keeps the template that it was made from, whose shapes its nests use.
 */
#ifndef LGT_TEMPLATE_H
#define LGT_TEMPLATE_H

#include "move/job.h"

/* What of the work of a colour a job does. */
typedef enum lgt_portion_kind {
  LGT_PORTION_ALL,
  LGT_PORTION_AHEAD, /* the loops before `loop`, and of that one what is in `inner` (bind/ahead.h) */
  LGT_PORTION_REST   /* ... and what that leaves */
} lgt_portion_kind;
typedef struct lgt_portion {
  lgt_portion_kind what;
  int loop;
  lgt_rect inner; /* of the loop's space */
} lgt_portion;
bool lgt_portion_equal(const lgt_portion *a, const lgt_portion *b);

typedef enum lgt_relocated {
  LGT_RELOCATED_INSIDE,
  LGT_RELOCATED_ELEMENT,
  LGT_RELOCATED_VALUE,
  LGT_RELOCATED_SHAPE,
  LGT_RELOCATED_WHERE
} lgt_relocated;

typedef struct lgt_relocation {
  uint32_t at;    /* of the word, in the job's memory */
  uint16_t how;   /* lgt_relocated */
  uint16_t from;  /* ELEMENT: the slot; VALUE: the number of the parameter; SHAPE: its number */
  int64_t offset; /* INSIDE, ELEMENT */
} lgt_relocation;

/* Where a job's words come from. */
typedef struct lgt_supply {
  lgt_instance *const *inst; /* by slot */
  const lgt_scalar *param;
  const char *where;
} lgt_supply;

typedef struct lgt_sweeps lgt_sweeps; /* follow.c */

struct lgt_template {
  int refs; /* its list's, and its jobs' */
  int colour;
  lgt_portion portion;
  int nslot;
  lgt_rect *rect; /* owned, by slot: of its instance; ndim -1: there is none */
  char *bytes;    /* owned; words with relocations are zeros */
  size_t size;
  lgt_relocation *relocation; /* owned */
  int nrelocation, room;
  bool failed;           /* out of memory: it is of no use */
  lgt_nest_shape *shape; /* owned, with their strides */
  int nshape;
  int nstep;
  bool alone;          /* no loop follows another one (follow.h): so it was found of a job that was made from it ... */
  lgt_sweeps *sweeps;  /* ... or else which do; owned, a block of mem.h; NULL: that is not known yet, or none does */
  uint16_t *same;      /* owned, with `sweeps`: by slot, the first one that has its instance */
  int abreast;         /* loops that joined another one's step */
  int64_t cost, moved; /* of the job; bytes that its steps move */
  lgt_template *next;  /* older, of a colour with the same list */
};

/* A new template with room for so many shapes and one ref, the caller's.  NULL when out of memory, without an error: the job
 * can be built without a template. */
lgt_template *lgt_template_new(int colour, const lgt_portion *portion, lgt_instance *const *inst, int nslot, int shapes);
void lgt_template_release(lgt_template *template); /* NULL: do nothing */
/* The word at an address of the job's memory, which begins at `memory`, is to be relocated. */
void lgt_template_note(lgt_template *template, const void *memory, const void *word, lgt_relocated how, int from, int64_t offset);
/* The job is built: take its bytes over.  False when some memory was lacking. */
bool lgt_template_take(lgt_template *template, const lgt_job *job, const char *memory, size_t size);
/* The template gets `sweeps`, which a job with these instances has.  False: there is no memory for it, and the caller
 * keeps them. */
bool lgt_template_follow(lgt_template *template, lgt_instance *const *inst, lgt_sweeps *sweeps);
/* The group's template for a portion of a colour's work and instances that lie so; it becomes the newest.  NULL:
 * there is none.  Stamps instances with the numbers that follow *stamp. */
lgt_template *lgt_template_find(lgt_plan_notes *notes, uint32_t *stamp, int colour, const lgt_portion *portion,
                                lgt_instance *const *inst, int nslot);
/* Make it the newest of the group's.  If its colour then has more than LGT_TEMPLATES, the oldest of these goes. */
enum { LGT_TEMPLATES = 8, LGT_TEMPLATE_LISTS = 32 };
void lgt_template_keep(lgt_plan_notes *notes, lgt_template *template);
/* Fill a job's memory, of the template's size. */
void lgt_template_apply(lgt_template *template, lgt_job *job, char *memory, const lgt_supply *supply);
/* With the option `check`: do two templates that were made of the same job agree?  False with a message. */
bool lgt_template_verify(const lgt_template *template, const lgt_template *again);

#endif
