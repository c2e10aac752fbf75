/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Passes that a flight recorder has cut in two]
 * The keeper of a flight recorder lets go of what is old. If it finds no moment outside all passes,
 * it cuts through them. Then the tape lacks the begin of these passes, the tasks that were in the
 * queues, and what each thread was about to do. So no rule is judged
 *
 * - for a pass whose begin is not there;
 * - for what a thread does outside known passes, before it begins one or pops a task of one;
 * - for the length of a queue, until it has once been as long as the known tasks make it. */
#include "engine/profile/check/checker.h"

static void
begin_in_the_middle(td_checker *checker) {
  checker->is_kept = true;
  for (uint32_t i = 0; i < checker->n_threads; i++)
    checker->threads[i].is_inside = true;
  for (uint32_t i = 0; i < checker->n_queues; i++)
    checker->queues[i].has_unknown = true;
}

bool
td_check_is_known(td_checker *checker, const td_any_event *event) {
  td_check_thread *thread = &checker->threads[event->event.thread];
  uint16_t kind = event->event.kind;
  if (kind == TD_EVENT_left_out && event->left_out.passes > 0 && checker->n_tallies == 0)
    begin_in_the_middle(checker);
  bool begins = kind == TD_EVENT_graph_task_begin;
  if (begins) td_tally_of(checker, event->graph_task_begin.graph_task)->has_begun = true;
  if (!checker->is_kept) return true;
  uint32_t graph_task = td_event_graph_task(&event->event);
  if (graph_task == TD_NONE) return !thread->is_inside;
  bool is_known = td_tally_of(checker, graph_task)->has_begun;
  if (is_known && (begins || kind == TD_EVENT_queue_pop)) thread->is_inside = false;
  return is_known;
}
