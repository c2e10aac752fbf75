/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/ranks/late_rank.h"

#include "engine/replay/catalog_visit.h"

#include <stdlib.h>

typedef struct looking {
  td_tape *tape;
  td_late_rank *late;
} looking;

static void
event_cb(const td_catalog *so_far, const td_any_event *event, uint64_t seq, void *data) {
  looking *self = data;
  td_lateness_take(&self->late->lateness, self->tape, so_far, event, seq);
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  td_late_rank *late = ((looking *)data)->late;
  free(late->rank);
  free(late->text);
  late->rank = late->text = NULL;
  late->is_found = td_lateness_find(&late->lateness, &late->late);
  if (!late->is_found) return TD_OK;
  late->rank = td_catalog_process_label(catalog, late->late.process);
  late->text = td_late_text(&late->late, catalog);
  return TD_OK;
}

td_status
td_late_rank_make(td_tape *tape, td_late_rank *late, td_error *error) {
  looking self = {tape, late};
  td_catalog_along along = {.listener = event_cb, .data = &self};
  *late = (td_late_rank){0};
  return td_catalog_visit_along(tape, &along, visit_segment, error);
}

void
td_late_rank_fini(td_late_rank *late) {
  td_lateness_fini(&late->lateness);
  free(late->rank);
  free(late->text);
  *late = (td_late_rank){0};
}
