/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/conflicts.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/sentence.h"

#include <stdlib.h>

bool
td_conflict_find_write(const td_catalog *catalog, td_tape *tape,
                       const td_event_version_conflict *conflict, td_event_tensor_write *write) {
  uint32_t n;
  const td_catalog_mention *mentions =
      td_catalog_mentions_of(catalog, TD_LIST_writes, conflict->counter, &n);
  td_any_event event;
  for (uint32_t i = 0; i < n; i++) {
    if (td_catalog_event(catalog, tape, mentions[i].seq, &event, NULL) != TD_OK) continue;
    if (event.tensor_write.version != conflict->saved + 1) continue;
    *write = event.tensor_write;
    return true;
  }
  return false;
}

static td_sentence
sentence_of(const td_event_tensor_write *write, bool has_place) {
  if (write->node == TD_NONE) return has_place ? TD_SAY_writer_at : TD_SAY_writer;
  return has_place ? TD_SAY_writer_of_at : TD_SAY_writer_of;
}

char *
td_conflict_meaning(const td_catalog *catalog, td_tape *tape,
                    const td_event_version_conflict *conflict) {
  td_event_tensor_write write;
  if (!td_conflict_find_write(catalog, tape, conflict, &write))
    return td_dup_string(td_sentence_text(TD_SAY_writer_unknown));
  char *operation = td_line_dup(td_tape_string(tape, write.operation), TD_TEXT_SHOWN);
  char *place = td_line_dup(td_tape_string(tape, write.stack), TD_TEXT_SHOWN);
  char *text = td_said(catalog, sentence_of(&write, *place), td_with_text("operation", operation),
                       td_with_node("node", write.node), td_with_text("place", place));
  free(operation);
  free(place);
  return text;
}
