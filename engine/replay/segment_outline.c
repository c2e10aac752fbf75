/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/segment_outline.h"

#include "engine/base/alloc.h"

static bool
belongs(const td_event *event, const td_event_type *type) {
  bool lasts = type->lasts.how == TD_LASTS_always || type->lasts.how == TD_LASTS_thread;
  return type->outline || (lasts && !td_is_in_table(event));
}

void
td_segment_outline_begin(td_segment_outline *self, uint64_t n_events) {
  *self = (td_segment_outline){0};
  td_outline_stretches_begin(&self->stretches, n_events);
}

/* How long the event's queue is, before it or after. */
static uint64_t
follow_queue(td_segment_outline *self, const td_event *event, const td_event_type *type) {
  if (!type->queue.change) return 0;
  uint32_t queue = td_event_u32(event, type->queue.queue);
  uint64_t *length = td_number_map_put(&self->lengths, queue);
  uint64_t before = *length;
  if (type->queue.change > 0) ++*length;
  if (type->queue.change < 0 && *length) --*length;
  uint64_t longer = TD_MAX(before, *length), *most = td_number_map_put(&self->most, queue);
  *most = TD_MAX(*most, longer);
  return longer;
}

static void
note_node(td_segment_outline *self, uint32_t node) {
  if (node != TD_NONE && self->named.n < TD_OUTLINE_NODES) td_number_map_put(&self->named, node);
}

static void
note_problem(td_segment_outline *self, const td_event *event, const td_event_type *type,
             uint64_t seq) {
  if (event->kind == TD_EVENT_carried || event->kind == TD_EVENT_absorbed)
    td_cause_list_take(&self->causes, event, seq);
  if (type->list.list != TD_LIST_problems) return;
  td_cause_list_take(&self->causes, event, seq);
  for (uint16_t i = 0; i < type->n_fields; i++)
    if (type->fields[i].space == TD_ID_NODE)
      note_node(self, (uint32_t)td_event_field_get(event, &type->fields[i]));
}

void
td_segment_outline_take(td_segment_outline *self, const td_event *event, uint64_t seq) {
  const td_event_type *type = td_event_type_get(event->kind);
  if (belongs(event, type)) td_keyframe_put(&self->events, event, seq);
  note_problem(self, event, type, seq);
  td_outline_stretches_take(&self->stretches, event, seq, follow_queue(self, event, type));
}

bool
td_segment_outline_has_problems(const td_segment_outline *self) {
  return self->named.n > 0 || self->causes.n > 0;
}

static bool
tells_name(const td_event *event) {
  return event->kind == TD_EVENT_node_new || event->kind == TD_EVENT_node_label ||
         event->kind == TD_EVENT_node_module;
}

static void
name(td_segment_outline *self, const td_event *event, uint64_t seq) {
  if (!tells_name(event) || self->names.n == TD_OUTLINE_NAMES) return;
  uint32_t node = td_event_u32(event, td_event_type_get(event->kind)->lasts.item);
  if (td_number_map_find(&self->named, node)) td_keyframe_put(&self->names, event, seq);
}

void
td_segment_outline_explain(td_segment_outline *self, const td_event *event, uint64_t seq) {
  name(self, event, seq);
  td_cause_list_take_write(&self->causes, event, seq);
}

/* An outline has no pushes, so it says how long each queue became. */
static void
tell_queues(const td_segment_outline *self, td_keyframe *made) {
  for (uint32_t i = 0; i < self->most.n; i++) {
    td_event_queue_now event = {.event = self->stretches.last,
                                .queue = (uint32_t)self->most.entries[i].key,
                                .last_node = TD_NONE,
                                .most = (uint32_t)self->most.entries[i].value};
    event.event.kind = TD_EVENT_queue_now;
    event.event.size = sizeof event;
    td_keyframe_put(made, &event.event, self->stretches.n_events - 1);
  }
}

td_keyframe
td_segment_outline_make(td_segment_outline *self) {
  td_outline_stretches_end(&self->stretches);
  td_keyframe causes = {0};
  td_cause_list_put(&self->causes, &causes);
  td_keyframe named = td_keyframe_merge(&self->events, &self->names),
              explained = td_keyframe_merge(&named, &causes);
  td_keyframe made = td_keyframe_merge(&explained, &self->stretches.events);
  td_keyframe_fini(&causes);
  td_keyframe_fini(&named);
  td_keyframe_fini(&explained);
  tell_queues(self, &made);
  return made;
}

void
td_segment_outline_fini(td_segment_outline *self) {
  td_keyframe_fini(&self->events);
  td_keyframe_fini(&self->names);
  td_number_map_fini(&self->lengths);
  td_number_map_fini(&self->most);
  td_number_map_fini(&self->named);
  td_cause_list_fini(&self->causes);
  td_outline_stretches_fini(&self->stretches);
}
