/* core.h - the rooms of the core, in the order in which data flows; in a room, its files in the same order.
 *
 *   base       beneath everything
 *     hash err mem log config disk_cache half dtype profile random rect runs
 *   model      what a program is made of: stores and views, bodies of operations, kinds, launches, constraints
 *     layout store failure result partition body body_complex kind call constraint key cell
 *   kernel     how a loop over elements is run: by an interpreter, or compiled
 *     elementary elementary_*   exp, sin, pow and their kin, written once for all that compute them
 *     helper helper_* loop fold_nest skew grid interp_ops interp object kernel_cache kernel_target kernel
 *     emit emit_*    loop -> MLIR -> object; a module of its own, the only one that knows MLIR
 *     device_functions   elementary functions and divisions for devices, compiled ahead of time
 *   plan       launches in program order -> groups of launches, each a task of a few loops
 *     excerpt targets reproducible window fuse verify weave weave_log barrier cells widen group taint recipes place sink assemble cut inline patch abreast deal shift
 *   device     what has memory of its own, and works on it
 *     device host emulated
 *   memory     where elements are: who touches which, who has the newest, instances and copies
 *     thin pool footprint coherence map replica
 *   exec       worker threads; which tasks wait for which
 *     exec depend
 *   move       jobs, copies and messages as tasks; which elements move, and between whom
 *     peers binder job template offload poison small message moves acquire evict touch exchange exchange_log record room image
 *     image_* stale agree
 *   bind       a plan meets the stores of one window, and becomes tasks
 *     bind work follow point fold shuffle survey rescue attempt ahead side
 *   trace      what repeats in the stream of launches is planned once
 *     repeats miner trie manual tracer
 *   ops        what is no loop over elements: tasks with variants in C
 *     blas builtin scan keys sort merge sort_parts gather select special histogram convolve batch product
 *     matrix_market lapack fft random sparse sparse_*
 *   runtime    the flush, a list of passes; the public functions
 *     runtime near devices handles look launch routine pick share flush api explain named file sweep
 *
 * A file includes headers of earlier rooms and of earlier files of its room only, and names the room ("plan/weave.h");
 * tests/core/test_layers.py checks it.  A source file may include any header of its own room.  lgt.h and
 * lgt_binding.h, the public interface, come before all rooms; this header is what nearly everybody needs.
 */
#ifndef LGT_CORE_H
#define LGT_CORE_H

#include "base/config.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "lgt_binding.h"

#endif
