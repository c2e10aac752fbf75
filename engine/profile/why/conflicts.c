/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/conflicts.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/sentence.h"
#include "engine/profile/source_place.h"

#include <stdlib.h>
#include <string.h>

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
sentence_of(const td_event_tensor_write *write, bool has_place, const char *stack) {
  if (has_place && strstr(stack, "torch/optim/")) return TD_SAY_writer_step_at;
  if (write->node == TD_NONE) return has_place ? TD_SAY_writer_at : TD_SAY_writer;
  return has_place ? TD_SAY_writer_of_at : TD_SAY_writer_of;
}

static char *
dup_writer(const td_catalog *catalog, td_tape *tape, const td_event_tensor_write *write) {
  char *operation = td_line_dup(td_tape_string(tape, write->operation), TD_TEXT_SHOWN);
  const char *stack = td_tape_string(tape, write->stack);
  char *own = td_source_place(stack);
  char *place = td_line_dup(own ? own : "", TD_TEXT_SHOWN);
  char *text =
      td_said(catalog, sentence_of(write, *place, stack), td_with_text("operation", operation),
              td_with_node("node", write->node), td_with_text("place", place));
  free(operation);
  free(own);
  free(place);
  return text;
}

/* Which of the saved tensors it is, or NULL. */
static char *
dup_what(const td_catalog *catalog, td_tape *tape, const td_event_version_conflict *conflict) {
  uint32_t n;
  const td_catalog_mention *items =
      td_catalog_mentions_of(catalog, TD_LIST_saved, conflict->node, &n);
  td_any_event event;
  for (uint32_t i = 0; i < n; i++) {
    if (td_tape_get(tape, items[i].seq, &event, NULL) != TD_OK ||
        event.event.kind != TD_EVENT_saved_tensor || !event.saved_tensor.shape ||
        event.saved_tensor.number != conflict->number)
      continue;
    return td_said(catalog, TD_SAY_conflict_what, td_with_number("number", conflict->number),
                   td_with_text("dtype", td_tape_string(tape, event.saved_tensor.dtype)),
                   td_with_text("shape", td_tape_string(tape, event.saved_tensor.shape)));
  }
  return NULL;
}

char *
td_conflict_meaning(const td_catalog *catalog, td_tape *tape,
                    const td_event_version_conflict *conflict) {
  td_event_tensor_write write;
  char *what = dup_what(catalog, tape, conflict);
  char *writer = td_conflict_find_write(catalog, tape, conflict, &write)
                     ? dup_writer(catalog, tape, &write)
                     : td_dup_string(td_sentence_text(TD_SAY_writer_unknown));
  if (!what) return writer;
  char *text =
      td_said(catalog, TD_SAY_then, td_with_text("text", what), td_with_text("sentence", writer));
  free(what);
  free(writer);
  return text;
}
