/* keys_highway.cpp - liblgt-sort: numbers sorted by vectors, by Highway's quicksort.
 *
 * A module of its own, which keys.c loads at the first sort that is long enough: programs that sort nothing load neither
 * Highway nor the C++ library.  Highway picks the widest instruction set of the processor, and goes on with heapsort where
 * its pivots are bad, so no order of the numbers takes more than n log n steps.  Both functions may run on any number of
 * threads at once and sort in place.
 */
#include <hwy/contrib/sort/vqsort.h>

#include <cstddef>
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void lgt_sort_int32(int32_t *keys, size_t n) { hwy::Sorter()(keys, n, hwy::SortAscending()); }
EXPORT void lgt_sort_int64(int64_t *keys, size_t n) { hwy::Sorter()(keys, n, hwy::SortAscending()); }
