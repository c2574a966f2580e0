/* test_near.c - GPUs near ranks, on machines that hwloc only imagines: packages of cores, with GPUs on their buses. */
#include "check.h"
#include "runtime/near.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 1 << 16 };

/* Two packages of four cores; of the GPUs at 10, 11, ... those below `second` are on the second package's bus. */
static hwloc_topology_t machine(int ndevice, int second, char (*bus)[LGT_BUS_ID]) {
  static char xml[ROOM];
  static const char OPENING[] = "<object type=\"Package\"";
  hwloc_topology_t plain, out;
  char *text;
  int length, package = 0;
  size_t used = 0;
  hwloc_topology_init(&plain);
  hwloc_topology_set_synthetic(plain, "package:2 core:4 pu:1");
  hwloc_topology_load(plain);
  hwloc_topology_export_xmlbuffer(plain, &text, &length, 0);
  const char *at = text;
  for (const char *next; (next = strstr(at, OPENING)); package++) {
    next = strchr(next, '\n') + 1;
    used += (size_t)snprintf(xml + used, ROOM - used, "%.*s", (int)(next - at), at);
    for (int d = 0; d < ndevice; d++) {
      snprintf(bus[d], LGT_BUS_ID, "0000:%02X:00.0", 0x10 + d);
      if ((d < second) != package) continue;
      used += (size_t)snprintf(xml + used, ROOM - used,
                               "<object type=\"Bridge\" gp_index=\"%d\" bridge_type=\"0-1\" depth=\"0\" "
                               "bridge_pci=\"0000:[%x-%x]\">"
                               "<object type=\"PCIDev\" gp_index=\"%d\" pci_busid=\"%s\" pci_type=\"0302 "
                               "[10de:2330] [10de:16c1] a1\" "
                               "pci_link_speed=\"0.0\"/></object>\n",
                               100 + 2 * d, 0x10 + d, 0x10 + d, 101 + 2 * d, bus[d]);
    }
    at = next;
  }
  used += (size_t)snprintf(xml + used, ROOM - used, "%s", at);
  hwloc_free_xmlbuffer(plain, text);
  hwloc_topology_destroy(plain);
  hwloc_topology_init(&out);
  hwloc_topology_set_xmlbuffer(out, xml, (int)used + 1);
  hwloc_topology_set_io_types_filter(out, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (!hwloc_topology_load(out)) return out;
  hwloc_topology_destroy(out);
  return NULL;
}

static void check_choice(int ndevice, int second, const int *core, int nrank, int each, const int *expected) {
  char bus[LGT_MOST_DEVICES_OF_MACHINE][LGT_BUS_ID];
  int got[64];
  hwloc_topology_t topology = machine(ndevice, second, bus);
  CHECK(topology);
  lgt_near_assign(topology, bus, ndevice, core, nrank, each, got);
  hwloc_topology_destroy(topology);
  for (int i = 0; i < nrank * each; i++) CHECK_EQ(got[i], expected[i]);
}

TEST(each_rank_gets_the_nearest) {
  check_choice(2, 1, (int[]){0, 4}, 2, 1, (int[]){1, 0});
  check_choice(4, 2, (int[]){0, 2, 4, 6}, 4, 1, (int[]){2, 3, 0, 1});
  check_choice(4, 2, (int[]){4, 0}, 2, 2, (int[]){0, 1, 2, 3});
}

TEST(none_is_left_idle_for_being_far) { check_choice(2, 1, (int[]){0, 1}, 2, 1, (int[]){1, 0}); }

TEST(more_ranks_than_devices) {
  check_choice(2, 1, (int[]){0, 1, 4, 5}, 4, 1, (int[]){1, 1, 0, 0});
  check_choice(2, 1, (int[]){0, 1, 2, 4}, 4, 1, (int[]){1, 1, 0, 0});
  check_choice(2, 1, (int[]){0, 4}, 2, 2, (int[]){1, 0, 0, 1});
  check_choice(1, 0, (int[]){0, 1, 4}, 3, 1, (int[]){0, 0, 0});
}

TEST(one_process_that_is_bound) {
  check_choice(4, 2, (int[]){1}, 1, 1, (int[]){2});
  check_choice(4, 2, (int[]){5}, 1, 1, (int[]){0});
}

TEST(what_is_unknown_is_taken_in_turn) {
  char bus[4][LGT_BUS_ID] = {"0000:10:00.0", "", "0000:99:00.0", ""};
  int got[4];
  check_choice(4, 2, (int[]){-1, -1}, 2, 2, (int[]){0, 1, 2, 3});
  lgt_near_assign(NULL, bus, 4, (int[]){0, 1}, 2, 2, got);
  for (int i = 0; i < 4; i++) CHECK_EQ(got[i], i);
}

int main(void) {
  RUN(each_rank_gets_the_nearest);
  RUN(none_is_left_idle_for_being_far);
  RUN(more_ranks_than_devices);
  RUN(one_process_that_is_bound);
  RUN(what_is_unknown_is_taken_in_turn);
  return check_done();
}
