/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The order of ready tasks, as PyTorch's CompareNodeTaskTime has it. */
#include "engine/rules/task_order.h"

#include <glib.h>

/* Each goes strictly before all after it. */
static const td_task_place places[] = {
    {TD_TASK_SHUTDOWN, 0, 0, 0},
    {TD_TASK_DUMMY, 0, 0, 0},
    {TD_TASK_NODE, TD_TASK_DEPTH_GONE, 0, 3},
    {TD_TASK_NODE, 2, 0, 1},
    {TD_TASK_NODE, 1, 7, 0},          /* a policy's */
    {TD_TASK_NODE, 1, 0, UINT64_MAX}, /* an AccumulateGrad */
    {TD_TASK_NODE, 1, 0, 8},
    {TD_TASK_NODE, 1, -1, 9},
    {TD_TASK_NODE, 0, 0, 9},
};

static void
test_order(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
    for (size_t j = i + 1; j < G_N_ELEMENTS(places); j++) {
      g_assert_true(td_task_goes_after(places[j], places[i]));
      g_assert_false(td_task_goes_after(places[i], places[j]));
    }
}

static void
test_ties(void) {
  for (size_t i = 1; i < G_N_ELEMENTS(places); i++)
    g_assert_false(td_task_goes_after(places[i], places[i]));
  g_assert_true(td_task_goes_after(places[0], places[0])); /* so in PyTorch too */
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/rules/task_order/order", test_order);
  g_test_add_func("/rules/task_order/ties", test_ties);
  return g_test_run();
}
