/* image_moves.h - which elements move for an image (image.h), and between whom. */
#ifndef LGT_IMAGE_MOVES_H
#define LGT_IMAGE_MOVES_H

#include "move/image.h"

/* Find or make the moves of the touch's image, unless its store's history says that the image's elements have come. */
lgt_status lgt_image_moves_prepare(lgt_binder *binder, lgt_store *store, lgt_selected *selected);
void lgt_image_moves_free(lgt_image_moves *moves);

#endif
