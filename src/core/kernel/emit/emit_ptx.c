/* emit_ptx.c - from a module for a device to PTX.
 *
 * Always for sm_80: every later device takes it.  LLVM does no more than inlining and what is cheap, since ptxas optimises
 * by itself.  The functions that the loop calls come from device_functions.c, as bitcode of which only these are read.
 */
#include "kernel/emit/emit_llvm.h"

#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>

#include "kernel/grid.h"

static const char triple[] = "nvptx64-nvidia-cuda";

/* Begin and end of the bitcode; both the same if lgt was built without clang. */
extern const char _binary_device_functions_bc_start[], _binary_device_functions_bc_end[];

static LLVMTargetMachineRef machine; /* made at the first use, kept */

static bool start(lgt_emit_result *out) {
  char *error = NULL;
  LLVMTargetRef target;
  if (machine) return true;
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  if (LLVMGetTargetFromTriple(triple, &target, &error)) {
    snprintf(out->message, sizeof out->message, "LLVM has no target %s: %s", triple, error);
    LLVMDisposeMessage(error);
    return false;
  }
  machine = LLVMCreateTargetMachine(target, triple, "sm_80", "+ptx70", LLVMCodeGenLevelNone, LLVMRelocPIC,
                                    LLVMCodeModelDefault);
  return machine != NULL;
}

/* Errors of the code generator end the process unless somebody hears of them. */
static void on_diagnostic(LLVMDiagnosticInfoRef diagnostic, void *user) {
  lgt_emit_result *out = user;
  if (LLVMGetDiagInfoSeverity(diagnostic) != LLVMDSError || out->message[0]) return;
  char *text = LLVMGetDiagInfoDescription(diagnostic);
  snprintf(out->message, sizeof out->message, "%s", text);
  LLVMDisposeMessage(text);
}

/* ---- functions that are called --------------------------------------------------------------------------- */

static bool calls_functions(LLVMModuleRef module) {
  for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
    if (LLVMIsDeclaration(fn) && !LLVMGetIntrinsicID(fn)) return true;
  return false;
}

static bool is_named(LLVMValueRef fn, const char *name) {
  size_t length;
  return !strcmp(LLVMGetValueName2(fn, &length), name);
}

/* Does it do the loop's work, or fold what that left? */
static bool is_main(LLVMValueRef fn) {
  return is_named(fn, "lgt_kernel") || is_named(fn, "lgt_wide") || is_named(fn, "lgt_tiles");
}
static bool is_kernel(LLVMValueRef fn) {
  return is_main(fn) || is_named(fn, "lgt_steps") || is_named(fn, "lgt_chunks");
}

/* What arrived is for this module alone, and for the module's processor. */
static void adopt(LLVMModuleRef module) {
  for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
    if (LLVMIsDeclaration(fn) || is_kernel(fn)) continue;
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMRemoveStringAttributeAtIndex(fn, (unsigned)LLVMAttributeFunctionIndex, "target-features", 15);
    LLVMRemoveStringAttributeAtIndex(fn, (unsigned)LLVMAttributeFunctionIndex, "target-cpu", 10);
  }
  for (LLVMValueRef data = LLVMGetFirstGlobal(module); data; data = LLVMGetNextGlobal(data))
    if (!LLVMIsDeclaration(data)) LLVMSetLinkage(data, LLVMInternalLinkage);
}

static bool link_functions(LLVMModuleRef module, LLVMContextRef context, lgt_emit_result *out) {
  if (!calls_functions(module)) return true;
  size_t size = (size_t)(_binary_device_functions_bc_end - _binary_device_functions_bc_start);
  LLVMModuleRef functions;
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRange(_binary_device_functions_bc_start, size, "functions", false);
  if (!size ||
      LLVMGetBitcodeModuleInContext2(context, buffer, &functions)) { /* lazily; it keeps the buffer */
    if (!size) LLVMDisposeMemoryBuffer(buffer);
    snprintf(out->message, sizeof out->message, "this lgt was built without functions for devices");
    return false;
  }
  /* So that the linker takes only what is called. */
  for (LLVMValueRef fn = LLVMGetFirstFunction(functions); fn; fn = LLVMGetNextFunction(fn))
    if (!LLVMIsDeclaration(fn)) LLVMSetLinkage(fn, LLVMLinkOnceODRLinkage);
  if (LLVMLinkModules2(module, functions)) {
    snprintf(out->message, sizeof out->message, "functions for devices cannot be linked");
    return false;
  }
  adopt(module);
  if (!calls_functions(module)) return true;
  snprintf(out->message, sizeof out->message, "a function is missing on devices");
  return false;
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */

static LLVMValueRef number(LLVMContextRef context, int n) {
  return LLVMConstInt(LLVMInt32TypeInContext(context), (unsigned long long)n, false);
}

static void annotate(LLVMModuleRef module, LLVMContextRef context, LLVMValueRef fn, const char *what, int n) {
  LLVMMetadataRef part[3] = {LLVMValueAsMetadata(fn), LLVMMDStringInContext2(context, what, strlen(what)),
                             LLVMValueAsMetadata(number(context, n))};
  LLVMAddNamedMetadataOperand(module, "nvvm.annotations",
                              LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, part, 3)));
}

/* Its parameter is a struct that is passed by value. */
static void mark_kernel(LLVMModuleRef module, LLVMContextRef context, LLVMValueRef fn, int bytes) {
  unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5),
           align = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMTypeRef type = LLVMArrayType2(LLVMInt64TypeInContext(context), (uint64_t)bytes / 8);
  LLVMAddAttributeAtIndex(fn, 1, LLVMCreateTypeAttribute(context, by_value, type));
  LLVMAddAttributeAtIndex(fn, 1, LLVMCreateEnumAttribute(context, align, 8));
  annotate(module, context, fn, "kernel", 1);
}

static void mark_kernels(LLVMModuleRef module, LLVMContextRef context, const lgt_loop *loop) {
  for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
    if (!is_kernel(fn)) continue;
    mark_kernel(module, context, fn, is_main(fn) ? lgt_grid_param_bytes(loop) : lgt_grid_fold_bytes(loop));
    annotate(module, context, fn, "maxntidx",
             is_named(fn, "lgt_wide") ? LGT_GRID_WIDE_THREADS : LGT_GRID_THREADS);
  }
}

static bool compile_module(LLVMModuleRef module, LLVMContextRef context, const lgt_loop *loop,
                           lgt_emit_result *out) {
  static const char passes[] =
      "always-inline,globaldce,function(sroa,early-cse,infer-address-spaces,early-cse,simplifycfg)";
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  double t0 = seconds();
  mark_kernels(module, context, loop);
  bool done = link_functions(module, context, out) && optimise(module, passes, machine, out);
  out->seconds[LGT_EMIT_OPTIMISE] = seconds() - t0;
  t0 = seconds();
  done = done && generate(module, machine, true, out) && !out->message[0];
  out->seconds[LGT_EMIT_GENERATE] = seconds() - t0;
  return done;
}

bool compile_device(const char *source, const lgt_loop *loop, lgt_emit_result *out) {
  if (!start(out)) return false;
  LLVMContextRef context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(context, on_diagnostic, out);
  LLVMModuleRef module = translate(source, context, out);
  bool done = module && compile_module(module, context, loop, out);
  if (module) LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return done;
}
