/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the process looks for among gradients. Anomaly mode is PyTorch's. The search for values that
 * are not finite is Tapedeck's, and goes on the tape. Any thread. "Found" are bits of
 * td_numbers_look. */
#pragma once

#include "engine/events/emit.h"
#include "engine/torch/tensor/tensor.h"

typedef enum td_anomaly_search {
  TD_ANOMALY_OFF,
  TD_ANOMALY_NAN,       /* NaN only, as PyTorch's anomaly mode */
  TD_ANOMALY_NONFINITE, /* NaN and infinities */
} td_anomaly_search;

/* td_anomaly_search_set chooses what the process looks for in every gradient and every sum, and
 * puts on the tape. Off at first. Not while a pass runs. */
void td_anomaly_search_set(td_anomaly_search search);

/* td_anomaly_search_tell says on the tape what is looked for: the setting "anomaly". */
void td_anomaly_search_tell(void);

/* The kinds that anomalies are emitted for: bits of td_numbers_look. If there is one,
 * td_anomaly_look looks for all kinds, because a NaN in a sum may be made of infinities. */
extern _Atomic unsigned td_anomaly_wanted;
static inline bool
td_anomaly_is_on(void) {
  return TD_UNLIKELY(atomic_load_explicit(&td_anomaly_wanted, memory_order_relaxed) != 0);
}

/* Anomaly mode of the process, as in PyTorch. Nodes remember where they were made (metadata.h), and
 * the first error of a pass warns with that. With check_nan, a NaN among a node's outputs is an
 * error. Off at first; any thread may set it at any time. */
extern _Atomic bool td_anomaly_mode_enabled;
void td_anomaly_mode_set(bool enabled, bool check_nan);
bool td_anomaly_mode_checks_nan(void);
static inline bool
td_anomaly_mode(void) {
  return TD_UNLIKELY(atomic_load_explicit(&td_anomaly_mode_enabled, memory_order_relaxed));
}

/* td_anomaly_look returns what is found in a tensor; 0 when anomaly mode is off. */
unsigned td_anomaly_look(const td_tensor *tensor);
