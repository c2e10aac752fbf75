/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/problems.h"

const td_catalog_mention *
td_document_get_problems(TdDocument *self, size_t *n) {
  const td_catalog *catalog = td_document_get_catalog(self);
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
  for (size_t i = 0; i < n; i++) {
    const td_catalog_mention *problem = &problems[i];
    if (problem->seq >= td_replay_position(replay)) return FALSE;
    if (problem->kind != TD_EVENT_anomaly || problem->node != node || nth-- > 0) continue;
    if (td_replay_event(replay, problem->seq, &event, NULL) != TD_OK) return FALSE;
    *out = event.anomaly;
    return TRUE;
  }
  return FALSE;
}
