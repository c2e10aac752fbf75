/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/value_causes.h"

#include "engine/base/translate.h"

#include <string.h>

/* What a tensor that the node saved may show. */
enum { ALWAYS, ZERO, INFINITY_, UNIT, TWINS, SINGLE, EMPTY };

enum { KIND_nan = TD_anomaly_kind_nan, KIND_inf = TD_anomaly_kind_inf, KIND_any };

#define TEST_always ALWAYS
#define TEST_zero ZERO
#define TEST_infinity INFINITY_
#define TEST_unit UNIT
#define TEST_twins TWINS
#define TEST_single SINGLE
#define TEST_empty EMPTY

static const struct {
  const char *function;
  uint32_t born;
  int kind, test;
  const char *text;
} causes[] = {
#define TD_VALUE_CAUSE(function, born, kind, test, text)                                           \
  {function, TD_birthplace_##born, KIND_##kind, TEST_##test, text},
#include "engine/profile/why/value_causes.def"
#undef TD_VALUE_CAUSE
};

/* "SqrtBackward0" is the function "Sqrt". */
static bool
is_function(const char *name, const char *function) {
  size_t length = strlen(function);
  return strncmp(name, function, length) == 0 &&
         strncmp(name + length, "Backward", strlen("Backward")) == 0;
}

static uint64_t
n_results(const td_catalog *catalog, const td_catalog_node *facts) {
  const td_catalog_metadata *metadata = td_catalog_metadata_find(catalog, facts, 0);
  uint64_t n = 1;
  if (!metadata || *metadata->shape != '[') return 0;
  for (const char *at = metadata->shape + 1; *at && *at != ']'; at++) {
    uint64_t size = 0;
    if (*at < '0' || *at > '9') continue;
    for (; *at >= '0' && *at <= '9'; at++)
      size = 10 * size + (uint64_t)(*at - '0');
    n *= size;
    at--;
  }
  return n;
}

static bool
shows(const td_event_saved_numbers *saved, int test) {
  switch (test) {
  case ZERO:
    return saved->n_zero > 0;
  case INFINITY_:
    return saved->n_inf > 0;
  case UNIT:
    return saved->max == 1 || saved->min == -1;
  case TWINS:
    return saved->n_twins > 0;
  default:
    return true;
  }
}

/* Whether a saved tensor shows it, or for SINGLE, whether all have as many elements as there are
 * results: of a birth in the gradients, in the same pass. */
static bool
is_shown(const td_catalog *catalog, td_tape *tape, const td_event_anomaly *anomaly, int test) {
  uint32_t n, n_shown = 0, n_seen = 0;
  const td_catalog_mention *items =
      td_catalog_mentions_of(catalog, TD_LIST_numbers, anomaly->node, &n);
  uint64_t n_expected = n_results(catalog, td_catalog_node_get(catalog, anomaly->node));
  td_any_event event;
  for (uint32_t i = 0; i < n; i++) {
    const td_event_saved_numbers *saved = &event.saved_numbers;
    if (td_tape_get(tape, items[i].seq, &event, NULL) != TD_OK ||
        event.event.kind != TD_EVENT_saved_numbers || saved->graph_task != anomaly->graph_task)
      continue;
    n_seen++;
    n_shown += test == SINGLE ? saved->n_elements == n_expected : shows(saved, test);
  }
  return test == SINGLE ? n_seen > 0 && n_shown == n_seen : n_shown > 0;
}

/* What made the first operand gave it a shape such as [0] or [0, 4]. */
static bool
is_empty(const td_catalog *catalog, const td_catalog_node *facts) {
  const td_catalog_edge *edge = facts->n_out ? &catalog->edges[facts->first_out] : NULL;
  const td_catalog_node *made =
      edge && edge->output_nr == 0 ? td_catalog_node_find(catalog, edge->to) : NULL;
  const td_catalog_metadata *metadata =
      made ? td_catalog_metadata_find(catalog, made, edge->input_nr) : NULL;
  return metadata && (strstr(metadata->shape, "[0") || strstr(metadata->shape, " 0"));
}

const char *
td_value_cause(const td_catalog *catalog, td_tape *tape, const td_event_anomaly *anomaly) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, anomaly->node);
  if (!facts) return NULL;
  for (size_t i = 0; i < TD_N_ELEMENTS(causes); i++) {
    bool fits = causes[i].born == anomaly->born && is_function(facts->name, causes[i].function) &&
                (causes[i].kind == KIND_any || causes[i].kind == (int)anomaly->kind);
    if (fits && causes[i].test == EMPTY && is_empty(catalog, facts)) return causes[i].text;
    if (causes[i].test == EMPTY) continue;
    if (fits && (causes[i].test == ALWAYS || is_shown(catalog, tape, anomaly, causes[i].test)))
      return causes[i].text;
  }
  return NULL;
}
