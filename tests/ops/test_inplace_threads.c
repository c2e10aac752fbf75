/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that share what was written in place: its graph, its views, its version. */
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/shape/inplace.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/ops/inplace_fixture.h"

/* Threads that run the same graph, each with all its steps. */
#define N_THREADS 8
#define N_PASSES 20

typedef struct shared {
  td_tensor *loss, *view;
  _Atomic int n_failed;
} shared;

static gpointer
run_passes(gpointer data) {
  shared *s = data;
  for (int i = 0; i < N_PASSES; i++) {
    td_error error = {0};
    if (run_backward(s->loss, true, &error)) s->n_failed++;
    td_error_clear(&error);
  }
  return NULL;
}

static void
on_threads(GThreadFunc run, gpointer data) {
  GThread *threads[N_THREADS];
  for (int i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new("pass", run, data);
  for (int i = 0; i < N_THREADS; i++)
    g_thread_join(threads[i]);
}

static void
test_threads_share_slices(void) {
  inplace_fixture f;
  td_error error = {0};
  inplace_fixture_init(&f, "twice", "strided");
  td_tensor *loss = loss_of(&f);
  assert_ok(run_backward(loss, true, &error), &error);
  td_tensor *one = td_grad_get(f.x);
  td_grad_set(f.x, NULL);
  shared s = {.loss = loss};
  on_threads(run_passes, &s);
  g_assert_cmpint(s.n_failed, ==, 0);
  td_tensor *all = td_grad_get(f.x);
  for (int64_t i = 0; i < N * N; i++)
    g_assert_cmpfloat_with_epsilon(td_tensor_get(all, i),
                                   N_THREADS * N_PASSES * td_tensor_get(one, i), 1e-6);
  td_tensor_unref(all);
  td_tensor_unref(one);
  td_tensor_unref(loss);
  inplace_fixture_fini(&f);
}

static gpointer
run_and_release(gpointer data) {
  shared *s = data;
  td_error error = {0};
  if (run_backward(s->loss, false, &error)) {
    s->n_failed++;
    g_assert_true(
        g_str_has_prefix(td_error_text(&error), "Trying to backward through the graph a"));
  }
  td_error_clear(&error);
  return NULL;
}

/* One releases what another one is running: each gets a gradient, or PyTorch's text. */
static void
test_threads_release_slices(void) {
  for (int round = 0; round < 20; round++) {
    inplace_fixture f;
    inplace_fixture_init(&f, "twice", "row");
    shared s = {.loss = loss_of(&f)};
    on_threads(run_and_release, &s);
    g_assert_cmpint(s.n_failed, <, N_THREADS);
    td_tensor_unref(s.loss);
    inplace_fixture_fini(&f);
  }
}

static gpointer
look_at_view(gpointer data) {
  shared *s = data;
  td_node *first = td_grad_fn(s->view);
  for (int i = 0; i < 100; i++)
    if (td_grad_fn(s->view) != first || !td_requires_grad(s->view)) s->n_failed++;
  td_edge edge = td_gradient_edge(s->view);
  if (edge.node != first) s->n_failed++;
  td_node_unref(edge.node);
  return NULL;
}

/* All who look at a view that is behind its base see the one new node. */
static void
test_threads_look_at_view(void) {
  for (int round = 0; round < 50; round++) {
    td_error error = {0};
    td_tensor *base, *view, *r = leaf(2, (int64_t[]){N, N}, 1);
    assert_ok(td_tensor_new_like(r, &base, &error), &error);
    assert_ok(td_op_select(base, 0, 1, &view, &error), &error);
    g_assert_null(td_grad_fn(view));
    assert_ok(td_op_add_into(base, r, 1, &error), &error);
    shared s = {.view = view};
    on_threads(look_at_view, &s);
    g_assert_cmpint(s.n_failed, ==, 0);
    g_assert_cmpstr(td_node_name(td_grad_fn(view)), ==, "AsStridedBackward0");
    td_tensor_unref(view);
    td_tensor_unref(base);
    td_tensor_unref(r);
  }
}

static gpointer
bump(gpointer data) {
  for (int i = 0; i < 1000; i++)
    td_tensor_bump(data, "bump");
  return NULL;
}

static void
test_threads_bump(void) {
  td_tensor *tensor = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, 0);
  on_threads(bump, tensor);
  g_assert_cmpint(td_tensor_version(tensor), ==, 1000 * N_THREADS);
  td_tensor_unref(tensor);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/inplace/threads_share_slices/P-14", test_threads_share_slices);
  g_test_add_func("/engine/inplace/threads_release_slices/P-12", test_threads_release_slices);
  g_test_add_func("/engine/inplace/threads_look_at_view/P-16", test_threads_look_at_view);
  g_test_add_func("/engine/inplace/threads_bump/O-05", test_threads_bump);
  return g_test_run();
}
