/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A weak reference to a tensor, for hooks that must not keep their tensor alive. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

typedef struct td_weak_tensor td_weak_tensor;

/* td_weak_tensor_new is called by the tensor's owner, who calls td_weak_tensor_clear when the
 * tensor dies. Reference-counted apart from the tensor. */
td_weak_tensor *td_weak_tensor_new(td_tensor *tensor);
td_weak_tensor *td_weak_tensor_ref(td_weak_tensor *weak);
void td_weak_tensor_unref(td_weak_tensor *weak); /* NULL is fine */

/* td_weak_tensor_get returns a new reference to the tensor, or NULL if it is gone. */
td_tensor *td_weak_tensor_get(td_weak_tensor *weak);
void td_weak_tensor_clear(td_weak_tensor *weak);
