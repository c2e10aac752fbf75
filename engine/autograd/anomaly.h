/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a NaN or an infinity is born: in a value none of whose ingredients had one. PyTorch's
 * anomaly mode looks at node outputs alone; here every sum is looked at too, since +Inf and -Inf
 * may meet in an input buffer. Any thread; the mode is set while no pass runs. */
#pragma once

#include "engine/autograd/node.h"
#include "engine/events/event.h"

/* td_anomaly_look returns the bits of td_kernel_non_finite that are looked for; 0 when anomaly mode
 * is off. */
unsigned td_anomaly_look(const td_tensor *tensor);

bool td_anomaly_is_on(void);

/* td_anomaly_note compares what the ingredients had with what the result has, emits an `anomaly`
 * for a kind that is new, and returns whether one was. An infinity that comes with a NaN is no
 * news, nor is one made of NaNs. `from` is the node whose contribution completed a sum, or NULL. */
bool td_anomaly_note(unsigned before, unsigned after, td_birthplace born, const td_node *node,
                     uint32_t number, const td_node *from);

/* td_anomaly_raise is the error that PyTorch's anomaly mode ends a pass with, if the options ask
 * for it and one of a node's outputs has a NaN. */
td_status td_anomaly_raise(const td_node *node, uint32_t output_nr, unsigned found,
                           td_error *error);
