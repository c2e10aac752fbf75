/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/describe.h"
#include "engine/profile/why/why.h"

#include <stdio.h>
#include <stdlib.h>

static const td_sentence reasons[TD_N_CONTRADICTIONS] = {
#define X(name) [TD_CONTRADICTION_##name] = TD_SAY_contradicts_##name,
    TD_CONTRADICTIONS(X)
#undef X
};

static char *
dup_reason(const td_catalog *catalog, const td_contradictions *contradictions) {
  const char *state = td_node_state_name((td_node_state)contradictions->state);
  return td_said(catalog, reasons[contradictions->why], td_with_text("state", td_translate(state)));
}

/* What the first event says, or NULL: its names may lie in another segment. */
static char *
dup_event(const td_catalog *catalog, td_tape *tape, uint64_t seq) {
  td_any_event event;
  bool is_there = td_catalog_event(catalog, tape, seq, &event, NULL) == TD_OK;
  return is_there && td_catalog_declares(catalog, &event.event)
             ? td_why_describe(catalog, tape, &event)
             : NULL;
}

char *
td_why_contradictions(const td_catalog *catalog, td_tape *tape,
                      const td_contradictions *contradictions) {
  if (!contradictions->n) return NULL;
  char *event = dup_event(catalog, tape, contradictions->first), *text = NULL;
  char *why = dup_reason(catalog, contradictions);
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  td_say(out, catalog, event ? TD_SAY_contradicts : TD_SAY_contradicts_alone,
         td_with_number("seq", contradictions->first), td_with_text("event", event),
         td_with_text("why", why));
  if (contradictions->n > 1)
    td_say(out, catalog, TD_SAY_contradicts_more, td_with_number("n", contradictions->n - 1));
  fclose(out);
  free(event);
  free(why);
  return text;
}
