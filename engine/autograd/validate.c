/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/evaluate.h"
#include "engine/base/alloc.h"
#include "engine/device/device.h"
#include "engine/tensor/kernels.h"

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

static td_status
fit_shape(td_tensor **gradient, const td_input_metadata *metadata, uint32_t index,
          td_error *error) {
  if (has_sizes(*gradient, metadata)) return TD_OK;
  if (!is_reducible(*gradient, metadata)) {
    char *got = td_tensor_shape_text(*gradient);
    char *expected = td_sizes_text(metadata->n_dims, metadata->sizes);
    td_status status =
        td_error_set(error, TD_SHAPE,
                     "invalid gradient at index %u - got %s but expected shape compatible with %s",
                     index, got, expected);
    free(got);
    free(expected);
    return status;
  }
  td_tensor *reduced;
  td_status status =
      td_kernel_sum_to(*gradient, metadata->n_dims, metadata->sizes, &reduced, error);
  if (!status) replace(gradient, reduced);
  return status;
}

static td_status
fit_one(td_tensor **gradient, const td_input_metadata *metadata, uint32_t index, td_error *error) {
  td_status status = fit_shape(gradient, metadata, index, error);
  if (status) return status;
  if ((*gradient)->dtype != metadata->dtype) {
    td_tensor *cast;
    status = td_kernel_cast(*gradient, metadata->dtype, &cast, error);
    if (status) return status;
    replace(gradient, cast);
  }
  if ((*gradient)->device == metadata->device) return TD_OK;
  if ((*gradient)->n_dims > 0)
    return td_error_set(error, TD_DEVICE,
                        "invalid gradient at index %u - expected device %s but got %s", index,
                        td_device_name(metadata->device), td_device_name((*gradient)->device));
  td_tensor *moved;
  status = td_kernel_to_device(*gradient, metadata->device, &moved, error);
  if (!status) replace(gradient, moved);
  return status;
}

td_status
td_validate_outputs(const td_edge *edges, uint32_t n_edges, td_tensor **gradients,
                    uint32_t n_gradients, td_error *error) {
  if (n_edges != n_gradients)
    return td_error_set(error, TD_AUTOGRAD, "invalid number of gradients - expected %u, but got %u",
                        n_edges, n_gradients);
  for (uint32_t i = 0; i < n_edges; i++) {
    if (!edges[i].node || !gradients[i] || edges[i].input_nr >= edges[i].node->n_inputs) continue;
    const td_input_metadata *metadata = &edges[i].node->input_metadata[edges[i].input_nr];
    if (!metadata->defined) continue;
    td_status status = fit_one(&gradients[i], metadata, i, error);
    if (status) return status;
  }
  return TD_OK;
}
