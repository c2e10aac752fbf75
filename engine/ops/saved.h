/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What operations' nodes saved, by PyTorch's names: "self", "other", "result". Any thread. */
#pragma once

#include "engine/graph/saved_variable.h"

/* td_op_saved_find borrows the slot of that name, or NULL where the node's class has none of it.
 * Look into it under the node's mutex. */
td_saved_variable *td_op_saved_find(td_node *node, const char *name);

/* td_op_saved_names writes the class's names (literals) into names[TD_OP_SAVED_NAMES] and returns
 * how many there are. */
#define TD_OP_SAVED_NAMES 3
int td_op_saved_names(const td_node *node, const char **names);
