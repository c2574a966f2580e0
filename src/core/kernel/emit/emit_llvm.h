/* emit_llvm.h - what emit.c and emit_ptx.c share of LLVM's machinery. */
#ifndef LGT_EMIT_LLVM_H
#define LGT_EMIT_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "kernel/emit/emit.h"

/* ---- emit.c ---- */
/* From MLIR's text; NULL with a message. */
LLVMModuleRef translate(const char *source, LLVMContextRef context, lgt_emit_result *out);
/* False with a message. */
bool optimise(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine, lgt_emit_result *out);
/* The object, or the text of assembly with a NUL at its end. */
bool generate(LLVMModuleRef module, LLVMTargetMachineRef machine, bool text, lgt_emit_result *out);
double seconds(void);

/* ---- emit_ptx.c ---- */
/* From MLIR's text to PTX; false with a message. */
bool compile_device(const char *source, const lgt_loop *loop, lgt_emit_result *out);

#endif
