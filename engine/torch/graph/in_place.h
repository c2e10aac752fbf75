/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a write in place does to the graph: Note [Writes in place] in engine/DESIGN.md. The thread
 * that writes. */
#pragma once

#include "engine/torch/graph/node.h"
#include "engine/torch/tensor/overlap.h"

/* td_check_in_place tells whether a tensor may be written into; `tracked`: the write would leave
 * history (grad mode is on, and an operand requires grad). TD_AUTOGRAD with PyTorch's texts for
 * leaves, for views of leaves, and for views that may not be written into. So too for inference
 * * leaves, for views of leaves, and for views that may not be written into. So too for inference
 * tensors outside inference mode. */
td_status td_check_in_place(const td_tensor *self, bool tracked, td_error *error);

/* td_set_source is td_variable_set_data as a write: the version is counted up, and graphs of before
 * know the leaf no more. TD_AUTOGRAD for a leaf that requires grad, if grad mode is on. */
td_status td_set_source(td_tensor *tensor, const td_tensor *source, td_error *error);

/* td_check_overlap is for writes that are not the same value everywhere: TD_AUTOGRAD for memory
 * that several elements share. As PyTorch, after the node was made. */
td_status td_check_overlap(const td_tensor *self, td_error *error);

/* td_worst_overlap tells how much memory self shares with the other operands; NULL is none.
 * td_check_operands is TD_AUTOGRAD if this is more than what is allowed: elementwise operations
 * allow TD_OVERLAP_FULL. */
td_overlap td_worst_overlap(const td_tensor *self, td_tensor *const *operands, uint32_t n_operands);
td_status td_check_operands(td_overlap found, td_overlap allowed, td_error *error);

/* td_rebase_history notes that `node` (borrowed) has just written a tensor, as its forward output
 * `input_nr`. The version was bumped, and the node has the metadata. The tensor gets the node as
 * its grad_fn; a view's base gets a CopySlices. Announces the node. TD_AUTOGRAD for a view if the
 * node has several inputs. */
td_status td_rebase_history(td_tensor *self, td_node *node, uint32_t input_nr, td_error *error);

/* td_detach_in_place takes a tensor's history away; TD_AUTOGRAD for views. */
td_status td_detach_in_place(td_tensor *self, td_error *error);
