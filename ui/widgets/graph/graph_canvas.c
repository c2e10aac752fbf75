/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/graph_canvas.h"

#include "ui/draw/graph_fold.h"
#include "ui/draw/graph_moves.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/graph_steps.h"
#include "ui/widgets/graph/graph_camera.h"
#include "ui/widgets/graph/graph_glider.h"
#include "ui/widgets/graph/graph_pointing.h"
#include "ui/widgets/graph/graph_reading.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

struct _TdGraphCanvas {
  TdCanvas parent_instance;
  td_graph_camera camera;
  td_graph_glider glider;
  double press_x, press_y; /* centre at the start of a drag */
  double pinch_scale;
  uint32_t last_selection, last_task;
  guint scene_number; /* another one for each scene shown */
  td_graph_reading reading;
  TdOverlayChoice *choice; /* (owned) */
  TdShownChain *way;       /* (owned) */
  TdStopList *stops;       /* (owned) */
  TdSubsetChoice *subset;  /* (owned) */
  TdFoldChoice *folds;     /* (owned) */
  guint shown_fold;        /* the wish of the folding shown */
  guint shown_wish;        /* of the part shown; 0: the whole graph */
};

G_DEFINE_FINAL_TYPE(TdGraphCanvas, td_graph_canvas, TD_TYPE_CANVAS)

static guint view_changed_signal, node_clicked_signal;

static td_graph_scene *
scene_of(TdGraphCanvas *self) {
  TdDocument *document = td_canvas_get_document(TD_CANVAS(self));
  td_graph_scene *part = document ? td_subset_choice_get_scene(self->subset) : NULL;
  td_graph_scene *folded = td_fold_choice_get_scene(self->folds);
  return !document ? NULL : part ? part : folded ? folded : td_document_get_scene(document);
}

static void
repaint(GtkWidget *widget) {
  td_canvas_repaint(TD_CANVAS(widget));
}

/* The view moved: the picture shows another part of the scene. */
static void
redraw(GtkWidget *widget) {
  td_canvas_repaint(TD_CANVAS(widget));
  g_signal_emit(widget, view_changed_signal, 0);
}

static uint32_t
point_of_interest(TdGraphCanvas *self) {
  TdCanvas *canvas = TD_CANVAS(self);
  uint32_t node = td_playhead_get_selection(td_canvas_get_playhead(canvas));
  double x, y;
  if (node != TD_NONE && td_graph_scene_place(scene_of(self), node, &x, &y)) return node;
  return td_document_get_root(td_canvas_get_document(canvas));
}

/* A part of the graph and a folded graph leave room for the bar that tells of them. */
static double
room_for_bar(TdGraphCanvas *self) {
  return self->shown_wish || td_fold_choice_get_scene(self->folds) ? TD_GRAPH_BAR : 0;
}

static gboolean
ensure_placed(TdGraphCanvas *self) {
  double width, height;
  td_canvas_get_size(TD_CANVAS(self), &width, &height);
  if (!scene_of(self) || !td_graph_camera_place(&self->camera, scene_of(self), width, height,
                                                point_of_interest(self), room_for_bar(self)))
    return FALSE;
  self->camera.task = self->last_task;
  return TRUE;
}

static void
reveal(TdGraphCanvas *self, uint32_t node) {
  if (ensure_placed(self)) td_graph_camera_reveal(&self->camera, scene_of(self), node);
}

static void
zoom_at(TdGraphCanvas *self, double factor, double x, double y) {
  if (ensure_placed(self)) td_graph_camera_zoom(&self->camera, scene_of(self), factor, x, y);
}

void
td_graph_canvas_zoom(TdGraphCanvas *self, double factor) {
  zoom_at(self, factor, self->camera.view.width / 2, self->camera.view.height / 2);
}

void
td_graph_canvas_fit(TdGraphCanvas *self) {
  if (ensure_placed(self)) td_graph_camera_fit(&self->camera, scene_of(self), room_for_bar(self));
}

static void
pan(TdGraphCanvas *self, double dx, double dy) {
  if (ensure_placed(self)) td_graph_camera_pan(&self->camera, scene_of(self), dx, dy);
}

static gboolean
scrolled(GtkEventControllerScroll *controller, double dx, double dy, gpointer data) {
  TdGraphCanvas *self = data;
  GdkModifierType state =
      gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
  dx = td_canvas_scroll_units(controller, dx);
  dy = td_canvas_scroll_units(controller, dy);
  double x, y;
  td_canvas_get_pointer(TD_CANVAS(self), &x, &y);
  if (state & GDK_CONTROL_MASK)
    zoom_at(self, exp(-dy / 300), x, y);
  else if (state & GDK_SHIFT_MASK)
    pan(self, dy, dx);
  else
    pan(self, dx, dy);
  return GDK_EVENT_STOP;
}

static void
drag_begin(GtkGestureDrag *gesture, double x, double y, gpointer data) {
  TdGraphCanvas *self = data;
  td_graph_camera_stop(&self->camera);
  self->press_x = self->camera.view.centre_x;
  self->press_y = self->camera.view.centre_y;
}

static void
drag_update(GtkGestureDrag *gesture, double dx, double dy, gpointer data) {
  TdGraphCanvas *self = data;
  if (!gtk_drag_check_threshold(GTK_WIDGET(self), 0, 0, (int)dx, (int)dy) && self->camera.at_home)
    return;
  if (!ensure_placed(self)) return;
  gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  TdCanvas *canvas = TD_CANVAS(self);
  double scale = self->camera.view.scale;
  td_graph_camera_centre(&self->camera, scene_of(self),
                         self->press_x - td_canvas_units(canvas, dx) / scale,
                         self->press_y - td_canvas_units(canvas, dy) / scale);
}

static void
look_around(TdGraphCanvas *self) {
  td_graph_pointing_look(TD_CANVAS(self), self->subset, &self->camera.view);
  if (td_fold_choice_get_scene(self->folds)) self->camera.view.covered_below = TD_GRAPH_BAR;
  if (self->way)
    self->camera.view.way = td_shown_chain_get_nodes(self->way, &self->camera.view.n_chain,
                                                     &self->camera.view.chain_present);
  if (self->stops)
    self->camera.view.stops = td_stop_list_get_nodes(self->stops, &self->camera.view.n_stops);
}

/* A block stands for several nodes. */
static void
tell_click(TdGraphCanvas *self, double x, double y) {
  const td_graph_scene *scene = scene_of(self);
  uint32_t node = td_graph_scene_hit(scene, &self->camera.view, x, y);
  if (node != TD_NONE && !td_graph_scene_block(scene, node))
    g_signal_emit(self, node_clicked_signal, 0, node);
}

static void
select_at(TdGraphCanvas *self, double x, double y, GdkModifierType modifiers) {
  look_around(self);
  tell_click(self, x, y);
  uint32_t beyond = td_graph_pointing_select(TD_CANVAS(self), self->subset, scene_of(self),
                                             &self->camera.view, x, y, modifiers);
  if (beyond != TD_NONE) reveal(self, beyond);
}

/* FALSE if the selected node is in no block. */
static gboolean
open_selected(TdGraphCanvas *self) {
  uint32_t node = td_playhead_get_selection(td_canvas_get_playhead(TD_CANVAS(self)));
  return node != TD_NONE && !self->shown_wish && td_fold_choice_open(self->folds, node);
}

static void
clicked(GtkGestureClick *gesture, int n, double x, double y, gpointer data) {
  TdGraphCanvas *self = data;
  TdCanvas *canvas = TD_CANVAS(self);
  gtk_widget_grab_focus(GTK_WIDGET(self));
  GdkModifierType modifiers =
      gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(gesture));
  if (ensure_placed(self))
    select_at(self, td_canvas_units(canvas, x), td_canvas_units(canvas, y), modifiers);
  if (n == 2) open_selected(self);
}

static void
pinch_begin(GtkGesture *gesture, GdkEventSequence *sequence, gpointer data) {
  TD_GRAPH_CANVAS(data)->pinch_scale = 1;
}

static void
pinched(GtkGestureZoom *gesture, double scale, gpointer data) {
  TdGraphCanvas *self = data;
  double x, y;
  if (!gtk_gesture_get_bounding_box_center(GTK_GESTURE(gesture), &x, &y)) return;
  TdCanvas *canvas = TD_CANVAS(self);
  zoom_at(self, scale / self->pinch_scale, td_canvas_units(canvas, x), td_canvas_units(canvas, y));
  self->pinch_scale = scale;
}

static gboolean
key_pressed(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
            gpointer data) {
  TdGraphCanvas *self = data;
  if (key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) return open_selected(self);
  int dx = (key == GDK_KEY_Right) - (key == GDK_KEY_Left);
  int dy = (key == GDK_KEY_Down) - (key == GDK_KEY_Up);
  if ((!dx && !dy) || (dx && !(state & GDK_CONTROL_MASK)) || !ensure_placed(self))
    return GDK_EVENT_PROPAGATE;
  TdPlayhead *playhead = td_canvas_get_playhead(TD_CANVAS(self));
  uint32_t node = td_playhead_get_selection(playhead);
  node = node == TD_NONE ? point_of_interest(self)
                         : td_graph_scene_neighbour(scene_of(self), node, dx, dy);
  if (node != TD_NONE) td_playhead_set_selection(playhead, node);
  td_canvas_focus_selection(TD_CANVAS(self));
  return GDK_EVENT_STOP;
}

static void
describe(TdGraphCanvas *self) {
  g_autofree char *text = td_graph_pointing_dup_text(TD_CANVAS(self), self->subset, self->folds,
                                                     self->choice, scene_of(self));
  td_canvas_describe(TD_CANVAS(self), text);
}

static void
td_graph_canvas_update(TdCanvas *canvas, TdCanvasChange change) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  gboolean document = change == TD_CANVAS_SCENE;
  uint32_t node = td_playhead_get_selection(td_canvas_get_playhead(canvas));
  TdDocument *shown = td_canvas_get_document(canvas);
  if (document &&
      !(td_document_is_live(shown) && td_document_get_graph_task(shown) == self->last_task)) {
    td_graph_camera_stop(&self->camera);
    self->camera.placed = FALSE;
  }
  self->last_task = td_document_get_graph_task(shown);
  if (document) {
    td_graph_glider_stop(&self->glider);
    td_overlay_choice_show(self->choice, shown, self->last_task);
    td_subset_choice_show(self->subset, shown, self->last_task);
    td_fold_choice_show(self->folds, shown, self->last_task);
  }
  if (document) self->scene_number++;
  g_signal_emit(self, view_changed_signal, 0);
  describe(self);
  if (node != TD_NONE && (document || node != self->last_selection)) reveal(self, node);
  self->last_selection = node;
}

static void
overlay_changed(TdGraphCanvas *self) {
  self->camera.view.overlay = td_overlay_choice_get(self->choice);
  self->camera.view.overlay_note = td_overlay_choice_get_note(self->choice);
  if (!td_canvas_get_document(TD_CANVAS(self))) return;
  describe(self);
  redraw(GTK_WIDGET(self));
}

void
td_graph_canvas_set_hides_counts(TdGraphCanvas *self, gboolean hides) {
  if (self->camera.view.hides_counts == hides) return;
  self->camera.view.hides_counts = hides;
  redraw(GTK_WIDGET(self));
}

/* The view of the whole graph comes back when the part goes. That of another pass is no use. */
static void
enter_part(TdGraphCanvas *self) {
  if (self->shown_wish == 0 && self->camera.task == self->last_task)
    td_graph_camera_keep_whole(&self->camera, self->last_task);
  self->camera.placed = FALSE;
}

static void
subset_changed(TdGraphCanvas *self) {
  guint wish = td_subset_choice_get_wish(self->subset);
  if (!td_canvas_get_document(TD_CANVAS(self))) return;
  if (wish != self->shown_wish) {
    td_graph_camera_stop(&self->camera);
    td_graph_glider_stop(&self->glider);
    if (wish)
      enter_part(self);
    else
      td_graph_camera_bring_whole(&self->camera, self->last_task);
    self->shown_wish = wish;
    self->scene_number++;
  }
  describe(self);
  redraw(GTK_WIDGET(self));
}

/* The anchor stays where it is on the screen while the scene changes around it. */
static void
fold_changing(TdGraphCanvas *self) {
  td_graph_glider_stop(&self->glider);
  td_graph_camera_hold(&self->camera, self->shown_wish ? NULL : scene_of(self),
                       td_fold_choice_get_anchor(self->folds));
}

static void
glide(TdGraphCanvas *self) {
  td_graph_scene *before = td_fold_choice_take_before(self->folds);
  td_graph_scene *from =
      before ? before : td_document_get_scene(td_canvas_get_document(TD_CANVAS(self)));
  td_graph_glider_start(&self->glider, from, before, scene_of(self),
                        td_fold_choice_get_anchor(self->folds), &self->camera.view);
}

static void
fold_changed(TdGraphCanvas *self) {
  if (!td_canvas_get_document(TD_CANVAS(self))) return;
  gboolean other = td_fold_choice_get_wish(self->folds) != self->shown_fold;
  self->shown_fold = td_fold_choice_get_wish(self->folds);
  if (other && !self->shown_wish) {
    self->scene_number++;
    if (td_graph_camera_settle(&self->camera, scene_of(self),
                               td_fold_choice_get_anchor(self->folds), room_for_bar(self)))
      glide(self);
    else
      self->camera.placed = FALSE;
  }
  if (other) self->camera.whole.task = TD_NONE;
  describe(self);
  redraw(GTK_WIDGET(self));
}

TdFoldChoice *
td_graph_canvas_get_fold_choice(TdGraphCanvas *self) {
  return self->folds;
}

td_graph_scene *
td_graph_canvas_get_scene(TdGraphCanvas *self) {
  return scene_of(self);
}

guint
td_graph_canvas_get_scene_number(TdGraphCanvas *self) {
  return self->scene_number;
}

const td_graph_view *
td_graph_canvas_get_view(TdGraphCanvas *self) {
  return self->camera.placed && scene_of(self) ? &self->camera.view : NULL;
}

gboolean
td_graph_canvas_shows_all(TdGraphCanvas *self) {
  return td_graph_view_shows_all(&self->camera.view, scene_of(self));
}

void
td_graph_canvas_centre(TdGraphCanvas *self, double x, double y) {
  if (ensure_placed(self)) td_graph_camera_centre(&self->camera, scene_of(self), x, y);
}

void
td_graph_canvas_set_covered(TdGraphCanvas *self, double width, double bottom) {
  self->camera.view.covered_width = width;
  self->camera.view.covered_bottom = bottom;
}

TdSubsetChoice *
td_graph_canvas_get_subset_choice(TdGraphCanvas *self) {
  return self->subset;
}

TdOverlayChoice *
td_graph_canvas_get_overlay_choice(TdGraphCanvas *self) {
  return self->choice;
}

void
td_graph_canvas_set_chain(TdGraphCanvas *self, TdShownChain *way) {
  if (!g_set_object(&self->way, way)) return;
  g_signal_connect_object(way, "changed", G_CALLBACK(gtk_widget_queue_draw), self,
                          G_CONNECT_SWAPPED);
}

void
td_graph_canvas_set_stops(TdGraphCanvas *self, TdStopList *stops) {
  if (!g_set_object(&self->stops, stops)) return;
  g_signal_connect_object(stops, "changed", G_CALLBACK(gtk_widget_queue_draw), self,
                          G_CONNECT_SWAPPED);
}

void
td_graph_canvas_set_lone(TdGraphCanvas *self, const uint32_t *nodes, uint32_t n) {
  self->camera.view.lone = nodes;
  self->camera.view.n_lone = n;
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void
td_graph_canvas_draw(TdCanvas *canvas, cairo_t *cr) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  if (!ensure_placed(self)) return;
  const td_state *state = td_document_get_state(td_canvas_get_document(canvas));
  const td_theme *theme = td_canvas_get_theme(canvas);
  td_label_cache *labels = td_canvas_get_labels(canvas);
  if (!td_graph_glider_draw(&self->glider, cr, state, &self->camera.view, theme, labels))
    td_graph_scene_draw(scene_of(self), cr, state, &self->camera.view, theme, labels);
}

static void
td_graph_canvas_draw_over(TdCanvas *canvas, cairo_t *cr) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  if (!ensure_placed(self)) return;
  look_around(self);
  td_graph_scene *gliding = td_graph_glider_scene(&self->glider);
  td_graph_scene_draw_over(
      gliding ? gliding : scene_of(self), cr, td_document_get_state(td_canvas_get_document(canvas)),
      &self->camera.view, td_canvas_get_theme(canvas), td_canvas_get_labels(canvas));
}

static uint32_t
td_graph_canvas_node_at(TdCanvas *canvas, double x, double y) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  if (!ensure_placed(self)) return TD_NONE;
  look_around(self);
  return td_graph_pointing_node_at(canvas, scene_of(self), &self->camera.view, x, y);
}

/* Over a block, what it is; over a node, what every canvas says. */
static gboolean
td_graph_canvas_query_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard,
                              GtkTooltip *tooltip) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(widget);
  TdCanvas *canvas = TD_CANVAS(self);
  uint32_t node =
      keyboard || self->shown_wish || !td_canvas_get_document(canvas)
          ? TD_NONE
          : td_graph_canvas_node_at(canvas, td_canvas_units(canvas, x), td_canvas_units(canvas, y));
  g_autofree char *block = node == TD_NONE ? NULL : td_fold_choice_dup_block(self->folds, node);
  if (!block)
    return GTK_WIDGET_CLASS(td_graph_canvas_parent_class)
        ->query_tooltip(widget, x, y, keyboard, tooltip);
  g_autofree char *text = g_strdup_printf(_("%s: a double click opens the block"), block);
  gtk_tooltip_set_text(tooltip, text);
  return TRUE;
}

static void
td_graph_canvas_tell(TdCanvas *canvas, GArray *told) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  if (ensure_placed(self))
    td_graph_reading_tell(&self->reading, canvas, scene_of(self), self->scene_number,
                          &self->camera.view, self->folds, point_of_interest(self), told);
}

/* In another size, the view is another too. */
static void
td_graph_canvas_size_allocate(GtkWidget *widget, int width, int height, int baseline) {
  GTK_WIDGET_CLASS(td_graph_canvas_parent_class)->size_allocate(widget, width, height, baseline);
  g_signal_emit(widget, view_changed_signal, 0);
}

static void
td_graph_canvas_dispose(GObject *object) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(object);
  td_graph_camera_fini(&self->camera);
  td_graph_glider_fini(&self->glider);
  td_graph_reading_fini(&self->reading);
  g_clear_object(&self->choice);
  g_clear_object(&self->way);
  g_clear_object(&self->stops);
  g_clear_object(&self->subset);
  g_clear_object(&self->folds);
  G_OBJECT_CLASS(td_graph_canvas_parent_class)->dispose(object);
}

static void
td_graph_canvas_class_init(TdGraphCanvasClass *klass) {
  TdCanvasClass *canvas_class = TD_CANVAS_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_graph_canvas_dispose;
  view_changed_signal = g_signal_new("view-changed", TD_TYPE_GRAPH_CANVAS, G_SIGNAL_RUN_LAST, 0,
                                     NULL, NULL, NULL, G_TYPE_NONE, 0);
  node_clicked_signal = g_signal_new("node-clicked", TD_TYPE_GRAPH_CANVAS, G_SIGNAL_RUN_LAST, 0,
                                     NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  GTK_WIDGET_CLASS(klass)->query_tooltip = td_graph_canvas_query_tooltip;
  GTK_WIDGET_CLASS(klass)->size_allocate = td_graph_canvas_size_allocate;
  canvas_class->shows_scene = TRUE;
  canvas_class->picture_name = "graph";
  canvas_class->draw = td_graph_canvas_draw;
  canvas_class->draw_over = td_graph_canvas_draw_over;
  canvas_class->update = td_graph_canvas_update;
  canvas_class->node_at = td_graph_canvas_node_at;
  canvas_class->tell = td_graph_canvas_tell;
  canvas_class->selects_by_keys = TRUE;
}

static void
add_gestures(TdGraphCanvas *self) {
  GtkWidget *widget = GTK_WIDGET(self);
  GtkGesture *click = gtk_gesture_click_new();
  g_signal_connect(click, "released", G_CALLBACK(clicked), self);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(click));
  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_begin), self);
  g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), self);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drag));
  GtkGesture *zoom = gtk_gesture_zoom_new();
  g_signal_connect(zoom, "begin", G_CALLBACK(pinch_begin), self);
  g_signal_connect(zoom, "scale-changed", G_CALLBACK(pinched), self);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(zoom));
}

static void
td_graph_canvas_init(TdGraphCanvas *self) {
  GtkWidget *widget = GTK_WIDGET(self);
  self->last_selection = TD_NONE;
  td_graph_camera_init(&self->camera, widget, redraw);
  td_graph_glider_init(&self->glider, widget, repaint);
  self->choice = td_overlay_choice_new();
  g_signal_connect_swapped(self->choice, "changed", G_CALLBACK(overlay_changed), self);
  self->subset = td_subset_choice_new();
  self->folds = td_fold_choice_new();
  g_signal_connect_swapped(self->folds, "changing", G_CALLBACK(fold_changing), self);
  g_signal_connect_swapped(self->folds, "changed", G_CALLBACK(fold_changed), self);
  g_signal_connect_swapped(self->subset, "changed", G_CALLBACK(subset_changed), self);
  td_canvas_add_reader(TD_CANVAS(self), _("Functions of the graph"));
  gtk_widget_set_size_request(widget, 240, 120);
  add_gestures(self);
  GtkEventController *scroll =
      gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect(scroll, "scroll", G_CALLBACK(scrolled), self);
  gtk_widget_add_controller(widget, scroll);
  GtkEventController *key = gtk_event_controller_key_new();
  g_signal_connect(key, "key-pressed", G_CALLBACK(key_pressed), self);
  gtk_widget_add_controller(widget, key);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Backward graph"), -1);
}
