/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * InputBuffer: the gradients that have arrived for a node so far, one slot per input. A slot's
 * first gradient is moved in, later ones are added in the order of arrival. Guarded by its graph
 * task's lock until the node is popped, then owned by the popping thread. */
#pragma once

#include "engine/events/event.h"
#include "engine/tensor/tensor.h"

typedef struct td_input_slot {
  td_tensor *tensor;   /* (owned reference) or NULL: undefined */
  unsigned non_finite; /* what was found in it: bits of td_kernel_non_finite */
} td_input_slot;

typedef struct td_input_buffer {
  uint32_t n_slots;
  td_input_slot slots[];
} td_input_buffer;

td_input_buffer *td_input_buffer_new(uint32_t n_slots);
void td_input_buffer_free(td_input_buffer *buffer); /* NULL is fine */

/* td_input_buffer_add takes gradient (NULL: undefined) into a slot and tells how. In place only
 * where nobody else can see the older tensor and no graph is being recorded. TD_SHAPE, TD_DTYPE,
 * TD_OUT_OF_MEMORY. */
td_status td_input_buffer_add(td_input_buffer *buffer, uint32_t input_nr, td_input_slot gradient,
                              td_accumulation *mode, td_error *error);
