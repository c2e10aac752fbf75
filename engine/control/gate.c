/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/control/gate.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/control/choose.h"
#include "engine/control/interrupt.h"
#include "engine/events/emit.h"
#include "engine/events/event_type.h"

#include <pthread.h>
#include <string.h>

_Atomic bool td_gate_armed;

/* A thread that is stopped; on its own stack. */
typedef struct waiter {
  const td_gate_point *point;
  const char *reason;
  char *condition; /* (owned) that holds, or NULL */
  uint32_t thread;
  bool go, stepped;
  struct waiter *next;
} waiter;

static struct {
  pthread_mutex_t mutex; /* guards all below; a report is sent under it, nothing is flushed */
  pthread_cond_t changed;
  td_link *link; /* (borrowed) NULL: closed */
  void (*flush)(void *data);
  void *data;
  bool paused;       /* whoever comes by stops */
  bool is_first;     /* nobody has come by yet */
  waiter *waiters;   /* the longest waiting first */
  unsigned n_inside; /* threads in td_gate_pass */
  td_condition *conditions;
  size_t n_conditions, conditions_capacity;
  uint32_t *held; /* threads that stop wherever they come by */
  size_t n_held, held_capacity;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* The calling thread's: what it has to tell at its next poll. */
static _Thread_local unsigned troubles;
static _Thread_local uint32_t trouble_node;
static _Thread_local bool was_stepped;

static void
arm_locked(void) {
  bool wanted = gate.link && (gate.paused || gate.n_conditions || gate.n_held);
  atomic_store_explicit(&td_gate_armed, wanted, memory_order_relaxed);
}

static bool
is_held_locked(uint32_t thread) {
  for (size_t i = 0; i < gate.n_held; i++)
    if (gate.held[i] == thread) return true;
  return false;
}

static const td_condition *
find_condition_locked(const td_gate_point *point) {
  bool is_pass = point->kind == TD_EVENT_graph_task_begin;
  td_condition_moment moment = {.event = point->kind,
                                .number = is_pass ? point->graph_task : point->node,
                                .name = point->name,
                                .has_others = point->kind == TD_EVENT_queue_pop,
                                .troubles = troubles};
  for (size_t i = 0; i < gate.n_conditions; i++)
    if (td_condition_holds(&gate.conditions[i], &moment)) return &gate.conditions[i];
  return NULL;
}

/* Why this thread has to stop here, or NULL. */
static const char *
find_reason_locked(const td_gate_point *point, uint32_t thread, const td_condition **condition) {
  *condition = gate.link ? find_condition_locked(point) : NULL;
  if (!gate.link) return NULL;
  if (*condition) return "break";
  if (gate.paused) return gate.is_first ? "first" : was_stepped ? "step" : "pause";
  was_stepped = false;
  return is_held_locked(thread) ? "hold" : NULL;
}

static void
report_stopped_locked(const waiter *self) {
  td_line_text text;
  const td_gate_point *point = self->point;
  td_line_begin(&text, "stopped");
  td_line_add_number(&text, "thread", self->thread);
  td_line_add(&text, "kind", td_event_type_get(point->kind)->name);
  if (point->node != TD_NONE) td_line_add_number(&text, "node", point->node);
  if (point->name && *point->name) td_line_add(&text, "name", point->name);
  if (point->graph_task != TD_NONE) td_line_add_number(&text, "graph_task", point->graph_task);
  td_line_add(&text, "reason", self->reason);
  td_line_add(&text, "condition", self->condition);
  td_link_report(gate.link, &text);
  td_line_text_fini(&text);
}

static void
report_running_locked(uint32_t thread) {
  td_line_text text;
  if (!gate.link) return;
  td_line_begin(&text, "running");
  td_line_add_number(&text, "thread", thread);
  td_link_report(gate.link, &text);
  td_line_text_fini(&text);
}

/* What is asked of the gate, for whoever watches. */
static void
report_gate_locked(void) {
  td_line_text text;
  if (!gate.link) return;
  td_line_begin(&text, "gate");
  td_line_add_number(&text, "paused", gate.paused);
  for (size_t i = 0; i < gate.n_conditions; i++)
    td_line_add(&text, "break", gate.conditions[i].text);
  for (size_t i = 0; i < gate.n_held; i++)
    td_line_add_number(&text, "hold", gate.held[i]);
  td_link_report(gate.link, &text);
  td_line_text_fini(&text);
}

static void
enqueue_locked(waiter *self) {
  waiter **link = &gate.waiters;
  while (*link)
    link = &(*link)->next;
  *link = self;
}

static void
dequeue_locked(waiter *self) {
  waiter **link = &gate.waiters;
  while (*link != self)
    link = &(*link)->next;
  *link = self->next;
}

/* Without the mutex: the recorder may have to empty this thread's own ring first. The gate cannot
 * close meanwhile, for this thread is inside. */
static void
put_on_tape(const waiter *self, uint32_t node, void (*flush)(void *data), void *data) {
  if (self->condition)
    TD_EMIT(breakpoint_hit, .node = node, .condition = td_intern(self->condition));
  if (flush) flush(data);
}

static void
wait_locked(waiter *self, uint32_t node) {
  void (*flush)(void *data) = gate.flush;
  void *data = gate.data;
  uint64_t begin = td_clock_now();
  enqueue_locked(self);
  pthread_mutex_unlock(&gate.mutex);
  put_on_tape(self, node, flush, data);
  pthread_mutex_lock(&gate.mutex);
  bool reported = !self->go && gate.link;
  if (reported) report_stopped_locked(self);
  while (!self->go)
    pthread_cond_wait(&gate.changed, &gate.mutex);
  pthread_mutex_unlock(&gate.mutex); /* as in put_on_tape */
  TD_EMIT(paused, .waited = td_clock_now() - begin);
  pthread_mutex_lock(&gate.mutex);
  dequeue_locked(self);
  was_stepped = self->stepped;
  if (reported) report_running_locked(self->thread);
}

void
td_gate_pass(const td_gate_point *point) {
  const td_condition *condition;
  bool is_aftermath = point->kind == TD_EVENT_error || point->kind == TD_EVENT_anomaly;
  if (is_aftermath && !troubles) return;
  uint32_t node = troubles ? trouble_node : point->node;
  waiter self = {.point = point, .thread = td_emit_thread_id()};
  pthread_mutex_lock(&gate.mutex);
  gate.n_inside++;
  self.reason = find_reason_locked(point, self.thread, &condition);
  troubles = 0;
  if (condition) {
    self.condition = td_dup_string(condition->text);
    if (!gate.paused) {
      gate.paused = true;
      report_gate_locked();
    }
  }
  if (self.reason) {
    gate.is_first = false;
    wait_locked(&self, node);
  }
  if (--gate.n_inside == 0) pthread_cond_broadcast(&gate.changed);
  pthread_mutex_unlock(&gate.mutex);
  free(self.condition);
}

void
td_gate_note_armed(td_trouble trouble, uint32_t node) {
  if (!troubles) trouble_node = node;
  troubles |= trouble;
}

static void
release_locked(uint32_t thread) {
  for (waiter *one = gate.waiters; one; one = one->next)
    if (thread == TD_NONE ? !is_held_locked(one->thread) : one->thread == thread) one->go = true;
  pthread_cond_broadcast(&gate.changed);
}

static void
continue_locked(void) {
  gate.paused = gate.is_first = false;
  release_locked(TD_NONE);
}

static void
clear_conditions_locked(void) {
  while (gate.n_conditions)
    td_condition_fini(&gate.conditions[--gate.n_conditions]);
}

static void
detach_locked(void) {
  clear_conditions_locked();
  gate.n_held = 0;
  continue_locked();
}

/* Asked for one thread, held or not; else the longest waiting that is not held. With nobody there,
 * whoever comes by next is the step. */
static void
step_locked(uint32_t thread) {
  gate.paused = true;
  for (waiter *one = gate.waiters; one; one = one->next) {
    if (one->go || (thread == TD_NONE ? is_held_locked(one->thread) : one->thread != thread))
      continue;
    one->go = one->stepped = true;
    break;
  }
  pthread_cond_broadcast(&gate.changed);
}

static void
hold_locked(uint32_t thread) {
  if (thread == TD_NONE || is_held_locked(thread)) return;
  TD_GROW(gate.held, gate.n_held, gate.held_capacity);
  gate.held[gate.n_held++] = thread;
}

static void
unhold_locked(uint32_t thread) {
  for (size_t i = 0; i < gate.n_held; i++)
    if (gate.held[i] == thread) gate.held[i--] = gate.held[--gate.n_held];
  if (!gate.paused) release_locked(thread);
}

static void
break_locked(const td_line *command) {
  const char *add = td_line_find(command, "add"), *remove = td_line_find(command, "remove");
  if (td_line_flag(command, "clear")) clear_conditions_locked();
  for (size_t i = 0; remove && i < gate.n_conditions; i++) {
    if (strcmp(gate.conditions[i].text, remove) != 0) continue;
    td_condition_fini(&gate.conditions[i]);
    gate.conditions[i--] = gate.conditions[--gate.n_conditions];
  }
  td_condition made;
  if (!add || td_condition_parse_live(add, &made, NULL)) return;
  TD_GROW(gate.conditions, gate.n_conditions, gate.conditions_capacity);
  gate.conditions[gate.n_conditions++] = made;
}

static void
obey_locked(const td_line *command) {
  uint32_t thread = TD_NONE;
  td_line_find_u32(command, "thread", &thread);
  if (td_line_is(command, "pause")) gate.paused = true;
  if (td_line_is(command, "continue")) continue_locked();
  if (td_line_is(command, "step")) step_locked(thread);
  if (td_line_is(command, "hold")) hold_locked(thread);
  if (td_line_is(command, "release")) unhold_locked(thread);
  if (td_line_is(command, "break")) break_locked(command);
  if (td_line_is(command, "choose")) td_choose_obey(command, gate.waiters != NULL, gate.link);
  if (td_line_is(command, "detach")) detach_locked();
}

static bool (*hear_first)(const td_line *command); /* set before the listener starts, or NULL */

void
td_gate_hear(bool (*command)(const td_line *command)) {
  hear_first = command;
}

static void
command_cb(const td_line *command, void *unused) {
  if (hear_first && hear_first(command)) return;
  pthread_mutex_lock(&gate.mutex);
  if (gate.link) obey_locked(command);
  arm_locked();
  report_gate_locked();
  pthread_mutex_unlock(&gate.mutex);
}

static void
detach_cb(void *unused) {
  pthread_mutex_lock(&gate.mutex);
  detach_locked();
  arm_locked();
  report_gate_locked();
  pthread_mutex_unlock(&gate.mutex);
}

/* The child has one thread, which was outside, and a socket that is its parent's. */
static void
forked_cb(void) {
  gate.link = NULL;
  gate.waiters = NULL;
  gate.n_inside = 0;
  clear_conditions_locked();
  gate.n_held = 0;
  arm_locked();
  pthread_cond_init(&gate.changed, NULL);
  td_interrupt_unwatch();
}

__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_guard(&gate.mutex, TD_FORK_GATE);
  td_fork_reset(forked_cb);
}

static td_status
read_conditions_locked(const td_line *record, td_error *error) {
  td_status status = TD_OK;
  for (unsigned i = 0; i < record->n_fields && !status; i++) {
    if (strcmp(record->fields[i].key, "break") != 0) continue;
    TD_GROW(gate.conditions, gate.n_conditions, gate.conditions_capacity);
    td_condition *condition = &gate.conditions[gate.n_conditions];
    status = td_condition_parse_live(record->fields[i].value, condition, error);
    if (!status) gate.n_conditions++;
  }
  return status;
}

td_status
td_gate_open(td_link *link, const td_line *record, void (*flush)(void *data), void *data,
             td_error *error) {
  static const td_link_listener listener = {
      .command = command_cb, .lost = detach_cb, .woken = detach_cb};
  if (!td_line_flag(record, "live")) return TD_OK;
  td_fork_watch();
  pthread_mutex_lock(&gate.mutex);
  td_status status = read_conditions_locked(record, error);
  gate.paused = gate.is_first = gate.n_conditions == 0 && !td_line_flag(record, "away");
  gate.link = status ? NULL : link;
  gate.flush = flush;
  gate.data = data;
  arm_locked();
  report_gate_locked();
  pthread_mutex_unlock(&gate.mutex);
  if (!status) status = td_link_listen(link, &listener, error);
  if (status)
    td_gate_close();
  else
    td_interrupt_watch(link);
  return status;
}

void
td_gate_close(void) {
  td_interrupt_unwatch();
  pthread_mutex_lock(&gate.mutex);
  detach_locked();
  gate.link = NULL;
  arm_locked();
  while (gate.n_inside)
    pthread_cond_wait(&gate.changed, &gate.mutex);
  gate.flush = NULL;
  pthread_mutex_unlock(&gate.mutex);
}
