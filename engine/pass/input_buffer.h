/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * InputBuffer: the gradients that have arrived for a node so far, one slot per input. A slot's
 * first gradient is moved in, later ones are added in the order of arrival. Guarded by its graph
 * task's lock until the node is popped, then owned by the popping thread. On accelerators a slot
 * has a stream of its own: arrival.h. */
#pragma once

#include "engine/pass/arrival.h"

/* An output of a node; node TD_NONE: the caller of backward, or nobody. */
typedef struct td_contributor {
  uint32_t node, output_nr;
} td_contributor;
#define TD_NO_CONTRIBUTOR ((td_contributor){TD_NONE, 0})

typedef struct td_input_slot {
  td_tensor *tensor;                          /* (owned reference) or NULL: undefined */
  unsigned found;                             /* what is in it that is not finite (anomaly.h) */
  td_contributor latest, plus_inf, minus_inf; /* who came last, and last with an infinity */
} td_input_slot;

typedef struct td_input_buffer {
  uint32_t n_slots;
  td_slot_streams *streams; /* (owned) [n_slots], or NULL: no gradient on an accelerator came */
  uint64_t time;            /* of the latest arrival, on its thread's clock: Note [Virtual time] */
  td_input_slot slots[];
} td_input_buffer;

td_input_buffer *td_input_buffer_new(uint32_t n_slots);
void td_input_buffer_free(td_input_buffer *buffer); /* NULL is fine */

/* td_input_slot_new is a slot as its first gradient (taken) fills it. td_input_slot_blamed returns
 * who is in the sum so far that may have made something with a gradient in which `found` is: one
 * with the opposite infinity, else the latest. */
td_input_slot td_input_slot_new(td_tensor *gradient, unsigned found, td_contributor from);
td_contributor td_input_slot_blamed(const td_input_slot *slot, unsigned found);

/* td_input_buffer_add takes gradient (NULL: undefined) into a slot and tells how. Policy
 * sum_in_place (PyTorch 2): into the older tensor, or of a sparse and a dense one into the dense
 * one, where nobody else holds it or its storage and no graph is being recorded. Before: in place
 * only a sparse one into a dense one whose storage nobody else holds. `arrival` says where it comes
 * from, and hears how streams were joined; NULL without accelerators. TD_SHAPE, TD_DTYPE,
 * TD_OUT_OF_MEMORY. */
td_status td_input_buffer_add(td_input_buffer *buffer, uint32_t input_nr, td_input_slot gradient,
                              td_arrival *arrival, td_accumulation *mode, td_error *error);
