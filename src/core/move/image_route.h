/* image_route.h - routes of images (image.h). */
#ifndef LGT_IMAGE_ROUTE_H
#define LGT_IMAGE_ROUTE_H

#include "move/image.h"

/* The touch's route, unless its store's history says that its image's elements have come. */
lgt_status lgt_route_prepare(lgt_binder *binder, lgt_store *store, lgt_touch *touch);
void lgt_routes_free(lgt_route *route);

#endif
