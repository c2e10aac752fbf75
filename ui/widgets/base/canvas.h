/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A widget that shows a picture of the state at the playhead: the base of graph, queues and
 * timeline. It keeps the theme in step with the desktop's (dark, light, accent). Main thread.
 *
 * Note [The kept picture]. A graph of 10,000 nodes takes milliseconds to paint, and a pointer moves
 * hundreds of times a second. So the canvas paints the picture once and keeps it as pixels. A
 * change of scene, position, theme or size drops the picture; a canvas that pans or zooms drops it
 * with td_canvas_repaint. Hovered node, selection and the line of the playhead are no part of the
 * picture: draw_over draws them anew in each frame. In a scrolled window the picture covers the
 * visible part and as much again above and below. So its memory follows the window, not the
 * tape.
 *
 * Note [Units of a canvas]. A subclass draws in units. A unit is a pixel, or more if the desktop
 * wants larger text: then all that a canvas shows is larger. The size of a canvas, the pointer and
 * all points that a subclass gets from its parent are in units. GTK's gestures tell pixels. */
#pragma once

#include "ui/draw/theme.h"
#include "ui/model/playhead/playhead.h"
#include "ui/widgets/base/reader.h"

#include <gtk/gtk.h>

#define TD_TYPE_CANVAS (td_canvas_get_type())
G_DECLARE_DERIVABLE_TYPE(TdCanvas, td_canvas, TD, CANVAS, GtkWidget)

/* What the playhead shows another of. */
typedef enum TdCanvasChange {
  TD_CANVAS_SCENE, /* the document or its scene */
  TD_CANVAS_POSITION,
  TD_CANVAS_SELECTION,
  TD_CANVAS_SPAN
} TdCanvasChange;

struct _TdCanvasClass {
  GtkWidgetClass parent_class;

  /* What a saved picture is called: "graph", ... as of `tapedeck render --view`. */
  const char *picture_name;

  /* What is painted is the document's scene. While it has none, the picture stays. */
  gboolean shows_scene;

  /* draw paints the picture that the canvas keeps: all of the widget that cairo's clip lets
   * through. A document is open. */
  void (*draw)(TdCanvas *self, cairo_t *cr);
  /* draw_over paints what lies over the picture, in every frame. */
  void (*draw_over)(TdCanvas *self, cairo_t *cr);
  /* The canvas calls update after a change. It has dropped the picture if the document, the scene
   * or the position changed. */
  void (*update)(TdCanvas *self, TdCanvasChange change);
  /* node_at returns the node at a point, or TD_NONE; for tooltips and the pointer. */
  uint32_t (*node_at)(TdCanvas *self, double x, double y);
  /* tell adds what a screen reader finds to an array of TdTold, with td_canvas_tell. Only for
   * canvases with a reader. A document is open. */
  void (*tell)(TdCanvas *self, GArray *told);
  /* The focus goes from item to item with the selection, not with Up and Down. */
  gboolean selects_by_keys;
};

void td_canvas_set_playhead(TdCanvas *self, TdPlayhead *playhead);
TdPlayhead *td_canvas_get_playhead(TdCanvas *self);

/* td_canvas_repaint drops the kept picture, because something that it shows has changed. */
void td_canvas_repaint(TdCanvas *self);

/* td_canvas_get_document returns what is open, or NULL. */
TdDocument *td_canvas_get_document(TdCanvas *self);
const td_theme *td_canvas_get_theme(TdCanvas *self);
td_label_cache *td_canvas_get_labels(TdCanvas *self);

/* td_canvas_get_size writes the size of the canvas in units. td_canvas_units turns pixels into
 * units, td_canvas_pixels turns units into pixels. */
void td_canvas_get_size(TdCanvas *self, double *width, double *height);
double td_canvas_units(TdCanvas *self, double pixels);
double td_canvas_pixels(TdCanvas *self, double units);

/* td_canvas_get_hovered returns the node under the pointer; td_canvas_get_pointer writes where that
 * is. */
uint32_t td_canvas_get_hovered(TdCanvas *self);
void td_canvas_get_pointer(TdCanvas *self, double *x, double *y);

/* td_canvas_set_menu gives the canvas a menu for its nodes, before the entries of its picture. The
 * pointer opens it for the node under it, and selects that. A key opens it for the selected node.
 * Elsewhere the menu has the entries of the picture alone. Their signals are "save-picture" and
 * "copy-picture". */
void td_canvas_set_menu(TdCanvas *self, GMenuModel *menu);

/* td_canvas_paint paints all of the canvas as it is now, in pixels, without what only the pointer
 * shows. td_canvas_has_picture returns FALSE while there is nothing to paint. */
void td_canvas_paint(TdCanvas *self, cairo_t *cr);
gboolean td_canvas_has_picture(TdCanvas *self);

/* td_canvas_describe tells screen readers what is shown now. */
void td_canvas_describe(TdCanvas *self, const char *description);

/* td_canvas_add_reader gives a canvas the tree for screen readers: see reader.h. The canvas tells
 * it anew some time after each change; after td_canvas_tell_now at once. td_canvas_tell adds an
 * item whose box is in units. It takes the text. */
void td_canvas_add_reader(TdCanvas *self, const char *title);
void td_canvas_tell_soon(TdCanvas *self);
void td_canvas_tell_now(TdCanvas *self);
void td_canvas_tell(TdCanvas *self, GArray *told, TdTold item);

/* td_canvas_focus_selection moves the focus to the item of the selected node. */
void td_canvas_focus_selection(TdCanvas *self);

/* td_canvas_scroll_units turns a delta of a scroll controller of a canvas into units. */
double td_canvas_scroll_units(GtkEventControllerScroll *controller, double delta);
