/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The menu of a canvas: over a node that of its nodes, elsewhere that of its picture. The actions
 * "picture.save" and "picture.copy" are the canvas's. Main thread. */
#pragma once

#include <gtk/gtk.h>

typedef struct TdCanvasMenu {
  GtkWidget *popover; /* (child) or NULL: made when first opened */
  GMenuModel *nodes;  /* (owned) or NULL */
} TdCanvasMenu;

/* td_canvas_menu_clear is for the canvas's dispose. td_canvas_menu_set_nodes gives the menu of
 * nodes. */
void td_canvas_menu_clear(TdCanvasMenu *menu);
void td_canvas_menu_set_nodes(TdCanvasMenu *menu, GMenuModel *nodes);

/* td_canvas_menu_open opens the menu at a point of the canvas, in pixels. */
void td_canvas_menu_open(TdCanvasMenu *menu, GtkWidget *canvas, double x, double y,
                         gboolean is_node);

/* td_canvas_menu_place is for the canvas's size_allocate. */
void td_canvas_menu_place(TdCanvasMenu *menu);
