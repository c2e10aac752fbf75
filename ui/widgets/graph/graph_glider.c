/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/graph_glider.h"

#define GLIDE_MS 250
/* Another machine may be slower than td_graph_glide_is_light takes it for. */
#define MOST_PICTURE_US 30000

static void
drop(td_graph_glider *self) {
  g_clear_pointer(&self->glide, td_graph_glide_free);
  g_clear_pointer(&self->before, td_graph_scene_free);
}

static void
glide_cb(double share, gpointer data) {
  td_graph_glider *self = data;
  if (!self->glide) return;
  if (share >= 1 || self->is_slow)
    drop(self);
  else
    td_graph_glide_move(self->glide, share);
  self->moved(self->widget);
}

void
td_graph_glider_init(td_graph_glider *self, GtkWidget *widget, void (*moved)(GtkWidget *widget)) {
  *self = (td_graph_glider){.widget = widget, .moved = moved};
  AdwAnimationTarget *target = adw_callback_animation_target_new(glide_cb, self, NULL);
  self->animation = adw_timed_animation_new(widget, 0, 1, GLIDE_MS, target);
}

void
td_graph_glider_fini(td_graph_glider *self) {
  if (self->animation) td_graph_glider_stop(self);
  g_clear_object(&self->animation);
}

static gboolean
may_move(td_graph_glider *self) {
  return gtk_widget_get_mapped(self->widget) && adw_get_enable_animations(self->widget);
}

void
td_graph_glider_start(td_graph_glider *self, const td_graph_scene *from, td_graph_scene *before,
                      const td_graph_scene *to, uint32_t still, const td_graph_view *view) {
  td_graph_glider_stop(self);
  self->before = before;
  if (may_move(self)) self->glide = td_graph_glide_new(from, to, still);
  if (!self->glide || !td_graph_glide_is_light(self->glide, view)) {
    drop(self);
    return;
  }
  self->is_slow = FALSE;
  adw_animation_reset(self->animation);
  adw_animation_play(self->animation);
}

void
td_graph_glider_stop(td_graph_glider *self) {
  drop(self);
  adw_animation_pause(self->animation);
}

td_graph_scene *
td_graph_glider_scene(td_graph_glider *self) {
  return self->glide ? td_graph_glide_scene(self->glide) : NULL;
}

gboolean
td_graph_glider_draw(td_graph_glider *self, cairo_t *cr, const td_state *state,
                     const td_graph_view *view, const td_theme *theme, td_label_cache *labels) {
  if (!self->glide) return FALSE;
  gint64 begin = g_get_monotonic_time();
  td_graph_glide_draw(self->glide, cr, state, view, theme, labels);
  self->is_slow = g_get_monotonic_time() - begin > MOST_PICTURE_US;
  return TRUE;
}
