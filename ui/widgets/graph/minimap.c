/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/minimap.h"

#include "ui/model/base/delay.h"

#include <glib/gi18n.h>

#define WIDTH 180
#define HEIGHT 116
#define PAD 6
#define LEAST_MS 250 /* from one picture to the next, while only the state changes */
#define LEAST_CANVAS_WIDTH 480
#define GAP 10 /* below the minimap, before anything else */

/* What the kept picture is of. */
typedef struct Shown {
  guint scene; /* the canvas's number of its scene */
  uint64_t position;
  const td_overlay *overlay;
  td_colour background;
  int scale;
} Shown;

struct _TdMinimap {
  GtkWidget parent_instance;
  TdGraphCanvas *canvas;    /* (owned) */
  cairo_surface_t *picture; /* (owned) or NULL */
  Shown shown;
  gint64 painted_us;
  guint later; /* id of a timeout that will draw again, or 0 */
  gboolean needed;
};

G_DEFINE_FINAL_TYPE(TdMinimap, td_minimap, GTK_TYPE_WIDGET)

/* The view in which the picture shows all. */
static td_graph_view
small_view(TdMinimap *self) {
  td_graph_view view = {.width = WIDTH - 2 * PAD,
                        .height = HEIGHT - 2 * PAD,
                        .selected = TD_NONE,
                        .hovered = TD_NONE,
                        .overlay = td_graph_canvas_get_view(self->canvas)->overlay};
  td_graph_scene_fit(td_graph_canvas_get_scene(self->canvas), &view);
  return view;
}

static Shown
wanted(TdMinimap *self) {
  TdPlayhead *playhead = td_canvas_get_playhead(TD_CANVAS(self->canvas));
  return (Shown){td_graph_canvas_get_scene_number(self->canvas), td_playhead_get_position(playhead),
                 td_graph_canvas_get_view(self->canvas)->overlay,
                 td_canvas_get_theme(TD_CANVAS(self->canvas))->background,
                 gtk_widget_get_scale_factor(GTK_WIDGET(self))};
}

static gboolean
same_but_for_state(const Shown *a, const Shown *b) {
  return a->scene == b->scene && a->overlay == b->overlay && a->scale == b->scale &&
         a->background.r == b->background.r && a->background.g == b->background.g &&
         a->background.b == b->background.b;
}

static gboolean
later_cb(gpointer data) {
  TdMinimap *self = data;
  self->later = 0;
  self->painted_us = 0;
  gtk_widget_queue_draw(GTK_WIDGET(self));
  return G_SOURCE_REMOVE;
}

/* The picture of a state just past may stay for a moment. */
static gboolean
may_stay(TdMinimap *self, const Shown *wanted) {
  if (!self->picture || !same_but_for_state(&self->shown, wanted)) return FALSE;
  if (self->shown.position == wanted->position) return TRUE;
  gint64 wait_ms = LEAST_MS - (g_get_monotonic_time() - self->painted_us) / 1000;
  if (wait_ms <= 0) return FALSE;
  if (!self->later) self->later = td_delay_add((guint)wait_ms, later_cb, self);
  return TRUE;
}

static void
paint(TdMinimap *self) {
  Shown shown = wanted(self);
  if (may_stay(self, &shown)) return;
  g_clear_pointer(&self->picture, cairo_surface_destroy);
  td_graph_view view = small_view(self);
  self->picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)view.width * shown.scale,
                                             (int)view.height * shown.scale);
  cairo_surface_set_device_scale(self->picture, shown.scale, shown.scale);
  cairo_t *cr = cairo_create(self->picture);
  TdCanvas *canvas = TD_CANVAS(self->canvas);
  td_graph_scene_draw_small(td_graph_canvas_get_scene(self->canvas), cr,
                            td_document_get_state(td_canvas_get_document(canvas)), &view,
                            td_canvas_get_theme(canvas));
  cairo_destroy(cr);
  self->shown = shown;
  self->painted_us = g_get_monotonic_time();
}

/* What the canvas shows, as a part of the small picture. */
static void
draw_frame(TdMinimap *self, cairo_t *cr, const td_graph_view *small) {
  const td_graph_view *view = td_graph_canvas_get_view(self->canvas);
  const td_theme *theme = td_canvas_get_theme(TD_CANVAS(self->canvas));
  double share = small->scale / view->scale;
  double width = view->width * share, height = view->height * share;
  double x = (view->centre_x - small->centre_x) * small->scale + small->width / 2 - width / 2;
  double y = (view->centre_y - small->centre_y) * small->scale + small->height / 2 - height / 2;
  cairo_rectangle(cr, x, y, MAX(width, 6), MAX(height, 5));
  td_theme_source(cr, td_colour_fade(theme->accent, 0.18));
  cairo_fill_preserve(cr);
  td_theme_source(cr, theme->accent);
  cairo_set_line_width(cr, 2);
  cairo_stroke(cr);
}

static void
draw_selected(TdMinimap *self, cairo_t *cr, const td_graph_view *small) {
  double x, y;
  uint32_t node = td_playhead_get_selection(td_canvas_get_playhead(TD_CANVAS(self->canvas)));
  if (node == TD_NONE ||
      !td_graph_scene_place(td_graph_canvas_get_scene(self->canvas), node, &x, &y))
    return;
  cairo_arc(cr, (x - small->centre_x) * small->scale + small->width / 2,
            (y - small->centre_y) * small->scale + small->height / 2, 3, 0, 2 * G_PI);
  td_theme_source(cr, td_canvas_get_theme(TD_CANVAS(self->canvas))->accent);
  cairo_fill(cr);
}

/* What the minimap takes of the canvas's upper edge. */
static double
bottom(TdMinimap *self) {
  int top = gtk_widget_get_margin_top(GTK_WIDGET(self));
  return td_canvas_units(TD_CANVAS(self->canvas), top + HEIGHT + GAP);
}

static gboolean
is_needed(TdMinimap *self) {
  const td_graph_view *view = self->canvas ? td_graph_canvas_get_view(self->canvas) : NULL;
  return view && view->width >= LEAST_CANVAS_WIDTH &&
         view->height >= bottom(self) + td_graph_legend_height() &&
         !td_graph_canvas_shows_all(self->canvas);
}

static void
update_needed(TdMinimap *self) {
  gboolean needed = is_needed(self) && gtk_widget_get_visible(GTK_WIDGET(self));
  double width = td_canvas_units(TD_CANVAS(self->canvas), WIDTH + 20);
  td_graph_canvas_set_covered(self->canvas, needed ? width : 0, needed ? bottom(self) : 0);
  if (needed == self->needed) return;
  self->needed = needed;
  gtk_accessible_update_state(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_STATE_HIDDEN, !needed, -1);
}

static void
td_minimap_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  TdMinimap *self = TD_MINIMAP(widget);
  update_needed(self);
  if (!self->needed) return;
  paint(self);
  td_graph_view small = small_view(self);
  const td_theme *theme = td_canvas_get_theme(TD_CANVAS(self->canvas));
  cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(0, 0, WIDTH, HEIGHT));
  td_theme_source(cr, theme->background);
  cairo_paint(cr);
  td_theme_source(cr, theme->line);
  cairo_set_line_width(cr, 1);
  cairo_rectangle(cr, 0.5, 0.5, WIDTH - 1, HEIGHT - 1);
  cairo_stroke(cr);
  cairo_rectangle(cr, 1, 1, WIDTH - 2, HEIGHT - 2);
  cairo_clip(cr);
  cairo_translate(cr, PAD, PAD);
  cairo_set_source_surface(cr, self->picture, 0, 0);
  cairo_paint(cr);
  draw_selected(self, cr, &small);
  draw_frame(self, cr, &small);
  cairo_destroy(cr);
}

/* Where it shows nothing, the canvas below has the pointer. */
static gboolean
td_minimap_contains(GtkWidget *widget, double x, double y) {
  return TD_MINIMAP(widget)->needed && x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT;
}

static void
td_minimap_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                   int *natural, int *minimum_baseline, int *natural_baseline) {
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? WIDTH : HEIGHT;
}

static void
go_to(TdMinimap *self, double x, double y) {
  if (!is_needed(self)) return;
  td_graph_view small = small_view(self);
  td_graph_canvas_centre(self->canvas, small.centre_x + (x - PAD - small.width / 2) / small.scale,
                         small.centre_y + (y - PAD - small.height / 2) / small.scale);
}

static void
drag_begin(GtkGestureDrag *gesture, double x, double y, gpointer data) {
  gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  go_to(data, x, y);
}

static void
drag_update(GtkGestureDrag *gesture, double dx, double dy, gpointer data) {
  double x, y;
  if (gtk_gesture_drag_get_start_point(gesture, &x, &y)) go_to(data, x + dx, y + dy);
}

static void
visible_changed(TdMinimap *self) {
  if (self->canvas) update_needed(self);
}

void
td_minimap_set_canvas(TdMinimap *self, TdGraphCanvas *canvas) {
  g_set_object(&self->canvas, canvas);
  g_signal_connect_object(canvas, "view-changed", G_CALLBACK(gtk_widget_queue_draw), self,
                          G_CONNECT_SWAPPED);
}

static void
td_minimap_dispose(GObject *object) {
  TdMinimap *self = TD_MINIMAP(object);
  g_clear_handle_id(&self->later, g_source_remove);
  g_clear_pointer(&self->picture, cairo_surface_destroy);
  g_clear_object(&self->canvas);
  G_OBJECT_CLASS(td_minimap_parent_class)->dispose(object);
}

static void
td_minimap_class_init(TdMinimapClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_minimap_dispose;
  widget_class->snapshot = td_minimap_snapshot;
  widget_class->contains = td_minimap_contains;
  widget_class->measure = td_minimap_measure;
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
td_minimap_init(TdMinimap *self) {
  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_begin), self);
  g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), self);
  gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(drag));
  g_signal_connect(self, "notify::visible", G_CALLBACK(visible_changed), NULL);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Minimap"),
                                 -1);
}
