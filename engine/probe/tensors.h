/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Python's tensors, as the probe needs them: the address of the at::TensorImpl inside. Wants the
 * GIL. Private to the probe. */
#pragma once

#include "engine/probe/python.h"

/* td_tensors_start finds the class of tensors; false if no PyTorch is loaded. */
bool td_tensors_start(const td_python *python);

/* td_tensors_impl returns the at::TensorImpl of an object, or NULL if the object is no tensor. It
 * asks the first tensor for it, and reads the same word of all others. */
const void *td_tensors_impl(const td_python *python, void *object);
