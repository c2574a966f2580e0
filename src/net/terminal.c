/* terminal.c - see terminal.h. */
#include "terminal.h"

#include <stdbool.h>
#include <termios.h>
#include <unistd.h>

static bool kept;
static struct termios before;

void lgt_terminal_keep(void) { kept = tcgetattr(STDIN_FILENO, &before) == 0; }

void lgt_terminal_restore(void) {
  if (kept && tcgetpgrp(STDIN_FILENO) == getpgrp()) tcsetattr(STDIN_FILENO, TCSANOW, &before);
}
