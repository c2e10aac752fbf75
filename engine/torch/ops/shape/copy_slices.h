/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CopySlices: the node of a tensor after an operation wrote into a view of it. Private to
 * engine/torch/ops. */
#pragma once

#include "engine/torch/ops/base/op.h"

/* td_copy_slices_node makes the node for `base` after fn was applied to a view of it in place. It
 * takes a reference to fn, and adds no metadata. fn's edge to the view's history is turned to the
 * history of the base. fn is never evaluated as a node, and asks only that edge whether its
 * gradient is wanted. */
td_node *td_copy_slices_node(td_tensor *base, const td_tensor *view, td_node *fn);
