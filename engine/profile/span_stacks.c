/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/span_stacks.h"

#include "engine/base/alloc.h"

#include <string.h>

/* An end looks through so many open spans for its begin. Engines never nest so deep. A tape that
 * does shall not cost the square of its spans. */
#define SEARCH_MAX 1024

typedef struct td_span_stack {
  td_open_span *spans; /* (owned) innermost last */
  uint32_t n, capacity;
  td_open_span activity; /* the present one */
} td_span_stack;

static td_span_stack *
lane_of(td_span_stacks *self, size_t lane) {
  if (lane >= self->n_lanes) {
    size_t n = TD_MAX(TD_MAX(2 * self->n_lanes, lane + 1), (size_t)8);
    self->lanes = td_realloc(self->lanes, n, sizeof *self->lanes);
    memset(self->lanes + self->n_lanes, 0, (n - self->n_lanes) * sizeof *self->lanes);
    for (size_t i = self->n_lanes; i < n; i++)
      self->lanes[i].activity.kind = TD_SPAN_ACTIVITY;
    self->n_lanes = n;
  }
  return &self->lanes[lane];
}

static void
close_top(td_span_stacks *self, size_t lane, uint64_t time) {
  td_span_stack *stack = &self->lanes[lane];
  uint32_t depth = --stack->n;
  self->listener(lane, depth, &stack->spans[depth], time, self->data);
}

static void
end(td_span_stacks *self, size_t lane, uint64_t time, uint32_t kind, uint32_t item) {
  const td_span_stack *stack = &self->lanes[lane];
  uint32_t at = stack->n, least = at > SEARCH_MAX ? at - SEARCH_MAX : 0;
  while (at > least && (stack->spans[at - 1].kind != kind || stack->spans[at - 1].item != item))
    at--;
  while (at > least && stack->n >= at)
    close_top(self, lane, time);
}

static void
change(td_span_stacks *self, size_t lane, const td_open_span *next) {
  td_open_span *activity = &self->lanes[lane].activity;
  if (next->begin_ns > activity->begin_ns)
    self->listener(lane, 0, activity, next->begin_ns, self->data);
  *activity = *next;
  activity->item = TD_MIN(activity->item, (uint32_t)TD_thread_activity_LIMIT - 1);
}

static uint32_t
about(const td_any_event *event) {
  if (event->event.kind == TD_EVENT_node_begin) return event->node_begin.graph_task;
  if (event->event.kind == TD_EVENT_hook_begin) return event->hook_begin.owner;
  if (event->event.kind == TD_EVENT_final_callback) return event->final_callback.owner;
  if (event->event.kind == TD_EVENT_lock_wait) return event->lock_wait.object;
  if (event->event.kind == TD_EVENT_collective_begin) return event->collective_begin.operation;
  if (event->event.kind == TD_EVENT_synchronize_begin)
    return (uint32_t)event->synchronize_begin.device;
  return TD_NONE;
}

void
td_span_stacks_take(td_span_stacks *self, size_t lane, uint64_t seq, const td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  if (!type->span.edge) return;
  td_span_stack *stack = lane_of(self, lane);
  td_open_span span = {.begin_ns = event->event.time,
                       .begin_seq = seq,
                       .kind = type->span.kind,
                       .item = td_event_u32(&event->event, type->span.item),
                       .about = about(event)};
  if (type->span.detail) span.kind += td_event_u32(&event->event, type->span.detail);
  if (type->span.edge == TD_EDGE_end) {
    end(self, lane, span.begin_ns, span.kind, span.item);
  } else if (type->span.edge == TD_EDGE_change) {
    change(self, lane, &span);
  } else {
    TD_GROW(stack->spans, stack->n, stack->capacity);
    stack->spans[stack->n++] = span;
    if (self->opened) self->opened(lane, stack->n - 1, &span, self->data);
  }
}

void
td_span_stacks_finish(td_span_stacks *self, size_t n_active, uint64_t end_ns) {
  const td_open_span ended = {
      .begin_ns = end_ns, .kind = TD_SPAN_ACTIVITY, .item = TD_thread_activity_ended};
  for (size_t i = 0; i < n_active; i++) {
    lane_of(self, i);
    change(self, i, &ended);
  }
  for (size_t i = 0; i < self->n_lanes; i++)
    while (self->lanes[i].n)
      close_top(self, i, end_ns);
}

void
td_span_stacks_fini(td_span_stacks *self) {
  for (size_t i = 0; i < self->n_lanes; i++)
    free(self->lanes[i].spans);
  free(self->lanes);
  *self = (td_span_stacks){0};
}
