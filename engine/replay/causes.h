/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which earlier birth of a NaN or Inf led to a later one. An Inf turns into a NaN where it meets
 * zero or its opposite, so no value has to be read. Any thread that owns the tape's reader. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/replay/catalog.h"

/* Births of NaN and Inf. Zero-initialise. */
typedef struct td_birth_at {
  uint64_t seq;
  td_event_anomaly event;
} td_birth_at;

typedef struct td_births {
  td_birth_at *items; /* (owned) [n] */
  size_t n, capacity;
  td_number_map carried; /* (owned) pairs of nodes between which a value that is not finite went */
  bool has_carried_enough; /* too many pairs: not all are here */
} td_births;

void td_births_add(td_births *births, uint64_t seq, const td_event_anomaly *event);

/* td_births_find returns the birth at event seq, or NULL. */
const td_birth_at *td_births_find(const td_births *births, uint64_t seq);

/* td_birth_of returns true if an event is the birth of a value that is not finite: an `anomaly`, or
 * `absorbed`, of which it makes the anomaly that it would be. */
bool td_birth_of(const td_any_event *event, td_event_anomaly *birth);

/* td_births_add_carried notes which edge such a value went over. */
void td_births_add_carried(td_births *births, const td_event_carried *event);
void td_births_fini(td_births *births);

/* td_cause_knows_edges tells whether the tape says which edges a value that is not finite went
 * over. Of such tapes, all functions here follow those edges alone. */
bool td_cause_knows_edges(const td_catalog *catalog);

/* td_cause_knows_fates tells whether the tape says of an Inf of the forward pass whether it got to
 * the root (`absorbed`), and of a value that an operation was given whether a leaf had it. A tape
 * of Tapedeck's own engine does not: that emits a birth at once. */
bool td_cause_knows_fates(const td_catalog *catalog);

/* td_cause_find looks upstream of event seq, which is `anomaly`: first along the backward pass,
 * then along the forward pass. It writes the event number of the nearest birth that can have led
 * to it. From a parameter it goes to the gradient that was stored there before. False if there is
 * none. */
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

/* td_cause_of_forward tells whether the birth is one of the forward pass, of the program's data or
 * of a parameter. */
bool td_cause_of_forward(const td_event_anomaly *anomaly);

/* td_cause_find_in_gradients writes the first birth of a NaN in the gradients after event seq.
 * False if there is none. *led tells whether the graph has a path, so that
 * event seq may have led to it. */
bool td_cause_find_in_gradients(const td_catalog *catalog, td_tape *tape, uint64_t seq,
                                uint64_t *birth, bool *led);

/* td_cause_find_carried writes the first gradient with a NaN in the pass to which a birth of the
 * forward pass, event seq, belongs: of a tape that knows such edges. *graph_task is that pass, or
 * TD_NONE. False if no gradient of it has a NaN. */
bool td_cause_find_carried(const td_catalog *catalog, td_tape *tape, uint64_t seq,
                           uint64_t *carried, uint32_t *graph_task);
