/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/schedule.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/torch/pass/steer.h"
#include "engine/trace/tape.h"

#include <stdlib.h>
#include <string.h>

/* What is known where a reader of the tape stands. */
typedef struct reading {
  td_tape *tape;
  td_number_map names, numbers; /* by node: the string of its name, its sequence_nr */
  td_number_map devices;        /* by queue: 1 + its device */
  td_number_map popped;         /* by graph task and device: nodes that were popped */
  td_scheduled *choices;        /* (owned) */
  size_t n, capacity;
} reading;

static td_device
device_of(const reading *self, uint32_t queue) {
  const uint64_t *device = td_number_map_find(&self->devices, queue);
  return device && *device ? (td_device)(uint32_t)(*device - 1) : TD_CPU;
}

static uint64_t *
count_of(reading *self, uint32_t queue, uint32_t graph_task) {
  uint64_t device = (uint32_t)device_of(self, queue);
  return td_number_map_put(&self->popped, device << 32 | graph_task);
}

static void
take_node(reading *self, const td_event_node_new *event) {
  *td_number_map_put(&self->names, event->node) = event->name;
  *td_number_map_put(&self->numbers, event->node) = event->sequence_nr;
}

static void
take_chosen(reading *self, const td_event_task_chosen *event) {
  const uint64_t *name = td_number_map_find(&self->names, event->node);
  if (!name) return;
  uint64_t number = *td_number_map_put(&self->numbers, event->node);
  TD_GROW(self->choices, self->n, self->capacity);
  self->choices[self->n++] =
      (td_scheduled){.graph_task = event->graph_task,
                     .device = device_of(self, event->queue),
                     .position = (uint32_t)*count_of(self, event->queue, event->graph_task),
                     .node = event->node,
                     .sequence_nr = number,
                     .name = td_dup_string(td_tape_string(self->tape, (uint32_t)*name))};
}

static void
take(reading *self, const td_any_event *any) {
  switch (any->event.kind) {
  case TD_EVENT_node_new:
    take_node(self, &any->node_new);
    return;
  case TD_EVENT_node_sequence_nr:
    *td_number_map_put(&self->numbers, any->node_sequence_nr.node) =
        any->node_sequence_nr.sequence_nr;
    return;
  case TD_EVENT_queue_new:
    *td_number_map_put(&self->devices, any->queue_new.queue) =
        1 + (uint64_t)(uint32_t)any->queue_new.device;
    return;
  case TD_EVENT_task_chosen:
    take_chosen(self, &any->task_chosen);
    return;
  case TD_EVENT_queue_pop:
    if (any->queue_pop.node != TD_NONE)
      ++*count_of(self, any->queue_pop.queue, any->queue_pop.graph_task);
    return;
  default:
    return;
  }
}

static td_status
read_choices(reading *self, td_error *error) {
  const td_tape_info *info = td_tape_info_get(self->tape);
  if (!info->n_by_kind[TD_EVENT_task_chosen])
    return td_error_set(error, TD_INVALID, "has no choices: nobody chose a task in that recording");
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) take(self, event);
  }
  return td_tape_check_readable(self->tape, error);
}

static void
forget(reading *self) {
  td_number_map_fini(&self->names);
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->devices);
  td_number_map_fini(&self->popped);
  td_tape_close(self->tape);
}

static void
choices_free(reading *self) {
  for (size_t i = 0; i < self->n; i++)
    free(self->choices[i].name);
  free(self->choices);
}

td_status
tdpy_schedule_follow(const char *path, td_error *error) {
  reading self = {0};
  td_status status = td_tape_open(path, &self.tape, error);
  if (!status) status = read_choices(&self, error);
  if (status)
    choices_free(&self);
  else
    td_steer_follow(self.choices, self.n, path);
  if (self.tape) forget(&self);
  if (status) td_error_prefix(error, "%s: ", path);
  return status;
}
