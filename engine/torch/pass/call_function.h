/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The second part of an evaluation: the node's function, with the hooks around it. Private to
 * engine/torch/pass. */
#pragma once

#include "engine/torch/pass/evaluation.h"

/* td_evaluation_call_hooks calls the hooks of these kinds that come before the node's function. The
 * inputs are then what they made of them. */
td_status td_evaluation_call_hooks(td_evaluation *self, unsigned kinds, td_error *error);

/* td_evaluation_call_function calls the node's pre-hooks, its function, and its post hooks; the
 * outputs then fit the edges that they go along. */
td_status td_evaluation_call_function(td_evaluation *self, td_error *error);
