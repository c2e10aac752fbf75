/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * InputBuffer: the gradients that have arrived for a node so far, one slot per input. A slot's
 * first gradient is moved in, later ones are added in the order of arrival. Guarded by its graph
 * task's lock until the node is popped, then owned by the popping thread. On accelerators a slot
 * has a stream of its own: arrival.h. */
#pragma once

#include "engine/torch/pass/arrival.h"

/* An output of a node; node TD_NONE: the caller of backward, or nobody. */
typedef struct td_contributor {
  uint32_t node, output_nr;
} td_contributor;
#define TD_NO_CONTRIBUTOR ((td_contributor){TD_NONE, 0})

typedef struct td_input_slot {
  td_tensor *tensor;                          /* (owned reference) or NULL: undefined */
  unsigned found;                             /* what is in it that is not finite (anomaly.h) */
  td_contributor latest, plus_inf, minus_inf; /* who came last, and last with an infinity */
  uint64_t exposed_on; /* the thread that gave it to a function (expose.h), or 0: none did */
} td_input_slot;

typedef struct td_input_buffer {
  uint32_t n_slots;
  td_slot_streams *streams; /* (owned) [n_slots], or NULL: no gradient on an accelerator came */
  uint64_t time;            /* of the latest arrival, on its thread's clock: Note [Virtual time] */
  td_input_slot slots[];
} td_input_buffer;

td_input_buffer *td_input_buffer_new(uint32_t n_slots);
void td_input_buffer_free(td_input_buffer *buffer); /* NULL is fine */

/* td_input_slot_new is a slot as its first gradient (taken) fills it. td_input_slot_blamed is for a
 * gradient in which `found` is: which earlier gradient may have made a NaN together with it? It
 * returns a contributor with the opposite infinity, else the latest one. */
td_input_slot td_input_slot_new(td_tensor *gradient, unsigned found, td_contributor from);
td_contributor td_input_slot_blamed(const td_input_slot *slot, unsigned found);

/* td_input_buffer_add takes gradient (NULL: undefined) into a slot and tells how. Policy
 * sum_in_place (PyTorch 2): if nobody else holds the older tensor or its storage, and no graph is
 * recorded, the sum goes into that tensor. Of a sparse and a dense tensor, it goes into the dense
 * one. Without that policy, only a sparse gradient is added in place, into a dense tensor whose
 * storage nobody else holds. `arrival` says where the gradient comes from, and receives how streams
 * were joined; NULL without accelerators. TD_SHAPE, TD_DTYPE, TD_OUT_OF_MEMORY; TD_AUTOGRAD if
 * another thread has exposed the sum. */
td_status td_input_buffer_add(td_input_buffer *buffer, uint32_t input_nr, td_input_slot gradient,
                              td_arrival *arrival, td_accumulation *mode, td_error *error);
