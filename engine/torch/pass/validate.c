/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/validate.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/graph/differentiable.h"
#include "engine/torch/graph/semantics.h"

static bool
has_sizes(const td_tensor *tensor, const td_input_metadata *metadata) {
  if (tensor->n_dims != metadata->n_dims) return false;
  for (int d = 0; d < tensor->n_dims; d++)
    if (tensor->sizes[d] != metadata->sizes[d]) return false;
  return true;
}

/* Can metadata's shape be expanded to the gradient's? Then the gradient can be summed down to it.
 */
static bool
is_reducible(const td_tensor *tensor, const td_input_metadata *metadata) {
  int lead = tensor->n_dims - metadata->n_dims;
  for (int d = 0; lead >= 0 && d < metadata->n_dims; d++)
    if (metadata->sizes[d] != 1 && metadata->sizes[d] != tensor->sizes[d + lead]) return false;
  return lead >= 0;
}

/* Puts `made` in the place of what the slot held. */
static void
replace(td_tensor **slot, td_tensor *made) {
  td_tensor_unref(*slot);
  *slot = made;
}

/* "Function MulBackward0 returned an ", which PyTorch puts before most of the texts; nothing where
 * the gradients are the caller's. */
static td_status
complain(const td_node *maker, td_status status, td_error *error) {
  if (maker) td_error_prefix(error, "Function %s returned an ", td_node_name(maker));
  return status;
}

static td_status
fit_shape(const td_node *maker, td_tensor **gradient, const td_input_metadata *metadata,
          uint32_t index, td_error *error) {
  if (has_sizes(*gradient, metadata)) return TD_OK;
  if (!is_reducible(*gradient, metadata)) {
    char *got = td_tensor_shape_text(*gradient);
    char *expected = td_sizes_text(metadata->n_dims, metadata->sizes);
    td_error_set(error, TD_SHAPE,
                 "invalid gradient at index %u - got %s but expected shape compatible with %s",
                 index, got, expected);
    free(got);
    free(expected);
    return complain(maker, TD_SHAPE, error);
  }
  td_tensor *reduced;
  td_status status = td_differentiable_get()->sum_to(*gradient, metadata->n_dims, metadata->sizes,
                                                     &reduced, error);
  if (!status) replace(gradient, reduced);
  return status;
}

static td_status
convert(td_tensor **gradient, td_dtype dtype, td_device device, td_error *error) {
  td_tensor *converted;
  td_status status = td_differentiable_get()->to(*gradient, dtype, device, &converted, error);
  if (!status) replace(gradient, converted);
  return status;
}

static td_dtype
wanted_dtype(const td_input_metadata *metadata, const td_tensor *gradient) {
  if (TD_UNLIKELY(metadata->any_gradient_dtype)) return gradient->dtype;
  return metadata->has_gradient_dtype ? metadata->gradient_dtype : metadata->dtype;
}

/* Of any floating or integer dtype; what is complex is for complex inputs alone. */
static td_status
fit_dtype(td_tensor **gradient, const td_input_metadata *metadata, td_error *error) {
  td_dtype dtype = (*gradient)->dtype, wanted = wanted_dtype(metadata, *gradient);
  if (dtype == wanted) return TD_OK;
  if (!td_dtype_is_floating(dtype) && td_dtype_is_complex(dtype) != td_dtype_is_complex(wanted))
    return td_error_set(error, TD_DTYPE,
                        "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                        "grad_is_complex) to be true, but got false.  (Could this error message be "
                        "improved?  If so, please report an enhancement request to PyTorch.)");
  return convert(gradient, wanted, (*gradient)->device, error);
}

static td_status
check_layout(const td_node *maker, const td_tensor *gradient, const td_input_metadata *metadata,
             uint32_t index, td_error *error) {
  if (!metadata->sparse || gradient->sparse || td_policy(dense_for_sparse)) return TD_OK;
  td_error_set(error, TD_INVALID,
               "invalid gradient at index %u - expected layout Sparse but got Strided", index);
  return complain(maker, TD_INVALID, error);
}

static td_status
fit_device(const td_node *maker, td_tensor **gradient, const td_input_metadata *metadata,
           uint32_t index, td_error *error) {
  if ((*gradient)->device == metadata->device) return TD_OK;
  if ((*gradient)->n_dims == 0 && td_policy(move_scalars))
    return convert(gradient, wanted_dtype(metadata, *gradient), metadata->device, error);
  td_error_set(error, TD_DEVICE, "invalid gradient at index %u - expected device %s but got %s",
               index, td_device_name(metadata->device), td_device_name((*gradient)->device));
  return complain(maker, TD_DEVICE, error);
}

static td_status
fit_one(const td_node *maker, td_tensor **gradient, const td_input_metadata *metadata,
        uint32_t index, td_error *error) {
  td_status status = fit_shape(maker, gradient, metadata, index, error);
  if (!status) status = fit_dtype(gradient, metadata, error);
  if (!status) status = check_layout(maker, *gradient, metadata, index, error);
  return status ? status : fit_device(maker, gradient, metadata, index, error);
}

td_status
td_validate_outputs(const td_node *maker, const td_edge *edges, uint32_t n_edges,
                    td_tensor **gradients, uint32_t n_gradients, td_error *error) {
  if (n_edges != n_gradients) {
    td_error_set(error, TD_AUTOGRAD, "invalid number of gradients - expected %u, but got %u",
                 n_edges, n_gradients);
    return complain(maker, TD_AUTOGRAD, error);
  }
  for (uint32_t i = 0; i < n_edges; i++) {
    if (!edges[i].node || !gradients[i] || edges[i].input_nr >= edges[i].node->n_inputs) continue;
    const td_input_metadata *metadata = &edges[i].node->input_metadata[edges[i].input_nr];
    if (!metadata->defined) continue;
    td_status status = fit_one(maker, &gradients[i], metadata, i, error);
    if (status) return status;
  }
  return TD_OK;
}
