/* select.h - what boolean arrays pick, for a caller that has looked at them. */
#ifndef LGT_SELECT_H
#define LGT_SELECT_H

#include "lgt.h"

/* What the mask picks from `data`, whose first dimensions it has, to the beginning of `list`, which has room for as many as
 * the mask has elements; how many of these are true. */
int64_t lgt_select_pick(const lgt_tile *list, const lgt_tile *mask, const lgt_tile *data);
/* The positions, from 1, of what is true in the mask, to the beginning of a list for each of its dimensions; how
 * many. */
int64_t lgt_select_list(const lgt_tile *lists, const lgt_tile *mask);

#endif
