/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/birth_links.h"

#include "engine/base/alloc.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/cause_words.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>

static void
say_cause(FILE *out, const td_catalog *catalog, td_tape *tape, uint64_t seq,
          const td_event_anomaly *anomaly) {
  uint64_t cause = 0;
  bool is_found = td_cause_find(catalog, tape, seq, anomaly, &cause);
  char *words = td_cause_words(catalog, tape, is_found ? TD_CAUSE_found : TD_CAUSE_none, cause);
  if (*words) td_say(out, catalog, TD_SAY_stop, td_with_text("clause", words));
  free(words);
}

char *
td_birth_first_gradient(const td_catalog *catalog, td_tape *tape, uint64_t seq) {
  uint64_t carried;
  uint32_t pass;
  td_any_event event;
  bool is_found = td_cause_find_carried(catalog, tape, seq, &carried, &pass);
  bool is_rest = catalog->segment.end < td_tape_info_get(tape)->n_events;
  if (pass == TD_NONE)
    return td_dup_string(is_rest ? td_sentence_text(TD_SAY_nan_in_later_part) : "");
  if (!is_found) return td_said(catalog, TD_SAY_no_nan_in_pass, td_with_pass("pass", pass));
  if (td_catalog_event(catalog, tape, carried, &event, NULL) != TD_OK) return td_dup_string("");
  return td_said(catalog, TD_SAY_first_nan_in_pass, td_with_number("seq", carried),
                 td_with_pass("pass", pass), td_with_node("from", event.carried.from),
                 td_with_node("to", event.carried.node));
}

/* Who looks for a NaN in the gradients meets one of the forward pass first. */
static void
say_rest(FILE *out, const td_catalog *catalog, td_tape *tape, uint64_t seq,
         const td_event_anomaly *anomaly) {
  uint64_t birth;
  bool led;
  td_any_event event;
  if (!td_cause_of_forward(anomaly)) return;
  if (td_cause_knows_edges(catalog)) {
    td_say_text(out, td_birth_first_gradient(catalog, tape, seq));
    return;
  }
  if (!td_cause_find_in_gradients(catalog, tape, seq, &birth, &led) ||
      td_catalog_event(catalog, tape, birth, &event, NULL) != TD_OK)
    return;
  char *what = td_why_describe(catalog, tape, &event);
  td_say(out, catalog, led ? TD_SAY_birth_after_led : TD_SAY_birth_after_own,
         td_with_number("seq", birth), td_with_text("event", what));
  free(what);
}

void
td_birth_links_say(FILE *out, const td_catalog *catalog, td_tape *tape, uint64_t seq,
                   const td_event_anomaly *anomaly) {
  say_cause(out, catalog, tape, seq, anomaly);
  say_rest(out, catalog, tape, seq, anomaly);
}
