/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The model without a display: a document loads, the playhead steps and says so, lists and filters
 * tell what is on the tape, facts what is known of a node. */
#include "engine/events/emit.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/ui/run_tests.h"
#include "ui/model/error.h"
#include "ui/model/event_list.h"
#include "ui/model/facts.h"
#include "ui/model/playhead.h"
#include "ui/model/playhead_steps.h"
#include "ui/model/problems.h"
#include "ui/model/scene_cache.h"
#include "ui/model/visits.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct Fixture {
  char *folder, *path;
  TdDocument *document;
  TdPlayhead *playhead;
} Fixture;

static void
store_result(GObject *source, GAsyncResult *result, gpointer data) {
  *(GAsyncResult **)data = g_object_ref(result);
}

static GAsyncResult *
wait_for(GAsyncResult **result) {
  while (!*result)
    g_main_context_iteration(NULL, TRUE);
  return *result;
}

static gboolean
load(TdDocument *document, GError **error) {
  GAsyncResult *result = NULL;
  td_document_load_async(document, NULL, store_result, &result);
  gboolean loaded = td_document_load_finish(document, wait_for(&result), error);
  g_object_unref(result);
  return loaded;
}

static void
set_up(Fixture *fixture, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 3, .n_passes = 2, .seed = 7, .n_anomalies = 1};
  g_autoptr(GError) error = NULL;
  fixture->folder = g_dir_make_tmp("test_model_XXXXXX", NULL);
  fixture->path = g_build_filename(fixture->folder, "random.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, fixture->path, NULL), ==, TD_OK);
  fixture->document = td_document_new(fixture->path);
  g_assert_true(load(fixture->document, &error));
  g_assert_no_error(error);
  fixture->playhead = td_playhead_new();
  td_playhead_set_document(fixture->playhead, fixture->document);
}

static void
tear_down(Fixture *fixture, gconstpointer data) {
  g_object_unref(fixture->playhead);
  g_object_unref(fixture->document);
  g_unlink(fixture->path);
  g_rmdir(fixture->folder);
  g_free(fixture->path);
  g_free(fixture->folder);
}

static td_any_event
event_at(Fixture *fixture, uint64_t seq) {
  td_any_event event;
  td_replay *replay = td_document_get_replay(fixture->document);
  g_assert_cmpint(td_replay_event(replay, seq, &event, NULL), ==, TD_OK);
  return event;
}

static void
count_cb(GObject *object, GParamSpec *spec, gpointer data) {
  ++*(guint *)data;
}

static void
test_opens_at_backward(Fixture *fixture, gconstpointer data) {
  uint64_t position = td_playhead_get_position(fixture->playhead);
  g_assert_cmpuint(position, >, 0);
  g_assert_cmpint(event_at(fixture, position - 1).event.kind, ==, TD_EVENT_graph_task_begin);
  g_assert_nonnull(td_document_get_scene(fixture->document));
  g_assert_nonnull(td_document_get_timeline(fixture->document));
}

static void
test_refuses(Fixture *fixture, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(fixture->folder, "no.tape", NULL);
  g_autoptr(TdDocument) missing = td_document_new(path);
  g_assert_false(load(missing, &error));
  g_assert_error(error, TD_ERROR, TD_IO);
  g_clear_error(&error);
  g_assert_true(
      g_file_set_contents(path, "this is not a tape, only some text in a file\n", -1, NULL));
  g_autoptr(TdDocument) text = td_document_new(path);
  g_assert_false(load(text, &error));
  g_assert_error(error, TD_ERROR, TD_NOT_A_TAPE);
  g_unlink(path);
}

static void
test_cancelled(Fixture *fixture, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_autoptr(TdDocument) document = td_document_new(fixture->path);
  GAsyncResult *result = NULL;
  g_cancellable_cancel(cancellable);
  td_document_load_async(document, cancellable, store_result, &result);
  g_assert_false(td_document_load_finish(document, wait_for(&result), &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_object_unref(result);
}

static void
test_steps_event(Fixture *fixture, gconstpointer data) {
  guint moves = 0;
  uint64_t start = td_playhead_get_position(fixture->playhead);
  g_signal_connect(fixture->playhead, "notify::position", G_CALLBACK(count_cb), &moves);
  td_playhead_step_event(fixture->playhead, 1);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, start + 1);
  td_playhead_step_event(fixture->playhead, -1);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, start);
  g_assert_cmpuint(moves, ==, 2);
  td_playhead_to_start(fixture->playhead);
  moves = 0;
  td_playhead_step_event(fixture->playhead, -1);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, 0);
  g_assert_cmpuint(moves, ==, 0);
}

static void
test_ends(Fixture *fixture, gconstpointer data) {
  uint64_t length = td_playhead_get_length(fixture->playhead);
  td_playhead_to_end(fixture->playhead);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, length);
  td_playhead_step_event(fixture->playhead, 1);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, length);
  td_playhead_step_node(fixture->playhead, 1);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, length);
}

/* Forward from the very start and back again, every node_begin is met once, and in order. */
static void
test_steps_node(Fixture *fixture, gconstpointer data) {
  uint64_t length = td_playhead_get_length(fixture->playhead);
  g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint64_t seq = 0; seq < length; seq++)
    if (event_at(fixture, seq).event.kind == TD_EVENT_node_begin) g_array_append_val(begins, seq);
  g_assert_cmpuint(begins->len, >, 10);
  td_playhead_to_start(fixture->playhead);
  for (guint i = 0; i < begins->len; i++) {
    td_playhead_step_node(fixture->playhead, 1);
    uint64_t seq = g_array_index(begins, uint64_t, i);
    g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, seq + 1);
    g_assert_cmpuint(td_playhead_get_selection(fixture->playhead), ==,
                     event_at(fixture, seq).node_begin.node);
  }
  for (guint i = begins->len - 1; i-- > 0;) {
    td_playhead_step_node(fixture->playhead, -1);
    g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==,
                     g_array_index(begins, uint64_t, i) + 1);
  }
}

static void
say_cb(TdPlayhead *playhead, const char *text, gpointer data) {
  ++*(guint *)data;
}

static void
test_runs_to_problems(Fixture *fixture, gconstpointer data) {
  size_t n;
  guint said = 0;
  const td_catalog_mention *problems = td_document_get_problems(fixture->document, &n);
  g_assert_cmpuint(n, >, 0);
  g_signal_connect(fixture->playhead, "message", G_CALLBACK(say_cb), &said);
  td_playhead_to_start(fixture->playhead);
  for (size_t i = 0; i < n; i++) {
    td_playhead_run_to_problem(fixture->playhead);
    g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, problems[i].seq + 1);
    g_assert_cmpuint(said, ==, i + 1);
  }
  td_playhead_run_to_problem(fixture->playhead);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, problems[n - 1].seq + 1);
  g_assert_cmpuint(said, ==, n + 1);
}

static void
test_follow_can_stop(Fixture *fixture, gconstpointer data) {
  td_playhead_set_selection(fixture->playhead, 3);
  td_playhead_set_follow(fixture->playhead, FALSE);
  td_playhead_to_end(fixture->playhead);
  td_playhead_step_node(fixture->playhead, -1);
  g_assert_cmpuint(td_playhead_get_selection(fixture->playhead), ==, 3);
  td_playhead_set_selection(fixture->playhead, 1000000);
  g_assert_cmpuint(td_playhead_get_selection(fixture->playhead), ==, TD_NONE);
}

static void
test_plays(Fixture *fixture, gconstpointer data) {
  td_playhead_to_start(fixture->playhead);
  td_playhead_set_speed(fixture->playhead, td_speed_find(TD_SPEED_EVENTS, 100));
  td_playhead_set_playing(fixture->playhead, TRUE);
  td_playhead_tick(fixture->playhead, 5000000);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, 0);
  td_playhead_tick(fixture->playhead, 5055000); /* 5.5 events later */
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, 5);
  td_playhead_tick(fixture->playhead, 5060000); /* 6 */
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, 6);
  td_playhead_tick(fixture->playhead, 6000000000);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==,
                   td_playhead_get_length(fixture->playhead));
  g_assert_false(td_playhead_get_playing(fixture->playhead));
}

/* A pass in five seconds; then a hundred times as long as the program took. */
static void
test_speeds(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->playhead;
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, 0);
  uint64_t begin = pass->begin_seq + 1, n = pass->end_seq - pass->begin_seq;
  td_playhead_set_position(playhead, begin);
  td_playhead_set_speed(playhead, td_speed_find(TD_SPEED_PASS, 5));
  td_playhead_set_playing(playhead, TRUE);
  for (int64_t us = 1000000; us <= 6000000; us += 10000)
    td_playhead_tick(playhead, us);
  g_assert_cmpuint(td_playhead_get_position(playhead), >=, begin + n - 1);
  g_assert_cmpuint(td_playhead_get_position(playhead), <=, begin + n);

  td_playhead_set_position(playhead, begin);
  uint64_t start_ns = td_playhead_get_time_ns(playhead);
  td_playhead_set_speed(playhead, td_speed_find(TD_SPEED_TIME, 100));
  td_playhead_set_playing(playhead, TRUE);
  td_playhead_tick(playhead, 1000000);
  for (int64_t us = 1000100; us <= 1005000 && td_playhead_get_playing(playhead); us += 100) {
    td_playhead_tick(playhead, us);
    double now = (double)start_ns + (double)(us - 1000000) * 1e3 / 100;
    uint64_t expected =
        td_tape_seq_at(td_replay_tape(td_document_get_replay(fixture->document)), (uint64_t)now) +
        1;
    g_assert_cmpuint(td_playhead_get_position(playhead), >=,
                     MIN(expected, td_playhead_get_length(playhead)) - 1);
    g_assert_cmpuint(td_playhead_get_position(playhead), <=, expected);
  }
  g_assert_cmpuint(td_playhead_get_position(playhead), >, begin);
  td_playhead_set_playing(playhead, FALSE);
}

static void
test_span_stays_inside(Fixture *fixture, gconstpointer data) {
  double from, to, end = (double)td_document_get_info(fixture->document)->duration_ns;
  td_playhead_set_span(fixture->playhead, -500, 1500);
  td_playhead_get_span(fixture->playhead, &from, &to);
  g_assert_cmpfloat(from, ==, 0);
  g_assert_cmpfloat(to, ==, 2000);
  td_playhead_set_span(fixture->playhead, end - 10, end + 990);
  td_playhead_get_span(fixture->playhead, &from, &to);
  g_assert_cmpfloat(to, ==, end);
  g_assert_cmpfloat(from, ==, end - 1000);
  td_playhead_reset_span(fixture->playhead);
  td_playhead_get_span(fixture->playhead, &from, &to);
  g_assert_cmpfloat(from, ==, 0);
  g_assert_cmpfloat(to, ==, end);
}

static void
test_list_is_lazy_and_whole(Fixture *fixture, gconstpointer data) {
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
filter(Fixture *fixture, TdEventRule rule) {
  GAsyncResult *result = NULL;
  td_event_filter_async(fixture->document, rule, NULL, store_result, &result);
  TdEventList *list = td_event_filter_finish(fixture->document, wait_for(&result), NULL);
  g_object_unref(result);
  g_assert_nonnull(list);
  return list;
}

static void
test_filter_by_node(Fixture *fixture, gconstpointer data) {
  const uint32_t node = td_document_get_catalog(fixture->document)->graph_task_rows[0].root;
  g_autoptr(TdEventList) list = filter(fixture, (TdEventRule){0, node});
  guint row = 0, n = g_list_model_get_n_items(G_LIST_MODEL(list));
  for (uint64_t seq = 0; seq < td_playhead_get_length(fixture->playhead); seq++) {
    td_any_event event = event_at(fixture, seq);
    if (!td_event_names(&event.event, TD_ID_NODE, node)) continue;
    g_assert_cmpuint(row, <, n);
    g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(list), row++);
    g_assert_cmpuint(td_event_item_get_seq(item), ==, seq);
  }
  g_assert_cmpuint(row, ==, n);
  g_assert_cmpuint(n, >, 5);
}

/* Every event passes exactly one filter. */
static void
test_filters_cover(Fixture *fixture, gconstpointer data) {
  guint n = 0;
  for (guint i = 1; td_event_filter_name(i); i++) {
    g_autoptr(TdEventList) list = filter(fixture, (TdEventRule){i, TD_NONE});
    n += g_list_model_get_n_items(G_LIST_MODEL(list));
  }
  g_assert_cmpuint(n, ==, td_document_get_info(fixture->document)->n_events);
}

static void
test_facts_of_nodes(Fixture *fixture, gconstpointer data) {
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
write_undefined_input(Fixture *fixture) {
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
test_shapes_have_numbers(Fixture *fixture, gconstpointer data) {
  g_autofree char *path = write_undefined_input(fixture);
  g_autoptr(TdDocument) document = td_document_new(path);
  g_assert_true(load(document, NULL));
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
write_hub(Fixture *fixture) {
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
test_facts_of_hub(Fixture *fixture, gconstpointer data) {
  g_autofree char *path = write_hub(fixture);
  g_autoptr(TdDocument) document = td_document_new(path);
  g_assert_true(load(document, NULL));
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
test_cut_while_open(Fixture *fixture, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 4000, .n_threads = 3, .n_passes = 2, .seed = 8};
  g_autofree char *message = NULL;
  g_assert_cmpint(td_tape_make(&plan, fixture->path, NULL), ==, TD_OK);
  g_autoptr(TdDocument) document = td_document_new(fixture->path);
  g_assert_true(load(document, NULL));
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

static guint n_reached;

/* To the begin and end of the selected node, from anywhere. */
static void
test_go_to_node(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->playhead;
  td_replay *replay = td_document_get_replay(fixture->document);
  for (uint32_t node = 0; node < td_document_get_catalog(fixture->document)->n_nodes; node++) {
    const td_event_kind edges[] = {TD_EVENT_node_end, TD_EVENT_node_begin};
    for (gsize i = 0; i < G_N_ELEMENTS(edges); i++) {
      td_playhead_set_position(playhead, 7);
      td_playhead_set_selection(playhead, node);
      td_playhead_go_to_node(playhead, edges[i]);
      td_any_event event;
      uint64_t position = td_playhead_get_position(playhead);
      if (position == 7) continue; /* it does not run */
      g_assert_cmpint(td_replay_event(replay, position - 1, &event, NULL), ==, TD_OK);
      g_assert_cmpuint(event.event.kind, ==, edges[i]);
      g_assert_cmpuint(i ? event.node_begin.node : event.node_end.node, ==, node);
      g_assert_cmpuint(td_playhead_get_selection(playhead), ==, node);
      n_reached++;
    }
  }
  g_assert_cmpuint(n_reached, >, 10);
}

static void
rest(void) {
  gint64 until = g_get_monotonic_time() + 600000;
  while (g_get_monotonic_time() < until)
    g_main_context_iteration(NULL, FALSE);
}

static void
assert_place(TdPlayhead *playhead, uint64_t position, uint32_t selection) {
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, position);
  g_assert_cmpuint(td_playhead_get_selection(playhead), ==, selection);
}

/* Steps and what one only passes by are no places. A new place lets those go that were left. */
static void
test_visits(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->playhead;
  td_playhead_set_follow(playhead, FALSE);
  td_playhead_set_position(playhead, 10);
  td_playhead_set_selection(playhead, 1);
  g_autoptr(TdVisits) visits = td_visits_new(playhead);
  g_assert_false(td_visits_go(visits, -1));
  td_playhead_step_event(playhead, 1);
  rest();
  for (uint64_t position = 70; position < 200; position++)
    td_playhead_set_position(playhead, position);
  rest();
  td_playhead_set_selection(playhead, 3);
  g_assert_true(td_visits_go(visits, -1));
  assert_place(playhead, 199, 1);
  g_assert_true(td_visits_go(visits, -1));
  assert_place(playhead, 11, 1);
  rest();
  g_assert_false(td_visits_go(visits, -1));
  g_assert_true(td_visits_go(visits, 1));
  g_assert_true(td_visits_go(visits, 1));
  assert_place(playhead, 199, 3);
  g_assert_false(td_visits_go(visits, 1));
  g_assert_true(td_visits_go(visits, -1));
  td_playhead_set_position(playhead, 90);
  rest();
  g_assert_false(td_visits_go(visits, 1));
  g_assert_true(td_visits_go(visits, -1));
  assert_place(playhead, 199, 1);
  td_playhead_set_document(playhead, NULL);
  g_assert_false(td_visits_go(visits, -1));
}

/* Large scenes go first, but for the one on show and the newest. */
static void
test_scenes_have_a_budget(Fixture *fixture, gconstpointer data) {
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
test_worker_counts(Fixture *fixture, gconstpointer data) {
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

#define ADD(path, test) g_test_add("/ui/model/" path, Fixture, NULL, set_up, test, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("document/opens-at-backward", test_opens_at_backward);
  ADD("document/refuses", test_refuses);
  ADD("document/cancelled", test_cancelled);
  ADD("playhead/steps-event", test_steps_event);
  ADD("playhead/ends", test_ends);
  ADD("playhead/steps-node", test_steps_node);
  ADD("playhead/runs-to-problems", test_runs_to_problems);
  ADD("playhead/follow-can-stop", test_follow_can_stop);
  ADD("playhead/plays", test_plays);
  ADD("playhead/speeds", test_speeds);
  ADD("playhead/go-to-node", test_go_to_node);
  ADD("playhead/visits", test_visits);
  ADD("playhead/cut-while-open", test_cut_while_open);
  ADD("playhead/span-stays-inside", test_span_stays_inside);
  ADD("event-list/lazy-and-whole", test_list_is_lazy_and_whole);
  ADD("event-list/filter-by-node", test_filter_by_node);
  ADD("event-list/filters-cover", test_filters_cover);
  ADD("scenes/have-a-budget", test_scenes_have_a_budget);
  ADD("facts/of-nodes", test_facts_of_nodes);
  ADD("facts/of-a-hub", test_facts_of_hub);
  ADD("facts/shapes-have-numbers", test_shapes_have_numbers);
  ADD("worker/counts", test_worker_counts);
  return run_tests();
}
