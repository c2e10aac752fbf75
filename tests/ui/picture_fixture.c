/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/ui/picture_fixture.h"

#include "engine/events/strings.h"
#include "engine/trace/maker.h"
#include "tests/fixtures/tape_maker.h"

#include <glib/gstdio.h>

/* The strings of a script are those of the process; a tape has its own. */
static void
intern_strings(td_maker *maker, td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    uint32_t *at = (uint32_t *)(void *)((char *)event + type->fields[i].offset);
    if (type->fields[i].type != TD_FIELD_STRING) continue;
    td_strings_lock();
    g_autofree char *text = g_strdup(td_strings_text_locked(*at));
    td_strings_unlock();
    *at = td_maker_intern(maker, event->event.thread, event->event.time, text);
  }
}

/* An event each microsecond, from the first of a pass on; the graph is there at the start. */
static void
write_tape(const char *path, const td_tape_plan *plan) {
  td_tape_script script;
  td_maker *maker;
  td_tape_script_make(&script, plan);
  g_assert_cmpint(td_maker_open(path, true, 0, 0, &maker, NULL), ==, TD_OK);
  uint64_t now = 0;
  for (size_t i = 0; i < script.n; i++) {
    td_any_event event = script.events[i];
    if (now || event.event.kind == TD_EVENT_graph_task_begin) now += 1000;
    event.event.time = now;
    intern_strings(maker, &event);
    td_maker_add(maker, event);
  }
  g_assert_cmpint(td_maker_close(maker, NULL), ==, TD_OK);
  td_tape_script_fini(&script);
}

void
picture_fixture_init(picture_fixture *self, uint32_t n_nodes) {
  const td_tape_plan plan = {
      .n_nodes = n_nodes, .n_threads = 3, .n_passes = 1, .seed = 11, .n_anomalies = 1};
  td_error error = {0};
  self->path = g_build_filename(g_get_tmp_dir(), "tapedeck-test-draw-XXXXXX", NULL);
  int file = g_mkstemp(self->path);
  g_assert_cmpint(file, >=, 0);
  g_close(file, NULL);
  g_remove(self->path);
  write_tape(self->path, &plan);
  g_assert_cmpint(td_replay_open(self->path, NULL, NULL, &self->replay, &error), ==, TD_OK);
  self->catalog = td_replay_catalog(self->replay);
  self->state = td_replay_state(self->replay);
  g_assert_cmpint(
      td_timeline_new(td_replay_tape(self->replay), self->catalog, &self->timeline, &error), ==,
      TD_OK);
  self->scene = td_graph_scene_new(self->catalog, 0);
  self->labels = td_label_cache_new(td_theme_default(false));
  g_assert_cmpint(td_replay_seek(self->replay, td_replay_end(self->replay) / 2, &error), ==, TD_OK);
}

void
picture_fixture_fini(picture_fixture *self) {
  td_label_cache_free(self->labels);
  td_graph_scene_free(self->scene);
  td_timeline_free(self->timeline);
  td_replay_close(self->replay);
  g_remove(self->path);
  g_free(self->path);
}

td_graph_view
graph_view(const picture_fixture *self, int width, int height) {
  td_graph_view view = {.width = width, .height = height, .selected = TD_NONE, .hovered = TD_NONE};
  td_graph_scene_fit(self->scene, &view);
  return view;
}

td_timeline_view
timeline_view(const picture_fixture *self, int width, int height) {
  td_timeline_view view = {.width = width,
                           .height = height,
                           .selected = TD_NONE,
                           .now_ns = (double)self->state->header->time_ns,
                           .cuts = td_timeline_cuts(self->timeline)};
  td_timeline_extent(self->timeline, &view.from_ns, &view.to_ns);
  return view;
}

static void
draw_graph(picture_fixture *self, cairo_t *cr, const td_theme *theme, int width, int height) {
  td_graph_view view = graph_view(self, width, height);
  td_graph_scene_draw(self->scene, cr, self->state, &view, theme, self->labels);
}

static void
draw_queues(picture_fixture *self, cairo_t *cr, const td_theme *theme, int width, int height) {
  td_queues_view view = {.width = width, .height = height, .selected = TD_NONE};
  td_queues_draw(cr, self->catalog, self->state, &view, theme, self->labels);
}

static void
draw_timeline(picture_fixture *self, cairo_t *cr, const td_theme *theme, int width, int height) {
  td_timeline_view view = timeline_view(self, width, height);
  td_timeline_draw(self->timeline, cr, &view, theme, self->labels);
  td_timeline_draw_over(self->timeline, cr, &view, theme, self->labels);
}

static void
draw_overview(picture_fixture *self, cairo_t *cr, const td_theme *theme, int width, int height) {
  td_overview overview = {self->scene, self->timeline, self->catalog, self->state,
                          "title",     "note",         "Because."};
  td_overview_draw(&overview, cr, width, height, theme, self->labels);
}

const picture pictures[4] = {{"graph", draw_graph},
                             {"queues", draw_queues},
                             {"timeline", draw_timeline},
                             {"overview", draw_overview}};

cairo_surface_t *
paint(picture_fixture *self, const picture *picture, const td_theme *theme, int width, int height) {
  return paint_at(self, picture, theme, width, height, 1);
}

cairo_surface_t *
paint_at(picture_fixture *self, const picture *picture, const td_theme *theme, int width,
         int height, int scale) {
  cairo_surface_t *surface =
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, scale * width, scale * height);
  cairo_surface_set_device_scale(surface, scale, scale);
  cairo_t *cr = cairo_create(surface);
  td_theme_source(cr, theme->background);
  cairo_paint(cr);
  picture->draw(self, cr, theme, width, height);
  g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  return surface;
}
