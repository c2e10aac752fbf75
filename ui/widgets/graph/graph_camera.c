/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/graph_camera.h"

#include "ui/draw/graph_moves.h"

#include <math.h>

#define MOVE_MS 180

static void
move_cb(double share, gpointer data) {
  td_graph_camera *self = data;
  self->view.centre_x = self->from_x + (self->to_x - self->from_x) * share;
  self->view.centre_y = self->from_y + (self->to_y - self->from_y) * share;
  self->view.scale = self->from_scale * pow(self->to_scale / self->from_scale, share);
  self->moved(self->widget);
}

void
td_graph_camera_init(td_graph_camera *self, GtkWidget *widget, void (*moved)(GtkWidget *widget)) {
  *self = (td_graph_camera){.view.scale = 1, .widget = widget, .moved = moved};
  self->task = self->whole.task = TD_NONE;
  AdwAnimationTarget *target = adw_callback_animation_target_new(move_cb, self, NULL);
  self->move = adw_timed_animation_new(widget, 0, 1, MOVE_MS, target);
}

void
td_graph_camera_fini(td_graph_camera *self) {
  if (self->move) adw_animation_pause(self->move);
  g_clear_object(&self->move);
}

static void
move_and_zoom_to(td_graph_camera *self, double x, double y, double scale) {
  self->from_scale = self->view.scale;
  self->to_scale = scale;
  self->from_x = self->view.centre_x;
  self->from_y = self->view.centre_y;
  self->to_x = x;
  self->to_y = y;
  if (gtk_widget_get_mapped(self->widget))
    adw_animation_play(self->move);
  else
    move_cb(1, self);
}

void
td_graph_camera_stop(td_graph_camera *self) {
  adw_animation_pause(self->move);
}

gboolean
td_graph_camera_place(td_graph_camera *self, td_graph_scene *scene, double width, double height,
                      uint32_t home, double room) {
  if (!scene || width <= 0 || height <= 0) return FALSE;
  gboolean resized = width != self->view.width || height != self->view.height;
  self->view.width = width;
  self->view.height = height;
  if (!self->placed || (resized && self->at_home)) {
    td_graph_view_go_home(&self->view, scene, home, room);
    self->at_home = TRUE;
  }
  self->placed = TRUE;
  return TRUE;
}

void
td_graph_camera_reveal(td_graph_camera *self, const td_graph_scene *scene, uint32_t node) {
  double x, y;
  if (td_graph_view_reveal(&self->view, scene, node, &x, &y))
    move_and_zoom_to(self, x, y, self->view.scale);
}

static void
moved_by_hand(td_graph_camera *self, const td_graph_scene *scene) {
  td_graph_view_keep_in_sight(&self->view, scene);
  self->at_home = FALSE;
  self->moved(self->widget);
}

void
td_graph_camera_zoom(td_graph_camera *self, const td_graph_scene *scene, double factor, double x,
                     double y) {
  td_graph_camera_stop(self);
  td_graph_view_zoom(&self->view, factor, x, y);
  moved_by_hand(self, scene);
}

void
td_graph_camera_centre(td_graph_camera *self, const td_graph_scene *scene, double x, double y) {
  td_graph_camera_stop(self);
  self->view.centre_x = x;
  self->view.centre_y = y;
  moved_by_hand(self, scene);
}

void
td_graph_camera_pan(td_graph_camera *self, const td_graph_scene *scene, double dx, double dy) {
  td_graph_camera_centre(self, scene, self->view.centre_x + dx / self->view.scale,
                         self->view.centre_y + dy / self->view.scale);
}

void
td_graph_camera_fit(td_graph_camera *self, const td_graph_scene *scene, double room) {
  td_graph_camera_stop(self);
  td_graph_view_fit(&self->view, scene, room);
  self->at_home = FALSE;
  self->moved(self->widget);
}

void
td_graph_camera_keep_whole(td_graph_camera *self, uint32_t task) {
  const td_graph_view *view = &self->view;
  self->whole = (td_kept_view){view->centre_x, view->centre_y, view->scale, self->at_home,
                               self->placed ? task : TD_NONE};
}

void
td_graph_camera_bring_whole(td_graph_camera *self, uint32_t task) {
  self->placed = self->whole.task == task && self->task == task;
  if (!self->placed) return;
  self->view.centre_x = self->whole.centre_x;
  self->view.centre_y = self->whole.centre_y;
  self->view.scale = self->whole.scale;
  self->at_home = self->whole.at_home;
}

void
td_graph_camera_hold(td_graph_camera *self, const td_graph_scene *scene, uint32_t node) {
  double x, y;
  td_graph_camera_stop(self);
  self->showed_all = self->placed && scene && td_graph_view_shows_all(&self->view, scene);
  self->has_anchor =
      self->placed && scene && node != TD_NONE && td_graph_scene_place(scene, node, &x, &y);
  if (!self->has_anchor) return;
  self->anchor_x = (x - self->view.centre_x) * self->view.scale;
  self->anchor_y = (y - self->view.centre_y) * self->view.scale;
}

gboolean
td_graph_camera_settle(td_graph_camera *self, td_graph_scene *scene, uint32_t node, double room) {
  double x, y;
  if (!self->has_anchor) return FALSE;
  if (!td_graph_scene_place(scene, node, &x, &y)) return TRUE;
  self->view.centre_x = x - self->anchor_x / self->view.scale;
  self->view.centre_y = y - self->anchor_y / self->view.scale;
  if (!self->at_home && !self->showed_all) {
    td_graph_camera_reveal(self, scene, node);
    return TRUE;
  }
  td_graph_view home = self->view;
  td_graph_view_go_home(&home, scene, node, room);
  move_and_zoom_to(self, home.centre_x, home.centre_y, home.scale);
  return TRUE;
}
