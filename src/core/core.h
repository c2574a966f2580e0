/* core.h - the files of the core, in the order in which data flows.
 *
 *   lgt          the public interface
 *   err mem log config half dtype     beneath everything
 *   pool         what arrays, and those who work on them, take of the machine's memory
 *   profile      what happened when, as a trace in a file
 *   peers        the other ranks, as a table that src/net fills
 *   rect runs    boxes of coordinates, regions; sets of positions along one dimension
 *   store        layouts (shapes and views), stores, handles
 *   result       layouts of what operations make of views
 *   partition    how a store is cut into tiles, one for each colour of a launch domain
 *   body         generators: scalar programs
 *   elementary   exp, sin, pow and their kin, written once for all that compute them
 *   helper       what interpreter and compiled kernels share: elementary functions, division, the instruction set
 *   task constraint         kinds, launches with resolved arguments; which of their dimensions are cut
 *                alike -> a launch domain
 *   footprint coherence     which elements each domain touches; who has the newest ones
 *   reproducible  launches in a form whose bits do not depend on how arrays are cut
 *   window       launches in program order, in canonical form
 *   loop         loop nests, and how they are cut into chunks
 *   interp       executes loops without compiling them
 *   object       machine code: an ELF object made executable, without LLVM
 *   kernel       compiled loops: cache, disk, background compilation
 *   emit         loop -> MLIR -> object; a module of its own, the only one that knows MLIR
 *   fuse weave taint recipes place assemble shift   a window -> a plan: groups of launches, each a task of a few loops
 *   exec         worker threads
 *   map          instances, copies between memories
 *   replica      what a domain has of a store
 *   depend       which tasks wait for which
 *   bind attempt rescue acquire poison survey point fold job shuffle transfer moves exchange image
 *                a plan and the window's stores -> instances, copies, messages, tasks
 *   blas         matrix products, as tasks with a CPU variant
 *   builtin      such variants for what is no loop over elements; what they share
 *   scan         running sums; one step of combining elements
 *   keys sort merge split gather special   sorting (by vectors in a module of its own, the only one that knows
 *                Highway), also in parts, and searching; reading and writing at positions that
 *                arrays hold; functions of one element that loop or look at bits
 *   count filter stack      how often values occur; convolutions; products of stacks of matrices
 *   product      products of matrices whose bits do not depend on how these are cut
 *   market       entries of matrices in text files
 *   lapack fft random       decompositions of matrices; Fourier transforms; distributions
 *   sparse       sparse matrices: products, conversions, sums
 *   agree        what all ranks decide together: did a value come about?
 *   runtime api explain file select sweep  the flush, a list of passes; the public functions; what planning kept goes
 *
 * A file includes headers of its own line and of earlier lines only; tests/core/test_layers.py checks
 * it.  Data flows in this order as far as planning goes; running a plan begins with its last lines.
 */
#ifndef LGT_CORE_H
#define LGT_CORE_H

#include "base/config.h"
#include "base/dtype.h"
#include "base/err.h"
#include "lgt.h"
#include "base/log.h"
#include "base/mem.h"

#endif
