/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_roots.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>

#define FORGOTTEN_TOGETHER 256u /* entries of a map, at least */

static void
forget_some(td_number_map *map, uint32_t *forgotten_at) {
  if (map->n < *forgotten_at) return;
  td_number_map_forget_zeros(map);
  *forgotten_at = TD_MAX(2 * map->n, FORGOTTEN_TOGETHER);
}

void
td_find_roots_make(td_find_roots *self, const td_event_node_new *event) {
  forget_some(&self->made, &self->made_forgotten_at);
  *td_number_map_put(&self->made, event->node) = (uint64_t)event->name << 32 | event->stack;
}

void
td_find_roots_free_node(td_find_roots *self, uint32_t node) {
  uint64_t *made = td_number_map_find(&self->made, node);
  if (made) *made = 0;
}

void
td_find_roots_begin_pass(td_find_roots *self, const td_event_graph_task_begin *event) {
  if (event->depth) return;
  const uint64_t *made = td_number_map_find(&self->made, event->root);
  uint64_t *number = td_number_map_put(&self->numbers, made ? *made : 0);
  if (!*number) {
    TD_GROW(self->items, self->n, self->capacity);
    self->items[self->n++] = (td_root_history){.node = TD_NONE};
    *number = self->n;
  }
  td_root_history *item = &self->items[*number - 1];
  item->n_passes++;
  item->is_bad = item->is_nan = false;
  forget_some(&self->passes, &self->passes_forgotten_at);
  *td_number_map_put(&self->passes, event->graph_task) = *number;
}

void
td_find_roots_look(td_find_roots *self, const td_event_root_look *event, uint64_t seq) {
  const uint64_t *number = td_number_map_find(&self->passes, event->graph_task);
  td_root_history *item = number && *number ? &self->items[*number - 1] : NULL;
  if (!item) return;
  item->was_nan |= event->what == TD_leaf_sight_nan;
  if (event->what == TD_leaf_sight_nan && !item->is_nan) item->n_nan++;
  item->is_nan |= event->what == TD_leaf_sight_nan;
  if (item->is_bad) return; /* another root of the same pass */
  item->is_bad = true;
  if (item->n_bad++) return;
  item->node = event->node;
  item->seq = seq;
}

/* Who leaves such a step out knows of the value. */
void
td_find_roots_step(td_find_roots *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    self->items[i].n_stepped += self->items[i].is_nan;
    self->items[i].is_nan = false;
  }
}

void
td_find_roots_end_pass(td_find_roots *self, uint32_t graph_task) {
  uint64_t *number = td_number_map_find(&self->passes, graph_task);
  if (number) *number = 0;
}

void
td_find_roots_learn(td_find_roots *self, const td_catalog *catalog) {
  for (uint32_t i = 0; i < self->n; i++) {
    td_root_history *item = &self->items[i];
    const td_catalog_node *facts =
        item->n_bad && !item->name ? td_catalog_node_find(catalog, item->node) : NULL;
    if (!facts) continue;
    item->name = td_why_name_node_of(facts);
    item->line = td_finding_line(facts);
  }
}

static bool
is_told(const td_root_history *item) {
  return item->is_bad || item->n_stepped > 0;
}

bool
td_find_roots_has_bad(const td_find_roots *self) {
  for (uint32_t i = 0; i < self->n; i++)
    if (is_told(&self->items[i])) return true;
  return false;
}

static char *
dup_text(const td_root_history *item) {
  const char *value = item->was_nan ? "NaN" : "Inf", *name = item->name ? item->name : "";
  if (item->n_passes == 1)
    return td_format(td_translate("The loss was %s: a backward pass began at %s with this value."),
                     value, name);
  uint32_t n_inf = item->n_bad - item->n_nan;
  if (item->is_bad && item->n_nan && n_inf)
    return td_format(td_translate("The loss was NaN in %u and Inf in %u of %u passes that began in "
                                  "this place, the last one among them. The first of them began at "
                                  "%s."),
                     item->n_nan, n_inf, item->n_passes, name);
  if (!item->is_bad)
    return td_format(
        td_translate("The loss was NaN in %u of %u passes that began in this place, and an "
                     "optimizer made a step after it. The first of them began at %s. The last pass "
                     "began at a finite value."),
        item->n_stepped, item->n_passes, name);
  return td_format(td_translate("The loss was %s in %u of %u passes that began in this place, the "
                                "last one among them. The first of them began at %s."),
                   value, item->n_bad, item->n_passes, name);
}

static char *
dup_advice(const char *leaves) {
  const char *where = td_translate("Where the value was born is not known: tapedeck record "
                                   "--anomaly nonfinite finds the place.");
  if (!leaves) return td_dup_string(where);
  return td_format(td_translate("The last gradient of %s is not finite either. %s"), leaves, where);
}

void
td_find_roots_tell(const td_find_roots *self, const char *leaves, td_findings *findings) {
  for (uint32_t i = 0; i < self->n; i++) {
    const td_root_history *item = &self->items[i];
    if (!is_told(item)) continue;
    td_findings_add(findings, (td_finding){.kind = TD_FINDING_loss_nonfinite,
                                           .seq = item->seq,
                                           .node = item->node,
                                           .n = 1,
                                           .text = dup_text(item),
                                           .advice = dup_advice(leaves),
                                           .line = item->line ? td_dup_string(item->line) : NULL});
  }
}

void
td_find_roots_fini(td_find_roots *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    free(self->items[i].name);
    free(self->items[i].line);
  }
  free(self->items);
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->made);
  td_number_map_fini(&self->passes);
  *self = (td_find_roots){0};
}
