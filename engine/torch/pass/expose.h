/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Exposed buffers, since PyTorch 2.15. A function that runs may ask for the sums that wait for the
 * nodes below, and add to them by itself. It then returns no gradient there. That is safe if nobody
 * else touches the sum. So nobody else may hold it, no other thread may add to it later, and the
 * function may begin no pass. Each function is for the thread that runs the node. */
#pragma once

#include "engine/torch/pass/input_buffer.h"

/* td_expose writes a new reference to the sum that waits behind each edge of the node. NULL:
 * nothing has come there, or the sum cannot be written into. sums is [n_outputs]. TD_AUTOGRAD with
 * PyTorch's texts if the node does not run now, or its pass records a graph or looks for anomalies.
 */
td_status td_expose(td_node *node, td_tensor **sums, td_error *error);

/* td_exposures_refuse_pass fails if the function that runs has asked for a sum, and got one. */
td_status td_exposures_refuse_pass(td_error *error);

/* td_exposures_end_function lets passes begin again. td_exposures_forget ends what td_expose began,
 * after the scatter. */
extern _Thread_local struct td_exposure *td_exposures;
void td_exposures_end(void);
void td_exposures_drop(void);
static inline void
td_exposures_end_function(void) {
  if (TD_UNLIKELY(td_exposures != NULL)) td_exposures_end();
}
static inline void
td_exposures_forget(void) {
  if (TD_UNLIKELY(td_exposures != NULL)) td_exposures_drop();
}

/* td_exposures_added tells whether the function has added to the sum in this slot by itself. */
bool td_exposures_was_added_to(const td_input_slot *slot);
static inline bool
td_exposures_added(const td_input_slot *slot) {
  return TD_UNLIKELY(td_exposures != NULL) && td_exposures_was_added_to(slot);
}
