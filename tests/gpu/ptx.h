/* ptx.h - an emulator of PTX: runs a kernel as a device would, and reports what compute-sanitizer would.
 *
 * For machines without a GPU.  The text is what LLVM's NVPTX back end writes for sm_80; results have the
 * bits that the PTX manual defines.  A kernel with a mistake ends with a message instead of a result:
 *
 *   - memory: out of bounds, freed, misaligned, never written (registers, local and shared memory; global
 *     memory where the allocation says what was written);
 *   - races between threads, in shared memory and in global memory, that no barrier, no atomic operation with
 *     fences and no end of the launch puts in order; ld.global.nc of what the same launch writes;
 *   - barriers that not all threads reach, shuffles from lanes that take no part;
 *   - floating point that an assembler may contract, that is add, sub or mul without a rounding mode;
 *   - kernels that do not end.
 *
 * Blocks run interleaved, in an order that the seed decides, and so do the warps of a block, so kernels that
 * wait for each other (a grid barrier, which needs a cooperative launch) make progress.
 *
 * Threads: a module may be run by several threads at once; what sets something in it must be alone.
 */
#ifndef LGT_PTX_H
#define LGT_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module ptx_module;
typedef struct ptx_kernel ptx_kernel;

/* NULL if the text is not understood: `log` then says why, with the line and its text. */
ptx_module *ptx_load(const char *text, char *log, size_t log_size);
void ptx_free(ptx_module *module);

/* ---- Kernels (.entry) ---- */

typedef struct {
  size_t offset, bytes, align; /* in the parameter space */
} ptx_param;

typedef struct {
  const char *name;
  int params;
  const ptx_param *param;
  size_t param_bytes;   /* of the parameter space: end of the last parameter */
  size_t static_shared; /* bytes of .shared variables with a size */
  bool dynamic_shared;  /* has an .extern .shared array */
  size_t local_bytes;   /* of stack for each thread, without called functions' */
  unsigned maxntid[3];  /* 0 where the kernel does not say */
  unsigned reqntid[3];
  unsigned minctasm;
  unsigned registers; /* 32-bit registers that the text declares, which is far more than ptxas needs */
} ptx_kernel_info;

int ptx_kernels(const ptx_module *module);
const ptx_kernel *ptx_kernel_at(const ptx_module *module, int number);
const ptx_kernel *ptx_find(const ptx_module *module, const char *name); /* NULL if there is none */
const ptx_kernel_info *ptx_info(const ptx_kernel *kernel);

/* ---- Variables of the module (.global and .const) ---- */

typedef struct {
  const char *name;
  size_t bytes, align;
  const void *initial; /* `bytes` of them, zeros where the text says nothing */
  bool constant;       /* .const: the kernels may not write it */
  uint64_t address;    /* on the device; 0 until ptx_place */
} ptx_global;

int ptx_globals(const ptx_module *module);
const ptx_global *ptx_global_at(const ptx_module *module, int number);
/* The driver allocates the variables, copies their initial bytes, and says where each is, before anything runs. */
void ptx_place(ptx_module *module, int number, uint64_t address);

/* ---- Running ---- */

typedef struct {
  uint64_t base, bytes; /* the allocation */
  char *host;           /* where the emulator may read and write its bytes */
  uint8_t *written;     /* a byte for each: not 0 if it was ever written, or NULL if nobody knows; the emulator sets them */
  uint8_t *touched; /* a byte for each, or NULL: the launch sets bit 0 where it reads, bit 1 where it writes (atomics: both) */
} ptx_memory;

typedef struct {                    /* counted if asked for */
  uint64_t instructions;            /* of threads */
  uint64_t doubles;                 /* products, sums and the like of float64; a quotient or a root counts as several */
  uint64_t loads, stores, atomics;  /* of global memory, by threads */
  uint64_t load_bytes, store_bytes; /* of global memory */
  uint64_t sectors;                 /* of 32 bytes, for each load or store of a warp */
  uint64_t barriers;                /* of blocks */
  uint64_t waits; /* for global memory, of the thread that waits most often: what it has loaded meanwhile comes at once */
} ptx_counts;

enum { /* what is not looked for */
       PTX_NO_RACES = 1,
       PTX_NO_UNWRITTEN = 2,
       PTX_NO_CONTRACTION = 4
};

typedef struct {
  unsigned grid[3], block[3];
  size_t dynamic_shared;
  bool cooperative;    /* all blocks are resident; else only some are, and a block that waits for a later one hangs */
  void *const *params; /* one pointer for each parameter, as cuLaunchKernel's */
  uint64_t seed;       /* of the order in which blocks and warps run */
  uint64_t limit;      /* instructions of threads, after which the kernel is taken to hang; 0: 10^10 */
  unsigned unchecked;  /* PTX_NO_... */
  unsigned resident;   /* blocks at a time if not cooperative; 0: 16 */
  /* The allocation that holds the address, false if there is none (or it was freed).  Called again in each launch;
     during a launch allocations stay as they are. */
  bool (*find)(void *context, uint64_t address, ptx_memory *out);
  void *context;
  ptx_counts *counts; /* NULL if nobody wants to know; added to */
} ptx_launch;

/* Runs all blocks.  On false memory is as far as the kernel came, and `error` names kernel, line, block and thread. */
bool ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char *error, size_t error_size);

#endif
