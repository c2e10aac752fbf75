/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the nodes of operations saved, by PyTorch's names: "self", "other", "result". Any thread. */
#pragma once

#include "engine/torch/graph/saved_variable.h"

/* td_op_saved_find borrows the slot with that name, or returns NULL if the node's class has none.
 * The caller looks into the slot under the node's mutex. */
td_saved_variable *td_op_saved_find(td_node *node, const char *name);
