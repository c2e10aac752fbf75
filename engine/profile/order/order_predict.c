/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order_predict.h"

#include "engine/base/alloc.h"
#include "engine/rules/machine.h"

/* The graph as the machine takes it, with a team for each queue. */
typedef struct prediction {
  const td_pass_graph *graph;
  const td_catalog *catalog;
  td_machine_task *tasks;  /* (owned) */
  td_machine_edge *edges;  /* (owned) */
  td_machine_pass *passes; /* (owned) */
  td_queue_order *orders;  /* (owned) by team */
  td_number_map teams;     /* by queue: 1 + the team */
  uint32_t n_teams, teams_capacity;
  uint32_t *popped; /* (owned) the result */
  uint32_t n_popped, popped_capacity;
} prediction;

/* ---- teams ---- */

static uint32_t
team_of_queue(prediction *self, uint32_t queue) {
  uint64_t *number = td_number_map_put(&self->teams, queue);
  if (*number) return (uint32_t)*number - 1;
  TD_GROW(self->orders, self->n_teams, self->teams_capacity);
  bool is_known = queue < self->catalog->n_queues;
  self->orders[self->n_teams] = is_known ? self->catalog->queues[queue].order : TD_queue_order_heap;
  *number = ++self->n_teams;
  return (uint32_t)*number - 1;
}

/* A node that entered no queue of the tape would have entered that of its pass. */
static uint32_t
team_of_node(prediction *self, const td_graph_node *node) {
  return node->queue != TD_NONE ? team_of_queue(self, node->queue) : self->passes[node->pass].team;
}

/* A pass inside belongs to the thread of its caller. Outer passes have smaller numbers. */
static uint32_t
team_of_pass(prediction *self, const td_graph_pass *pass) {
  if (pass->caller != TD_NONE) return team_of_node(self, &self->graph->nodes[pass->caller]);
  if (pass != self->graph->passes) return self->passes[pass->outer].team;
  uint32_t queue = pass->root != TD_NONE ? self->graph->nodes[pass->root].queue : TD_NONE;
  return team_of_queue(self, queue);
}

/* ---- passes, tasks, edges ---- */

static void
take_passes(prediction *self) {
  for (uint32_t i = 0; i < self->graph->n_passes; i++) {
    const td_graph_pass *pass = &self->graph->passes[i];
    bool begins = i == 0 && pass->root != TD_NONE;
    self->passes[i] = (td_machine_pass){.team = team_of_pass(self, pass),
                                        .root = pass->root,
                                        .caller = pass->caller,
                                        .next = TD_NONE,
                                        .callback = TD_NONE,
                                        .begin_ns = begins ? 0 : TD_MACHINE_CALLED};
  }
}

static void
take_edges(prediction *self, const td_graph_node *node, uint32_t place) {
  for (uint32_t i = 0; i < node->n; i++)
    self->edges[node->first + i] =
        (td_machine_edge){.from = place, .to = td_pass_graph_target(self->graph, node, i)};
}

static void
take_tasks(prediction *self) {
  for (uint32_t i = 0; i < self->graph->n_nodes; i++) {
    const td_graph_node *node = &self->graph->nodes[i];
    bool is_restricted = self->graph->passes[node->pass].is_restricted;
    self->tasks[i] = (td_machine_task){.pass = node->pass,
                                       .team = team_of_node(self, node),
                                       .first = node->first,
                                       .n = node->n,
                                       .next_root = TD_NONE,
                                       .inner = TD_NONE,
                                       .is_unwanted = is_restricted && !node->is_needed,
                                       .sequence_nr = node->sequence_nr};
    take_edges(self, node, i);
  }
}

/* Passes of a caller come one after another, and so do those of the final callbacks of a pass. */
static void
link_passes(prediction *self) {
  for (uint32_t i = self->graph->n_passes; i-- > 1;) {
    const td_graph_pass *pass = &self->graph->passes[i];
    bool is_inner = pass->caller != TD_NONE;
    uint32_t *first =
        is_inner ? &self->tasks[pass->caller].inner : &self->passes[pass->outer].callback;
    uint32_t *next = is_inner ? &self->passes[i].next : &self->passes[i].callback;
    if (*next == TD_NONE) *next = *first;
    *first = i;
  }
}

/* ---- all of it ---- */

static void
popped_cb(const td_machine_event *event, void *data) {
  prediction *self = data;
  TD_GROW(self->popped, self->n_popped, self->popped_capacity);
  self->popped[self->n_popped++] = event->id;
}

static void
run(prediction *self) {
  const td_machine_plan plan = {.tasks = self->tasks,
                                .edges = self->edges,
                                .passes = self->passes,
                                .orders = self->orders,
                                .n_tasks = self->graph->n_nodes,
                                .n_passes = self->graph->n_passes,
                                .n_teams = self->n_teams,
                                .n_workers = 1,
                                .heard = TD_MACHINE_BIT(pop),
                                .happened = popped_cb,
                                .data = self};
  if (td_machine_run(&plan)) td_out_of_memory();
}

uint32_t *
td_order_predict(const td_pass_graph *graph, const td_catalog *catalog, uint32_t *n) {
  prediction self = {.graph = graph, .catalog = catalog};
  self.tasks = TD_NEW_N(td_machine_task, graph->n_nodes);
  self.edges = TD_NEW_N(td_machine_edge, graph->n_targets);
  self.passes = TD_NEW_N(td_machine_pass, graph->n_passes);
  take_passes(&self);
  take_tasks(&self);
  link_passes(&self);
  run(&self);
  free(self.tasks);
  free(self.edges);
  free(self.passes);
  free(self.orders);
  td_number_map_fini(&self.teams);
  *n = self.n_popped;
  return self.popped;
}
