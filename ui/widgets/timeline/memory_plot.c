/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/timeline/memory_plot.h"

#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"

#include <glib/gi18n.h>
#include <math.h>

/* An arrow key goes so many-th of the time shown. */
#define KEY_STEPS 100

struct _TdMemoryPlot {
  TdCanvas parent_instance;
  td_memory_areas *areas; /* (owned) or NULL */
  double press_x;
  gboolean is_range;
  double begin_ns, end_ns; /* what is earlier or later is not shown */
};

G_DEFINE_FINAL_TYPE(TdMemoryPlot, td_memory_plot, TD_TYPE_CANVAS)

static td_memory_view
make_view(TdCanvas *canvas) {
  td_memory_view view = {.now_ns = (double)td_playhead_get_time_ns(td_canvas_get_playhead(canvas))};
  td_canvas_get_size(canvas, &view.width, &view.height);
  td_document_get_extent(td_canvas_get_document(canvas), &view.from_ns, &view.to_ns);
  view.from_ns = MAX(view.from_ns, TD_MEMORY_PLOT(canvas)->begin_ns);
  view.to_ns = MIN(view.to_ns, TD_MEMORY_PLOT(canvas)->end_ns);
  return view;
}

static gboolean
has_picture(TdCanvas *canvas) {
  return TD_MEMORY_PLOT(canvas)->areas && td_canvas_get_document(canvas);
}

static void
td_memory_plot_draw(TdCanvas *canvas, cairo_t *cr) {
  if (!has_picture(canvas)) return;
  td_memory_view view = make_view(canvas);
  td_memory_picture_draw(TD_MEMORY_PLOT(canvas)->areas, cr, &view, td_canvas_get_theme(canvas),
                         td_canvas_get_labels(canvas));
}

/* Of a range of time, the playhead may be outside. */
static gboolean
is_shown(TdMemoryPlot *self, double ns) {
  return !self->is_range || (ns >= self->begin_ns && ns <= self->end_ns);
}

static void
td_memory_plot_draw_over(TdCanvas *canvas, cairo_t *cr) {
  if (!has_picture(canvas)) return;
  td_memory_view view = make_view(canvas);
  if (is_shown(TD_MEMORY_PLOT(canvas), view.now_ns))
    td_memory_picture_draw_over(cr, &view, td_canvas_get_theme(canvas));
}

static uint32_t
td_memory_plot_node_at(TdCanvas *canvas, double x, double y) {
  return TD_NONE;
}

/* "1.84 ms: 695 KiB: saved tensors 555 KiB, input buffers 116 KiB". */
static char *
dup_text(TdMemoryPlot *self, double ns) {
  const td_memory_level *level = td_memory_picture_at(self->areas, ns);
  g_autofree char *time = td_format_ns(ns);
  if (!level) return g_strdup_printf(_("%s: nothing was held yet"), time);
  g_autofree char *total = td_format_bytes(td_memory_total(level));
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, _("%s: %s"), time, total);
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    g_autofree char *bytes = td_format_bytes(level->bytes[group]);
    if (level->bytes[group])
      g_string_append_printf(text, "\n%s: %s", _(td_memory_picture_group(group)), bytes);
  }
  return g_string_free(text, FALSE);
}

static void
td_memory_plot_update(TdCanvas *canvas, TdCanvasChange change) {
  if (!has_picture(canvas)) return;
  double now = (double)td_playhead_get_time_ns(td_canvas_get_playhead(canvas));
  g_autofree char *text = dup_text(TD_MEMORY_PLOT(canvas), now);
  td_canvas_describe(canvas, text);
}

/* Programs may take long to end. The plot ends with the last pass, or with a later peak. */
static double
find_end(TdMemoryPlot *self) {
  TdDocument *document = td_canvas_get_document(TD_CANVAS(self));
  double first, last;
  if (!self->areas || !document || td_document_is_cut(document)) return INFINITY;
  td_pass_span_of_all(td_document_get_replay(document), &first, &last);
  return self->areas->peak_ns == UINT64_MAX ? last : MAX(last, (double)self->areas->peak_ns);
}

void
td_memory_plot_set_areas(TdMemoryPlot *self, const td_memory_areas *areas, double from_ns,
                         double to_ns) {
  g_free(self->areas);
  self->areas = areas ? g_memdup2(areas, sizeof *areas) : NULL;
  self->is_range = to_ns > 0;
  self->begin_ns = from_ns;
  self->end_ns = to_ns > 0 ? to_ns : find_end(self);
  td_canvas_repaint(TD_CANVAS(self));
  td_memory_plot_update(TD_CANVAS(self), TD_CANVAS_SCENE);
}

static gboolean
td_memory_plot_query_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard,
                             GtkTooltip *tooltip) {
  TdCanvas *canvas = TD_CANVAS(widget);
  if (keyboard || !has_picture(canvas)) return FALSE;
  td_memory_view view = make_view(canvas);
  g_autofree char *text =
      dup_text(TD_MEMORY_PLOT(canvas), td_memory_view_time_at(&view, td_canvas_units(canvas, x)));
  gtk_tooltip_set_text(tooltip, text);
  return TRUE;
}

static void
go(TdCanvas *canvas, double ns) {
  td_playhead_set_playing(td_canvas_get_playhead(canvas), FALSE);
  td_playhead_seek_time(td_canvas_get_playhead(canvas), ns);
}

static void
drag_begin(GtkGestureDrag *gesture, double x, double y, gpointer data) {
  TdCanvas *canvas = data;
  if (!has_picture(canvas)) return;
  td_memory_view view = make_view(canvas);
  x = td_canvas_units(canvas, x);
  TD_MEMORY_PLOT(canvas)->press_x = x;
  gtk_widget_grab_focus(GTK_WIDGET(canvas));
  go(canvas, td_memory_view_time_at(&view, x));
}

static void
drag_update(GtkGestureDrag *gesture, double dx, double dy, gpointer data) {
  TdCanvas *canvas = data;
  if (!has_picture(canvas) || !gtk_drag_check_threshold(GTK_WIDGET(canvas), 0, 0, (int)dx, 0))
    return;
  td_memory_view view = make_view(canvas);
  go(canvas,
     td_memory_view_time_at(&view, TD_MEMORY_PLOT(canvas)->press_x + td_canvas_units(canvas, dx)));
}

static gboolean
key_pressed(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
            gpointer data) {
  TdCanvas *canvas = data;
  int direction = (key == GDK_KEY_Up) - (key == GDK_KEY_Down);
  GdkModifierType modifiers = GDK_CONTROL_MASK | GDK_SHIFT_MASK | GDK_ALT_MASK;
  if (!has_picture(canvas) || !direction || state & modifiers) return GDK_EVENT_PROPAGATE;
  td_memory_view view = make_view(canvas);
  if (direction > 0 && view.now_ns >= view.to_ns) return GDK_EVENT_STOP;
  double wanted = view.now_ns + direction * (view.to_ns - view.from_ns) / KEY_STEPS;
  go(canvas, CLAMP(wanted, view.from_ns, view.to_ns));
  return GDK_EVENT_STOP;
}

static void
td_memory_plot_finalize(GObject *object) {
  g_free(TD_MEMORY_PLOT(object)->areas);
  G_OBJECT_CLASS(td_memory_plot_parent_class)->finalize(object);
}

static void
td_memory_plot_class_init(TdMemoryPlotClass *klass) {
  TdCanvasClass *canvas_class = TD_CANVAS_CLASS(klass);
  G_OBJECT_CLASS(klass)->finalize = td_memory_plot_finalize;
  canvas_class->picture_name = "memory";
  canvas_class->draw = td_memory_plot_draw;
  canvas_class->draw_over = td_memory_plot_draw_over;
  canvas_class->update = td_memory_plot_update;
  canvas_class->node_at = td_memory_plot_node_at;
  GTK_WIDGET_CLASS(klass)->query_tooltip = td_memory_plot_query_tooltip;
}

static void
td_memory_plot_init(TdMemoryPlot *self) {
  GtkWidget *widget = GTK_WIDGET(self);
  gtk_widget_set_focusable(widget, TRUE);
  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_begin), self);
  g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), self);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drag));
  GtkEventController *key = gtk_event_controller_key_new();
  g_signal_connect(key, "key-pressed", G_CALLBACK(key_pressed), self);
  gtk_widget_add_controller(widget, key);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Memory over time"), -1);
}
