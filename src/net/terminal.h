/* terminal.h - the terminal that a prompt has for itself is given back as it was found, however the run ends.
 *
 * While a line is edited the terminal echoes nothing.  A rank that is killed, or ended because another one failed, cannot
 * tell its editor, so the process that ends it, or outlives it, restores the terminal instead.  It does so only where there
 * is a prompt: a run that reads no lines cannot know whose terminal it is, and a pager may have set it meanwhile.
 *
 * Thread: keep before threads are started; any one may restore.
 */
#ifndef LGT_TERMINAL_H
#define LGT_TERMINAL_H

#pragma GCC visibility push(default)

/* Remembers how standard input is set, if it is a terminal.  Forked processes know it, too. */
void lgt_terminal_keep(void);

#pragma GCC visibility pop

/* If this process has the terminal: others in its background leave it alone. */
void lgt_terminal_restore(void);

#endif
