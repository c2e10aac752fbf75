/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chosen.h"

bool
td_chosen_is_for(const td_event_task_chosen *event, const td_event_queue_pop *pop) {
  return event->event.kind == TD_EVENT_task_chosen && event->event.thread == pop->event.thread &&
         event->queue == pop->queue && event->node == pop->node &&
         event->graph_task == pop->graph_task && event->node != TD_NONE;
}

bool
td_chosen_find(td_replay *replay, uint64_t seq, const td_event_queue_pop *pop, td_chooser *by) {
  td_any_event before;
  if (seq == 0 || td_replay_event(replay, seq - 1, &before, NULL)) return false;
  if (!td_chosen_is_for(&before.task_chosen, pop)) return false;
  *by = before.task_chosen.by;
  return true;
}
