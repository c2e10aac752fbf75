/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What cuts leaves off the loss: cuts.h. Each function notes nothing but in the first passes of a
 * recording, and nothing inside a pass. The thread that works with the tensors. */
#pragma once

#include "engine/events/cuts.h"
#include "engine/torch/tensor/tensor.h"

/* td_cut_history notes a detach(), an item() and their like for all leaves that the history of the
 * tensor leads to. */
void td_cut_history(const td_tensor *tensor, td_cut_kind kind);

/* td_cut_inputs notes no_grad() for those inputs of an operation that are leaves with
 * requires_grad. NULLs are fine. */
void td_cut_inputs(td_tensor *const *inputs, uint32_t n_inputs);

/* td_cut_of returns what was noted of a leaf. */
td_cut td_cut_of(const td_tensor *leaf);
