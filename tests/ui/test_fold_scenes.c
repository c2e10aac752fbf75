/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Folded scenes of a tape: each node has a place, blocks have names and totals, and a block moves
 * through the states of its nodes. From one scene to another all glides. */
#include "engine/events/emit.h"
#include "engine/replay/replay.h"
#include "tests/fixtures/tape_maker.h"
#include "ui/draw/graph_fold.h"
#include "ui/draw/graph_glide.h"
#include "ui/draw/graph_moves.h"
#include "ui/draw/scene.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

enum { N_LAYERS = 12, OF_LAYER = 3, N_NODES = N_LAYERS * OF_LAYER + 2 };

/* A chain: the loss, layers of two modules each, and a parameter that has only a name. */
static const char *
module_of(uint32_t node, uint32_t n_nodes) {
  static const char *const parts[OF_LAYER] = {"", ".fc", ".fc"};
  if (node == 0 || node == n_nodes - 1) return node ? NULL : "(Net)";
  g_autofree char *path =
      g_strdup_printf("h.%u%s", (node - 1) / OF_LAYER, parts[(node - 1) % OF_LAYER]);
  return g_intern_string(path);
}

static void
write_tape(const char *path, uint32_t n_layers) {
  uint32_t n_nodes = n_layers * OF_LAYER + 2;
  td_tape_script script = {.n_threads = 1};
  td_error error = {0};
  for (uint32_t v = 0; v < n_nodes; v++) {
    const char *name = v + 1 == n_nodes ? "AccumulateGrad" : "MulBackward0",
               *module = module_of(v, n_nodes);
    TELL(&script, node_new, .node = v, .name = td_intern(name), .sequence_nr = 100 - v,
         .device = -1);
    if (module) TELL(&script, node_module, .node = v, .module = td_intern(module));
    if (v) TELL(&script, edge_new, .from = v - 1, .to = v);
  }
  TELL(&script, node_label, .node = n_nodes - 1, .label = td_intern("emb.weight"));
  TELL(&script, graph_task_begin, .graph_task = 0, .root = 0);
  for (uint32_t v = 0; v < n_nodes; v++) {
    TELL(&script, node_begin, .node = v, .graph_task = 0);
    TELL(&script, node_end, .node = v, .graph_task = 0);
  }
  g_assert_cmpint(td_tape_script_write(&script, path, &error), ==, TD_OK);
  td_tape_script_fini(&script);
}

typedef struct Fixture {
  char *path;
  td_replay *replay;
  const td_catalog *catalog;
  td_graph_folds *folds;
  uint8_t *open;
  td_graph_scene *scene;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data) {
  uint32_t n_layers = data ? GPOINTER_TO_UINT(data) : N_LAYERS;
  td_error error = {0};
  self->path = g_build_filename(g_get_tmp_dir(), "tapedeck-folds.tape", NULL);
  write_tape(self->path, n_layers);
  g_assert_cmpint(td_replay_open(self->path, NULL, NULL, &self->replay, &error), ==, TD_OK);
  self->catalog = td_replay_catalog(self->replay);
  self->folds = td_graph_folds_new(self->catalog, 0);
  self->open = g_new0(uint8_t, td_graph_folds_tree(self->folds)->n_groups);
  self->scene = td_graph_scene_new_folded(self->folds, self->open);
}

static void
tear_down(Fixture *self, gconstpointer data) {
  td_graph_scene_free(self->scene);
  td_graph_folds_free(self->folds);
  td_replay_close(self->replay);
  g_unlink(self->path);
  g_free(self->path);
  g_free(self->open);
}

/* The loss, the layers, and the parameter: a group of one node is no block. */
static void
test_blocks(Fixture *self, gconstpointer data) {
  g_assert_cmpuint(td_graph_folds_n_nodes(self->folds), ==, N_NODES);
  g_assert_cmpuint(td_graph_scene_n_nodes(self->scene), ==, 3);
  g_assert_cmpuint(td_graph_scene_n_blocks(self->scene), ==, 1);
  g_assert_cmpstr(self->scene->blocks[0].name, ==, "h.0–11 × 12");
  g_assert_cmpstr(self->scene->nodes[1].number, ==, "36 nodes");
  g_assert_cmpuint(self->scene->n_edges, ==, 2);
  for (uint32_t v = 0; v < N_NODES; v++) {
    double x, y;
    g_assert_true(td_graph_scene_place(self->scene, v, &x, &y));
    g_assert_cmpint(td_graph_scene_block(self->scene, v) != 0, ==, v > 0 && v + 1 < N_NODES);
  }
  g_assert_cmpuint(td_graph_scene_node(self->scene, 1), ==, 1);
}

/* Open, a run shows its modules; these have modules of their own. */
static void
test_open(Fixture *self, gconstpointer data) {
  uint32_t run = td_graph_scene_block(self->scene, 5);
  self->open[run] = 1;
  td_graph_scene *scene = td_graph_scene_new_folded(self->folds, self->open);
  g_assert_cmpuint(td_graph_scene_n_blocks(scene), ==, N_LAYERS);
  g_assert_cmpuint(td_graph_scene_n_nodes(scene), ==, N_LAYERS + 2);
  g_assert_cmpstr(scene->blocks[3].name, ==, "h.3");
  uint32_t layer = td_graph_scene_block(scene, 1 + 3 * OF_LAYER);
  td_graph_scene_free(scene);
  self->open[layer] = 1;
  scene = td_graph_scene_new_folded(self->folds, self->open);
  g_assert_cmpuint(td_graph_scene_n_blocks(scene), ==, N_LAYERS);
  g_assert_cmpuint(td_graph_scene_n_nodes(scene), ==, N_LAYERS + 3);
  g_assert_cmpuint(td_graph_scene_block(scene, 1 + 3 * OF_LAYER), ==, 0);
  td_graph_scene_free(scene);
}

static td_node_state
state_at(Fixture *self, uint64_t position, uint32_t n[TD_N_NODE_STATES]) {
  td_error error = {0};
  g_assert_cmpint(td_replay_seek(self->replay, position, &error), ==, TD_OK);
  td_scene_draw draw = {.scene = self->scene, .state = td_replay_state(self->replay)};
  draw.pass_begun = td_scene_pass_begun(self->scene, draw.state);
  td_scene_count_states(&draw, &self->scene->blocks[0], n);
  return td_scene_state(&draw, 1);
}

/* At every event the states of the nodes add up, and the block is done when the last node is. */
static void
test_states(Fixture *self, gconstpointer data) {
  uint64_t end = td_replay_end(self->replay);
  uint32_t n_partial = 0, n_running = 0, n[TD_N_NODE_STATES], last = 0;
  for (uint64_t position = 0; position <= end; position++) {
    td_node_state state = state_at(self, position, n);
    uint32_t sum = 0;
    for (int i = 0; i < TD_N_NODE_STATES; i++)
      sum += n[i];
    g_assert_cmpuint(sum, ==, N_LAYERS * OF_LAYER);
    g_assert_cmpuint(n[TD_NODE_done], >=, last);
    g_assert_cmpint(state == TD_NODE_done, ==, n[TD_NODE_done] == sum);
    g_assert_cmpint(state == TD_NODE_running, ==, n[TD_NODE_running] > 0);
    n_partial += state == TD_NODE_partial;
    n_running += state == TD_NODE_running;
    last = n[TD_NODE_done];
  }
  g_assert_cmpuint(last, ==, N_LAYERS * OF_LAYER);
  g_assert_cmpuint(n_running, ==, N_LAYERS * OF_LAYER);
  g_assert_cmpuint(n_partial, >, 0);
}

/* A block has the sum of its nodes' times, and the hottest total is as hot as can be. */
static void
test_totals(Fixture *self, gconstpointer data) {
  td_overlay_value values[N_NODES];
  td_overlay overlay = {.kind = TD_OVERLAY_time, .values = values, .n_values = N_NODES};
  td_graph_view view = {.overlay = &overlay, .scale = 1};
  td_scene_draw draw = {.scene = self->scene, .view = &view};
  double sum = 0;
  for (uint32_t v = 0; v < N_NODES; v++) {
    values[v] = (td_overlay_value){.node = v, .value = v + 1};
    sum += v + 1;
  }
  td_scene_find_totals(&draw);
  g_assert_cmpfloat(td_scene_heat(&draw, 0)->value, ==, 1);
  g_assert_cmpfloat(td_scene_heat(&draw, 1)->value, ==, sum - 1 - N_NODES);
  g_assert_cmpfloat(td_scene_heat(&draw, 1)->heat, ==, 1);
  g_assert_cmpfloat(td_scene_heat(&draw, 2)->value, ==, N_NODES);
  overlay.kind = TD_OVERLAY_norm;
  td_scene_find_totals(&draw);
  g_assert_cmpfloat(td_scene_heat(&draw, 1)->value, <, N_NODES);
}

/* Opens the run: the scene with the modules as blocks. */
static td_graph_scene *
open_run(Fixture *self) {
  self->open[td_graph_scene_block(self->scene, 5)] = 1;
  return td_graph_scene_new_folded(self->folds, self->open);
}

static void
assert_at(const td_graph_scene *scene, uint32_t i, double x, double y) {
  g_assert_cmpfloat_with_epsilon(scene->layout->x[i], x, 0.01);
  g_assert_cmpfloat_with_epsilon(scene->layout->y[i], y, 0.01);
}

/* Where a scene's node is in a scene that glides from or to another one, as far as it may differ.
 */
static void
assert_at_places(const td_graph_scene *gliding, const td_graph_scene *places, double dx,
                 double dy) {
  for (uint32_t i = 0; i < gliding->n_nodes; i++) {
    double x, y;
    g_assert_true(td_graph_scene_place(places, gliding->nodes[i].node, &x, &y));
    assert_at(gliding, i, x + dx, y + dy);
  }
}

static void
glide_between(const td_graph_scene *from, const td_graph_scene *to, uint32_t still) {
  double old_x, old_y, x, y;
  g_assert_true(td_graph_scene_place(from, still, &old_x, &old_y));
  g_assert_true(td_graph_scene_place(to, still, &x, &y));
  td_graph_glide *glide = td_graph_glide_new(from, to, still);
  td_graph_scene *scenes[] = {td_graph_glide_old_scene(glide), td_graph_glide_scene(glide)};
  for (int i = 0; i < 2; i++) {
    td_graph_glide_move(glide, 0);
    assert_at_places(scenes[i], from, x - old_x, y - old_y);
    td_graph_glide_move(glide, 1);
    assert_at_places(scenes[i], to, 0, 0);
  }
  td_graph_glide_free(glide);
}

/* Both scenes begin at the old places and end at the new ones, whether blocks open or close. */
static void
test_glide_ends(Fixture *self, gconstpointer data) {
  td_graph_scene *open = open_run(self);
  td_graph_scene *all = td_graph_scene_new(self->catalog, 0);
  const td_graph_scene *scenes[] = {self->scene, open, all};
  for (int from = 0; from < 3; from++)
    for (int to = 0; to < 3; to++)
      for (uint32_t still = 0; still < N_NODES; still++)
        glide_between(scenes[from], scenes[to], still);
  td_graph_scene_free(open);
  td_graph_scene_free(all);
}

/* A coordinate goes from one end of its way to the other, and never back. */
static void
assert_between(float before, float now, float end) {
  g_assert_true(isfinite(now));
  g_assert_cmpfloat(MIN(before, end) - 0.01f, <=, now);
  g_assert_cmpfloat(now, <=, MAX(before, end) + 0.01f);
}

static void
assert_goes_on(const td_layout *before, const td_layout *now, const td_layout *end) {
  for (uint32_t i = 0; i < now->n_nodes; i++) {
    assert_between(before->x[i], now->x[i], end->x[i]);
    assert_between(before->y[i], now->y[i], end->y[i]);
  }
  for (uint32_t k = 0; k < now->first_point[now->n_edges]; k++) {
    assert_between(before->points[k].x, now->points[k].x, end->points[k].x);
    assert_between(before->points[k].y, now->points[k].y, end->points[k].y);
  }
}

/* On the way, the node that is to be still is still, and an edge begins at its node as ever. */
static void
test_glide_way(Fixture *self, gconstpointer data) {
  enum { STILL = 5, STEPS = 40 };
  td_graph_scene *open = open_run(self);
  double x, y, there_x, there_y;
  g_assert_true(td_graph_scene_place(open, STILL, &x, &y));
  td_graph_glide *before = td_graph_glide_new(self->scene, open, STILL);
  td_graph_glide *now = td_graph_glide_new(self->scene, open, STILL);
  const td_graph_scene *scene = td_graph_glide_scene(now);
  for (int step = 1; step <= STEPS; step++) {
    td_graph_glide_move(before, (step - 1.0) / STEPS);
    td_graph_glide_move(now, (double)step / STEPS);
    assert_goes_on(td_graph_glide_scene(before)->layout, scene->layout, open->layout);
    g_assert_true(td_graph_scene_place(scene, STILL, &there_x, &there_y));
    g_assert_cmpfloat_with_epsilon(there_x, x, 0.01);
    g_assert_cmpfloat_with_epsilon(there_y, y, 0.01);
    for (uint32_t e = 0; e < scene->n_edges; e++) {
      uint32_t from = scene->edges[e].from, first = scene->layout->first_point[e];
      g_assert_cmpfloat_with_epsilon(scene->layout->points[first].x - scene->layout->x[from],
                                     open->layout->points[first].x - open->layout->x[from], 0.01);
      g_assert_cmpfloat(scene->edges[e].top, <=, scene->edges[e].bottom);
    }
  }
  td_graph_glide_free(before);
  td_graph_glide_free(now);
  td_graph_scene_free(open);
}

static cairo_surface_t *
draw(const td_graph_scene *scene, td_graph_glide *glide, const td_state *state) {
  const td_theme *theme = td_theme_default(false);
  td_label_cache *labels = td_label_cache_new(theme);
  td_graph_view view = {.width = 500, .height = 700, .selected = TD_NONE, .hovered = TD_NONE};
  td_graph_scene_fit(scene, &view);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 500, 700);
  cairo_t *cr = cairo_create(surface);
  if (glide)
    td_graph_glide_draw(glide, cr, state, &view, theme, labels);
  else
    td_graph_scene_draw((td_graph_scene *)scene, cr, state, &view, theme, labels);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  td_label_cache_free(labels);
  return surface;
}

static gboolean
look_alike(cairo_surface_t *one, cairo_surface_t *other) {
  size_t size = (size_t)cairo_image_surface_get_stride(one) * 700;
  return memcmp(cairo_image_surface_get_data(one), cairo_image_surface_get_data(other), size) == 0;
}

/* The first picture is that of the old scene, the last that of the new one. In between is
 * another, written for people to look at. */
static void
test_glide_pictures(Fixture *self, gconstpointer data) {
  td_error error = {0};
  g_assert_cmpint(td_replay_seek(self->replay, td_replay_end(self->replay) / 2, &error), ==, TD_OK);
  const td_state *state = td_replay_state(self->replay);
  td_graph_scene *open = open_run(self);
  cairo_surface_t *end = draw(open, NULL, state);
  td_graph_glide *glide = td_graph_glide_new(self->scene, open, 0);
  for (int step = 0; step <= 4; step++) {
    td_graph_glide_move(glide, step / 4.0);
    cairo_surface_t *now = draw(open, glide, state);
    g_assert_cmpint(look_alike(now, end), ==, step == 4);
    g_autofree char *path = g_strdup_printf("%s/glide-%d.png", g_getenv("TEST_OUTPUT"), step);
    if (g_getenv("TEST_OUTPUT")) cairo_surface_write_to_png(now, path);
    cairo_surface_destroy(now);
  }
  cairo_surface_destroy(end);
  td_graph_glide_free(glide);
  td_graph_scene_free(open);
}

/* All nodes count that a view shows. A few are light. */
static void
test_glide_count(Fixture *self, gconstpointer data) {
  td_graph_scene *open = open_run(self);
  td_graph_glide *glide = td_graph_glide_new(self->scene, open, 0);
  td_graph_view view = {.width = 1e6, .height = 1e6, .scale = 1};
  g_assert_cmpuint(td_graph_glide_count(glide, &view), ==, self->scene->n_nodes + open->n_nodes);
  g_assert_true(td_graph_glide_is_light(glide, &view));
  view.centre_x = 3e6;
  g_assert_cmpuint(td_graph_glide_count(glide, &view), ==, 0);
  td_graph_glide_free(glide);
  td_graph_scene_free(open);
}

/* Where all 77 nodes are in view, their names cannot be read; those of the folded scene can. A
 * graph of 38 nodes is small. */
static void
test_legible(Fixture *self, gconstpointer data) {
  td_graph_scene *whole = td_graph_scene_new(self->catalog, 0);
  td_graph_view view = {.width = 931, .height = 428};
  td_graph_scene_fit(whole, &view);
  g_assert_cmpfloat(view.scale * 15, <, 9);
  g_assert_cmpint(td_graph_scene_reads_whole(whole), ==, data == NULL);
  td_graph_scene_fit(self->scene, &view);
  g_assert_cmpfloat(view.scale * 15, >, 9);
  g_assert_true(td_graph_scene_reads_whole(self->scene));
  td_graph_scene_free(whole);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, test) g_test_add("/ui/fold-scenes/" name, Fixture, NULL, set_up, test, tear_down)
  ADD("blocks", test_blocks);
  ADD("open", test_open);
  ADD("states", test_states);
  ADD("totals", test_totals);
  ADD("glide/ends", test_glide_ends);
  ADD("glide/way", test_glide_way);
  ADD("glide/pictures", test_glide_pictures);
  ADD("glide/count", test_glide_count);
  ADD("legible/small", test_legible);
#undef ADD
  g_test_add("/ui/fold-scenes/legible/large", Fixture, GUINT_TO_POINTER(25), set_up, test_legible,
             tear_down);
  return g_test_run();
}
