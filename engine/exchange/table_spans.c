/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/table_spans.h"

#include "engine/base/alloc.h"
#include "engine/profile/held_waits.h"
#include "engine/profile/span_stacks.h"

typedef struct lock_row {
  uint32_t kind, object;
  uint64_t n, ns, longest;
} lock_row;

/* The last wait for a lock that ended. */
typedef struct ended_wait {
  uint32_t thread, holder;
  uint64_t held_ns, late_ns;
  bool is_bound;
} ended_wait;

struct td_table_spans {
  td_tape *tape;
  const td_row_sink *sink;    /* (borrowed) */
  const td_catalog *catalog;  /* (borrowed) for the present event */
  td_span_stacks threads;     /* by thread */
  td_span_stacks devices;     /* by number of `device_lanes` */
  td_number_map device_lanes; /* by device */
  td_lives *lives;            /* (owned) */
  td_held_waits held_waits;
  td_queue_waits queue_waits;
  ended_wait ended;
  bool is_known[TD_N_LIFE_PARTS];
  td_number_map lock_numbers; /* by kind and object: 1 + the row */
  lock_row *locks;            /* (owned) */
  uint32_t n_locks, locks_capacity;
  size_t n_threads; /* that had an activity */
  uint64_t now;
};

static const char *
name_of(const td_table_spans *self, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(self->catalog, node);
  return facts ? facts->name : NULL;
}

/* ---- slices ---- */

typedef enum slice_kind {
  NODE,
  HOOK,
  LOCK,
  KERNEL,
  ACTIVITY,
  CALLBACK,
  STREAM,
  COLLECTIVE
} slice_kind;
static const char *const kind_names[] = {"node",     "hook",     "lock",   "kernel",
                                         "activity", "callback", "stream", "collective"};

static slice_kind
kind_of(uint32_t kind) {
  static const slice_kind kinds[] = {[TD_SPAN_NODE] = NODE,
                                     [TD_SPAN_LOCK] = LOCK,
                                     [TD_SPAN_KERNEL] = KERNEL,
                                     [TD_SPAN_ACTIVITY] = ACTIVITY,
                                     [TD_SPAN_CALLBACK] = CALLBACK,
                                     [TD_SPAN_SYNCHRONIZE] = STREAM,
                                     [TD_SPAN_COLLECTIVE] = COLLECTIVE};
  return kind >= TD_SPAN_HOOK ? HOOK : kinds[kind];
}

static const char *
title_of(const td_table_spans *self, const td_open_span *span, slice_kind kind) {
  if (kind == HOOK || kind == CALLBACK || kind == COLLECTIVE)
    return td_tape_string(self->tape, span->about);
  if (kind == STREAM) return td_catalog_device_name(self->catalog, (int32_t)span->about);
  if (kind == LOCK) return td_enum_word(TD_FIELD_ENUM_lock_kind, span->item);
  if (kind == ACTIVITY) return td_enum_word(TD_FIELD_ENUM_thread_activity, span->item);
  return name_of(self, span->item);
}

static void
give_slice(const td_table_spans *self, td_row_slices row, const td_open_span *span, uint32_t depth,
           uint64_t end_ns) {
  slice_kind kind = kind_of(span->kind);
  bool has_node = kind == NODE || kind == HOOK || kind == KERNEL;
  row.kind = td_cell_text(kind_names[kind]);
  row.name = td_cell_text(title_of(self, span, kind));
  if (has_node) row.node = td_cell_id(span->item);
  if (kind == NODE) row.graph_task = td_cell_id(span->about);
  if (kind == CALLBACK || kind == COLLECTIVE) row.graph_task = td_cell_id(span->item);
  row.depth = td_cell_int(depth);
  row.begin_ns = td_cell_u64(span->begin_ns);
  row.end_ns = td_cell_u64(end_ns);
  row.ns = td_cell_u64(end_ns - TD_MIN(span->begin_ns, end_ns));
  row.begin_seq = td_cell_u64(span->begin_seq);
  self->sink->row(TD_TABLE_slices, (const td_cell *)&row, self->sink->data);
}

static void
give_hook(const td_table_spans *self, uint32_t thread, const td_open_span *span, uint64_t end_ns) {
  const char *kind = td_enum_word(TD_FIELD_ENUM_hook_kind, span->kind - TD_SPAN_HOOK);
  TD_ROW(self->sink, hooks, .kind = td_cell_text(kind),
         .owner = td_cell_text(td_tape_string(self->tape, span->about)),
         .node = td_cell_id(span->item), .thread = td_cell_int(thread),
         .begin_ns = td_cell_u64(span->begin_ns), .end_ns = td_cell_u64(end_ns),
         .ns = td_cell_u64(end_ns - span->begin_ns));
}

static void
count_lock(td_table_spans *self, const td_open_span *span, uint64_t ns) {
  uint64_t key = (uint64_t)span->item << 32 | span->about;
  uint64_t *number = td_number_map_put(&self->lock_numbers, key);
  if (!*number) {
    TD_GROW(self->locks, self->n_locks, self->locks_capacity);
    self->locks[self->n_locks++] = (lock_row){.kind = span->item, .object = span->about};
    *number = self->n_locks;
  }
  lock_row *row = &self->locks[*number - 1];
  row->n++;
  row->ns += ns;
  row->longest = TD_MAX(row->longest, ns);
}

static uint32_t
node_of_cb(uint32_t thread, void *data) {
  return td_lives_node(((const td_table_spans *)data)->lives, thread);
}

static void
wait_cb(const td_held_wait *wait, void *data) {
  td_table_spans *self = data;
  self->ended = (ended_wait){.thread = wait->thread, .holder = td_held_wait_longest(wait)->holder};
  for (uint32_t i = 0; i < wait->n_stretches; i++) {
    self->ended.held_ns += wait->stretches[i].held_ns;
    self->ended.late_ns += wait->stretches[i].late_ns;
    self->ended.is_bound |= wait->stretches[i].is_bound;
  }
}

static void
set_holder(const td_table_spans *self, td_row_waits *row) {
  row->holder = td_cell_id(self->ended.holder);
  row->held_ns = td_cell_u64(self->ended.held_ns);
  row->late_ns = td_cell_u64(self->ended.late_ns);
  row->held_at_most = td_cell_bool(self->ended.is_bound);
}

/* What a thread waited for: a lock, a stream, or a collective operation. */
static void
give_wait(td_table_spans *self, uint32_t thread, const td_open_span *span, slice_kind kind,
          uint64_t end_ns) {
  td_row_waits row = {.kind = td_cell_text(kind_names[kind]),
                      .thread = td_cell_int(thread),
                      .node = td_cell_id(td_lives_node(self->lives, thread)),
                      .begin_ns = td_cell_u64(span->begin_ns),
                      .end_ns = td_cell_u64(end_ns),
                      .ns = td_cell_u64(end_ns - span->begin_ns),
                      .begin_seq = td_cell_u64(span->begin_seq)};
  if (kind == LOCK) {
    if (self->ended.thread == thread) set_holder(self, &row);
    row.lock = td_cell_text(td_enum_word(TD_FIELD_ENUM_lock_kind, span->item));
    row.object = td_cell_int(span->about);
    count_lock(self, span, end_ns - span->begin_ns);
  } else if (kind == STREAM) {
    row.device = td_cell_text(title_of(self, span, kind));
    row.stream = td_cell_int((int32_t)span->item);
  } else {
    row.graph_task = td_cell_id(span->item);
  }
  self->sink->row(TD_TABLE_waits, (const td_cell *)&row, self->sink->data);
}

static void
thread_span_cb(size_t lane, uint32_t depth, const td_open_span *span, uint64_t end_ns, void *data) {
  td_table_spans *self = data;
  slice_kind kind = kind_of(span->kind);
  td_row_slices row = {.thread = td_cell_u64(lane)};
  end_ns = TD_MAX(end_ns, span->begin_ns);
  give_slice(self, row, span, depth, end_ns);
  if (kind == HOOK) give_hook(self, (uint32_t)lane, span, end_ns);
  if (kind == LOCK || kind == STREAM || kind == COLLECTIVE)
    give_wait(self, (uint32_t)lane, span, kind, end_ns);
}

static void
device_span_cb(size_t lane, uint32_t depth, const td_open_span *span, uint64_t end_ns, void *data) {
  const td_table_spans *self = data;
  int32_t device = (int32_t)(uint32_t)self->device_lanes.entries[lane].key;
  td_row_slices row = {.device = td_cell_text(td_catalog_device_name(self->catalog, device))};
  give_slice(self, row, span, depth, end_ns);
}

/* ---- lives ---- */

static td_cell
part_of(const td_table_spans *self, const td_life *life, td_life_part part) {
  return self->is_known[part] ? td_cell_u64(life->parts[part]) : (td_cell){0};
}

static void
give_gradient_wait(const td_table_spans *self, const td_life *life) {
  uint64_t pushed = life->popped_ns - life->parts[TD_LIFE_queue_wait];
  uint64_t ns = life->parts[TD_LIFE_dependency_wait];
  TD_ROW(self->sink, waits, .kind = td_cell_text("gradients"), .thread = td_cell_int(life->thread),
         .node = td_cell_id(life->node), .graph_task = td_cell_id(life->graph_task),
         .queue = td_cell_id(life->queue), .begin_ns = td_cell_u64(pushed - ns),
         .end_ns = td_cell_u64(pushed), .ns = td_cell_u64(ns));
}

static void
task_cb(const td_task_lay *task, void *data) {
  const td_table_spans *self = data;
  bool is_behind = task->behind != TD_NONE;
  uint32_t pass = is_behind ? td_lives_pass(self->lives, task->behind_pass)->graph_task : TD_NONE;
  if (!self->is_known[TD_LIFE_queue_wait]) return;
#define LAY_CELL(cause, words) .cause##_ns = td_cell_u64(task->lay.ns[TD_LAY_##cause]),
  TD_ROW(self->sink, waits, TD_LAY_CAUSES(LAY_CELL).kind = td_cell_text("queue"),
         .thread = td_cell_int(task->thread), .node = td_cell_id(task->node),
         .graph_task = td_cell_id(task->graph_task), .queue = td_cell_id(task->queue),
         .begin_ns = td_cell_u64(task->popped_ns - task->ns),
         .end_ns = td_cell_u64(task->popped_ns), .ns = td_cell_u64(task->ns),
         .holder = td_cell_int(task->thread), .held_ns = td_cell_u64(task->ns - task->late_ns),
         .late_ns = td_cell_u64(task->late_ns), .behind = td_cell_id(task->behind),
         .behind_pass = td_cell_id(pass));
#undef LAY_CELL
}

static void
life_cb(const td_life *life, void *data) {
  const td_table_spans *self = data;
  bool was_popped = life->queue != TD_NONE;
#define PART_CELL(part) .part##_ns = part_of(self, life, TD_LIFE_##part),
  TD_ROW(self->sink, lives, TD_LIFE_PARTS(PART_CELL).node = td_cell_id(life->node),
         .graph_task = td_cell_id(life->graph_task),
         .pass = td_cell_id(td_lives_pass(self->lives, life->pass)->graph_task),
         .thread = td_cell_int(life->thread), .queue = td_cell_id(life->queue),
         .popped_ns = was_popped ? td_cell_u64(life->popped_ns) : (td_cell){0});
#undef PART_CELL
  if (was_popped && self->is_known[TD_LIFE_dependency_wait]) give_gradient_wait(self, life);
}

/* ---- events ---- */

td_table_spans *
td_table_spans_new(td_tape *tape, const td_row_sink *sink) {
  td_table_spans *self = TD_NEW(td_table_spans);
  self->tape = tape;
  self->sink = sink;
  self->threads = (td_span_stacks){.listener = thread_span_cb, .data = self};
  self->held_waits = (td_held_waits){.listener = wait_cb, .node_of = node_of_cb, .data = self};
  self->queue_waits = (td_queue_waits){.task = task_cb, .data = self};
  self->devices = (td_span_stacks){.listener = device_span_cb, .data = self};
  const td_tape_info *info = td_tape_info_get(tape);
  self->lives = td_lives_new(info, (td_life_listener){.life = life_cb, .data = self});
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    self->is_known[part] = td_life_is_known(info, (td_life_part)part);
  return self;
}

static void
take_device_span(td_table_spans *self, uint64_t seq, const td_any_event *any) {
  uint32_t n = self->device_lanes.n;
  uint64_t *lane = td_number_map_put(&self->device_lanes, (uint32_t)any->kernel_begin.device);
  if (self->device_lanes.n > n) *lane = n;
  td_span_stacks_take(&self->devices, *lane, seq, any);
}

void
td_table_spans_take(td_table_spans *self, const td_catalog *catalog, uint64_t seq,
                    const td_any_event *any) {
  const td_event_type *type = td_event_type_get(any->event.kind);
  self->catalog = catalog;
  self->now = TD_MAX(self->now, any->event.time);
  td_lives_apply(self->lives, any);
  td_range_time time = td_lives_time(self->lives);
  td_queue_waits_take(&self->queue_waits, self->lives, any, &time, true);
  self->ended.thread = TD_NONE;
  td_held_waits_take(&self->held_waits, any, seq, any->event.time);
  if (!type->span.edge) return;
  if (type->lane == TD_LANE_stream) return take_device_span(self, seq, any);
  td_span_stacks_take(&self->threads, any->event.thread, seq, any);
  if (type->span.edge == TD_EDGE_change)
    self->n_threads = TD_MAX(self->n_threads, (size_t)any->event.thread + 1);
}

void
td_table_spans_finish(td_table_spans *self, const td_catalog *catalog) {
  self->catalog = catalog;
  td_lives_end(self->lives);
  td_span_stacks_finish(&self->threads, self->n_threads, self->now);
  td_span_stacks_finish(&self->devices, 0, self->now);
  for (uint32_t i = 0; i < self->n_locks; i++) {
    const lock_row *row = &self->locks[i];
    TD_ROW(self->sink, locks,
           .lock = td_cell_text(td_enum_word(TD_FIELD_ENUM_lock_kind, row->kind)),
           .object = td_cell_int(row->object), .n_waits = td_cell_u64(row->n),
           .wait_ns = td_cell_u64(row->ns), .longest_ns = td_cell_u64(row->longest));
  }
}

void
td_table_spans_free(td_table_spans *self) {
  td_span_stacks_fini(&self->threads);
  td_span_stacks_fini(&self->devices);
  td_lives_free(self->lives);
  td_queue_waits_fini(&self->queue_waits);
  td_held_waits_fini(&self->held_waits);
  td_number_map_fini(&self->device_lanes);
  td_number_map_fini(&self->lock_numbers);
  free(self->locks);
  free(self);
}
