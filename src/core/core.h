/* core.h - the files of the core, in the order in which data flows.
 *
 *   lgt        the public interface
 *   err mem log config half dtype     beneath everything
 *   rect       boxes of coordinates, regions
 *   store      layouts (shapes and views), stores, handles
 *   partition  how a store is cut into tiles, one for each colour of a launch domain
 *   constraint which dimensions of a launch's arguments are cut alike -> a launch domain
 *   body       generators: scalar programs
 *   helper     what interpreter and compiled kernels share: libmvec, division, the instruction set
 *   task       task kinds and launches with resolved arguments
 *   window     launches in program order, in canonical form
 *   fuse       a window -> a plan: groups of launches, each a task of a few loops
 *   loop       loop nests, and how they are cut into chunks
 *   interp     executes loops without compiling them
 *   object     machine code: an ELF object made executable, without LLVM
 *   kernel     compiled loops: cache, disk, background compilation
 *   emit       loop -> MLIR -> object; a module of its own, the only file that knows MLIR
 *   depend     which tasks wait for which
 *   map        instances, copies between memories
 *   exec       worker threads
 *   runtime    the flush: a list of passes
 *
 * A file includes headers of earlier concepts only; tests/core/test_layers.py checks it.
 */
#ifndef LGT_CORE_H
#define LGT_CORE_H

#include "config.h"
#include "dtype.h"
#include "err.h"
#include "lgt.h"
#include "log.h"
#include "mem.h"

#endif
