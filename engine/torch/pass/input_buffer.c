/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/input_buffer.h"

#include "engine/base/alloc.h"
#include "engine/base/numbers.h"
#include "engine/torch/device/cause.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/differentiable.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/sparse.h"
#include "engine/torch/tensor/zero_tensor.h"

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
  td_slot_streams_free(buffer->streams, buffer->n_slots);
  free(buffer);
}

static bool
owns_storage(const td_tensor *tensor) {
  return !tensor->sparse && td_refcount_get(&tensor->storage->refs) == 1 &&
         !td_tensor_is_zero_tensor(tensor);
}

/* May `into` become the sum? Before PyTorch 2 only a dense one that a sparse one is added to. */
static bool
may_add_into(const td_tensor *into, const td_tensor *other) {
  if (td_grad_mode() || into->dtype != other->dtype || !owns_storage(into)) return false;
  if (!td_policy(sum_in_place)) return other->sparse && td_tensor_is_contiguous(into);
  return td_refcount_get(&into->refs) == 1 && !td_requires_grad(into) && td_tensor_is_dense(into);
}

/* The order of the operands is PyTorch's: it decides the order of a sparse sum's values. */
static td_status
add_to_slot(td_input_slot *slot, td_tensor *gradient, td_accumulation *mode, td_error *error) {
  td_tensor *old = slot->tensor;
  if (!td_tensor_same_sizes(old, gradient))
    return td_error_set(error, TD_SHAPE, "gradients of different shapes meet in an input buffer");
  td_tensor *into = old->sparse ? gradient : old, *other = old->sparse ? old : gradient;
  bool in_place = may_add_into(into, other);
  *mode = old->sparse && gradient->sparse ? TD_accumulation_sparse
          : in_place                      ? TD_accumulation_in_place
                                          : TD_accumulation_out_of_place;
  td_tensor *sum = in_place ? td_tensor_ref(into) : NULL;
  td_status status = TD_OK;
  if (!in_place)
    status = td_differentiable_get()->add(into, other, &sum, error);
  else if (other->sparse)
    td_sparse_add_into_dense(into, other, 1);
  else
    td_kernel_add_into(into, other);
  if (status) return status;
  td_tensor_unref(old);
  slot->tensor = sum;
  return TD_OK;
}

/* On the stream that was chosen for it, for the sake of the node whose buffer it is. */
static td_status
add_on_stream(td_input_slot *slot, td_tensor *gradient, const td_arrival *arrival,
              td_accumulation *mode, td_error *error) {
  if (!arrival) return add_to_slot(slot, gradient, mode, error);
  td_stream_guard guard = td_stream_guard_begin(arrival->stream);
  uint32_t earlier = td_cause_set(td_node_id(arrival->consumer));
  td_status status = add_to_slot(slot, gradient, mode, error);
  td_cause_set(earlier);
  td_stream_guard_end(&guard);
  return status;
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

static td_status
add(td_input_slot *slot, td_input_slot gradient, const td_arrival *arrival, td_accumulation *mode,
    td_error *error) {
  slot->latest = gradient.latest;
  if (gradient.found & TD_NUMBERS_PLUS_INF) slot->plus_inf = gradient.latest;
  if (gradient.found & TD_NUMBERS_MINUS_INF) slot->minus_inf = gradient.latest;
  td_status status = add_on_stream(slot, gradient.tensor, arrival, mode, error);
  td_tensor_unref(gradient.tensor);
  if (!status) slot->found = td_anomaly_look(slot->tensor);
  return status;
}

static td_status
refuse_thread(const td_input_slot *slot, td_error *error) {
  return td_error_set(error, TD_AUTOGRAD,
                      "Direct InputBuffer accumulation requires the same autograd engine thread, "
                      "but the buffer was exposed on thread %llu and is now being accessed on "
                      "thread %llu",
                      (unsigned long long)slot->exposed_on, (unsigned long long)pthread_self());
}

td_status
td_input_buffer_add(td_input_buffer *buffer, uint32_t input_nr, td_input_slot gradient,
                    td_arrival *arrival, td_accumulation *mode, td_error *error) {
  td_input_slot *slot = &buffer->slots[input_nr];
  bool is_first = !slot->tensor;
  if (!gradient.tensor) {
    *mode = TD_accumulation_undefined;
    return TD_OK;
  }
  if (TD_UNLIKELY(slot->exposed_on) && slot->exposed_on != (uint64_t)pthread_self()) {
    td_tensor_unref(gradient.tensor);
    return refuse_thread(slot, error);
  }
  td_slot_streams *streams = NULL;
  if (TD_UNLIKELY(arrival != NULL)) {
    streams = td_slot_streams_of(&buffer->streams, buffer->n_slots, input_nr);
    td_arrival_prepare(streams, slot->tensor, gradient.tensor, arrival);
  }
  *mode = TD_accumulation_move;
  td_status status = TD_OK;
  if (is_first)
    *slot = gradient;
  else
    status = add(slot, gradient, arrival, mode, error);
  if (TD_UNLIKELY(arrival != NULL)) td_arrival_conclude(streams, arrival, !is_first);
  return status;
}
