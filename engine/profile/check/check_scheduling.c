/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/checker.h"

#include "engine/base/alloc.h"
#include "engine/profile/chosen.h"

#include <inttypes.h>

static td_check_task *
task_of(td_checker *checker, uint32_t graph_task, uint32_t node) {
  return td_check_tasks_get(&td_tally_of(checker, graph_task)->tasks, node);
}

static void
note_thread(td_checker *checker, uint32_t graph_task, uint32_t thread) {
  td_tally *tally = td_tally_of(checker, graph_task);
  if (tally->thread == TD_NONE) tally->thread = thread;
  if (tally->thread != thread) tally->several_threads = true;
}

/* dependencies and buffers */

static void
check_dependency(td_checker *checker, const td_any_event *any) {
  const td_event_dependency *event = &any->dependency;
  td_check_task *task = task_of(checker, event->graph_task, event->node);
  task->left = event->count;
  task->counted = true;
}

static void
check_dependency_dec(td_checker *checker, const td_any_event *any) {
  const td_event_dependency_dec *event = &any->dependency_dec;
  td_check_task *task = task_of(checker, event->graph_task, event->node);
  if (!task->counted)
    td_checker_violate(checker, TD_RULE_dependency, event->node,
                       "got a gradient in graph task %u, but no event counted its dependencies",
                       event->graph_task);
  else if (task->left == 0)
    td_checker_violate(checker, TD_RULE_dependency, event->node,
                       "got one gradient more than it waited for");
  else if (event->left != task->left - 1)
    td_checker_violate(checker, TD_RULE_dependency, event->node,
                       "waits for %u gradients, but waited for %u before", event->left, task->left);
  task->left = event->left;
}

static void
check_buffer_park(td_checker *checker, const td_any_event *any) {
  const td_event_buffer_park *event = &any->buffer_park;
  td_check_task *task = task_of(checker, event->graph_task, event->node);
  if (task->left == 0)
    td_checker_violate(checker, TD_RULE_park_waiting, event->node,
                       "is put into not_ready but waits for nothing");
  if (!task->parked) td_tally_of(checker, event->graph_task)->n_parked++;
  task->parked = true;
}

static void
unpark(td_tally *tally, td_check_task *task) {
  if (!task->parked) return;
  task->parked = false;
  tally->n_parked--;
}

/* A buffer is exposed until the node that may add to it has scattered. */
static void
check_buffer_expose(td_checker *checker, const td_any_event *any) {
  const td_event_buffer_expose *event = &any->buffer_expose;
  td_check_task *task = task_of(checker, event->graph_task, event->node);
  const td_event_queue_pop *pop = td_check_thread_now(&checker->threads[event->event.thread]);
  if (!task->parked)
    td_checker_violate(checker, TD_RULE_exposed_buffer, event->node,
                       "has no buffer in not_ready, but it is exposed to node %u", event->by);
  if (!pop || pop->node != event->by || pop->graph_task != event->graph_task)
    td_checker_violate(checker, TD_RULE_exposed_buffer, event->node,
                       "exposes its buffer to node %u, which thread %u does not run", event->by,
                       event->event.thread);
  task->exposed_to = event->by;
  task->exposed_nr = event->input_nr;
}

static void
check_buffer_add(td_checker *checker, const td_any_event *any) {
  const td_event_buffer_add *event = &any->buffer_add;
  if (event->mode != TD_accumulation_direct) return;
  td_check_task *task = task_of(checker, event->graph_task, event->node);
  const td_event_queue_pop *pop = td_check_thread_now(&checker->threads[event->event.thread]);
  bool is_exposed = task->exposed_to == event->from && task->exposed_nr == event->input_nr;
  if (!is_exposed || !pop || pop->node != event->from || pop->graph_task != event->graph_task)
    td_checker_violate(checker, TD_RULE_exposed_buffer, event->node,
                       "got a gradient that node %u added by itself, but gradient %u was not "
                       "exposed to it",
                       event->from, event->input_nr);
}

/* queues */

static void
check_size(td_checker *checker, uint32_t queue, uint32_t size) {
  td_check_queue *self = &checker->queues[queue];
  if (self->n == size) self->has_unknown = false;
  if (self->n != size && !self->has_unknown)
    td_checker_violate(checker, TD_RULE_queue_size, TD_NONE,
                       "queue %u has %zu tasks in it, but the event says %u", queue, self->n, size);
}

static void
enter(td_checker *checker, uint32_t queue, td_task_kind kind, uint32_t node, uint32_t graph_task) {
  checker->queues[queue].tasks.order = checker->catalog->queues[queue].order;
  td_check_queue_push(&checker->queues[queue], checker->catalog, checker->seq, kind, node,
                      graph_task);
}

/* A pass ends. It costs as much as the pass used queues: a tape may have very many of both. */
static void
leave_queues(td_checker *checker, td_tally *tally, uint32_t graph_task) {
  for (size_t i = 0; i < tally->n_queues; i++)
    td_check_queue_end(&checker->queues[tally->queues[i]], graph_task);
  free(tally->queues);
  tally->queues = NULL;
  tally->n_queues = tally->queues_capacity = 0;
}

static void
note_queue(td_checker *checker, uint32_t queue, uint32_t graph_task) {
  td_tally *tally = td_tally_of(checker, graph_task);
  if (td_check_queue_knows(&checker->queues[queue], graph_task)) return;
  TD_GROW(tally->queues, tally->n_queues, tally->queues_capacity);
  tally->queues[tally->n_queues++] = queue;
}

static void
check_queue_push(td_checker *checker, const td_any_event *any) {
  const td_event_queue_push *event = &any->queue_push;
  td_check_task *task = task_of(checker, event->graph_task, event->node);
  if (task->pushed)
    td_checker_violate(checker, TD_RULE_push_once, event->node,
                       "enters a queue a second time in graph task %u", event->graph_task);
  if (task->counted && task->left > 0)
    td_checker_violate(checker, TD_RULE_push_ready, event->node,
                       "enters a queue but still waits for %u gradient%s", task->left,
                       task->left == 1 ? "" : "s");
  if (!task->counted && event->reason == TD_push_reason_ready)
    td_checker_violate(checker, TD_RULE_push_ready, event->node,
                       "enters a queue as ready, but no event counted its dependencies");
  task->pushed = true;
  td_tally *tally = td_tally_of(checker, event->graph_task);
  unpark(tally, task);
  tally->n_pushed++;
  tally->outstanding++;
  note_thread(checker, event->graph_task, event->event.thread);
  /* One that was counted before: when is not on the tape, so values between are not compared. */
  tally->several_threads |= event->reason == TD_push_reason_precounted;
  note_queue(checker, event->queue, event->graph_task);
  enter(checker, event->queue, TD_TASK_NODE, event->node, event->graph_task);
  if (tally->end_seq) td_check_queue_end(&checker->queues[event->queue], event->graph_task);
  check_size(checker, event->queue, event->size);
}

static void
check_queue_wake(td_checker *checker, const td_any_event *any) {
  const td_event_queue_wake *event = &any->queue_wake;
  td_tally_of(checker, event->graph_task)->outstanding++;
  note_thread(checker, event->graph_task, event->event.thread);
  enter(checker, event->queue, TD_TASK_DUMMY, TD_NONE, event->graph_task);
  check_size(checker, event->queue, event->size);
}

static void
check_queue_shutdown(td_checker *checker, const td_any_event *any) {
  enter(checker, any->queue_shutdown.queue, TD_TASK_SHUTDOWN, TD_NONE, TD_NONE);
}

static void
check_popping_thread(td_checker *checker, const td_event_queue_pop *event) {
  const td_catalog *catalog = checker->catalog;
  const td_catalog_queue *queue = &catalog->queues[event->queue];
  uint32_t thread = event->event.thread;
  if (catalog->threads[thread].in_pool) return; /* it serves whom it works for */
  bool owns = queue->owner == TD_NONE ? catalog->threads[thread].device == queue->device
                                      : queue->owner == thread;
  if (!owns)
    td_checker_violate(checker, TD_RULE_run_thread, event->node,
                       "is popped from queue %u by thread %u, but another thread owns it",
                       event->queue, thread);
  if (event->node == TD_NONE || event->graph_task == TD_NONE || queue->device != TD_DEVICE_CPU)
    return;
  uint32_t owner = td_catalog_graph_task_get(catalog, event->graph_task)->owner;
  if (owner != TD_NONE && owner != thread)
    td_checker_violate(checker, TD_RULE_run_owner, event->node,
                       "is taken by thread %u, but thread %u called backward", thread, owner);
}

static void
note_chosen(td_checker *checker, const td_any_event *any) {
  checker->chosen = any->task_chosen;
  checker->chosen_seq = checker->seq + 1;
}

/* A choice may pass over tasks with nodes of passes that are as deep, and over no other. */
static bool
may_pass_over(const td_checker *checker, const td_event_queue_pop *pop,
              const td_check_entry *ahead) {
  if (checker->chosen_seq != checker->seq || !td_chosen_is_for(&checker->chosen, pop)) return false;
  if (ahead->node == TD_NONE) return false;
  return td_catalog_graph_task_get(checker->catalog, ahead->graph_task)->depth ==
         td_catalog_graph_task_get(checker->catalog, pop->graph_task)->depth;
}

static void
check_queue_pop(td_checker *checker, const td_any_event *any) {
  const td_event_queue_pop *event = &any->queue_pop;
  td_check_queue *queue = &checker->queues[event->queue];
  td_check_entry popped, ahead;
  if (!td_check_queue_pop(queue, checker->catalog, event, &popped, &ahead)) {
    td_checker_violate(checker, TD_RULE_pop_pushed, event->node,
                       "is popped from queue %u, but is not in it", event->queue);
  } else {
    if (ahead.seq != popped.seq && !may_pass_over(checker, event, &ahead)) {
      char *name = ahead.node == TD_NONE ? td_dup_string("a task without a node")
                                         : td_format("node %u", ahead.node);
      td_checker_violate(checker, TD_RULE_pop_order, event->node,
                         "is popped from queue %u, but %s goes first", event->queue, name);
      free(name);
    }
    check_size(checker, event->queue, event->size);
  }
  check_popping_thread(checker, event);
  td_check_thread_popped(&checker->threads[event->event.thread], event);
  if (event->graph_task != TD_NONE) note_thread(checker, event->graph_task, event->event.thread);
}

/* graph tasks */

static void
check_outstanding(td_checker *checker, const td_any_event *any) {
  const td_event_outstanding *event = &any->outstanding;
  td_tally *tally = td_tally_of(checker, event->graph_task);
  bool had_node;
  if (!td_check_thread_completed(&checker->threads[event->event.thread], event->graph_task,
                                 &had_node)) {
    td_checker_violate(checker, TD_RULE_outstanding, TD_NONE,
                       "thread %u completes a task of graph task %u, but did not pop it",
                       event->event.thread, event->graph_task);
    return;
  }
  tally->n_done += had_node;
  tally->outstanding -= tally->outstanding > 0;
  note_thread(checker, event->graph_task, event->event.thread);
  if (event->value == tally->outstanding || tally->mismatch_seq != UINT64_MAX) return;
  tally->mismatch_seq = checker->seq;
  tally->mismatch_value = event->value;
  tally->mismatch_expected = tally->outstanding;
}

static void
check_values(td_checker *checker, const td_tally *tally) {
  if (tally->several_threads || tally->mismatch_seq == UINT64_MAX) return;
  uint64_t now = checker->seq;
  checker->seq = tally->mismatch_seq;
  td_checker_violate(checker, TD_RULE_outstanding, TD_NONE,
                     "the event says %u outstanding tasks, but pushes minus "
                     "completions are %" PRIu64,
                     tally->mismatch_value, tally->mismatch_expected);
  checker->seq = now;
}

/* The nodes of a graph task that ended some time ago are forgotten: what is kept does not grow with
 * the tape. */
static void
note_ended(td_checker *checker, uint32_t graph_task) {
  uint32_t *slot = &checker->ended[checker->n_ended % TD_ENDED_KEPT];
  if (checker->n_ended++ >= TD_ENDED_KEPT) td_check_tasks_fini(&td_tally_of(checker, *slot)->tasks);
  *slot = graph_task;
}

static void
check_graph_task_end(td_checker *checker, const td_any_event *any) {
  const td_event_graph_task_end *event = &any->graph_task_end;
  td_tally *tally = td_tally_of(checker, event->graph_task);
  leave_queues(checker, tally, event->graph_task);
  check_values(checker, tally);
  tally->mismatch_seq = UINT64_MAX;
  tally->failed |= event->status != TD_task_status_ok;
  tally->ended_well = !tally->failed;
  tally->end_seq = checker->seq;
  note_ended(checker, event->graph_task);
}

static void
check_error(td_checker *checker, const td_any_event *any) {
  td_tally_of(checker, any->error.graph_task)->failed = true;
}

static void
check_good_end(td_checker *checker, const td_tally *tally) {
  checker->seq = tally->end_seq;
  if (tally->n_pushed != tally->n_done)
    td_checker_violate(checker, TD_RULE_outstanding, TD_NONE,
                       "graph task %u succeeds, but %" PRIu64 " nodes were pushed "
                       "and %" PRIu64 " completed",
                       tally->graph_task, tally->n_pushed, tally->n_done);
  if (tally->n_parked > 0)
    td_checker_violate(checker, TD_RULE_not_ready_empty, TD_NONE,
                       "graph task %u succeeds with %u buffers in not_ready", tally->graph_task,
                       tally->n_parked);
}

void
td_check_graph_tasks_end(td_checker *checker) {
  uint32_t *order = NULL;
  if (!td_id_rows_sort(&checker->graph_tasks, &order)) td_out_of_memory();
  for (uint32_t row = 0; row < checker->n_tallies; row++) {
    const td_tally *tally = &checker->tallies[order ? order[row] : row];
    if (tally->ended_well) check_good_end(checker, tally);
  }
  free(order);
}

static void (*const checks[TD_EVENT_LIMIT])(td_checker *checker, const td_any_event *any) = {
    [TD_EVENT_dependency] = check_dependency,
    [TD_EVENT_outstanding] = check_outstanding,
    [TD_EVENT_graph_task_end] = check_graph_task_end,
    [TD_EVENT_queue_push] = check_queue_push,
    [TD_EVENT_queue_pop] = check_queue_pop,
    [TD_EVENT_queue_wake] = check_queue_wake,
    [TD_EVENT_queue_shutdown] = check_queue_shutdown,
    [TD_EVENT_buffer_park] = check_buffer_park,
    [TD_EVENT_dependency_dec] = check_dependency_dec,
    [TD_EVENT_error] = check_error,
    [TD_EVENT_task_chosen] = note_chosen,
    [TD_EVENT_buffer_expose] = check_buffer_expose,
    [TD_EVENT_buffer_add] = check_buffer_add,
};

void
td_check_scheduling(td_checker *checker, const td_any_event *event) {
  if (checks[event->event.kind]) checks[event->event.kind](checker, event);
}
