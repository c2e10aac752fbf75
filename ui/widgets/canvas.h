/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A widget that paints a picture of the state at the playhead: the base of graph, queues and
 * timeline. It keeps the theme in step with the desktop's (dark, light, accent) and draws again
 * only when something changed. Main thread. */
#pragma once

#include "ui/draw/theme.h"
#include "ui/model/playhead.h"

#include <gtk/gtk.h>

#define TD_TYPE_CANVAS (td_canvas_get_type())
G_DECLARE_DERIVABLE_TYPE(TdCanvas, td_canvas, TD, CANVAS, GtkWidget)

struct _TdCanvasClass {
  GtkWidgetClass parent_class;

  /* draw paints the whole widget; a document is open. */
  void (*draw)(TdCanvas *self, cairo_t *cr);
  /* update is called when the document, its scene, the position, the selection or the span changed.
   * `document` is TRUE where it is another document or scene. */
  void (*update)(TdCanvas *self, gboolean document);
  /* node_at returns the node at a point, or TD_NONE; for tooltips and the pointer. */
  uint32_t (*node_at)(TdCanvas *self, double x, double y);
};

void td_canvas_set_playhead(TdCanvas *self, TdPlayhead *playhead);
TdPlayhead *td_canvas_get_playhead(TdCanvas *self);

/* td_canvas_get_document returns what is open, or NULL. */
TdDocument *td_canvas_get_document(TdCanvas *self);
const td_theme *td_canvas_get_theme(TdCanvas *self);
td_label_cache *td_canvas_get_labels(TdCanvas *self);

/* td_canvas_get_hovered returns the node under the pointer; td_canvas_get_pointer writes where that
 * is. */
uint32_t td_canvas_get_hovered(TdCanvas *self);
void td_canvas_get_pointer(TdCanvas *self, double *x, double *y);

/* td_canvas_describe tells screen readers what is shown now. */
void td_canvas_describe(TdCanvas *self, const char *description);

/* td_canvas_dup_node_text returns "MulBackward0 #6, running" for a node at the playhead. */
char *td_canvas_dup_node_text(TdCanvas *self, uint32_t node);

/* td_canvas_scroll_pixels turns a scroll controller's delta into pixels, whatever its unit. */
double td_canvas_scroll_pixels(GtkEventControllerScroll *controller, double delta);
