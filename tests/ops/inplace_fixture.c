/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/ops/inplace_fixture.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/indexing/indexing.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/inplace.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/pass/engine.h"
#include "tests/fixtures/assert_ok.h"

#include <string.h>

/* Writes into a view (borrowed) of the tensor; `other` has the view's sizes. */

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
#include "engine/torch/ops/pointwise/unary.def"
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
#include "engine/torch/ops/pointwise/unary.def"
#include "engine/torch/tensor/factories.h"
#undef TD_UNARY
};

/* Views of an N by N tensor. */

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

const char *
inplace_write(size_t i) {
  return i < TD_N_ELEMENTS(writes) ? writes[i].name : NULL;
}

const char *
inplace_view(size_t i) {
  return i < TD_N_ELEMENTS(views) ? views[i].name : NULL;
}

static write_call
write_of(const char *name) {
  for (size_t i = 0; i < TD_N_ELEMENTS(writes); i++)
    if (!strcmp(writes[i].name, name)) return writes[i].call;
  g_error("there is no write %s", name);
}

static view_call
view_of(const char *name) {
  for (size_t i = 0; i < TD_N_ELEMENTS(views); i++)
    if (!strcmp(views[i].name, name)) return views[i].call;
  g_error("there is no view %s", name);
}

td_tensor *
leaf(int n_dims, const int64_t *sizes, double first) {
  td_tensor *tensor;
  td_error error = {0};
  assert_ok(td_tensor_new(TD_FLOAT64, TD_CPU, n_dims, sizes, &tensor, &error), &error);
  for (int64_t i = 0; i < td_tensor_n_elements(tensor); i++)
    td_tensor_set(tensor, i, first + 0.047 * (double)i);
  assert_ok(td_set_requires_grad(tensor, true, &error), &error);
  return tensor;
}

void
inplace_fixture_init(inplace_fixture *f, const char *write, const char *view) {
  td_error error = {0};
  td_tensor *part;
  f->write = write_of(write);
  f->view = view_of(view);
  f->x = leaf(2, (int64_t[]){N, N}, 0.11);
  assert_ok(f->view(f->x, &part, &error), &error);
  f->other = leaf(part->n_dims, part->sizes, 0.31);
  td_tensor_unref(part);
}

void
inplace_fixture_fini(inplace_fixture *f) {
  td_tensor_unref(f->x);
  td_tensor_unref(f->other);
}

/* sum(y y c) of y = 1.1 x after the write, with weights c that tell all elements apart. */
td_tensor *
loss_of(const inplace_fixture *f) {
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

td_status
run_backward(td_tensor *loss, bool keep_graph, td_error *error) {
  td_edge root = td_gradient_edge(loss);
  td_tensor *one = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, 1);
  const td_execute_options options = {.keep_graph = keep_graph, .accumulate_grad = true};
  td_status status = td_engine_execute(&root, &one, 1, &options, NULL, error);
  td_node_unref(root.node);
  td_tensor_unref(one);
  return status;
}
