/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/ops/op_fixture.h"

#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/pass/engine.h"
#include "engine/torch/tensor/factories.h"
#include "tests/fixtures/assert_ok.h"

#include <math.h>

int
parse_shape(const char *text, int64_t *sizes) {
  int n_dims = 0;
  char *end;
  for (; *text; text = end)
    sizes[n_dims++] = strtol(text, &end, 10);
  return n_dims;
}

td_tensor *
new_tensor(const char *shape) {
  int64_t sizes[TD_MAX_DIMS];
  int n_dims = parse_shape(shape, sizes);
  td_error error = {0};
  td_tensor *tensor = NULL;
  assert_ok(td_tensor_new(TD_FLOAT64, TD_CPU, n_dims, sizes, &tensor, &error), &error);
  return tensor;
}

/* The same sizes with the dimensions in reverse order in memory and a gap after every element. */
static td_tensor *
new_strided(const char *shape) {
  int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], stride = 2;
  int n_dims = parse_shape(shape, sizes);
  for (int dim = 0; dim < n_dims; stride *= sizes[dim++])
    strides[dim] = stride;
  td_error error = {0};
  td_tensor *storage = NULL;
  assert_ok(td_tensor_new(TD_FLOAT64, TD_CPU, 1, (int64_t[]){stride + 1}, &storage, &error),
            &error);
  td_tensor *tensor = td_tensor_new_view(storage, n_dims, sizes, strides, 1);
  td_tensor_unref(storage);
  return tensor;
}

/* Reproducible and distinct. */
static double
some_number(uint32_t seed, int64_t i) {
  return fmod((double)(seed * 7 + i + 1) * 0.6180339887498949, 1.0);
}

void
op_fixture_init(op_fixture *f, const op_case *op, bool strided) {
  *f = (op_fixture){.op = op};
  for (; f->n < MAX_INPUTS && op->shapes[f->n]; f->n++) {
    td_tensor *x = strided ? new_strided(op->shapes[f->n]) : new_tensor(op->shapes[f->n]);
    for (int64_t i = 0; i < td_tensor_n_elements(x); i++)
      td_tensor_set(x, i, op->low + (op->high - op->low) * some_number((uint32_t)f->n, i));
    assert_ok(td_set_requires_grad(x, true, NULL), &(td_error){0});
    f->x[f->n] = x;
  }
}

void
op_fixture_fini(op_fixture *f) {
  for (int i = 0; i < f->n; i++)
    td_tensor_unref(f->x[i]);
}

/* sum(x * fixed numbers): a scalar that depends on each element differently. */
td_tensor *
weigh(td_tensor *x, uint32_t seed) {
  td_error error = {0};
  td_tensor *weights = NULL, *product = NULL, *sum = NULL;
  assert_ok(td_tensor_new_like(x, &weights, &error), &error);
  for (int64_t i = 0; i < td_tensor_n_elements(x); i++)
    td_tensor_set(weights, i, 0.5 + some_number(seed, i));
  assert_ok(td_op_mul(x, weights, &product, &error), &error);
  assert_ok(td_op_sum(product, &sum, &error), &error);
  td_tensor_unref(weights);
  td_tensor_unref(product);
  return sum;
}

td_tensor *
loss_of(const op_fixture *f) {
  td_error error = {0};
  td_tensor *out = NULL;
  assert_ok(f->op->call(f->x, &out, &error), &error);
  td_tensor *loss = weigh(out, 11);
  td_tensor_unref(out);
  return loss;
}

/* The gradients of a scalar with regard to the inputs; new references or NULL. */
td_status
gradients_of(td_tensor *scalar, const op_fixture *f, bool create_graph, td_tensor **gradients,
             td_error *error) {
  td_tensor *one = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, 1);
  td_edge root = td_gradient_edge(scalar), edges[MAX_INPUTS];
  for (int i = 0; i < f->n; i++)
    edges[i] = td_gradient_edge(f->x[i]);
  td_execute_options options = {.keep_graph = create_graph,
                                .create_graph = create_graph,
                                .outputs = edges,
                                .n_outputs = (uint32_t)f->n};
  td_status status = td_engine_execute(&root, &one, 1, &options, gradients, error);
  for (int i = 0; i < f->n; i++)
    td_node_unref(edges[i].node);
  td_node_unref(root.node);
  td_tensor_unref(one);
  return status;
}

void
unref_all(int n, td_tensor **tensors) {
  for (int i = 0; i < n; i++)
    td_tensor_unref(tensors[i]);
}
