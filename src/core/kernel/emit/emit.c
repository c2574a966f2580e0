/* emit.c - the kernel compiler: a loop becomes an ELF object.
 *
 *   write       emit_loop.c and emit_op.c write a module of MLIR: arith and math on vectors, cf and
 *               func for control, LLVM's own operations for memory
 *   parse       MLIR reads and verifies it
 *   lower       four conversions to the LLVM dialect
 *   translate   to LLVM IR
 *   optimise    next to nothing: the module is written the way it should run
 *   generate    LLVM's code generator writes the object into memory
 *
 * This file and its parts make up liblgt-emit.so, which links MLIR and LLVM (some 25 ms to load) and a
 * private copy of the few core functions it needs.  It exports lgt_emit_loop and lgt_emit_device alone; everything that
 * goes wrong is told in the result, since messages and logs of the copy reach nobody.
 *
 * LLVM ends the process when it meets what it thinks impossible.  Here that is caught: the loop fails,
 * and since LLVM's state is unknown then, so does every later one; the interpreter goes on.
 *
 * Thread: any; one loop at a time, under `lock`.  MLIR's context, the target and its machines are made
 * once and kept until the process ends: making them costs as much as a small kernel.
 */
#include "kernel/emit/emit_llvm.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/Conversion.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/ControlFlow.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/LLVM.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Target/LLVMIR.h>

#include "base/mem.h"
#include "kernel/grid.h"

/* ---- MLIR and LLVM ------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below, and MLIR and LLVM themselves */
static struct machinery {
  bool ready;
  bool broken;     /* by a fatal error */
  jmp_buf escape;  /* where a fatal error leads */
  char fatal[200]; /* what it said */
  MlirContext context;
  LLVMTargetRef target;
  char *triple;
  LLVMTargetMachineRef machine[LGT_NISA];
} the;

static void on_fatal_error(const char *reason) {
  snprintf(the.fatal, sizeof the.fatal, "%s", reason);
  longjmp(the.escape, 1);
}

/* Within this module, what MLIR and LLVM want to be called at exit never is: their static objects must
 * outlive a thread that is still compiling when the program exits. */
int __cxa_atexit(void (*destroy)(void *), void *object, void *module);
int __cxa_atexit(void (*destroy)(void *), void *object, void *module) {
  (void)destroy, (void)object, (void)module;
  return 0;
}

static bool start(lgt_emit_result *out) {
  if (the.ready) return true;
  char *error = NULL;
  LLVMInstallFatalErrorHandler(on_fatal_error);
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  the.triple = LLVMGetDefaultTargetTriple();
  if (LLVMGetTargetFromTriple(the.triple, &the.target, &error)) {
    snprintf(out->message, sizeof out->message, "LLVM has no target %s: %s", the.triple, error);
    LLVMDisposeMessage(error);
    LLVMDisposeMessage(the.triple);
    return false;
  }
  the.context = mlirContextCreateWithThreading(false);
  mlirRegisterAllLLVMTranslations(the.context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__llvm__(), the.context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__arith__(), the.context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__math__(), the.context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__cf__(), the.context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__func__(), the.context);
  the.ready = true;
  return true;
}

/* The host's own CPU, or the level below it that the isa names. */
static LLVMTargetMachineRef machine_for(lgt_isa isa) {
  static const char *const level[LGT_NISA] = {[LGT_ISA_GENERIC] = "x86-64-v2", [LGT_ISA_AVX2] = "x86-64-v3"};
  if (the.machine[isa]) return the.machine[isa];
  char *cpu = NULL, *features = NULL;
  if (!level[isa]) {
    cpu = LLVMGetHostCPUName();
    features = LLVMGetHostCPUFeatures();
  }
  the.machine[isa] =
      LLVMCreateTargetMachine(the.target, the.triple, cpu ? cpu : level[isa], features ? features : "",
                              LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
  if (cpu) LLVMDisposeMessage(cpu);
  if (features) LLVMDisposeMessage(features);
  return the.machine[isa];
}

static void keep_message(MlirStringRef piece, void *user) {
  lgt_emit_result *out = user;
  size_t used = strlen(out->message);
  snprintf(out->message + used, sizeof out->message - used, "%.*s", (int)piece.length, piece.data);
}

static MlirLogicalResult on_diagnostic(MlirDiagnostic diagnostic, void *user) {
  lgt_emit_result *out = user;
  if (!out->message[0]) mlirDiagnosticPrint(diagnostic, keep_message, out); /* the first says most */
  return mlirLogicalResultSuccess();
}

static bool lower(MlirModule module) {
  MlirPassManager passes = mlirPassManagerCreate(the.context);
  mlirPassManagerEnableVerifier(passes, false);
  mlirPassManagerAddOwnedPass(passes, mlirCreateConversionConvertMathToLLVMPass());
  mlirPassManagerAddOwnedPass(passes, mlirCreateConversionArithToLLVMConversionPass());
  mlirPassManagerAddOwnedPass(passes, mlirCreateConversionConvertControlFlowToLLVMPass());
  mlirPassManagerAddOwnedPass(passes, mlirCreateConversionConvertFuncToLLVMPass());
  bool done = mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(passes);
  return done;
}

static void add_attribute(LLVMValueRef fn, LLVMContextRef context, const char *name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(fn, (unsigned)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(context, kind, value));
}

/* No unwind tables, since nothing throws through a kernel.  An aligned stack: around calls
 * all vectors are spilled, and when each spill crosses a cache line a long body runs 10% slower. */
static void mark_functions(LLVMModuleRef module, LLVMContextRef context) {
  for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
    add_attribute(fn, context, "nounwind", 0);
    if (LLVMCountBasicBlocks(fn)) add_attribute(fn, context, "alignstack", 64);
  }
}

bool optimise(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine, lgt_emit_result *out) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return true;
  char *message = LLVMGetErrorMessage(error);
  snprintf(out->message, sizeof out->message, "%s", message);
  LLVMDisposeErrorMessage(message);
  return false;
}

bool generate(LLVMModuleRef module, LLVMTargetMachineRef machine, bool text, lgt_emit_result *out) {
  char *error = NULL;
  LLVMMemoryBufferRef buffer;
  LLVMCodeGenFileType type = text ? LLVMAssemblyFile : LLVMObjectFile;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, type, &error, &buffer)) {
    snprintf(out->message, sizeof out->message, "%s", error);
    LLVMDisposeMessage(error);
    return false;
  }
  size_t size = LLVMGetBufferSize(buffer);
  out->object = malloc(size + text);
  if (out->object) {
    memcpy(out->object, LLVMGetBufferStart(buffer), size);
    if (text) ((char *)out->object)[size] = 0;
    out->size = size;
  }
  LLVMDisposeMemoryBuffer(buffer);
  return out->object != NULL;
}

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

LLVMModuleRef translate(const char *source, LLVMContextRef context, lgt_emit_result *out) {
  double t0 = seconds();
  MlirModule module = mlirModuleCreateParse(the.context, mlirStringRefCreateFromCString(source));
  out->seconds[LGT_EMIT_PARSE] = seconds() - t0;
  if (mlirModuleIsNull(module)) return NULL;
  t0 = seconds();
  LLVMModuleRef code =
      lower(module) ? mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(module), context) : NULL;
  mlirModuleDestroy(module);
  out->seconds[LGT_EMIT_LOWER] = seconds() - t0;
  return code;
}

/* From text to object; true when that worked. */
static bool compile_text(const char *source, lgt_isa isa, lgt_emit_result *out) {
  bool done = false;
  LLVMTargetMachineRef machine = machine_for(isa);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef code = translate(source, context, out);
  if (code) {
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(code, the.triple);
    LLVMSetModuleDataLayout(code, layout);
    LLVMDisposeTargetData(layout);
    mark_functions(code, context);
    double t0 = seconds();
    done = optimise(code, "function(early-cse)", machine, out);
    out->seconds[LGT_EMIT_OPTIMISE] = seconds() - t0;
    t0 = seconds();
    done = done && generate(code, machine, false, out);
    out->seconds[LGT_EMIT_GENERATE] = seconds() - t0;
    LLVMDisposeModule(code);
  }
  LLVMContextDispose(context);
  return done;
}

static bool compile(const char *source, const emitter *e, lgt_emit_result *out) {
  if (!the.broken && setjmp(the.escape) == 0)
    return e->device ? compile_device(source, e->loop, out) : compile_text(source, e->isa, out);
  the.broken = true;
  snprintf(out->message, sizeof out->message, "a fatal error of LLVM: %s", the.fatal);
  return false;
}

/* ---- the entry ------------------------------------------------------------------------------------ */

static bool emitter_init(emitter *e, const lgt_loop *loop, lgt_isa isa, lgt_kernel_form form) {
  memset(e, 0, sizeof *e);
  e->loop = loop;
  e->isa = isa;
  e->form = form;
  e->out = &e->body;
  e->access = lgt_mem_zalloc((size_t)(loop->naccess + 1) * sizeof *e->access);
  e->value = lgt_mem_zalloc((size_t)(loop->ninst + 1) * sizeof *e->value);
  e->divisor = lgt_mem_zalloc((size_t)(loop->ninst + 1) * sizeof *e->divisor);
  e->level = lgt_mem_zalloc((size_t)loop->ninst + 1);
  e->stage = lgt_mem_zalloc((size_t)(loop->ninst + 1) * sizeof *e->stage);
  e->carry = lgt_mem_zalloc((size_t)(4 * loop->ninst + 1) * sizeof *e->carry);
  return e->access && e->value && e->divisor && e->level && e->stage && e->carry;
}

static void emitter_fini(emitter *e) {
  lgt_mem_free(e->access);
  lgt_mem_free(e->value);
  lgt_mem_free(e->divisor);
  lgt_mem_free(e->level);
  lgt_mem_free(e->stage);
  lgt_mem_free(e->carry);
  lgt_mem_free(e->decl.data);
  lgt_mem_free(e->done.data);
  lgt_mem_free(e->entry.data);
  lgt_mem_free(e->body.data);
}

/* The module's text, functions behind declarations. */
static char *write_module(emitter *e, bool device) {
  if (device) emit_device_module(e);
  else emit_module(e);
  append(&e->decl, &e->done);
  return e->decl.failed ? NULL : e->decl.data;
}

static lgt_status emit(const lgt_loop *loop, lgt_isa isa, lgt_kernel_form form, bool device, bool want_text,
                       lgt_emit_result *out) {
  emitter e;
  lgt_status status = LGT_NO_MEMORY;
  double t0 = seconds();
  char *source = emitter_init(&e, loop, isa, form) ? write_module(&e, device) : NULL;
  if (!source) {
    snprintf(out->message, sizeof out->message, "out of memory while writing a loop of %d instructions",
             loop->ninst);
    goto done;
  }
  out->seconds[LGT_EMIT_WRITE] = seconds() - t0;
  if (want_text) out->text = strdup(source);
  status = LGT_COMPILE;
  pthread_mutex_lock(&lock);
  t0 = seconds();
  if (start(out)) {
    out->seconds[LGT_EMIT_START] = seconds() - t0;
    MlirDiagnosticHandlerID handler =
        mlirContextAttachDiagnosticHandler(the.context, on_diagnostic, out, NULL);
    if (compile(source, &e, out)) status = LGT_OK;
    mlirContextDetachDiagnosticHandler(the.context, handler);
  }
  pthread_mutex_unlock(&lock);
done:
  emitter_fini(&e);
  return status;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT lgt_status lgt_emit_loop(const lgt_loop *loop, lgt_isa isa, lgt_kernel_form form, bool want_text,
                                lgt_emit_result *out) {
  memset(out, 0, sizeof *out);
  return emit(loop, isa, form, false, want_text, out);
}

EXPORT lgt_status lgt_emit_device(const lgt_loop *loop, bool want_text, lgt_emit_result *out) {
  memset(out, 0, sizeof *out);
  if (lgt_grid_dims(loop) >= 0) return emit(loop, LGT_ISA_AVX2, LGT_KERNEL_PLAIN, true, want_text, out);
  snprintf(out->message, sizeof out->message,
           "a loop of too many accesses, or of several forms of reductions");
  return LGT_UNSUPPORTED;
}
