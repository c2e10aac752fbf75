/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/timeline/strip_canvas.h"

#include "ui/draw/strip_picture.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/findings/problems.h"
#include "ui/model/playhead/playhead_steps.h"

#include <glib/gi18n.h>

/* An arrow key goes so many-th of the tape. */
#define KEY_STEPS 100

struct _TdStripCanvas {
  TdCanvas parent_instance;
  double press_x;
};

G_DEFINE_FINAL_TYPE(TdStripCanvas, td_strip_canvas, TD_TYPE_CANVAS)

/* Of a document that is cut. */
static td_strip_view
make_view(TdCanvas *canvas) {
  TdDocument *document = td_canvas_get_document(canvas);
  TdSegment segment = td_document_get_segment(document);
  td_strip_view view = {.n_events = td_document_get_length(document),
                        .segment_first = segment.first,
                        .segment_end = segment.end,
                        .position = td_playhead_get_target(td_canvas_get_playhead(canvas)),
                        .focused = gtk_widget_has_visible_focus(GTK_WIDGET(canvas))};
  td_canvas_get_size(canvas, &view.width, &view.height);
  return view;
}

/* NULL if there is nothing to show. */
static const td_catalog *
outline_of(TdCanvas *canvas) {
  TdDocument *document = td_canvas_get_document(canvas);
  return document && td_document_is_cut(document) ? td_document_get_whole(document) : NULL;
}

static void
td_strip_canvas_draw(TdCanvas *canvas, cairo_t *cr) {
  const td_catalog *outline = outline_of(canvas);
  if (!outline) return;
  td_strip_view view = make_view(canvas);
  td_strip_draw(outline, cr, &view, td_canvas_get_theme(canvas));
}

static void
td_strip_canvas_draw_over(TdCanvas *canvas, cairo_t *cr) {
  if (!outline_of(canvas)) return;
  td_strip_view view = make_view(canvas);
  td_strip_draw_over(cr, &view, td_canvas_get_theme(canvas));
}

static uint32_t
td_strip_canvas_node_at(TdCanvas *canvas, double x, double y) {
  return TD_NONE;
}

static void
describe(TdCanvas *canvas) {
  size_t n;
  TdDocument *document = td_canvas_get_document(canvas);
  uint64_t position = td_playhead_get_target(td_canvas_get_playhead(canvas));
  td_document_get_problems(document, &n);
  g_autofree char *place = td_document_dup_place_text(document, position);
  g_autofree char *problems = td_format_many(n, "problem", "problems");
  g_autofree char *text = g_strdup_printf(_("%s; %s on the whole tape."), place, problems);
  td_canvas_describe(canvas, text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(canvas), GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, 0.0,
                                 GTK_ACCESSIBLE_PROPERTY_VALUE_MAX,
                                 (double)td_document_get_length(document),
                                 GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, (double)position,
                                 GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, place, -1);
}

static void
td_strip_canvas_update(TdCanvas *canvas, TdCanvasChange change) {
  if (outline_of(canvas) && (change == TD_CANVAS_SCENE || change == TD_CANVAS_POSITION))
    describe(canvas);
}

void
td_strip_canvas_travelling_changed(TdStripCanvas *self) {
  td_strip_canvas_update(TD_CANVAS(self), TD_CANVAS_POSITION);
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static gboolean
td_strip_canvas_query_tooltip(GtkWidget *widget, int at_x, int at_y, gboolean keyboard,
                              GtkTooltip *tooltip) {
  TdCanvas *canvas = TD_CANVAS(widget);
  double x = td_canvas_units(canvas, at_x), y = td_canvas_units(canvas, at_y);
  const td_catalog *outline = outline_of(canvas);
  if (keyboard || !outline) return FALSE;
  uint64_t seq;
  TdDocument *document = td_canvas_get_document(canvas);
  td_strip_view view = make_view(canvas);
  gboolean is_mark = td_strip_problem_at(outline, &view, x, y, &seq);
  uint64_t position = is_mark ? seq + 1 : td_strip_position_at(&view, x);
  g_autofree char *place = td_document_dup_place_text(document, position);
  g_autofree char *problem = is_mark ? td_document_dup_event_brief(document, seq) : NULL;
  g_autofree char *text = problem ? g_strdup_printf("%s\n%s", place, problem) : NULL;
  gtk_tooltip_set_text(tooltip, text ? text : place);
  return TRUE;
}

static void
go(TdCanvas *canvas, uint64_t position) {
  TdPlayhead *playhead = td_canvas_get_playhead(canvas);
  td_playhead_set_playing(playhead, FALSE);
  td_playhead_set_position(playhead, position);
}

static void
drag_begin(GtkGestureDrag *gesture, double x, double y, gpointer data) {
  TdCanvas *canvas = data;
  const td_catalog *outline = outline_of(canvas);
  uint64_t seq;
  if (!outline) return;
  td_strip_view view = make_view(canvas);
  x = td_canvas_units(canvas, x);
  y = td_canvas_units(canvas, y);
  TD_STRIP_CANVAS(canvas)->press_x = x;
  gtk_widget_grab_focus(GTK_WIDGET(canvas));
  if (td_strip_problem_at(outline, &view, x, y, &seq))
    td_playhead_show_problem(td_canvas_get_playhead(canvas), seq);
  else
    go(canvas, td_strip_position_at(&view, x));
}

static void
drag_update(GtkGestureDrag *gesture, double dx, double dy, gpointer data) {
  TdCanvas *canvas = data;
  if (!outline_of(canvas)) return;
  if (!gtk_drag_check_threshold(GTK_WIDGET(canvas), 0, 0, (int)dx, 0)) return;
  td_strip_view view = make_view(canvas);
  go(canvas,
     td_strip_position_at(&view, TD_STRIP_CANVAS(canvas)->press_x + td_canvas_units(canvas, dx)));
}

/* Where a key leads from a position, or the position. */
static uint64_t
place_of_key(TdDocument *document, uint64_t position, guint key) {
  uint64_t length = td_document_get_length(document), step = MAX(length / KEY_STEPS, 1);
  TdSegment segment = td_document_segment_at(document, position);
  switch (key) {
  case GDK_KEY_Down:
    return position > step ? position - step : 0;
  case GDK_KEY_Up:
    return MIN(position + step, length);
  case GDK_KEY_Page_Up:
    return td_document_segment_at(document, segment.first).first + 1;
  case GDK_KEY_Page_Down:
    return MIN(segment.end + 1, length);
  default:
    return position;
  }
}

static gboolean
key_pressed(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
            gpointer data) {
  TdCanvas *canvas = data;
  GdkModifierType modifiers = GDK_CONTROL_MASK | GDK_SHIFT_MASK | GDK_ALT_MASK;
  if (!outline_of(canvas) || state & modifiers) return GDK_EVENT_PROPAGATE;
  uint64_t position = td_playhead_get_target(td_canvas_get_playhead(canvas));
  uint64_t wanted = place_of_key(td_canvas_get_document(canvas), position, key);
  if (wanted == position) return GDK_EVENT_PROPAGATE;
  go(canvas, wanted);
  return GDK_EVENT_STOP;
}

static void
td_strip_canvas_class_init(TdStripCanvasClass *klass) {
  TdCanvasClass *canvas_class = TD_CANVAS_CLASS(klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  canvas_class->picture_name = "strip";
  canvas_class->draw = td_strip_canvas_draw;
  canvas_class->draw_over = td_strip_canvas_draw_over;
  canvas_class->update = td_strip_canvas_update;
  canvas_class->node_at = td_strip_canvas_node_at;
  widget_class->query_tooltip = td_strip_canvas_query_tooltip;
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_SLIDER);
}

static void
td_strip_canvas_init(TdStripCanvas *self) {
  GtkWidget *widget = GTK_WIDGET(self);
  gtk_widget_set_focusable(widget, TRUE);
  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_begin), self);
  g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), self);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drag));
  GtkEventController *key = gtk_event_controller_key_new();
  g_signal_connect(key, "key-pressed", G_CALLBACK(key_pressed), self);
  gtk_widget_add_controller(widget, key);
  g_signal_connect(self, "notify::has-focus", G_CALLBACK(gtk_widget_queue_draw), NULL);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Whole tape"), -1);
}
