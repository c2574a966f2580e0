/* kernel.h - compiled loops: found, loaded from disk, or compiled in the background.
 *
 * A kernel belongs to one loop (by the loop's bytes).  Its code has two forms, of which most loops need one: whoever plans a
 * loop says which (lgt_kernel_want), and how long the interpreter would take for it, by estimate.  Nobody waits for a
 * compiler there: the code may still be missing when the loop runs.  What runs it then asks lgt_kernel_missing, which waits
 * for the code where the interpreter would take longer, and else says that it is to run.  The order in which code is looked
 * for:
 *
 *   memory   a hash table of kernels by loop
 *   disk     an object file under cache_dir, named by a hash over the loop's bytes, the form, the version of
 *            lgt and of LLVM, and the host CPU's name and features; checked before it is used,
 *            written to a temporary name and renamed, ignored unless it belongs to this user
 *   emit     the compiler, a module of its own (liblgt-emit.so) loaded at the first cold kernel,
 *            because linking LLVM costs more than starting lgt
 *
 * Objects are position independent and refer to nothing but themselves and a short list of
 * functions (helpers of this library); object.c maps and relocates them.
 *
 * Targets are devices with code of their own (kernel_target.h).  Code for targets is made only for loops that a device is to
 * run (lgt_kernel_prepare); a caller that wants to run such a loop must wait for its code (lgt_kernel_loaded).
 *
 * Threads: the submitting thread alone calls lgt_kernel_get, lgt_kernel_want, and what is for targets; lgt_kernel_code and
 * lgt_kernel_missing are called by any.
 */
#ifndef LGT_KERNEL_H
#define LGT_KERNEL_H

#include <stdatomic.h>

#include "base/config.h"
#include "kernel/helper.h"
#include "kernel/kernel_target.h"
#include "kernel/loop.h"
#include "base/profile.h"

/* STREAM writes by non-temporal stores, for results that are too large to stay in cache. */
typedef enum lgt_kernel_form { LGT_KERNEL_PLAIN, LGT_KERNEL_STREAM, LGT_KERNEL_NFORM } lgt_kernel_form;

typedef struct lgt_kernel {
  lgt_loop *loop; /* owned */
  /* By form: NULL until the code is there.  Stored with release by the thread that installs it, loaded with acquire in
   * lgt_kernel_code. */
  _Atomic(lgt_kernel_fn) code[LGT_KERNEL_NFORM];
  atomic_int state[LGT_KERNEL_NFORM];  /* lgt_kernel_state */
  atomic_llong work[LGT_KERNEL_NFORM]; /* relaxed: nanoseconds that the interpreter has taken, or will take next */
} lgt_kernel;

typedef enum lgt_kernel_state { LGT_KERNEL_COLD, LGT_KERNEL_QUEUED, LGT_KERNEL_READY, LGT_KERNEL_FAILED } lgt_kernel_state;

typedef struct lgt_kernels lgt_kernels;

lgt_status lgt_kernels_new(const lgt_config *config, lgt_kernels **out);
/* Before the first loop: so many threads work; what is compiled is reported (NULL: it is not). */
void lgt_kernels_watch(lgt_kernels *kernels, int cpus, lgt_profile *profile);
/* Are there targets? */
bool lgt_kernels_for_devices(const lgt_kernels *kernels);
/* One more target, which is borrowed; before code for targets is first wanted.  All are of one class. */
void lgt_kernels_for_target(lgt_kernels *kernels, lgt_target *target);
/* End the background thread, and unload what targets have loaded. */
void lgt_kernels_stop(lgt_kernels *kernels);
void lgt_kernels_free(lgt_kernels *kernels); /* stops them, too */

/* The kernel of this loop; takes over `loop`.  NULL when out of memory. */
lgt_kernel *lgt_kernel_get(lgt_kernels *kernels, lgt_loop *loop);
/* Code for the host is wanted, for a loop that is to run next over so many elements.  What is not on disk is compiled in the
 * order of the time for which the interpreter would run; what is interpreted in no time, last of all and not at once. */
void lgt_kernel_want(lgt_kernels *kernels, lgt_kernel *kernel, lgt_kernel_form form, int64_t elements);
/* Code in the other form is wanted instead. */
void lgt_kernel_want_other(lgt_kernels *kernels, lgt_kernel *kernel, lgt_kernel_form form);
/* Wait until what is wanted of the kernel is ready or has failed. */
void lgt_kernel_wait(lgt_kernels *kernels, lgt_kernel *kernel);

/* Code for all targets is wanted. */
void lgt_kernel_prepare(lgt_kernels *kernels, lgt_kernel *kernel);
/* Whether targets have code, without waiting: COLD, QUEUED, READY, or FAILED. */
lgt_kernel_state lgt_kernel_state_on_targets(const lgt_kernel *kernel);
/* Wait until the targets have code for a loop that is prepared; false, with a message: it cannot be made. */
bool lgt_kernel_loaded(lgt_kernels *kernels, lgt_kernel *kernel);
/* The code that a target has loaded. */
void *lgt_kernel_code_on(const lgt_kernel *kernel, const lgt_target *target);

/* What is to run `elements` of the `whole` that a task runs a loop over, where there is no code in this form: another form's
 * code, or this one's after a time in which the interpreter would not have done much; or NULL, the interpreter. */
lgt_kernel_fn lgt_kernel_missing(lgt_kernel *kernel, lgt_kernel_form form, int64_t elements, int64_t whole);

static inline lgt_kernel_fn lgt_kernel_code(lgt_kernel *kernel, lgt_kernel_form form) {
  return atomic_load_explicit(&kernel->code[form], memory_order_acquire);
}

typedef struct lgt_kernels_stats {
  int64_t compiled, loaded, failed;
  int64_t for_devices; /* loops for which targets have code */
  double compile_seconds;
} lgt_kernels_stats;
lgt_kernels_stats lgt_kernels_stat(lgt_kernels *kernels);
void lgt_kernels_stat_reset(lgt_kernels *kernels);

/* ---- inside: the emitter module ------------------------------------------------------------ */

/* clang-format off */
typedef enum lgt_emit_step {
  LGT_EMIT_WRITE, LGT_EMIT_START, LGT_EMIT_PARSE, LGT_EMIT_LOWER, LGT_EMIT_OPTIMISE, LGT_EMIT_GENERATE, LGT_EMIT_NSTEP
} lgt_emit_step;
/* clang-format on */

typedef struct lgt_emit_result {
  void *object; /* an ELF object with the function `lgt_kernel` or, by the form, `lgt_kernel_stream`;
                   the caller frees it with free() */
  size_t size;
  char *text; /* the MLIR module if that was asked for; free() */
  double seconds[LGT_EMIT_NSTEP];
  char message[400]; /* of a failure */
} lgt_emit_result;

/* Where a module that is loaded when it is needed lies: beside the file that this code is in (the shared library, or a
 * program that holds it), or where libraries are installed.  False: it is in neither place. */
bool lgt_module_path(const char *name, char *path, size_t size);

/* Exported by liblgt-emit.so as `lgt_emit_loop`.  Any thread. */
typedef lgt_status lgt_emit_loop_fn(const lgt_loop *loop, lgt_isa isa, lgt_kernel_form form, bool want_text,
                                    lgt_emit_result *out);
/* ... and as `lgt_emit_device`: `object` is a text for targets, and ends in a NUL, which `size` does not count. */
typedef lgt_status lgt_emit_device_fn(const lgt_loop *loop, bool want_text, lgt_emit_result *out);

#endif
