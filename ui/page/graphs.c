/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/graphs.h"

#include "engine/base/alloc.h"

#include <math.h>

static void
add_edges(td_page_graphs *graphs, uint32_t graph) {
  const td_page_graph *self = &graphs->items[graph];
  const td_graph_scene *scene = self->scene;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    const td_scene_edge *edge = &scene->edges[i];
    if (edge->from >= self->n_cards || edge->to >= self->n_cards) continue;
    TD_GROW(graphs->edges, graphs->n_edges, graphs->edge_capacity);
    graphs->edges[graphs->n_edges++] =
        (td_page_edge){graph, i, td_page_nodes_find(graphs->nodes, scene->nodes[edge->from].node),
                       td_page_nodes_find(graphs->nodes, scene->nodes[edge->to].node)};
  }
}

static void
add_graph(td_page_graphs *graphs, td_page_nodes *nodes, uint32_t graph_task) {
  td_graph_scene *scene = td_graph_scene_new(nodes->catalog, graph_task);
  uint32_t n = 0;
  while (n < scene->n_nodes && td_page_nodes_put(nodes, scene->nodes[n].node) != TD_NONE)
    n++;
  TD_GROW(graphs->items, graphs->n, graphs->capacity);
  graphs->items[graphs->n++] = (td_page_graph){scene, graph_task, n};
  add_edges(graphs, graphs->n - 1);
}

/* Counts, then fills: links of a node lie beside each other. */
static void
link_nodes(td_page_graphs *graphs) {
  uint32_t n = graphs->nodes->n, *first = TD_NEW_N(uint32_t, n + 2);
  for (uint32_t i = 0; i < graphs->n_edges; i++) {
    first[graphs->edges[i].from + 2]++;
    first[graphs->edges[i].to + 2]++;
  }
  for (uint32_t i = 2; i < n + 2; i++)
    first[i] += first[i - 1];
  graphs->links = TD_NEW_N(uint32_t, 2 * (size_t)graphs->n_edges);
  for (uint32_t i = 0; i < graphs->n_edges; i++) {
    graphs->links[first[graphs->edges[i].from + 1]++] = i;
    graphs->links[first[graphs->edges[i].to + 1]++] = i;
  }
  graphs->first_link = first;
  graphs->n_linked = n;
}

/* The graphs of a node lie beside each other too. */
static void
find_places(td_page_graphs *graphs) {
  uint32_t n = graphs->nodes->n, n_cards = 0, *first = TD_NEW_N(uint32_t, n + 2);
  for (uint32_t graph = 0; graph < graphs->n; graph++) {
    const td_page_graph *self = &graphs->items[graph];
    n_cards += self->n_cards;
    for (uint32_t i = 0; i < self->n_cards; i++)
      first[td_page_nodes_find(graphs->nodes, self->scene->nodes[i].node) + 2]++;
  }
  for (uint32_t i = 2; i < n + 2; i++)
    first[i] += first[i - 1];
  graphs->places = TD_NEW_N(uint32_t, n_cards + 1);
  for (uint32_t graph = 0; graph < graphs->n; graph++) {
    const td_page_graph *self = &graphs->items[graph];
    for (uint32_t i = 0; i < self->n_cards; i++) {
      uint32_t node = td_page_nodes_find(graphs->nodes, self->scene->nodes[i].node);
      graphs->places[first[node + 1]++] = graph;
    }
  }
  graphs->first_place = first;
}

void
td_page_graphs_init(td_page_graphs *graphs, td_page_nodes *nodes, uint32_t graph_task,
                    uint64_t first, uint64_t end, uint32_t most) {
  const td_catalog *catalog = nodes->catalog;
  *graphs = (td_page_graphs){.nodes = nodes};
  add_graph(graphs, nodes, graph_task);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (pass->id == graph_task || pass->begin_seq < first || pass->begin_seq >= end) continue;
    if (graphs->n < most)
      add_graph(graphs, nodes, pass->id);
    else
      graphs->n_left_out++;
  }
  link_nodes(graphs);
  find_places(graphs);
}

void
td_page_graphs_fini(td_page_graphs *graphs) {
  for (uint32_t i = 0; i < graphs->n; i++)
    td_graph_scene_free(graphs->items[i].scene);
  free(graphs->items);
  free(graphs->edges);
  free(graphs->first_link);
  free(graphs->links);
  free(graphs->first_place);
  free(graphs->places);
}

uint32_t
td_page_graphs_find(const td_page_graphs *graphs, uint32_t graph_task) {
  for (uint32_t i = 0; i < graphs->n; i++)
    if (graphs->items[i].graph_task == graph_task) return i;
  return TD_NONE;
}

bool
td_page_graphs_moved(const td_page_graphs *graphs, const td_state *state, uint32_t edge) {
  const td_page_edge *self = &graphs->edges[edge];
  td_graph_scene *scene = graphs->items[self->graph].scene;
  const td_scene_draw draw = {
      .scene = scene, .state = state, .pass_begun = td_scene_pass_begun(scene, state)};
  return td_scene_edge_moved(&draw, self->edge);
}

/* Tenths of a pixel as whole numbers. */
static void
write_length(td_json *json, float length) {
  td_json_i64(json, isfinite(length) ? lroundf(length * 10) : 0);
}

static void
write_card(const td_page_graphs *graphs, td_json *json, const td_graph_scene *scene, uint32_t i) {
  const td_scene_node *node = &scene->nodes[i];
  td_box box = td_scene_box(scene, i);
  td_json_begin_array(json);
  td_json_u64(json, td_page_nodes_find(graphs->nodes, node->node));
  write_length(json, (float)box.x);
  write_length(json, (float)box.y);
  write_length(json, (float)box.width);
  write_length(json, (float)box.height);
  td_json_u64(json, node->port);
  td_json_string(json, node->name);
  td_json_string(json, node->number);
  td_json_end_array(json);
}

static void
write_edge(td_json *json, const td_page_edge *edge, const td_graph_scene *scene) {
  const td_layout *layout = scene->layout;
  td_json_begin_array(json);
  td_json_u64(json, edge->from);
  td_json_u64(json, edge->to);
  td_json_u64(json, layout->route[edge->edge]);
  td_json_u64(json, scene->catalog->edges[scene->edges[edge->edge].edge].input_nr);
  for (uint32_t k = layout->first_point[edge->edge]; k < layout->first_point[edge->edge + 1]; k++) {
    write_length(json, layout->points[k].x);
    write_length(json, layout->points[k].y);
  }
  td_json_end_array(json);
}

/* Parts of the model: the node where gradients enter, the path, and as much of it as names it. */
static void
write_layers(const td_page_graphs *graphs, td_json *json, const td_page_graph *self) {
  td_json_key(json, "layers");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < self->scene->n_layers; i++) {
    const td_scene_layer *layer = &self->scene->layers[i];
    if (layer->first >= self->n_cards) continue;
    td_json_begin_array(json);
    td_json_u64(json, td_page_nodes_find(graphs->nodes, self->scene->nodes[layer->first].node));
    td_json_string(json, layer->path);
    td_json_string(json, layer->name);
    td_json_end_array(json);
  }
  td_json_end_array(json);
}

static void
write_graph(const td_page_graphs *graphs, td_json *json, uint32_t graph) {
  const td_page_graph *self = &graphs->items[graph];
  td_json_key(json, "pass");
  td_json_u64(json, self->graph_task);
  td_json_key(json, "width");
  write_length(json, self->scene->layout->width);
  td_json_key(json, "height");
  write_length(json, self->scene->layout->height);
  td_json_key(json, "cards");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < self->n_cards; i++)
    write_card(graphs, json, self->scene, i);
  td_json_end_array(json);
  write_layers(graphs, json, self);
  td_json_key(json, "edges");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < graphs->n_edges; i++)
    if (graphs->edges[i].graph == graph) write_edge(json, &graphs->edges[i], self->scene);
  td_json_end_array(json);
}

void
td_page_graphs_write(const td_page_graphs *graphs, td_json *json) {
  td_json_begin_array(json);
  for (uint32_t i = 0; i < graphs->n; i++) {
    td_json_begin_object(json);
    write_graph(graphs, json, i);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}
