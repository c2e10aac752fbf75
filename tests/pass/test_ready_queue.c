/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The order in which a ready queue hands out tasks: PyTorch's, ties included. */
#include "engine/torch/pass/graph_task.h"
#include "engine/torch/pass/ready_queue.h"

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
  td_ready_queue_push_shutdown(queue);
  td_graph_task_unref(gone);
  td_node_task shutdown = td_ready_queue_pop(queue);
  g_assert_true(shutdown.is_shutdown);
  td_node_task dummy = td_ready_queue_pop(queue);
  g_assert_null(dummy.node);
  td_node_task_fini(&dummy);
  g_assert_cmpuint(graph_task->handle.outstanding, ==, 2);
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

typedef struct popper {
  td_ready_queue *queue;
  td_graph_task *graph_task;
  int n;
  double cpu_s;
} popper;

static double
cpu_of_thread_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Whoever pops a task finds it counted. */
static void *
pop_cb(void *data) {
  popper *self = data;
  double begin = cpu_of_thread_s();
  for (int i = 0; i < self->n; i++) {
    td_node_task task = td_ready_queue_pop(self->queue);
    g_assert_cmpuint(atomic_load(&self->graph_task->handle.outstanding), >=, 1);
    td_node_task_fini(&task);
    td_graph_task_count_done(self->graph_task);
  }
  self->cpu_s = cpu_of_thread_s() - begin;
  return NULL;
}

static void
test_counted_before_seen(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = task_of_depth(queue, 0);
  popper self = {queue, graph_task, 2000, 0};
  GThread *thread = g_thread_new("popper", pop_cb, &self);
  for (int i = 0; i < self.n; i++)
    td_node_unref(push(queue, graph_task, (uint64_t)i));
  g_thread_join(thread);
  g_assert_cmpuint(graph_task->handle.outstanding, ==, 0);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(queue);
}

/* It sleeps: 50 ms of waiting cost no work. */
static void
test_pop_sleeps(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = task_of_depth(queue, 0);
  popper self = {queue, graph_task, 1, 0};
  GThread *thread = g_thread_new("popper", pop_cb, &self);
  g_usleep(50000);
  td_node_unref(push(queue, graph_task, 1));
  g_thread_join(thread);
  g_assert_cmpfloat(self.cpu_s, <, 0.025);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(queue);
}

static void *
push_many_cb(void *data) {
  popper *self = data;
  for (int i = 0; i < self->n; i++)
    td_node_unref(push(self->queue, self->graph_task, (uint64_t)i));
  return NULL;
}

/* Any thread may ask for the size while others push: for the thread sanitizer. */
static void
test_size_under_lock(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = task_of_depth(queue, 0);
  popper self = {queue, graph_task, 500, 0};
  GThread *threads[3];
  for (int i = 0; i < 3; i++)
    threads[i] = g_thread_new("pusher", push_many_cb, &self);
  size_t before = 0, size;
  while ((size = td_ready_queue_size(queue)) < 1500) {
    g_assert_cmpuint(size, >=, before);
    before = size;
    g_thread_yield();
  }
  for (int i = 0; i < 3; i++)
    g_thread_join(threads[i]);
  g_assert_cmpuint(graph_task->handle.outstanding, ==, 1500);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(queue);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/ready-queue/tie-order/C-09", test_tie_order);
  g_test_add_func("/engine/ready-queue/higher-sequence-nr-first/C-01",
                  test_higher_sequence_nr_first);
  g_test_add_func("/engine/ready-queue/deeper-reentrant-first/C-05", test_deeper_reentrant_first);
  g_test_add_func("/engine/ready-queue/dummy-first/C-06", test_special_tasks_first);
  g_test_add_func("/engine/ready-queue/shutdown-before-dummy/C-07", test_special_tasks_first);
  g_test_add_func("/engine/ready-queue/expired-first/C-08", test_expired_first);
  g_test_add_func("/engine/ready-queue/counted-before-seen/C-11", test_counted_before_seen);
  g_test_add_func("/engine/ready-queue/pop-sleeps/C-13", test_pop_sleeps);
  g_test_add_func("/engine/ready-queue/size-under-lock/C-14", test_size_under_lock);
  return g_test_run();
}
