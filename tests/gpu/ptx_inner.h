/* ptx_inner.h - what the files of the emulator share.
 *
 *   ptx_text.c     tokens of the text, numbers
 *   ptx_parse.c    the module: directives, variables, functions, labels
 *   ptx_operand.c  operands and modifiers of one instruction
 *   ptx_integer.c ptx_float.c ptx_half.c ptx_convert.c ptx_memory.c ptx_atomic.c ptx_warp.c ptx_control.c
 *                  the instructions: how each form is decoded, and what it does
 *   ptx_run.c      launches, blocks, warps, barriers
 *   ptx_order.c    shadow memory: races, and what was never written
 *
 * An instruction is decoded once, to a function that runs it for the lanes of a warp.  Registers hold 32 lanes of
 * 64 bits; a narrower value is extended with zeros.  Predicates are masks of 32 bits.  Each register has a mask of the
 * lanes in which it was ever written.
 *
 * Threads of a warp have their own program counters.  Those with the same one run together, and mostly the ones
 * that are behind run first, so that what diverged meets again at the first common instruction.
 */
#ifndef LGT_PTX_INNER_H
#define LGT_PTX_INNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx.h"

enum { LANES = 32, MAX_DEPTH = 24, BARRIERS = 16 };
#define ALL_LANES 0xffffffffu
/* Where generic addresses show shared and local memory. */
#define SHARED_WINDOW 0xfe00000000000000u
#define LOCAL_WINDOW  0xfd00000000000000u
#define WINDOW_MASK   0xff00000000000000u

/* ---- Types ---- */

/* clang-format off */
typedef enum {
  T_NONE, T_PRED, T_U8, T_U16, T_U32, T_U64, T_S8, T_S16, T_S32, T_S64, T_B8, T_B16, T_B32, T_B64,
  T_F16, T_F16X2, T_F32, T_F64, T_COUNT
} ptx_type;
/* clang-format on */

typedef struct {
  const char *name;
  int bytes;
  char family; /* 'p' 'u' 's' 'b' 'f' */
} ptx_type_info;
extern const ptx_type_info ptx_types[T_COUNT];

static inline int type_bytes(ptx_type t) { return ptx_types[t].bytes; }
static inline bool type_signed(ptx_type t) { return ptx_types[t].family == 's'; }
static inline bool type_float(ptx_type t) { return ptx_types[t].family == 'f'; }
static inline bool type_integer(ptx_type t) { return t >= T_U8 && t <= T_S64; }

typedef enum { SPACE_GENERIC, SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_LOCAL, SPACE_ENTRY, SPACE_PARAM } ptx_space;
typedef enum { ROUND_NONE, ROUND_N, ROUND_Z, ROUND_M, ROUND_P, ROUND_NI, ROUND_ZI, ROUND_MI, ROUND_PI } ptx_round;
/* clang-format off */
typedef enum {
  CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_EQU, CMP_NEU, CMP_LTU, CMP_LEU, CMP_GTU, CMP_GEU, CMP_NUM, CMP_NAN
} ptx_compare;
/* clang-format on */
/* How strong an access is, and what it puts in order. */
enum { ORDER_WEAK, ORDER_STRONG, ORDER_ACQUIRE = 2, ORDER_RELEASE = 4 };

/* ---- Instructions ---- */

/* A value: a register (0 or more), ~number of a constant (negative), or what a warp knows (SPECIAL and more). */
typedef int32_t ptx_ref;
/* A predicate: number * 2 + 1 if negated.  Predicate 0 is false.  Register 0 takes what nobody wants (_). */
typedef int32_t ptx_pred;
enum { SPECIAL_BASE = 1 << 28, NO_REF = INT32_MIN, NO_PRED = -1, FALSE_PRED = 0, TRUE_PRED = 1 };
/* clang-format off */
typedef enum {
  SPECIAL_TID_X, SPECIAL_TID_Y, SPECIAL_TID_Z, SPECIAL_NTID_X, SPECIAL_NTID_Y, SPECIAL_NTID_Z,
  SPECIAL_CTAID_X, SPECIAL_CTAID_Y, SPECIAL_CTAID_Z, SPECIAL_NCTAID_X, SPECIAL_NCTAID_Y, SPECIAL_NCTAID_Z,
  SPECIAL_LANEID, SPECIAL_WARPID, SPECIAL_NWARPID, SPECIAL_SMID, SPECIAL_NSMID, SPECIAL_GRIDID,
  SPECIAL_EQ, SPECIAL_LE, SPECIAL_LT, SPECIAL_GE, SPECIAL_GT, SPECIAL_CLOCK, SPECIAL_CLOCK64, SPECIAL_GLOBALTIMER,
  SPECIAL_STATIC_SMEM, SPECIAL_TOTAL_SMEM, SPECIAL_DYNAMIC_SMEM,
  SPECIAL_DYNAMIC, /* the .extern .shared array's address */
  SPECIAL_DEPOT,   /* the stack's */
  SPECIAL_COUNT
} ptx_special;
/* clang-format on */

/* What the interpreter's loop does itself. */
/* clang-format off */
typedef enum {
  PLAIN, BRANCH, BRANCH_INDEXED, CALL, RET, EXIT, TRAP, YIELD,
  BARRIER, /* of the block; op: see ptx_control.c */
  TOGETHER /* `run` for all lanes of a mask (the last source) at once */
} ptx_control;
/* clang-format on */

typedef struct ptx_warp ptx_warp;
typedef struct ptx_inst ptx_inst;
typedef void (*ptx_handler)(ptx_warp *w, const ptx_inst *i, uint32_t lanes);

enum { MAX_DST = 4, MAX_SRC = 8, MAX_READS = 10 };

struct ptx_inst {
  ptx_handler run;
  ptx_ref d[MAX_DST], s[MAX_SRC]; /* NO_REF where there is none; an address's base is s[0] */
  int32_t dp, dq;                 /* predicates that are written, or NO_PRED */
  ptx_pred sp, guard;             /* read */
  int32_t reads[MAX_READS];       /* registers that must have been written */
  int32_t preads[3];              /* and predicates */
  uint8_t nd, ns, nreads, npreads;
  uint8_t control, type, from, space, to_space, round, compare, combine, count, order, width;
  bool saturate, flush, cached;
  uint8_t copies;  /* moves what was never written: 1 from any source, 2 from the one sp chooses */
  uint8_t op;      /* of a group of instructions with one handler */
  uint8_t doubles; /* operations of float64, for ptx_counts */
  int64_t offset;
  uint32_t target; /* of a branch: instruction; of a call: function */
  int32_t *list;   /* owned; brx: labels; call: number of arguments, their offsets, result's or -1 */
  int lists;
  uint32_t line;
};

/* ---- The module ---- */

typedef struct {
  char *name;
  bool entry;
  uint32_t start, end; /* instructions */
  uint32_t line;
  int registers, predicates;
  int params, results; /* of the list below: parameters first */
  ptx_param *param;
  size_t param_bytes; /* of parameters and results */
  size_t frame_bytes; /* and of the .param arrays in the body */
  size_t local_bytes, shared_bytes;
  bool dynamic, defined;
  ptx_kernel_info info;
} ptx_function;

struct ptx_kernel {
  ptx_module *module;
  int function;
};

typedef struct {
  ptx_global info;
  char *name, *initial;
} ptx_variable;

typedef struct {
  uint64_t lane[LANES];
} ptx_wide;

typedef struct {
  int constant, variable;
  int64_t addend;
} ptx_patch; /* a constant that is the address of a variable */

struct ptx_module {
  ptx_inst *code;
  ptx_wide *constants;
  ptx_function *functions;
  ptx_kernel *kernels;
  ptx_variable *variables;
  ptx_patch *patches;
  int ncode, nconstants, nfunctions, nkernels, nvariables, npatches;
  int version;                         /* 70 is 7.0 */
  size_t shared_bytes;                 /* of variables outside functions */
  int most_registers, most_predicates; /* of called functions */
  size_t most_frame, most_local;
  char *lines;       /* the text, lines end with '\0' */
  const char **line; /* lines[n - 1] begins there */
  int nlines;
};

const char *ptx_line(const ptx_module *m, uint32_t line);

/* ---- Text ---- */

typedef enum { TOKEN_END, TOKEN_WORD, TOKEN_TEXT, TOKEN_SIGN } ptx_token_kind;
typedef struct {
  ptx_token_kind kind;
  char *text; /* owned by the parser; of a sign: one character */
  uint32_t line;
} ptx_token;

ptx_token *ptx_tokens(const char *text, int *count, char *log, size_t log_size); /* NULL: not understood */
void ptx_tokens_free(ptx_token *tokens, int count);
/* The bits of a number as a value of the type; false if it is none. */
bool ptx_number(const char *word, bool negative, ptx_type type, uint64_t *bits);

/* ---- The parser, which ends at the first error ---- */

typedef enum {
  SYMBOL_REGISTERS,
  SYMBOL_PREDICATES,
  SYMBOL_GLOBAL,
  SYMBOL_SHARED,
  SYMBOL_DYNAMIC,
  SYMBOL_LOCAL,
  SYMBOL_PARAM,
  SYMBOL_FUNCTION,
  SYMBOL_TARGETS
} ptx_symbol_kind;
typedef struct {
  ptx_symbol_kind kind;
  const char *name; /* borrowed from a token */
  int count;        /* of registers %r<count>; -1: the name alone */
  int64_t value;    /* first register, offset, or number */
  ptx_type type;
  bool entry; /* a parameter of a kernel */
} ptx_symbol;

typedef struct {
  const char *name;
  uint32_t at;
} ptx_label;
typedef struct {
  const char *name;
  uint32_t inst, line;
  int list; /* -1: the target */
} ptx_fixup;

/* One operand, as it is written. */
typedef enum { OPERAND_NAME, OPERAND_NUMBER, OPERAND_VECTOR, OPERAND_ADDRESS, OPERAND_LIST } ptx_operand_kind;
typedef struct {
  ptx_operand_kind kind;
  const char *name, *second; /* second: p|q */
  bool negative;             /* -number, !predicate */
  int64_t addend;            /* of an address or of a name */
  int first, count;          /* of a vector: its parts */
} ptx_operand;

enum { MAX_MODS = 16, MAX_OPERANDS = 24 };
typedef struct ptx_parser {
  ptx_module *m;
  ptx_token *tokens;
  int ntokens, at;
  ptx_symbol *symbols;
  int nsymbols;
  ptx_label *labels;
  int nlabels;
  ptx_fixup *fixups;
  int nfixups;
  ptx_function *f; /* whose body is parsed */
  /* The instruction. */
  char opcode[128];
  const char *mod[MAX_MODS];
  int mods, mod_at;
  ptx_operand operand[MAX_OPERANDS], part[MAX_OPERANDS];
  int operands, parts, operand_at;
  uint32_t line;
  ptx_inst *i;
  char *log;
  size_t log_size;
  jmp_buf stop;
} ptx_parser;

_Noreturn void parse_fail(ptx_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
const ptx_symbol *parse_symbol(ptx_parser *p, const char *name, int64_t *number);
int parse_constant(ptx_parser *p, uint64_t bits);
void *parse_grow(ptx_parser *p, void *array, int count, size_t size);

/* Modifiers, in the order in which they are written. */
bool take(ptx_parser *p, const char *mod);
ptx_type take_type(ptx_parser *p); /* fails if there is none */
bool next_is_type(ptx_parser *p);
ptx_type last_type(const ptx_parser *p); /* of the last modifier, which stays; T_NONE if it is no type */
ptx_round take_round(ptx_parser *p);     /* .rn .rz .rm .rp, or none */
bool take_scope(ptx_parser *p);          /* .cta .gpu .sys, or none */
ptx_space take_space(ptx_parser *p);     /* or SPACE_GENERIC */
/* Operands, in order. */
void want_dst(ptx_parser *p, ptx_type type);
void want_dst_wide(ptx_parser *p, ptx_type type); /* the register may be wider */
void want_dst_vector(ptx_parser *p, ptx_type type, int count, bool wide);
void want_dst_pred(ptx_parser *p);    /* p or p|q */
void want_second_pred(ptx_parser *p); /* the |p of what want_dst has read, if there is one */
void want_src(ptx_parser *p, ptx_type type);
void want_src_wide(ptx_parser *p, ptx_type type);
void want_src_vector(ptx_parser *p, ptx_type type, int count);
void want_src_pred(ptx_parser *p);
void want_address(ptx_parser *p);
void want_symbol(ptx_parser *p); /* a name whose address is meant */
bool more_operands(const ptx_parser *p);
ptx_operand *this_operand(ptx_parser *p);
int64_t want_integer(ptx_parser *p); /* a number, not a register */

/* Each decodes the opcodes that it knows. */
bool decode_integer(ptx_parser *p);
bool decode_bits(ptx_parser *p);
bool decode_compare(ptx_parser *p);
bool decode_float(ptx_parser *p);
bool decode_half(ptx_parser *p);
bool decode_convert(ptx_parser *p);
bool decode_memory(ptx_parser *p);
bool decode_atomic(ptx_parser *p);
bool decode_warp(ptx_parser *p);
bool decode_control(ptx_parser *p);
void decode_instruction(ptx_parser *p); /* what the fields say, to the end of the code */

/* ---- Running ---- */

typedef struct {
  uint64_t *value;           /* [register][lane] */
  uint32_t *defined;         /* [register]: lanes */
  uint32_t *coming;          /* [register]: lanes whose value was loaded from global memory, and not waited for */
  uint32_t *pred, *pdefined; /* [predicate] */
  char *param;               /* [lane][frame_bytes] */
  size_t param_stride, value_bytes, param_bytes;
  uint32_t back[LANES]; /* where the caller goes on */
} ptx_frame;

typedef struct ptx_run ptx_run_state;
typedef struct ptx_block ptx_block;
typedef struct ptx_clock ptx_clock;
typedef struct ptx_shadow ptx_shadow;

enum { MOST_LATE = 256 };
struct ptx_warp {
  ptx_run_state *run;
  ptx_block *block;
  ptx_frame *frame; /* of the lanes that run */
  ptx_wide special[SPECIAL_COUNT];
  int number;                     /* in the block */
  uint32_t first;                 /* number of lane 0 among all threads of the launch */
  uint32_t live, parked, waiting; /* lanes: not exited; at a barrier of the block; for others of the warp */
  uint32_t pc[LANES];
  uint8_t depth[LANES], barrier[LANES]; /* barrier: the one at which a parked lane is */
  uint32_t at;                          /* the instruction that runs */
  int level;                            /* its depth */
  uint32_t carry;                       /* lanes whose last .cc instruction carried */
  uint32_t synced;                      /* tick of the last bar.warp.sync of all lanes */
  ptx_frame frames[MAX_DEPTH];          /* allocated when they are needed */
  char *local, *local_written;          /* [lane][local_bytes] */
  ptx_memory cache[4];                  /* allocations that were looked up last */
  int cached;
  uint32_t *late[MOST_LATE]; /* borrowed: what is coming */
  int lates;
  uint32_t far;                                            /* lanes that the instruction loads from global memory for */
  uint64_t waits[LANES];                                   /* for that memory */
  ptx_clock *seen[LANES], *fenced[LANES], *pending[LANES]; /* ptx_order.c */
};

typedef struct {
  uint32_t arrived; /* threads */
  uint32_t ones;    /* of bar.red */
} ptx_barrier;

struct ptx_block {
  uint32_t number;    /* in the launch; ~0u: no block is here */
  int warps, blocked; /* blocked: warps that cannot go on before others do */
  uint32_t threads, live;
  ptx_warp *warp;
  char *shared, *shared_written;
  ptx_shadow *shadow;          /* of shared memory */
  uint32_t tick, barrier_tick; /* see ptx_order.c */
  ptx_barrier barrier[BARRIERS];
  ptx_clock *known;
};

struct ptx_run {
  const ptx_module *m;
  const ptx_function *f;
  const ptx_launch *launch;
  char *params;
  size_t shared_bytes, dynamic_offset, local_bytes;
  uint32_t blocks, threads; /* in the launch; of a block */
  ptx_block *block;         /* the resident ones */
  int resident;
  uint32_t *order, started; /* blocks in the order in which they begin */
  uint64_t random;
  uint64_t count, limit; /* instructions */
  ptx_counts counts;
  ptx_shadow *shadow; /* of global memory */
  struct ptx_orders *orders;
  bool failed;
  char *error;
  size_t error_size;
};

/* ptx_pool.c: memory with any contents; `bytes` are the same for both. */
void *ptx_pool_take(size_t bytes);
void ptx_pool_give(void *piece, size_t bytes);
void ptx_pool_modules(int change); /* one more, or one less */
/* Ends the run: the message gets kernel, line, block and thread. */
void ptx_fault(ptx_warp *w, int lane, const char *format, ...) __attribute__((format(printf, 3, 4)));
uint64_t ptx_random(uint64_t *state);
/* Runs up to `slice` instructions; false if no lane can go on. */
bool ptx_warp_run(ptx_warp *w, int slice);
void ptx_frame_enter(ptx_warp *w, int level, uint32_t lanes);
/* ptx_barrier.c: the lanes have come to a barrier; those of other warps may go on. */
enum { BARRIER_SYNC, BARRIER_POPC, BARRIER_AND, BARRIER_OR };
void ptx_barrier_arrive(ptx_warp *w, const ptx_inst *i, uint32_t lanes);
void ptx_exited(ptx_warp *w, uint32_t lanes);
void ptx_stuck(ptx_block *b); /* a fault: nobody of the block can go on */
static inline uint32_t ready_lanes(const ptx_warp *w) { return w->live & ~w->parked & ~w->waiting; }
/* Where the lane's bytes are, after all checks of bounds and alignment; NULL after a fault. */
typedef struct {
  char *host;
  uint8_t *written, *touched; /* or NULL */
  ptx_space space;            /* GLOBAL, SHARED or LOCAL */
  uint64_t address;           /* in that space */
} ptx_place_at;
/* ptx_memory.c.  Misaligned addresses of vectors count by the whole vector. */
bool ptx_locate(ptx_warp *w, int lane, ptx_space space, uint64_t address, int bytes, int align, ptx_place_at *out);
void ptx_touch(const ptx_place_at *at, int bytes, uint8_t how); /* 1: reads, 2: writes */

/* ptx_order.c */
typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_UPDATE } ptx_access;
bool ptx_order_init(ptx_run_state *r);
void ptx_order_fini(ptx_run_state *r);
ptx_shadow *ptx_shadow_new(void);
void ptx_shadow_clear(ptx_shadow *s);
void ptx_shadow_free(ptx_shadow *s);
void ptx_order_access(ptx_warp *w, int lane, const ptx_place_at *at, int bytes, ptx_access access, const ptx_inst *i);
void ptx_order_fence(ptx_warp *w, uint32_t lanes);
void ptx_order_barrier(ptx_block *b);
void ptx_order_warp(ptx_warp *w, uint32_t lanes);
void ptx_order_block_end(ptx_block *b);

/* ---- For handlers ---- */

static inline const uint64_t *in(const ptx_warp *w, ptx_ref ref) {
  if (ref < 0) return w->run->m->constants[~ref].lane;
  if (ref >= SPECIAL_BASE) return w->special[ref - SPECIAL_BASE].lane;
  return w->frame->value + (size_t)ref * LANES;
}
static inline uint64_t *out(const ptx_warp *w, ptx_ref ref) { return w->frame->value + (size_t)ref * LANES; }
static inline uint32_t pred_of(const ptx_warp *w, ptx_pred p) {
  uint32_t lanes = w->frame->pred[p >> 1];
  return p & 1 ? ~lanes : lanes;
}
static inline void set_pred(ptx_warp *w, int32_t number, uint32_t lanes, uint32_t value) {
  if (number >= 0) w->frame->pred[number] = (w->frame->pred[number] & ~lanes) | (value & lanes);
}

/* For each lane l of lanes. */
#define EACH_LANE(...)                                          \
  do {                                                          \
    if (lanes == ALL_LANES)                                     \
      for (int l = 0; l < LANES; l++) __VA_ARGS__               \
    else                                                        \
      for (uint32_t left_ = lanes; left_; left_ &= left_ - 1) { \
        int l = __builtin_ctz(left_);                           \
        __VA_ARGS__                                             \
      }                                                         \
  } while (0)

static inline float float_of(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float x;
  memcpy(&x, &low, sizeof x);
  return x;
}
static inline double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline uint64_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
/* Results that are no number, as the device makes them: one bit pattern for f32; for f64 that of the first operand
 * that is none, made quiet. */
#define NAN_F16   0x7fffu
#define NAN_F32   0x7fffffffu
#define NAN_F64   0xfff8000000000000u
#define QUIET_F64 0x0008000000000000u

#endif
