/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The model without a display: a document loads, lists and filters tell what is on the tape, facts
 * what is known of a node. */
#include "engine/events/emit.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/model/base/error.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/document/scene_cache.h"
#include "ui/model/events/event_list.h"
#include "ui/model/facts/facts.h"
#include "ui/model/findings/problems.h"
#include "ui/model/playhead/playhead_steps.h"

#include <glib/gstdio.h>
#include <unistd.h>

static void
test_opens_at_backward(td_model_fixture *fixture, gconstpointer data) {
  uint64_t position = td_playhead_get_position(fixture->playhead);
  g_assert_cmpuint(position, >, 0);
  g_assert_cmpint(td_model_fixture_event(fixture, position - 1).event.kind, ==,
                  TD_EVENT_graph_task_begin);
  g_assert_nonnull(td_document_get_scene(fixture->document));
  g_assert_nonnull(td_document_get_timeline(fixture->document));
}

static void
test_refuses(td_model_fixture *fixture, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(fixture->folder, "no.tape", NULL);
  g_autoptr(TdDocument) missing = td_document_new(path);
  g_assert_false(td_load_document(missing, &error));
  g_assert_error(error, TD_ERROR, TD_IO);
  g_clear_error(&error);
  g_assert_true(
      g_file_set_contents(path, "this is not a tape, only some text in a file\n", -1, NULL));
  g_autoptr(TdDocument) text = td_document_new(path);
  g_assert_false(td_load_document(text, &error));
  g_assert_error(error, TD_ERROR, TD_NOT_A_TAPE);
  g_unlink(path);
}

static void
test_cancelled(td_model_fixture *fixture, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_autoptr(TdDocument) document = td_document_new(fixture->path);
  GAsyncResult *result = NULL;
  g_cancellable_cancel(cancellable);
  td_document_load_async(document, cancellable, td_store_result, &result);
  g_assert_false(td_document_load_finish(document, td_wait_for(&result), &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_object_unref(result);
}

static void
test_list_is_lazy_and_whole(td_model_fixture *fixture, gconstpointer data) {
  g_autoptr(TdEventList) list = td_event_list_new(fixture->document);
  GListModel *model = G_LIST_MODEL(list);
  guint n = g_list_model_get_n_items(model);
  g_assert_cmpuint(n, ==, td_playhead_get_length(fixture->playhead));
  g_assert_null(g_list_model_get_item(model, n));
  for (guint i = 0; i < n; i++) {
    g_autoptr(TdEventItem) item = g_list_model_get_item(model, i);
    g_autofree char *text = td_event_item_dup_text(item);
    g_assert_cmpuint(td_event_item_get_seq(item), ==, i);
    g_assert_cmpstr(text, !=, "");
    g_assert_cmpuint(td_event_list_find(list, i), ==, i);
  }
}

static TdEventList *
filter(td_model_fixture *fixture, TdEventRule rule) {
  GAsyncResult *result = NULL;
  td_event_filter_async(fixture->document, rule, NULL, td_store_result, &result);
  TdEventList *list = td_event_filter_finish(fixture->document, td_wait_for(&result), NULL);
  g_object_unref(result);
  g_assert_nonnull(list);
  return list;
}

static void
test_filter_by_node(td_model_fixture *fixture, gconstpointer data) {
  const uint32_t node = td_document_get_catalog(fixture->document)->graph_task_rows[0].root;
  g_autoptr(TdEventList) list = filter(fixture, (TdEventRule){0, node});
  guint row = 0, n = g_list_model_get_n_items(G_LIST_MODEL(list));
  for (uint64_t seq = 0; seq < td_playhead_get_length(fixture->playhead); seq++) {
    td_any_event event = td_model_fixture_event(fixture, seq);
    if (!td_event_names(&event.event, TD_ID_NODE, node)) continue;
    g_assert_cmpuint(row, <, n);
    g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(list), row++);
    g_assert_cmpuint(td_event_item_get_seq(item), ==, seq);
  }
  g_assert_cmpuint(row, ==, n);
  g_assert_cmpuint(n, >, 5);
}

/* All words must be in the sentence, in any order, small or not. */
static void
test_filter_by_words(td_model_fixture *fixture, gconstpointer data) {
  g_autoptr(TdEventList) list = filter(fixture, (TdEventRule){0, TD_NONE, " QUEUE  popped"});
  GListModel *model = G_LIST_MODEL(list);
  uint64_t length = td_playhead_get_length(fixture->playhead);
  guint row = 0;
  for (uint64_t seq = 0; seq < length; seq++) {
    g_autofree char *text = td_document_dup_event_text(fixture->document, seq);
    if (!strcasestr(text, "queue") || !strcasestr(text, "popped")) continue;
    g_autoptr(TdEventItem) item = g_list_model_get_item(model, row++);
    g_assert_nonnull(item);
    g_assert_cmpuint(td_event_item_get_seq(item), ==, seq);
  }
  g_assert_cmpuint(row, ==, g_list_model_get_n_items(model));
  g_assert_cmpuint(row, >, 5);
  g_assert_cmpuint(row, <, length / 2);
  g_autoptr(TdEventList) all = filter(fixture, (TdEventRule){0, TD_NONE, "  "});
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(all)), ==, length);
}

/* A range of time has the events of its times, both ends with it. */
static void
test_filter_by_time(td_model_fixture *fixture, gconstpointer data) {
  uint64_t length = td_playhead_get_length(fixture->playhead);
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  for (int i = 0; i < 50; i++) {
    uint64_t a = (uint64_t)g_rand_int_range(random, 0, (gint32)length);
    uint64_t b = (uint64_t)g_rand_int_range(random, (gint32)a, (gint32)length);
    uint64_t from = td_model_fixture_event(fixture, a).event.time;
    uint64_t to = td_model_fixture_event(fixture, b).event.time;
    if (!to) continue;
    g_autoptr(TdEventList) list = filter(fixture, (TdEventRule){0, TD_NONE, NULL, from, to});
    guint row = 0;
    for (uint64_t seq = 0; seq < length; seq++) {
      uint64_t time = td_model_fixture_event(fixture, seq).event.time;
      if (time < from || time > to) continue;
      g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(list), row++);
      g_assert_cmpuint(td_event_item_get_seq(item), ==, seq);
    }
    g_assert_cmpuint(row, ==, g_list_model_get_n_items(G_LIST_MODEL(list)));
  }
}

/* Every event passes exactly one filter. */
static void
test_filters_cover(td_model_fixture *fixture, gconstpointer data) {
  guint n = 0;
  for (guint i = 1; td_event_filter_name(i); i++) {
    g_autoptr(TdEventList) list = filter(fixture, (TdEventRule){i, TD_NONE});
    n += g_list_model_get_n_items(G_LIST_MODEL(list));
  }
  g_assert_cmpuint(n, ==, td_document_get_info(fixture->document)->n_events);
}

static void
test_facts_of_nodes(td_model_fixture *fixture, gconstpointer data) {
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  td_playhead_set_position(fixture->playhead, td_playhead_get_length(fixture->playhead) / 3);
  for (uint32_t node = 0; node < catalog->n_nodes; node++) {
    g_autoptr(GListModel) facts = td_facts_of_node(fixture->document, node);
    guint links = 0;
    for (guint i = 0; i < g_list_model_get_n_items(facts); i++) {
      g_autoptr(TdFact) fact = g_list_model_get_item(facts, i);
      g_assert_cmpstr(td_fact_get_title(fact), !=, "");
      g_assert_cmpstr(td_fact_get_value(fact), !=, NULL);
      if (td_fact_get_node(fact) != TD_NONE) links++;
    }
    g_assert_cmpuint(links, <=, catalog->node_rows[node].n_in + catalog->node_rows[node].n_out + 1);
    g_assert_cmpuint(links, >=, catalog->node_rows[node].n_out);
  }
}

/* The first gradient of the node is undefined, and so its shape is not on the tape. */
static char *
write_undefined_input(td_model_fixture *fixture) {
  char *path = g_build_filename(fixture->folder, "undefined.tape", NULL);
  td_tape_script script = {.n_threads = 1};
  td_any_event node = {
      .node_new = {.event = {.kind = TD_EVENT_node_new, .size = sizeof node.node_new},
                   .device = TD_DEVICE_CPU,
                   .n_inputs = 2}};
  td_any_event shape = {.input_metadata = {.event = {.kind = TD_EVENT_input_metadata,
                                                     .size = sizeof shape.input_metadata},
                                           .input_nr = 1,
                                           .shape = td_intern("[3, 4]"),
                                           .device = TD_DEVICE_CPU}};
  td_any_event events[] = {node, shape};
  script.events = events;
  script.n = G_N_ELEMENTS(events);
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  return path;
}

static char *
fact_called(GListModel *facts, const char *title) {
  for (guint i = 0; i < g_list_model_get_n_items(facts); i++) {
    g_autoptr(TdFact) fact = g_list_model_get_item(facts, i);
    if (g_str_equal(td_fact_get_title(fact), title)) return g_strdup(td_fact_get_value(fact));
  }
  return NULL;
}

static void
test_shapes_have_numbers(td_model_fixture *fixture, gconstpointer data) {
  g_autofree char *path = write_undefined_input(fixture);
  g_autoptr(TdDocument) document = td_document_new(path);
  g_assert_true(td_load_document(document, NULL));
  g_autoptr(GListModel) facts = td_facts_of_node(document, 0);
  g_autofree char *first = fact_called(facts, "Input 0"), *second = fact_called(facts, "Input 1");
  g_assert_cmpstr(first, ==, "unknown shape");
  g_assert_true(second && strstr(second, "[3, 4]"));
  g_unlink(path);
}

#define HUB_EDGES 500

static td_any_event
script_event(td_event_kind kind) {
  return (td_any_event){.event = {.kind = kind, .size = sizeof(td_any_event)}};
}

/* Node 0 gets a gradient from each of HUB_EDGES nodes. */
static char *
write_hub(td_model_fixture *fixture) {
  char *path = g_build_filename(fixture->folder, "hub.tape", NULL);
  g_autofree td_any_event *events = g_new0(td_any_event, 3 * HUB_EDGES + 2);
  td_tape_script script = {.n_threads = 1, .events = events};
  for (uint32_t node = 0; node <= HUB_EDGES; node++) {
    td_any_event *made = &events[script.n++];
    *made = script_event(TD_EVENT_node_new);
    made->event.size = sizeof made->node_new;
    made->node_new.node = node;
    made->node_new.device = TD_DEVICE_CPU;
    made->node_new.n_inputs = made->node_new.n_outputs = 1;
  }
  for (uint32_t node = 1; node <= HUB_EDGES; node++) {
    td_any_event *edge = &events[script.n++];
    *edge = script_event(TD_EVENT_edge_new);
    edge->event.size = sizeof edge->edge_new;
    edge->edge_new.from = node;
  }
  events[script.n++] = script_event(TD_EVENT_graph_task_begin);
  events[script.n - 1].event.size = sizeof events->graph_task_begin;
  for (uint32_t node = 1; node <= HUB_EDGES; node++) {
    td_any_event *arrival = &events[script.n++];
    *arrival = script_event(TD_EVENT_buffer_add);
    arrival->event.size = sizeof arrival->buffer_add;
    arrival->buffer_add.from = node;
  }
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  return path;
}

static TdFact *
find_fact(GListModel *facts, const char *title) {
  for (guint i = 0; i < g_list_model_get_n_items(facts); i++) {
    g_autoptr(TdFact) fact = g_list_model_get_item(facts, i);
    if (g_str_equal(td_fact_get_title(fact), title)) return g_steal_pointer(&fact);
  }
  return NULL;
}

/* However many edges a node has, the inspector lists a few, says how many more there are, and has a
 * list of all. */
static void
test_facts_of_hub(td_model_fixture *fixture, gconstpointer data) {
  g_autofree char *path = write_hub(fixture);
  g_autoptr(TdDocument) document = td_document_new(path);
  g_assert_true(td_load_document(document, NULL));
  g_autoptr(TdPlayhead) playhead = td_playhead_new();
  td_playhead_set_document(playhead, document);
  td_playhead_to_end(playhead);
  g_autoptr(GListModel) facts = td_facts_of_node(document, 0);
  g_assert_cmpuint(g_list_model_get_n_items(facts), <, 100);
  g_autofree char *input = fact_called(facts, "Input 0");
  g_autofree char *words = g_strdup_printf(" and %d more", HUB_EDGES - 6);
  g_assert_true(g_str_has_suffix(input, words));
  g_autoptr(TdFact) rest = find_fact(facts, "and");
  g_assert_nonnull(rest);
  GListModel *all = td_fact_get_all(rest);
  g_assert_cmpuint(g_list_model_get_n_items(all), ==, HUB_EDGES);
  g_autoptr(TdFact) last = g_list_model_get_item(all, HUB_EDGES - 1);
  g_assert_cmpuint(td_fact_get_node(last), ==, HUB_EDGES);
  g_assert_cmpstr(td_fact_get_title(last), ==, "into input 0");
  g_unlink(path);
}

static void
store_message(TdPlayhead *playhead, const char *text, gpointer data) {
  g_free(*(char **)data);
  *(char **)data = g_strdup(text);
}

/* Another program cuts off a tape that a window shows: the window says so and goes on. */
static void
test_cut_while_open(td_model_fixture *fixture, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 4000, .n_threads = 3, .n_passes = 2, .seed = 8};
  g_autofree char *message = NULL;
  g_assert_cmpint(td_tape_make(&plan, fixture->path, NULL), ==, TD_OK);
  g_autoptr(TdDocument) document = td_document_new(fixture->path);
  g_assert_true(td_load_document(document, NULL));
  td_playhead_set_document(fixture->playhead, document);
  g_signal_connect(fixture->playhead, "message", G_CALLBACK(store_message), &message);
  guint64 length = td_playhead_get_length(fixture->playhead);
  g_assert_cmpuint(length, >, 50000);
  g_assert_cmpint(truncate(fixture->path, 4096), ==, 0);
  for (int i = 0; i <= 20; i++)
    td_playhead_set_position(fixture->playhead, length * (guint64)(i * 7 % 20) / 20);
  g_assert_nonnull(message);
  g_assert_nonnull(strstr(message, "changed the file"));
  td_playhead_step_event(fixture->playhead, 1);
  td_playhead_step_event(fixture->playhead, -1);
  g_autoptr(TdEventList) list = td_event_list_new(document);
  g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(list), (guint)length - 1);
  g_autofree char *text = td_event_item_dup_text(item);
  g_assert_nonnull(text);
  td_playhead_set_document(fixture->playhead, fixture->document);
}

/* Large scenes go first, but for the one on show and the newest. */
static void
test_scenes_have_a_budget(td_model_fixture *fixture, gconstpointer data) {
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  td_scene_cache cache;
  td_scene_cache_init(&cache);
  td_graph_scene *first = td_graph_scene_new(catalog, 0);
  uint32_t n = td_graph_scene_n_nodes(first);
  cache.most_nodes = 2 * n;
  td_scene_cache_take(&cache, 0, first, 0);
  td_scene_cache_take(&cache, 7, td_graph_scene_new(catalog, 0), 0);
  g_assert_nonnull(td_scene_cache_find(&cache, 7));
  td_scene_cache_take(&cache, 8, td_graph_scene_new(catalog, 0), 0);
  g_assert_true(td_scene_cache_find(&cache, 0) == first);
  g_assert_null(td_scene_cache_find(&cache, 7));
  cache.most_nodes = n - 1;
  td_scene_cache_take(&cache, 9, td_graph_scene_new(catalog, 0), 0);
  g_assert_true(td_scene_cache_find(&cache, 0) == first);
  g_assert_null(td_scene_cache_find(&cache, 8));
  td_scene_cache_show(&cache, 9);
  g_assert_null(td_scene_cache_find(&cache, 0));
  g_assert_nonnull(td_scene_cache_find(&cache, 9));
  td_scene_cache_fini(&cache);
}

static void
work_until_told(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  while (!g_cancellable_is_cancelled(cancellable))
    g_usleep(100);
  g_task_return_boolean(task, TRUE);
}

static void
test_worker_counts(td_model_fixture *fixture, gconstpointer data) {
  g_autoptr(GCancellable) told = g_cancellable_new();
  g_autoptr(GTask) task = g_task_new(NULL, told, NULL, NULL);
  while (td_worker_is_busy())
    g_usleep(100);
  td_worker_start(task, work_until_told);
  g_assert_true(td_worker_is_busy());
  g_cancellable_cancel(told);
  while (td_worker_is_busy())
    g_usleep(100);
  g_assert_false(g_task_propagate_boolean(task, NULL)); /* cancelled */
}

#define ADD(path, test)                                                                            \
  g_test_add("/ui/model/" path, td_model_fixture, NULL, td_model_fixture_set_up, test,             \
             td_model_fixture_tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("document/opens-at-backward", test_opens_at_backward);
  ADD("document/refuses", test_refuses);
  ADD("document/cancelled", test_cancelled);
  ADD("playhead/cut-while-open", test_cut_while_open);
  ADD("event-list/lazy-and-whole", test_list_is_lazy_and_whole);
  ADD("event-list/filter-by-node", test_filter_by_node);
  ADD("event-list/filter-by-words", test_filter_by_words);
  ADD("event-list/filter-by-time", test_filter_by_time);
  ADD("event-list/filters-cover", test_filters_cover);
  ADD("scenes/have-a-budget", test_scenes_have_a_budget);
  ADD("facts/of-nodes", test_facts_of_nodes);
  ADD("facts/of-a-hub", test_facts_of_hub);
  ADD("facts/shapes-have-numbers", test_shapes_have_numbers);
  ADD("worker/counts", test_worker_counts);
  return run_tests();
}
