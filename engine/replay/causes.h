/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which earlier birth of a NaN or Inf led to a later one. An Inf turns into a NaN where it meets
 * zero or its opposite, so no value has to be read. Any thread that owns the tape's reader. */
#pragma once

#include "engine/replay/catalog.h"

/* Births of NaN and Inf, in the order of the tape. Zero-initialise. */
typedef struct td_birth_at {
  uint64_t seq;
  td_event_anomaly event;
} td_birth_at;

typedef struct td_births {
  td_birth_at *items; /* (owned) [n] */
  size_t n, capacity;
} td_births;

void td_births_add(td_births *births, uint64_t seq, const td_event_anomaly *event);
void td_births_fini(td_births *births);

/* td_cause_find looks upstream of event seq, which is `anomaly`: first along the backward pass,
 * then along the forward pass. It writes the event number of the nearest birth that can have led
 * to it. False if there is none. */
bool td_cause_find(const td_catalog *catalog, td_tape *tape, uint64_t seq,
                   const td_event_anomaly *anomaly, uint64_t *cause);

/* td_cause_find_among does the same among these births. The catalog has the graph. If that is of
 * one segment, births may lie before it: of nodes that still live. */
bool td_cause_find_among(const td_catalog *graph, const td_births *births, uint64_t seq,
                         const td_event_anomaly *anomaly, uint64_t *cause);

/* td_cause_can_lead tells from the two births alone whether the earlier one can lead to the later
 * one. */
bool td_cause_can_lead(const td_event_anomaly *later, const td_event_anomaly *earlier);

/* td_cause_is_possible tells without the graph whether td_cause_find can find a birth at event
 * `first` or later. It needs no more than the catalog of an outline. */
bool td_cause_is_possible(const td_catalog *catalog, td_tape *tape, uint64_t first, uint64_t seq,
                          const td_event_anomaly *anomaly);

/* td_cause_of_forward tells whether the birth is one of the forward pass or of the program's data.
 */
bool td_cause_of_forward(const td_event_anomaly *anomaly);

/* td_cause_find_in_gradients writes the first birth of a NaN in the gradients after event seq.
 * False if there is none. *led tells whether the graph has a path, so that
 * event seq may have led to it. */
bool td_cause_find_in_gradients(const td_catalog *catalog, td_tape *tape, uint64_t seq,
                                uint64_t *birth, bool *led);
