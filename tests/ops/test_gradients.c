/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations under differentiation. Finite differences in float64 check every gradient, and every
 * gradient of a gradient, over contiguous and over strided inputs: one generic test over the table
 * of operations. Finite differences cannot see the rest of what PyTorch promises: node names,
 * edges, the order of nodes, ties, special values, and passes that release what others use. */
#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/elements.h"
#include "tests/ops/op_fixture.h"

#include <math.h>
#include <pthread.h>

static double
loss_value(const op_fixture *f) {
  td_grad_mode_set(false);
  td_tensor *loss = loss_of(f);
  td_grad_mode_set(true);
  double value = td_tensor_item(loss);
  td_tensor_unref(loss);
  return value;
}

/* The scalar sum over inputs of weigh(gradient), with history. NULL where no gradient has any. */
static td_tensor *
gradient_scalar(const op_fixture *f, bool create_graph) {
  td_error error = {0};
  td_tensor *gradients[MAX_INPUTS] = {NULL}, *loss = loss_of(f), *total = NULL;
  assert_ok(gradients_of(loss, f, create_graph, gradients, &error), &error);
  td_tensor_unref(loss);
  for (int i = 0; i < f->n; i++) {
    td_tensor *part = weigh(gradients[i], 23 + (uint32_t)i), *sum = NULL;
    if (total) assert_ok(td_op_add(total, part, 1, &sum, &error), &error);
    td_tensor_unref(total);
    total = sum ? sum : td_tensor_ref(part);
    td_tensor_unref(part);
    td_tensor_unref(gradients[i]);
  }
  return total;
}

static double
gradient_value(const op_fixture *f) {
  td_tensor *scalar = gradient_scalar(f, false);
  double value = td_tensor_item(scalar);
  td_tensor_unref(scalar);
  return value;
}

/* (value(x + h) - value(x - h)) / 2h */
static double
slope(const op_fixture *f, double (*value)(const op_fixture *), td_tensor *x, int64_t i) {
  const double h = 1e-5, old = td_tensor_get(x, i);
  td_tensor_set(x, i, old + h);
  double above = value(f);
  td_tensor_set(x, i, old - h);
  double below = value(f);
  td_tensor_set(x, i, old);
  return (above - below) / (2 * h);
}

static void
compare_with_slopes(const op_fixture *f, double (*value)(const op_fixture *),
                    td_tensor *const *gradients) {
  for (int input = 0; input < f->n; input++) {
    td_tensor *x = f->x[input], *gradient = gradients[input];
    if (gradient) g_assert_true(td_tensor_same_sizes(x, gradient));
    for (int64_t i = 0; i < td_tensor_n_elements(x); i++) {
      double expected = slope(f, value, x, i), got = gradient ? td_tensor_get(gradient, i) : 0;
      if (fabs(expected - got) > 1e-6 * (1 + fabs(expected)))
        g_error("%s: gradient of input %d at %d is %g, the slope is %g", f->op->name, input, (int)i,
                got, expected);
    }
  }
}

static void
test_gradient(const void *data) {
  const op_case *op = data;
  for (int strided = 0; strided < (op->contiguous ? 1 : 2); strided++) {
    op_fixture f;
    td_error error = {0};
    td_tensor *gradients[MAX_INPUTS] = {NULL};
    op_fixture_init(&f, op, strided);
    td_tensor *loss = loss_of(&f);
    assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
    compare_with_slopes(&f, loss_value, gradients);
    td_tensor_unref(loss);
    unref_all(f.n, gradients);
    op_fixture_fini(&f);
  }
}

static void
test_second_gradient(const void *data) {
  op_fixture f;
  td_error error = {0};
  td_tensor *gradients[MAX_INPUTS] = {NULL};
  op_fixture_init(&f, data, false);
  td_tensor *scalar = gradient_scalar(&f, true);
  if (f.op->once) {
    g_assert_cmpint(gradients_of(scalar, &f, false, gradients, &error), !=, TD_OK);
    td_error_clear(&error);
  } else {
    if (td_requires_grad(scalar))
      assert_ok(gradients_of(scalar, &f, false, gradients, &error), &error);
    compare_with_slopes(&f, gradient_value, gradients);
  }
  td_tensor_unref(scalar);
  unref_all(f.n, gradients);
  op_fixture_fini(&f);
}

static void
test_node_name(const void *data) {
  op_fixture f;
  td_error error = {0};
  td_tensor *out = NULL;
  op_fixture_init(&f, data, false);
  assert_ok(f.op->call(f.x, &out, &error), &error);
  g_assert_cmpstr(td_node_name(td_grad_fn(out)), ==, f.op->node);
  td_tensor_unref(out);
  out = NULL;
  td_grad_mode_set(false);
  assert_ok(f.op->call(f.x, &out, &error), &error);
  td_grad_mode_set(true);
  g_assert_null(td_grad_fn(out));
  g_assert_true(td_requires_grad(out) == (out->base && td_requires_grad(out->base)));
  td_tensor_unref(out);
  op_fixture_fini(&f);
}

/* float32 goes through kernels of its own: they must agree with float64's. */
static void
test_float32(const void *data) {
  op_fixture f, single;
  td_error error = {0};
  td_tensor *expected = NULL, *got = NULL;
  op_fixture_init(&f, data, false);
  single = f;
  for (int i = 0; i < f.n; i++)
    assert_ok(td_op_to_dtype(f.x[i], TD_FLOAT32, &single.x[i], &error), &error);
  assert_ok(f.op->call(f.x, &expected, &error), &error);
  assert_ok(f.op->call(single.x, &got, &error), &error);
  g_assert_cmpint(got->dtype, ==, TD_FLOAT32);
  g_assert_true(td_tensor_same_sizes(got, expected));
  for (int64_t i = 0; i < td_tensor_n_elements(got); i++)
    g_assert_cmpfloat_with_epsilon(td_tensor_get(got, i), td_tensor_get(expected, i), 2e-5);
  td_tensor_unref(expected);
  td_tensor_unref(got);
  op_fixture_fini(&single);
  op_fixture_fini(&f);
}

/* A constant takes an edge but no gradient: Mul has two outputs, the second to nowhere. */
static void
test_constant_edge(void) {
  td_tensor *x = new_tensor("2"), *out = NULL;
  td_error error = {0};
  assert_ok(td_set_requires_grad(x, true, &error), &error);
  td_tensor *two = td_op_scalar(x, 2, true);
  g_assert_cmpint(two->dtype, ==, TD_FLOAT64);
  assert_ok(td_op_mul(x, two, &out, &error), &error);
  td_node *node = td_grad_fn(out);
  g_assert_cmpuint(node->n_outputs, ==, 2);
  g_assert_nonnull(node->next_edges[0].node);
  g_assert_null(node->next_edges[1].node);
  unref_all(3, (td_tensor *[]){x, two, out});
}

static void
test_linear_order(void) {
  op_fixture f;
  td_error error = {0};
  td_tensor *out = NULL;
  op_case op = {
      .call = op_case_find("linear")->call, .shapes = {"2 3", "4 3", "4"}, .low = -1, .high = 1};
  op_fixture_init(&f, &op, false);
  assert_ok(op.call(f.x, &out, &error), &error);
  const td_node *addmm = td_grad_fn(out), *t = addmm->next_edges[2].node;
  g_assert_cmpstr(td_node_name(t), ==, "TBackward0");
  g_assert_cmpuint(addmm->sequence_nr, ==, t->sequence_nr + 1);
  td_tensor_unref(out);
  op_fixture_fini(&f);
}

typedef struct pass {
  const op_fixture *f;
  td_tensor *loss;
  td_status status;
} pass;

static void *
run_pass(void *data) {
  pass *own = data;
  td_tensor *gradients[MAX_INPUTS] = {NULL};
  own->status = gradients_of(own->loss, own->f, false, gradients, NULL);
  for (int i = 0; i < own->f->n; i++)
    if (own->status == TD_OK) g_assert_true(td_tensor_same_sizes(own->f->x[i], gradients[i]));
  unref_all(own->f->n, gradients);
  return NULL;
}

/* Two passes over one graph at once, both of which release what was saved: each gets its gradients,
 * or hears that they are gone. */
static void
test_release_while_used(void) {
  for (int round = 0; round < 50; round++) {
    op_fixture f;
    op_case op = {.call = op_case_find("div")->call, .shapes = {"2 3", "3"}, .low = 1, .high = 2};
    op_fixture_init(&f, &op, false);
    td_tensor *loss = loss_of(&f);
    pass passes[2] = {{.f = &f, .loss = loss}, {.f = &f, .loss = loss}};
    pthread_t thread;
    g_assert_cmpint(pthread_create(&thread, NULL, run_pass, &passes[0]), ==, 0);
    run_pass(&passes[1]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++)
      g_assert_true(passes[i].status == TD_OK || passes[i].status == TD_AUTOGRAD);
    td_tensor_unref(loss);
    op_fixture_fini(&f);
  }
}

/* Equal largest elements share the gradient, and so do NaNs. */
static void
test_max_ties(void) {
  const double values[][3] = {{2, 1, 2}, {NAN, 1, NAN}};
  for (int i = 0; i < 2; i++) {
    op_fixture f;
    td_error error = {0};
    td_tensor *gradients[MAX_INPUTS] = {NULL}, *out = NULL;
    op_case op = {.call = op_case_find("max")->call, .shapes = {"3"}};
    op_fixture_init(&f, &op, false);
    for (int j = 0; j < 3; j++)
      td_tensor_set(f.x[0], j, values[i][j]);
    assert_ok(op.call(f.x, &out, &error), &error);
    assert_ok(gradients_of(out, &f, false, gradients, &error), &error);
    assert_elements(gradients[0], NUMBERS(0.5, 0, 0.5));
    td_tensor_unref(out);
    unref_all(f.n, gradients);
    op_fixture_fini(&f);
  }
}

/* Where relu is off, not even a NaN gradient passes; sqrt's slope at 0 is infinite: as in PyTorch.
 */
static void
test_special_gradients(void) {
  td_error error = {0};
  td_tensor *gradients[MAX_INPUTS] = {NULL}, *out = NULL, *scaled = NULL;
  op_fixture f;
  op_case op = {.call = op_case_find("relu")->call, .shapes = {"2"}};
  op_fixture_init(&f, &op, false);
  td_tensor_set(f.x[0], 0, -1);
  td_tensor_set(f.x[0], 1, 1);
  td_tensor *nan = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, NAN);
  assert_ok(op.call(f.x, &out, &error), &error);
  assert_ok(td_op_mul(out, nan, &scaled, &error), &error);
  td_tensor *loss = weigh(scaled, 1);
  assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
  g_assert_cmpfloat(td_tensor_get(gradients[0], 0), ==, 0);
  g_assert_true(isnan(td_tensor_get(gradients[0], 1)));
  unref_all(5, (td_tensor *[]){nan, out, scaled, loss, gradients[0]});
  op_fixture_fini(&f);

  op_case root = {.call = op_case_find("sqrt")->call, .shapes = {""}};
  op_fixture_init(&f, &root, false);
  td_tensor_set(f.x[0], 0, 0);
  loss = loss_of(&f);
  assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
  g_assert_true(isinf(td_tensor_item(gradients[0])));
  unref_all(2, (td_tensor *[]){loss, gradients[0]});
  op_fixture_fini(&f);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  td_device_setup("cpu,sim:1", NULL);
  size_t n;
  const op_case *cases = op_cases(&n);
  for (size_t i = 0; i < n; i++) {
    const struct {
      const char *path;
      void (*test)(const void *);
    } kinds[] = {{"gradient", test_gradient},
                 {"second-gradient", test_second_gradient},
                 {"node-name", test_node_name},
                 {"float32", test_float32}};
    for (size_t kind = 0; kind < TD_N_ELEMENTS(kinds); kind++) {
      char *path = td_format("/engine/ops/%s/%s", kinds[kind].path, cases[i].name);
      g_test_add_data_func(path, &cases[i], kinds[kind].test);
      free(path);
    }
  }
  g_test_add_func("/engine/ops/constant-edge", test_constant_edge);
  g_test_add_func("/engine/ops/linear-order", test_linear_order);
  g_test_add_func("/engine/ops/release-while-used", test_release_while_used);
  g_test_add_func("/engine/ops/max-ties", test_max_ties);
  g_test_add_func("/engine/ops/special-gradients", test_special_gradients);
  return g_test_run();
}
