/* wireup_pmix.c - ranks that a launcher with PMIx started.
 *
 * Rank 0 publishes where its hub listens, with one Put and one Commit; the others Get it, with a time limit.
 * No fence: on some launchers it synchronises one node only and says success.  Any answer but success is an
 * error.  The session stays open until the run ends, since launchers take a process that leaves without
 * PMIx_Finalize for a failed one.
 */
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <pmix.h>

#include "wire.h"
#include "wireup.h"

enum { RETRY_MS = 20 };
#define FUNCTIONS(X) X(PMIx_Init) X(PMIx_Finalize) X(PMIx_Put) X(PMIx_Commit) X(PMIx_Get) X(PMIx_Error_string)
#define HUB_KEY      "lgt.hub"

static struct {
#define X(name) __typeof__(name) *name;
  FUNCTIONS(X)
#undef X
} pmix;

static lgt_status load(void) {
  /* Global: its components, loaded later, look for its symbols. */
  void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return lgt_err(LGT_UNSUPPORTED, "started by a launcher with PMIx, but libpmix.so.2 cannot be loaded: %s",
                   dlerror());
#define X(name)                                                 \
  if (!(pmix.name = (__typeof__(name) *)dlsym(library, #name))) \
    return lgt_err(LGT_UNSUPPORTED, "libpmix.so.2 has no " #name);
  FUNCTIONS(X)
#undef X
  return LGT_OK;
}

static lgt_status failed(const char *what, pmix_status_t status) {
  return lgt_err(LGT_SYSTEM,
                 "%s failed: %s; the launcher and this process may use different versions of PMIx", what,
                 pmix.PMIx_Error_string(status));
}

/* Where this host can be reached: "host host ...", the loopback last. */
static void own_hosts(char *text, size_t room) {
  struct ifaddrs *list = NULL;
  char host[NI_MAXHOST];
  size_t used = 0;
  *text = 0;
  getifaddrs(&list);
  for (int loopback = 0; loopback < 2; loopback++)
    for (struct ifaddrs *a = list; a; a = a->ifa_next) {
      if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP)) continue;
      if (((a->ifa_flags & IFF_LOOPBACK) != 0) != loopback) continue;
      if (getnameinfo(a->ifa_addr, sizeof(struct sockaddr_in), host, sizeof host, NULL, 0, NI_NUMERICHOST))
        continue;
      if (used + strlen(host) + 2 > room) continue;
      used += (size_t)snprintf(text + used, room - used, " %s", host);
    }
  freeifaddrs(list);
}

static lgt_status publish(lgt_wireup *w) {
  int port = 0;
  lgt_status status = lgt_wireup_listen(&port, &w->listener);
  if (status) return status;
  char hosts[400], text[sizeof w->address + 32];
  own_hosts(hosts, sizeof hosts);
  if (getrandom(&w->cookie, sizeof w->cookie, 0) != sizeof w->cookie) w->cookie = (uint64_t)getpid();
  snprintf(w->address, sizeof w->address, "%d localhost", port);
  snprintf(text, sizeof text, "%016llx %d%s", (unsigned long long)w->cookie, port, hosts);
  pmix_value_t value = {.type = PMIX_STRING, .data.string = text};
  pmix_status_t error = pmix.PMIx_Put(PMIX_GLOBAL, HUB_KEY, &value);
  if (!error) error = pmix.PMIx_Commit();
  return error ? failed("PMIx_Put", error) : LGT_OK;
}

static lgt_status look_up(lgt_wireup *w, const pmix_proc_t *self, int start_ms) {
  pmix_proc_t zero = *self;
  pmix_info_t limit = {.key = PMIX_TIMEOUT,
                       .value = {.type = PMIX_INT, .data.integer = (start_ms + 999) / 1000}};
  pmix_value_t *value = NULL;
  char *rest;
  zero.rank = 0;
  /* Some servers wait for rank 0 to publish it, some say at once that it has not. */
  int64_t end = lgt_wire_now() + start_ms;
  pmix_status_t error;
  while ((error = pmix.PMIx_Get(&zero, HUB_KEY, &limit, 1, &value)) == PMIX_ERR_NOT_FOUND &&
         lgt_wire_now() < end)
    usleep(RETRY_MS * 1000);
  if (error) return failed("PMIx_Get of rank 0's address", error);
  if (value->type != PMIX_STRING) return lgt_err(LGT_SYSTEM, "PMIx_Get of rank 0's address: not a string");
  w->cookie = strtoull(value->data.string, &rest, 16);
  snprintf(w->address, sizeof w->address, "%s", rest + (*rest == ' '));
  return LGT_OK;
}

static void finish(void) { pmix.PMIx_Finalize(NULL, 0); }

lgt_status lgt_wireup_pmix(const lgt_wireup_options *options, lgt_wireup *out) {
  pmix_proc_t self, all;
  pmix_value_t *size;
  lgt_status status = load();
  if (status) return status;
  pmix_status_t error = pmix.PMIx_Init(&self, NULL, 0);
  if (error) return failed("PMIx_Init", error);
  out->close = finish;
  all = self;
  all.rank = PMIX_RANK_WILDCARD;
  error = pmix.PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size);
  if (error) return failed("PMIx_Get of the number of ranks", error);
  out->rank = (int)self.rank;
  out->size = (int)size->data.uint32;
  out->how = "PMIx";
  out->gathered = true;
  if (out->size == 1) return LGT_OK;
  return out->rank == 0 ? publish(out) : look_up(out, &self, options->start_ms);
}
