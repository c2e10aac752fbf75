/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/problems.h"

#include "ui/model/document_part.h"

const td_catalog_mention *
td_document_get_problems(TdDocument *self, size_t *n) {
  const td_catalog *catalog = td_document_get_whole(self);
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  *n = problems->n;
  return problems->items;
}

gboolean
td_document_find_anomaly(TdDocument *self, uint32_t node, uint32_t nth, td_event_anomaly *out) {
  size_t n;
  td_replay *replay = td_document_get_replay(self);
  const td_catalog_mention *problems = td_document_get_problems(self, &n);
  td_any_event event;
  td_tape *tape;
  for (size_t i = 0; i < n; i++) {
    const td_catalog_mention *problem = &problems[i];
    if (problem->seq >= td_replay_position(replay)) return FALSE;
    if (problem->kind != TD_EVENT_anomaly || problem->node != node || nth-- > 0) continue;
    if (!td_document_read_event(self, problem->seq, &event, &tape, NULL)) return FALSE;
    *out = event.anomaly;
    return TRUE;
  }
  return FALSE;
}
