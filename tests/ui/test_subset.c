/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The part of a graph that is shown alone: its scene, its text, and when it comes and goes. */
#include "tests/ui/model_fixture.h"
#include "ui/model/document/subset_choice.h"

typedef struct Fixture {
  td_model_fixture model;
  TdSubsetChoice *choice;
  uint32_t graph_task;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data) {
  td_model_fixture_set_up(&self->model, data);
  self->choice = td_subset_choice_new();
  self->graph_task = td_document_get_graph_task(self->model.document);
  td_subset_choice_show(self->choice, self->model.document, self->graph_task);
}

static void
tear_down(Fixture *self, gconstpointer data) {
  g_object_unref(self->choice);
  td_model_fixture_tear_down(&self->model, data);
}

static td_graph_scene *
wait_for_scene(Fixture *self) {
  while (td_subset_choice_is_busy(self->choice))
    g_main_context_iteration(NULL, TRUE);
  return td_subset_choice_get_scene(self->choice);
}

static gboolean
has(td_graph_scene *scene, uint32_t node) {
  double x, y;
  return td_graph_scene_place(scene, node, &x, &y);
}

/* One edge further, the part has what it had and the ends of all edges of that. */
static void
test_neighbours(Fixture *self, gconstpointer data) {
  const td_catalog *catalog = td_document_get_catalog(self->model.document);
  td_graph_scene *whole = td_document_get_scene(self->model.document);
  for (uint32_t i = 0; i < td_graph_scene_n_nodes(whole); i++) {
    uint32_t node = td_graph_scene_node(whole, i);
    g_assert_true(td_subset_choice_want_neighbours(self->choice, node));
    td_subset_choice_widen(self->choice, -1);
    td_graph_scene *scene = wait_for_scene(self);
    g_assert_cmpuint(td_subset_choice_get_distance(self->choice), ==, 1);
    g_assert_true(has(scene, node));
    uint32_t n_ends = 1;
    for (uint32_t k = 0; k < td_graph_scene_n_nodes(whole); k++) {
      uint32_t other = td_graph_scene_node(whole, k), n_there, n_back;
      td_catalog_edges_between(catalog, node, other, &n_there);
      td_catalog_edges_between(catalog, other, node, &n_back);
      gboolean is_end = n_there + n_back > 0;
      g_assert_cmpint(has(scene, other), ==, is_end || other == node);
      n_ends += is_end && other != node;
    }
    g_assert_cmpuint(td_graph_scene_n_nodes(scene), ==, n_ends);
  }
  g_assert_false(td_subset_choice_want_neighbours(self->choice, catalog->n_nodes + 1));
}

static void
test_paths(Fixture *self, gconstpointer data) {
  const td_catalog *catalog = td_document_get_catalog(self->model.document);
  td_graph_scene *whole = td_document_get_scene(self->model.document);
  uint32_t root = td_catalog_graph_task_get(catalog, self->graph_task)->root, n_apart = 0;
  for (uint32_t i = 0; i < td_graph_scene_n_nodes(whole); i++) {
    uint32_t node = td_graph_scene_node(whole, i);
    g_assert_true(td_subset_choice_want_paths(self->choice, node, root));
    td_graph_scene *scene = wait_for_scene(self);
    g_assert_true(has(scene, node) && has(scene, root));
    g_assert_cmpuint(td_subset_choice_get_distance(self->choice), ==, 0);
    guint wish = td_subset_choice_get_wish(self->choice);
    if (i == 0 || td_catalog_node_get(catalog, node)->n_out) continue;
    /* Of two nodes without edges out of them, none leads to the other. */
    for (uint32_t k = 0; k < i; k++) {
      uint32_t other = td_graph_scene_node(whole, k);
      if (td_catalog_node_get(catalog, other)->n_out) continue;
      g_assert_false(td_subset_choice_want_paths(self->choice, node, other));
      g_assert_cmpuint(td_subset_choice_get_wish(self->choice), ==, wish);
      n_apart++;
    }
  }
  g_assert_cmpuint(n_apart, >, 0);
}

/* A part belongs to its pass, and is there again when that pass is shown again. */
static void
test_passes(Fixture *self, gconstpointer data) {
  td_graph_scene *whole = td_document_get_scene(self->model.document);
  g_assert_null(td_subset_choice_dup_text(self->choice));
  g_assert_true(td_subset_choice_want_neighbours(self->choice, td_graph_scene_node(whole, 1)));
  td_graph_scene *scene = wait_for_scene(self);
  g_assert_nonnull(scene);
  td_subset_choice_show(self->choice, self->model.document, self->graph_task + 1);
  g_assert_null(td_subset_choice_get_scene(self->choice));
  g_assert_null(td_subset_choice_dup_text(self->choice));
  g_assert_cmpuint(td_subset_choice_get_wish(self->choice), ==, 0);
  g_assert_false(td_subset_choice_clear(self->choice));
  td_subset_choice_show(self->choice, self->model.document, self->graph_task);
  g_assert_true(td_subset_choice_get_scene(self->choice) == scene);
  g_autofree char *text = td_subset_choice_dup_text(self->choice);
  g_assert_true(g_str_has_prefix(text, "Neighbours of "));
  g_assert_true(td_subset_choice_clear(self->choice));
  g_assert_null(td_subset_choice_get_scene(self->choice));
  g_assert_false(td_subset_choice_clear(self->choice));
}

/* Looking for the end of a path ends before the part does. Another document ends both. */
static void
test_start(Fixture *self, gconstpointer data) {
  td_graph_scene *whole = td_document_get_scene(self->model.document);
  uint32_t node = td_graph_scene_node(whole, 0);
  g_assert_true(td_subset_choice_want_neighbours(self->choice, node));
  td_subset_choice_set_start(self->choice, node);
  g_assert_cmpuint(td_subset_choice_get_start(self->choice), ==, node);
  g_assert_true(td_subset_choice_clear(self->choice));
  g_assert_cmpuint(td_subset_choice_get_start(self->choice), ==, TD_NONE);
  g_assert_nonnull(wait_for_scene(self));
  td_subset_choice_set_start(self->choice, node);
  td_subset_choice_show(self->choice, NULL, TD_NONE);
  g_assert_cmpuint(td_subset_choice_get_start(self->choice), ==, TD_NONE);
  g_assert_null(td_subset_choice_get_scene(self->choice));
  g_assert_false(td_subset_choice_want_neighbours(self->choice, node));
}

/* A later reading of a live tape has the same part, of its own catalog. Another tape has none. */
static void
test_live(Fixture *self, gconstpointer data) {
  TdDocument *readings[2];
  for (int i = 0; i < 2; i++) {
    readings[i] = td_document_new_live(self->model.path, 1000, TRUE);
    g_assert_true(td_load_document(readings[i], NULL));
  }
  uint32_t graph_task = td_document_get_graph_task(readings[0]);
  uint32_t node = td_graph_scene_node(td_document_get_scene(readings[0]), 2);
  td_subset_choice_show(self->choice, readings[0], graph_task);
  g_assert_true(td_subset_choice_want_neighbours(self->choice, node));
  uint32_t n = td_graph_scene_n_nodes(wait_for_scene(self));
  td_subset_choice_show(self->choice, readings[1], graph_task);
  g_assert_null(td_subset_choice_get_scene(self->choice));
  g_clear_object(&readings[0]);
  g_assert_cmpuint(td_graph_scene_n_nodes(wait_for_scene(self)), ==, n);
  td_subset_choice_show(self->choice, self->model.document, graph_task);
  g_assert_null(td_subset_choice_get_scene(self->choice));
  g_assert_null(td_subset_choice_dup_text(self->choice));
  g_object_unref(readings[1]);
}

/* The nearest of too many. */
static void
test_most(Fixture *self, gconstpointer data) {
  td_graph_scene *whole = td_document_get_scene(self->model.document);
  uint32_t node = td_graph_scene_node(whole, 0), n, n_all;
  uint32_t *nodes = td_graph_scene_neighbours(whole, node, 100, 3, &n, &n_all);
  g_assert_cmpuint(n, ==, 3);
  g_assert_cmpuint(n_all, ==, td_graph_scene_n_nodes(whole));
  td_graph_scene *scene = td_graph_scene_new_subset(td_document_get_catalog(self->model.document),
                                                    self->graph_task, nodes, n);
  g_assert_cmpuint(td_graph_scene_n_nodes(scene), ==, 3);
  td_graph_scene_free(scene);
  free(nodes);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/ui/subset/neighbours", Fixture, NULL, set_up, test_neighbours, tear_down);
  g_test_add("/ui/subset/paths", Fixture, NULL, set_up, test_paths, tear_down);
  g_test_add("/ui/subset/passes", Fixture, NULL, set_up, test_passes, tear_down);
  g_test_add("/ui/subset/start", Fixture, NULL, set_up, test_start, tear_down);
  g_test_add("/ui/subset/live", Fixture, NULL, set_up, test_live, tear_down);
  g_test_add("/ui/subset/most", Fixture, NULL, set_up, test_most, tear_down);
  return g_test_run();
}
