/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The outline of a tape that is cut: what it tells of the whole tape is what all events tell. */
#include "engine/replay/catalog_collect.h"
#include "engine/replay/replay.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* A tape that is cut. The caller frees the path and removes the file. */
static char *
make_cut_tape(const td_tape_plan *plan, uint64_t least_events) {
  char *path = g_strdup_printf("%s/tapedeck-outline-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_error error = {0};
  assert_ok(td_tape_make(plan, path, &error), &error);
  assert_ok(td_segments_add(path, least_events, &error), &error);
  return path;
}

static td_tape *
open_tape(const char *path) {
  td_error error = {0};
  td_tape *tape;
  assert_ok(td_tape_open(path, &tape, &error), &error);
  return tape;
}

static td_replay *
replay_whole(const char *path) {
  td_error error = {0};
  td_replay *replay;
  assert_ok(td_replay_open(path, NULL, NULL, &replay, &error), &error);
  return replay;
}

static td_catalog *
read_outline(td_tape *tape) {
  td_error error = {0};
  td_catalog *catalog;
  td_segment outline = td_tape_outline(tape);
  assert_ok(td_catalog_collect(tape, &outline, &catalog, &error), &error);
  return catalog;
}

/* ---- names ---- */

static void
assert_same_text(const char *left, const char *right) {
  g_assert_cmpstr(left ? left : "", ==, right ? right : "");
}

static void
assert_same_name(const td_catalog_node *one, const td_catalog *whole) {
  const td_catalog_node *other = td_catalog_node_find(whole, one->id);
  g_assert_nonnull(other);
  if (!other) return;
  assert_same_text(one->name, other->name);
  assert_same_text(one->label, other->label);
  assert_same_text(one->module, other->module);
  assert_same_text(one->module_class, other->module_class);
  assert_same_text(one->stack, other->stack);
  g_assert_cmpuint(one->created_seq, ==, other->created_seq);
}

/* How many nodes an outline names: all that problems name, or as many as it may. */
static uint32_t
count_names(const char *path, uint32_t *n_without_name) {
  td_replay *whole = replay_whole(path);
  td_tape *tape = open_tape(path);
  td_catalog *outline = read_outline(tape);
  const td_catalog_mentions *problems = &outline->mentions[TD_LIST_problems];
  td_any_event event;
  uint32_t n = 0;
  *n_without_name = 0;
  for (uint32_t row = 0; row < outline->n_nodes; row++) {
    if (outline->node_rows[row].created_seq == UINT64_MAX) continue;
    assert_same_name(&outline->node_rows[row], td_replay_catalog(whole));
    n++;
  }
  for (uint32_t i = 0; i < problems->n; i++) {
    g_assert_cmpint(td_tape_get(tape, problems->items[i].seq, &event, NULL), ==, TD_OK);
    *n_without_name += !td_catalog_declares(outline, &event.event);
  }
  td_catalog_free(outline);
  td_tape_close(tape);
  td_replay_close(whole);
  return n;
}

static void
test_names(void) {
  td_tape_plan plan = {
      .n_nodes = 40, .n_threads = 3, .n_passes = 60, .trains = true, .seed = 2, .n_anomalies = 4};
  g_autofree char *path = make_cut_tape(&plan, 2000);
  uint32_t n_without_name;
  g_assert_cmpuint(count_names(path, &n_without_name), >, 100);
  g_assert_cmpuint(n_without_name, ==, 0);
  g_unlink(path);
}

static void
test_many_names(void) {
  td_tape_plan plan = {
      .n_nodes = 40, .n_threads = 3, .n_passes = 60, .trains = true, .seed = 2, .n_anomalies = 40};
  g_autofree char *path = make_cut_tape(&plan, 2000);
  uint32_t n_without_name;
  g_assert_cmpuint(count_names(path, &n_without_name), ==, 1000);
  g_assert_cmpuint(n_without_name, >, 100);
  g_unlink(path);
}

/* ---- stretches ---- */

/* Adds the part of a span of time that lies in each stretch. */
static void
add_busy(const td_catalog *outline, uint64_t *busy_ns, uint64_t from, uint64_t to) {
  for (uint32_t i = 0; i < outline->n_stretches; i++) {
    uint64_t begin = MAX(from, i ? outline->stretches[i - 1].end_ns : 0);
    uint64_t end = MIN(to, outline->stretches[i].end_ns);
    if (end > begin) busy_ns[i] += end - begin;
  }
}

/* For how long nodes ran in each stretch, from the spans of each thread. */
static void
sum_busy(const td_catalog *outline, td_tape *tape, uint64_t *busy_ns) {
  uint64_t depth[16] = {0}, since[16] = {0}, n_events = td_tape_info_get(tape)->n_events;
  for (uint64_t seq = 0; seq < n_events; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    uint32_t thread = event->event.thread;
    g_assert_cmpuint(thread, <, G_N_ELEMENTS(depth));
    if (event->event.kind == TD_EVENT_node_begin && depth[thread]++ == 0)
      since[thread] = event->event.time;
    if (event->event.kind == TD_EVENT_node_end && --depth[thread] == 0)
      add_busy(outline, busy_ns, since[thread], event->event.time);
  }
}

static uint32_t
longest_queue(const td_replay *replay) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < td_replay_catalog(replay)->n_queues; i++)
    most = MAX(most, td_state_queue(td_replay_state(replay), i)->n);
  return most;
}

/* Queues that nothing happens to in a stretch do not count there, so none is longer than seen. */
static void
assert_queues(const td_catalog *outline, td_replay *whole) {
  uint32_t most_ever = 0, n_reached = 0;
  for (uint32_t i = 0; i < outline->n_stretches; i++) {
    uint32_t seen = longest_queue(whole);
    while (td_replay_position(whole) < outline->stretches[i].end) {
      g_assert_cmpint(td_replay_forward(whole, NULL), ==, TD_OK);
      seen = MAX(seen, longest_queue(whole));
    }
    g_assert_cmpuint(outline->stretches[i].most, <=, seen);
    n_reached += outline->stretches[i].most == seen;
    most_ever = MAX(most_ever, outline->stretches[i].most);
  }
  g_assert_cmpuint(n_reached, >, outline->n_stretches / 2);
  for (uint32_t i = 0; i < outline->n_queues; i++)
    g_assert_cmpuint(outline->queues[i].max_size, <=, most_ever);
}

static void
assert_stretches(const td_catalog *outline, td_tape *tape) {
  uint64_t n_events = td_tape_info_get(tape)->n_events, total_ns = 0;
  g_autofree uint64_t *busy_ns = g_new0(uint64_t, outline->n_stretches);
  td_any_event event;
  sum_busy(outline, tape, busy_ns);
  g_assert_cmpuint(outline->n_stretches, ==, MIN(n_events, TD_CATALOG_STRETCHES));
  for (uint64_t i = 0; i < outline->n_stretches; i++) {
    const td_catalog_stretch *stretch = &outline->stretches[i];
    g_assert_cmpuint(stretch->end, ==, (i + 1) * n_events / outline->n_stretches);
    g_assert_cmpint(td_tape_get(tape, stretch->end - 1, &event, NULL), ==, TD_OK);
    g_assert_cmpuint(stretch->end_ns, ==, event.event.time);
    g_assert_cmpuint(stretch->busy_ns, ==, busy_ns[i]);
    total_ns += busy_ns[i];
  }
  g_assert_cmpuint(total_ns, >, 0);
}

static void
test_stretches(const void *data) {
  g_autofree char *path = make_cut_tape(data, 2000);
  td_tape *tape = open_tape(path);
  td_catalog *outline = read_outline(tape);
  td_replay *whole = replay_whole(path);
  assert_stretches(outline, tape);
  assert_queues(outline, whole);
  g_assert_cmpuint(td_replay_catalog(whole)->n_stretches, ==, 0);
  td_replay_close(whole);
  td_catalog_free(outline);
  td_tape_close(tape);
  g_unlink(path);
}

/* It was cut before outlines had names or stretches. */
static void
test_older(void) {
  g_autofree char *path =
      g_build_filename(g_getenv("SOURCE_ROOT"), "tests", "trace", "golden", "segments.tape", NULL);
  td_tape *tape = open_tape(path);
  td_catalog *outline = read_outline(tape);
  g_assert_cmpuint(td_tape_n_segments(tape), ==, 2);
  g_assert_cmpuint(outline->n_graph_tasks, ==, 6);
  g_assert_cmpuint(outline->n_stretches, ==, 0);
  td_catalog_free(outline);
  td_tape_close(tape);
}

/* ---- keyframes that lie ---- */

static td_status
ignore_cb(const td_any_event *event, uint64_t seq, void *data) {
  return TD_OK;
}

/* A keyframe as good as any other, but of another segment. */
static void
test_other_keyframe(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 99, .seed = 3};
  g_autofree char *path = make_cut_tape(&plan, 2000);
  td_tape *tape = open_tape(path);
  g_assert_cmpuint(td_tape_n_segments(tape), >, 3);
  for (uint64_t seq = 0; seq < td_tape_info_get(tape)->n_events;) {
    td_segment segment = td_tape_segment_at(tape, seq), lie = segment;
    lie.number = segment.number == 1 ? 2 : 1;
    g_assert_cmpint(td_tape_visit_keyframe(tape, &segment, ignore_cb, NULL, NULL), ==, TD_OK);
    g_assert_cmpint(td_tape_visit_keyframe(tape, &lie, ignore_cb, NULL, NULL), ==, TD_DAMAGED);
    seq = segment.end;
  }
  td_tape_close(tape);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  static const td_tape_plan plans[] = {
      {.n_nodes = 40, .n_threads = 1, .n_passes = 60, .trains = true, .seed = 1},
      {.n_nodes = 40, .n_threads = 3, .n_passes = 60, .trains = true, .seed = 2, .n_anomalies = 9},
      {.n_nodes = 50, .n_threads = 2, .n_passes = 99, .trains = false, .seed = 3},
  };
  g_test_init(&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(plans); i++) {
    g_autofree char *stretches = g_strdup_printf("/segment-outline/stretches/%zu", i);
    g_test_add_data_func(stretches, &plans[i], test_stretches);
  }
  g_test_add_func("/segment-outline/names", test_names);
  g_test_add_func("/segment-outline/many-names", test_many_names);
  g_test_add_func("/segment-outline/older", test_older);
  g_test_add_func("/segment-outline/other-keyframe", test_other_keyframe);
  return g_test_run();
}
