/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * as_strided, and its node, which is also the grad_fn of every view whose base was written into.
 * The gradient of the base is zeros with the view's gradient at the places in memory that the view
 * has (scatter); its own derivative is to take the elements of those places (gather). */
#include "engine/torch/ops/shape/as_strided.h"

#include "engine/torch/graph/function.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"

#include <assert.h>

typedef struct as_strided_node {
  td_op_node op;
  td_geometry base, view;
} as_strided_node;

td_geometry
td_geometry_of(const td_tensor *tensor) {
  td_geometry geometry = {.sizes = td_op_sizes(tensor), .offset = tensor->offset};
  memcpy(geometry.strides, tensor->strides, sizeof geometry.strides);
  return geometry;
}

/* One more than the last element's place, from the first one's; 0 without elements. */
static int64_t
extent(const td_geometry *geometry) {
  int64_t last = 0;
  for (int dim = 0; dim < geometry->sizes.n_dims; dim++) {
    if (geometry->sizes.at[dim] == 0) return 0;
    last += (geometry->sizes.at[dim] - 1) * geometry->strides[dim];
  }
  return last + 1;
}

static td_tensor *
place_in(td_tensor *memory, const td_geometry *geometry, int64_t first) {
  return td_tensor_new_view(memory, geometry->sizes.n_dims, geometry->sizes.at, geometry->strides,
                            geometry->offset - first);
}

td_status
td_geometry_empty(const td_geometry *geometry, td_dtype dtype, td_device device, td_tensor **out,
                  td_error *error) {
  TD_LOCAL(memory);
  TD_TRY(td_tensor_new_empty(dtype, device, 1, (int64_t[]){extent(geometry)}, &memory, error));
  *out = place_in(memory, geometry, geometry->offset);
  return TD_OK;
}

/* Writes `from`'s elements to their places in fresh memory, zeros elsewhere, and takes from there
 * what `to` has. Elements of `from` that share a place are added. */
static td_status
move_between(td_tensor *tensor, const td_geometry *from, const td_geometry *to, td_tensor **out,
             td_error *error) {
  int64_t first = TD_MIN(from->offset, to->offset);
  int64_t end = TD_MAX(from->offset + extent(from), to->offset + extent(to));
  TD_LOCAL(memory);
  TD_LOCAL(source);
  TD_TRY(td_tensor_new(tensor->dtype, tensor->device, 1, (int64_t[]){end - first}, &memory, error));
  source = place_in(memory, from, first);
  td_kernel_add_into(source, tensor);
  *out = place_in(memory, to, first);
  return TD_OK;
}

static td_status gather(td_tensor *grad, const td_geometry *base, const td_geometry *view,
                        td_tensor **out, td_error *error);
static td_status scatter(td_tensor *grad, const td_geometry *base, const td_geometry *view,
                         td_tensor **out, td_error *error);

/* Dimensions of size 1 are dropped from grad, and those of stride 0 summed: `places` has the rest.
 */
static td_status
without_repetitions(td_tensor *grad, const td_geometry *view, td_geometry *places, td_tensor **out,
                    td_error *error) {
  TD_LOCAL(now);
  int n = 0;
  now = td_tensor_ref(grad);
  for (int64_t dim = view->sizes.n_dims - 1; dim >= 0; dim--) {
    bool is_one = view->sizes.at[dim] == 1;
    if (!is_one && view->strides[dim] != 0) {
      places->sizes.at[TD_MAX_DIMS - ++n] = view->sizes.at[dim];
      places->strides[TD_MAX_DIMS - n] = view->strides[dim];
      continue;
    }
    TD_LOCAL(before);
    before = TD_TAKE(now);
    TD_TRY(is_one ? td_op_squeeze_dim(before, dim, &now, error)
                  : td_op_sum_dims(before, 1, &dim, false, &now, error));
  }
  places->sizes.n_dims = n;
  memmove(places->sizes.at, places->sizes.at + TD_MAX_DIMS - n, (size_t)n * sizeof(int64_t));
  memmove(places->strides, places->strides + TD_MAX_DIMS - n, (size_t)n * sizeof(int64_t));
  *out = TD_TAKE(now);
  return TD_OK;
}

/* By operations, each with a node of its own, as PyTorch: a copy into the places of the view in
 * fresh memory, of which the base is a view. */
static td_status
scatter_recorded(td_tensor *grad, const td_geometry *base, const td_geometry *view, td_tensor **out,
                 td_error *error) {
  int64_t first = TD_MIN(base->offset, view->offset);
  int64_t end = TD_MAX(base->offset + extent(base), view->offset + extent(view));
  td_geometry places = {.offset = view->offset};
  TD_LOCAL(memory);
  TD_LOCAL(piece);
  TD_LOCAL(source);
  TD_TRY(without_repetitions(grad, view, &places, &source, error));
  TD_TRY(td_tensor_new(grad->dtype, grad->device, 1, (int64_t[]){end - first}, &memory, error));
  TD_TRY(td_op_as_strided(memory, places.sizes.n_dims, places.sizes.at, places.strides,
                          places.offset - first, &piece, error));
  TD_TRY(td_op_copy_into(piece, source, error));
  return td_op_as_strided(memory, base->sizes.n_dims, base->sizes.at, base->strides,
                          base->offset - first, out, error);
}

/* No two elements share a place, but for dimensions of stride 0. */
static bool
is_plain(const td_geometry *geometry) {
  for (int dim = 0; dim < geometry->sizes.n_dims; dim++) {
    int64_t inner = 0, stride = geometry->strides[dim];
    if (geometry->sizes.at[dim] == 0) return false;
    for (int other = 0; other < geometry->sizes.n_dims; other++)
      if (other != dim && geometry->strides[other] <= stride && geometry->sizes.at[other] > 1)
        inner += (geometry->sizes.at[other] - 1) * geometry->strides[other];
    if (geometry->sizes.at[dim] > 1 && stride > 0 && inner >= stride) return false;
  }
  return true;
}

static td_status
as_strided_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                   td_error *error) {
  const as_strided_node *node = (const as_strided_node *)op;
  bool recorded = td_grad_mode() && td_requires_grad(grad);
  if (recorded && is_plain(&node->base) && is_plain(&node->view))
    return scatter_recorded(grad, &node->base, &node->view, out, error);
  return scatter(grad, &node->base, &node->view, out, error);
}
static const td_op_class as_strided_class = TD_OP_CLASS("AsStridedBackward0", as_strided_formula);

static td_status
scatter_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const as_strided_node *node = (const as_strided_node *)op;
  return gather(grad, &node->base, &node->view, out, error);
}
static const td_op_class scatter_class = TD_OP_CLASS("AsStridedScatterBackward0", scatter_formula);

static void
end(const td_op_class *klass, td_tensor *grad, const td_geometry *base, const td_geometry *view,
    td_tensor *result) {
  as_strided_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(grad));
  if (!node) return;
  node->base = *base;
  node->view = *view;
  td_op_end(&node->op, result);
}

static td_status
scatter(td_tensor *grad, const td_geometry *base, const td_geometry *view, td_tensor **out,
        td_error *error) {
  TD_TRY(move_between(grad, view, base, out, error));
  end(&scatter_class, grad, base, view, *out);
  return TD_OK;
}

static td_status
gather(td_tensor *grad, const td_geometry *base, const td_geometry *view, td_tensor **out,
       td_error *error) {
  TD_TRY(move_between(grad, base, view, out, error));
  end(&as_strided_class, grad, base, view, *out);
  return TD_OK;
}

/* A view of another dtype is one of the base's complex numbers as pairs, or of its pairs as complex
 * numbers. That step leaves a node whatever the grad mode is. */
static td_tensor *
base_like(td_tensor *base, const td_tensor *view) {
  td_error error = {0};
  td_tensor *cast = NULL;
  bool grad_mode = td_grad_mode();
  td_grad_mode_set(true);
  td_status status = td_op_view_like(base, view->dtype, &cast, &error);
  td_grad_mode_set(grad_mode);
  assert(!status); /* the view exists */
  return status ? td_tensor_ref(base) : cast;
}

td_node *
td_as_strided_node(td_tensor *base, const td_tensor *view) {
  TD_LOCAL(cast);
  base = cast = base_like(base, view);
  as_strided_node *node =
      (as_strided_node *)td_node_new(&as_strided_class.base, sizeof *node, &base, 1);
  node->base = td_geometry_of(base);
  node->view = td_geometry_of(view);
  return &node->op.node;
}

static td_status
check_bounds(const td_tensor *self, const td_geometry *view, td_error *error) {
  for (int dim = 0; dim < view->sizes.n_dims; dim++)
    if (view->strides[dim] < 0)
      return td_error_set(error, TD_SHAPE,
                          "as_strided: Negative strides are not supported at the moment, got "
                          "strides: [%lld]",
                          (long long)view->strides[dim]);
  if (view->offset < 0)
    return td_error_set(error, TD_SHAPE, "Tensor: invalid storage offset %lld",
                        (long long)view->offset);
  size_t size = td_dtype_size(self->dtype);
  size_t wanted = (size_t)(view->offset + extent(view)) * size;
  if (extent(view) == 0 || wanted <= self->storage->n_bytes) return TD_OK;
  char *sizes = td_sizes_text(view->sizes.n_dims, view->sizes.at),
       *strides = td_sizes_text(view->sizes.n_dims, view->strides);
  td_error_set(
      error, TD_SHAPE,
      "setStorage: sizes %s, strides %s, storage offset %lld, and itemsize %zu requiring a "
      "storage size of %zu are out of bounds for storage of size %zu",
      sizes, strides, (long long)view->offset, size, wanted, self->storage->n_bytes);
  free(sizes);
  free(strides);
  return TD_SHAPE;
}

td_status
td_op_as_strided(td_tensor *self, int n_dims, const int64_t *sizes, const int64_t *strides,
                 int64_t offset, td_tensor **out, td_error *error) {
  td_geometry view = {.sizes.n_dims = n_dims, .offset = offset};
  memcpy(view.sizes.at, sizes, (size_t)n_dims * sizeof *sizes);
  memcpy(view.strides, strides, (size_t)n_dims * sizeof *strides);
  TD_TRY(check_bounds(self, &view, error));
  *out = td_tensor_new_view(self, n_dims, sizes, strides, offset);
  td_view_init(*out, self, TD_CREATION_DEFAULT);
  td_geometry base = td_geometry_of(self);
  end(&as_strided_class, self, &base, &view, *out);
  return TD_OK;
}
