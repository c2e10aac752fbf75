/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The birth of a NaN or of an infinity: a result has one, and what the result was made of had none.
 * Any thread. Private to the probe. */
#pragma once

#include "engine/events/event.h"

#include <stdbool.h>

typedef struct td_birth {
  td_birthplace place;
  uint32_t node, graph_task, number;
  uint32_t from, from_output_nr, other, other_output_nr; /* of a sum; else TD_NONE */
  uint32_t hook;                                         /* an interned string */
  bool absorbed; /* of an Inf of the forward pass: it does not get to the root */
} td_birth;

/* The kinds of anomalies that go on the tape: bits of td_numbers_look. Set while no engine runs. */
extern unsigned td_births_wanted;

/* td_birth_note compares the bits found before with those found after. If a wanted kind is new, it
 * emits an `anomaly`, tells the gate and returns true. */
bool td_birth_note(unsigned before, unsigned after, const td_birth *birth);
