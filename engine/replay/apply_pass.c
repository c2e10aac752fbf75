/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/apply.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/pools.h"
#include "engine/replay/queue_heap.h"

static td_node_state
state_now(const td_world *world, uint32_t node) {
  return (td_node_state)td_state_node(&world->state, node)->state;
}

static void
set_node_state(td_world *world, uint32_t node, td_node_state state) {
  td_node_now *now = td_world_node(world, node), changed = *now;
  changed.state = (uint8_t)state;
  td_world_set(world, (td_word *)now, *(td_word *)&changed);
}

/* The pair becomes the node's own before an event says what the node does in it. An event without a
 * pass is about the own pair. */
static void
take_pair(td_world *world, uint32_t node, uint32_t graph_task) {
  if (graph_task != TD_NONE) td_pair_take(world, node, graph_task);
}

/* A node that is freed again, by events that contradict each other, keeps what it was first. */
static void
release_node(td_world *world, uint32_t node) {
  td_node_now *now = td_world_node(world, node), changed = *now;
  if (now->state != TD_NODE_released) changed.before = now->state;
  changed.state = TD_NODE_released;
  td_world_set(world, (td_word *)now, *(td_word *)&changed);
}

static bool
is_in_queue(const td_world *world, uint32_t task) {
  return td_state_task(&world->state, task)->queue != TD_NONE;
}

/* A task is over: run, skipped or captured. */
static void
finish_task(td_world *world, uint32_t node, uint32_t graph_task) {
  uint32_t task = td_task_find(world, node, graph_task);
  if (task == TD_NONE || is_in_queue(world, task)) return;
  td_graph_task_now *owner = td_world_graph_task(world, graph_task);
  td_world_set(world, &owner->n_done, owner->n_done + 1);
  td_task_finish(world, task);
}

static void
add_outstanding(td_world *world, uint32_t graph_task) {
  if (graph_task == TD_NONE) return;
  td_graph_task_now *now = td_world_graph_task(world, graph_task);
  td_world_set(world, &now->outstanding, now->outstanding + 1);
}

/* graph */

void
td_apply_node_new(td_world *world, const td_any_event *any) {
  uint32_t node = any->node_new.node;
  if (node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  if (state_now(world, node) != TD_NODE_absent)
    return td_apply_trouble(world, TD_CONTRADICTION_created);
  set_node_state(world, node, TD_NODE_created);
  td_apply_current(world, node);
}

void
td_apply_node_free(td_world *world, const td_any_event *any) {
  uint32_t node = any->node_free.node;
  if (node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  release_node(world, node);
}

/* graph task */

void
td_apply_graph_task_begin(td_world *world, const td_any_event *any) {
  const td_event_graph_task_begin *event = &any->graph_task_begin;
  if (event->graph_task == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  td_graph_task_now *now = td_world_graph_task(world, event->graph_task);
  if (now->status != TD_PASS_NOT_BEGUN) return td_apply_trouble(world, TD_CONTRADICTION_begun);
  td_world_set(world, &now->status, TD_PASS_RUNNING);
}

void
td_apply_dependency(td_world *world, const td_any_event *any) {
  const td_event_dependency *event = &any->dependency;
  if (event->node == TD_NONE || event->graph_task == TD_NONE)
    return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  uint32_t task = td_task_obtain(world, event->node, event->graph_task);
  if (task == TD_NONE) return;
  td_world_set(world, &td_world_task(world, task)->dependencies, event->count);
  td_world_set(world, &td_world_task(world, task)->expected, event->count);
  bool is_selective =
      td_catalog_graph_task_get(world->state.catalog, event->graph_task)->n_outputs > 0;
  set_node_state(world, event->node, is_selective ? TD_NODE_skipped : TD_NODE_waiting);
  td_apply_current(world, event->node);
}

/* What a selective pass neither needs nor keeps, and so has no entry, will not run, though
 * gradients may come near it. */
void
td_apply_exec_info(td_world *world, const td_any_event *any) {
  const td_event_exec_info *event = &any->exec_info;
  if (event->node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  if (event->needed || event->captures) {
    take_pair(world, event->node, event->graph_task);
    set_node_state(world, event->node, TD_NODE_waiting);
  }
  td_apply_current(world, event->node);
}

void
td_apply_outstanding(td_world *world, const td_any_event *any) {
  const td_event_outstanding *event = &any->outstanding;
  if (event->graph_task == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  const td_thread_now *thread = td_state_thread(&world->state, event->event.thread);
  td_world_set(world, &td_world_graph_task(world, event->graph_task)->outstanding, event->value);
  /* A node that was only captured, or that failed, has no end of its own. */
  if (thread->node != TD_NONE && thread->graph_task == event->graph_task)
    finish_task(world, thread->node, event->graph_task);
  td_apply_work(world, &event->event, TD_NONE, event->graph_task);
  td_apply_activity(world, &event->event, TD_thread_activity_idle);
}

static void
drop_pairs(td_world *world, uint32_t graph_task) {
  uint32_t first;
  while ((first = td_state_graph_task(&world->state, graph_task)->first_over))
    td_task_drop(world, first - 1);
}

/* A task in a queue stays until it is popped. */
static void
drop_leftover_tasks(td_world *world, uint32_t graph_task) {
  uint32_t task = td_state_graph_task(&world->state, graph_task)->first_live - 1;
  while (task != TD_NONE) {
    uint32_t next = td_state_task(&world->state, task)->pass_next;
    if (!is_in_queue(world, task)) td_task_drop(world, task);
    task = next;
  }
}

void
td_apply_graph_task_end(td_world *world, const td_any_event *any) {
  const td_event_graph_task_end *event = &any->graph_task_end;
  if (event->graph_task == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  td_graph_task_now *now = td_world_graph_task(world, event->graph_task);
  bool is_over = now->status > TD_PASS_RUNNING;
  if (now->status != TD_PASS_RUNNING) td_apply_trouble(world, TD_CONTRADICTION_not_under_way);
  td_world_set(world, &now->status,
               TD_PASS_RUNNING + TD_MIN(event->status, (uint32_t)TD_task_status_error));
  if (is_over) return;
  drop_leftover_tasks(world, event->graph_task);
  drop_pairs(world, event->graph_task);
}

/* queue */

void
td_apply_queue_push(td_world *world, const td_any_event *any) {
  const td_event_queue_push *event = &any->queue_push;
  if (event->node == TD_NONE || event->queue == TD_NONE || event->graph_task == TD_NONE)
    return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  uint32_t task = td_task_obtain(world, event->node, event->graph_task);
  if (task == TD_NONE) return;
  if (is_in_queue(world, task)) return td_apply_trouble(world, TD_CONTRADICTION_in_queue);
  td_queue_entry entry = {event->node, event->graph_task, TD_TASK_NODE, 0};
  if (!td_queue_enter(world, event->queue, entry)) return;
  td_task_unpark(world, task);
  td_world_set(world, &td_world_task(world, task)->queue, event->queue);
  add_outstanding(world, event->graph_task);
  set_node_state(world, event->node, TD_NODE_queued);
  td_apply_current(world, event->node);
}

/* It is the thread's now, whatever comes first: a capture, a skip, or its function. */
static void
leave_queue(td_world *world, const td_event_queue_pop *event, const td_queue_entry *entry) {
  if (event->node == TD_NONE) return;
  td_pair_take(world, event->node, entry->graph_task);
  uint32_t task = td_task_find(world, event->node, entry->graph_task);
  if (task != TD_NONE) {
    td_world_set(world, &td_world_task(world, task)->queue, TD_NONE);
    uint32_t status = td_state_graph_task(&world->state, entry->graph_task)->status;
    if (status > TD_PASS_RUNNING) td_task_drop(world, task);
  }
  td_world_set(world, &td_world_node(world, event->node)->thread, event->event.thread);
  set_node_state(world, event->node, TD_NODE_running);
}

void
td_apply_queue_pop(td_world *world, const td_any_event *any) {
  const td_event_queue_pop *event = &any->queue_pop;
  td_queue_entry entry;
  if (event->queue == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  if (!td_queue_leave(world, event->queue, event->node, event->graph_task, &entry))
    return td_apply_trouble(world, TD_CONTRADICTION_not_in_queue);
  td_queue_now *queue = td_world_queue(world, event->queue);
  td_world_set(world, &queue->n_popped, queue->n_popped + 1);
  td_world_set(world, &queue->last_node, event->node);
  td_world_set(world, &queue->last_depth,
               td_catalog_depth(world->state.catalog, event->graph_task));
  td_world_set_u64(world, &queue->last_pop_seq, world->state.header->seq);
  leave_queue(world, event, &entry);
  td_apply_work(world, &event->event, event->node, event->graph_task);
  td_apply_activity(world, &event->event, TD_thread_activity_processing);
  td_apply_current(world, event->node);
}

void
td_apply_queue_wake(td_world *world, const td_any_event *any) {
  const td_event_queue_wake *event = &any->queue_wake;
  td_queue_entry entry = {TD_NONE, event->graph_task, TD_TASK_DUMMY, 0};
  if (event->queue == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  if (td_queue_enter(world, event->queue, entry)) add_outstanding(world, event->graph_task);
}

void
td_apply_queue_shutdown(td_world *world, const td_any_event *any) {
  uint32_t queue = any->queue_shutdown.queue;
  td_queue_entry entry = {TD_NONE, TD_NONE, TD_TASK_SHUTDOWN, 0};
  if (queue == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  td_queue_enter(world, queue, entry);
}

/* buffer */

void
td_apply_buffer_add(td_world *world, const td_any_event *any) {
  const td_event_buffer_add *event = &any->buffer_add;
  if (event->node == TD_NONE || event->graph_task == TD_NONE)
    return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  uint32_t task = td_task_obtain(world, event->node, event->graph_task);
  if (task == TD_NONE || !td_arrival_add(world, task, event)) return;
  if (!is_in_queue(world, task)) set_node_state(world, event->node, TD_NODE_partial);
  td_apply_current(world, event->node);
}

/* The live task that an event is about, or TD_NONE and trouble. */
static uint32_t
task_of(td_world *world, uint32_t node, uint32_t graph_task) {
  if (node == TD_NONE || graph_task == TD_NONE) {
    td_apply_trouble(world, TD_CONTRADICTION_unnamed);
    td_apply_current(world, node);
    return TD_NONE;
  }
  uint32_t task = td_task_find(world, node, graph_task);
  if (task == TD_NONE) {
    td_pair_take(world, node, graph_task);
    td_apply_trouble_of(world, TD_CONTRADICTION_no_task, state_now(world, node));
  }
  td_apply_current(world, node);
  return task;
}

void
td_apply_buffer_ready(td_world *world, const td_any_event *any) {
  uint32_t task = task_of(world, any->buffer_ready.node, any->buffer_ready.graph_task);
  if (task != TD_NONE) td_task_unpark(world, task);
}

void
td_apply_buffer_park(td_world *world, const td_any_event *any) {
  uint32_t task = task_of(world, any->buffer_park.node, any->buffer_park.graph_task);
  if (task != TD_NONE) td_task_park(world, task);
}

void
td_apply_dependency_dec(td_world *world, const td_any_event *any) {
  const td_event_dependency_dec *event = &any->dependency_dec;
  uint32_t task = task_of(world, event->node, event->graph_task);
  if (task != TD_NONE) td_world_set(world, &td_world_task(world, task)->dependencies, event->left);
}

/* node */

void
td_apply_node_begin(td_world *world, const td_any_event *any) {
  const td_event_node_begin *event = &any->node_begin;
  if (event->node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  td_pair_take(world, event->node, event->graph_task);
  td_world_set(world, &td_world_node(world, event->node)->thread, event->event.thread);
  td_run_now *run = td_world_run_of(world, event->node);
  td_world_set_u64(world, &run->begin_ns, event->event.time);
  td_world_set_u64(world, &run->end_ns, 0);
  set_node_state(world, event->node, TD_NODE_running);
  td_apply_work(world, &event->event, event->node, event->graph_task);
  td_apply_activity(world, &event->event, TD_thread_activity_processing);
  td_apply_current(world, event->node);
}

void
td_apply_node_end(td_world *world, const td_any_event *any) {
  const td_event_node_end *event = &any->node_end;
  if (event->node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  take_pair(world, event->node, event->graph_task);
  td_node_state state = state_now(world, event->node);
  if (state != TD_NODE_running && state != TD_NODE_failed)
    td_apply_trouble_of(world, TD_CONTRADICTION_not_running, state);
  td_world_set_u64(world, &td_world_run_of(world, event->node)->end_ns, event->event.time);
  if (state != TD_NODE_failed) set_node_state(world, event->node, TD_NODE_done);
  if (event->graph_task != TD_NONE) finish_task(world, event->node, event->graph_task);
  td_apply_activity(world, &event->event, TD_thread_activity_scattering);
  td_apply_current(world, event->node);
}

void
td_apply_node_skip(td_world *world, const td_any_event *any) {
  const td_event_node_skip *event = &any->node_skip;
  if (event->node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  take_pair(world, event->node, event->graph_task);
  if (state_now(world, event->node) != TD_NODE_captured)
    set_node_state(world, event->node, TD_NODE_skipped);
  if (event->graph_task != TD_NONE) finish_task(world, event->node, event->graph_task);
  td_apply_current(world, event->node);
}

void
td_apply_capture(td_world *world, const td_any_event *any) {
  if (any->capture.node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  take_pair(world, any->capture.node, any->capture.graph_task);
  set_node_state(world, any->capture.node, TD_NODE_captured);
  td_apply_current(world, any->capture.node);
}

void
td_apply_error(td_world *world, const td_any_event *any) {
  uint32_t node = any->error.node;
  if (node == TD_NONE) return;
  take_pair(world, node, any->error.graph_task);
  set_node_state(world, node, TD_NODE_failed);
  td_apply_current(world, node);
}

void
td_apply_anomaly(td_world *world, const td_any_event *any) {
  const td_event_anomaly *event = &any->anomaly;
  td_state_header *header = world->state.header;
  td_world_set(world, &header->n_anomalies, header->n_anomalies + 1);
  if (event->node == TD_NONE) return;
  td_node_now *now = td_world_node(world, event->node), changed = *now;
  changed.anomaly = (uint8_t)(TD_NODE_NAN + TD_MIN(event->kind, (uint32_t)TD_anomaly_kind_LIMIT));
  changed.birthplace = (uint8_t)TD_MIN(event->born, (uint32_t)TD_birthplace_LIMIT);
  if (!now->anomaly) td_world_set(world, (td_word *)now, *(td_word *)&changed);
  td_apply_current(world, event->node);
}
