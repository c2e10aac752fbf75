/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gradients look like, as `tensor_stats` events. Any thread; the mode is set while no pass
 * runs. */
#pragma once

#include "engine/events/event.h"
#include "engine/torch/graph/node.h"

typedef enum td_stats_mode {
  TD_STATS_OFF,
  TD_STATS_FINITE, /* how many NaNs and infinities */
  TD_STATS_FULL,   /* and least, greatest, mean and norm of the rest */
} td_stats_mode;

/* td_statistics_set_mode chooses what of every gradient goes on the tape. Off at first. */
void td_statistics_set_mode(td_stats_mode mode);

/* td_statistics_emit measures a gradient (NULL: none) in this mode. */
void td_statistics_emit(td_stats_place place, const td_node *node, uint32_t number,
                        const td_tensor *gradient);
