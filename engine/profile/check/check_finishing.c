/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/checker.h"

static void
check_new(td_checker *checker, const td_any_event *any) {
  const td_event_final_callback_new *event = &any->final_callback_new;
  td_check_callbacks_add(&td_tally_of(checker, event->graph_task)->callbacks, event->owner);
}

static void
check_call(td_checker *checker, const td_any_event *any) {
  const td_event_final_callback *event = &any->final_callback;
  td_tally *tally = td_tally_of(checker, event->graph_task);
  td_check_callbacks *callbacks = &tally->callbacks;
  size_t at = callbacks->n_called++;
  if (tally->failed)
    td_checker_violate(checker, TD_RULE_final_callbacks, TD_NONE,
                       "graph task %u calls a final callback but has failed", event->graph_task);
  if (at >= callbacks->n_queued)
    td_checker_violate(checker, TD_RULE_final_callbacks, TD_NONE,
                       "graph task %u calls a final callback that was never queued",
                       event->graph_task);
  else if (callbacks->owners[at] != event->owner)
    td_checker_violate(checker, TD_RULE_final_callbacks, TD_NONE,
                       "graph task %u calls a final callback before one that was queued earlier",
                       event->graph_task);
}

static void
check_node_begin(td_checker *checker, const td_any_event *any) {
  const td_event_node_begin *event = &any->node_begin;
  if (td_tally_of(checker, event->graph_task)->callbacks.n_called > 0)
    td_checker_violate(checker, TD_RULE_final_callbacks, event->node,
                       "begins after a final callback of graph task %u", event->graph_task);
}

static void
check_end(td_checker *checker, const td_any_event *any) {
  const td_event_graph_task_end *event = &any->graph_task_end;
  td_check_callbacks *callbacks = &td_tally_of(checker, event->graph_task)->callbacks;
  if (event->status == TD_task_status_ok && callbacks->n_called != callbacks->n_queued)
    td_checker_violate(checker, TD_RULE_final_callbacks, TD_NONE,
                       "graph task %u succeeds, but %zu final callbacks were queued and %zu called",
                       event->graph_task, callbacks->n_queued, callbacks->n_called);
  td_check_callbacks_fini(callbacks);
}

static void (*const checks[TD_EVENT_LIMIT])(td_checker *checker, const td_any_event *any) = {
    [TD_EVENT_final_callback_new] = check_new,
    [TD_EVENT_final_callback] = check_call,
    [TD_EVENT_node_begin] = check_node_begin,
    [TD_EVENT_graph_task_end] = check_end,
};

void
td_check_finishing(td_checker *checker, const td_any_event *event) {
  if (checks[event->event.kind]) checks[event->event.kind](checker, event);
}
