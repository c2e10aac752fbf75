/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/cause_words.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/sentence.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>

/* The line of a write, or NULL. */
static char *
place_of(td_tape *tape, const td_any_event *event) {
  if (event->event.kind != TD_EVENT_tensor_write) return NULL;
  char *place = td_source_place(td_tape_string(tape, event->tensor_write.stack));
  return place ? td_line_make(place, TD_NAME_SHOWN) : NULL;
}

char *
td_cause_words(const td_catalog *catalog, td_tape *tape, td_cause_known known, uint64_t cause) {
  td_any_event event;
  if (known == TD_CAUSE_impossible)
    return td_said(catalog, TD_SAY_cause_impossible, td_with_number("seq", cause));
  if (known != TD_CAUSE_found || td_tape_get(tape, cause, &event, NULL) != TD_OK)
    return td_dup_string("");
  char *what = td_why_describe(catalog, tape, &event), *place = place_of(tape, &event);
  char *text =
      td_said(catalog, place ? TD_SAY_cause_at : TD_SAY_cause, td_with_number("seq", cause),
              td_with_text("event", what), td_with_text("place", place));
  free(what);
  free(place);
  return text;
}
