/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backward graph of one graph task as a picture. Layers run top to bottom, the way gradients
 * flow. AccumulateGrad nodes are ports beside their users. The scene holds what does not change,
 * the layout and the labels; drawing takes the state. The window and `tapedeck render` use the same
 * scene. Any thread may build a scene; the thread of the label cache draws it. */
#pragma once

#include "ui/draw/graph_view.h"
#include "ui/draw/theme.h"

typedef struct td_graph_scene td_graph_scene;

/* td_graph_scene_new lays out what the roots of a graph task reach (TD_NONE: the whole tape). The
 * catalog must have the graph task, and so must that of a state that is drawn. */
td_graph_scene *td_graph_scene_new(const td_catalog *catalog, uint32_t graph_task);
void td_graph_scene_free(td_graph_scene *scene);

/* td_graph_scene_new_subset lays out only those nodes of a graph task, and the edges between them.
 * It needs the array during the call alone. For NULL it lays out all, as td_graph_scene_new. */
td_graph_scene *td_graph_scene_new_subset(const td_catalog *catalog, uint32_t graph_task,
                                          const uint32_t *nodes, uint32_t n);

/* td_graph_scene_neighbours returns the `*n` nodes of a scene that are at most so many edges away
 * from a node. If these are more than `most`, it returns the nearest. `*n_all` is how many there
 * are. td_graph_scene_paths returns the nodes on all paths between two nodes, whichever comes
 * first. NULL if the scene does not have the node, or no path. The caller frees. Linear time. */
uint32_t *td_graph_scene_neighbours(const td_graph_scene *scene, uint32_t node, uint32_t distance,
                                    uint32_t most, uint32_t *n, uint32_t *n_all);
uint32_t *td_graph_scene_paths(const td_graph_scene *scene, uint32_t from, uint32_t to,
                               uint32_t *n);

/* td_graph_scene_size writes the extent of the whole scene. td_graph_scene_fit sets the centre and
 * scale of a view, whose width and height are set, so that the view shows all. It never sets a
 * scale above 1.5. */
void td_graph_scene_size(const td_graph_scene *scene, double *width, double *height);
void td_graph_scene_fit(const td_graph_scene *scene, td_graph_view *view);

/* td_graph_scene_draw paints the state over the theme's background. It costs what is visible, not
 * what exists. From far away nodes become plain rectangles, edges become thin lines, and a corner
 * says what the picture leaves out. The picture has no selection and no hovered node. A state whose
 * catalog is not the scene's, such as that of another segment, gives the background alone, here and
 * below. */
void td_graph_scene_draw(td_graph_scene *scene, cairo_t *cr, const td_state *state,
                         const td_graph_view *view, const td_theme *theme, td_label_cache *labels);

/* td_graph_legend_height returns the most that the legend takes of a picture's lower edge: its
 * line, and one above that says what the picture leaves out. */
double td_graph_legend_height(void);

/* td_graph_scene_draw_small paints what is seen from far away, without texts and legend. */
void td_graph_scene_draw_small(td_graph_scene *scene, cairo_t *cr, const td_state *state,
                               const td_graph_view *view, const td_theme *theme);

/* td_graph_scene_draw_over marks the selected and the hovered node on a picture of the same view.
 * It marks the selected edge and the chain back to a cause too. If the selected or the running node
 * lies outside, an arrow at the border points to it. It paints nothing else, so a caller may keep
 * the picture while the pointer moves. */
void td_graph_scene_draw_over(td_graph_scene *scene, cairo_t *cr, const td_state *state,
                              const td_graph_view *view, const td_theme *theme,
                              td_label_cache *labels);

/* td_graph_scene_figure returns a figure of an overlay as a card shows it: "1.84 ms", "4 KiB". The
 * caller frees. */
char *td_graph_scene_figure(const td_overlay *overlay, double value);

/* td_graph_scene_hit returns the node at a point of the picture, or TD_NONE. On the tower of
 * re-entry it returns the node that called the pass of that floor. */
uint32_t td_graph_scene_hit(const td_graph_scene *scene, const td_graph_view *view, double x,
                            double y);

/* td_graph_scene_hit_arrow returns the node to which an arrow points whose sign is at a point of
 * the picture, or TD_NONE. */
uint32_t td_graph_scene_hit_arrow(const td_graph_scene *scene, const td_graph_view *view,
                                  td_label_cache *labels, double x, double y);

/* td_graph_scene_hit_edge returns the edge nearest to a point of the picture, if it is within a few
 * pixels: its number in the catalog, or TD_NONE. From far away nobody can tell edges apart, and
 * there is none. */
uint32_t td_graph_scene_hit_edge(const td_graph_scene *scene, const td_graph_view *view, double x,
                                 double y);

/* td_graph_scene_place writes the centre of a node in scene units; false if it is not in the scene.
 */
bool td_graph_scene_place(const td_graph_scene *scene, uint32_t node, double *x, double *y);
uint32_t td_graph_scene_n_nodes(const td_graph_scene *scene);

/* td_graph_scene_node returns a node of the scene, by its number from 0. */
uint32_t td_graph_scene_node(const td_graph_scene *scene, uint32_t i);
