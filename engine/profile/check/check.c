/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One pass, segment by segment, with bookkeeping of its own: a bug in the replay must not hide one
 * in the engine. */
#include "engine/profile/check/check.h"

#include "engine/base/alloc.h"
#include "engine/profile/check/checker.h"
#include "engine/replay/catalog_visit.h"

#define KINDS_MAX 4
#define NEAR_GRAPH_TASKS (1u << 20)

static const struct {
  const char *name;
  uint16_t kinds[KINDS_MAX]; /* until 0 */
} rules[] = {
#define KIND(name) TD_EVENT_##name,
#define RULE(id, name, summary, kinds) {name, {kinds}},
#include "engine/profile/check/rules.def"
#undef RULE
#undef KIND
};

/* A tape that says at which level it was recorded, and on which nodes run but nothing is ever
 * popped, has no pops, whether or not it says so. Tapes of older versions have final callbacks that
 * nobody queued. */
static bool
is_missing(const td_tape_info *info, uint16_t kind) {
  bool always =
      kind == TD_EVENT_queue_push || kind == TD_EVENT_queue_pop || kind == TD_EVENT_outstanding;
  bool by_a_probe = info->n_by_kind[TD_EVENT_probe_level] > 0;
  if (kind == TD_EVENT_final_callback_new && info->n_by_kind[kind] == 0 &&
      info->n_by_kind[TD_EVENT_final_callback] > 0)
    return true;
  return info->known[kind] == TD_knowledge_absent ||
         (always && by_a_probe && info->n_by_kind[kind] == 0 &&
          info->n_by_kind[TD_EVENT_node_begin] > 0);
}

/* Why a rule cannot be judged, or NULL. The caller frees. */
static char *
find_reason(const td_tape_info *info, td_rule rule) {
  char *reason = NULL;
  for (int i = 0; i < KINDS_MAX && rules[rule].kinds[i]; i++) {
    uint16_t kind = rules[rule].kinds[i];
    bool missing = is_missing(info, kind);
    if (!missing && info->known[kind] != TD_knowledge_reconstructed) continue;
    char *before = reason;
    reason = td_format("%s%s%s is %s", before ? before : "", before ? ", " : "",
                       td_event_type_get(kind)->name, missing ? "absent" : "reconstructed");
    free(before);
  }
  return reason;
}

uint32_t
td_check_find_unjudged(const td_tape_info *info, td_check_unjudged tell, void *data) {
  uint32_t n = 0;
  for (td_rule rule = 0; rule < TD_N_RULES; rule++) {
    char *reason = find_reason(info, rule);
    if (reason && tell) tell(rules[rule].name, reason, data);
    n += reason != NULL;
    free(reason);
  }
  return n;
}

static void
choose_rules(td_checker *checker, const td_tape_info *info) {
  for (td_rule rule = 0; rule < TD_N_RULES; rule++) {
    char *reason = find_reason(info, rule);
    checker->judged[rule] = !reason;
    free(reason);
  }
}

/* The format counts time forwards, so this holds a reader to its word. */
static void
check_clock(td_checker *checker, const td_event *event) {
  td_check_thread *thread = &checker->threads[event->thread];
  if (event->time < thread->last_ns)
    td_checker_violate(checker, TD_RULE_clock, TD_NONE, "thread %u goes back in time by %llu ns",
                       event->thread, (unsigned long long)(thread->last_ns - event->time));
  thread->last_ns = event->time;
}

/* Does the event say which queue and graph task it is about? A task without a node may have none.
 */
static bool
is_about_something(const td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    td_field_type field = type->fields[i].type;
    bool free_graph_task = event->event.kind == TD_EVENT_queue_pop;
    bool wanted = field == TD_FIELD_QUEUE || (field == TD_FIELD_GRAPH_TASK && !free_graph_task);
    if (wanted && td_event_field_get(&event->event, &type->fields[i]) == TD_NONE) return false;
  }
  return true;
}

static void
check_event(td_checker *checker, const td_any_event *event) {
  check_clock(checker, &event->event);
  if (!td_check_is_known(checker, event) || !is_about_something(event)) return;
  td_check_scheduling(checker, event);
  td_check_running(checker, event);
  td_check_finishing(checker, event);
}

/* What is lost cannot be checked, and makes the rest look wrong. */
static bool
is_whole(td_checker *checker, td_status read, const td_any_event *event) {
  if (read != TD_OK)
    td_checker_violate(checker, TD_RULE_complete, TD_NONE,
                       "cannot be read; the rest was not checked");
  else if (event->event.kind == TD_EVENT_dropped)
    td_checker_violate(checker, TD_RULE_complete, TD_NONE,
                       "%u events of thread %u are missing; the rest was not checked",
                       event->dropped.count, event->event.thread);
  return read == TD_OK && event->event.kind != TD_EVENT_dropped;
}

static void
check_left_over(td_checker *checker) {
  for (uint32_t i = 0; i < checker->catalog->n_queues; i++) {
    const td_check_queue *queue = &checker->queues[i];
    for (size_t at = 0; at < queue->tasks.n; at++) {
      td_check_entry left;
      if (!td_check_queue_at(queue, at, &left) || left.node == TD_NONE ||
          !td_tally_of(checker, left.graph_task)->ended_well)
        continue;
      checker->seq = left.seq;
      td_checker_violate(checker, TD_RULE_push_popped, left.node,
                         "enters queue %u and is never popped", i);
    }
  }
}

static void
check_end(td_checker *checker, const td_tape_info *info) {
  check_left_over(checker);
  td_check_graph_tasks_end(checker);
  checker->seq = info->n_events;
  if (info->damage)
    td_checker_violate(checker, TD_RULE_complete, TD_NONE, "the tape is damaged: %s", info->damage);
}

typedef struct checking {
  td_checker checker;
  td_tape *tape;
  bool is_whole; /* all events so far */
} checking;

static td_status
check_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  checking *self = data;
  td_checker *checker = &self->checker;
  const td_tape_info *info = td_tape_info_get(self->tape);
  if (!td_checker_go_on(checker, catalog))
    return td_error_set(error, TD_OUT_OF_MEMORY, "no memory to check the tape");
  for (checker->seq = first; checker->seq < end && self->is_whole; checker->seq++) {
    td_any_event event;
    td_status read = td_tape_get(self->tape, checker->seq, &event, NULL);
    self->is_whole = is_whole(checker, read, &event);
    if (self->is_whole) check_event(checker, &event);
  }
  if (self->is_whole && end == info->n_events) check_end(checker, info);
  return td_tape_check_readable(self->tape, error);
}

td_status
td_check_run(td_tape *tape, td_check_report report, void *data, uint64_t *n_violations,
             td_error *error) {
  checking self = {.checker = {.report = report, .data = data}, .tape = tape, .is_whole = true};
  choose_rules(&self.checker, td_tape_info_get(tape));
  td_status status = TD_OK;
  if (!td_id_rows_init(&self.checker.graph_tasks, NEAR_GRAPH_TASKS))
    status = td_error_set(error, TD_OUT_OF_MEMORY, "no memory to check the tape");
  uint64_t n_events = td_tape_info_get(tape)->n_events;
  if (!status) status = td_catalog_visit(tape, 0, n_events, check_segment, &self, error);
  *n_violations = self.checker.n_violations;
  td_checker_fini(&self.checker);
  return status;
}
