/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CopySlices: the node of a tensor after an operation wrote into a view of it. Private to
 * engine/ops. */
#pragma once

#include "engine/ops/op.h"

/* td_copy_slices_node makes it for base, of which fn (a reference is taken) was applied to the view
 * in place; without metadata. fn's own edge to the view's history is turned to the base's: it is
 * never evaluated as a node, and asks that edge alone whether its gradient is wanted. */
td_node *td_copy_slices_node(td_tensor *base, const td_tensor *view, td_node *fn);
