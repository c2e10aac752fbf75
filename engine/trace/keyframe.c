/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/keyframe.h"

/* Most events last for a step or two. So what has ended is dropped whenever this much is new. */
#define BYTES_NEW (UINT64_C(4) << 20)

static void
note_step(td_keyframe_counts *counts, uint32_t first) {
  if (counts->n_steps + counts->n_unwanted_steps == 0) counts->first_step = first;
}

static void
count_unwanted(td_keyframe_counts *counts, const td_event_left_out *event) {
  note_step(counts, event->first);
  counts->n_unwanted_steps += event->steps;
  counts->n_unwanted_passes += event->passes;
}

static void
count(td_keyframe_counts *counts, const td_event *event) {
  bool is_pass = event->kind == TD_EVENT_graph_task_begin &&
                 ((const td_event_graph_task_begin *)event)->depth == 0;
  bool is_step = event->kind == TD_EVENT_step;
  counts->n_events++;
  counts->n_passes += is_pass;
  if (is_step) note_step(counts, ((const td_event_step *)event)->iteration);
  counts->n_steps += is_step;
  if (event->kind == TD_EVENT_left_out) count_unwanted(counts, (const void *)event);
  if (is_pass || is_step) counts->thread = event->thread;
}

static void
note_end(td_keyframe *keyframe, const td_event_type *type, const td_event *event) {
  td_number_map *ended = type->ends.how == TD_LASTS_node ? &keyframe->nodes : &keyframe->threads;
  td_number_map_put(ended, td_event_u32(event, type->ends.item));
}

static void
note_pop(td_keyframe *keyframe, const td_event *event) {
  const td_event_queue_pop *pop = (const void *)event;
  *td_number_map_put(&keyframe->popped, pop->queue) = pop->node;
}

void
td_keyframe_put(td_keyframe *keyframe, const td_event *event, uint64_t seq) {
  td_event_pile_add(&keyframe->events, event);
  TD_GROW(keyframe->seqs, keyframe->n, keyframe->capacity);
  keyframe->seqs[keyframe->n++] = seq;
}

void
td_keyframe_add(td_keyframe *keyframe, const td_event *event, uint64_t seq) {
  const td_event_type *type = td_event_type_get(event->kind);
  count(&keyframe->counts, event);
  if (keyframe->holds_popped && event->kind == TD_EVENT_queue_pop) note_pop(keyframe, event);
  if (type->ends.how) note_end(keyframe, type, event);
  if (!type->lasts.how) return;
  td_keyframe_put(keyframe, event, seq);
  if (keyframe->events.n_bytes > 2 * keyframe->n_settled + BYTES_NEW) td_keyframe_settle(keyframe);
}

static uint64_t
key_of_latest(const td_event *event) {
  return (uint64_t)event->kind << 32 | event->thread;
}

/* The place of the last event of each kind and thread that lasts until the next one. */
static td_number_map
find_latest(const td_event_pile *events) {
  td_number_map latest = {0};
  TD_PILE_EACH(events, event)
  if (td_event_type_get(event->kind)->lasts.how == TD_LASTS_latest)
    *td_number_map_put(&latest, key_of_latest(event)) = (uintptr_t)event;
  return latest;
}

/* Takes the nodes that queues popped last from those that have ended. Returns them: they end when
 * another node is popped. */
static td_number_map
hold_popped(td_keyframe *keyframe) {
  td_number_map popped = {0}, ended = {0}, held = {0};
  for (uint32_t i = 0; i < keyframe->popped.n; i++)
    td_number_map_put(&popped, keyframe->popped.entries[i].value);
  for (uint32_t i = 0; i < keyframe->nodes.n; i++) {
    uint64_t node = keyframe->nodes.entries[i].key;
    td_number_map_put(td_number_map_find(&popped, node) ? &held : &ended, node);
  }
  td_number_map_fini(&popped);
  td_number_map_fini(&keyframe->nodes);
  keyframe->nodes = ended;
  return held;
}

static bool
has_ended(const td_number_map *ended, uint32_t item) {
  return td_number_map_find(ended, item) != NULL;
}

static bool
lasts(const td_keyframe *keyframe, const td_number_map *latest, const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  uint32_t item = td_event_u32(event, type->lasts.item);
  switch (type->lasts.how) {
  case TD_LASTS_always:
    return true;
  case TD_LASTS_node:
    return !has_ended(&keyframe->nodes, item);
  case TD_LASTS_thread:
    return !has_ended(&keyframe->threads, item);
  case TD_LASTS_latest:
    return *td_number_map_find(latest, key_of_latest(event)) == (uintptr_t)event &&
           !has_ended(&keyframe->threads, event->thread);
  case TD_LASTS_no:
    break;
  }
  return false;
}

void
td_keyframe_settle(td_keyframe *keyframe) {
  td_event_pile *events = &keyframe->events;
  td_number_map latest = find_latest(events), held = hold_popped(keyframe);
  size_t n_bytes = 0, n = 0;
  for (size_t at = 0, i = 0, size; at < events->n_bytes; at += size, i++) {
    size = td_event_pile_get(events, at)->size;
    if (!lasts(keyframe, &latest, td_event_pile_get(events, at))) continue;
    memmove(events->bytes + n_bytes, events->bytes + at, size);
    keyframe->seqs[n++] = keyframe->seqs[i];
    n_bytes += size;
  }
  events->n_bytes = keyframe->n_settled = n_bytes;
  keyframe->n = n;
  td_number_map_fini(&latest);
  td_number_map_fini(&keyframe->nodes);
  td_number_map_fini(&keyframe->threads);
  keyframe->nodes = held;
}

td_keyframe
td_keyframe_copy(const td_keyframe *keyframe) {
  td_keyframe copy = {.n_settled = keyframe->n_settled, .counts = keyframe->counts};
  const uint64_t *seq = keyframe->seqs;
  TD_PILE_EACH(&keyframe->events, event) td_keyframe_put(&copy, event, *seq++);
  return copy;
}

/* Adds the events of another list, from *at on, that come before event `end` of the tape. */
static void
put_before(td_keyframe *made, const td_keyframe *from, size_t *at, size_t *byte, uint64_t end) {
  for (; *at < from->n && from->seqs[*at] < end; ++*at) {
    const td_event *event = td_event_pile_get(&from->events, *byte);
    td_keyframe_put(made, event, from->seqs[*at]);
    *byte += event->size;
  }
}

td_keyframe
td_keyframe_merge(const td_keyframe *one, const td_keyframe *other) {
  td_keyframe made = {0};
  const uint64_t *seq = one->seqs;
  size_t at = 0, byte = 0;
  TD_PILE_EACH(&one->events, event) {
    put_before(&made, other, &at, &byte, *seq);
    td_keyframe_put(&made, event, *seq++);
  }
  put_before(&made, other, &at, &byte, UINT64_MAX);
  return made;
}

void
td_keyframe_fini(td_keyframe *keyframe) {
  td_event_pile_fini(&keyframe->events);
  free(keyframe->seqs);
  td_number_map_fini(&keyframe->popped);
  td_number_map_fini(&keyframe->nodes);
  td_number_map_fini(&keyframe->threads);
  *keyframe = (td_keyframe){0};
}
