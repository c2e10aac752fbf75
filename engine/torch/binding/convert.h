/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Turns nested lists and numbers into tensors, and back. */
#pragma once

#include "engine/torch/binding/tensor_object.h"

/* tdpy_tensor_from_data makes a tensor from a number or from nested sequences of numbers. It
 * copies a tensor, without history. A dtype of -1 takes the dtype of the data: float32, int64 or
 * bool. Returns NULL with an exception if it fails. */
td_tensor *tdpy_tensor_from_data(PyObject *data, int dtype, td_device device);

/* tdpy_tensor_to_list returns nested lists, or a number for a 0-dimensional tensor. */
PyObject *tdpy_tensor_to_list(const td_tensor *tensor);

/* tdpy_tensor_has_item returns 1 if the elements can be read. If the tensor is on an accelerator,
 * it waits for them (stream.h). Tensors of the meta device have no elements: 0 and a RuntimeError.
 */
int tdpy_tensor_has_item(const td_tensor *tensor);

/* tdpy_tensor_is_single returns 1 if the tensor has one element, which can be read. Otherwise 0
 * with an exception. */
int tdpy_tensor_is_single(const td_tensor *tensor);

/* tdpy_element returns one element as a Python number, a new reference. */
PyObject *tdpy_element(const td_tensor *tensor, int64_t index);
