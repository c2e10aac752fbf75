/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/linalg/linalg.h"
#include "engine/torch/ops/nn/grid_sample.h"
#include "engine/torch/ops/shape/shape.h"

typedef struct affine_node {
  td_op_node op;
  td_dtype dtype;
  td_device device;
  int64_t size[4];
  bool align;
} affine_node;

static double
rounded(double value, td_dtype dtype) {
  return dtype == TD_FLOAT32 ? (double)(float)value : value;
}

/* The i-th of n places in [-1, 1], counted from the nearer end, with PyTorch's steps of rounding:
 * a place beside a pixel's border reads another pixel than one on it. */
static double
place(int64_t i, int64_t n, bool align, td_dtype dtype) {
  if (n <= 1) return 0;
  double step = rounded(2.0 / (double)(n - 1), dtype);
  double at = i < n / 2 ? -1 + step * (double)i : 1 - step * (double)(n - 1 - i);
  at = rounded(at, dtype);
  return align ? at : rounded(rounded(at * (double)(n - 1), dtype) / (double)n, dtype);
}

/* [n, height * width, 3]: (x, y, 1) of each pixel. */
static td_status
base_grid(td_dtype dtype, td_device device, const int64_t size[4], bool align, td_tensor **out,
          td_error *error) {
  int64_t area = size[2] * size[3];
  TD_TRY(td_tensor_new(dtype, device, 3, (int64_t[]){size[0], area, 3}, out, error));
  for (int64_t i = 0; td_tensor_has_data(*out) && i < size[0] * area; i++) {
    td_tensor_set(*out, 3 * i, place(i % size[3], size[3], align, dtype));
    td_tensor_set(*out, 3 * i + 1, place(i % area / size[3], size[2], align, dtype));
    td_tensor_set(*out, 3 * i + 2, 1);
  }
  return TD_OK;
}

/* grid = base theta^T:  d theta = (base^T d grid)^T */
static td_status
affine_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const affine_node *node = (affine_node *)op;
  const int64_t *size = node->size;
  TD_LOCAL(base);
  TD_LOCAL(columns);
  TD_LOCAL(rows);
  TD_LOCAL(product);
  TD_TRY(base_grid(node->dtype, node->device, size, node->align, &base, error));
  TD_TRY(td_op_transpose(base, 1, 2, &columns, error));
  TD_TRY(td_op_reshape(grad, 3, (int64_t[]){size[0], size[2] * size[3], 2}, &rows, error));
  TD_TRY(td_op_bmm(columns, rows, &product, error));
  return td_op_transpose(product, 1, 2, out, error);
}
static const td_op_class affine_class = TD_OP_CLASS("AffineGridGeneratorBackward0", affine_formula);

td_status
td_op_affine_grid(td_tensor *theta, const int64_t size[4], bool align, td_tensor **out,
                  td_error *error) {
  TD_LOCAL(base);
  TD_LOCAL(bare);
  TD_LOCAL(turned);
  TD_LOCAL(product);
  TD_TRY(td_op_want_floating(theta, "affine_grid", error));
  TD_TRY(base_grid(theta->dtype, theta->device, size, align, &base, error));
  bare = td_tensor_detach(theta);
  TD_TRY(td_op_transpose(bare, 1, 2, &turned, error));
  TD_TRY(td_op_bmm(base, turned, &product, error));
  TD_TRY(td_op_view(product, 4, (int64_t[]){size[0], size[2], size[3], 2}, out, error));
  affine_node *node = td_op_begin(&affine_class, sizeof *node, TD_INPUTS(theta));
  if (!node) return TD_OK;
  node->dtype = theta->dtype;
  node->device = theta->device;
  node->align = align;
  memcpy(node->size, size, sizeof node->size);
  td_op_end(&node->op, *out);
  return TD_OK;
}
