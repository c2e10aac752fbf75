/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/canvas.h"

#include "ui/model/facts.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define WHEEL_STEP_PIXELS 60

typedef struct TdCanvasPrivate {
  TdPlayhead *playhead; /* (owned) */
  TdDocument *scene_of; /* (owned): whose "scene" we listen to */
  td_theme theme;
  td_label_cache *labels; /* (owned), made when first drawn */
  double pointer_x, pointer_y;
  uint32_t hovered;
  char *description; /* (owned): last told */
} TdCanvasPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(TdCanvas, td_canvas, GTK_TYPE_WIDGET)

static TdCanvasPrivate *
private_of(TdCanvas *self) {
  return td_canvas_get_instance_private(self);
}

static void
take_colour(GtkStyleContext *context, const char *name, td_colour *colour) {
  GdkRGBA rgba;
  if (gtk_style_context_lookup_color(context, name, &rgba))
    *colour = (td_colour){rgba.red, rgba.green, rgba.blue, rgba.alpha};
}

static void
update_theme(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  GtkStyleContext *context = gtk_widget_get_style_context(GTK_WIDGET(self));
  priv->theme = *td_theme_default(adw_style_manager_get_dark(adw_style_manager_get_default()));
  take_colour(context, "view_bg_color", &priv->theme.background);
  take_colour(context, "accent_color", &priv->theme.accent);
  g_clear_pointer(&priv->labels, td_label_cache_free);
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void
update(TdCanvas *self, gboolean document) {
  TD_CANVAS_GET_CLASS(self)->update(self, document);
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void
playhead_changed(TdCanvas *self) {
  if (td_canvas_get_document(self)) update(self, FALSE);
}

static void
scene_changed(TdCanvas *self) {
  if (td_canvas_get_document(self)) update(self, TRUE);
}

static void
document_changed(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  if (priv->scene_of) g_signal_handlers_disconnect_by_data(priv->scene_of, self);
  g_set_object(&priv->scene_of, td_canvas_get_document(self));
  if (!priv->scene_of) return;
  g_signal_connect_swapped(priv->scene_of, "notify::scene", G_CALLBACK(scene_changed), self);
  priv->hovered = TD_NONE;
  update(self, TRUE);
}

void
td_canvas_set_playhead(TdCanvas *self, TdPlayhead *playhead) {
  TdCanvasPrivate *priv = private_of(self);
  if (!g_set_object(&priv->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(playhead_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(playhead_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "span-changed", G_CALLBACK(playhead_changed), self,
                          G_CONNECT_SWAPPED);
  document_changed(self);
}

TdPlayhead *
td_canvas_get_playhead(TdCanvas *self) {
  return private_of(self)->playhead;
}

TdDocument *
td_canvas_get_document(TdCanvas *self) {
  TdPlayhead *playhead = private_of(self)->playhead;
  return playhead ? td_playhead_get_document(playhead) : NULL;
}

const td_theme *
td_canvas_get_theme(TdCanvas *self) {
  return &private_of(self)->theme;
}

td_label_cache *
td_canvas_get_labels(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  if (!priv->labels) priv->labels = td_label_cache_new(&priv->theme);
  return priv->labels;
}

uint32_t
td_canvas_get_hovered(TdCanvas *self) {
  return private_of(self)->hovered;
}

void
td_canvas_get_pointer(TdCanvas *self, double *x, double *y) {
  *x = private_of(self)->pointer_x;
  *y = private_of(self)->pointer_y;
}

void
td_canvas_describe(TdCanvas *self, const char *description) {
  TdCanvasPrivate *priv = private_of(self);
  if (g_strcmp0(priv->description, description) == 0) return;
  g_free(priv->description);
  priv->description = g_strdup(description);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                 description, -1);
}

static char *
sequence_text(uint64_t sequence_nr) {
  if (sequence_nr == UINT64_MAX) return g_strdup(_("sequence_nr max"));
  return g_strdup_printf(_("sequence_nr %" G_GUINT64_FORMAT), sequence_nr);
}

char *
td_canvas_dup_node_text(TdCanvas *self, uint32_t node) {
  TdDocument *document = td_canvas_get_document(self);
  g_autofree char *name = td_document_dup_node_name(document, node);
  const td_graph *graph = td_document_get_graph(document);
  if (node >= graph->n_nodes) return g_steal_pointer(&name);
  const char *label = graph->nodes[node].label;
  const char *state = td_facts_node_state(document, node);
  g_autofree char *number = sequence_text(graph->nodes[node].sequence_nr);
  return label ? g_strdup_printf("%s (%s), %s, %s", name, label, number, state)
               : g_strdup_printf("%s, %s, %s", name, number, state);
}

double
td_canvas_scroll_pixels(GtkEventControllerScroll *controller, double delta) {
  GdkScrollUnit unit = gtk_event_controller_scroll_get_unit(controller);
  return unit == GDK_SCROLL_UNIT_WHEEL ? delta * WHEEL_STEP_PIXELS : delta;
}

static void
set_hovered(TdCanvas *self, uint32_t node) {
  TdCanvasPrivate *priv = private_of(self);
  if (node == priv->hovered) return;
  priv->hovered = node;
  gtk_widget_set_cursor_from_name(GTK_WIDGET(self), node == TD_NONE ? NULL : "pointer");
  gtk_widget_trigger_tooltip_query(GTK_WIDGET(self));
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void
pointer_moved(TdCanvas *self, double x, double y) {
  TdCanvasPrivate *priv = private_of(self);
  priv->pointer_x = x;
  priv->pointer_y = y;
  if (td_canvas_get_document(self))
    set_hovered(self, TD_CANVAS_GET_CLASS(self)->node_at(self, x, y));
}

static void
pointer_left(TdCanvas *self) {
  set_hovered(self, TD_NONE);
}

static gboolean
td_canvas_query_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip) {
  TdCanvas *self = TD_CANVAS(widget);
  if (keyboard || !td_canvas_get_document(self)) return FALSE;
  uint32_t node = TD_CANVAS_GET_CLASS(self)->node_at(self, x, y);
  if (node == TD_NONE) return FALSE;
  g_autofree char *text = td_canvas_dup_node_text(self, node);
  gtk_tooltip_set_text(tooltip, text);
  return TRUE;
}

static void
td_canvas_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  TdCanvas *self = TD_CANVAS(widget);
  int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
  if (!td_canvas_get_document(self) || width <= 0 || height <= 0) return;
  cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(0, 0, width, height));
  TD_CANVAS_GET_CLASS(self)->draw(self, cr);
  cairo_destroy(cr);
}

static void
td_canvas_css_changed(GtkWidget *widget, GtkCssStyleChange *change) {
  GTK_WIDGET_CLASS(td_canvas_parent_class)->css_changed(widget, change);
  update_theme(TD_CANVAS(widget));
}

static void
td_canvas_dispose(GObject *object) {
  TdCanvasPrivate *priv = private_of(TD_CANVAS(object));
  if (priv->scene_of) g_signal_handlers_disconnect_by_data(priv->scene_of, object);
  g_clear_object(&priv->scene_of);
  g_clear_object(&priv->playhead);
  g_clear_pointer(&priv->labels, td_label_cache_free);
  g_clear_pointer(&priv->description, g_free);
  G_OBJECT_CLASS(td_canvas_parent_class)->dispose(object);
}

static void
td_canvas_class_init(TdCanvasClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_canvas_dispose;
  widget_class->snapshot = td_canvas_snapshot;
  widget_class->query_tooltip = td_canvas_query_tooltip;
  widget_class->css_changed = td_canvas_css_changed;
  gtk_widget_class_set_css_name(widget_class, "tdcanvas");
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
td_canvas_init(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  priv->hovered = TD_NONE;
  gtk_widget_set_has_tooltip(GTK_WIDGET(self), TRUE);
  gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
  GtkEventController *motion = gtk_event_controller_motion_new();
  g_signal_connect_swapped(motion, "motion", G_CALLBACK(pointer_moved), self);
  g_signal_connect_swapped(motion, "leave", G_CALLBACK(pointer_left), self);
  gtk_widget_add_controller(GTK_WIDGET(self), motion);
  g_signal_connect_object(adw_style_manager_get_default(), "notify::dark", G_CALLBACK(update_theme),
                          self, G_CONNECT_SWAPPED);
}
