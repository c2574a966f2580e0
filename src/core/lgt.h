/* lgt.h - the public interface of liblgt.
 *
 * A host program (or a Lua library through LuaJIT's FFI) creates a runtime, makes arrays, and
 * launches tasks on them.  Launches are recorded, fused and executed later; nothing here waits
 * unless its documentation says "waits".
 *
 * Conventions
 *   - A function that can fail returns lgt_status; lgt_message() then tells what was given, what
 *     was expected and what to do.  Outputs are set only on success.
 *   - Not thread-safe: one runtime belongs to the thread that opened it.  Two runtimes are
 *     independent of each other.
 *   - An array handle is a number (lgt_id); 0 is never a handle.  A layout is a number too: the
 *     interned description of shape, element type and place of a view within its root.
 *   - Extents and coordinates count elements, from 0.  Strides count elements of the root.
 *
 * The declarations are free of macros, so that LuaJIT's FFI reads this file as it is (lines that
 * begin with '#' are dropped).
 */
#ifndef LGT_H
#define LGT_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct lgt_runtime lgt_runtime;
typedef struct lgt_body lgt_body;
typedef int32_t lgt_status;  /* 0: success; the names are in err.h, the text is lgt_message() */
typedef uint32_t lgt_id;     /* an array handle */

/* ---- element types ------------------------------------------------------------------------ */

typedef enum lgt_dtype {
  LGT_BOOL, LGT_INT8, LGT_INT16, LGT_INT32, LGT_INT64,
  LGT_UINT8, LGT_UINT16, LGT_UINT32, LGT_UINT64,
  LGT_FLOAT16, LGT_FLOAT32, LGT_FLOAT64, LGT_COMPLEX64, LGT_COMPLEX128,
  LGT_RANGE,                 /* a pair of int64: first and past-the-end index, for sparse matrices */
  LGT_NDTYPE
} lgt_dtype;

/* Any element, by value.  Floats of every width are in f, integers in i or u, bool in i (0 or 1),
 * complex numbers in c[0] + i c[1]. */
typedef union lgt_scalar {
  double f;
  int64_t i;
  uint64_t u;
  double c[2];
  int64_t range[2];
} lgt_scalar;

/* ---- the runtime -------------------------------------------------------------------------- */

typedef struct lgt_config lgt_config;   /* see config.h; made by lgt_config_new */

/* Defaults, then LGT_* of the environment; NULL with a message if one of these has a bad value.  An
 * unknown LGT_* variable draws a warning on stderr (LGT_TEST_* are left to test programs). */
lgt_config *lgt_config_new(void);
void lgt_config_free(lgt_config *config);
/* Set one variable from text, e.g. ("cpus", "2").  Fails on an unknown name or a bad value. */
lgt_status lgt_config_set(lgt_config *config, const char *name, const char *value);
/* The table of variables as text for --help. */
const char *lgt_config_help(void);

lgt_status lgt_open(const lgt_config *config, lgt_runtime **rt);  /* config may be NULL */
void lgt_close(lgt_runtime *rt);                      /* waits for running tasks */
/* What the last failed call of this thread had to say. */
const char *lgt_message(void);
const char *lgt_status_name(lgt_status status);
const char *lgt_version(void);
/* Change an option of a running runtime, e.g. ("fusion", "0"). */
lgt_status lgt_option(lgt_runtime *rt, const char *name, const char *value);

/* ---- several ranks ------------------------------------------------------------------------ */

typedef struct lgt_ranks lgt_ranks;

/* Join the other processes of this run: those that mpirun or srun started together with this one, or those that
 * meet at config's `rendezvous`.  Waits until all have come.  A process that nobody started as one of several is the
 * only rank, which is no error.  Runtimes that are opened with this configuration from now on spread their arrays over
 * all ranks: each of which must then call the same functions of lgt in the same order.  Once a process, before threads
 * are started: cores are divided among the ranks of a machine. */
lgt_status lgt_ranks_open(lgt_config *config, lgt_ranks **ranks);
int lgt_ranks_rank(const lgt_ranks *ranks);
int lgt_ranks_size(const lgt_ranks *ranks);
/* The last call of each rank, after its runtimes are closed: waits until all have come here. */
lgt_status lgt_ranks_close(lgt_ranks *ranks);
/* This program cannot go on: ends all ranks, with this message, which is printed once.  Does not return. */
void lgt_ranks_fail(lgt_ranks *ranks, const char *message);

/* ---- layouts: shapes and views ------------------------------------------------------------ */

typedef struct lgt_layout {
  uint8_t dtype;             /* lgt_dtype of the elements */
  uint8_t ndim;              /* of the view */
  uint8_t root_ndim;
  uint8_t flags;             /* lgt_layout_flag */
  uint8_t type;              /* 2 dtype + 1, and 1 more if it has no dimensions: what decides about types of results */
  int8_t dim[6];             /* root dimension that this view dimension walks along; -1: none */
  int64_t shape[6];          /* extents of the view */
  int64_t stride[6];         /* in elements of the root's C order; 0 where dim is -1 */
  int64_t offset;            /* of the view's first element, likewise */
  int64_t root_shape[6];
  int64_t size;              /* number of elements of the view */
  uint64_t hash;
} lgt_layout;

typedef enum lgt_layout_flag {
  LGT_LAYOUT_WHOLE = 1,      /* the view is its root, in C order */
  LGT_LAYOUT_RESHAPED = 2,   /* dim[] is meaningless: the strides walk across root dimensions */
  LGT_LAYOUT_LARGE = 4,      /* big enough that remembering the Lua line of a launch costs nothing */
  LGT_LAYOUT_STRETCHED = 8   /* several positions are one element: not to be written, but reduced into */
} lgt_layout_flag;

/* The layout of a new array in C order.  0 on error (lgt_message).
 * A layout's number is valid as long as an array has it, and for thousands of others that are made in the meantime.  Who
 * remembers some for longer forgets them whenever lgt_front's `epoch` changes. */
uint32_t lgt_layout_dense(lgt_runtime *rt, int dtype, int ndim, const int64_t *shape);
/* Views.  Each returns the layout seen through one more map, or 0 on error. */
uint32_t lgt_layout_slice(lgt_runtime *rt, uint32_t layout, int dim, int64_t first, int64_t count, int64_t step);
uint32_t lgt_layout_project(lgt_runtime *rt, uint32_t layout, int dim, int64_t index);
uint32_t lgt_layout_promote(lgt_runtime *rt, uint32_t layout, int dim, int64_t extent);
uint32_t lgt_layout_transpose(lgt_runtime *rt, uint32_t layout, const int *axes);
/* The elements (i, i + above) of the matrices that two dimensions span, along a new last dimension. */
uint32_t lgt_layout_diagonal(lgt_runtime *rt, uint32_t layout, int row, int column, int64_t above);
/* All windows of `width` elements along a dimension, whose extent becomes less by width - 1, as a new last dimension. */
uint32_t lgt_layout_windows(lgt_runtime *rt, uint32_t layout, int dim, int64_t width);
/* NumPy's broadcast_to: dimensions are aligned at the right, extents of 1 are stretched. */
uint32_t lgt_layout_broadcast(lgt_runtime *rt, uint32_t layout, int ndim, const int64_t *shape);
/* 0 without a message where the strides do not allow a view: copy first. */
uint32_t lgt_layout_reshape(lgt_runtime *rt, uint32_t layout, int ndim, const int64_t *shape);
/* The layout of a new array of the shape that two views have in common by broadcasting.  0 on error. */
uint32_t lgt_layout_join(lgt_runtime *rt, int dtype, uint32_t a, uint32_t b);
/* 1: a view of the shape of `from` can be written into `target`, by broadcasting. */
int lgt_layout_fills(lgt_runtime *rt, uint32_t target, uint32_t from);
/* The layout of a new array for what a reduction of the common shape of two views along `axes` (bit d: dimension d)
 * leaves; and the view of it through which it takes part, which has the common shape.  0 on error. */
uint32_t lgt_layout_reduced(lgt_runtime *rt, int dtype, uint32_t a, uint32_t b, unsigned axes, int keepdims,
                            uint32_t *view);
/* The real or imaginary part of a complex view cannot be a view; see the body operations. */

/* ---- arrays ------------------------------------------------------------------------------- */

/* A new array of the dense layout `layout`; its contents are undefined until it is written.
 * 0 on error. */
lgt_id lgt_array_new(lgt_runtime *rt, uint32_t layout);
/* So many new arrays and views can be had.  LGT_NO_MEMORY: too many are alive, or dead but not given back. */
lgt_status lgt_array_reserve(lgt_runtime *rt, int count);
/* A second handle on the same store through another layout of the same root. */
lgt_id lgt_array_alias(lgt_runtime *rt, lgt_id array, uint32_t layout);
/* The handle is no longer used.  (Lua: called for handles found dead by a collection.) */
void lgt_array_free(lgt_runtime *rt, lgt_id array);
void lgt_array_free_many(lgt_runtime *rt, const lgt_id *arrays, int64_t count);
/* Use memory of the host program as an array in C order, without a copy.  On several ranks each gives memory of its own,
 * and the contents must be alike now, also those that are going to be overwritten: memory of malloc is filled before.
 * `release` (may be NULL) is called once, on the runtime's thread, when lgt no longer uses the memory. */
lgt_id lgt_array_attach(lgt_runtime *rt, uint32_t layout, void *data, void (*release)(void *), void *context);
/* Flushes and waits until the memory given to attach holds the array's newest values, then gives
 * it back: later accesses to it or a view of it raise an error. */
lgt_status lgt_array_detach(lgt_runtime *rt, lgt_id array);

/* Memory for elements on their way into arrays or out of them: zeroed, of malloc's alignment, and counted as what arrays
 * take.  NULL, with a message, where there is none, or not below the limit; may wait for what is being computed, but
 * launches nothing.  `beyond`: more than the limit, if it must be, for ranks that must not fail alone.  `resize` keeps what
 * fits and zeroes nothing; if it fails `memory` stays.  `free` may be called by any thread, also when the runtime is
 * closed. */
void *lgt_memory_alloc(lgt_runtime *rt, int64_t bytes, int beyond);
void *lgt_memory_resize(lgt_runtime *rt, void *memory, int64_t bytes, int beyond);
void lgt_memory_free(void *memory);

/* One element of a 0-d view, or of any view with one element.  Flushes and waits. */
lgt_status lgt_array_item(lgt_runtime *rt, lgt_id array, lgt_scalar *out);
/* The element at `index` (from 0, one number for each dimension, within the shape).  Flushes and waits. */
lgt_status lgt_array_element(lgt_runtime *rt, lgt_id array, const int64_t *index, lgt_scalar *out);
/* Copy the view's elements into `out`, in C order.  Flushes and waits. */
lgt_status lgt_array_copy_out(lgt_runtime *rt, lgt_id array, void *out);
/* Copy `data`, in C order, into the view, which must not be stretched.  Flushes and waits. */
lgt_status lgt_array_copy_in(lgt_runtime *rt, lgt_id array, const void *data);
/* One NaN in place of all there are, in n elements: LuaJIT, which reads memory as it is, takes the others for values of
 * other types.  (What lgt_array_item and lgt_array_element give has no others; float16, which LuaJIT does not know, is
 * left as it is.) */
void lgt_plain_nans(int dtype, void *data, int64_t n);
/* What a boolean array picks from an array whose first dimensions have its shape, in C order.  Flushes and waits.  With
 * several domains, say, nothing is done, which is no error, and tasks must.  select: *out is a new array, 0 if nothing was
 * done.  place: as many elements as are picked are written there; *done is 0 if nothing was.  nonzero: out[] are vectors of
 * the positions, from 1, along each dimension of the boolean array; out[0] is 0 if nothing was done.  Those that make
 * arrays may ask for a collection, as lgt_flush does. */
int lgt_array_select(lgt_runtime *rt, lgt_id array, lgt_id mask, lgt_id *out);
lgt_status lgt_array_place(lgt_runtime *rt, lgt_id array, lgt_id mask, lgt_id values, int *done);
int lgt_array_nonzero(lgt_runtime *rt, lgt_id mask, lgt_id *out);
/* Synchronised access to the elements in host memory: *data is the first element of the view and
 * stride[] counts elements.  mode is "r", "w" or "rw", of a stretched view "r".  Flushes and waits.  Valid until the next
 * call that takes the runtime. */
lgt_status lgt_array_host(lgt_runtime *rt, lgt_id array, const char *mode, void **data, int64_t *stride);
/* On several ranks, after the view's elements were written there: these are they, in C order.  Ranks that were given others
 * are found out, as with attach and copy_in.  On one rank nothing. */
lgt_status lgt_array_given(lgt_runtime *rt, lgt_id array, const void *data);
/* The view's elements, in C order, as the bytes of an open file from `offset` on: written there, or read from there
 * (`reversed`: the file has the bytes of each number in the other order).  On several ranks each moves what it owns, through
 * a file descriptor of its own; what one cannot do is an error on all of them.  The elements of an array whose reading
 * failed are undefined.  Flushes and waits. */
lgt_status lgt_array_write(lgt_runtime *rt, lgt_id array, int fd, int64_t offset);
lgt_status lgt_array_read(lgt_runtime *rt, lgt_id array, int fd, int64_t offset, int reversed);

/* ---- task kinds --------------------------------------------------------------------------- */

/* A generator is a scalar program over one element of each argument.  Values are numbered from 0.
 * Opcodes and reduction operators are looked up by name once (see body.h for their meaning):
 * "add", "exp", "select", ...; "sum", "min", ....  -1: unknown. */
int lgt_opcode(const char *name);
int lgt_redop(const char *name);
lgt_body *lgt_body_new(void);
void lgt_body_free(lgt_body *body);
/* Append an operation; operands are earlier values.  Returns its value, or -1 with a message. */
int lgt_body_op(lgt_body *body, int opcode, int dtype, int a, int b, int c);
int lgt_body_const(lgt_body *body, int dtype, lgt_scalar value);
int lgt_body_param(lgt_body *body, int dtype, int index);      /* a by-value parameter of the launch */
int lgt_body_load(lgt_body *body, int dtype, int arg);         /* the element of argument `arg` */
/* The coordinate along dimension `dim` of the launch's iteration space, an int64; dim -1: the
 * position in C order. */
int lgt_body_index(lgt_body *body, int dim);
int lgt_body_store(lgt_body *body, int arg, int value);
/* Reduce `value` into argument `arg` over the dimensions the argument lacks (stride 0).  The argument's
 * contents take part, as in +=; with `fresh` they are dropped. */
int lgt_body_reduce(lgt_body *body, int arg, int redop, int value, int fresh);
/* argmin/argmax: argument `arg` gets the value, `arg + 1` (int64) the position `index`. */
int lgt_body_reduce_arg(lgt_body *body, int arg, int redop, int value, int index);

/* Register a kind with a generator; takes over `body` (also when it fails).  -1 on error.
 * Its arguments are aligned: each has the launch's iteration space as its shape after NumPy's
 * broadcasting rules. */
int lgt_kind_generator(lgt_runtime *rt, const char *name, lgt_body *body);

/* What a CPU variant sees of one argument: the part its point task works on. */
typedef struct lgt_tile {
  void *data;                /* its first element */
  int64_t extent[6];
  int64_t stride[6];         /* in bytes */
  int64_t origin[6];         /* coordinates of the first element within the whole view */
  int32_t ndim;
  int32_t dtype;
  const int64_t (*rows)[2];  /* of a dimension under image_inverse: the indices that count, as nrows ranges, first and */
  int64_t nrows;             /* past-the-end, ascending; NULL: all */
} lgt_tile;

/* A CPU variant computes rows [lo, hi) of dimension 0 of its first argument's tile.  It returns 0,
 * or sets a message with lgt_fail and returns the status.  It may run on any thread. */
typedef lgt_status (*lgt_cpu_variant)(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi);
lgt_status lgt_fail(lgt_status status, const char *message);

/* Register a kind with a CPU variant.  `privileges` has one letter for each argument: r, w (all of
 * it is overwritten), m (read and written).  `constraints` is a list such as
 * "align(0.0,1.0) align(0.1,2.1) broadcast(1.1) bloat(1.0,1,1)": argument.dimension pairs that are
 * cut alike, that are never cut, or that need a halo of so many elements below and above.  With
 * "align(0.0,1.0) scale(1.0,64)" index i of dimension 0.0 goes with elements 64 i to 64 i + 63 of 1.0, and with
 * "scale(1.0)" with as many as it takes for all of 1.0.  The word "varies" says that the last bits of results depend
 * on how the arguments are cut: reproducible mode refuses such a kind.
 *   The word "by_rows" says that argument 0 is a vector and the only one that is written, and that the variant may be
 * called for any few of its elements, on any of the workers, and again later: what it fails for, it fails for at once.
 * What is done with them elementwise is then done in the same pass, while they are in the cache; argument 0's tile may be
 * memory for just these elements.
 *   Dimensions that are never cut may be named by data: image_points(2:1.0;1) says that of dimension 0 of argument 1
 * the task uses the positions that are elements of argument 2 (int32 or int64; 1: what the first position is called, 0 if
 * it is left out; negative ones count from the end), image_ranges(1,2:3.0,4.0) that of dimension 0 of arguments 3 and 4
 * it uses the ranges that begin with the elements of argument 1 and end before those of argument 2 (or writes them: then
 * the ranges of each tile must lie side by side, behind those of the tiles before it);
 * image_inverse(2,0.1:2.0,1.1;1) that of dimensions 2.0 and 1.1 it uses the indices at which argument 2 holds a position
 * in the task's tile of dimension 0.1, or one that is outside of all of it.  Only what the task uses is brought to where
 * it runs; there may be anything in place of the rest. */
int lgt_kind_cpu(lgt_runtime *rt, const char *name, const char *privileges, const char *constraints, lgt_cpu_variant variant);

/* Register the product of two matrices of float32, float64, complex64 or complex128, by the machine's
 * BLAS: argument 0 = argument 1 x argument 2.  Reproducible mode refuses it.  -1 on error. */
int lgt_kind_gemm(lgt_runtime *rt, int dtype);
/* As lgt_kind_cpu with a variant that comes with lgt: "sort", "scan", "gather", ...; the files that define
 * them (listed in builtin.h) say what their arguments and parameters are.  -1 on error. */
int lgt_kind_builtin(lgt_runtime *rt, const char *name, const char *privileges, const char *constraints);

/* A Matrix Market file of format coordinate whose entries, one on each line, are to be read (market.c). */
typedef struct lgt_market {
  int64_t begin, end;        /* where in the file they are, in bytes */
  int64_t slice, nslice;     /* bytes of a part of it, and how many parts there are */
  const int64_t *first;      /* number of the first entry that begins in each slice, from 0, and of all */
  int64_t rows, cols;        /* of the matrix */
  int32_t fd, pattern;       /* the open file; 1: its entries have no values */
} lgt_market;
/* How many entries begin in each of the slices [first, past).  Waits for nothing but the file. */
lgt_status lgt_market_count(const lgt_market *market, int64_t first, int64_t past, int64_t *counts);

/* ---- launches ----------------------------------------------------------------------------- */

typedef struct lgt_launch {
  uint16_t kind;
  uint8_t nargs;
  uint8_t nparams;
  uint32_t line;             /* lgt_line() of the source line, 0: unknown */
  lgt_id arg[12];
  lgt_scalar param[6];
} lgt_launch;

/* State that the issuing side and the runtime share, so that a launch is a few stores and no call:
 * fill launches[count], add 1 to count, and when it reaches `limit` call lgt_flush.  A new result is
 * an id taken from free_ids[--nfree] (never below 0: when it is 0 call lgt_array_new) whose entry
 * has `layout` set, a dense layout, and `store` 0: the runtime makes the store when it meets it. */
typedef struct lgt_handle {
  uint32_t store;
  uint32_t layout;
} lgt_handle;

typedef struct lgt_front {
  lgt_launch *launches;
  uint32_t count;
  uint32_t limit;
  lgt_handle *handles;       /* by id; the address never changes */
  uint32_t *free_ids;
  uint32_t nfree;
  uint32_t max_id;           /* no id in use is greater; kept by the runtime */
  const lgt_layout *layouts; /* by number; the address never changes */
  uint32_t nlayouts;
  uint32_t epoch;            /* changes when numbers of layouts that no array has were given back; kept by the runtime */
  uint32_t line;             /* lgt_line() of the line that looks at values next, 0: unknown; named when ranks differ */
  uint32_t all_lines;        /* 1: launches and looks should all say their lines: ranks are compared, or a profile is written */
  uint32_t reproducible;     /* 1: results must not depend on how arrays are cut; kept by the runtime */
} lgt_front;

lgt_front *lgt_front_of(lgt_runtime *rt);
/* A number for a source line, interned; `text` is "file:line". */
uint32_t lgt_line(lgt_runtime *rt, const char *text);

/* Launch from C: checks kind and arguments, then records.  May flush. */
lgt_status lgt_submit(lgt_runtime *rt, const lgt_launch *launch);
/* What lgt_submit checks, without recording: for those who fill the front themselves. */
lgt_status lgt_check(lgt_runtime *rt, const lgt_launch *launch);

/* Launch what reads or writes files, and wait for it: its parameters are this rank's own (pointers, say), so ranks do not
 * compare them.  What fails on one rank is an error on all; the message is that of the task.  Flushes and waits. */
lgt_status lgt_carry_out(lgt_runtime *rt, const lgt_launch *launch);

/* Plan and start what was recorded.  Returns 0 when done, 1 when the caller should first collect
 * its garbage, report dead handles with lgt_array_free_many, and call again (a caller without a
 * collector simply calls again), 2 likewise, but where a collector has begun already it need only end what it does, for
 * it does not matter if some dead handles are missed (1 may follow if it does); or a negative status. */
int lgt_flush(lgt_runtime *rt);
/* The heap that the caller's collector has just gone through, in bytes: how much a collection costs. */
void lgt_collected(lgt_runtime *rt, double heap);
/* Flush and wait for everything; returns the first error of a task that was not reported yet. */
lgt_status lgt_fence(lgt_runtime *rt);
/* on = 1: a wait for results returns at once with the error "interrupted", and so does every later one
 * until on = 0.  What was launched goes on and can be waited for again.  The only function here that a
 * signal handler may call. */
void lgt_interrupt(lgt_runtime *rt, int on);

/* ---- seeing inside ------------------------------------------------------------------------ */

/* Counter number n, its name in *name; past the last one the name is NULL. */
int64_t lgt_stat(lgt_runtime *rt, int n, const char **name);
void lgt_stats_reset(lgt_runtime *rt);
/* How the array is stored and made, as text.  Flushes.  Owned by the runtime, valid until the next call. */
const char *lgt_explain(lgt_runtime *rt, lgt_id array);
int lgt_rank(lgt_runtime *rt);
int lgt_size(lgt_runtime *rt);
/* How many memory domains there are, on all ranks, and how many threads compute here. */
int lgt_domains(lgt_runtime *rt);
int lgt_workers(lgt_runtime *rt);
/* The option min_tile: the smallest tile worth a domain of its own, in elements. */
int64_t lgt_min_tile(lgt_runtime *rt);
/* The option replicate: bytes of an array that an operation may bring to every rank. */
int64_t lgt_replicate(lgt_runtime *rt);
/* Seconds since some fixed point, from a clock that never goes back. */
double lgt_time(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
