/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/contention.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/lives.h"
#include "engine/profile/report/report_keys.h"
#include "engine/replay/catalog_visit.h"

/* What catalogs must know to name locks, queues, threads, and nodes with their lines. The ids of
 * other events count as damage if they are too great. */
static const uint16_t needed_kinds[] = {
    TD_EVENT_node_new,    TD_EVENT_node_label, TD_EVENT_edge_new,   TD_EVENT_thread_new,
    TD_EVENT_process_new, TD_EVENT_queue_new,  TD_EVENT_device_new, TD_EVENT_lock_held,
    TD_EVENT_queue_push,  TD_EVENT_queue_wake, TD_EVENT_queue_pop,  TD_EVENT_lock_work,
    TD_EVENT_setting};

#include <string.h>

typedef struct queue_row {
  uint64_t n_pushes, n_pops, n_empty_wakes; /* in the range */
  bool is_used;                             /* ever */
  uint32_t name;
  td_lay lay_by;
  td_lain_task longest; /* none before the first pop that counts */
} queue_row;

/* A wait that has ended. Names are known at the end of its segment. */
typedef struct told_wait {
  td_held_wait wait;
  size_t first_stretch;
} told_wait;

/* Work of a segment: its names are known at the end. */
typedef struct told_work {
  uint32_t lock, object, node, mode;
  uint64_t ns;
} told_work;

/* The texts are numbers of the table. */
typedef struct work_row {
  uint32_t lock, node, mode;
  uint64_t n, ns;
} work_row;

typedef struct contending {
  td_contention *result;
  td_lives *lives;
  uint32_t graph_task; /* the wished pass, or TD_NONE */
  td_range range;
  uint32_t n_wished; /* passes, also outside of the range */
  bool is_open;      /* events count */
  uint64_t seq;      /* of the event that is taken */
  uint64_t open_seq; /* since then */
  td_range_clock clock;
  uint64_t now, in_passes_ns; /* of the clock; of it, while a wished pass was under way */
  bool is_in_pass;
  uint64_t *asleep_since; /* (owned) by thread: 1 + in_passes_ns; 0: it does not sleep */
  uint32_t n_threads;
  td_held_waits waits;
  td_queue_waits queue_waits;
  told_wait *told; /* (owned) of the segment */
  uint32_t n_told, told_capacity;
  td_wait_stretch *stretches; /* (owned) of these */
  size_t n_stretches, stretches_capacity;
  td_lock_waits locks;
  told_work *told_works; /* (owned) of the segment */
  uint32_t n_told_works, told_works_capacity;
  work_row *works; /* (owned) */
  uint32_t n_works, works_capacity;
  td_text_table work_keys; /* number: 1 + index of works */
  queue_row *queues;       /* (owned) by id */
  uint32_t n_queues;
  td_samples lay, slept; /* by queue */
} contending;

static queue_row *
queue_of(contending *self, uint32_t queue) {
  while (queue >= self->n_queues) {
    uint32_t n = TD_MAX(2 * self->n_queues, 8u);
    self->queues = td_realloc(self->queues, n, sizeof *self->queues);
    for (uint32_t i = self->n_queues; i < n; i++)
      self->queues[i] = (queue_row){.longest = {.node = TD_NONE}};
    self->n_queues = n;
  }
  return &self->queues[queue];
}

/* ---- queues ---- */

static uint64_t *
asleep_since(contending *self, uint32_t thread) {
  TD_REACH(self->asleep_since, self->n_threads, thread);
  return &self->asleep_since[thread];
}

/* Of a sleep, the time counts in which a pass was under way. */
static void
note_pop(contending *self, const td_event_queue_pop *event) {
  queue_row *queue = queue_of(self, event->queue);
  uint64_t *since = asleep_since(self, event->event.thread);
  uint64_t slept = *since && event->waited ? self->in_passes_ns + 1 - *since : 0;
  *since = 0;
  queue->is_used = true;
  queue->n_pops += td_range_has(&self->range, event->event.time);
  if (!slept) return;
  td_samples_add(&self->slept, event->queue, slept);
  queue->n_empty_wakes += event->node == TD_NONE;
}

static void
task_cb(const td_task_lay *task, void *data) {
  contending *self = data;
  uint32_t pass = td_lives_pass(self->lives, task->pass)->graph_task;
  if (self->graph_task != TD_NONE && self->graph_task != pass) return;
  if (!task->ns && !td_range_has(&self->range, task->popped_ns)) return;
  td_samples_add(&self->lay, task->queue, task->ns);
  queue_row *queue = queue_of(self, task->queue);
  for (int i = 0; i < TD_N_LAY_CAUSES; i++)
    queue->lay_by.ns[i] += task->lay.ns[i];
  const td_lain_task *longest = &queue->longest;
  if (longest->node != TD_NONE && task->ns <= longest->popped_ns - longest->pushed_ns) return;
  queue->longest =
      (td_lain_task){task->node, self->seq, task->popped_ns - task->ns, task->popped_ns};
}

/* ---- going through the tape ---- */

static uint32_t
node_of_cb(uint32_t thread, void *data) {
  return td_lives_node(((const contending *)data)->lives, thread);
}

/* Its part in the range counts. Without one, the wait does not count. */
static void
wait_cb(const td_held_wait *wait, void *data) {
  contending *self = data;
  if (!self->is_open || wait->begin_seq < self->open_seq) return;
  if (!wait->ns && !td_range_has(&self->range, wait->end_ns)) return;
  TD_GROW(self->told, self->n_told, self->told_capacity);
  self->told[self->n_told++] = (told_wait){*wait, self->n_stretches};
  for (uint32_t i = 0; i < wait->n_stretches; i++) {
    TD_GROW(self->stretches, self->n_stretches, self->stretches_capacity);
    self->stretches[self->n_stretches++] = wait->stretches[i];
  }
}

static void
note_push(contending *self, uint32_t queue, const td_event *event) {
  queue_row *row = queue_of(self, queue);
  row->is_used = true;
  row->n_pushes += td_range_has(&self->range, event->time);
}

static void
advance(contending *self, const td_any_event *any) {
  uint64_t before = self->now;
  self->now = td_range_clock_take(&self->clock, any);
  if (self->is_in_pass) self->in_passes_ns += self->now - before;
}

static void
note_sleep(contending *self, const td_event_thread_state *event) {
  uint64_t *since = asleep_since(self, event->event.thread);
  if (event->state == TD_thread_activity_idle && !*since) *since = 1 + self->in_passes_ns;
}

/* Work of which only a part is in the range counts with that part. */
static void
note_work(contending *self, const td_event_lock_work *event) {
  uint64_t end = event->event.time;
  uint64_t ns = td_range_part(&self->range, end - TD_MIN(event->took, end), end);
  if (!ns) return;
  TD_GROW(self->told_works, self->n_told_works, self->told_works_capacity);
  self->told_works[self->n_told_works++] =
      (told_work){event->lock, event->object, event->node, event->mode, ns};
}

static void
note(contending *self, const td_any_event *any) {
  switch (any->event.kind) {
  case TD_EVENT_lock_work:
    return note_work(self, &any->lock_work);
  case TD_EVENT_queue_push:
    return note_push(self, any->queue_push.queue, &any->event);
  case TD_EVENT_queue_wake:
    return note_push(self, any->queue_wake.queue, &any->event);
  case TD_EVENT_queue_pop:
    return note_pop(self, &any->queue_pop);
  default:
    return;
  }
}

/* Only what happens while the wished pass lasts. */
static void
look_at(contending *self, const td_any_event *any, uint64_t seq) {
  bool is_one = self->graph_task != TD_NONE;
  if (is_one && any->event.kind == TD_EVENT_graph_task_begin &&
      any->graph_task_begin.graph_task == self->graph_task && !self->is_open) {
    self->is_open = true;
    self->open_seq = seq;
  }
  if (self->is_open)
    note(self, any);
  else if (any->event.kind == TD_EVENT_queue_pop)
    *asleep_since(self, any->event.thread) = 0;
  if (is_one && any->event.kind == TD_EVENT_graph_task_end)
    self->is_open &= any->graph_task_end.graph_task != self->graph_task;
}

static void
event_cb(const td_catalog *so_far, const td_any_event *event, uint64_t seq, void *data) {
  contending *self = data;
  td_lives_apply(self->lives, event);
  bool was_in_pass = self->is_in_pass;
  self->seq = seq;
  advance(self, event);
  if (event->event.kind == TD_EVENT_thread_state) note_sleep(self, &event->thread_state);
  look_at(self, event, seq);
  self->is_in_pass = self->is_open && td_lives_n_under_way(self->lives);
  td_held_waits_take(&self->waits, event, seq, self->now);
  td_range_time time = td_range_clock_time(&self->clock);
  td_queue_waits_take(&self->queue_waits, self->lives, event, &time, was_in_pass);
}

static void
add_work(contending *self, const td_catalog *catalog, const told_work *told) {
  td_text_table *texts = &self->result->texts;
  work_row row = {.lock =
                      td_text_keep(texts, td_report_lock_name(catalog, told->lock, told->object)),
                  .node = td_text_keep(texts, td_report_node_name(catalog, told->node)),
                  .mode = told->mode};
  char *key = td_format("%u %u %u", row.lock, row.node, row.mode);
  uint32_t number = td_text_keep(&self->work_keys, key);
  if (number > self->n_works) {
    TD_GROW(self->works, self->n_works, self->works_capacity);
    self->works[self->n_works++] = row;
  }
  self->works[number - 1].n++;
  self->works[number - 1].ns += told->ns;
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  contending *self = data;
  self->result->works_known |= strcmp(td_catalog_setting_find(catalog, "sums"), "watched") == 0;
  for (uint32_t i = 0; i < self->n_told; i++) {
    td_held_wait *wait = &self->told[i].wait;
    wait->stretches = self->stretches + self->told[i].first_stretch;
    td_lock_waits_add(&self->locks, catalog, wait);
  }
  self->n_told = 0;
  self->n_stretches = 0;
  for (uint32_t i = 0; i < self->n_told_works; i++)
    add_work(self, catalog, &self->told_works[i]);
  self->n_told_works = 0;
  for (uint32_t i = 0; i < self->n_queues; i++) {
    queue_row *row = &self->queues[i];
    if (row->name || !row->is_used) continue;
    row->name = td_text_keep(&self->result->texts, td_report_queue_name(catalog, i));
  }
  return TD_OK;
}

/* ---- the end ---- */

static bool
had_task(const td_contended_queue *queue) {
  return queue->n_pushes || queue->n_pops || queue->lay.n || queue->slept.n;
}

static void
list_queues(contending *self) {
  td_contention *result = self->result;
  size_t lay = 0, slept = 0;
  result->queues = td_alloc(TD_MAX(self->n_queues, 1u), sizeof *result->queues);
  td_samples_sort(&self->lay);
  td_samples_sort(&self->slept);
  for (uint32_t i = 0; i < self->n_queues; i++) {
    const queue_row *row = &self->queues[i];
    td_contended_queue queue = {.name = td_text_table_get(&result->texts, row->name),
                                .n_pushes = row->n_pushes,
                                .n_pops = row->n_pops,
                                .longest = row->longest,
                                .lay = td_samples_take(&self->lay, &lay, i),
                                .lay_by = row->lay_by,
                                .slept = td_samples_take(&self->slept, &slept, i),
                                .with_tasks = td_queue_waits_get(&self->queue_waits, i),
                                .n_empty_wakes = row->n_empty_wakes};
    if (row->name && had_task(&queue)) result->queues[result->n_queues++] = queue;
  }
}

static int
compare_works(const void *a, const void *b) {
  const td_contended_work *left = a, *right = b;
  if (left->ns != right->ns) return left->ns > right->ns ? -1 : 1;
  int order = strcmp(left->node, right->node);
  return order ? order : strcmp(left->operation, right->operation);
}

static void
list_works(contending *self) {
  td_contention *result = self->result;
  result->works = td_alloc(TD_MAX(self->n_works, 1u), sizeof *result->works);
  for (uint32_t i = 0; i < self->n_works; i++) {
    const work_row *row = &self->works[i];
    result->worked_ns += row->ns;
    result->works[result->n_works++] =
        (td_contended_work){.lock = td_text_table_get(&result->texts, row->lock),
                            .node = td_text_table_get(&result->texts, row->node),
                            .operation = td_enum_word(TD_FIELD_ENUM_accumulation, row->mode),
                            .n = row->n,
                            .ns = row->ns};
  }
  if (result->n_works) qsort(result->works, result->n_works, sizeof *result->works, compare_works);
}

/* Who pushes or pops takes the queue's lock. */
static void
count_takings(contending *self) {
  for (uint32_t i = 0; i < self->result->locks.n_locks; i++) {
    td_contended_lock *lock = &self->result->locks.locks[i];
    if (lock->kind != TD_lock_kind_queue || lock->object >= self->n_queues) continue;
    const queue_row *queue = &self->queues[lock->object];
    lock->n_taken = queue->n_pushes + queue->n_pops;
  }
}

static void
count_passes(contending *self) {
  uint32_t n = td_lives_end(self->lives);
  for (uint32_t i = 0; i < n; i++) {
    const td_life_pass *pass = td_lives_pass(self->lives, i);
    if (self->graph_task != TD_NONE && pass->graph_task != self->graph_task) continue;
    self->n_wished++;
    self->result->wall += pass->end_ns - pass->begin_ns;
    self->result->n_passes += !self->range.is_set || pass->end_ns > pass->begin_ns;
  }
}

static void
contending_fini(contending *self) {
  td_lives_free(self->lives);
  td_lock_waits_fini(&self->locks);
  td_held_waits_fini(&self->waits);
  td_queue_waits_fini(&self->queue_waits);
  free(self->told);
  free(self->stretches);
  free(self->queues);
  free(self->asleep_since);
  free(self->told_works);
  free(self->works);
  td_text_table_fini(&self->work_keys);
  td_samples_fini(&self->lay);
  td_samples_fini(&self->slept);
}

td_status
td_contention_make(td_tape *tape, uint32_t graph_task, const td_range *range,
                   td_contention *contention, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *contention = (td_contention){.locks_known = info->known[TD_EVENT_lock_wait],
                                .queues_known = info->known[TD_EVENT_queue_pop]};
  contending self = {.result = contention,
                     .graph_task = graph_task,
                     .range = range ? *range : (td_range){0},
                     .is_open = graph_task == TD_NONE,
                     .locks = {.texts = &contention->texts}};
  self.lives = td_lives_new(info, (td_life_listener){0});
  td_lives_limit(self.lives, &self.range);
  self.clock.range = self.range;
  self.waits.range = self.range;
  self.waits.listener = wait_cb;
  self.waits.node_of = node_of_cb;
  self.waits.data = &self;
  self.queue_waits.task = task_cb;
  self.queue_waits.data = &self;
  bool kinds[TD_EVENT_LIMIT] = {false};
  for (size_t i = 0; i < TD_N_ELEMENTS(needed_kinds); i++)
    kinds[needed_kinds[i]] = true;
  td_catalog_along along = {.listener = event_cb, .data = &self, .kinds = kinds};
  td_status status = td_catalog_visit_along(tape, &along, visit_segment, error);
  if (!status) {
    count_passes(&self);
    list_queues(&self);
    td_lock_waits_list(&self.locks, &contention->locks);
    count_takings(&self);
    list_works(&self);
  }
  contending_fini(&self);
  if (!status && graph_task != TD_NONE && self.n_wished == 0)
    status = td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u", graph_task);
  return status;
}

void
td_contention_fini(td_contention *contention) {
  td_lock_list_fini(&contention->locks);
  free(contention->queues);
  free(contention->works);
  td_text_table_fini(&contention->texts);
  *contention = (td_contention){0};
}
