/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations in place: each of them, on a whole tensor and through views of several geometries, has
 * the gradients that finite differences say; and threads that share what was written into. */
#include "engine/base/alloc.h"
#include "engine/graph/saved_hooks.h"
#include "engine/graph/variable.h"
#include "engine/graph/version.h"
#include "engine/graph/views.h"
#include "engine/ops/activation.h"
#include "engine/ops/compare.h"
#include "engine/ops/indexing.h"
#include "engine/ops/inplace.h"
#include "engine/ops/mix.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/pass/engine.h"

#include <glib.h>
#include <math.h>

#define N 4 /* elements along each side */

static void
assert_ok(td_status status, const td_error *error) {
  if (status) g_error("%s", td_error_text(error));
}

/* What is done to a view (borrowed) of the tensor; `other` has the view's sizes. */
typedef td_status (*write_call)(td_tensor *view, td_tensor *other, td_error *error);

static td_status
add(td_tensor *view, td_tensor *other, td_error *error) {
  return td_op_add_into(view, other, -1.5, error);
}

static td_status
sub(td_tensor *view, td_tensor *other, td_error *error) {
  return td_op_sub_into(view, other, 2, error);
}

static td_status
fill_number(td_tensor *view, td_tensor *other, td_error *error) {
  return td_op_fill_into(view, 0.7, error);
}

static td_status
fill_tensor(td_tensor *view, td_tensor *other, td_error *error) {
  td_tensor *sum;
  td_status status = td_op_sum(other, &sum, error);
  if (status) return status;
  status = td_op_fill_tensor_into(view, sum, error);
  td_tensor_unref(sum);
  return status;
}

/* An operation that is not in place, made so. */
static td_status
made_in_place(td_status (*op)(td_tensor *, td_tensor **, td_error *), td_tensor *view,
              td_error *error) {
  td_in_place now;
  td_tensor *out = NULL;
  td_status status = td_in_place_begin(&now, "op_", &view, 1, error);
  if (status) return status;
  status = op(now.alias, &out, error);
  return td_in_place_end(&now, status, out, error);
}

#define MADE_IN_PLACE(name)                                                                        \
  static td_status name##_made(td_tensor *view, td_tensor *other, td_error *error) {               \
    return made_in_place(td_op_##name, view, error);                                               \
  }
MADE_IN_PLACE(relu)
MADE_IN_PLACE(sigmoid)
MADE_IN_PLACE(tanh)

static td_status
masked_fill(td_tensor *view, td_tensor *other, td_error *error) {
  td_in_place now;
  td_tensor *mask, *out = NULL;
  td_status status = td_op_gt(view, other, &mask, error);
  if (!status) status = td_in_place_begin(&now, "masked_fill_", &view, 1, error);
  if (status) return status;
  status = td_op_masked_fill(now.alias, mask, 0.5, &out, error);
  td_tensor_unref(mask);
  return td_in_place_end(&now, status, out, error);
}

static td_status
index_put(td_tensor *view, td_tensor *other, td_error *error) {
  td_in_place now;
  td_tensor *rows, *values = NULL, *out = NULL;
  td_status status = td_tensor_new(TD_INT64, TD_CPU, 1, (int64_t[]){2}, &rows, error);
  if (status) return status;
  td_tensor_set(rows, 0, 1);
  status = td_op_index(other, rows, &values, error);
  if (!status)
    status = td_in_place_begin(&now, "index_put_", (td_tensor *[]){view, other}, 2, error);
  if (!status) {
    status = td_op_index_put(now.alias, 1, &rows, values, false, &out, error);
    status = td_in_place_end(&now, status, out, error);
  }
  td_tensor_unref(rows);
  td_tensor_unref(values);
  return status;
}

/* One after the other, through the same view. */
static td_status
twice(td_tensor *view, td_tensor *other, td_error *error) {
  td_status status = td_op_mul_into(view, other, error);
  return status ? status : tanh_made(view, other, error);
}

static td_status
zero(td_tensor *view, td_tensor *other, td_error *error) {
  return td_op_zero_into(view, error);
}

#define TD_UNARY(name, ...)                                                                        \
  static td_status name##_(td_tensor *view, td_tensor *other, td_error *error) {                   \
    return td_op_##name##_into(view, error);                                                       \
  }
#include "engine/ops/unary.def"
#undef TD_UNARY

static const struct {
  const char *name;
  write_call call;
} writes[] = {
    {"add_", add},
    {"sub_", sub},
    {"mul_", td_op_mul_into},
    {"div_", td_op_div_into},
    {"copy_", td_op_copy_into},
    {"fill_number", fill_number},
    {"fill_tensor", fill_tensor},
    {"zero_", zero},
    {"twice", twice},
    {"relu_", relu_made},
    {"sigmoid_", sigmoid_made},
    {"tanh_", tanh_made},
    {"masked_fill_", masked_fill},
    {"index_put_", index_put},
#define TD_UNARY(name, ...) {#name "_", name##_},
#include "engine/ops/unary.def"
#undef TD_UNARY
};

/* Views of an N by N tensor. */
typedef td_status (*view_call)(td_tensor *base, td_tensor **out, td_error *error);

static td_status
whole(td_tensor *base, td_tensor **out, td_error *error) {
  *out = td_tensor_ref(base);
  return TD_OK;
}

static td_status
row(td_tensor *base, td_tensor **out, td_error *error) {
  return td_op_select(base, 0, 1, out, error);
}

static td_status
strided(td_tensor *base, td_tensor **out, td_error *error) {
  td_tensor *turned;
  td_status status = td_op_t(base, &turned, error);
  if (status) return status;
  status = td_op_slice(turned, 0, 0, N, 2, out, error);
  td_tensor_unref(turned);
  return status;
}

static td_status
flat(td_tensor *base, td_tensor **out, td_error *error) {
  td_tensor *line;
  td_status status = td_op_view(base, 1, (int64_t[]){N * N}, &line, error);
  if (status) return status;
  status = td_op_slice(line, 0, 3, N * N - 2, 3, out, error);
  td_tensor_unref(line);
  return status;
}

static td_status
by_places(td_tensor *base, td_tensor **out, td_error *error) {
  return td_op_as_strided(base, 2, (int64_t[]){2, 3}, (int64_t[]){N + 1, 1}, 2, out, error);
}

static const struct {
  const char *name;
  view_call call;
} views[] = {
    {"whole", whole}, {"row", row}, {"strided", strided}, {"flat", flat}, {"by_places", by_places}};

typedef struct fixture {
  write_call write;
  view_call view;
  td_tensor *x, *other; /* leaves */
} fixture;

static td_tensor *
leaf(int n_dims, const int64_t *sizes, double first) {
  td_tensor *tensor;
  td_error error = {0};
  assert_ok(td_tensor_new(TD_FLOAT64, TD_CPU, n_dims, sizes, &tensor, &error), &error);
  for (int64_t i = 0; i < td_tensor_n_elements(tensor); i++)
    td_tensor_set(tensor, i, first + 0.047 * (double)i);
  assert_ok(td_set_requires_grad(tensor, true, &error), &error);
  return tensor;
}

static void
fixture_init(fixture *f, write_call write, view_call view) {
  td_error error = {0};
  td_tensor *part;
  f->write = write;
  f->view = view;
  f->x = leaf(2, (int64_t[]){N, N}, 0.11);
  assert_ok(view(f->x, &part, &error), &error);
  f->other = leaf(part->n_dims, part->sizes, 0.31);
  td_tensor_unref(part);
}

static void
fixture_fini(fixture *f) {
  td_tensor_unref(f->x);
  td_tensor_unref(f->other);
}

/* sum(y y c) of y = 1.1 x after the write, with weights c that tell all elements apart. */
static td_tensor *
loss_of(const fixture *f) {
  td_error error = {0};
  td_tensor *y, *part, *square, *weighted, *sum, *c = leaf(2, (int64_t[]){N, N}, 1);
  td_tensor *scale = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, 1.1);
  assert_ok(td_set_requires_grad(c, false, &error), &error);
  assert_ok(td_op_mul(f->x, scale, &y, &error), &error);
  assert_ok(f->view(y, &part, &error), &error);
  assert_ok(f->write(part, f->other, &error), &error);
  assert_ok(td_op_mul(y, y, &square, &error), &error);
  assert_ok(td_op_mul(square, c, &weighted, &error), &error);
  assert_ok(td_op_sum(weighted, &sum, &error), &error);
  td_tensor *gone[] = {y, part, square, weighted, c, scale};
  for (size_t i = 0; i < TD_N_ELEMENTS(gone); i++)
    td_tensor_unref(gone[i]);
  return sum;
}

static td_status
run_backward(td_tensor *loss, bool keep_graph, td_error *error) {
  td_edge root = td_gradient_edge(loss);
  td_tensor *one = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, 1);
  const td_execute_options options = {.keep_graph = keep_graph, .accumulate_grad = true};
  td_status status = td_engine_execute(td_engine_default(), &root, &one, 1, &options, NULL, error);
  td_node_unref(root.node);
  td_tensor_unref(one);
  return status;
}

static double
loss_with(const fixture *f, td_tensor *at, int64_t i, double step) {
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
compare_with_differences(const fixture *f, td_tensor *at) {
  td_tensor *grad = td_grad_get(at);
  for (int64_t i = 0; i < td_tensor_n_elements(at); i++) {
    const double step = 1e-5;
    double slope = (loss_with(f, at, i, step) - loss_with(f, at, i, -step)) / (2 * step);
    double found = grad ? td_tensor_get(grad, i) : 0;
    g_assert_cmpfloat_with_epsilon(found, slope, 1e-6 * (1 + fabs(slope)));
  }
  td_tensor_unref(grad);
}

static void
test_gradients(gconstpointer data) {
  size_t which = GPOINTER_TO_SIZE(data);
  fixture f;
  td_error error = {0};
  fixture_init(&f, writes[which / TD_N_ELEMENTS(views)].call,
               views[which % TD_N_ELEMENTS(views)].call);
  if (isnan(loss_with(&f, f.x, 0, 0))) /* acosh wants more */
    for (int64_t i = 0; i < N * N; i++)
      td_tensor_set(f.x, i, td_tensor_get(f.x, i) + 1);
  td_tensor *loss = loss_of(&f);
  assert_ok(run_backward(loss, false, &error), &error);
  td_tensor_unref(loss);
  compare_with_differences(&f, f.x);
  compare_with_differences(&f, f.other);
  fixture_fini(&f);
}

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
  fixture f;
  td_error error = {0};
  fixture_init(&f, twice, strided);
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
  fixture_fini(&f);
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
    fixture f;
    fixture_init(&f, twice, row);
    shared s = {.loss = loss_of(&f)};
    on_threads(run_and_release, &s);
    g_assert_cmpint(s.n_failed, <, N_THREADS);
    td_tensor_unref(s.loss);
    fixture_fini(&f);
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
  fixture f;
  td_error error = {0};
  fixture_init(&f, twice, flat);
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
  fixture_fini(&f);
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
  for (size_t i = 0; i < TD_N_ELEMENTS(writes) * TD_N_ELEMENTS(views); i++) {
    g_autofree char *path =
        g_strdup_printf("/engine/inplace/gradients/%s/%s", writes[i / TD_N_ELEMENTS(views)].name,
                        views[i % TD_N_ELEMENTS(views)].name);
    g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_gradients);
  }
  g_test_add_func("/engine/inplace/threads_share_slices/P-14", test_threads_share_slices);
  g_test_add_func("/engine/inplace/threads_release_slices/P-12", test_threads_release_slices);
  g_test_add_func("/engine/inplace/threads_look_at_view/P-16", test_threads_look_at_view);
  g_test_add_func("/engine/inplace/threads_bump/O-05", test_threads_bump);
  g_test_add_func("/engine/inplace/hooks/O-11", test_hooks);
  g_test_add_func("/engine/inplace/versions/O-06", test_versions);
  return g_test_run();
}
