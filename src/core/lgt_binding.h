/* lgt_binding.h - what bindings to other languages need beside lgt.h: layouts, launches without a call, collections.
 *
 * Programs do without.  Nothing here is promised to stay: a binding is built with, and runs with, one version of lgt.
 * The conventions are those of lgt.h, and so is where the declarations stand.
 */
#ifndef LGT_BINDING_H
#define LGT_BINDING_H
#include "lgt.h"
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- layouts: shapes and views ---------------------------------------------------------------- */

/* A layout is a number: the interned description of shape, element type and place of a view within its root.  It is valid
 * as long as an array has it, and for thousands of others that are made in the meantime.  A caller that remembers layouts
 * for longer must forget them whenever lgt_front's `epoch` changes.  Strides of a layout are in elements of the root. */
typedef struct lgt_layout {
  uint8_t dtype; /* lgt_dtype of the elements */
  uint8_t ndim;  /* of the view */
  uint8_t root_ndim;
  uint8_t flags;               /* lgt_layout_flag */
  uint8_t type;                /* 2 dtype + 1, and 1 more if it has no dimensions: what decides about types of results */
  int8_t dim[LGT_MAX_DIM];     /* root dimension that this view dimension walks along; -1: none */
  int64_t shape[LGT_MAX_DIM];  /* extents of the view */
  int64_t stride[LGT_MAX_DIM]; /* in elements of the root's C order; 0 where dim is -1 */
  int64_t offset;              /* of the view's first element, likewise */
  int64_t root_shape[LGT_MAX_DIM];
  int64_t size; /* number of elements of the view */
  uint64_t hash;
  int64_t first[LGT_MAX_DIM]; /* the least and the greatest place of the view along each of the root's dimensions; ... */
  int64_t last[LGT_MAX_DIM];  /* ... not of a reshaped one, or one without elements */
} lgt_layout;

typedef enum lgt_layout_flag {
  LGT_LAYOUT_WHOLE = 1,     /* the view is its root, in C order */
  LGT_LAYOUT_RESHAPED = 2,  /* dim[] is meaningless: the strides walk across root dimensions */
  LGT_LAYOUT_LARGE = 4,     /* big enough that remembering the source line of a launch costs nothing */
  LGT_LAYOUT_STRETCHED = 8, /* several positions are one element: not to be written, but reduced into */
  LGT_LAYOUT_EXACT = 16     /* each element of the root within the view's bound is in the view */
} lgt_layout_flag;

/* The layout of a new array in C order. */
uint32_t lgt_layout_dense(lgt_runtime *rt, int dtype, int ndim, const int64_t *shape);
/* The views of lgt.h, as layouts. */
uint32_t lgt_layout_slice(lgt_runtime *rt, uint32_t layout, int dim, int64_t first, int64_t count, int64_t step);
uint32_t lgt_layout_project(lgt_runtime *rt, uint32_t layout, int dim, int64_t index);
uint32_t lgt_layout_promote(lgt_runtime *rt, uint32_t layout, int dim, int64_t extent);
uint32_t lgt_layout_transpose(lgt_runtime *rt, uint32_t layout, const int *axes);
uint32_t lgt_layout_diagonal(lgt_runtime *rt, uint32_t layout, int row, int column, int64_t above);
uint32_t lgt_layout_windows(lgt_runtime *rt, uint32_t layout, int dim, int64_t width);
uint32_t lgt_layout_broadcast(lgt_runtime *rt, uint32_t layout, int ndim, const int64_t *shape);
/* Where the strides do not allow a view the message is empty. */
uint32_t lgt_layout_reshape(lgt_runtime *rt, uint32_t layout, int ndim, const int64_t *shape);
/* The layout of a new array of the shape that two views have in common by broadcasting. */
uint32_t lgt_layout_join(lgt_runtime *rt, int dtype, uint32_t a, uint32_t b);
/* 1: a view of the shape of `from` can be written into `target`, by broadcasting. */
int lgt_layout_fills(lgt_runtime *rt, uint32_t target, uint32_t from);
/* The layout of a new array for what a reduction of the common shape of two views along `axes` (bit d: dimension d)
 * leaves; and the view of it through which it takes part, which has the common shape. */
uint32_t lgt_layout_reduced(lgt_runtime *rt, int dtype, uint32_t a, uint32_t b, unsigned axes, int keepdims, uint32_t *view);

/* A new array of a dense layout. */
lgt_id lgt_layout_array(lgt_runtime *rt, uint32_t layout);
/* The elements of an array through another layout of the same root. */
lgt_id lgt_layout_view(lgt_runtime *rt, lgt_id array, uint32_t layout);

/* ---- launches without a call ------------------------------------------------------------------ */

/* State that the issuing side and the runtime share, so that a launch is a few stores and no call:
 * fill launches[count], add 1 to count, and when it reaches `limit` call lgt_flush_some.  A new result is
 * an id taken from free_ids[--nfree] (never below 0: when it is 0 call lgt_layout_array) whose entry
 * has `layout` set, a dense layout, and `store` 0: the runtime makes the store when it meets it. */
typedef struct lgt_handle {
  uint32_t store;
  uint32_t layout;
} lgt_handle;

typedef struct lgt_front {
  lgt_launch *launches;
  uint32_t count;
  uint32_t limit;
  lgt_handle *handles; /* by id; the address never changes */
  uint32_t *free_ids;
  uint32_t nfree;
  uint32_t max_id;           /* no id in use is greater; kept by the runtime */
  const lgt_layout *layouts; /* by number; the address never changes */
  uint32_t nlayouts;
  uint32_t epoch;        /* changes when numbers of layouts that no array has were given back; kept by the runtime */
  uint32_t line;         /* lgt_line() of the line that looks at values next, 0: unknown; named when ranks differ */
  uint32_t all_lines;    /* 1: launches should all say their lines: ranks are compared, or a profile or a trace is written */
  uint32_t reproducible; /* 1: results must not depend on how arrays are cut; kept by the runtime */
  uint32_t settings;     /* how often options were changed; kept by the runtime */
  uint32_t collect;      /* lgt_collect: what the last call that may ask for a collection asks for */
} lgt_front;

lgt_front *lgt_front_of(lgt_runtime *rt);
/* Check a launch as lgt_submit does, and do not record it: for bindings that fill the front themselves. */
lgt_status lgt_check(lgt_runtime *rt, const lgt_launch *launch);
/* Launch what reads or writes files, and wait for it: its parameters are this rank's own (pointers, say), so ranks do not
 * compare them.  What fails on one rank is an error on all; the message is that of the task.  Flushes and waits. */
lgt_status lgt_carry_out(lgt_runtime *rt, const lgt_launch *launch);

/* What a binding has learnt about an operation, by the types (lgt_layout) of its operands.  All zero: nothing. */
enum { LGT_NTYPE = 32 };
typedef struct lgt_rule {
  lgt_kind_id kind; /* to launch; 0: nothing is known */
  uint8_t dtype;    /* of the result */
} lgt_rule;

typedef struct lgt_rules {
  lgt_rule pair[LGT_NTYPE][LGT_NTYPE]; /* two arrays */
  lgt_rule single[LGT_NTYPE];          /* an array */
  lgt_rule before[LGT_NTYPE];          /* an array and a number, whatever number it is; ... */
  lgt_rule after[LGT_NTYPE];           /* ... a number and an array */
} lgt_rules;

/* The commonest launches, as a binding fills them, in one call.  The kind is that of a rule; its arguments are a new
 * array, which is the result, and the one or two arrays given.  Elementwise; _reduced: over `axes` of an array with
 * elements, as lgt_layout_reduced has them, by the rule for a single array; and _product: the sum over the last
 * dimension of the first array times the second, a vector of that extent; and _few: elementwise by the rule given, of up
 * to three operands in the order of the kind's, each an array or, where that is 0, a number of its own: an integral one
 * beside an array of integers is refused if some type of integers does not hold it; and _new: a kind that has no other
 * argument than its result, of a dense layout, and up to two parameters.  0, and nothing was launched: no rule is
 * known, the front is full, few ids are free, the launch should say its line, or something is wrong; then the binding
 * goes step by step, and finds out what.  No flush. */
lgt_id lgt_launch_pair(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, lgt_id b);
lgt_id lgt_launch_single(lgt_runtime *rt, const lgt_rules *rules, lgt_id a);
lgt_id lgt_launch_before(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, double number);
lgt_id lgt_launch_after(lgt_runtime *rt, const lgt_rules *rules, double number, lgt_id a);
lgt_id lgt_launch_reduced(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, unsigned axes, int keepdims);
lgt_id lgt_launch_product(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, lgt_id b);
lgt_id lgt_launch_few(lgt_runtime *rt, lgt_kind_id kind, int dtype, int count, lgt_id a, lgt_id b, lgt_id c, double x, double y,
                      double z);
lgt_id lgt_launch_new(lgt_runtime *rt, lgt_kind_id kind, uint32_t layout, int nparams, double x, double y);

/* What a function of a binding's libraries launches follows from the layouts of its operands, which of them share a store,
 * and what else it is given: watched once, it can be launched again by one call, as a *routine*.
 * _watch: from here on, until _end, the function launches on `n` operands; nothing else may be launched.  _end fills in
 * `routine`, which has room for LGT_ROUTINE_BYTES, and returns how many bytes of it are to be kept, aligned as a double; and
 * *line, 1: its launches say their line.  0: it cannot be kept, as where the function waits, or its result is none that these
 * launches make. */
enum { LGT_MOST_OPERANDS = 8, LGT_ROUTINE_BYTES = 2048 };
typedef struct lgt_routine lgt_routine;
typedef struct lgt_watch {
  int64_t windows, waits;
  int32_t count;
  uint32_t epoch;
} lgt_watch;
void lgt_routine_watch(lgt_runtime *rt, lgt_watch *watch);
int lgt_routine_end(lgt_runtime *rt, const lgt_watch *watch, const lgt_id *operands, int n, lgt_id result, lgt_routine *routine,
                    int *line);
/* The result, for operands of the same layouts.  0, and nothing was launched: the front lacks room, launches should say their
 * lines, numbers of layouts were given back or options changed since, or other operands share a store than did; then the
 * function is to be called.  No flush. */
lgt_id lgt_launch_routine(lgt_runtime *rt, const lgt_routine *routine, const lgt_id *operands, uint32_t line);

/* Do what a filled record of the front says without launching it, if that can be done at once.  Not 0: it is done, and if the
 * result, argument 0, is new the front's `collect` may ask for a collection.  0: it has to be launched.  For kinds of
 * lgt_kind_builtin that only read their other arguments, write nothing if they fail, and have little to do here: while the
 * script looks at values all the time, a task would take longer.  It is launched where the script has launched something since
 * it looked at elements, so that loops which do not wait have the same launches in every turn, where it might fail, and where
 * lgt_element_put does not write, either. */
int lgt_launch_at_once(lgt_runtime *rt, const lgt_launch *launch);

/* So many new arrays and views can be had.  LGT_NO_MEMORY: too many are alive, or dead but not given back. */
lgt_status lgt_array_reserve(lgt_runtime *rt, int count);
/* Handles that a collection found dead. */
void lgt_array_free_many(lgt_runtime *rt, const lgt_id *arrays, int64_t count);

/* ---- collections ------------------------------------------------------------------------------ */

typedef enum lgt_collect {
  LGT_COLLECT_NOTHING, /* the call is done */
  LGT_COLLECT_ALL,     /* collect garbage, report dead handles with lgt_array_free_many, and call again */
  LGT_COLLECT_OLD      /* likewise, but where a collector has begun already it need only end what it does, for it does
                                not matter if some dead handles are missed; LGT_COLLECT_ALL may follow if it does */
} lgt_collect;

/* As lgt_flush, but asks for collections: unless the front's `collect` is 0 then, there is more to do.  A caller without a
 * collector calls lgt_flush. */
lgt_status lgt_flush_some(lgt_runtime *rt);
/* The heap that the caller's collector has just gone through, in bytes: how much a collection costs. */
void lgt_collected(lgt_runtime *rt, double heap);

/* ---- memory and numbers ----------------------------------------------------------------------- */

/* Memory for elements on their way into arrays or out of them: zeroed, of malloc's alignment, and counted as what arrays
 * take.  Fails where there is none, or not below the limit; may wait for what is being computed, but launches nothing.
 * `beyond`: more than the limit, if it must be, for ranks that must not fail alone.  `resize` gives *memory, which may be
 * NULL, another size: it keeps what fits and zeroes nothing but new memory; if it fails *memory stays.  `free` may be called
 * by any thread, also when the runtime is closed. */
lgt_status lgt_memory_alloc(lgt_runtime *rt, int64_t bytes, int beyond, void **memory);
lgt_status lgt_memory_resize(lgt_runtime *rt, int64_t bytes, int beyond, void **memory);
/* Memory that a library holds for the host program, as the factors of a matrix: it counts as what arrays take, beyond the
 * limit if it must be, until *memory is freed, of which nothing can be read. */
lgt_status lgt_memory_count(lgt_runtime *rt, int64_t bytes, void **memory);
void lgt_memory_free(void *memory);
/* A new array of a dense layout whose elements are in `data`.  That is no longer the caller's, even if the result is 0:
 * `release` gives it back once the elements are elsewhere or nobody needs them, on the runtime's thread.  As with
 * lgt_array_attach, all ranks must give the same elements. */
lgt_id lgt_array_adopt(lgt_runtime *rt, uint32_t layout, void *data, void (*release)(void *data));

/* The number of the GPU whose memory arrays share with other libraries (lgt_array_attach, lgt_array_share); -1 with an error. */
int lgt_device_shared(lgt_runtime *rt);

/* Write a number into the element that a layout of no dimensions shows of an array's store, if that can be done at
 * once.  Not 0: it is done.  0: it has to be launched: something has not run yet, another array or a result that is
 * not stored needs what is there, there are several domains, devices, a profile or a trace that the script names,
 * or the type is none of float64, float32 and int64. */
int lgt_element_put(lgt_runtime *rt, lgt_id array, uint32_t layout, double value);

/* One NaN in place of all there are, in n elements: LuaJIT, which reads memory as it is, takes the others for values of
 * other types.  (What lgt_array_item and lgt_array_element give has no others; float16, which LuaJIT does not know, is
 * left as it is.) */
void lgt_plain_nans(int dtype, void *data, int64_t n);
/* On several ranks, after the view's elements were written through lgt_array_host: these are they, in C order.  Ranks that
 * were given others are found out, as with attach and copy_in.  On one rank nothing. */
lgt_status lgt_array_given(lgt_runtime *rt, lgt_id array, const void *data);

/* What a boolean array picks from a small array, as a new array that has `room`, a dense layout, for all that could be
 * picked; and the positions, from 1, of what is true in one, as an array for each of its dimensions.  For one domain.
 * If something has failed, or memory is short, there is no array (0), or a status.  Flush, wait, and may ask for
 * collections. */
lgt_id lgt_mask_pick(lgt_runtime *rt, uint32_t room, lgt_id mask, lgt_id array);
lgt_status lgt_mask_list(lgt_runtime *rt, uint32_t room, lgt_id mask, lgt_id *lists);

/* ---- what comes with lgt ---------------------------------------------------------------------- */

/* As lgt_kind_new, with a CPU variant that comes with lgt: "sort", "scan", "gather", ....  What their arguments and parameters
 * are is between them and the Lua libraries of lgt. */
lgt_kind_id lgt_kind_builtin(lgt_runtime *rt, const char *name, const char *privileges, const char *constraints);

/* A Matrix Market file of format coordinate whose entries, one on each line, are to be read. */
typedef struct lgt_market {
  int64_t begin, end;    /* where in the file they are, in bytes */
  int64_t slice, nslice; /* bytes of a part of it, and how many parts there are */
  const int64_t *first;  /* number of the first entry that begins in each slice, from 0, and of all */
  int64_t rows, cols;    /* of the matrix */
  int32_t fd, pattern;   /* the open file; 1: its entries have no values */
} lgt_market;
/* How many entries begin in each of the slices [first, past).  Waits for nothing but the file. */
lgt_status lgt_market_count(const lgt_market *market, int64_t first, int64_t past, int64_t *counts);

/* The option min_tile: the smallest tile worth a domain of its own, in elements. */
int64_t lgt_min_tile(lgt_runtime *rt);
/* The option replicate: bytes of an array that an operation may bring to every rank. */
int64_t lgt_replicate(lgt_runtime *rt);
/* A device on which this rank computes.  Texts are valid as long as the runtime. */
typedef struct lgt_device_info {
  const char *name, *class_name;
  int64_t memory, taken; /* bytes: that arrays may take, that they take or have taken and may take again */
  int32_t domain;        /* the local domain that has it, from 0 */
} lgt_device_info;
/* The n-th device, from 0; how many there are. */
int lgt_device_list(lgt_runtime *rt, int n, lgt_device_info *out);
/* What there is of GPUs on this machine, or why there is nothing, as a line of text.  Loads their driver. */
void lgt_gpus_describe(char *text, size_t room);
/* Seconds since some fixed point, from a clock that never goes back. */
double lgt_time(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
