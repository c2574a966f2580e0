/* options.h - the command line: luajit's options, and long ones that are lgt's own.
 *
 * Reading it and carrying it out are two steps, as in luajit: what is wrong with a command line is said
 * before anything runs, and then -e, -l, -j, -O and -b happen in the order in which they were given.
 * --<name> sets a variable of the runtime (config.h).  Options end at the script; what follows is its own.
 */
#ifndef LGT_OPTIONS_H
#define LGT_OPTIONS_H

#include <lua.h>
#include <stdbool.h>

#include "lgt.h"

typedef struct command {
  int argc;
  char **argv;
  lgt_config *config;  /* owned by main */
  int script;          /* place of the script's name, or argc */
  bool interactive;    /* -i */
  bool version;        /* -v, or implied */
  bool executes;       /* -e or -b: without a script, standard input is not read */
  bool bytecode;       /* -b */
  bool loads;          /* -e, -l or -j */
  bool no_environment; /* -E */
  bool checks;         /* --check: what follows are scripts to examine */
} command;

typedef enum reading { READ_DONE, READ_STOP, READ_BAD } reading;

/* READ_STOP: --help or --version was answered.  READ_BAD: it was complained about. */
reading options_read(command *c);
/* 0; 1 after an error; -1 where -b has done all there is to do. */
int options_run(lua_State *L, command *c);

void print_banner(void);
void print_jit_status(lua_State *L);

#endif
