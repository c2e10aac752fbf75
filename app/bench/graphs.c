/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/graphs.h"

#include "app/bench/figure.h"
#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/torch/graph/function.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/tensor/factories.h"

/* Hands its one gradient to every output, after being busy for a while. */
typedef struct pass_backward {
  td_node node;
  uint64_t busy_ns;
} pass_backward;

static td_status
pass_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  uint64_t busy_ns = ((pass_backward *)node)->busy_ns;
  if (busy_ns)
    for (uint64_t begin = td_clock_monotonic_ns(); td_clock_monotonic_ns() - begin < busy_ns;) {
    }
  for (uint32_t i = 0; i < node->n_outputs; i++)
    outputs[i] = td_tensor_ref(inputs[0]);
  return TD_OK;
}

static const td_node_class pass_class = {.name = "PassBackward0", .apply = pass_apply};

/* The forward of a no-op: the first input's value, without its history. */
static td_tensor *
pass(td_tensor *const *inputs, uint32_t n, uint64_t busy_ns) {
  td_tensor *result = td_tensor_detach(inputs[0]);
  pass_backward *node = td_function_begin(&pass_class, sizeof *node, inputs, n);
  node->busy_ns = busy_ns;
  td_function_end(&node->node, &result, 1);
  return result;
}

static td_tensor *
new_leaf(void) {
  td_tensor *leaf = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  td_error error = {0};
  td_set_requires_grad(leaf, true, &error);
  return leaf;
}

td_tensor *
td_bench_chain(uint32_t n, uint64_t busy_ns) {
  td_tensor *at = new_leaf();
  for (uint32_t i = 0; i < n; i++) {
    td_tensor *next = pass(&at, 1, busy_ns);
    td_tensor_unref(at);
    at = next;
  }
  return at;
}

#define SKIP 12

td_tensor *
td_bench_net(uint32_t n) {
  td_tensor *trunk[SKIP] = {0};
  for (int i = 0; i < SKIP; i++)
    trunk[i] = new_leaf();
  uint32_t at = 0;
  for (uint32_t i = 0; i < n * 2 / 3; i++, at = (at + 1) % SKIP) {
    td_tensor *weight = i % 2 ? new_leaf() : NULL;
    td_tensor *inputs[] = {trunk[(at + SKIP - 1) % SKIP], i % 4 == 0 ? trunk[at] : NULL, weight};
    td_tensor *next = pass(inputs, 3, 0);
    td_tensor_unref(weight);
    td_tensor_unref(trunk[at]);
    trunk[at] = next;
  }
  td_tensor *end = td_tensor_ref(trunk[(at + SKIP - 1) % SKIP]);
  for (int i = 0; i < SKIP; i++)
    td_tensor_unref(trunk[i]);
  return end;
}

double
td_bench_backward(td_tensor *end, bool keep_graph) {
  td_edge root = td_gradient_edge(end);
  td_tensor *gradient = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  td_execute_options options = {.accumulate_grad = true, .keep_graph = keep_graph};
  td_error error = {0};
  double begin = td_bench_now();
  td_status status = td_engine_execute(&root, &gradient, 1, &options, NULL, &error);
  double took = td_bench_now() - begin;
  if (status) took = 1e30; /* never the best of anything */
  td_error_clear(&error);
  td_tensor_unref(gradient);
  td_node_unref(root.node);
  return took;
}
