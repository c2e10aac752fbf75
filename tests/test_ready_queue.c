/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The order in which a ready queue hands out tasks: PyTorch's, ties included. */
#include "engine/autograd/graph_task.h"
#include "engine/autograd/ready_queue.h"

#include <glib.h>

static td_status
apply_nothing(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  return TD_OK;
}

static const td_node_class plain_class = {.name = "Plain", .apply = apply_nothing};

static td_graph_task *
task_of_depth(td_ready_queue *queue, uint32_t depth) {
  td_execute_options options = {.accumulate_grad = true};
  return td_graph_task_new(&options, depth, queue);
}

static td_node *
push(td_ready_queue *queue, td_graph_task *graph_task, uint64_t sequence_nr) {
  td_node *node = td_node_new_raw(&plain_class, sizeof *node, 0, sequence_nr);
  td_node_task task = {.graph_task = td_graph_task_weak_ref(graph_task), .node = td_node_ref(node)};
  td_ready_queue_push(queue, task, TD_push_reason_ready);
  return node;
}

/* Orders seen on PyTorch 1.13.1 for n leaves that become ready at once. */
static void
test_tie_order(void) {
  static const char *const orders[] = {
      "0,1",
      "0,1,2",
      "0,2,1,3",
      "0,2,4,1,3",
      "0,2,5,4,1,3",
      "0,2,5,6,4,1,3",
      "0,2,6,5,7,4,1,3",
      "0,2,6,8,5,7,4,1,3",
      "0,2,6,9,8,5,7,4,1,3",
      "0,2,6,10,9,8,5,7,4,1,3",
      "0,2,6,11,10,9,8,5,7,4,1,3",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
    td_ready_queue *queue = td_ready_queue_new(TD_CPU);
    td_graph_task *graph_task = task_of_depth(queue, 0);
    td_node *nodes[16];
    size_t n = i + 2;
    for (size_t k = 0; k < n; k++)
      nodes[k] = push(queue, graph_task, TD_SEQUENCE_NR_MAX);
    g_autoptr(GString) order = g_string_new(NULL);
    for (size_t k = 0; k < n; k++) {
      td_node_task task = td_ready_queue_pop(queue);
      for (size_t m = 0; m < n; m++)
        if (nodes[m] == task.node) g_string_append_printf(order, k ? ",%zu" : "%zu", m);
      td_node_task_fini(&task);
    }
    g_assert_cmpstr(order->str, ==, orders[i]);
    for (size_t k = 0; k < n; k++)
      td_node_unref(nodes[k]);
    td_graph_task_unref(graph_task);
    td_ready_queue_unref(queue);
  }
}

static void
assert_pops(td_ready_queue *queue, td_node *expected) {
  td_node_task task = td_ready_queue_pop(queue);
  g_assert_true(task.node == expected);
  td_node_task_fini(&task);
}

static void
test_higher_sequence_nr_first(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = task_of_depth(queue, 0);
  td_node *low = push(queue, graph_task, 3), *leaf = push(queue, graph_task, TD_SEQUENCE_NR_MAX);
  td_node *high = push(queue, graph_task, 7);
  assert_pops(queue, leaf);
  assert_pops(queue, high);
  assert_pops(queue, low);
  td_node_unref(low);
  td_node_unref(leaf);
  td_node_unref(high);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(queue);
}

static void
test_deeper_reentrant_first(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *outer = task_of_depth(queue, 0), *inner = task_of_depth(queue, 1);
  td_node *leaf = push(queue, outer, TD_SEQUENCE_NR_MAX), *deep = push(queue, inner, 1);
  assert_pops(queue, deep);
  assert_pops(queue, leaf);
  td_node_unref(leaf);
  td_node_unref(deep);
  td_graph_task_unref(outer);
  td_graph_task_unref(inner);
  td_ready_queue_unref(queue);
}

static void
test_special_tasks_first(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = task_of_depth(queue, 5), *gone = task_of_depth(queue, 0);
  td_node *node = push(queue, graph_task, 9), *left_over = push(queue, gone, 1);
  td_ready_queue_push(queue, (td_node_task){.graph_task = td_graph_task_weak_ref(graph_task)},
                      TD_push_reason_root);
  td_ready_queue_push(queue, (td_node_task){.is_shutdown = true}, TD_push_reason_root);
  td_graph_task_unref(gone);
  td_node_task shutdown = td_ready_queue_pop(queue);
  g_assert_true(shutdown.is_shutdown);
  td_node_task dummy = td_ready_queue_pop(queue);
  g_assert_null(dummy.node);
  td_node_task_fini(&dummy);
  g_assert_cmpuint(graph_task->outstanding, ==, 2);
  td_node_unref(node);
  td_node_unref(left_over);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(queue);
}

/* A task whose graph task has died goes before deeper ones, to be thrown away. */
static void
test_expired_first(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *alive = task_of_depth(queue, 5), *gone = task_of_depth(queue, 0);
  td_node *left_over = push(queue, gone, 1);
  td_graph_task_unref(gone);
  td_node *node = push(queue, alive, 9);
  assert_pops(queue, left_over);
  assert_pops(queue, node);
  td_node_unref(node);
  td_node_unref(left_over);
  td_graph_task_unref(alive);
  td_ready_queue_unref(queue);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/ready-queue/tie-order", test_tie_order);
  g_test_add_func("/engine/ready-queue/higher-sequence-nr-first", test_higher_sequence_nr_first);
  g_test_add_func("/engine/ready-queue/deeper-reentrant-first", test_deeper_reentrant_first);
  g_test_add_func("/engine/ready-queue/special-tasks-first", test_special_tasks_first);
  g_test_add_func("/engine/ready-queue/expired-first", test_expired_first);
  return g_test_run();
}
