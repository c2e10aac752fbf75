/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which part of a scene the graph's pane shows, and how that moves: by hand, or to a node. If the
 * scene changes, a node can stay where it is on the screen. All members may be read. Main thread.
 */
#pragma once

#include "ui/draw/graph_scene.h"

#include <adwaita.h>

/* The view of the whole graph, while a part of it is shown. */
typedef struct td_kept_view {
  double centre_x, centre_y, scale;
  gboolean at_home;
  uint32_t task; /* TD_NONE: none is kept */
} td_kept_view;

typedef struct td_graph_camera {
  td_graph_view view;
  gboolean at_home; /* never moved by hand: the view is chosen anew when the pane changes size */
  gboolean placed;  /* the view was chosen for the scene */
  uint32_t task;    /* the pass of the view */
  td_kept_view whole;
  GtkWidget *widget;                 /* (borrowed) that shows the scene */
  void (*moved)(GtkWidget *widget);  /* the view is another: draw it */
  AdwAnimation *move;                /* (owned) */
  double from_x, from_y, to_x, to_y; /* scene points of the running move */
  double from_scale, to_scale;
  double anchor_x, anchor_y; /* in pixels from the middle, while the scene changes */
  gboolean has_anchor;       /* the same */
  gboolean showed_all;       /* the view, before the scene changed */
} td_graph_camera;

void td_graph_camera_init(td_graph_camera *camera, GtkWidget *widget,
                          void (*moved)(GtkWidget *widget));
void td_graph_camera_fini(td_graph_camera *camera);

/* td_graph_camera_place takes the size of the pane. If there is no view of the scene yet, it
 * chooses one that shows a node, with some room left below. It does so too if the pane has another
 * size and nobody moved the view. FALSE without a scene or without a size. */
gboolean td_graph_camera_place(td_graph_camera *camera, td_graph_scene *scene, double width,
                               double height, uint32_t home, double room);

/* A scene that is placed. td_graph_camera_reveal moves to where a node is seen;
 * td_graph_camera_zoom, td_graph_camera_pan and td_graph_camera_centre move by hand, in pixels but
 * for the centre. td_graph_camera_fit shows all. */
void td_graph_camera_reveal(td_graph_camera *camera, const td_graph_scene *scene, uint32_t node);
void td_graph_camera_zoom(td_graph_camera *camera, const td_graph_scene *scene, double factor,
                          double x, double y);
void td_graph_camera_pan(td_graph_camera *camera, const td_graph_scene *scene, double dx,
                         double dy);
void td_graph_camera_centre(td_graph_camera *camera, const td_graph_scene *scene, double x,
                            double y);
void td_graph_camera_fit(td_graph_camera *camera, const td_graph_scene *scene, double room);

void td_graph_camera_stop(td_graph_camera *camera);

/* td_graph_camera_keep_whole keeps the view of the whole graph of a pass, before a part of it is
 * shown. td_graph_camera_bring_whole brings it back, if the pass is the same. */
void td_graph_camera_keep_whole(td_graph_camera *camera, uint32_t task);
void td_graph_camera_bring_whole(td_graph_camera *camera, uint32_t task);

/* td_graph_camera_hold notes where a node is on the screen, before the scene changes.
 * td_graph_camera_settle puts the node there again, in the new scene. Then the view moves to its
 * home, if nobody moved it by hand or it showed all before. It returns FALSE if no node was noted.
 */
void td_graph_camera_hold(td_graph_camera *camera, const td_graph_scene *scene, uint32_t node);
gboolean td_graph_camera_settle(td_graph_camera *camera, td_graph_scene *scene, uint32_t node,
                                double room);
