/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/diff_tasks.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"

#define UNKNOWN (TD_NONE - 1) /* a stream that is not found yet */

/* A pass that an event names. */
typedef struct pass {
  td_diff_task task;
  uint32_t outer, owner;
  bool has_visits;
} pass;

typedef struct listing {
  td_diff_tasks *tasks;
  pass *passes; /* (owned) as met */
  uint32_t n, capacity, latest;
  td_number_map numbers; /* by graph task: 1 + its place */
} listing;

static pass *
pass_of(listing *self, uint32_t graph_task) {
  if (self->n && self->passes[self->latest].task.graph_task == graph_task)
    return &self->passes[self->latest];
  uint64_t *number = td_number_map_put(&self->numbers, graph_task);
  if (!*number) {
    TD_GROW(self->passes, self->n, self->capacity);
    self->passes[self->n++] = (pass){
        {.graph_task = graph_task, .stream = UNKNOWN, .began = UINT64_MAX, .first = UINT64_MAX},
        .outer = TD_NONE,
        .owner = TD_NONE};
    *number = self->n;
  }
  self->latest = (uint32_t)*number - 1;
  return &self->passes[self->latest];
}

static void
note_beginning(pass *pass, uint64_t began, uint64_t seq, uint32_t owner) {
  pass->owner = owner;
  pass->task.began = TD_MIN(pass->task.began, began);
  pass->task.first = TD_MIN(pass->task.first, seq);
  pass->task.last = TD_MAX(pass->task.last, seq);
}

static void
note_outer(listing *self, uint32_t graph_task, uint32_t outer) {
  pass_of(self, graph_task)->outer = outer;
  if (outer != TD_NONE) pass_of(self, outer);
}

static bool
makes_visit(td_visit_role role) {
  return role == TD_VISIT_popped || role == TD_VISIT_seen || role == TD_VISIT_begins;
}

static void
note_visit(listing *self, const td_event *event, const td_event_type *type, uint64_t seq) {
  if (td_event_u32(event, type->visit.node) == TD_NONE) return;
  pass *pass = pass_of(self, td_event_u32(event, type->visit.graph_task));
  td_diff_task *task = &pass->task;
  task->began = TD_MIN(task->began, seq);
  task->first = TD_MIN(task->first, seq);
  task->last = TD_MAX(task->last, seq);
  pass->has_visits |= makes_visit(type->visit.role);
}

static void
take(listing *self, const td_any_event *event, uint64_t seq) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  if (type->visit.role != TD_VISIT_none) return note_visit(self, &event->event, type, seq);
  switch (event->event.kind) {
  case TD_EVENT_graph_task_begin:
    return note_beginning(pass_of(self, event->graph_task_begin.graph_task), seq, seq,
                          event->graph_task_begin.owner);
  case TD_EVENT_pass_now:
    note_beginning(pass_of(self, event->pass_now.graph_task), TD_MIN(event->pass_now.begin, seq),
                   seq, event->pass_now.owner);
    return note_outer(self, event->pass_now.graph_task, event->pass_now.outer);
  case TD_EVENT_reentrant_enter:
    return note_outer(self, event->reentrant_enter.graph_task, event->reentrant_enter.outer);
  case TD_EVENT_edge_new:
    self->tasks->has_edges |= event->edge_new.output_nr != TD_NONE;
    return;
  case TD_EVENT_input_metadata:
    self->tasks->has_shapes = true;
    return;
  default:
    return;
  }
}

/* ---- streams ---- */

static pass *
outer_of(const listing *self, const pass *inner) {
  const uint64_t *number = td_number_map_find(&self->numbers, inner->outer);
  return inner->outer == TD_NONE || !number ? NULL : &self->passes[*number - 1];
}

/* The owner of the outermost pass around a pass, or TD_NONE if there is none. Each pass on the way
 * remembers it, so that all of them take linear time. A circle has none. */
static void
find_stream(const listing *self, pass *inner) {
  uint32_t stream = TD_NONE;
  pass *at = inner;
  for (; at && at->task.stream == UNKNOWN; at = outer_of(self, at)) {
    at->task.stream = TD_NONE;
    if (!outer_of(self, at)) stream = at->owner;
  }
  if (at && stream == TD_NONE) stream = at->task.stream;
  for (at = inner; at && at->task.stream == TD_NONE && stream != TD_NONE; at = outer_of(self, at))
    at->task.stream = stream;
}

/* ---- the list ---- */

static int
compare_tasks(const void *a, const void *b) {
  const td_diff_task *left = a, *right = b;
  if (left->began != right->began) return left->began < right->began ? -1 : 1;
  return (left->graph_task > right->graph_task) - (left->graph_task < right->graph_task);
}

static bool
list_tasks(listing *self) {
  td_diff_tasks *tasks = self->tasks;
  tasks->items = td_try_alloc(self->n, sizeof *tasks->items);
  if (!tasks->items) return false;
  for (uint32_t i = 0; i < self->n; i++) {
    pass *pass = &self->passes[i];
    if (pass->task.graph_task == TD_NONE) pass->owner = pass->outer = TD_NONE;
    find_stream(self, pass);
    if (pass->has_visits) tasks->items[tasks->n++] = pass->task;
  }
  qsort(tasks->items, tasks->n, sizeof *tasks->items, compare_tasks);
  return true;
}

td_status
td_diff_tasks_list(td_tape *tape, td_diff_tasks *tasks, td_error *error) {
  *tasks = (td_diff_tasks){0};
  listing self = {.tasks = tasks};
  td_segment whole = td_tape_whole(tape);
  td_tape_begin_pass(tape, &whole);
  for (uint64_t seq = 0; seq < whole.end; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event) take(&self, event, seq);
  }
  td_tape_end_pass(tape);
  bool listed = list_tasks(&self);
  free(self.passes);
  td_number_map_fini(&self.numbers);
  td_status status = listed ? td_tape_check_readable(tape, error)
                            : td_error_set(error, TD_OUT_OF_MEMORY, "no memory for its passes");
  if (status) td_diff_tasks_fini(tasks);
  return status;
}

void
td_diff_tasks_fini(td_diff_tasks *tasks) {
  free(tasks->items);
  *tasks = (td_diff_tasks){0};
}
