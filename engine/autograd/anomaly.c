/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/anomaly.h"

#include "engine/autograd/engine.h"
#include "engine/autograd/graph_task.h"
#include "engine/events/emit.h"
#include "engine/tensor/kernels.h"

#define NAN_BIT 1u
#define INF_BIT 2u

unsigned
td_anomaly_look(const td_tensor *tensor) {
  static const unsigned looked_for[] = {
      [TD_ANOMALY_OFF] = 0, [TD_ANOMALY_NAN] = NAN_BIT, [TD_ANOMALY_NONFINITE] = NAN_BIT | INF_BIT};
  unsigned mask = looked_for[td_engine_get_options(td_engine_default()).anomaly];
  return mask ? td_kernel_non_finite(tensor) & mask : 0;
}

bool
td_anomaly_is_on(void) {
  return td_engine_get_options(td_engine_default()).anomaly != TD_ANOMALY_OFF;
}

bool
td_anomaly_note(unsigned before, unsigned after, td_birthplace born, const td_node *node,
                uint32_t number, const td_node *from) {
  unsigned fresh = after & ~before;
  if (before & NAN_BIT) fresh = 0;
  if (!fresh) return false;
  td_anomaly_kind kind = fresh & NAN_BIT ? TD_anomaly_kind_nan : TD_anomaly_kind_inf;
  TD_EMIT(anomaly, .kind = kind, .born = born, .node = node->id,
          .graph_task = td_graph_task_now_id(), .number = number,
          .from = from ? from->id : TD_NONE);
  return true;
}

/* "1th" and "2th" too: PyTorch writes "th" after every number. */
td_status
td_anomaly_raise(const td_node *node, uint32_t output_nr, unsigned found, td_error *error) {
  if (!(found & NAN_BIT) || !td_engine_get_options(td_engine_default()).anomaly_raises)
    return TD_OK;
  return td_error_set(error, TD_ANOMALY, "Function '%s' returned nan values in its %uth output.",
                      td_node_name(node), output_nr);
}
