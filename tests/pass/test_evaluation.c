/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One node's evaluation as its graph task sees it: how many gradients it waits for, which locks it
 * takes, when it releases what it saved, and how tasks that are no node's are passed over. */
#include "engine/torch/pass/dependencies.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/tensor/factories.h"
#include "tests/pass/story.h"

/* B-16: counting edges breadth first gives what the engine's walk gives. */
static void
test_counts_breadth_first(void) {
  enum { N = 60 };
  call_node *nodes[N];
  GRand *random = g_rand_new_with_seed(4);
  for (int i = 0; i < N; i++) {
    nodes[i] = call_node_new(TD_CPU, 3, NULL, NULL);
    for (uint32_t k = 0; k < 3 && i > 0; k++)
      call_node_connect(nodes[i], k, nodes[g_rand_int_range(random, 0, i)]);
  }
  uint32_t counts[N] = {0};
  g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL), seen = g_hash_table_new(NULL, NULL);
  for (int i = 0; i < N; i++)
    g_hash_table_insert(numbers, nodes[i], GINT_TO_POINTER(i));
  g_autoptr(GQueue) queue = g_queue_new();
  g_queue_push_tail(queue, nodes[N - 1]);
  for (call_node *node; (node = g_queue_pop_head(queue));)
    for (uint32_t k = 0; k < 3 && node->node.next_edges[k].node; k++) {
      td_node *next = node->node.next_edges[k].node;
      counts[GPOINTER_TO_INT(g_hash_table_lookup(numbers, next))]++;
      if (g_hash_table_add(seen, next)) g_queue_push_tail(queue, next);
    }
  td_ready_queue *cpu = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = graph_task_alone(cpu);
  td_graph_task_compute_dependencies(graph_task, &nodes[N - 1]->node, 0);
  for (int i = 0; i < N; i++) {
    const td_node_entry *entry = td_node_table_find(&graph_task->nodes, &nodes[i]->node);
    g_assert_cmpuint(entry ? entry->dependencies : 0, ==, counts[i]);
  }
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(cpu);
  for (int i = 0; i < N; i++)
    call_node_unref(nodes[i]);
  g_rand_free(random);
}

/* E-19: a node without outputs leaves its pass's lock alone. The first leaf keeps it until the
 * second runs. */
static td_status
take_lock(call_node *self, td_error *error) {
  pthread_mutex_lock(&td_graph_task_now()->lock.mutex);
  return TD_OK;
}

static td_status
give_lock(call_node *self, td_error *error) {
  pthread_mutex_unlock(&td_graph_task_now()->lock.mutex);
  return TD_OK;
}

static void
test_leaf_needs_no_lock(void) {
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL);
  call_node *second = call_node_new(TD_CPU, 0, give_lock, NULL);
  call_node *first = call_node_new(TD_CPU, 0, take_lock, NULL);
  call_node_connect(root, 0, first);
  call_node_connect(root, 1, second);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  call_node_unref(root);
  call_node_unref(first);
  call_node_unref(second);
}

/* E-18: will_release_variables comes before apply, unless the pass keeps the graph. */
typedef struct told_node {
  td_node node;
  char order[8];
} told_node;

static void
note(td_node *node, char what) {
  char *order = ((told_node *)node)->order;
  order[strlen(order)] = what;
}

static td_status
told_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  note(node, 'a');
  return TD_OK;
}

static void
told_will_release(td_node *node) {
  note(node, 'w');
}

static void
told_release(td_node *node) {
  note(node, 'r');
}

static const td_node_class told_class = {.name = "Told",
                                         .apply = told_apply,
                                         .will_release_variables = told_will_release,
                                         .release_variables = told_release};

static void
test_told_of_release(void) {
  told_node *told = (told_node *)td_node_new_raw(&told_class, sizeof *told, 0, 1);
  td_tensor *one = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  td_node_add_metadata(&told->node, one);
  for (int keep = 1; keep >= 0; keep--) {
    td_execute_options options = {.keep_graph = keep, .accumulate_grad = true};
    td_edge root = {&told->node, 0};
    g_assert_cmpint(td_engine_execute(&root, &one, 1, &options, NULL, NULL), ==, TD_OK);
  }
  g_assert_cmpstr(told->order, ==, "awar");
  td_tensor_unref(one);
  td_node_unref(&told->node);
}

/* Two devices and the caller finish at once, over and over. */
static void
test_double_completion(void) {
  call_node *root = call_node_new(TD_CPU, 3, NULL, NULL);
  for (uint32_t i = 0; i < 3; i++) {
    call_node *leaf = call_node_new((td_device)i - 1, 0, NULL, NULL);
    call_node_connect(root, i, leaf);
    call_node_unref(leaf);
  }
  for (int i = 0; i < 1000; i++)
    g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  call_node_unref(root);
}

static td_status
push_dummy(call_node *self, td_error *error) {
  td_graph_task *graph_task = td_graph_task_now();
  td_ready_queue_push(td_thread_self.queue,
                      (td_node_task){.graph_task = td_graph_task_weak_ref(graph_task)},
                      TD_push_reason_root);
  return TD_OK;
}

/* One of a pass that is over, and one of the present pass. */
static void
test_stray_dummies(void) {
  call_node *root = call_node_new(TD_CPU, 1, push_dummy, NULL),
            *leaf = call_node_new(TD_CPU, 0, push_dummy, NULL);
  call_node_connect(root, 0, leaf);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  td_graph_task *gone = graph_task_alone(td_thread_self.queue);
  td_ready_queue_push(td_thread_self.queue,
                      (td_node_task){.graph_task = td_graph_task_weak_ref(gone)},
                      TD_push_reason_root);
  td_graph_task_unref(gone);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_cmpuint(td_ready_queue_size(td_thread_self.queue), ==, 0);
  call_node_unref(root);
  call_node_unref(leaf);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_test_add_func("/engine/worker/counts-breadth-first/B-16", test_counts_breadth_first);
  g_test_add_func("/engine/worker/leaf-needs-no-lock/E-19", test_leaf_needs_no_lock);
  g_test_add_func("/engine/worker/told-of-release/E-18", test_told_of_release);
  g_test_add_func("/engine/worker/double-completion/L-14", test_double_completion);
  g_test_add_func("/engine/worker/stray-dummies/L-15", test_stray_dummies);
  return g_test_run();
}
