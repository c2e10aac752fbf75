/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of a frame while the tape plays. The window's code draws the graph into an image of
 * 1600 x 1000. Between frames the view moves a little and the state goes on. It is processor time:
 * among the slowest frames are those in which another program had the processor. */
#include "app/bench/figure.h"
#include "app/bench/recording.h"
#include "app/bench/scale.h"

#include "engine/base/alloc.h"
#include "engine/replay/replay.h"
#include "ui/draw/graph_scene.h"

#include <glib.h>

#define FRAMES 120
#define SMALL_FRAMES 4
#define WIDTH 1600
#define HEIGHT 1000

/* The whole graph in view is the worst case: nothing is culled. A process numbers its passes on,
 * so the one pass of the tape has any number. */
static double
frames_p99_ms(td_replay *replay) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_theme *theme = td_theme_default(false);
  td_graph_scene *scene = td_graph_scene_new(catalog, catalog->graph_task_rows[0].id);
  td_label_cache *labels = td_label_cache_new(theme);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, WIDTH, HEIGHT);
  td_graph_view view = {.width = WIDTH, .height = HEIGHT, .selected = TD_NONE, .hovered = TD_NONE};
  td_graph_scene_fit(scene, &view);
  double took[FRAMES];
  uint32_t n_frames = td_bench_size(FRAMES, SMALL_FRAMES);
  for (uint32_t frame = 0; frame < n_frames; frame++) {
    td_error error = {0};
    td_replay_seek(replay, td_replay_end(replay) * (frame + 1) / n_frames, &error);
    td_error_clear(&error);
    view.centre_y += 1;
    double begin = td_bench_processor_now();
    cairo_t *cr = cairo_create(surface);
    td_graph_scene_draw(scene, cr, td_replay_state(replay), &view, theme, labels);
    cairo_destroy(cr);
    took[frame] = (td_bench_processor_now() - begin) * 1e3;
  }
  cairo_surface_destroy(surface);
  td_label_cache_free(labels);
  td_graph_scene_free(scene);
  return td_bench_p99(took, n_frames);
}

static char *
measure_frames(char *(*make)(td_bench_tape *tape), uint32_t n, double *value) {
  td_bench_tape tape = {.n_nodes = n, .n_passes = 1, .trains = true};
  char *trouble = make(&tape);
  if (!trouble) *value = frames_p99_ms(tape.replay);
  td_bench_tape_remove(&tape);
  return trouble;
}

void
td_bench_frame_10000(td_measured *measured) {
  measured->skipped =
      measure_frames(td_bench_tape_make, td_bench_size(10000, 500), &measured->value);
}

void
td_bench_frame_100000(td_measured *measured) {
  measured->skipped =
      measure_frames(td_bench_tape_make, td_bench_size(100000, 5000), &measured->value);
}

char *
td_bench_scale_frame(uint32_t n, double *value) {
  return measure_frames(td_bench_tape_make_apart, n, value);
}
