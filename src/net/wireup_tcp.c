/* wireup_tcp.c - ranks that meet at an address which all know beforehand: given by the user, or derived from
 * what Slurm tells each task.
 *
 * Slurm: rank 0 runs on the first node of the step (unless an arbitrary distribution was asked for, which is
 * refused), and the port follows from the numbers of job and step, which also are the run's cookie.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wireup.h"

/* "host:port", "[::1]:port". */
static lgt_status split_address(const char *text, char *host, size_t room, int *port) {
  const char *colon = strrchr(text, ':');
  char *end = NULL;
  size_t length = colon ? (size_t)(colon - text) : 0;
  *port = colon ? (int)strtol(colon + 1, &end, 10) : 0;
  if (length > 2 && *text == '[' && text[length - 1] == ']') text++, length -= 2;
  if (!length || length >= room || !end || *end || *port < 1 || *port > 65535 || memchr(text, ' ', length))
    return lgt_err(LGT_BAD_ARGUMENT, "rendezvous \"%s\": expected host:port, such as node1:7000", text);
  memcpy(host, text, length);
  host[length] = 0;
  return LGT_OK;
}

static lgt_status meet(const char *host, int port, int rank, int size, lgt_wireup *out) {
  out->rank = rank;
  out->size = size;
  snprintf(out->address, sizeof out->address, "%d %s", port, rank ? host : "localhost");
  return rank || size == 1 ? LGT_OK : lgt_wireup_listen(&port, &out->listener);
}

lgt_status lgt_wireup_rendezvous(const lgt_wireup_options *options, lgt_wireup *out) {
  char host[256];
  int port;
  lgt_status status = split_address(options->rendezvous, host, sizeof host, &port);
  if (status) return status;
  if (options->size < 1 || options->rank < 0 || options->rank >= options->size)
    return lgt_err(LGT_BAD_ARGUMENT, "a rendezvous of %d ranks with rank %d: expected ranks 0 to n - 1 of n",
                   options->size, options->rank);
  out->how = "rendezvous";
  return meet(host, port, options->rank, options->size, out);
}

/* The first host of a Slurm list such as "login,node[03-05,9]"; false if that is not to be seen. */
static bool first_host(const char *list, char *host, size_t room) {
  size_t n = strcspn(list, "[,");
  const char *digits = list[n] == '[' ? list + n + 1 : "";
  size_t count = strspn(digits, "0123456789");
  const char *close = strchr(digits, ']');
  size_t tail = close ? strcspn(close + 1, ",[") : 0;
  if (!n || n + count + tail >= room || (list[n] == '[' && (!count || !close))) return false;
  snprintf(host, room, "%.*s%.*s%.*s", (int)n, list, (int)count, digits, (int)tail, close ? close + 1 : "");
  return true;
}

static int number(const char *name) {
  const char *text = getenv(name);
  return text && isdigit((unsigned char)*text) ? atoi(text) : -1;
}

lgt_status lgt_wireup_slurm(const lgt_wireup_options *options, lgt_wireup *out) {
  (void)options;
  const char *nodes = getenv("SLURM_STEP_NODELIST"), *distribution = getenv("SLURM_DISTRIBUTION");
  int job = number("SLURM_JOB_ID"), step = number("SLURM_STEP_ID");
  char host[256];
  if (job < 0 || step < 0 || !nodes || !first_host(nodes, host, sizeof host) ||
      (distribution && strstr(distribution, "arbitrary")))
    return lgt_err(LGT_UNSUPPORTED,
                   "cannot tell from Slurm's variables where rank 0 runs (SLURM_JOB_ID, SLURM_STEP_ID, "
                   "SLURM_STEP_NODELIST); use srun --mpi=pmix, or --rendezvous");
  out->how = "Slurm";
  out->gathered = true;
  out->cookie = (uint64_t)job << 32 | (uint32_t)step;
  return meet(host, 10000 + (job * 131 + step * 7) % 20000, number("SLURM_PROCID"),
              number("SLURM_STEP_NUM_TASKS"), out);
}
