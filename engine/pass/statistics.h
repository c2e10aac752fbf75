/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gradients look like, as `tensor_stats` events. Any thread; the mode is set while no pass
 * runs. */
#pragma once

#include "engine/events/event.h"
#include "engine/graph/node.h"

/* td_statistics_emit measures a gradient (NULL: none) as the engine's options ask, or not at all.
 */
void td_statistics_emit(td_stats_place place, const td_node *node, uint32_t number,
                        const td_tensor *gradient);
