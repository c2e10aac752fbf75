/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/conflicts.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/words.h"

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

static void
tell_versions(FILE *out, const td_catalog *catalog, td_tape *tape,
              const td_event_version_conflict *conflict) {
  td_event_tensor_write write;
  if (!td_conflict_find_write(catalog, tape, conflict, &write)) {
    fputs(td_translate("What wrote into it is not on the tape."), out);
    return;
  }
  td_words_text(out, td_tape_string(tape, write.operation));
  fputs(td_translate(" wrote into it after it was saved"), out);
  if (write.node != TD_NONE) {
    fputs(" (", out);
    td_words_node(out, catalog, write.node);
    putc(')', out);
  }
  const char *stack = td_tape_string(tape, write.stack);
  if (*stack) fputs(td_translate(", at "), out);
  td_words_text(out, stack);
  fputs(td_translate(": write before it is used, or into a clone."), out);
}

char *
td_conflict_meaning(const td_catalog *catalog, td_tape *tape, const td_any_event *event) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  if (event->event.kind == TD_EVENT_version_conflict)
    tell_versions(out, catalog, tape, &event->version_conflict);
  if (event->event.kind == TD_EVENT_stream_conflict)
    fprintf(
        out,
        td_translate(
            "Chance decides which of the two comes first. To order them, record an event on stream "
            "%d after its access, and let stream %d wait for that event."),
        event->stream_conflict.first_stream, event->stream_conflict.second_stream);
  fclose(out);
  return text;
}
