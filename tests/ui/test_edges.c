/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The selection of an edge, and what the inspector tells of it. */
#include "tests/ui/model_fixture.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/facts/facts.h"

static char *
fact_of(td_model_fixture *fixture, uint32_t edge, const char *title) {
  g_autoptr(GListModel) facts = td_facts_of_edge(fixture->document, edge);
  for (guint i = 0; i < g_list_model_get_n_items(facts); i++) {
    g_autoptr(TdFact) fact = g_list_model_get_item(facts, i);
    if (g_str_equal(td_fact_get_title(fact), title)) return g_strdup(td_fact_get_value(fact));
  }
  return NULL;
}

/* How many edges say that the gradient of an event went over them. */
static guint
count_tellers(td_model_fixture *fixture, const td_event_buffer_add *moved, uint64_t seq) {
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  g_autofree char *count = td_format_count(seq);
  g_autofree char *text = g_strdup_printf(", event %s", count);
  guint n_tellers = 0;
  uint32_t n;
  const uint32_t *edges = td_catalog_edges_between(catalog, moved->from, moved->node, &n);
  for (uint32_t i = 0; i < n; i++) {
    g_autofree char *value = fact_of(fixture, edges[i], "Went over");
    g_assert_nonnull(value);
    n_tellers +=
        catalog->edges[edges[i]].input_nr == moved->input_nr && g_str_has_suffix(value, text);
  }
  return n_tellers;
}

/* Each gradient that arrives went over one edge, from its event on and not before. */
static void
test_gradients(td_model_fixture *fixture, gconstpointer data) {
  uint64_t end = td_replay_end(td_document_get_replay(fixture->document));
  guint n_moved = 0;
  for (uint64_t seq = 0; seq < end; seq++) {
    td_any_event event = td_model_fixture_event(fixture, seq);
    if (event.event.kind != TD_EVENT_buffer_add || event.buffer_add.from == TD_NONE) continue;
    td_playhead_set_position(fixture->playhead, seq);
    g_assert_cmpuint(count_tellers(fixture, &event.buffer_add, seq), ==, 0);
    td_playhead_set_position(fixture->playhead, seq + 1);
    g_assert_cmpuint(count_tellers(fixture, &event.buffer_add, seq), ==, 1);
    n_moved++;
  }
  g_assert_cmpuint(n_moved, >, 40);
}

static void
test_ends(td_model_fixture *fixture, gconstpointer data) {
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  for (uint32_t i = 0; i < catalog->n_edges; i++) {
    const td_catalog_edge *edge = &catalog->edges[i];
    g_autofree char *from = td_document_dup_node_words(fixture->document, edge->from);
    g_autofree char *to = td_document_dup_node_words(fixture->document, edge->to);
    g_autofree char *producer = fact_of(fixture, i, "Producer");
    g_autofree char *consumer = fact_of(fixture, i, "Consumer");
    g_autofree char *input = g_strdup_printf("into input %u", edge->input_nr);
    g_assert_true(g_str_has_prefix(producer, from));
    g_assert_true(g_str_has_prefix(consumer, to));
    g_assert_true(g_str_has_suffix(consumer, input));
  }
}

static void
count_cb(GObject *object, GParamSpec *spec, gpointer n) {
  ++*(guint *)n;
}

/* Either a node is selected or an edge, and each change is told once. */
static void
test_selection(td_model_fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->playhead;
  guint n = 0;
  td_playhead_set_selection(playhead, TD_NONE);
  g_signal_connect(playhead, "notify::selection", G_CALLBACK(count_cb), &n);
  g_assert_cmpuint(td_playhead_get_edge(playhead), ==, TD_NONE);
  td_playhead_set_edge(playhead, 0);
  td_playhead_set_edge(playhead, 0);
  g_assert_cmpuint(td_playhead_get_edge(playhead), ==, 0);
  g_assert_cmpuint(n, ==, 1);
  td_playhead_set_selection(playhead, TD_NONE);
  g_assert_cmpuint(td_playhead_get_edge(playhead), ==, TD_NONE);
  g_assert_cmpuint(n, ==, 2);
  td_playhead_set_edge(playhead, 1);
  td_playhead_set_selection(playhead, 3);
  g_assert_cmpuint(td_playhead_get_edge(playhead), ==, TD_NONE);
  g_assert_cmpuint(td_playhead_get_selection(playhead), ==, 3);
  td_playhead_set_edge(playhead, td_document_get_catalog(fixture->document)->n_edges);
  g_assert_cmpuint(td_playhead_get_edge(playhead), ==, TD_NONE);
  g_assert_cmpuint(td_playhead_get_selection(playhead), ==, 3);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/ui/edges/gradients", td_model_fixture, NULL, td_model_fixture_set_up, test_gradients,
             td_model_fixture_tear_down);
  g_test_add("/ui/edges/ends", td_model_fixture, NULL, td_model_fixture_set_up, test_ends,
             td_model_fixture_tear_down);
  g_test_add("/ui/edges/selection", td_model_fixture, NULL, td_model_fixture_set_up, test_selection,
             td_model_fixture_tear_down);
  return g_test_run();
}
