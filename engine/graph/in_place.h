/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a write in place does to the graph: Note [Writes in place] in engine/DESIGN.md. The thread
 * that writes. */
#pragma once

#include "engine/graph/node.h"

/* td_check_in_place tells whether a tensor may be written into; `tracked`: the write would leave
 * history (grad mode is on, and an operand requires grad). TD_AUTOGRAD with PyTorch's texts for
 * leaves, for views of leaves, and for views that may not be written into. So too for inference
 * tensors outside inference mode, and for memory that several elements share. */
td_status td_check_in_place(const td_tensor *self, bool tracked, td_error *error);

/* td_rebase_history notes that `node` (borrowed) has just written a tensor, as its forward output
 * `input_nr`. The version was bumped, and the node has the metadata. The tensor gets the node as
 * its grad_fn; a view's base gets a CopySlices. Announces the node. TD_AUTOGRAD for a view if the
 * node has several inputs. */
td_status td_rebase_history(td_tensor *self, td_node *node, uint32_t input_nr, td_error *error);

/* td_detach_in_place takes a tensor's history away; TD_AUTOGRAD for views. */
td_status td_detach_in_place(td_tensor *self, td_error *error);
