/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/causes.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdlib.h>
#include <string.h>

/* So many nodes are looked at for one cause. */
#define NODES_MAX 20000

/* So many pairs of nodes are kept. */
#define CARRIED_MAX 1000000

void
td_births_add(td_births *self, uint64_t seq, const td_event_anomaly *event) {
  TD_GROW(self->items, self->n, self->capacity);
  self->items[self->n++] = (td_birth_at){seq, *event};
}

const td_birth_at *
td_births_find(const td_births *self, uint64_t seq) {
  for (size_t i = self->n; i > 0; i--)
    if (self->items[i - 1].seq == seq) return &self->items[i - 1];
  return NULL;
}

bool
td_birth_of(const td_any_event *event, td_event_anomaly *birth) {
  if (event->event.kind == TD_EVENT_anomaly) *birth = event->anomaly;
  if (event->event.kind == TD_EVENT_absorbed)
    *birth = (td_event_anomaly){.event = event->event,
                                .kind = TD_anomaly_kind_inf,
                                .born = event->absorbed.born,
                                .node = event->absorbed.node,
                                .graph_task = TD_NONE,
                                .number = event->absorbed.number,
                                .from = TD_NONE,
                                .other = TD_NONE};
  return event->event.kind == TD_EVENT_anomaly || event->event.kind == TD_EVENT_absorbed;
}

static uint64_t
pair_of(uint32_t from, uint32_t to) {
  return (uint64_t)from << 32 | to;
}

void
td_births_add_carried(td_births *self, const td_event_carried *event) {
  self->has_carried_enough |= self->carried.n >= CARRIED_MAX;
  if (!self->has_carried_enough)
    *td_number_map_put(&self->carried, pair_of(event->from, event->node)) = 1;
}

bool
td_cause_knows_edges(const td_catalog *catalog) {
  return *td_catalog_setting_find(catalog, "carried") != 0;
}

bool
td_cause_knows_fates(const td_catalog *catalog) {
  return td_cause_knows_edges(catalog) && !*td_catalog_setting_find(catalog, "births");
}

void
td_births_fini(td_births *self) {
  free(self->items);
  td_number_map_fini(&self->carried);
  *self = (td_births){0};
}

/* A search through the graph, breadth first. */
typedef struct search {
  const td_catalog *catalog;
  td_tape *tape;
  const td_births *among; /* the births to look at; NULL: those of the catalog */
  uint64_t seq;
  const td_event_anomaly *anomaly;
  bool forward;      /* along the edges: what the forward pass did before */
  bool of_gradients; /* births of the forward pass do not count */
  bool goes_on;      /* what leaves had before counts too */
  bool follows;      /* only edges that are known to have carried such a value */
  uint32_t *nodes;   /* (owned) [NODES_MAX] found so far */
  uint32_t n;
  unsigned char *seen;  /* (owned) [n_nodes] by row */
  td_number_map births; /* by node: 1 + the latest birth there that can be the cause */
} search;

static bool
is_of_forward(uint32_t born) {
  return born == TD_birthplace_forward || born == TD_birthplace_data ||
         born == TD_birthplace_parameter;
}

bool
td_cause_of_forward(const td_event_anomaly *anomaly) {
  return is_of_forward(anomaly->born);
}

/* A gradient that was stored leads to a parameter. An Inf leads to a NaN. A NaN of the forward pass
 * leads to one of the backward pass. Nothing of the backward pass leads to one of the forward pass.
 */
bool
td_cause_can_lead(const td_event_anomaly *later, const td_event_anomaly *earlier) {
  if (later->born == TD_birthplace_parameter) return earlier->born != TD_birthplace_parameter;
  bool crosses = is_of_forward(earlier->born) && !is_of_forward(later->born);
  bool goes_back = !is_of_forward(earlier->born) && is_of_forward(later->born);
  return later->kind == TD_anomaly_kind_nan && !goes_back &&
         (earlier->kind == TD_anomaly_kind_inf || crosses);
}

static bool
can_lead(const search *self, const td_event_anomaly *earlier) {
  if (self->of_gradients && is_of_forward(earlier->born)) return false;
  if (self->anomaly->born == TD_birthplace_parameter)
    return self->goes_on || td_cause_can_lead(self->anomaly, earlier);
  return is_of_forward(earlier->born) == self->forward && td_cause_can_lead(self->anomaly, earlier);
}

static void
note_birth(search *self, const td_event_anomaly *event, uint64_t seq) {
  if (can_lead(self, event)) *td_number_map_put(&self->births, event->node) = seq + 1;
}

static void
note_births_of(search *self, td_event_list list) {
  const td_catalog_mentions *items = &self->catalog->mentions[list];
  td_any_event event;
  td_event_anomaly birth;
  for (uint32_t i = 0; i < items->n; i++) {
    const td_catalog_mention *item = &items->items[i];
    bool is_earlier = item->seq < self->seq;
    if (is_earlier && (item->kind == TD_EVENT_anomaly || item->kind == TD_EVENT_absorbed) &&
        td_catalog_event(self->catalog, self->tape, item->seq, &event, NULL) == TD_OK &&
        td_birth_of(&event, &birth))
      note_birth(self, &birth, item->seq);
  }
}

static void
note_births_on_tape(search *self) {
  note_births_of(self, TD_LIST_absorbed);
  note_births_of(self, TD_LIST_problems);
}

/* Notes the latest birth at each node before the event; of a forward pass, any but the event. */
static void
note_births(search *self) {
  const td_births *among = self->among;
  td_number_map_fini(&self->births);
  if (!among) note_births_on_tape(self);
  for (size_t i = 0; among && i < among->n; i++)
    if (among->items[i].seq < self->seq)
      note_birth(self, &among->items[i].event, among->items[i].seq);
}

static bool
find_birth(const search *self, uint32_t node, uint64_t *cause) {
  const uint64_t *birth = td_number_map_find(&self->births, node);
  if (birth) *cause = *birth - 1;
  return birth != NULL;
}

static void
add(search *self, uint32_t node) {
  uint32_t row = td_catalog_node_row(self->catalog, node);
  if (row == TD_NO_ROW || self->seen[row] || self->n == NODES_MAX) return;
  self->seen[row] = 1;
  self->nodes[self->n++] = node;
}

/* Whether the tape has an event that says so. */
static bool
tells_carried(const search *self, uint32_t from, uint32_t to) {
  uint32_t n;
  const td_catalog_mention *items = td_catalog_mentions_of(self->catalog, TD_LIST_carried, to, &n);
  td_any_event event;
  for (uint32_t i = 0; i < n && items[i].seq < self->seq; i++)
    if (td_tape_get(self->tape, items[i].seq, &event, NULL) == TD_OK &&
        event.event.kind == TD_EVENT_carried && event.carried.from == from)
      return true;
  return false;
}

static bool
was_carried(const search *self, uint32_t from, uint32_t to) {
  if (!self->follows) return true;
  return self->among ? td_number_map_find(&self->among->carried, pair_of(from, to)) != NULL
                     : tells_carried(self, from, to);
}

/* A gradient came from `other`; or in the forward pass, a value. */
static void
add_if_carried(search *self, uint32_t node, uint32_t other) {
  if (was_carried(self, other, node)) add(self, other);
}

static void
add_neighbours(search *self, uint32_t node) {
  const td_catalog *catalog = self->catalog;
  const td_catalog_node *facts = td_catalog_node_get(catalog, node);
  for (uint32_t i = 0; self->forward && i < facts->n_out; i++)
    add_if_carried(self, node, catalog->edges[facts->first_out + i].to);
  for (uint32_t i = 0; !self->forward && i < facts->n_in; i++)
    add_if_carried(self, node, catalog->edges[catalog->in_edges[facts->first_in + i]].from);
}

static void
begin(search *self) {
  self->n = 0;
  memset(self->seen, 0, self->catalog->n_nodes);
  if (self->anomaly->born == TD_birthplace_parameter) {
    add(self, self->anomaly->other);
    return;
  }
  if (self->anomaly->from != TD_NONE) {
    add(self, self->anomaly->from);
    add(self, self->anomaly->other);
  }
  add(self, self->anomaly->node);
}

static bool
run(search *self, uint64_t *cause) {
  begin(self);
  note_births(self);
  for (uint32_t i = 0; i < self->n; i++) {
    if (find_birth(self, self->nodes[i], cause)) return true;
    add_neighbours(self, self->nodes[i]);
  }
  return false;
}

static bool
reaches(search *self, uint32_t node) {
  begin(self);
  for (uint32_t i = 0; i < self->n; i++) {
    if (self->nodes[i] == node) return true;
    add_neighbours(self, self->nodes[i]);
  }
  return false;
}

/* From the nodes of the last search on, along what the forward pass did before them: a gradient
 * that came to a parameter is not finite if a value of the forward pass was not. */
static bool
run_on(search *self, uint64_t *cause) {
  self->forward = self->goes_on = true;
  note_births(self);
  for (uint32_t i = 0; i < self->n; i++) {
    if (find_birth(self, self->nodes[i], cause)) return true;
    add_neighbours(self, self->nodes[i]);
  }
  return false;
}

static bool
search_init(search *self) {
  self->nodes = TD_NEW_N(uint32_t, NODES_MAX);
  self->seen = td_try_alloc(self->catalog->n_nodes, 1);
  return self->seen != NULL;
}

static void
search_fini(search *self) {
  free(self->nodes);
  free(self->seen);
  td_number_map_fini(&self->births);
}

static bool
has_others(const td_catalog *catalog, uint64_t seq) {
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  return (problems->n > 0 && problems->items[0].seq < seq) ||
         catalog->mentions[TD_LIST_absorbed].n > 0;
}

/* First along the backward pass, if the birth is in it. To a parameter the way leads from the pass
 * that stored a gradient there. On that way a node may have had a value of the forward pass that is
 * not finite, but what a gradient brought there came from further off. */
static bool
find(search *self, uint64_t *cause) {
  bool is_of_data = self->anomaly->born == TD_birthplace_parameter;
  self->forward = is_of_forward(self->anomaly->born) && !is_of_data;
  self->follows =
      td_cause_knows_edges(self->catalog) && !(self->among && self->among->has_carried_enough);
  self->of_gradients = is_of_data;
  bool found = search_init(self) && run(self, cause);
  self->of_gradients = false;
  if (self->seen && !found && is_of_data) found = run(self, cause) || run_on(self, cause);
  if (self->seen && !found && !self->forward && !is_of_data) {
    self->forward = true;
    found = run(self, cause);
  }
  search_fini(self);
  return found;
}

static bool
may_have_cause(const td_event_anomaly *anomaly) {
  return anomaly->kind == TD_anomaly_kind_nan || anomaly->born == TD_birthplace_parameter;
}

bool
td_cause_find(const td_catalog *catalog, td_tape *tape, uint64_t seq,
              const td_event_anomaly *anomaly, uint64_t *cause) {
  search search = {.catalog = catalog, .tape = tape, .seq = seq, .anomaly = anomaly};
  if (!may_have_cause(anomaly) || !has_others(catalog, seq)) return false;
  return find(&search, cause);
}

bool
td_cause_find_among(const td_catalog *graph, const td_births *births, uint64_t seq,
                    const td_event_anomaly *anomaly, uint64_t *cause) {
  search search = {.catalog = graph, .among = births, .seq = seq, .anomaly = anomaly};
  if (!may_have_cause(anomaly) || births->n == 0) return false;
  return find(&search, cause);
}

bool
td_cause_is_possible(const td_catalog *catalog, td_tape *tape, uint64_t first, uint64_t seq,
                     const td_event_anomaly *anomaly) {
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  td_any_event event;
  uint32_t at;
  TD_BISECT(at, 0, problems->n, problems->items[at].seq < first);
  for (; at < problems->n && problems->items[at].seq < seq; at++)
    if (problems->items[at].kind == TD_EVENT_anomaly &&
        td_tape_get(tape, problems->items[at].seq, &event, NULL) == TD_OK &&
        td_cause_can_lead(anomaly, &event.anomaly))
      return true;
  return false;
}

static bool
get_anomaly(const td_catalog *catalog, td_tape *tape, uint64_t seq, td_event_anomaly *anomaly) {
  td_any_event event;
  if (td_catalog_event(catalog, tape, seq, &event, NULL) != TD_OK ||
      event.event.kind != TD_EVENT_anomaly)
    return false;
  *anomaly = event.anomaly;
  return true;
}

/* The backward formulas of the nodes on such a path may have saved what the operation made. */
static bool
has_path(const td_catalog *catalog, const td_event_anomaly *birth, uint32_t operation) {
  search search = {.catalog = catalog, .anomaly = birth, .forward = true};
  bool found = search_init(&search) && reaches(&search, operation);
  search_fini(&search);
  return found;
}

bool
td_cause_find_in_gradients(const td_catalog *catalog, td_tape *tape, uint64_t seq, uint64_t *birth,
                           bool *led) {
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  td_event_anomaly anomaly, first;
  if (!get_anomaly(catalog, tape, seq, &first)) return false;
  for (uint32_t i = 0; i < problems->n; i++) {
    uint64_t at = problems->items[i].seq;
    if (at <= seq || !get_anomaly(catalog, tape, at, &anomaly)) continue;
    if (anomaly.kind != TD_anomaly_kind_nan || is_of_forward(anomaly.born)) continue;
    *birth = at;
    *led = has_path(catalog, &anomaly, first.node);
    return true;
  }
  return false;
}

static int
compare_seqs(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

/* The pass that an event of the forward pass was told in, or the next one; else NULL. */
static const td_catalog_graph_task *
pass_of_forward(const td_catalog *catalog, uint64_t seq) {
  const td_catalog_graph_task *around = NULL, *next = NULL;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (pass->begin_seq > seq && (!next || pass->begin_seq < next->begin_seq)) next = pass;
    if (pass->begin_seq < seq && seq < pass->end_seq &&
        (!around || pass->begin_seq > around->begin_seq))
      around = pass;
  }
  return around ? around : next;
}

bool
td_cause_find_carried(const td_catalog *catalog, td_tape *tape, uint64_t seq, uint64_t *carried,
                      uint32_t *graph_task) {
  const td_catalog_graph_task *pass = pass_of_forward(catalog, seq);
  *graph_task = pass ? pass->id : TD_NONE;
  if (!pass) return false;
  const td_catalog_mentions *all = &catalog->mentions[TD_LIST_carried];
  uint64_t *seqs = TD_NEW_N(uint64_t, all->n + 1);
  uint32_t n = 0;
  td_any_event event;
  bool found = false;
  for (uint32_t i = 0; i < all->n; i++)
    if (all->items[i].seq > seq) seqs[n++] = all->items[i].seq;
  if (n) qsort(seqs, n, sizeof *seqs, compare_seqs);
  for (uint32_t i = 0; i < n && !found; i++) {
    found = td_tape_get(tape, seqs[i], &event, NULL) == TD_OK &&
            event.event.kind == TD_EVENT_carried && event.carried.nan &&
            event.carried.graph_task == *graph_task;
    *carried = seqs[i];
  }
  free(seqs);
  return found;
}
