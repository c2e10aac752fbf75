/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams on the timeline: a kernel lies on its stream's lane at the device's time, and a wait is
 * an arrow. Towers of nested passes, and the layers of a model. */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/replay/catalog_collect.h"
#include "tests/fixtures/tape_maker.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/scene.h"
#include "ui/draw/timeline.h"
#include "ui/draw/timeline_picture.h"

#include <glib.h>
#include <glib/gstdio.h>

/* Two streams of one device; the second waits for the first, 5 ms on the device. Durations are
 * ticks. */
static void
write_tape(const char *path) {
  const uint64_t unit = 1000000; /* nanoseconds */
  td_tape_script script = {.n_threads = 1};
  td_error error = {0};
  TELL(&script, device_new, .device = 0, .name = td_intern("gpu\n0"));
  TELL(&script, stream_new, .device = 0, .stream = 3);
  TELL(&script, node_new, .node = 0, .device = 0);
  TELL(&script, node_new, .node = 1, .device = 0);
  TELL(&script, kernel, .device = 0, .stream = 0, .node = 0, .queued = unit, .took = 5 * unit);
  TELL(&script, stream_record, .device = 0, .stream = 0, .stream_event = 7, .node = 0);
  TELL(&script, stream_wait, .device = 0, .stream = 3, .stream_event = 7, .node = 1);
  TELL(&script, kernel, .device = 0, .stream = 3, .node = 1, .queued = 60 * unit, .took = 2 * unit);
  g_assert_cmpint(td_tape_script_write(&script, path, &error), ==, TD_OK);
  td_tape_script_fini(&script);
}

static void
test_streams(void) {
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-streams.tape", NULL);
  td_tape *tape;
  td_catalog *catalog;
  td_timeline *timeline;
  td_error error = {0};
  write_tape(path);
  g_assert_cmpint(td_tape_open(path, &tape, &error), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(tape, &catalog, &error), ==, TD_OK);
  g_assert_cmpint(td_timeline_new(tape, catalog, &timeline, &error), ==, TD_OK);
  size_t first = td_stream_lane_find(timeline, 0, 0), second = td_stream_lane_find(timeline, 0, 3);
  g_assert_cmpuint(td_stream_lane_find(timeline, 0, 1), ==, SIZE_MAX);
  const td_span *earlier = &timeline->lanes[first].rows[0].spans[0];
  const td_span *later = &timeline->lanes[second].rows[0].spans[0];
  g_assert_cmpstr(timeline->lanes[first].title, ==, "gpu 0"); /* one line, whatever the name */
  g_assert_cmpuint(earlier->item, ==, 0);
  g_assert_cmpuint(later->item, ==, 1);
  g_assert_cmpfloat_with_epsilon(
      (double)(earlier->end - earlier->begin) / (double)(later->end - later->begin), 2.5, 0.01);
  g_assert_cmpuint(later->begin, >=, earlier->end);
  g_assert_cmpuint(timeline->duration, >=, later->end);
  g_assert_cmpuint(timeline->n_links, ==, 1);
  g_assert_cmpuint(timeline->links[0].from_lane, ==, first);
  g_assert_cmpuint(timeline->links[0].to_lane, ==, second);
  g_assert_cmpuint(timeline->links[0].from, ==, earlier->end);
  g_assert_cmpuint(timeline->links[0].to, ==, earlier->end);
  td_timeline_free(timeline);
  td_catalog_free(catalog);
  td_tape_close(tape);
  g_unlink(path);
}

static void
tell_pass(td_tape_script *script, uint32_t graph_task, uint32_t root) {
  TELL(script, graph_task_begin, .graph_task = graph_task, .depth = graph_task, .root = root,
       .n_roots = 1);
}

/* Twenty passes, each inside node `pass` of the one before. */
static void
write_tower(const char *path) {
  td_tape_script script = {.n_threads = 1};
  td_error error = {0};
  for (uint32_t node = 0; node < 20; node++)
    TELL(&script, node_new, .node = node, .sequence_nr = node, .device = -1);
  for (uint32_t pass = 0; pass < 20; pass++) {
    if (pass)
      TELL(&script, reentrant_enter, .graph_task = pass, .outer = pass - 1, .node = pass - 1,
           .depth = pass);
    tell_pass(&script, pass, pass);
    TELL(&script, node_begin, .node = pass, .graph_task = pass);
  }
  g_assert_cmpint(td_tape_script_write(&script, path, &error), ==, TD_OK);
  td_tape_script_fini(&script);
}

/* The floors from the top: the six innermost passes, a gap, and the base, which nobody called. */
static void
test_tower(void) {
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-tower.tape", NULL);
  td_tape *tape;
  td_catalog *catalog;
  td_error error = {0};
  write_tower(path);
  g_assert_cmpint(td_tape_open(path, &tape, &error), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(tape, &catalog, &error), ==, TD_OK);
  td_graph_scene *scene = td_graph_scene_new(catalog, 19);
  td_graph_view view = {.width = 900, .height = 700, .selected = TD_NONE, .hovered = TD_NONE};
  td_graph_scene_fit(scene, &view);
  const uint32_t callers[] = {18, 17, 16, 15, 14, 13, TD_NONE, 0, TD_NONE};
  for (size_t i = 0; i < G_N_ELEMENTS(callers); i++)
    g_assert_cmpuint(td_graph_scene_hit(scene, &view, 110, 20 + 24 * (double)i), ==, callers[i]);
  td_graph_scene_free(scene);
  td_catalog_free(catalog);
  td_tape_close(tape);
  g_unlink(path);
}

/* Node 0 fails in pass 0 and is freed; node 1, a leaf, is done in pass 0, and in pass 1 later. */
static void
write_failure(const char *path) {
  td_tape_script script = {.n_threads = 1};
  td_error error = {0};
  TELL(&script, node_new, .node = 0, .device = -1);
  TELL(&script, node_new, .node = 1, .device = -1);
  tell_pass(&script, 0, 0);
  TELL(&script, node_begin, .node = 1, .graph_task = 0);
  TELL(&script, node_end, .node = 1, .graph_task = 0);
  TELL(&script, node_begin, .node = 0, .graph_task = 0);
  TELL(&script, error, .node = 0, .graph_task = 0);
  TELL(&script, graph_task_end, .graph_task = 0, .status = TD_task_status_error);
  TELL(&script, node_free, .node = 0);
  tell_pass(&script, 1, 1);
  g_assert_cmpint(td_tape_script_write(&script, path, &error), ==, TD_OK);
  td_tape_script_fini(&script);
}

/* How the first node of a pass's picture is drawn after so many events. */
static td_node_state
state_drawn(td_replay *replay, uint32_t graph_task, uint32_t node, uint64_t position) {
  td_error error = {0};
  g_assert_cmpint(td_replay_seek(replay, position, &error), ==, TD_OK);
  const td_state *state = td_replay_state(replay);
  td_graph_scene *scene = td_graph_scene_new(td_replay_catalog(replay), graph_task);
  td_scene_draw draw = {
      .scene = scene, .state = state, .pass_begun = td_scene_pass_begun(scene, state)};
  td_node_state drawn = td_scene_state(&draw, td_scene_find(scene, node));
  td_graph_scene_free(scene);
  return drawn;
}

static void
test_states(void) {
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-failure.tape", NULL);
  td_replay *replay;
  td_error error = {0};
  write_failure(path);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, &error), ==, TD_OK);
  const td_catalog *catalog = td_replay_catalog(replay);
  uint64_t failed = td_catalog_graph_task_find(catalog, 0)->end_seq;
  uint64_t freed = td_catalog_graph_task_find(catalog, 1)->begin_seq;
  g_assert_cmpint(state_drawn(replay, 0, 0, failed), ==, TD_NODE_failed);
  g_assert_cmpint(state_drawn(replay, 0, 0, freed), ==, TD_NODE_failed);
  g_assert_cmpint(td_state_node(td_replay_state(replay), 0)->state, ==, TD_NODE_released);
  g_assert_cmpint(state_drawn(replay, 0, 1, freed), ==, TD_NODE_done);
  g_assert_cmpint(state_drawn(replay, 1, 1, freed), ==, TD_NODE_created);
  td_replay_close(replay);
  g_unlink(path);
}

/* A chain of nodes: the backward pass of an encoder, a decoder and a head. */
static const char *const modules[] = {
    "(Net)", "net.head", "decoder.layers.10.fc", "decoder.layers.10.attn", "decoder.layers.0.fc",
    "",      "net.norm", "encoder.layers.0",     "encoder.layers.0.fc",    "encoder.layers.0.mlp.3",
};

static void
write_model(const char *path) {
  td_tape_script script = {.n_threads = 1};
  td_error error = {0};
  for (uint32_t node = 0; node < G_N_ELEMENTS(modules); node++) {
    TELL(&script, node_new, .node = node, .sequence_nr = 100 - node, .device = -1);
    TELL(&script, node_module, .node = node, .module = td_intern(modules[node]));
    if (node) TELL(&script, edge_new, .from = node - 1, .to = node);
  }
  tell_pass(&script, 0, 0);
  g_assert_cmpint(td_tape_script_write(&script, path, &error), ==, TD_OK);
  td_tape_script_fini(&script);
}

static void
test_layers(void) {
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-layers.tape", NULL);
  td_tape *tape;
  td_catalog *catalog;
  td_error error = {0};
  write_model(path);
  g_assert_cmpint(td_tape_open(path, &tape, &error), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(tape, &catalog, &error), ==, TD_OK);
  td_graph_scene *scene = td_graph_scene_new(catalog, 0);
  static const struct {
    const char *name;
    uint32_t first;
  } layers[] = {
      {"head", 1}, {"layers.10", 2}, {"decoder.layers.0", 4}, {"norm", 6}, {"encoder.layers.0", 7}};
  g_assert_cmpuint(scene->n_layers, ==, G_N_ELEMENTS(layers));
  for (uint32_t i = 0; i < scene->n_layers; i++) {
    g_assert_cmpstr(scene->layers[i].name, ==, layers[i].name);
    g_assert_cmpuint(scene->nodes[scene->layers[i].first].node, ==, layers[i].first);
  }
  td_graph_scene_free(scene);
  td_catalog_free(catalog);
  td_tape_close(tape);
  g_unlink(path);
}

/* A waiting card shows its number whole, beside "0/1": 5 pixels of stripe, 18 of margins, 30 of the
 * count. */
static void
test_great_numbers(void) {
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-numbers.tape", NULL);
  const uint32_t nodes[] = {123456, 1234567, 3000000001, 4000000000};
  td_tape_script script = {.n_threads = 1};
  td_tape *tape;
  td_catalog *catalog;
  td_error error = {0};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    TELL(&script, node_new, .node = nodes[i], .name = td_intern("MmBackward0"), .device = -1);
  g_assert_cmpint(td_tape_script_write(&script, path, &error), ==, TD_OK);
  g_assert_cmpint(td_tape_open(path, &tape, &error), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(tape, &catalog, &error), ==, TD_OK);
  td_graph_scene *scene = td_graph_scene_new(catalog, TD_NONE);
  td_label_cache *labels = td_label_cache_new(td_theme_default(false));
  g_assert_cmpuint(scene->n_nodes, ==, G_N_ELEMENTS(nodes));
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    double width;
    td_label_size(labels, scene->nodes[i].number, 11, false, &width, NULL);
    g_assert_cmpfloat((double)scene->nodes[i].width - 5 - 18 - 30, >=, width);
  }
  td_label_cache_free(labels);
  td_graph_scene_free(scene);
  td_catalog_free(catalog);
  td_tape_close(tape);
  td_tape_script_fini(&script);
  g_unlink(path);
}

/* How many pixels of a drawn picture are not the background's. */
static uint32_t
count_drawn(td_graph_scene *scene, const td_state *state) {
  const td_theme *theme = td_theme_default(false);
  td_graph_view view = {.width = 200, .height = 150, .selected = TD_NONE, .hovered = TD_NONE};
  td_label_cache *labels = td_label_cache_new(theme);
  td_graph_scene_fit(scene, &view);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 200, 150);
  cairo_t *cr = cairo_create(surface);
  td_graph_scene_draw(scene, cr, state, &view, theme, labels);
  view.selected = 1;
  td_graph_scene_draw_over(scene, cr, state, &view, theme, labels);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  const uint32_t *pixels = (const void *)cairo_image_surface_get_data(surface);
  uint32_t n_drawn = 0;
  for (int i = 1; i < 200 * 150; i++)
    n_drawn += (pixels[i] ^ pixels[0]) & 0xffffff ? 1 : 0;
  cairo_surface_destroy(surface);
  td_label_cache_free(labels);
  return n_drawn;
}

/* A scene and the state of another catalog, as those of two segments are, do not meet. */
static void
test_other_state(void) {
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-other.tape", NULL);
  td_replay *one, *other;
  td_error error = {0};
  write_failure(path);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &one, &error), ==, TD_OK);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &other, &error), ==, TD_OK);
  td_graph_scene *scene = td_graph_scene_new(td_replay_catalog(one), 0);
  g_assert_cmpuint(count_drawn(scene, td_replay_state(one)), >, 0);
  g_assert_cmpuint(count_drawn(scene, td_replay_state(other)), ==, 0);
  td_graph_scene_free(scene);
  td_replay_close(one);
  td_replay_close(other);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/scenes/streams", test_streams);
  g_test_add_func("/ui/scenes/tower", test_tower);
  g_test_add_func("/ui/scenes/states", test_states);
  g_test_add_func("/ui/scenes/other-state", test_other_state);
  g_test_add_func("/ui/scenes/layers", test_layers);
  g_test_add_func("/ui/scenes/great-numbers", test_great_numbers);
  return g_test_run();
}
