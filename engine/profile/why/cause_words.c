/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/cause_words.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>

/* ", at net.py:9" of a write, or "". */
static char *
place_of(td_tape *tape, const td_any_event *event) {
  if (event->event.kind != TD_EVENT_tensor_write) return td_dup_string("");
  char *place = td_source_place(td_tape_string(tape, event->tensor_write.stack));
  char *line = place ? td_line_dup(place, TD_NAME_SHOWN) : NULL;
  char *text = line ? td_format(td_translate(", at %s"), line) : td_dup_string("");
  free(place);
  free(line);
  return text;
}

char *
td_cause_words(const td_catalog *catalog, td_tape *tape, td_cause_known known, uint64_t cause) {
  td_any_event event;
  if (known == TD_CAUSE_impossible)
    return td_format(td_translate("The tape says that event %llu led to it. That cannot be."),
                     (unsigned long long)cause);
  if (known != TD_CAUSE_found || td_tape_get(tape, cause, &event, NULL) != TD_OK)
    return td_dup_string("");
  char *what = td_why_describe(catalog, tape, &event), *place = place_of(tape, &event);
  char *text = td_format(td_translate("Event %llu may have led to it: %s%s"),
                         (unsigned long long)cause, what, place);
  free(what);
  free(place);
  return text;
}
