/* object.h - machine code from a relocatable ELF object, without a linker and without LLVM.
 *
 * The bytes may come from a file, so nothing in them is trusted: whatever does not fit what the
 * emitter makes is refused with a status, never followed.
 */
#ifndef LGT_OBJECT_H
#define LGT_OBJECT_H

#include "base/err.h"

typedef struct lgt_object lgt_object;

/* Map the object's code into memory and resolve its symbols. */
lgt_status lgt_object_load(const void *bytes, size_t size, lgt_object **out);
/* A function that the object defines; NULL if there is none of that name. */
void *lgt_object_symbol(const lgt_object *object, const char *name);
/* Nothing may be running in it. */
void lgt_object_free(lgt_object *object);

#endif
