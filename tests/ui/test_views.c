/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the facts of a recorded PyTorch program reach people: what is reconstructed says so, passes
 * of several processes and within each other, the line of the model that made a node, statistics,
 * and a search that knows modules and files. */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/profile/knowledge.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/model/base/source_line.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/document/passes.h"
#include "ui/model/events/event_list.h"
#include "ui/model/events/node_query.h"
#include "ui/model/facts/facts.h"
#include "ui/model/playhead/playhead.h"
#include "ui/model/playhead/playhead_steps.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct Fixture {
  char *folder, *path, *source;
  td_tape_script script;
  TdDocument *document;
} Fixture;

#define NEW(script, at, name, ...)                                                                 \
  insert(script, at,                                                                               \
         &(td_any_event){                                                                          \
             .name = {.event = {0, TD_EVENT_##name, sizeof(td_event_##name), 0}, __VA_ARGS__}})

static void
insert(td_tape_script *script, size_t at, const td_any_event *event) {
  TD_GROW(script->events, script->n, script->capacity);
  memmove(script->events + at + 1, script->events + at, (script->n - at) * sizeof *script->events);
  script->events[at] = *event;
  script->n++;
}

static size_t
find(const td_tape_script *script, td_event_kind kind, uint32_t n) {
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == kind && n-- == 0) return i;
  g_assert_not_reached();
}

static void
open_document(Fixture *fixture) {
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(td_tape_script_write(&fixture->script, fixture->path, NULL), ==, TD_OK);
  fixture->document = td_document_new(fixture->path);
  td_load_document(fixture->document, &error);
  g_assert_no_error(error);
}

static void
set_up(Fixture *fixture, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 4, .trains = true, .seed = 5};
  fixture->folder = g_dir_make_tmp("test_views_XXXXXX", NULL);
  fixture->path = g_build_filename(fixture->folder, "made.tape", NULL);
  fixture->source = g_build_filename(fixture->folder, "model.py", NULL);
  td_tape_script_make(&fixture->script, &plan);
}

static void
tear_down(Fixture *fixture, gconstpointer data) {
  g_clear_object(&fixture->document);
  td_tape_script_fini(&fixture->script);
  g_unlink(fixture->path);
  g_unlink(fixture->source);
  g_rmdir(fixture->folder);
  g_free(fixture->path);
  g_free(fixture->source);
  g_free(fixture->folder);
}

/* The value of the first fact with that title, or NULL. */
static char *
fact_of(TdDocument *document, uint32_t node, const char *title) {
  g_autoptr(GListModel) facts =
      node == TD_NONE ? td_facts_of_tape(document) : td_facts_of_node(document, node);
  for (guint i = 0; i < g_list_model_get_n_items(facts); i++) {
    g_autoptr(TdFact) fact = g_list_model_get_item(facts, i);
    if (g_str_equal(td_fact_get_title(fact), title)) return g_strdup(td_fact_get_value(fact));
  }
  return NULL;
}

static void
test_knowledge(Fixture *fixture, gconstpointer data) {
  td_tape_script *script = &fixture->script;
  NEW(script, 0, known, .kind = td_intern("buffer_add"), .how = TD_knowledge_reconstructed);
  NEW(script, 0, known, .kind = td_intern("lock_wait"), .how = TD_knowledge_absent);
  NEW(script, 0, probe_level, .level = 2, .reason = td_intern("there is no compiler"));
  open_document(fixture);
  const td_tape_info *info = td_document_get_info(fixture->document);
  char *rebuilt = td_knowledge_list(info, TD_knowledge_reconstructed);
  char *absent = td_knowledge_list(info, TD_knowledge_absent);
  g_assert_cmpstr(rebuilt, ==, "buffer_add");
  g_assert_cmpstr(absent, ==, "lock_wait");
  free(rebuilt);
  free(absent);
  g_autofree char *engine = td_facts_engine_text(fixture->document);
  g_assert_cmpstr(engine, ==, "tape maker 1, level 2: node hooks");
  g_autofree char *reason = fact_of(fixture->document, TD_NONE, "Reason");
  g_assert_cmpstr(reason, ==, "there is no compiler");
  g_autoptr(TdEventList) events = td_event_list_new(fixture->document);
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    td_any_event event;
    g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(events), (guint)seq);
    td_replay_event(td_document_get_replay(fixture->document), seq, &event, NULL);
    g_assert_cmpint(td_event_item_is_reconstructed(item), ==,
                    event.event.kind == TD_EVENT_buffer_add);
  }
}

/* Process 0 counts a step before each pass of both processes, so a step is over before the pass
 * that has its number. */
static void
check_steps(const td_catalog *catalog) {
  uint32_t step;
  g_assert_cmpuint(catalog->n_steps, ==, 4);
  g_assert_true(td_pass_find_step(catalog, 0, 0, &step));
  g_assert_cmpuint(step, ==, 1);
  g_assert_false(td_pass_find_step(catalog, 0, 3, &step));
  g_assert_cmpuint(step, ==, 3);
  g_assert_false(td_pass_find_step(catalog, 1, 2, &step));
  g_assert_cmpuint(step, ==, TD_NONE);
}

static void
test_several_processes(Fixture *fixture, gconstpointer data) {
  td_tape_script *script = &fixture->script;
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == TD_EVENT_thread_new)
      script->events[i].thread_new.process = script->events[i].thread_new.id;
  script->events[find(script, TD_EVENT_graph_task_begin, 1)].graph_task_begin.owner = 1;
  script->events[find(script, TD_EVENT_graph_task_begin, 2)].graph_task_begin.owner = 1;
  for (uint32_t rank = 0; rank < 2; rank++)
    NEW(script, 0, process_new, .process = rank, .pid = 100 + rank, .rank = (int32_t)rank,
        .name = td_intern("train.py"));
  open_document(fixture);
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  g_assert_cmpuint(catalog->n_processes, ==, 2);
  char *label = td_catalog_thread_label(catalog, catalog->n_threads - 1);
  g_assert_true(g_str_has_prefix(label, "rank 1 · "));
  free(label);
  uint64_t length = td_replay_end(td_document_get_replay(fixture->document));
  uint32_t n;
  g_assert_cmpuint(td_document_graph_task_at(fixture->document, length), ==, 3);
  g_assert_cmpuint(td_pass_number(td_document_get_catalog(fixture->document), 0, 3, &n), ==, 2);
  g_assert_cmpuint(n, ==, 2);
  check_steps(catalog);
  for (uint32_t rank = 0; rank < 2; rank++) {
    g_autofree uint32_t *passes = td_pass_list(catalog, rank, &n);
    g_assert_cmpuint(n, ==, 2);
    g_assert_cmpuint(passes[0], ==, rank);
    g_assert_cmpuint(passes[1], ==, 3 - rank);
  }
  td_document_set_process(fixture->document, 1);
  g_assert_cmpuint(td_document_graph_task_at(fixture->document, length), ==, 2);
  g_assert_cmpuint(td_document_graph_task_at(fixture->document, 0), ==, 1);
}

/* A pass that begins and ends within another: after it the outer one is the one to look at. */
static void
test_nested_passes(Fixture *fixture, gconstpointer data) {
  td_tape_script *script = &fixture->script;
  size_t end = find(script, TD_EVENT_graph_task_end, 0);
  NEW(script, end, graph_task_end, .graph_task = 4, .status = TD_task_status_ok);
  NEW(script, end, reentrant_leave, .graph_task = 4, .outer = 0, .node = 29, .depth = 1);
  NEW(script, end, reentrant_enter, .graph_task = 4, .outer = 0, .node = 29, .depth = 1);
  NEW(script, end, graph_task_begin, .graph_task = 4, .depth = 1, .owner = 0, .root = 3);
  open_document(fixture);
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  const td_catalog_graph_task *inner = td_catalog_graph_task_get(catalog, 4);
  g_assert_cmpuint(td_document_graph_task_at(fixture->document, inner->begin_seq), ==, 0);
  g_assert_cmpuint(td_document_graph_task_at(fixture->document, inner->begin_seq + 1), ==, 4);
  g_assert_cmpuint(td_document_graph_task_at(fixture->document, inner->end_seq + 1), ==, 0);
  td_replay *replay = td_document_get_replay(fixture->document);
  const td_state *state = td_replay_state(replay);
  g_assert_cmpint(td_replay_seek(replay, inner->begin_seq + 2, NULL), ==, TD_OK);
  g_assert_cmpuint(td_state_thread(state, 0)->state, ==, TD_thread_activity_reentrant_wait);
  g_assert_cmpint(td_replay_forward(replay, NULL), ==, TD_OK);
  g_assert_cmpuint(td_state_thread(state, 0)->state, ==, TD_thread_activity_processing);
  g_assert_cmpuint(td_state_thread(state, 0)->node, ==, 29);
  g_assert_cmpuint(td_state_thread(state, 0)->graph_task, ==, 0);
}

static void
test_origin(Fixture *fixture, gconstpointer data) {
  td_tape_script *script = &fixture->script;
  g_autofree char *stack =
      g_strdup_printf("/home/me/train.py:9 main\n%s:2 forward\n"
                      "/usr/lib/python3/dist-packages/torch/nn/linear.py:3 forward",
                      fixture->source);
  size_t made = find(script, TD_EVENT_node_new, 20);
  uint32_t node = script->events[made].node_new.node;
  g_assert_true(
      g_file_set_contents(fixture->source, "def forward(self, x):\n    return x * 2\n", -1, NULL));
  script->events[made].node_new.stack = td_intern(stack);
  NEW(script, made + 1, node_module, .node = node, .module = td_intern("encoder.layers.3"),
      .module_class = td_intern("Linear"));
  open_document(fixture);
  g_autofree char *line = fact_of(fixture->document, node, "Line");
  g_autofree char *source = fact_of(fixture->document, node, "Source");
  g_autofree char *module = fact_of(fixture->document, node, "Module");
  g_assert_cmpstr(line, ==, "model.py:2 in forward");
  g_assert_cmpstr(source, ==, "return x * 2");
  g_assert_cmpstr(module, ==, "Linear · encoder.layers.3");
  static const char *const found_by[] = {"layers.3", "Linear · encoder.layers.3", "MODEL.py:2",
                                         "encoder model.py", ""};
  for (guint i = 0; i < G_N_ELEMENTS(found_by); i++) {
    g_autoptr(TdNodeQuery) query = td_node_query_new(fixture->document, found_by[i]);
    g_assert_true(td_node_query_matches(query, node));
    g_assert_cmpint(td_node_query_matches(query, node + 1), ==, *found_by[i] == '\0');
  }
}

/* A row of the list has no room for modules in its sentence. */
static void
test_brief_events(Fixture *fixture, gconstpointer data) {
  td_tape_script *script = &fixture->script;
  size_t made = find(script, TD_EVENT_node_new, 20);
  uint32_t node = script->events[made].node_new.node;
  NEW(script, made + 1, node_module, .node = node, .module = td_intern("layers.3"),
      .module_class = td_intern("Linear"));
  open_document(fixture);
  uint64_t seq = td_catalog_node_get(td_document_get_catalog(fixture->document), node)->created_seq;
  g_autofree char *name = td_document_dup_node_name(fixture->document, node);
  g_autofree char *words = td_document_dup_node_words(fixture->document, node);
  g_autofree char *text = td_document_dup_event_text(fixture->document, seq);
  g_autofree char *brief = td_document_dup_event_brief(fixture->document, seq);
  g_autofree char *module = td_document_dup_event_module(fixture->document, seq);
  g_assert_nonnull(strstr(text, words));
  g_assert_nonnull(strstr(brief, name));
  g_assert_null(strstr(brief, "layers.3"));
  g_assert_cmpstr(module, ==, "Linear · layers.3");
  g_assert_null(td_document_dup_event_module(fixture->document, 0));
}

static void
test_search_order(Fixture *fixture, gconstpointer data) {
  open_document(fixture);
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  g_autoptr(TdNodeQuery) leaves = td_node_query_new(fixture->document, "accumulate w1");
  uint32_t nodes[3], n = td_node_query_run(leaves, nodes, 3);
  g_assert_cmpuint(n, >=, 4);
  g_assert_cmpuint(nodes[0], <, 30); /* of the pass that is shown */
  for (int i = 0; i < 3; i++)
    g_assert_nonnull(strstr(td_catalog_node_get(catalog, nodes[i])->label, "w1"));
  g_autoptr(TdNodeQuery) number = td_node_query_new(fixture->document, "#12");
  g_assert_cmpuint(td_node_query_run(number, nodes, 3), ==, 1);
  g_assert_cmpuint(nodes[0], ==, 12);
}

/* What the playhead has not reached is not told. */
static void
test_numbers(Fixture *fixture, gconstpointer data) {
  td_tape_script *script = &fixture->script;
  size_t end = find(script, TD_EVENT_node_end, 2);
  uint32_t node = script->events[end].node_end.node;
  NEW(script, end, tensor_stats, .node = node, .place = TD_stats_place_output, .n_elements = 2048,
      .n_nan = 3, .min = -1, .max = 2.5, .mean = 0.25, .l2 = 7);
  open_document(fixture);
  td_replay *replay = td_document_get_replay(fixture->document);
  uint32_t n;
  const td_catalog_mention *stats =
      td_catalog_mentions_of(td_document_get_catalog(fixture->document), TD_LIST_stats, node, &n);
  g_assert_cmpuint(n, ==, 1);
  g_assert_cmpint(td_replay_seek(replay, stats->seq, NULL), ==, TD_OK);
  g_assert_null(fact_of(fixture->document, node, "Output 0"));
  g_assert_cmpint(td_replay_seek(replay, stats->seq + 1, NULL), ==, TD_OK);
  g_autofree char *text = fact_of(fixture->document, node, "Output 0");
  g_assert_true(text && strstr(text, "-1 to 2.5, mean 0.25, norm 7"));
  g_assert_true(text && strstr(text, "3 NaN"));
}

/* A tape of many passes opens with one of them in the timeline; steps can be jumped along. */
static void
test_training_steps(Fixture *fixture, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 12, .n_threads = 1, .n_passes = 40, .trains = true, .seed = 9};
  td_tape_script_fini(&fixture->script);
  td_tape_script_make(&fixture->script, &plan);
  open_document(fixture);
  const td_catalog *catalog = td_document_get_catalog(fixture->document);
  g_autoptr(TdPlayhead) playhead = td_playhead_new();
  td_playhead_set_document(playhead, fixture->document);
  double from, to, first, last;
  td_playhead_get_span(playhead, &from, &to);
  td_pass_span(td_document_get_replay(fixture->document), 0, &first, &last);
  g_assert_cmpfloat(fabs(from - MAX(first, 0)), <, 1);
  g_assert_cmpfloat(to - from, <, (double)td_document_get_info(fixture->document)->duration_ns / 4);
  td_playhead_to_start(playhead);
  g_assert_cmpuint(catalog->n_steps, ==, 40);
  for (uint32_t i = 0; i < 40; i++) {
    td_playhead_step_training(playhead, 1);
    g_assert_cmpuint(td_document_get_state(fixture->document)->header->step, ==, i);
  }
  uint64_t position = td_playhead_get_position(playhead);
  td_playhead_step_training(playhead, 1);
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, position);
  td_playhead_step_training(playhead, -1);
  g_assert_cmpuint(td_document_get_state(fixture->document)->header->step, ==, 38);
  g_assert_cmpuint(td_graph_scene_n_nodes(td_document_get_scene(fixture->document)), <=, 12);
}

static void
test_stacks(void) {
  static const struct {
    const char *stack, *file, *function;
    guint line, n;
  } cases[] = {
      {"train.py:3 main\nmodel.py:12 forward", "model.py", "forward", 12, 2},
      {"/a/b(c).py(7): step", "/a/b(c).py", "step", 7, 1},
      {"  File \"/x/train.py\", line 3, in main\n    loss = f(x)\n  File \"/x/model.py\", line 12, "
       "in f\n    return x * 2\n",
       "/x/model.py", "f", 12, 2},
      {"/home/me/torch/net.py:8 g\n/opt/pytorch/torch/nn/modules/linear.py:134 forward\n<frozen "
       "os>:3 f",
       "/home/me/torch/net.py", "g", 8, 3},
      {"views.py:5 <module>\ntorch/nn/modules/linear.py:130 forward", "views.py", "<module>", 5, 2},
      {"/home/me/torch/nn/train.py:4 main\n/home/me/torch/utils/data.py:7 load\n"
       "/opt/pytorch/torch/_tensor.py:9 f",
       "/home/me/torch/utils/data.py", "load", 7, 3},
      {"torch/train.py:4 <module>\ntorch/nn/modules/module.py:9 _call_impl", "torch/train.py",
       "<module>", 4, 2},
      {"/home/me/tapedeck/train.py:4 <module>\n"
       "/src/tapedeck/build/engine/torch/python/torch/nn/linear.py:9 forward",
       "/home/me/tapedeck/train.py", "<module>", 4, 2},
      {"/home/me/torch/train.py:4 <module>\n"
       "/src/tapedeck/build/engine/torch/python/torch/_products.py:9 mv",
       "/home/me/torch/train.py", "<module>", 4, 2},
      {"/home/me/mytorch/nn/modules/net.py:4 f", "/home/me/mytorch/nn/modules/net.py", "f", 4, 1},
      {"/home/me/mytorch/_net.py:4 f\n/opt/torch/functional.py:8 einsum",
       "/home/me/mytorch/_net.py", "f", 4, 2},
      {"C:\\me\\net.py:44 g\n/usr/lib/python3/dist-packages/torch/nn/a.py:1 f", "C:\\me\\net.py",
       "g", 44, 2},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GPtrArray) lines = td_source_lines_parse(cases[i].stack);
    const TdSourceLine *own = td_source_lines_find_own(lines);
    g_assert_cmpuint(lines->len, ==, cases[i].n);
    g_assert_cmpstr(own->file, ==, cases[i].file);
    g_assert_cmpstr(own->function, ==, cases[i].function);
    g_assert_cmpuint(own->line, ==, cases[i].line);
  }
  static const char *const nonsense[] = {"", "\n\n", "no line at all", ":::", "(3)"};
  for (guint i = 0; i < G_N_ELEMENTS(nonsense); i++) {
    g_autoptr(GPtrArray) lines = td_source_lines_parse(nonsense[i]);
    g_assert_cmpuint(lines->len, ==, 0);
    g_assert_null(td_source_lines_find_own(lines));
  }
}

int
main(int argc, char **argv) {
  static const struct {
    const char *path;
    void (*test)(Fixture *fixture, gconstpointer data);
  } tests[] = {
      {"/views/knowledge", test_knowledge},
      {"/views/several-processes", test_several_processes},
      {"/views/nested-passes", test_nested_passes},
      {"/views/origin", test_origin},
      {"/views/brief-events", test_brief_events},
      {"/views/search-order", test_search_order},
      {"/views/numbers", test_numbers},
      {"/views/training-steps", test_training_steps},
  };
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
    g_test_add(tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  g_test_add_func("/views/stacks", test_stacks);
  return run_tests();
}
