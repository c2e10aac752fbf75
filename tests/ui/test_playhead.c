/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The playhead without a display: it steps, plays, follows, says so, and goes back to where it
 * was. */
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"
#include "ui/model/findings/problems.h"
#include "ui/model/playhead/playhead_steps.h"
#include "ui/model/playhead/visits.h"

static void
count_cb(GObject *object, GParamSpec *spec, gpointer data) {
  ++*(guint *)data;
}

static void
test_steps_event(td_model_fixture *fixture, gconstpointer data) {
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
test_ends(td_model_fixture *fixture, gconstpointer data) {
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
test_steps_node(td_model_fixture *fixture, gconstpointer data) {
  uint64_t length = td_playhead_get_length(fixture->playhead);
  g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint64_t seq = 0; seq < length; seq++)
    if (td_model_fixture_event(fixture, seq).event.kind == TD_EVENT_node_begin)
      g_array_append_val(begins, seq);
  g_assert_cmpuint(begins->len, >, 10);
  td_playhead_to_start(fixture->playhead);
  for (guint i = 0; i < begins->len; i++) {
    td_playhead_step_node(fixture->playhead, 1);
    uint64_t seq = g_array_index(begins, uint64_t, i);
    g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, seq + 1);
    g_assert_cmpuint(td_playhead_get_selection(fixture->playhead), ==,
                     td_model_fixture_event(fixture, seq).node_begin.node);
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
test_runs_to_problems(td_model_fixture *fixture, gconstpointer data) {
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
test_follow_can_stop(td_model_fixture *fixture, gconstpointer data) {
  td_playhead_set_selection(fixture->playhead, 3);
  td_playhead_set_follow(fixture->playhead, FALSE);
  td_playhead_to_end(fixture->playhead);
  td_playhead_step_node(fixture->playhead, -1);
  g_assert_cmpuint(td_playhead_get_selection(fixture->playhead), ==, 3);
  td_playhead_set_selection(fixture->playhead, 1000000);
  g_assert_cmpuint(td_playhead_get_selection(fixture->playhead), ==, TD_NONE);
}

static void
test_plays(td_model_fixture *fixture, gconstpointer data) {
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
test_speeds(td_model_fixture *fixture, gconstpointer data) {
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

static guint n_reached;

/* To the begin and end of the selected node, from anywhere. */
static void
test_go_to_node(td_model_fixture *fixture, gconstpointer data) {
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
test_visits(td_model_fixture *fixture, gconstpointer data) {
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
  td_playhead_set_playing(playhead, TRUE);
  g_assert_true(td_visits_go(visits, -1));
  g_assert_false(td_playhead_get_playing(playhead));
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

static void
test_span_stays_inside(td_model_fixture *fixture, gconstpointer data) {
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

#define ADD(path, test)                                                                            \
  g_test_add("/ui/model/" path, td_model_fixture, NULL, td_model_fixture_set_up, test,             \
             td_model_fixture_tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("playhead/steps-event", test_steps_event);
  ADD("playhead/ends", test_ends);
  ADD("playhead/steps-node", test_steps_node);
  ADD("playhead/runs-to-problems", test_runs_to_problems);
  ADD("playhead/follow-can-stop", test_follow_can_stop);
  ADD("playhead/plays", test_plays);
  ADD("playhead/speeds", test_speeds);
  ADD("playhead/go-to-node", test_go_to_node);
  ADD("playhead/visits", test_visits);
  ADD("playhead/span-stays-inside", test_span_stays_inside);
  return run_tests();
}
