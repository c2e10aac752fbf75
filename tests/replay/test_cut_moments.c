/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a tape is cut. */
#include "engine/replay/cut_moments.h"

#include <glib.h>

/* PyTorch tells of a pass's outer pass after its begin: no segment begins between the two. */
static void
test_half_told(void) {
  td_any_event events[] = {
      {.graph_task_begin = {.event.kind = TD_EVENT_graph_task_begin}},
      {.graph_task_begin = {.event.kind = TD_EVENT_graph_task_begin, .graph_task = 1, .depth = 1}},
      {.reentrant_enter = {.event.kind = TD_EVENT_reentrant_enter, .graph_task = 1}},
      {.node_begin = {.event.kind = TD_EVENT_node_begin}},
  };
  td_cut_moments moments = {.least_events = 1};
  for (uint64_t seq = 0; seq < G_N_ELEMENTS(events); seq++)
    td_cut_moments_take(&moments, &events[seq].event, seq);
  g_assert_cmpuint(td_cut_moments_next(&moments, 1, 1), ==, 3);
  td_cut_moments_fini(&moments);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cut-moments/half-told", test_half_told);
  return g_test_run();
}
