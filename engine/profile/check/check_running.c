/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/checker.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

/* nodes */

/* A span belongs to the graph task of what its thread popped last. */
static void
begin_span(td_checker *checker, const td_event *event, td_event_kind end_kind, uint32_t object,
           uint32_t detail) {
  td_check_thread *thread = &checker->threads[event->thread];
  const td_event_queue_pop *pop = td_check_thread_now(thread);
  uint32_t graph_task = end_kind == TD_EVENT_node_end ? detail : pop ? pop->graph_task : TD_NONE;
  td_check_spans_begin(&thread->spans,
                       (td_check_span){(uint16_t)end_kind, object, detail, graph_task});
}

static void
check_node_begin(td_checker *checker, const td_any_event *any) {
  const td_event_node_begin *event = &any->node_begin;
  td_check_thread *thread = &checker->threads[event->event.thread];
  const td_event_queue_pop *pop = td_check_thread_now(thread);
  if (!pop || pop->node != event->node || pop->graph_task != event->graph_task)
    td_checker_violate(checker, TD_RULE_run_popped, event->node,
                       "begins on thread %u, but that thread did not just pop it",
                       event->event.thread);
  td_check_task *task =
      td_check_tasks_get(&td_tally_of(checker, event->graph_task)->tasks, event->node);
  if (task->began)
    td_checker_violate(checker, TD_RULE_run_popped, event->node,
                       "begins a second time in graph task %u", event->graph_task);
  task->began = true;
  begin_span(checker, &any->event, TD_EVENT_node_end, event->node, event->graph_task);
}

/* What an exception passes through does not end: its spans are closed when one around it ends. */
static bool
is_broken_off(const td_check_span *span, void *data) {
  td_checker *checker = data;
  return span->graph_task != TD_NONE && td_tally_of(checker, span->graph_task)->failed;
}

static void
end_span(td_checker *checker, const td_event *event, uint32_t object, uint32_t detail,
         const char *what) {
  td_check_span span = {event->kind, object, detail, TD_NONE};
  td_check_thread *thread = &checker->threads[event->thread];
  if (!td_check_spans_end(&thread->spans, span, is_broken_off, checker))
    td_checker_violate(checker, TD_RULE_nesting, object,
                       "ends its %s on thread %u, but something else began last", what,
                       event->thread);
}

static void
check_node_end(td_checker *checker, const td_any_event *any) {
  end_span(checker, &any->event, any->node_end.node, any->node_end.graph_task, "function");
}

static void
check_hook_begin(td_checker *checker, const td_any_event *any) {
  begin_span(checker, &any->event, TD_EVENT_hook_end, any->hook_begin.node, any->hook_begin.kind);
}

static void
check_hook_end(td_checker *checker, const td_any_event *any) {
  end_span(checker, &any->event, any->hook_end.node, any->hook_end.kind, "hook");
}

static void
check_kernel_begin(td_checker *checker, const td_any_event *any) {
  begin_span(checker, &any->event, TD_EVENT_kernel_end, any->kernel_begin.node,
             (uint32_t)any->kernel_begin.device);
}

static void
check_kernel_end(td_checker *checker, const td_any_event *any) {
  end_span(checker, &any->event, any->kernel_end.node, (uint32_t)any->kernel_end.device, "kernel");
}

static uint32_t
stream_key(int32_t device, int32_t stream) {
  return (uint32_t)device << 16 ^ (uint32_t)stream;
}

static void
check_callback_begin(td_checker *checker, const td_any_event *any) {
  uint32_t graph_task = any->final_callback.graph_task;
  td_check_span span = {TD_EVENT_final_callback_end, graph_task, 0, graph_task};
  td_check_spans_begin(&checker->threads[any->event.thread].spans, span);
}

static void
check_callback_end(td_checker *checker, const td_any_event *any) {
  uint32_t graph_task = any->final_callback_end.graph_task;
  td_check_span span = {TD_EVENT_final_callback_end, graph_task, 0, graph_task};
  td_check_thread *thread = &checker->threads[any->event.thread];
  if (!td_check_spans_end(&thread->spans, span, is_broken_off, checker))
    td_checker_violate(checker, TD_RULE_nesting, TD_NONE,
                       "graph task %u ends a final callback on thread %u, but something else began "
                       "last",
                       graph_task, any->event.thread);
}

static void
check_collective_begin(td_checker *checker, const td_any_event *any) {
  const td_event_collective_begin *event = &any->collective_begin;
  begin_span(checker, &any->event, TD_EVENT_collective_end, event->node, event->graph_task);
}

static void
check_collective_end(td_checker *checker, const td_any_event *any) {
  const td_event_collective_end *event = &any->collective_end;
  end_span(checker, &any->event, event->node, event->graph_task, "wait for an operation");
}

static void
check_wait_begin(td_checker *checker, const td_any_event *any) {
  const td_event_synchronize_begin *event = &any->synchronize_begin;
  begin_span(checker, &any->event, TD_EVENT_synchronize_end, event->node,
             stream_key(event->device, event->stream));
}

static void
check_wait_end(td_checker *checker, const td_any_event *any) {
  const td_event_synchronize_end *event = &any->synchronize_end;
  end_span(checker, &any->event, event->node, stream_key(event->device, event->stream),
           "wait for a stream");
}

/* A task whose graph task is gone is thrown away without being counted. */
static void
check_node_skip(td_checker *checker, const td_any_event *any) {
  bool had_node;
  if (any->node_skip.reason == TD_skip_reason_expired)
    td_check_thread_completed(&checker->threads[any->event.thread], any->node_skip.graph_task,
                              &had_node);
}

/* locks */

/* Objects are numbered in each process by itself. */
static td_held_lock
lock_of(const td_checker *checker, const td_event *event, uint32_t kind, uint32_t object) {
  uint32_t process = checker->catalog->threads[event->thread].process;
  return (td_held_lock){kind, object, process, event->thread};
}

static uint64_t
hash_lock(td_held_lock lock) {
  return td_hash_number(td_hash_number((uint64_t)lock.kind << 32 | lock.object) ^ lock.process);
}

static td_held_lock
lock_at(const void *checker, uint32_t number) {
  return ((const td_checker *)checker)->locks[number - 1];
}

static bool
is_same_lock(td_held_lock a, td_held_lock b) {
  return a.kind == b.kind && a.object == b.object && a.process == b.process;
}

TD_HASH_INDEX_DEFINE(locks, td_held_lock, hash_lock, lock_at, is_same_lock)

static void
check_lock_acquired(td_checker *checker, const td_any_event *any) {
  const td_event_lock_acquired *event = &any->lock_acquired;
  td_held_lock lock = lock_of(checker, &event->event, event->lock, event->object);
  uint32_t number = locks_put(&checker->lock_numbers, checker->n_locks, lock, checker);
  const char *kind = td_enum_word(TD_FIELD_ENUM_lock_kind, event->lock);
  if (number > checker->n_locks) {
    TD_GROW(checker->locks, checker->n_locks, checker->locks_capacity);
    checker->n_locks++;
  } else if (checker->locks[number - 1].thread != TD_NONE) {
    td_checker_violate(checker, TD_RULE_lock_exclusive, TD_NONE,
                       "thread %u gets the lock of %s %u, but thread %u holds it",
                       event->event.thread, kind ? kind : "object", event->object,
                       checker->locks[number - 1].thread);
  }
  checker->locks[number - 1] = lock;
}

static void
check_lock_released(td_checker *checker, const td_any_event *any) {
  const td_event_lock_released *event = &any->lock_released;
  td_held_lock lock = lock_of(checker, &event->event, event->lock, event->object);
  uint32_t number = locks_find(&checker->lock_numbers, lock, checker);
  if (number == 0 && checker->is_kept) return; /* got before the tape */
  if (number == 0 || checker->locks[number - 1].thread != event->event.thread) {
    const char *kind = td_enum_word(TD_FIELD_ENUM_lock_kind, event->lock);
    td_checker_violate(checker, TD_RULE_lock_exclusive, TD_NONE,
                       "thread %u releases the lock of %s %u, but does not hold it",
                       event->event.thread, kind ? kind : "object", event->object);
  }
  if (number > 0) checker->locks[number - 1].thread = TD_NONE;
}

static void (*const checks[TD_EVENT_LIMIT])(td_checker *checker, const td_any_event *any) = {
    [TD_EVENT_node_begin] = check_node_begin,
    [TD_EVENT_node_end] = check_node_end,
    [TD_EVENT_hook_begin] = check_hook_begin,
    [TD_EVENT_hook_end] = check_hook_end,
    [TD_EVENT_node_skip] = check_node_skip,
    [TD_EVENT_kernel_begin] = check_kernel_begin,
    [TD_EVENT_kernel_end] = check_kernel_end,
    [TD_EVENT_collective_begin] = check_collective_begin,
    [TD_EVENT_collective_end] = check_collective_end,
    [TD_EVENT_synchronize_begin] = check_wait_begin,
    [TD_EVENT_synchronize_end] = check_wait_end,
    [TD_EVENT_lock_acquired] = check_lock_acquired,
    [TD_EVENT_lock_released] = check_lock_released,
    [TD_EVENT_final_callback] = check_callback_begin,
    [TD_EVENT_final_callback_end] = check_callback_end,
};

void
td_check_running(td_checker *checker, const td_any_event *event) {
  if (checks[event->event.kind]) checks[event->event.kind](checker, event);
}
