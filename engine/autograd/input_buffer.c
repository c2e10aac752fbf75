/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/input_buffer.h"

#include "engine/autograd/anomaly.h"
#include "engine/autograd/differentiable.h"
#include "engine/autograd/variable.h"
#include "engine/base/alloc.h"
#include "engine/tensor/kernels.h"

td_input_buffer *
td_input_buffer_new(uint32_t n_slots) {
  td_input_buffer *buffer = td_alloc(1, sizeof *buffer + n_slots * sizeof *buffer->slots);
  buffer->n_slots = n_slots;
  return buffer;
}

void
td_input_buffer_free(td_input_buffer *buffer) {
  if (!buffer) return;
  for (uint32_t i = 0; i < buffer->n_slots; i++)
    td_tensor_unref(buffer->slots[i].tensor);
  free(buffer);
}

static bool
is_ours_alone(const td_tensor *tensor) {
  return td_refcount_get(&tensor->refs) == 1 && td_refcount_get(&tensor->storage->refs) == 1 &&
         !tensor->autograd && td_tensor_is_contiguous(tensor);
}

static td_status
add_to_slot(td_input_slot *slot, td_tensor *gradient, td_accumulation *mode, td_error *error) {
  if (!td_tensor_same_sizes(slot->tensor, gradient))
    return td_error_set(error, TD_SHAPE, "gradients of different shapes meet in an input buffer");
  if (!td_grad_mode() && is_ours_alone(slot->tensor) && slot->tensor->dtype == gradient->dtype) {
    td_kernel_add_into(slot->tensor, gradient);
    *mode = TD_accumulation_in_place;
    return TD_OK;
  }
  td_tensor *sum;
  td_status status = td_differentiable_get()->add(slot->tensor, gradient, &sum, error);
  if (status) return status;
  td_tensor_unref(slot->tensor);
  slot->tensor = sum;
  *mode = TD_accumulation_out_of_place;
  return TD_OK;
}

td_input_slot
td_input_slot_new(td_tensor *gradient, unsigned found, td_contributor from) {
  return (td_input_slot){
      .tensor = gradient,
      .found = found,
      .latest = from,
      .plus_inf = found & TD_NUMBERS_PLUS_INF ? from : TD_NO_CONTRIBUTOR,
      .minus_inf = found & TD_NUMBERS_MINUS_INF ? from : TD_NO_CONTRIBUTOR,
  };
}

td_contributor
td_input_slot_blamed(const td_input_slot *slot, unsigned found) {
  if (found & TD_NUMBERS_PLUS_INF && slot->minus_inf.node != TD_NONE) return slot->minus_inf;
  if (found & TD_NUMBERS_MINUS_INF && slot->plus_inf.node != TD_NONE) return slot->plus_inf;
  return slot->latest;
}

td_status
td_input_buffer_add(td_input_buffer *buffer, uint32_t input_nr, td_input_slot gradient,
                    td_accumulation *mode, td_error *error) {
  td_input_slot *slot = &buffer->slots[input_nr];
  if (!gradient.tensor) {
    *mode = TD_accumulation_undefined;
    return TD_OK;
  }
  if (!slot->tensor) {
    *slot = gradient;
    *mode = TD_accumulation_move;
    return TD_OK;
  }
  slot->latest = gradient.latest;
  if (gradient.found & TD_NUMBERS_PLUS_INF) slot->plus_inf = gradient.latest;
  if (gradient.found & TD_NUMBERS_MINUS_INF) slot->minus_inf = gradient.latest;
  td_status status = add_to_slot(slot, gradient.tensor, mode, error);
  td_tensor_unref(gradient.tensor);
  if (!status) slot->found = td_anomaly_look(slot->tensor);
  return status;
}
