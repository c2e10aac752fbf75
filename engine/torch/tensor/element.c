/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Single elements, by their row-major index. */
#include "engine/torch/tensor/tensor.h"

#include <assert.h>

static void *
element_at(const td_tensor *tensor, int64_t index) {
  int64_t at = 0;
  for (int dim = tensor->n_dims - 1; dim >= 0; dim--) {
    at += index % tensor->sizes[dim] * tensor->strides[dim];
    index /= tensor->sizes[dim];
  }
  return (char *)td_tensor_data(tensor) + at * (int64_t)td_dtype_size(tensor->dtype);
}

double
td_tensor_item(const td_tensor *tensor) {
  return td_tensor_get(tensor, 0);
}

/* An element in its compute type. */
typedef union element {
  float floating;
  int64_t integer;
} element;

/* Points at the element, or at `room`, which has it then. */
static const void *
load_element(const td_tensor *tensor, int64_t index, element *room) {
  const void *at = element_at(tensor, index);
  if (!td_dtype_is_storage(tensor->dtype)) return at;
  td_dtype_load(tensor->dtype, room, at, 1, 1);
  return room;
}

/* Points at where to write the element; store_element must follow. */
static void *
writable_element(td_tensor *tensor, int64_t index, element *room) {
  return td_dtype_is_storage(tensor->dtype) ? room : element_at(tensor, index);
}

static void
store_element(td_tensor *tensor, int64_t index, const element *room) {
  if (!td_dtype_is_storage(tensor->dtype)) return;
  td_dtype_store(tensor->dtype, element_at(tensor, index), room, 1, 1);
}

double
td_tensor_get(const td_tensor *tensor, int64_t index) {
  assert(index >= 0 && index < td_tensor_n_elements(tensor));
  if (!td_tensor_has_data(tensor)) return 0;
  element room;
  const void *element = load_element(tensor, index, &room);
  double value = 0;
  TD_DISPATCH_ALL(tensor->dtype, value = (double)*(const T *)element;)
  return value;
}

int64_t
td_tensor_get_integer(const td_tensor *tensor, int64_t index) {
  bool is_wide = tensor->dtype == TD_INT64 && td_tensor_has_data(tensor);
  return is_wide ? *(const int64_t *)element_at(tensor, index)
                 : (int64_t)td_tensor_get(tensor, index);
}

td_complex128
td_tensor_get_complex(const td_tensor *tensor, int64_t index) {
  assert(index >= 0 && index < td_tensor_n_elements(tensor));
  if (!td_tensor_has_data(tensor)) return 0;
  element room;
  const void *element = load_element(tensor, index, &room);
  td_complex128 value = 0;
  TD_DISPATCH_ALL(tensor->dtype, value = (td_complex128) * (const T *)element;)
  return value;
}

void
td_tensor_set(td_tensor *tensor, int64_t index, double value) {
  assert(index >= 0 && index < td_tensor_n_elements(tensor));
  if (!td_tensor_has_data(tensor)) return;
  element room;
  void *element = writable_element(tensor, index, &room);
  TD_DISPATCH_ALL(tensor->dtype, *(T *)element = (T)value;)
  store_element(tensor, index, &room);
}

void
td_tensor_set_complex(td_tensor *tensor, int64_t index, td_complex128 value) {
  assert(index >= 0 && index < td_tensor_n_elements(tensor));
  if (!td_tensor_has_data(tensor)) return;
  element room;
  void *element = writable_element(tensor, index, &room);
  TD_DISPATCH_ALL(tensor->dtype, *(T *)element = (T)value;)
  store_element(tensor, index, &room);
}
