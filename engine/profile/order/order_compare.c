/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order_compare.h"

#include "engine/base/alloc.h"
#include "engine/profile/order/order_predict.h"
#include "engine/profile/words.h"

typedef struct comparing {
  const td_logged_pass *logged;
  const td_order_log *log;
  const td_catalog *catalog;
  td_order_pass *pass;
  uint32_t *places;    /* (owned) as predicted */
  uint32_t *next;      /* (owned) by the number in the prediction: the next one of that queue */
  td_number_map lanes; /* by queue: 1 + the number of the node that it should yield next */
} comparing;

static const td_order_step *
pop_at(const comparing *self, uint32_t i) {
  return td_order_log_step(self->log, self->logged->pops[i]);
}

static const td_graph_node *
predicted_at(const comparing *self, uint32_t i) {
  return &self->logged->graph.nodes[self->places[i]];
}

static void
list_lanes(comparing *self) {
  self->next = TD_NEW_N(uint32_t, self->pass->n_predicted);
  for (uint32_t i = self->pass->n_predicted; i-- > 0;) {
    uint64_t *first = td_number_map_put(&self->lanes, predicted_at(self, i)->queue);
    self->next[i] = (uint32_t)*first;
    *first = 1 + (uint64_t)i;
  }
}

/* Whether a pop is the one that its queue should make. *expected: the place of that node. */
static bool
is_expected(comparing *self, const td_order_step *pop, uint32_t *expected) {
  uint64_t *lane = td_number_map_put(&self->lanes, pop->queue);
  *expected = *lane ? self->places[*lane - 1] : TD_NONE;
  if (*expected != td_pass_graph_find(&self->logged->graph, pop->graph_task, pop->node))
    return false;
  if (*expected == TD_NONE) return false;
  *lane = self->next[*lane - 1];
  return true;
}

/* ---- names ---- */

static char *
name_of(const td_catalog *catalog, uint32_t node, uint32_t queue) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  if (queue != TD_NONE)
    td_words_queue(out, catalog, queue);
  else
    td_words_node(out, catalog, node);
  fclose(out);
  return text;
}

static void
name(const comparing *self, td_order_divergence *divergence) {
  if (divergence->predicted != TD_NONE)
    divergence->predicted_name = name_of(self->catalog, divergence->predicted, TD_NONE);
  if (divergence->popped != TD_NONE)
    divergence->popped_name = name_of(self->catalog, divergence->popped, TD_NONE);
  if (divergence->queue != TD_NONE)
    divergence->queue_name = name_of(self->catalog, TD_NONE, divergence->queue);
}

/* ---- divergences ---- */

static void
explain(const comparing *self, uint32_t i, uint32_t expected, td_order_eyes *eyes) {
  td_order_divergence *divergence = &self->pass->divergence;
  size_t since = self->logged->since, n = self->logged->pops[i] - since;
  if (n > eyes->steps_left) {
    divergence->text = td_dup_string("Too many passes of this tape overlap to tell.");
    return;
  }
  eyes->steps_left -= n;
  td_scene scene;
  td_scene_make(&scene, &self->logged->graph, n ? td_order_log_step(self->log, since) : NULL, n);
  const td_order_question question = {.graph = &self->logged->graph,
                                      .catalog = self->catalog,
                                      .scene = &scene,
                                      .pop = pop_at(self, i),
                                      .expected = expected,
                                      .blind = eyes->blind};
  divergence->cause = td_order_explain(&question, &divergence->text);
  td_scene_fini(&scene);
}

static void
note_divergence(const comparing *self, uint32_t i, uint32_t expected, td_order_eyes *eyes) {
  const td_order_step *pop = pop_at(self, i);
  const td_pass_graph *graph = &self->logged->graph;
  self->pass->is_equal = false;
  self->pass->divergence = (td_order_divergence){
      .seq = pop->seq,
      .position = i,
      .queue = pop->queue,
      .thread = pop->thread,
      .predicted = expected == TD_NONE ? TD_NONE : graph->nodes[expected].node,
      .popped = pop->node};
  if (!eyes) return;
  name(self, &self->pass->divergence);
  explain(self, i, expected, eyes);
}

/* A pass that ended well without a node that was predicted. */
static void
note_missing(comparing *self, const td_order_eyes *eyes) {
  td_order_divergence *divergence = &self->pass->divergence;
  uint32_t first = UINT32_MAX;
  for (uint32_t i = 0; i < self->lanes.n; i++)
    if (self->lanes.entries[i].value)
      first = TD_MIN(first, (uint32_t)self->lanes.entries[i].value - 1);
  self->pass->is_equal = false;
  *divergence = (td_order_divergence){.seq = UINT64_MAX,
                                      .position = self->pass->n_popped,
                                      .queue = TD_NONE,
                                      .thread = TD_NONE,
                                      .predicted = predicted_at(self, first)->node,
                                      .popped = TD_NONE};
  if (!eyes) return;
  name(self, divergence);
  divergence->text = td_format("The pass ended well without it. %s.",
                               eyes->blind ? eyes->blind : "The tape does not tell why");
}

static void
compare(comparing *self, td_order_eyes *eyes) {
  td_order_pass *pass = self->pass;
  uint32_t expected;
  pass->is_equal = true;
  for (uint32_t i = 0; i < pass->n_popped; i++) {
    if (is_expected(self, pop_at(self, i), &expected)) continue;
    note_divergence(self, i, expected, eyes);
    return;
  }
  bool ended_well = pass->status == TD_task_status_ok && !self->logged->has_failed;
  if (ended_well && pass->n_popped < pass->n_predicted) note_missing(self, eyes);
}

static void
list_nodes(const comparing *self) {
  td_order_pass *pass = self->pass;
  pass->popped = TD_NEW_N(uint32_t, pass->n_popped);
  pass->predicted = TD_NEW_N(uint32_t, pass->n_predicted);
  for (uint32_t i = 0; i < pass->n_popped; i++)
    pass->popped[i] = pop_at(self, i)->node;
  for (uint32_t i = 0; i < pass->n_predicted; i++)
    pass->predicted[i] = predicted_at(self, i)->node;
}

void
td_order_compare(const td_logged_pass *logged, const td_order_log *log, const td_catalog *catalog,
                 td_order_eyes *eyes, td_order_pass *pass) {
  comparing self = {.logged = logged, .log = log, .catalog = catalog, .pass = pass};
  self.places = td_order_predict(&logged->graph, catalog, &pass->n_predicted);
  pass->n_popped = logged->n_pops;
  list_lanes(&self);
  compare(&self, eyes);
  list_nodes(&self);
  free(self.places);
  free(self.next);
  td_number_map_fini(&self.lanes);
}

void
td_order_divergence_fini(td_order_divergence *divergence) {
  free(divergence->predicted_name);
  free(divergence->popped_name);
  free(divergence->queue_name);
  free(divergence->text);
}
