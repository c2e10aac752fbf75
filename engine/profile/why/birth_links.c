/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/birth_links.h"

#include "engine/base/alloc.h"
#include "engine/profile/why/cause_words.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>

/* " Event 12 may have led to it: ...", or "". */
static char *
cause_of(const td_catalog *catalog, td_tape *tape, uint64_t seq, const td_event_anomaly *anomaly) {
  uint64_t cause = 0;
  bool is_found = td_cause_find(catalog, tape, seq, anomaly, &cause);
  char *words = td_cause_words(catalog, tape, is_found ? TD_CAUSE_found : TD_CAUSE_none, cause);
  char *text = *words ? td_format(" %s.", words) : td_dup_string("");
  free(words);
  return text;
}

/* Who looks for a NaN in the gradients meets one of the forward pass first: " In the gradients, the
 * first NaN is event 117: ...", or "". */
static char *
rest_of(const td_catalog *catalog, td_tape *tape, uint64_t seq, const td_event_anomaly *anomaly) {
  uint64_t birth;
  bool led;
  td_any_event event;
  if (!td_cause_of_forward(anomaly)) return td_dup_string("");
  if (!td_cause_find_in_gradients(catalog, tape, seq, &birth, &led) ||
      td_catalog_event(catalog, tape, birth, &event, NULL) != TD_OK)
    return td_dup_string(" No NaN was born in the gradients after it.");
  char *what = td_why_describe(catalog, tape, &event);
  char *text = td_format(" In the gradients, the first NaN is event %llu: %s. %s",
                         (unsigned long long)birth, what,
                         led ? "This one may have led to it."
                             : "No path leads there from this one: it has a cause of its own.");
  free(what);
  return text;
}

char *
td_birth_links(const td_catalog *catalog, td_tape *tape, uint64_t seq,
               const td_event_anomaly *anomaly) {
  char *cause = cause_of(catalog, tape, seq, anomaly), *rest = rest_of(catalog, tape, seq, anomaly);
  char *text = td_format("%s%s", cause, rest);
  free(cause);
  free(rest);
  return text;
}
