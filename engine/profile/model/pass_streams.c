/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/pass_streams.h"

#include "engine/base/alloc.h"

td_stream_front *
td_pass_streams_front(td_pass_streams *self, td_model_stream stream) {
  uint64_t key = (uint64_t)(uint32_t)stream.device << 32 | (uint32_t)stream.number;
  uint64_t *place = td_number_map_put(&self->streams, key);
  if (!*place) {
    TD_GROW(self->fronts, self->n, self->capacity);
    self->fronts[self->n] = (td_stream_front){.piece = TD_NONE};
    *place = ++self->n;
  }
  return &self->fronts[*place - 1];
}

void
td_pass_streams_record(td_pass_streams *self, td_model_stream stream, uint32_t event) {
  uint64_t *number = td_number_map_put(&self->numbers, event);
  if (!*number) {
    TD_GROW(self->events, self->n_events, self->events_capacity);
    *number = ++self->n_events;
  }
  self->events[*number - 1] = *td_pass_streams_front(self, stream);
}

td_stream_front
td_pass_streams_recorded(const td_pass_streams *self, uint32_t event) {
  const uint64_t *number = td_number_map_find(&self->numbers, event);
  if (number) return self->events[*number - 1];
  return (td_stream_front){.piece = TD_NONE, .unknown_ns = self->last_ns};
}

void
td_pass_streams_clear(td_pass_streams *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    td_stream_front *front = &self->fronts[i];
    *front =
        (td_stream_front){.piece = TD_NONE, .unknown_ns = TD_MAX(front->unknown_ns, front->end_ns)};
  }
  self->n_events = 0;
  td_number_map_fini(&self->numbers);
}

void
td_pass_streams_fini(td_pass_streams *self) {
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->streams);
  free(self->fronts);
  free(self->events);
  *self = (td_pass_streams){0};
}
