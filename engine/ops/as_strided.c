/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * as_strided, and its node, which is also the grad_fn of every view whose base was written into.
 * The gradient of the base is zeros with the view's gradient at the places in memory that the view
 * has (scatter); its own derivative is to take the elements of those places (gather). */
#include "engine/ops/as_strided.h"

#include "engine/graph/function.h"
#include "engine/ops/view.h"

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

static td_status
as_strided_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                   td_error *error) {
  const as_strided_node *node = (const as_strided_node *)op;
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

td_node *
td_as_strided_node(td_tensor *base, const td_tensor *view) {
  as_strided_node *node =
      (as_strided_node *)td_node_new(&as_strided_class.base, sizeof *node, &base, 1);
  node->base = td_geometry_of(base);
  node->view = td_geometry_of(view);
  return &node->op.node;
}

td_node *
td_as_strided_node_of(td_node *maker, const td_geometry *base, const td_geometry *view) {
  as_strided_node *node = (as_strided_node *)td_node_new_raw(&as_strided_class.base, sizeof *node,
                                                             1, td_sequence_nr_next());
  td_node_set_edge(&node->op.node, 0, (td_edge){td_node_ref(maker), 0});
  node->base = *base;
  node->view = *view;
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
