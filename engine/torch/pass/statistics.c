/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/statistics.h"

#include "engine/base/numbers.h"
#include "engine/events/emit.h"
#include "engine/torch/graph/now.h"

static td_stats_mode mode = TD_STATS_OFF;

void
td_statistics_set_mode(td_stats_mode wanted) {
  mode = wanted;
}

static void
measure_and_emit(td_stats_place place, const td_node *node, uint32_t number,
                 const td_tensor *gradient) {
  td_numbers numbers = td_tensor_numbers(gradient);
  td_number_stats stats;
  if (mode == TD_STATS_FULL)
    td_numbers_measure(&numbers, &stats);
  else
    td_numbers_count(&numbers, &stats);
  TD_EMIT(tensor_stats, .node = td_node_id(node), .graph_task = td_graph_task_now_id(),
          .place = place, .number = number, .n_elements = stats.n_elements, .n_nan = stats.n_nan,
          .n_inf = stats.n_inf, .min = stats.min, .max = stats.max, .mean = stats.mean,
          .l2 = stats.l2);
}

void
td_statistics_emit(td_stats_place place, const td_node *node, uint32_t number,
                   const td_tensor *gradient) {
  if (mode != TD_STATS_OFF && gradient && td_recording())
    measure_and_emit(place, node, number, gradient);
}
