/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Time without pauses. While a live session keeps a program waiting, the program takes no time.
 * Zero-initialise. One thread. */
#pragma once

#include "engine/base/alloc.h"
#include "engine/events/event_type.h"

typedef struct td_pauses {
  uint64_t now;      /* time of the last event, without pauses */
  uint64_t left_out; /* ns, up to then */
} td_pauses;

/* td_pauses_take takes the next event of a tape, and returns self->now. The event `paused` comes at
 * the end of a pause. If other threads went on meanwhile, only the time after their last event is
 * left out. */
static inline uint64_t
td_pauses_take(td_pauses *self, const td_any_event *event) {
  uint64_t time = event->event.time - TD_MIN(event->event.time, self->left_out);
  uint64_t passed = time - TD_MIN(time, self->now), pause = 0;
  if (event->event.kind == TD_EVENT_paused) pause = TD_MIN(event->paused.waited, passed);
  self->now += passed - pause;
  self->left_out += pause;
  return self->now;
}
