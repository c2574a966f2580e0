/* lgt.h - the public interface of liblgt, for programs that use it: runtimes, arrays, task kinds, launches, errors.
 *
 * A program creates a runtime, makes arrays, and launches tasks on them.  Launches are recorded, fused and executed later;
 * nothing here waits unless its documentation says "waits".  A binding to a language with a garbage collector also uses
 * lgt_binding.h; lua_lgt.h puts lgt into a lua_State.
 *
 * Conventions
 *   - What can fail returns an lgt_status, or the number of what it makes (an array, a kind, a value), which is 0 if it
 *     fails.  lgt_message() then tells what was given, what was expected and what to do, and lgt_last_status() has the
 *     status.  Outputs are set on success only.
 *   - Not thread-safe: one runtime belongs to the thread that opened it.  Two runtimes are independent of each other.
 *   - Extents and coordinates count elements, from 0; dimensions, arguments and parameters count from 0, too.  Messages
 *     count all of them from 1, as Lua does.  Strides of memory are in bytes.
 *
 * The binary interface.  A program that was built with this header runs with every later liblgt of the same soname
 * (liblgt.so.N).  As long as the soname stays, functions, options and enumerators are only added, and what there is keeps its
 * meaning.  A struct whose first member is `size` may get more members at its end: the maker of such a struct must set
 * `size` to its sizeof, and a reader must not look beyond `size`.  Other structs stay as they are, those without a definition
 * here excepted.  Anything else is a new soname.  lgt_binding.h promises nothing of this: a binding is built with, and runs
 * with, one version of lgt (lgt_version_number).
 *
 * Options of a configuration: name, type, default, whether lgt_option may change it, meaning.  They are set, from weakest to
 * strongest, by the default, by LGT_<NAME> in the environment, and by lgt_config_set.  INT: 0 or more; COUNT: 1 or more;
 * BOOL: 0 or 1, also no/yes, off/on, false/true; SIZE: bytes or elements, may end in K, M, G or T, powers of 1024; EXTENT: a
 * SIZE of 1 or more; DEVICES: a number, none, all or auto; TIME: seconds; TEXT: any text.
 *   cpus           INT     0              worker threads including the script's own; 0: one for each core
 *   domains        COUNT   1              memory domains this process behaves as, each with its own copies of data
 *   emulate        INT     0              for tests: devices that this process emulates, each for a domain of its own
 *   emulate_mem    SIZE    256M           bytes of memory of each of them
 *   gpus           DEVICES auto           GPUs for each process to compute on: a number, all, none, or auto: one, for what it
 *                                         is faster at
 *   gpu_mem        SIZE    0              bytes of memory of each of them that arrays may take; 0: most of what is free
 *   gpu_credit     INT     0              with gpus=auto: milliseconds that trying a GPU may cost besides a tenth of the
 *                                         program's time
 *   gpu_strict     BOOL    0              refuse what has no variant for GPUs, instead of running it on the host
 *   mem            SIZE    0              bytes that arrays may take; 0: what the machine or its cgroup has to give
 *   ranks          INT     0              processes that run the script together; -n N starts them; 0: as mpirun has
 *   rendezvous     TEXT    -              HOST:PORT where the ranks meet, if each is started by itself
 *   rank           INT     0              which of them this is; rank 0 runs on HOST
 *   pretend_ranks  INT     0              issue as one rank of so many would, compute nothing, and say what that costs
 *   as_rank        INT     0              with --pretend-ranks: which of them
 *   tcp            BOOL    0              let ranks talk over TCP only
 *   all_output     BOOL    0              show what every rank prints, not only rank 0
 *   heartbeat      TIME    10             seconds of silence after which a rank counts as dead
 *   start_timeout  TIME    30             seconds within which all ranks must have met
 *   patience       TIME    1              seconds of waiting after which ranks compare what they have done
 *   fusion         BOOL    1     run time fuse launches into tasks
 *   kernel_fusion  BOOL    1     run time merge the loops of a fused task into common passes
 *   temporaries    BOOL    1     run time do not store results that only the task itself needs
 *   cache          BOOL    1              keep kernels and bytecode on disk
 *   cache_dir      TEXT    -              where; default $XDG_CACHE_HOME/lgt or ~/.cache/lgt
 *   compile        BOOL    1     run time compile kernels; 0: interpret them
 *   background     BOOL    1     run time compile while the interpreter runs; 0: wait for the compiler
 *   finish         BOOL    1              a program that ends leaves its last kernels to a process that compiles them for
 *                                         the next run
 *   isa            TEXT    -              limit kernels to avx2 or generic vector instructions
 *   reproducible   BOOL    0     run time the same bits for any number of ranks, domains and tiles
 *   window         COUNT   256   run time greatest number of launches analysed together; with one GPU twice as many
 *   trace          BOOL    1     run time find what repeats among launches, and plan it once
 *   trace_sample   COUNT   250            launches between two searches for what repeats
 *   trace_history  COUNT   8000           launches that are searched at most
 *   trace_shortest COUNT   2              least number of launches of a trace
 *   trace_longest  INT     0              greatest number of launches of a trace; 0: as many as a window has
 *   mix            BOOL    1     run time for tests: one task of launches that are cut apart between the same domains; 0:
 *                                         a task each
 *   widen          INT     20    run time microseconds for which domains compute what others do, too, to spare an
 *                                         exchange; 0: never
 *   overlap        INT     20             microseconds that a message across a network takes: large tasks do meanwhile what
 *                                         needs none; 0: they wait
 *   between        SIZE    8M    run time bytes that the loops of one task may leave for one another in memory
 *   skew           SIZE    1M    run time bytes that loops which follow each other row by row touch at once, a share of a
 *                                         core's cache; 0: none do
 *   abreast        SIZE    16K   run time cost of a loop, as moving so many bytes, that makes it run at once with others
 *                                         of its task; 0: none do
 *   replicate      SIZE    1G    run time with ranks: bytes of an array that an operation may bring to every rank whole
 *   min_tile       EXTENT  64K   run time smallest tile worth a domain of its own, in elements
 *   max_tiles      INT     0     run time greatest number of tiles; 0: one for each domain
 *   jitter         INT     0              seed of random local decisions, for tests; 0: none
 *   profile        TEXT    -              file for a trace of what runs when, for ui.perfetto.dev; rank R writes
 *                                         FILE.rankR
 *   debug          TEXT    -              what to log: a list such as fuse:3,exec of topics and levels 1 to 4
 *   check          BOOL    0              verify each pass's result and each kernel's accesses (not --check SCRIPT)
 *
 * Operations of generators (lgt_body_op): number of operands, classes of element types (b bool, i signed integers,
 * u unsigned integers, f floats, c complex numbers, r ranges), names.
 *   1  f       signbit floor ceil trunc rint cbrt exp2 exp10 expm1 log1p asin acos atan asinh acosh atanh erf erfc
 *              lgamma tgamma
 *   1  fc      isnan isinf isfinite sqrt exp log log2 log10 sin cos tan sinh cosh tanh
 *   1  iufc    neg abs
 *   1  cr      real imag
 *   1  biufc   cast
 *   1  iuf     sign
 *   1  biu     not
 *   2  biuf    min max fmin fmax lt le gt ge
 *   2  iufc    add sub mul div pow
 *   2  iuf     floordiv mod fmod
 *   2  f       atan2 hypot copysign
 *   2  biu     and or xor
 *   2  iu      shl shr
 *   2  biufcr  eq ne
 *   2  if      complex
 *   2  u       philox
 *   3  biufcr  select
 *
 *   The operands have one type, which is also the type of the value, but for these: comparisons and tests (eq ne lt le gt
 *   ge isnan isinf isfinite signbit) give bool; select(a, b, c) is a ? b : c, where a is bool; abs, real and imag of a
 *   complex number give the type of its parts, complex(a, b) makes one of them, and the same three make and take apart
 *   ranges; cast gives any type.
 *   - Each operation is done in its type: no contraction to fma, no reassociation, no excess precision.
 *   - Integers wrap.  div truncates and fmod is its remainder, floordiv and mod follow Python.  Integer division by zero
 *     gives 0.  A shift by the width or more gives 0, or the sign.  and, or, xor, not of bool are logical.
 *   - min and max give NaN if an operand is NaN; fmin and fmax give the other operand.  rint rounds half to even.
 *   - Elementary functions have the same bits on every machine: float64 within 1 ulp (pow and lgamma 2), float32 and
 *     float16 correctly rounded.
 *   - cast from float to integer truncates.  cast to bool is x != 0.
 *   - philox(a, b) is Philox4x32-10 with counter a and key b, of uint64.
 *   Reductions (lgt_body_reduce): sum (iufc), prod (iuf), min max (biuf), and or xor (biu); lgt_body_reduce_arg: argmin,
 *   argmax.
 *
 * Constraints of a kind (lgt_kind_new): words that say how a launch may be cut into parts that run apart.  P stands for a
 * dimension of an argument, ARGUMENT.DIMENSION as in 0.1; A stands for an argument; numbers count from 0.  A dimension that no
 * word names is never cut.
 *   align(P,P,...)          The dimensions have one extent and are cut alike.
 *   broadcast(P,...)        Never cut, nor is what is aligned with it.
 *   bloat(P,below,above)    A part also sees so many elements before and after its own.  Only for arguments that are read.
 *   scale(P,block)          Index i of what P is aligned with goes with elements block * i to block * (i + 1) - 1 of P.
 *   scale(P)                The same, with as many elements as it takes for all of P.
 *   varies                  The last bits of results depend on how the arguments are cut: reproducible mode refuses this kind.
 *   by_rows                 Argument 0 is a vector and the only one that is written, and the variant may be called for any
 *                           few of its elements, by any thread, and again later.  What is done elementwise with that
 *                           vector is then done in the same pass, while it is in the cache; the tile of argument 0 may be
 *                           memory for just these elements.
 *   What a part needs of a dimension that is never cut may be named by data.  Only that is brought to where the part runs;
 *   there may be anything in place of the rest.
 *   image_points(A:P,...;base)      Of P, the positions that are elements of A (int32 or int64).  `base` is what the first
 *                                   position is called, 0 if left out; negative positions count from the end.
 *   image_ranges(A,B:P,...)         Of P, the ranges that begin with the elements of A and end before those of B.  If they are
 *                                   written, the ranges of each part lie side by side, behind those of the parts before.
 *   image_inverse(A,Q:P,...;base)   Of P, the indices at which A holds a position in the part's tile of dimension Q, or a
 *                                   position that is outside of all of it.
 *
 * Declarations stand between the two GCC visibility pragmas and are free of macros, so that LuaJIT's FFI reads them.
 */
#ifndef LGT_H
#define LGT_H
#include <stddef.h>
#include <stdint.h>

#define LGT_VERSION_MAJOR  0
#define LGT_VERSION_MINOR  3
#define LGT_VERSION_PATCH  0
#define LGT_VERSION_NUMBER (LGT_VERSION_MAJOR * 1000000 + LGT_VERSION_MINOR * 1000 + LGT_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct lgt_runtime lgt_runtime;
typedef uint32_t lgt_id;      /* an array; 0: none */
typedef uint16_t lgt_kind_id; /* a task kind; 0: none */
typedef uint32_t lgt_value;   /* a value of a generator; 0: none */

/* ---- errors --------------------------------------------------------------------------------- */

typedef int32_t lgt_status;
enum {
  LGT_OK = 0,
  LGT_NO_MEMORY = -1, /* of the machine, or below the limit (option `mem`); freeing arrays helps */
  LGT_BAD_ARGUMENT = -2,
  LGT_BAD_SHAPE = -3, /* shapes do not fit, or are too large */
  LGT_BAD_DTYPE = -4, /* element types do not fit */
  LGT_OUT_OF_BOUNDS = -5,
  LGT_UNSUPPORTED = -6,
  LGT_IO = -7,          /* a file */
  LGT_TASK_FAILED = -8, /* what a variant may return for a failure of its own */
  LGT_COMPILE = -9,
  LGT_RELEASED = -10,    /* the array was detached from its memory */
  LGT_SYSTEM = -11,      /* a system call failed */
  LGT_INTERRUPTED = -12, /* lgt_interrupt */
  LGT_SCRIPT = -13,      /* a Lua script failed */
  LGT_DEVICE_LOST = -14  /* a device has failed for good, with all that is in its memory */
};

/* What the last failed call of this thread had to say, until the next one fails. */
const char *lgt_message(void);
/* Its status, for a caller that got the number 0. */
lgt_status lgt_last_status(void);
/* "out of memory", "bad shape", ...; "unknown status" for a number that is none. */
const char *lgt_status_name(lgt_status status);
/* Set the message of this thread; returns the status.  For variants. */
lgt_status lgt_fail(lgt_status status, const char *message);

/* LGT_VERSION_NUMBER of the library, and the version as text. */
int lgt_version_number(void);
const char *lgt_version(void);

/* ---- elements ------------------------------------------------------------------------------- */

enum {
  LGT_MAX_DIM = 6,   /* dimensions of an array */
  LGT_MAX_ARGS = 12, /* arguments of a launch */
  LGT_MAX_PARAMS = 6 /* parameters of a launch */
};

/* clang-format off */
typedef enum lgt_dtype {
  LGT_BOOL, LGT_INT8, LGT_INT16, LGT_INT32, LGT_INT64,
  LGT_UINT8, LGT_UINT16, LGT_UINT32, LGT_UINT64,
  LGT_FLOAT16, LGT_FLOAT32, LGT_FLOAT64, LGT_COMPLEX64, LGT_COMPLEX128,
  LGT_RANGE,               /* a pair of int64: first and past-the-end index, for sparse matrices */
  LGT_NDTYPE               /* how many there are in this version */
} lgt_dtype;
/* clang-format on */

/* Any element, by value.  Floats of every width are in f, integers in i or u, bool in i (0 or 1),
 * complex numbers in c[0] + i c[1]. */
typedef union lgt_scalar {
  double f;
  int64_t i;
  uint64_t u;
  double c[2];
  int64_t range[2];
} lgt_scalar;

/* Elements in memory: a part of an array, or all of it. */
typedef struct lgt_tile {
  void *data;                  /* its first element */
  int64_t extent[LGT_MAX_DIM]; /* in elements */
  int64_t stride[LGT_MAX_DIM]; /* in bytes */
  int64_t origin[LGT_MAX_DIM]; /* coordinates of its first element within the whole array */
  int32_t ndim;
  int32_t dtype;            /* lgt_dtype */
  const int64_t (*rows)[2]; /* of a dimension under image_inverse: the indices that count, as nrows ranges, first and */
  int64_t nrows;            /* past-the-end, ascending; NULL: all */
} lgt_tile;

/* ---- the runtime ---------------------------------------------------------------------------- */

typedef struct lgt_config lgt_config;

/* Defaults, then LGT_* of the environment; fails if one of these has a bad value.  An unknown LGT_* variable draws a warning
 * on stderr (LGT_TEST_* and LGT_FAKE_* are left to tests). */
lgt_status lgt_config_new(lgt_config **config);
void lgt_config_free(lgt_config *config);
/* Set one option from text, e.g. ("cpus", "2"). */
lgt_status lgt_config_set(lgt_config *config, const char *name, const char *value);
/* The table of options as text for --help. */
const char *lgt_config_help(void);

lgt_status lgt_open(const lgt_config *config, lgt_runtime **rt); /* config is copied; NULL: that of lgt_config_new */
void lgt_close(lgt_runtime *rt);                                 /* waits for running tasks */
/* Change an option of a running runtime, e.g. ("fusion", "0").  Waits. */
lgt_status lgt_option(lgt_runtime *rt, const char *name, const char *value);

/* Start what was launched so far. */
lgt_status lgt_flush(lgt_runtime *rt);
/* Flushes and waits for everything; the first error of a task that was not reported yet. */
lgt_status lgt_fence(lgt_runtime *rt);
/* What is launched until the end is the same each time under this name: the same operations on arrays of the same shapes,
 * which may be others.  Planned once, it is replayed then.  Where it is not the same it runs as if it had no name, and *why
 * says what differed first (the text is the runtime's, valid until the next call); otherwise *why is NULL.  why = NULL: not all
 * of it was launched, so this time does not count.  A trace within another one is a part of that one.  What has more than 32768
 * launches is not kept.  Both flush. */
lgt_status lgt_trace_begin(lgt_runtime *rt, const char *name);
lgt_status lgt_trace_end(lgt_runtime *rt, const char **why);
/* on = 1: a wait for results returns at once with LGT_INTERRUPTED, and so does every later one until on = 0.  What was
 * launched goes on and can be waited for again.  The only function here that a signal handler may call. */
void lgt_interrupt(lgt_runtime *rt, int on);

/* ---- several ranks -------------------------------------------------------------------------- */

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
/* The same numbers, of a runtime; without several ranks 0 and 1. */
int lgt_rank(lgt_runtime *rt);
int lgt_size(lgt_runtime *rt);

/* ---- arrays --------------------------------------------------------------------------------- */

/* A new array in C order; its contents are undefined until it is written.  `shape` may be NULL if ndim is 0. */
lgt_id lgt_array_new(lgt_runtime *rt, lgt_dtype dtype, int ndim, const int64_t *shape);
/* Another number for the same array, which is freed by itself. */
lgt_id lgt_array_alias(lgt_runtime *rt, lgt_id array);
/* The number is no longer used.  What was launched on the array goes on; other numbers and views of it stay. */
void lgt_array_free(lgt_runtime *rt, lgt_id array);

/* Where memory lies, with DLPack's numbers: of the host; of the GPU that the runtime works on, which has to be one. */
typedef enum lgt_memory_kind { LGT_MEMORY_HOST = 1, LGT_MEMORY_CUDA = 2 } lgt_memory_kind;

/* Use memory of this program as an array in C order, without a copy.  Of a GPU: waits until all is done that the process has
 * asked of it, in whatever stream.  On several ranks each gives memory of its own,
 * and the contents must be alike now, also those that are going to be overwritten: memory of malloc is filled before.
 * What is written through one array must not be memory of another one: lgt does not see that they share it.
 * `release` (may be NULL) is called once, on the runtime's thread, when lgt no longer uses the memory. */
lgt_id lgt_array_attach(lgt_runtime *rt, lgt_dtype dtype, int ndim, const int64_t *shape, lgt_memory_kind kind, void *data,
                        void (*release)(void *context), void *context);
/* Flushes and waits until the memory given to attach holds the array's newest values, then gives it back: what is done later
 * with the array or a view of it fails with LGT_RELEASED. */
lgt_status lgt_array_detach(lgt_runtime *rt, lgt_id array);

/* Memory of a GPU with the elements of an array, in C order, as they are now: for another library, which has it until it calls
 * lgt_shared_free, on any thread, perhaps after the runtime has closed.  Waits until they are there.  Of a view: an error. */
typedef struct lgt_shared {
  void *data;                        /* the GPU's address */
  int32_t device;                    /* number of the GPU among those that are visible */
  void (*free)(struct lgt_shared *); /* lgt's own */
} lgt_shared;
lgt_status lgt_array_share(lgt_runtime *rt, lgt_id array, lgt_memory_kind kind, lgt_shared **out);
void lgt_shared_free(lgt_shared *shared);

typedef struct lgt_description {
  size_t size;   /* sizeof(lgt_description), set by the caller */
  int32_t dtype; /* lgt_dtype */
  int32_t ndim;
  int64_t shape[LGT_MAX_DIM];
  int64_t count; /* elements */
} lgt_description;

/* What is known of an array without waiting. */
lgt_status lgt_array_describe(lgt_runtime *rt, lgt_id array, lgt_description *description);

/* Views: other arrays of the same elements, to be freed by themselves.  What is written into one is seen by all. */
lgt_id lgt_array_slice(lgt_runtime *rt, lgt_id array, int dim, int64_t first, int64_t count, int64_t step);
lgt_id lgt_array_project(lgt_runtime *rt, lgt_id array, int dim, int64_t index);  /* without dimension `dim` */
lgt_id lgt_array_promote(lgt_runtime *rt, lgt_id array, int dim, int64_t extent); /* with a new, stretched one */
lgt_id lgt_array_transpose(lgt_runtime *rt, lgt_id array, const int *axes);
/* The elements (i, i + above) of the matrices that two dimensions span, along a new last dimension. */
lgt_id lgt_array_diagonal(lgt_runtime *rt, lgt_id array, int row, int column, int64_t above);
/* All windows of `width` elements along a dimension, whose extent becomes less by width - 1, as a new last dimension. */
lgt_id lgt_array_windows(lgt_runtime *rt, lgt_id array, int dim, int64_t width);
/* NumPy's broadcast_to: dimensions are aligned at the right, extents of 1 are stretched. */
lgt_id lgt_array_broadcast(lgt_runtime *rt, lgt_id array, int ndim, const int64_t *shape);
/* Fails where the strides do not allow a view: copy first. */
lgt_id lgt_array_reshape(lgt_runtime *rt, lgt_id array, int ndim, const int64_t *shape);

/* The element of an array that has one.  Flushes and waits. */
lgt_status lgt_array_item(lgt_runtime *rt, lgt_id array, lgt_scalar *out);
/* The element at `index`, one number for each dimension.  Flushes and waits. */
lgt_status lgt_array_element(lgt_runtime *rt, lgt_id array, const int64_t *index, lgt_scalar *out);
/* Copy the elements into `out`, in C order.  Flushes and waits. */
lgt_status lgt_array_copy_out(lgt_runtime *rt, lgt_id array, void *out);
/* Copy `data`, in C order, into the array, which must not be stretched.  Flushes and waits. */
lgt_status lgt_array_copy_in(lgt_runtime *rt, lgt_id array, const void *data);
/* The elements where they are, in memory of the host.  mode is "r", "w" or "rw", of a stretched view "r".  Flushes and waits.
 * Valid until the next call that takes the runtime. */
lgt_status lgt_array_host(lgt_runtime *rt, lgt_id array, const char *mode, lgt_tile *out);
/* The elements, in C order, as the bytes of an open file from `offset` on: written there, or read from there (`reversed`: the
 * file has the bytes of each number in the other order).  On several ranks each moves what it owns, through a file descriptor
 * of its own; what one cannot do is an error on all of them.  The elements of an array whose reading failed are undefined.
 * Flushes and waits. */
lgt_status lgt_array_write(lgt_runtime *rt, lgt_id array, int fd, int64_t offset);
lgt_status lgt_array_read(lgt_runtime *rt, lgt_id array, int fd, int64_t offset, int reversed);

/* ---- task kinds with a generator -------------------------------------------------------------- */

/* A generator is a scalar program over one element of each argument, which fuses with what is launched around it.  An
 * append that fails returns 0 or a status, and so does everything that uses its value; it is enough to look at what
 * lgt_kind_generator returns, which reports the first failure. */
typedef struct lgt_body lgt_body;

lgt_status lgt_body_new(lgt_body **body);
void lgt_body_free(lgt_body *body);
/* Append an operation by its name (see the table above): "add", "exp", "select", ...; operands that it does not have are 0.
 * Returns its value, of type `dtype`. */
lgt_value lgt_body_op(lgt_body *body, const char *operation, lgt_dtype dtype, lgt_value a, lgt_value b, lgt_value c);
lgt_value lgt_body_const(lgt_body *body, lgt_dtype dtype, lgt_scalar value);
lgt_value lgt_body_param(lgt_body *body, lgt_dtype dtype, int index); /* a by-value parameter of the launch */
lgt_value lgt_body_load(lgt_body *body, lgt_dtype dtype, int arg);    /* the element of argument `arg` */
/* The coordinate along dimension `dim` of the launch's iteration space, an int64; dim -1: the position in C order. */
lgt_value lgt_body_index(lgt_body *body, int dim);
lgt_status lgt_body_store(lgt_body *body, int arg, lgt_value value);
/* Reduce `value` into argument `arg` over the dimensions in which the argument is stretched.  What the argument holds takes
 * part, as in +=; with `fresh` it is dropped. */
lgt_status lgt_body_reduce(lgt_body *body, int arg, const char *operation, lgt_value value, int fresh);
/* argmin/argmax: argument `arg` gets the value, `arg + 1` (int64) the position `index`. */
lgt_status lgt_body_reduce_arg(lgt_body *body, int arg, const char *operation, lgt_value value, lgt_value index);

/* A kind with a generator; takes over `body` (also when it fails).  Its arguments are aligned: each has the launch's
 * iteration space as its shape after NumPy's broadcasting rules. */
lgt_kind_id lgt_kind_generator(lgt_runtime *rt, const char *name, lgt_body *body);

/* ---- task kinds with functions of the program -------------------------------------------------- */

/* A kind whose work is done by variants.  `privileges` has one letter for each argument: r, w (all of it is overwritten),
 * m (read and written).  `constraints` may be "": the launch is not cut.  See above for its words. */
lgt_kind_id lgt_kind_new(lgt_runtime *rt, const char *name, const char *privileges, const char *constraints);

/* Devices that a variant can be for. */
typedef enum lgt_variant_class { LGT_VARIANT_CPU = 1 } lgt_variant_class;

/* What a variant is called for: rows [lo, hi) of dimension 0 of its first argument's tile. */
typedef struct lgt_work {
  size_t size;              /* sizeof(lgt_work) when liblgt was built */
  const lgt_tile *tiles;    /* of each argument, the elements that this part of the launch works on */
  const lgt_scalar *params; /* those of the launch; LGT_MAX_PARAMS of them, 0 from where it gave none */
  int32_t nargs;
  int32_t reserved;
  int64_t lo, hi;
} lgt_work;

/* Returns LGT_OK, or sets a message with lgt_fail and returns the status: then the results are poisoned, and a look
 * at them raises that message.  May run on any thread, several at a time.  `context` is that of lgt_kind_variant. */
typedef lgt_status (*lgt_variant)(void *context, const lgt_work *part);

/* What does the work of a kind of lgt_kind_new on a class of devices, before its first launch.  `context` must live as long
 * as the runtime. */
lgt_status lgt_kind_variant(lgt_runtime *rt, lgt_kind_id kind, lgt_variant_class device, lgt_variant function, void *context);

/* The product of two matrices of float32, float64, complex64 or complex128, by the machine's BLAS: argument 0 =
 * argument 1 x argument 2.  Reproducible mode refuses it. */
lgt_kind_id lgt_kind_gemm(lgt_runtime *rt, lgt_dtype dtype);

/* ---- launches ------------------------------------------------------------------------------- */

typedef struct lgt_launch {
  lgt_kind_id kind;
  uint8_t nargs;
  uint8_t nparams;
  uint32_t line; /* lgt_line() of the source line, 0: unknown */
  lgt_id arg[LGT_MAX_ARGS];
  lgt_scalar param[LGT_MAX_PARAMS];
} lgt_launch;

/* Check kind and arguments, then record.  May flush. */
lgt_status lgt_submit(lgt_runtime *rt, const lgt_launch *launch);
/* A number for a source line, for messages; `text` is "file:line".  0: there is no memory for it. */
uint32_t lgt_line(lgt_runtime *rt, const char *text);

/* ---- seeing inside -------------------------------------------------------------------------- */

/* Counter number n, its name in *name; past the last one the name is NULL. */
int64_t lgt_stat(lgt_runtime *rt, int n, const char **name);
void lgt_stats_reset(lgt_runtime *rt);
/* How the array is stored and made, as text.  Flushes.  The text is the runtime's, valid until the next call. */
lgt_status lgt_explain(lgt_runtime *rt, lgt_id array, const char **text);
/* How many memory domains there are, on all ranks, and how many threads compute here. */
int lgt_domains(lgt_runtime *rt);
int lgt_workers(lgt_runtime *rt);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
