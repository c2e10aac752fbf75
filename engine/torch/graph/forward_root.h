/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where forward mode begins. A dual tensor is the output of a root. Forward mode differentiates
 * gradients down to the roots by what these gradients were made of, and so needs no formulas of its
 * own. */
#pragma once

#include "engine/torch/graph/function.h"

/* td_forward_root_wrap returns a tensor with the same elements whose grad_fn is a new root, whether
 * or not self requires grad. */
td_tensor *td_forward_root_wrap(td_tensor *self);

/* td_forward_root_stop sets whether gradients end at roots in this thread's passes. Otherwise they
 * go on to self. Returns what held before. */
bool td_forward_root_stop(bool stop);
