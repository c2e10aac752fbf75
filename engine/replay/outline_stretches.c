/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/outline_stretches.h"

#include "engine/base/alloc.h"
#include "engine/replay/catalog.h"

void
td_outline_stretches_begin(td_outline_stretches *self, uint64_t n_events) {
  *self = (td_outline_stretches){.n_events = n_events,
                                 .n = (uint32_t)TD_MIN(n_events, TD_CATALOG_STRETCHES)};
}

/* The event behind a stretch. No product is as large as the tape's number of events squared. */
static uint64_t
end_of(const td_outline_stretches *self, uint64_t i) {
  uint64_t whole = self->n_events / self->n, rest = self->n_events % self->n;
  return (i + 1) * whole + (i + 1) * rest / self->n;
}

static void
put_stretch(td_outline_stretches *self) {
  td_event_stretch_now event = {.event = self->last,
                                .most = (uint32_t)TD_MIN(self->most, UINT32_MAX),
                                .busy_ns = self->busy_ns};
  event.event.kind = TD_EVENT_stretch_now;
  event.event.size = sizeof event;
  td_keyframe_put(&self->events, &event.event, end_of(self, self->n_done++) - 1);
  self->busy_ns = self->most = 0;
}

static void
set_depth(td_outline_stretches *self, uint64_t *depth, uint64_t now) {
  if (*depth == 0 && now > 0) self->n_busy++;
  if (*depth > 0 && now == 0) self->n_busy--;
  *depth = now;
}

/* A thread that ended, or lost events, runs no node that anybody knows of. */
static void
follow_thread(td_outline_stretches *self, const td_event *event, const td_event_type *type) {
  bool is_node = type->span.kind == TD_SPAN_NODE && type->span.edge;
  bool ends = type->ends.how == TD_LASTS_thread, loses = event->kind == TD_EVENT_dropped;
  if (!is_node && !ends && !loses) return;
  uint32_t thread = ends ? td_event_u32(event, type->ends.item) : event->thread;
  uint64_t *depth = td_number_map_put(&self->depths, thread), now = 0;
  if (is_node && type->span.edge == TD_EDGE_begin) now = *depth + 1;
  if (is_node && type->span.edge == TD_EDGE_end && *depth) now = *depth - 1;
  set_depth(self, depth, now);
}

void
td_outline_stretches_take(td_outline_stretches *self, const td_event *event, uint64_t seq,
                          uint64_t length) {
  while (self->n_done < self->n && seq >= end_of(self, self->n_done))
    put_stretch(self);
  if (event->time > self->last.time)
    self->busy_ns += self->n_busy * (event->time - self->last.time);
  self->most = TD_MAX(self->most, length);
  follow_thread(self, event, td_event_type_get(event->kind));
  self->last = *event;
}

void
td_outline_stretches_end(td_outline_stretches *self) {
  while (self->n_done < self->n)
    put_stretch(self);
}

void
td_outline_stretches_fini(td_outline_stretches *self) {
  td_number_map_fini(&self->depths);
  td_keyframe_fini(&self->events);
}
