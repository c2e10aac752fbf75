/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of td_graph_scene, shared by the files that build it and draw its nodes and edges.
 * Nodes of a scene have indices of their own; `node` leads to the graph's. Private to ui/draw and
 * ui/page. */
#pragma once

#include "ui/draw/graph_view.h"
#include "ui/draw/shapes.h"
#include "ui/draw/text_blocks.h"
#include "ui/geometry/layout.h"

typedef struct td_scene_node {
  uint32_t node; /* in the graph */
  float width, height;
  bool port;
  uint32_t block;            /* 1 + index of blocks, or 0: a node of the graph */
  const char *name, *number; /* (borrowed from texts) "Addmm", "#12" */
} td_scene_node;

typedef struct td_scene_edge {
  uint32_t edge;     /* in the graph */
  uint32_t from, to; /* scene nodes */
  float left, top, right, bottom;
} td_scene_edge;

/* A folded group. Its scene node has the first of its members. */
typedef struct td_scene_block {
  uint32_t first_member, n_members; /* slice of the scene's members */
  uint32_t group, n_modules;        /* of the fold tree; modules of a run, else 1 */
  const char *path, *name;          /* (borrowed from texts) "h.0–15", "h.0–15 × 16" */
} td_scene_block;

/* What the members of a scene node have of an overlay together. */
typedef struct td_scene_total {
  td_overlay_value value;
  uint32_t last_step; /* on the critical path; value.step is the first */
  bool is_known;
} td_scene_total;

/* A part of the model that a far picture names. */
typedef struct td_scene_layer {
  char *path;       /* (owned) "transformer.h.3" */
  const char *name; /* (borrowed) a part of the path */
  uint32_t first;   /* scene node */
} td_scene_layer;

typedef struct td_graph_scene {
  const td_catalog *catalog; /* (borrowed) */
  uint32_t graph_task;
  uint32_t n_nodes, n_edges;
  td_scene_node *nodes; /* (owned) */
  td_scene_edge *edges; /* (owned) */
  td_text_blocks texts; /* of the nodes */
  /* (owned) by row of the catalog: 1 + place in nodes, or 0. It costs 4 bytes for each node of the
   * catalog, however small the scene is. A hash table took an eighth of the time to build one. */
  uint32_t *numbers;
  td_layout *layout;      /* (owned) */
  td_scene_layer *layers; /* (owned) in the order in which gradients reach them */
  uint32_t n_layers;
  td_scene_block *blocks; /* (owned) of a folded scene */
  uint32_t n_blocks;
  uint32_t *members;      /* (owned) nodes of the graph, by scene node; NULL: not folded */
  td_scene_total *totals; /* (owned) [n_nodes] of the overlay drawn last, or NULL: not folded */
  double most_total;
} td_graph_scene;

/* One drawing: everything that its parts need. */
typedef struct td_scene_draw {
  td_graph_scene *scene;
  cairo_t *cr;
  const td_state *state;
  const td_graph_view *view;
  const td_theme *theme;
  td_label_cache *labels;
  double left, top, right, bottom; /* what of the scene is visible */
  bool pass_begun, pass_goes_on;
  uint32_t n_shown, n_edges_hidden;
} td_scene_draw;

/* Below these scales names give way to plain cards, modules to names of layers, and cards to
 * rectangles; those of blocks later. */
static const double td_scale_full = 0.62, td_scale_modules = 0.34, td_scale_named = 0.26,
                    td_scale_blocks = 0.12;

/* td_scene_is_far tells whether a scene is drawn without cards at a scale. Blocks are larger than
 * cards, so a folded scene has them at smaller scales. td_scene_scale_layers returns the scale
 * below which a scene has names of layers. */
static inline bool
td_scene_is_far(const td_graph_scene *scene, double scale) {
  return scale < (scene->n_blocks ? td_scale_blocks : td_scale_named);
}

static inline double
td_scene_scale_layers(const td_graph_scene *scene) {
  return scene->n_blocks ? td_scale_blocks : td_scale_modules;
}

/* td_scene_find returns the scene node of a graph's node, or TD_NONE. */
uint32_t td_scene_find(const td_graph_scene *scene, uint32_t node);

/* td_scene_add appends a node of the graph unless the scene has it. `capacity` is that of
 * `nodes`. */
void td_scene_add(td_graph_scene *scene, uint32_t node, uint32_t *capacity);

/* td_scene_find_layers (graph_layers.c) finds the layers of a scene that has its nodes. */
void td_scene_find_layers(td_graph_scene *scene);

/* Steps of building a scene. td_graph_scene_init sets a zeroed one up. td_scene_collect
 * (scene_build.c) adds nodes, those `n`, or for NULL all of the graph task, and the edges between
 * them. td_scene_finish adds texts and the layout. It calls td_scene_set_edge_boxes, which finds
 * the boxes of the edges from their points. td_graph_scene_fini frees what a scene has, after any
 * step. */
void td_graph_scene_init(td_graph_scene *scene, const td_catalog *catalog, uint32_t graph_task);
void td_scene_collect(td_graph_scene *scene, const uint32_t *nodes, uint32_t n);
void td_scene_finish(td_graph_scene *scene);
void td_scene_set_edge_boxes(td_graph_scene *scene);
void td_graph_scene_fini(td_graph_scene *scene);

/* td_scene_block_of returns the block that a scene node is, or NULL. */
static inline const td_scene_block *
td_scene_block_of(const td_graph_scene *scene, uint32_t i) {
  return scene->nodes[i].block ? &scene->blocks[scene->nodes[i].block - 1] : NULL;
}

static inline td_box
td_scene_box(const td_graph_scene *scene, uint32_t i) {
  const td_scene_node *node = &scene->nodes[i];
  return (td_box){scene->layout->x[i] - node->width / 2, scene->layout->y[i] - node->height / 2,
                  node->width, node->height};
}

/* What a node is doing in the pass of its scene. */
typedef struct td_scene_doing {
  uint32_t node, thread; /* that runs or ran it, or TD_NONE */
  bool runs;
  uint8_t anomaly, birthplace; /* of td_node_now */
} td_scene_doing;

/* td_scene_now (scene_state.c) returns what a scene node is doing. Of a block it returns the member
 * that matters most: one with an anomaly, one that runs, or the first. */
td_scene_doing td_scene_now(const td_scene_draw *draw, uint32_t i);

/* td_scene_state (scene_state.c) returns the state in which a node is drawn: that of the pair of
 * the scene's pass and the node. A failed node that was
 * released is still a failed one. What a node did in other passes says nothing of a pass that has
 * not begun. A block has the state of the member that matters most; between its first and its last
 * node it is partial. td_scene_state_of returns that of a node of the graph. td_scene_runner_of
 * returns the thread that runs or ran the node in the scene's pass, or TD_NONE. */
td_node_state td_scene_state(const td_scene_draw *draw, uint32_t i);
td_node_state td_scene_state_of(const td_scene_draw *draw, uint32_t node);
uint32_t td_scene_runner_of(const td_scene_draw *draw, uint32_t node);

/* td_scene_count_states (scene_state.c) counts the members of a block by state. */
void td_scene_count_states(const td_scene_draw *draw, const td_scene_block *block,
                           uint32_t n[TD_N_NODE_STATES]);

/* td_scene_pass_begun tells whether the pass of a scene has begun: `pass_begun` of a drawing.
 * td_scene_pass_goes_on tells whether it is not over: `pass_goes_on`, which saves a look-up. */
bool td_scene_pass_begun(const td_graph_scene *scene, const td_state *state);
bool td_scene_pass_goes_on(const td_graph_scene *scene, const td_state *state);

static inline bool
td_scene_sees(const td_scene_draw *draw, double left, double top, double right, double bottom) {
  return right >= draw->left && left <= draw->right && bottom >= draw->top && top <= draw->bottom;
}

/* td_scene_edge_moved tells whether the gradient of an edge has reached the buffer at its end. */
bool td_scene_edge_moved(const td_scene_draw *draw, uint32_t edge);

/* The parts of a drawing, in scene units (graph_edges.c, graph_nodes.c, graph_far.c), and over it
 * in pixels (graph_layers.c, graph_legend.c). */
void td_scene_draw_edges(td_scene_draw *draw);
void td_scene_draw_moving(td_scene_draw *draw);
void td_scene_draw_nodes(td_scene_draw *draw);
void td_scene_draw_block(const td_scene_draw *draw, uint32_t i); /* graph_blocks.c */
void td_scene_draw_far(td_scene_draw *draw);
void td_scene_draw_layers(const td_scene_draw *draw);
void td_scene_draw_legend(td_scene_draw *draw);

/* td_scene_legend_top returns the y where the legend begins; without a legend, the height of the
 * view. */
double td_scene_legend_top(const td_graph_view *view);

/* What marks one node of a finished picture, in scene units. The first accents the node's edges.
 * The second accents the selected edge, if there is one. The third draws a ring around the node
 * (strength 0 to 1). The fourth draws a ring of fixed size, for a node that is too small to see. */
void td_scene_draw_edges_of(const td_scene_draw *draw, uint32_t i);
void td_scene_draw_selected_edge(const td_scene_draw *draw);
void td_scene_draw_ring(const td_scene_draw *draw, uint32_t i, double strength);
void td_scene_draw_far_ring(const td_scene_draw *draw, uint32_t i);

/* The figures of an overlay (graph_heat.c). td_scene_heat returns that of a node, or NULL without
 * one; td_scene_find_totals must have made those of a folded scene. td_scene_tint paints it over a
 * card of the node, and returns false without an overlay. */
const td_overlay_value *td_scene_heat(const td_scene_draw *draw, uint32_t i);
td_colour td_scene_heat_colour(const td_theme *theme, double heat);
void td_scene_find_totals(td_scene_draw *draw);
bool td_scene_is_step(const td_scene_draw *draw, uint32_t edge);
bool td_scene_tint(const td_scene_draw *draw, uint32_t i, td_box box, double radius);

/* td_scene_draw_chain (graph_chain.c) draws the chain back to a cause over a finished picture,
 * td_scene_draw_chain_nodes its nodes. td_scene_draw_edge_over draws an edge again. */
void td_scene_draw_chain(const td_scene_draw *draw);
void td_scene_draw_chain_nodes(const td_scene_draw *draw);
void td_scene_draw_edge_over(const td_scene_draw *draw, uint32_t i, td_colour colour, double width);

/* td_scene_draw_lone (graph_lone.c) marks the nodes that another graph lacks. */
void td_scene_draw_lone(const td_scene_draw *draw);

/* td_scene_draw_scale draws the colours of the overlay with what they mean, from x on, and returns
 * where they end. td_scene_draw_path (graph_edges.c) draws the edges of the critical path. */
double td_scene_draw_scale(const td_scene_draw *draw, double x, double y);
void td_scene_draw_path(const td_scene_draw *draw);

/* td_scene_draw_arrows (graph_arrows.c) draws signs at the border for nodes outside, in pixels. */
void td_scene_draw_arrows(const td_scene_draw *draw);

/* The tower of re-entry (graph_tower.c), in pixels. A pass that no other pass called has no tower.
 * td_scene_hit_tower tells whether a point lies on the tower. It writes the node that called the
 * pass of that floor, or TD_NONE. */
void td_scene_draw_tower(td_scene_draw *draw);
bool td_scene_hit_tower(const td_graph_scene *scene, const td_graph_view *view, double x, double y,
                        uint32_t *caller);
