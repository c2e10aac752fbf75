/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks through the C interface, and what a node is asked for and checked on: what Python cannot
 * reach. The rest is in tests/semantics/rows_hooks.py. */
#include "tests/fixtures/call_nodes.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/function.h"
#include "engine/torch/graph/hooks.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/pass/evaluate.h"
#include "engine/torch/pass/exec_info.h"
#include "engine/torch/pass/validate.h"
#include "engine/torch/tensor/factories.h"

#include <glib.h>

/* A hook that counts its calls and frees, and may take others away. Whoever holds the last
 * reference frees it: the thread that runs a pass, or the one that removed it. So the counts are
 * atomic. */
typedef struct count_hook {
  td_hook hook;
  unsigned *n_calls, *n_freed;
  td_hook *removes; /* (borrowed) or NULL */
} count_hook;

static td_status
count_call(td_hook *hook, const td_hook_call *call, td_error *error) {
  count_hook *self = (count_hook *)hook;
  __atomic_fetch_add(self->n_calls, 1, __ATOMIC_RELAXED);
  if (self->removes) td_hook_remove(self->removes);
  return TD_OK;
}

static void
count_free(td_hook *hook) {
  __atomic_fetch_add(((count_hook *)hook)->n_freed, 1, __ATOMIC_RELAXED);
  free(hook);
}

static td_hook *
count_hook_new(unsigned *n_calls, unsigned *n_freed) {
  count_hook *self = TD_NEW(count_hook);
  td_hook_init(&self->hook, count_call, count_free, td_dup_string("count"));
  self->n_calls = n_calls;
  self->n_freed = n_freed;
  return &self->hook;
}

static call_node *
chain_of_two(void) {
  call_node *root = call_node_new(TD_CPU, 1, NULL, NULL),
            *below = call_node_new(TD_CPU, 0, NULL, NULL);
  call_node_connect(root, 0, below);
  call_node_unref(below);
  return root;
}

static void
run(call_node *root) {
  td_error error = {0};
  g_assert_cmpint(call_backward(root, &error), ==, TD_OK);
}

/* Where PyTorch's C++ removes by position and complains of a wrong one, a hook is removed by
 * itself, once: more does nothing. */
static void
test_remove(void) {
  unsigned n_calls = 0, n_freed = 0;
  call_node *root = chain_of_two();
  td_hook *first = count_hook_new(&n_calls, &n_freed), *second = count_hook_new(&n_calls, &n_freed);
  td_node_add_hook(&root->node, first, TD_hook_kind_post, 0);
  td_node_add_hook(&root->node, second, TD_hook_kind_pre, 0);
  run(root);
  g_assert_cmpuint(n_calls, ==, 2);
  td_hook_remove(first);
  td_hook_remove(first);
  td_hook_unref(first);
  g_assert_cmpuint(n_freed, ==, 1);
  run(root);
  g_assert_cmpuint(n_calls, ==, 3);
  call_node_unref(root);
  g_assert_cmpuint(n_freed, ==, 1); /* ours */
  td_hook_remove(second);           /* its list is gone */
  td_hook_unref(second);
  g_assert_cmpuint(n_freed, ==, 2);
}

/* The list of the moment when its turn comes is called, whatever the hooks in it do to it. */
static void
test_remove_while_running(void) {
  unsigned n_first = 0, n_second = 0, n_freed = 0;
  call_node *root = chain_of_two();
  td_hook *first = count_hook_new(&n_first, &n_freed),
          *second = count_hook_new(&n_second, &n_freed);
  ((count_hook *)first)->removes = second;
  td_node_add_hook(&root->node, first, TD_hook_kind_post, 0);
  td_node_add_hook(&root->node, second, TD_hook_kind_post, 0);
  td_hook_unref(first);
  td_hook_unref(second);
  run(root);
  g_assert_cmpuint(n_first + n_second, ==, 2);
  g_assert_cmpuint(n_freed, ==, 1);
  ((count_hook *)first)->removes = first;
  run(root);
  g_assert_cmpuint(n_first, ==, 2);
  g_assert_cmpuint(n_second, ==, 1);
  g_assert_cmpuint(n_freed, ==, 2);
  call_node_unref(root);
}

typedef struct churn {
  call_node *root;
  unsigned n_calls, n_freed;
} churn;

static void *
churn_thread(void *data) {
  churn *self = data;
  for (int i = 0; i < 200; i++) {
    td_hook *hook = count_hook_new(&self->n_calls, &self->n_freed);
    td_node_add_hook(&self->root->node, hook, TD_hook_kind_tensor_pre, 7); /* an input it has not */
    td_hook_remove(hook);
    td_hook_unref(hook);
  }
  return NULL;
}

/* Lists change while passes of other threads call them. */
static void
test_threads(void) {
  call_node *root = chain_of_two();
  churn one = {.root = root}, two = {.root = root};
  pthread_t first, second;
  pthread_create(&first, NULL, churn_thread, &one);
  pthread_create(&second, NULL, churn_thread, &two);
  for (int i = 0; i < 100; i++)
    run(root);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  g_assert_cmpuint(one.n_freed, ==, 200);
  g_assert_cmpuint(two.n_freed, ==, 200);
  g_assert_cmpuint(one.n_calls + two.n_calls, ==, 0);
  call_node_unref(root);
}

static void
test_wrong_count(void) {
  td_error error = {0};
  call_node *root = chain_of_two();
  td_tensor *gradients[2] = {NULL, NULL};
  g_assert_cmpint(td_validate_outputs(&root->node, root->node.next_edges, 1, gradients, 2, &error),
                  ==, TD_AUTOGRAD);
  char *expected =
      td_format("Function %s returned an invalid number of gradients - expected 1, but got 2",
                td_node_name(&root->node));
  g_assert_cmpstr(td_error_text(&error), ==, expected);
  g_assert_cmpint(td_validate_outputs(NULL, root->node.next_edges, 1, gradients, 0, &error), ==,
                  TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==, "invalid number of gradients - expected 1, but got 0");
  free(expected);
  td_error_clear(&error);
  call_node_unref(root);
}

/* What the node under test was told that it must compute: bits. */
static td_status
note_wanted(call_node *self, td_error *error) {
  unsigned *wanted = self->data;
  for (uint32_t i = 0; i < self->node.n_outputs; i++)
    *wanted |= (unsigned)td_needs_gradient(&self->node, i) << i;
  return TD_OK;
}

static unsigned
wanted_for(call_node *root, unsigned *wanted, td_node *output, bool accumulate_grad) {
  td_error error = {0};
  td_tensor *gradient = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1), *captured = NULL;
  td_edge root_edge = {&root->node, 0}, output_edge = {output, 0};
  td_execute_options options = {.keep_graph = true, .accumulate_grad = accumulate_grad};
  if (output) {
    options.outputs = &output_edge;
    options.n_outputs = 1;
  }
  *wanted = 0;
  g_assert_cmpint(td_engine_execute(&root_edge, &gradient, 1, &options, &captured, &error), ==,
                  TD_OK);
  td_tensor_unref(captured);
  td_tensor_unref(gradient);
  return *wanted;
}

static void
test_trimmed_edges(void) {
  unsigned wanted = 0;
  call_node *root = call_node_new(TD_CPU, 3, note_wanted, &wanted);
  call_node *left = call_node_new(TD_CPU, 0, NULL, NULL),
            *right = call_node_new(TD_CPU, 0, NULL, NULL);
  call_node_connect(root, 0, left);
  call_node_connect(root, 1, right); /* edge 2 leads nowhere */
  g_assert_cmpuint(wanted_for(root, &wanted, NULL, true), ==, 3);
  g_assert_cmpuint(wanted_for(root, &wanted, &left->node, true), ==, 1);
  g_assert_cmpuint(wanted_for(root, &wanted, &right->node, true), ==, 2);
  g_assert_cmpuint(wanted_for(root, &wanted, &left->node, false), ==, 1);
  g_assert_cmpuint(wanted_for(root, &wanted, &right->node, false), ==, 2);
  g_assert_cmpuint(wanted_for(root, &wanted, NULL, true), ==, 3);
  call_node_unref(left);
  call_node_unref(right);
  call_node_unref(root);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/node_hooks/remove/H-23", test_remove);
  g_test_add_func("/node_hooks/remove-while-running/H-07", test_remove_while_running);
  g_test_add_func("/node_hooks/threads", test_threads);
  g_test_add_func("/node_hooks/E-15", test_wrong_count);
  g_test_add_func("/node_hooks/G-11", test_trimmed_edges);
  return g_test_run();
}
