/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations in place. Each of them, on a whole tensor and through views of several geometries, has
 * the gradients of finite differences; saved hooks see what a write saves; versions tell a later
 * pass of a write. */
#include "engine/torch/graph/saved_hooks.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/inplace.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/ops/inplace_fixture.h"

#include <math.h>

static double
loss_with(const inplace_fixture *f, td_tensor *at, int64_t i, double step) {
  double before = td_tensor_get(at, i);
  td_tensor_set(at, i, before + step);
  td_grad_mode_set(false);
  td_tensor *loss = loss_of(f);
  td_grad_mode_set(true);
  td_tensor_set(at, i, before);
  double value = td_tensor_item(loss);
  td_tensor_unref(loss);
  return value;
}

static void
compare_with_differences(const inplace_fixture *f, td_tensor *at) {
  td_tensor *grad = td_grad_get(at);
  for (int64_t i = 0; i < td_tensor_n_elements(at); i++) {
    const double step = 1e-5;
    double slope = (loss_with(f, at, i, step) - loss_with(f, at, i, -step)) / (2 * step);
    double found = grad ? td_tensor_get(grad, i) : 0;
    g_assert_cmpfloat_with_epsilon(found, slope, 1e-6 * (1 + fabs(slope)));
  }
  td_tensor_unref(grad);
}

typedef struct write_to_view {
  const char *write, *view;
} write_to_view;

static void
test_gradients(gconstpointer data) {
  const write_to_view *which = data;
  inplace_fixture f;
  td_error error = {0};
  inplace_fixture_init(&f, which->write, which->view);
  if (isnan(loss_with(&f, f.x, 0, 0))) /* acosh wants more */
    for (int64_t i = 0; i < N * N; i++)
      td_tensor_set(f.x, i, td_tensor_get(f.x, i) + 1);
  td_tensor *loss = loss_of(&f);
  assert_ok(run_backward(loss, false, &error), &error);
  td_tensor_unref(loss);
  compare_with_differences(&f, f.x);
  compare_with_differences(&f, f.other);
  inplace_fixture_fini(&f);
}

/* Hooks that count, and keep the tensor itself. */
typedef struct counting_hooks {
  td_saved_hooks base;
  int n_packed, n_unpacked, n_freed;
  bool is_gone;
} counting_hooks;

static td_status
pack_cb(td_saved_hooks *hooks, td_tensor *tensor, void **object, td_error *error) {
  ((counting_hooks *)hooks)->n_packed++;
  *object = td_tensor_detach(tensor);
  return TD_OK;
}

static td_status
unpack_cb(td_saved_hooks *hooks, void *object, td_tensor **tensor, td_error *error) {
  ((counting_hooks *)hooks)->n_unpacked++;
  *tensor = td_tensor_ref(object);
  return TD_OK;
}

static void
free_object_cb(td_saved_hooks *hooks, void *object) {
  ((counting_hooks *)hooks)->n_freed++;
  td_tensor_unref(object);
}

static void
free_cb(td_saved_hooks *hooks) {
  ((counting_hooks *)hooks)->is_gone = true;
}

static void
test_hooks(void) {
  counting_hooks hooks = {
      .base = {
          .pack = pack_cb, .unpack = unpack_cb, .free_object = free_object_cb, .free = free_cb}};
  td_refcount_init(&hooks.base.refs);
  inplace_fixture f;
  td_error error = {0};
  inplace_fixture_init(&f, "twice", "flat");
  assert_ok(td_saved_hooks_push(&hooks.base, &error), &error);
  td_tensor *loss = loss_of(&f);
  td_saved_hooks_pop();
  int n = hooks.n_packed;
  g_assert_cmpint(n, >, 4);
  assert_ok(run_backward(loss, true, &error), &error);
  assert_ok(run_backward(loss, false, &error), &error);
  g_assert_cmpint(hooks.n_packed, ==, n);
  g_assert_cmpint(hooks.n_freed, ==, n);
  g_assert_cmpint(hooks.n_unpacked, >=, n);
  g_assert_true(hooks.is_gone);
  td_tensor_unref(loss);
  inplace_fixture_fini(&f);
}

/* A write while hooks are off is noticed by a later pass, and said to be the last one's. */
static void
test_versions(void) {
  td_error error = {0};
  td_tensor *x = leaf(1, (int64_t[]){3}, 1), *y, *z, *sum, *view;
  td_tensor *two = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, 2);
  assert_ok(td_op_mul(x, two, &y, &error), &error);
  assert_ok(td_op_exp(y, &z, &error), &error);
  assert_ok(td_op_slice(z, 0, 0, 2, 1, &view, &error), &error);
  assert_ok(td_op_sum(z, &sum, &error), &error);
  g_assert_cmpint(td_tensor_version(view), ==, 0);
  td_grad_mode_set(false);
  assert_ok(td_op_add_into(view, two, 1, &error), &error);
  td_grad_mode_set(true);
  td_tensor *alias = td_tensor_alias(z), *detached = td_tensor_detach(view);
  g_assert_cmpint(td_tensor_version(z), ==, 1);
  g_assert_cmpint(td_tensor_version(detached), ==, 1);
  g_assert_cmpint(td_tensor_version(alias), ==, 0);
  g_assert_cmpint(run_backward(sum, false, &error), ==, TD_AUTOGRAD);
  g_assert_nonnull(strstr(td_error_text(&error), "is at version 1; expected version 0 instead"));
  td_error_clear(&error);
  td_tensor *gone[] = {x, y, z, sum, view, two, alias, detached};
  for (size_t i = 0; i < TD_N_ELEMENTS(gone); i++)
    td_tensor_unref(gone[i]);
}

static void
add_gradients(const char *write, const char *view) {
  write_to_view *which = g_new(write_to_view, 1);
  *which = (write_to_view){write, view};
  g_autofree char *path = g_strdup_printf("/engine/inplace/gradients/%s/%s", write, view);
  g_test_add_data_func_full(path, which, test_gradients, g_free);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (size_t i = 0; inplace_write(i); i++)
    for (size_t j = 0; inplace_view(j); j++)
      add_gradients(inplace_write(i), inplace_view(j));
  g_test_add_func("/engine/inplace/hooks/O-11", test_hooks);
  g_test_add_func("/engine/inplace/versions/O-06", test_versions);
  return g_test_run();
}
