/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/apply.h"
#include "engine/replay/pools.h"
#include "engine/replay/queue_heap.h"

/* thread */

void
td_apply_thread_state(td_world *world, const td_any_event *any) {
  const td_event_thread_state *event = &any->thread_state;
  if (event->state >= TD_thread_activity_LIMIT)
    return td_apply_trouble(world, TD_CONTRADICTION_impossible);
  td_apply_activity(world, &event->event, (td_thread_activity)event->state);
  td_world_set(world, &td_world_thread(world, event->event.thread)->graph_task, event->graph_task);
}

void
td_apply_thread_end(td_world *world, const td_any_event *any) {
  if (any->thread_end.id == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_unnamed);
  td_event ended = any->event;
  ended.thread = any->thread_end.id;
  td_apply_activity(world, &ended, TD_thread_activity_ended);
  td_apply_work(world, &ended, TD_NONE, TD_NONE);
}

/* The thread runs the inner pass inside the node, which stays running. */
void
td_apply_reentrant_enter(td_world *world, const td_any_event *any) {
  const td_event_reentrant_enter *event = &any->reentrant_enter;
  td_apply_work(world, &event->event, event->node, event->graph_task);
  td_apply_activity(world, &event->event, TD_thread_activity_reentrant_wait);
  td_apply_current(world, event->node);
}

void
td_apply_reentrant_leave(td_world *world, const td_any_event *any) {
  const td_event_reentrant_leave *event = &any->reentrant_leave;
  td_apply_work(world, &event->event, event->node, event->outer);
  td_apply_activity(world, &event->event, TD_thread_activity_processing);
  td_apply_current(world, event->node);
}

/* The thread waits until the pool has run the inner pass. */
void
td_apply_pool_push(td_world *world, const td_any_event *any) {
  td_apply_activity(world, &any->event, TD_thread_activity_reentrant_wait);
}

void
td_apply_breakpoint_hit(td_world *world, const td_any_event *any) {
  td_apply_current(world, any->breakpoint_hit.node);
}

void
td_apply_lock_wait(td_world *world, const td_any_event *any) {
  td_world_set(world, &td_world_thread(world, any->event.thread)->lock, any->lock_wait.lock);
}

void
td_apply_lock_acquired(td_world *world, const td_any_event *any) {
  td_world_set(world, &td_world_thread(world, any->event.thread)->lock, TD_NONE);
}

void
td_apply_step(td_world *world, const td_any_event *any) {
  td_world_set(world, &world->state.header->step, any->step.iteration);
}

/* keyframe: what no event before told in this form, so nothing is contradicted */

void
td_apply_node_now(td_world *world, const td_any_event *any) {
  const td_event_node_now *event = &any->node_now;
  if (event->node == TD_NONE || event->state >= TD_N_NODE_STATES ||
      event->anomaly > TD_anomaly_kind_LIMIT || event->birthplace > TD_birthplace_LIMIT)
    return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  td_node_now *node = td_world_node(world, event->node), changed = *node;
  changed.state = (uint8_t)event->state;
  changed.anomaly = (uint8_t)event->anomaly;
  changed.birthplace = (uint8_t)event->birthplace;
  td_world_set(world, (td_word *)node, *(td_word *)&changed);
  td_world_set(world, &node->thread, event->runner);
  td_run_now *run = td_world_run_of(world, event->node);
  td_world_set_u64(world, &run->begin_ns, event->begin_ns);
  td_world_set_u64(world, &run->end_ns, event->end_ns);
}

void
td_apply_pass_now(td_world *world, const td_any_event *any) {
  const td_event_pass_now *event = &any->pass_now;
  if (event->graph_task == TD_NONE || event->status > 1 + TD_task_status_error)
    return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  td_graph_task_now *now = td_world_graph_task(world, event->graph_task);
  td_world_set(world, &now->status, event->status);
  td_world_set(world, &now->outstanding, event->outstanding);
  td_world_set(world, &now->n_done, event->done);
}

static void
set_state(td_world *world, uint32_t node, uint32_t state) {
  td_node_now *now = td_world_node(world, node), changed = *now;
  changed.state = (uint8_t)state;
  td_world_set(world, (td_word *)now, *(td_word *)&changed);
}

/* node_now and pair_now say later what it was doing. Tapes of Tapedeck before 0.4 have no pair_now:
 * of a pair that is not the node's own it is only known that the node ran. */
void
td_apply_ran_now(td_world *world, const td_any_event *any) {
  const td_event_ran_now *event = &any->ran_now;
  if (event->node == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  td_pair_take(world, event->node, event->graph_task);
  set_state(world, event->node, TD_NODE_done);
}

/* What a node did in one of the passes that share it. Of a node's pairs its own comes last. */
void
td_apply_pair_now(td_world *world, const td_any_event *any) {
  const td_event_pair_now *event = &any->pair_now;
  if (event->node == TD_NONE || event->state >= TD_N_NODE_STATES)
    return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  td_pair_take(world, event->node, event->graph_task);
  set_state(world, event->node, event->state);
  td_world_set(world, &td_world_node(world, event->node)->thread, event->runner);
  td_run_now *run = td_world_run_of(world, event->node);
  td_world_set_u64(world, &run->begin_ns, event->begin_ns);
  td_world_set_u64(world, &run->end_ns, event->end_ns);
}

/* The task of an entry is there, and in no queue yet. */
static uint32_t
task_of_entry(td_world *world, const td_event_entry_now *event) {
  if (event->node == TD_NONE || event->graph_task == TD_NONE) return TD_NONE;
  uint32_t task = td_task_find(world, event->node, event->graph_task);
  bool is_free = task != TD_NONE && td_state_task(&world->state, task)->queue == TD_NONE;
  return is_free ? task : TD_NONE;
}

void
td_apply_entry_now(td_world *world, const td_any_event *any) {
  const td_event_entry_now *event = &any->entry_now;
  td_queue_entry entry = {event->node, event->graph_task, event->kind_of_task, event->order};
  bool is_node = event->kind_of_task == TD_TASK_NODE;
  uint32_t task = is_node ? task_of_entry(world, event) : TD_NONE;
  bool is_known = is_node ? task != TD_NONE
                          : event->node == TD_NONE && (event->kind_of_task == TD_TASK_DUMMY ||
                                                       event->kind_of_task == TD_TASK_SHUTDOWN);
  if (!is_known || event->queue == TD_NONE || !td_queue_append(world, event->queue, entry))
    return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  if (is_node) td_world_set(world, &td_world_task(world, task)->queue, event->queue);
}

void
td_apply_work_now(td_world *world, const td_any_event *any) {
  const td_event_work_now *event = &any->work_now;
  if (event->id == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  td_world_set(world, &td_world_thread(world, event->id)->graph_task, event->graph_task);
}

void
td_apply_queue_now(td_world *world, const td_any_event *any) {
  const td_event_queue_now *event = &any->queue_now;
  if (event->queue == TD_NONE) return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  td_queue_now *queue = td_world_queue(world, event->queue);
  td_world_set(world, &queue->n_pushed, event->pushed);
  td_world_set(world, &queue->n_popped, event->popped);
  td_world_set(world, &queue->last_node, event->last_node);
  td_world_set_u64(world, &queue->last_pop_seq, event->last_pop_seq);
  td_world_set(world, &queue->last_depth, event->last_depth);
}

void
td_apply_thread_now(td_world *world, const td_any_event *any) {
  const td_event_thread_now *event = &any->thread_now;
  bool has_lock = event->lock < TD_lock_kind_LIMIT || event->lock == TD_NONE;
  if (event->id == TD_NONE || event->state >= TD_thread_activity_LIMIT || !has_lock)
    return td_apply_trouble(world, TD_CONTRADICTION_keyframe);
  td_thread_now *thread = td_world_thread(world, event->id);
  td_world_set(world, &thread->state, event->state);
  td_world_set(world, &thread->node, event->node);
  td_world_set(world, &thread->lock, event->lock);
  td_world_set_u64(world, &thread->since_ns, event->since_ns);
}

void
td_apply_totals_now(td_world *world, const td_any_event *any) {
  const td_event_totals_now *event = &any->totals_now;
  td_state_header *header = world->state.header;
  td_world_set(world, &header->n_anomalies, event->n_anomalies);
  td_world_set(world, &header->step, event->step);
  td_world_set(world, &header->current_node, event->current_node);
  td_contradictions *noted = &header->contradictions;
  td_world_set(world, &noted->n, event->n_contradictions);
  td_world_set_u64(world, &noted->first, event->contradiction);
  td_world_set(world, &noted->why, TD_MIN(event->why, (uint32_t)TD_N_CONTRADICTIONS - 1));
  td_world_set(world, &noted->state, TD_MIN(event->contradicted, (uint32_t)TD_NODE_absent));
}
