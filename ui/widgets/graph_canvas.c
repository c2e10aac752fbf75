/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph_canvas.h"

#include "ui/draw/graph_moves.h"
#include "ui/draw/graph_scene.h"
#include "ui/widgets/graph_pointing.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define MOVE_MS 180

struct _TdGraphCanvas {
  TdCanvas parent_instance;
  td_graph_view view;
  gboolean at_home;   /* never moved by hand: the view is chosen anew when the pane changes size */
  gboolean placed;    /* the view was chosen for this scene */
  AdwAnimation *move; /* (owned) */
  double from_x, from_y, to_x, to_y; /* scene points of the running move */
  double press_x, press_y;           /* centre at the start of a drag */
  double pinch_scale;
  uint32_t last_selection, last_task;
  guint scene_number;                  /* another one for each scene shown */
  TdOverlayChoice *choice;             /* (owned) */
  TdWayBack *way;                      /* (owned) */
  TdSubsetChoice *subset;              /* (owned) */
  guint shown_wish;                    /* of the part shown; 0: the whole graph */
  td_graph_view whole_view;            /* of the whole graph, while a part is shown */
  gboolean whole_at_home;              /* the same */
  uint32_t view_task, whole_view_task; /* the passes of both views */
};

G_DEFINE_FINAL_TYPE(TdGraphCanvas, td_graph_canvas, TD_TYPE_CANVAS)

static guint view_changed_signal;

static td_graph_scene *
scene_of(TdGraphCanvas *self) {
  TdDocument *document = td_canvas_get_document(TD_CANVAS(self));
  td_graph_scene *part = document ? td_subset_choice_get_scene(self->subset) : NULL;
  return !document ? NULL : part ? part : td_document_get_scene(document);
}

/* The view moved: the picture shows another part of the scene. */
static void
redraw(TdGraphCanvas *self) {
  td_canvas_repaint(TD_CANVAS(self));
  g_signal_emit(self, view_changed_signal, 0);
}

static void
move_cb(double share, gpointer data) {
  TdGraphCanvas *self = data;
  self->view.centre_x = self->from_x + (self->to_x - self->from_x) * share;
  self->view.centre_y = self->from_y + (self->to_y - self->from_y) * share;
  redraw(self);
}

static void
move_to(TdGraphCanvas *self, double x, double y) {
  self->from_x = self->view.centre_x;
  self->from_y = self->view.centre_y;
  self->to_x = x;
  self->to_y = y;
  if (gtk_widget_get_mapped(GTK_WIDGET(self)))
    adw_animation_play(self->move);
  else
    move_cb(1, self);
}

static void
stop_moving(TdGraphCanvas *self) {
  adw_animation_pause(self->move);
}

static uint32_t
point_of_interest(TdGraphCanvas *self) {
  TdCanvas *canvas = TD_CANVAS(self);
  uint32_t node = td_playhead_get_selection(td_canvas_get_playhead(canvas));
  double x, y;
  if (node != TD_NONE && td_graph_scene_place(scene_of(self), node, &x, &y)) return node;
  TdDocument *document = td_canvas_get_document(canvas);
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(
      td_document_get_catalog(document), td_document_get_graph_task(document));
  return pass ? pass->root : TD_NONE;
}

/* A part of the graph leaves room for the bar that names it. */
static double
room_for_bar(TdGraphCanvas *self) {
  return self->shown_wish ? TD_GRAPH_BAR : 0;
}

static void
go_home(TdGraphCanvas *self) {
  td_graph_view_go_home(&self->view, scene_of(self), point_of_interest(self), room_for_bar(self));
  self->at_home = TRUE;
}

static gboolean
ensure_placed(TdGraphCanvas *self) {
  double width, height;
  td_canvas_get_size(TD_CANVAS(self), &width, &height);
  if (!scene_of(self) || width <= 0 || height <= 0) return FALSE;
  gboolean resized = width != self->view.width || height != self->view.height;
  self->view.width = width;
  self->view.height = height;
  if (!self->placed || (resized && self->at_home)) go_home(self);
  self->placed = TRUE;
  self->view_task = self->last_task;
  return TRUE;
}

static void
reveal(TdGraphCanvas *self, uint32_t node) {
  double x, y;
  if (ensure_placed(self) && td_graph_view_reveal(&self->view, scene_of(self), node, &x, &y))
    move_to(self, x, y);
}

static void
moved_by_hand(TdGraphCanvas *self) {
  td_graph_view_keep_in_sight(&self->view, scene_of(self));
  self->at_home = FALSE;
  redraw(self);
}

static void
zoom_at(TdGraphCanvas *self, double factor, double x, double y) {
  if (!ensure_placed(self)) return;
  stop_moving(self);
  td_graph_view_zoom(&self->view, factor, x, y);
  moved_by_hand(self);
}

void
td_graph_canvas_zoom(TdGraphCanvas *self, double factor) {
  zoom_at(self, factor, self->view.width / 2, self->view.height / 2);
}

void
td_graph_canvas_fit(TdGraphCanvas *self) {
  if (!ensure_placed(self)) return;
  stop_moving(self);
  td_graph_view_fit(&self->view, scene_of(self), room_for_bar(self));
  self->at_home = FALSE;
  redraw(self);
}

static void
pan(TdGraphCanvas *self, double dx, double dy) {
  if (!ensure_placed(self)) return;
  stop_moving(self);
  self->view.centre_x += dx / self->view.scale;
  self->view.centre_y += dy / self->view.scale;
  moved_by_hand(self);
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
  stop_moving(self);
  self->press_x = self->view.centre_x;
  self->press_y = self->view.centre_y;
}

static void
drag_update(GtkGestureDrag *gesture, double dx, double dy, gpointer data) {
  TdGraphCanvas *self = data;
  if (!gtk_drag_check_threshold(GTK_WIDGET(self), 0, 0, (int)dx, (int)dy) && self->at_home) return;
  if (!ensure_placed(self)) return;
  gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  TdCanvas *canvas = TD_CANVAS(self);
  self->view.centre_x = self->press_x - td_canvas_units(canvas, dx) / self->view.scale;
  self->view.centre_y = self->press_y - td_canvas_units(canvas, dy) / self->view.scale;
  moved_by_hand(self);
}

static void
look_around(TdGraphCanvas *self) {
  td_graph_pointing_look(TD_CANVAS(self), self->subset, &self->view);
  if (self->way)
    self->view.way = td_way_back_get_stops(self->way, &self->view.n_way, &self->view.way_present);
}

static void
select_at(TdGraphCanvas *self, double x, double y, GdkModifierType modifiers) {
  look_around(self);
  uint32_t beyond = td_graph_pointing_select(TD_CANVAS(self), self->subset, scene_of(self),
                                             &self->view, x, y, modifiers);
  if (beyond != TD_NONE) reveal(self, beyond);
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
  int dx = (key == GDK_KEY_Right) - (key == GDK_KEY_Left);
  int dy = (key == GDK_KEY_Down) - (key == GDK_KEY_Up);
  if ((!dx && !dy) || (dx && !(state & GDK_CONTROL_MASK)) || !ensure_placed(self))
    return GDK_EVENT_PROPAGATE;
  TdPlayhead *playhead = td_canvas_get_playhead(TD_CANVAS(self));
  uint32_t node = td_playhead_get_selection(playhead);
  node = node == TD_NONE ? point_of_interest(self)
                         : td_graph_scene_neighbour(scene_of(self), node, dx, dy);
  if (node != TD_NONE) td_playhead_set_selection(playhead, node);
  return GDK_EVENT_STOP;
}

static void
describe(TdGraphCanvas *self) {
  g_autofree char *text =
      td_graph_pointing_dup_text(TD_CANVAS(self), self->subset, self->choice, scene_of(self));
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
    stop_moving(self);
    self->placed = FALSE;
  }
  self->last_task = td_document_get_graph_task(shown);
  if (document) {
    td_overlay_choice_show(self->choice, shown, self->last_task);
    td_subset_choice_show(self->subset, shown, self->last_task);
  }
  if (document) self->scene_number++;
  g_signal_emit(self, view_changed_signal, 0);
  describe(self);
  if (node != TD_NONE && (document || node != self->last_selection)) reveal(self, node);
  self->last_selection = node;
}

static void
overlay_changed(TdGraphCanvas *self) {
  self->view.overlay = td_overlay_choice_get(self->choice);
  self->view.overlay_note = td_overlay_choice_get_note(self->choice);
  if (!td_canvas_get_document(TD_CANVAS(self))) return;
  describe(self);
  redraw(self);
}

/* The view of the whole graph comes back when the part goes. That of another pass is no use. */
static void
enter_part(TdGraphCanvas *self) {
  if (self->shown_wish == 0 && self->view_task == self->last_task) {
    self->whole_view = self->view;
    self->whole_at_home = self->at_home;
    self->whole_view_task = self->placed ? self->last_task : TD_NONE;
  }
  self->placed = FALSE;
}

static void
leave_part(TdGraphCanvas *self) {
  self->placed = self->whole_view_task == self->last_task && self->view_task == self->last_task;
  if (!self->placed) return;
  self->view.centre_x = self->whole_view.centre_x;
  self->view.centre_y = self->whole_view.centre_y;
  self->view.scale = self->whole_view.scale;
  self->at_home = self->whole_at_home;
}

static void
subset_changed(TdGraphCanvas *self) {
  guint wish = td_subset_choice_get_wish(self->subset);
  if (!td_canvas_get_document(TD_CANVAS(self))) return;
  if (wish != self->shown_wish) {
    stop_moving(self);
    if (wish)
      enter_part(self);
    else
      leave_part(self);
    self->shown_wish = wish;
    self->scene_number++;
  }
  describe(self);
  redraw(self);
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
  return self->placed && scene_of(self) ? &self->view : NULL;
}

gboolean
td_graph_canvas_shows_all(TdGraphCanvas *self) {
  return td_graph_view_shows_all(&self->view, scene_of(self));
}

void
td_graph_canvas_centre(TdGraphCanvas *self, double x, double y) {
  if (!ensure_placed(self)) return;
  stop_moving(self);
  self->view.centre_x = x;
  self->view.centre_y = y;
  moved_by_hand(self);
}

void
td_graph_canvas_set_covered(TdGraphCanvas *self, double width, double bottom) {
  self->view.covered_width = width;
  self->view.covered_bottom = bottom;
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
td_graph_canvas_set_way(TdGraphCanvas *self, TdWayBack *way) {
  if (!g_set_object(&self->way, way)) return;
  g_signal_connect_object(way, "changed", G_CALLBACK(gtk_widget_queue_draw), self,
                          G_CONNECT_SWAPPED);
}

static void
td_graph_canvas_draw(TdCanvas *canvas, cairo_t *cr) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  if (!ensure_placed(self)) return;
  td_graph_scene_draw(scene_of(self), cr, td_document_get_state(td_canvas_get_document(canvas)),
                      &self->view, td_canvas_get_theme(canvas), td_canvas_get_labels(canvas));
}

static void
td_graph_canvas_draw_over(TdCanvas *canvas, cairo_t *cr) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  if (!ensure_placed(self)) return;
  look_around(self);
  td_graph_scene_draw_over(scene_of(self), cr,
                           td_document_get_state(td_canvas_get_document(canvas)), &self->view,
                           td_canvas_get_theme(canvas), td_canvas_get_labels(canvas));
}

static uint32_t
td_graph_canvas_node_at(TdCanvas *canvas, double x, double y) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(canvas);
  if (!ensure_placed(self)) return TD_NONE;
  look_around(self);
  return td_graph_pointing_node_at(canvas, scene_of(self), &self->view, x, y);
}

static void
td_graph_canvas_dispose(GObject *object) {
  TdGraphCanvas *self = TD_GRAPH_CANVAS(object);
  if (self->move) adw_animation_pause(self->move);
  g_clear_object(&self->move);
  g_clear_object(&self->choice);
  g_clear_object(&self->way);
  g_clear_object(&self->subset);
  G_OBJECT_CLASS(td_graph_canvas_parent_class)->dispose(object);
}

static void
td_graph_canvas_class_init(TdGraphCanvasClass *klass) {
  TdCanvasClass *canvas_class = TD_CANVAS_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_graph_canvas_dispose;
  view_changed_signal = g_signal_new("view-changed", TD_TYPE_GRAPH_CANVAS, G_SIGNAL_RUN_LAST, 0,
                                     NULL, NULL, NULL, G_TYPE_NONE, 0);
  canvas_class->shows_scene = TRUE;
  canvas_class->draw = td_graph_canvas_draw;
  canvas_class->draw_over = td_graph_canvas_draw_over;
  canvas_class->update = td_graph_canvas_update;
  canvas_class->node_at = td_graph_canvas_node_at;
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
  self->view.scale = 1;
  self->choice = td_overlay_choice_new();
  g_signal_connect_swapped(self->choice, "changed", G_CALLBACK(overlay_changed), self);
  self->subset = td_subset_choice_new();
  self->view_task = self->whole_view_task = TD_NONE;
  g_signal_connect_swapped(self->subset, "changed", G_CALLBACK(subset_changed), self);
  gtk_widget_set_focusable(widget, TRUE);
  gtk_widget_set_size_request(widget, 240, 120);
  add_gestures(self);
  GtkEventController *scroll =
      gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect(scroll, "scroll", G_CALLBACK(scrolled), self);
  gtk_widget_add_controller(widget, scroll);
  GtkEventController *key = gtk_event_controller_key_new();
  g_signal_connect(key, "key-pressed", G_CALLBACK(key_pressed), self);
  gtk_widget_add_controller(widget, key);
  AdwAnimationTarget *target = adw_callback_animation_target_new(move_cb, self, NULL);
  self->move = adw_timed_animation_new(widget, 0, 1, MOVE_MS, target);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Backward graph"), -1);
}
