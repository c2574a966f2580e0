/* apart.h - what lgt (lua_apart.c) and the program lgt-apart (apart.c) say to each other.
 *
 * lgt-apart is begun once, by posix_spawn: a fork of lgt, with its threads, its devices and the pages of its arrays, would
 * be neither safe nor cheap.  It loads a script, and with it the library that may crash, and forks a *child* for each
 * file.  So a file costs a fork of a small process, and what one does to its process no other one sees.
 *
 *   orders     lgt to lgt-apart, messages on the socket APART_CONTROL: fork a child, end a child
 *   requests   lgt to a child, text on a socket of their own; the script answers them one after the other.  Large data are
 *              in memory that both have mapped, the window
 *
 * Each process notices the death of the others: a child ends when its socket is closed, and at once when lgt-apart is gone;
 * lgt-apart ends when lgt is gone, after its children; lgt sees that a socket was closed, and asks how the child has ended.
 */
#ifndef LGT_APART_H
#define LGT_APART_H

#include <stdint.h>

enum { APART_CONTROL = 3 }; /* descriptor, of lgt-apart */

/* The answer to each is an int. */
typedef struct apart_order {
  int32_t pid;    /* 0: fork a child, which gets the two descriptors that come along, its socket and the window's; the
                   * answer is its pid, -1: that failed.  Otherwise that child is ended; the answer is waitpid's status */
  int32_t gently; /* when its socket has ended it ends by itself, if that does not last */
  int64_t memory; /* what a child may allocate, in bytes */
} apart_order;

/* Before a request or a reply. */
typedef struct apart_head {
  uint64_t length;
  int64_t seconds; /* of processor time that answering may take */
} apart_head;

#endif
