/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plays the glide from one scene to another on the canvas of a graph. Main thread. */
#pragma once

#include "ui/draw/graph_glide.h"

#include <adwaita.h>

typedef struct td_graph_glider {
  td_graph_glide *glide;            /* (owned) NULL: nothing glides */
  td_graph_scene *before;           /* (owned) that it begins at, or NULL: another owns that */
  GtkWidget *widget;                /* (borrowed) that shows the scene */
  void (*moved)(GtkWidget *widget); /* the picture is another: draw it */
  AdwAnimation *animation;          /* (owned) */
  gboolean is_slow;                 /* the last picture took too long */
} td_graph_glider;

void td_graph_glider_init(td_graph_glider *glider, GtkWidget *widget,
                          void (*moved)(GtkWidget *widget));
void td_graph_glider_fini(td_graph_glider *glider);

/* td_graph_glider_start plays the way from one scene to another: see td_graph_glide_new. `from` is
 * `before`, which it takes, or for NULL a scene that lives as long as `to`. It does nothing if the
 * desktop wants no motion, or if the view shows too much that would move. A glide ends early if
 * its pictures take too long. */
void td_graph_glider_start(td_graph_glider *glider, const td_graph_scene *from,
                           td_graph_scene *before, const td_graph_scene *to, uint32_t still,
                           const td_graph_view *view);

/* td_graph_glider_stop ends the glide. The owner calls it before one of the scenes goes. */
void td_graph_glider_stop(td_graph_glider *glider);

/* td_graph_glider_scene returns the new scene where it is now, or NULL if nothing glides. */
td_graph_scene *td_graph_glider_scene(td_graph_glider *glider);

/* td_graph_glider_draw paints the glide. FALSE if nothing glides. */
gboolean td_graph_glider_draw(td_graph_glider *glider, cairo_t *cr, const td_state *state,
                              const td_graph_view *view, const td_theme *theme,
                              td_label_cache *labels);
