/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What led to the problems of a tape: its outline says the same as all its events. An outline that
 * lies is found out. */
#include "engine/profile/why/cause_words.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/segments.h"
#include "engine/trace/contents.h"
#include "engine/trace/segment_writer.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define PASSES 200
#define CAUSES_OF_PASS 4 /* two NaN, a conflict, an error */
#define LEAST_EVENTS 100

/* A pass of a chain of four nodes: gradients go from ROOT to LEAF. */
enum { LEAF, SIN, MUL, ROOT, N_NODES };

static void
tell_birth(td_tape_script *script, uint32_t pass, uint32_t node, td_anomaly_kind kind,
           td_birthplace born) {
  uint32_t graph_task = born == TD_birthplace_forward ? TD_NONE : pass;
  TELL(script, anomaly, .kind = kind, .born = born, .node = N_NODES * pass + node,
       .graph_task = graph_task, .from = TD_NONE, .other = TD_NONE);
}

/* A NaN and a write come before the pass, so a cut parts them from what they lead to. */
static void
tell_forward(td_tape_script *script, uint32_t pass) {
  uint32_t first = N_NODES * pass;
  for (uint32_t i = 0; i < N_NODES; i++)
    TELL(script, node_new, .node = first + i, .sequence_nr = first + i, .device = TD_DEVICE_CPU);
  for (uint32_t i = LEAF; i < ROOT; i++)
    TELL(script, edge_new, .from = first + i + 1, .to = first + i);
  tell_birth(script, pass, SIN, TD_anomaly_kind_nan, TD_birthplace_forward);
  TELL(script, tensor_write, .counter = pass, .version = 1, .node = TD_NONE);
  TELL(script, tensor_write, .counter = pass, .version = 2, .node = TD_NONE);
}

/* In odd passes an Inf leads to the first NaN, in even ones the NaN of the forward pass. */
static void
tell_backward(td_tape_script *script, uint32_t pass) {
  uint32_t first = N_NODES * pass;
  TELL(script, graph_task_begin, .graph_task = pass, .root = first + ROOT, .n_roots = 1);
  TELL(script, node_begin, .node = first + ROOT, .graph_task = pass);
  if (pass % 2) tell_birth(script, pass, ROOT, TD_anomaly_kind_inf, TD_birthplace_node);
  TELL(script, node_end, .node = first + ROOT, .graph_task = pass);
  TELL(script, node_begin, .node = first + MUL, .graph_task = pass);
  tell_birth(script, pass, MUL, TD_anomaly_kind_nan, TD_birthplace_node);
  TELL(script, version_conflict, .node = first + MUL, .graph_task = pass, .counter = pass,
       .saved = 1, .found = 2);
  TELL(script, error, .node = first + MUL, .graph_task = pass);
  TELL(script, graph_task_end, .graph_task = pass, .status = TD_task_status_error);
  for (uint32_t i = 0; i < N_NODES; i++)
    TELL(script, node_free, .node = first + i);
  TELL(script, step, .iteration = pass);
}

static char *
make_tape(uint32_t n_passes) {
  char *path = g_strdup_printf("%s/tapedeck-causes-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_tape_script script = {.n_threads = 1};
  td_error error = {0};
  for (uint32_t pass = 0; pass < n_passes; pass++) {
    tell_forward(&script, pass);
    tell_backward(&script, pass);
  }
  assert_ok(td_tape_script_write(&script, path, &error), &error);
  td_tape_script_fini(&script);
  return path;
}

static td_tape *
open_tape(const char *path) {
  td_error error = {0};
  td_tape *tape;
  assert_ok(td_tape_open(path, &tape, &error), &error);
  return tape;
}

static td_catalog *
collect(td_tape *tape, td_segment segment) {
  td_error error = {0};
  td_catalog *catalog;
  assert_ok(td_catalog_collect(tape, &segment, &catalog, &error), &error);
  return catalog;
}

/* ---- what is true ---- */

/* What an event names as the cause of a problem, by the plan above. */
static void
assert_plan(td_tape *tape, const td_any_event *problem, uint64_t cause) {
  td_any_event event;
  g_assert_cmpint(td_tape_get(tape, cause, &event, NULL), ==, TD_OK);
  uint32_t pass = td_event_graph_task(&problem->event);
  switch (problem->event.kind) {
  case TD_EVENT_anomaly:
    g_assert_cmpuint(event.event.kind, ==, TD_EVENT_anomaly);
    g_assert_cmpuint(event.anomaly.node, ==, N_NODES * pass + (pass % 2 ? ROOT : SIN));
    break;
  case TD_EVENT_version_conflict:
    g_assert_cmpuint(event.event.kind, ==, TD_EVENT_tensor_write);
    g_assert_cmpuint(event.tensor_write.counter, ==, pass);
    g_assert_cmpuint(event.tensor_write.version, ==, 2);
    break;
  default:
    g_assert_cmpuint(event.event.kind, ==, TD_EVENT_version_conflict);
    g_assert_cmpuint(event.version_conflict.node, ==, N_NODES * pass + MUL);
  }
}

/* A NaN of the forward pass has no cause: there is no Inf before it. Returns how many have one. */
static uint32_t
assert_causes(td_tape *tape, const td_catalog *outline) {
  td_any_event problem;
  uint32_t n_found = 0;
  for (uint32_t i = 0; i < outline->n_causes; i++) {
    uint64_t seq = outline->causes[i].seq, cause = 0;
    g_assert_cmpint(td_tape_get(tape, seq, &problem, NULL), ==, TD_OK);
    td_cause_known known =
        td_cause_look_up(outline->causes, outline->n_causes, tape, seq, &problem, &cause);
    bool is_forward =
        problem.event.kind == TD_EVENT_anomaly && problem.anomaly.born == TD_birthplace_forward;
    g_assert_cmpint(known, ==, is_forward ? TD_CAUSE_none : TD_CAUSE_found);
    g_autofree char *words = td_cause_words(outline, tape, known, cause);
    g_assert_cmpint(strstr(words, " may have led to it: ") != NULL, ==, !is_forward);
    if (is_forward) continue;
    assert_plan(tape, &problem, cause);
    n_found++;
  }
  return n_found;
}

static uint32_t
count_in_other_segments(td_tape *tape, const td_catalog *outline) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < outline->n_causes; i++)
    if (outline->causes[i].cause != TD_NO_CAUSE)
      n += td_tape_segment_at(tape, outline->causes[i].cause).number !=
           td_tape_segment_at(tape, outline->causes[i].seq).number;
  return n;
}

static void
assert_same_causes(const td_catalog *outline, const td_catalog *whole, td_tape *tape) {
  td_cause_list list = {0};
  uint32_t n;
  td_cause_list_read(&list, whole, tape);
  td_catalog_cause *causes = td_cause_list_make(&list, &n);
  g_assert_cmpmem(outline->causes, outline->n_causes * sizeof *causes, causes, n * sizeof *causes);
  free(causes);
  td_cause_list_fini(&list);
}

static void
test_outline(void) {
  td_error error = {0};
  g_autofree char *path = make_tape(PASSES);
  assert_ok(td_segments_add(path, LEAST_EVENTS, &error), &error);
  td_tape *tape = open_tape(path);
  td_catalog *outline = collect(tape, td_tape_outline(tape));
  td_catalog *whole = collect(tape, td_tape_whole(tape));
  g_assert_cmpuint(td_tape_n_segments(tape), >, 5);
  g_assert_cmpuint(assert_causes(tape, outline), ==, PASSES * (CAUSES_OF_PASS - 1));
  g_assert_cmpuint(count_in_other_segments(tape, outline), >, 5);
  assert_same_causes(outline, whole, tape);
  td_catalog_free(whole);
  td_catalog_free(outline);
  td_tape_close(tape);
  g_unlink(path);
}

/* A list has the first problems. Of the others nothing is known. */
static void
test_many(void) {
  td_error error = {0};
  g_autofree char *path = make_tape(2 * PASSES);
  assert_ok(td_segments_add(path, LEAST_EVENTS, &error), &error);
  td_tape *tape = open_tape(path);
  td_catalog *outline = collect(tape, td_tape_outline(tape));
  const td_catalog_mentions *problems = &outline->mentions[TD_LIST_problems];
  const td_catalog_mention *last = &problems->items[problems->n - 1];
  td_any_event problem;
  uint64_t cause;
  g_assert_cmpint(td_tape_get(tape, last->seq, &problem, NULL), ==, TD_OK);
  g_assert_cmpint(
      td_cause_look_up(outline->causes, outline->n_causes, tape, last->seq, &problem, &cause), ==,
      TD_CAUSE_unknown);
  g_assert_cmpuint(outline->n_causes, <, TD_CATALOG_CAUSES);
  g_assert_cmpuint(outline->n_causes, >, TD_CATALOG_CAUSES / 2);
  td_catalog_free(outline);
  td_tape_close(tape);
  g_unlink(path);
}

/* ---- outlines that lie ---- */

static void
put_claim(td_keyframe *outline, uint64_t seq, uint64_t cause) {
  td_event_cause_now event = {.event = {.kind = TD_EVENT_cause_now, .size = sizeof event},
                              .cause = cause};
  td_keyframe_put(outline, &event.event, seq);
}

/* Gives a tape one segment and this outline. */
static void
write_outline(const char *path, const td_keyframe *outline) {
  td_error error = {0};
  td_segment_writer *writer;
  td_keyframe none = {0};
  assert_ok(td_contents_add(path, &error), &error);
  assert_ok(td_segment_writer_open(path, &writer, &error), &error);
  g_assert_nonnull(writer);
  td_segment_writer_add(writer, 0, &none);
  td_segment_writer_outline(writer, outline);
  assert_ok(td_segment_writer_close(writer, path, &error), &error);
}

/* Which event a lie names, of a tape of n events. */
static uint64_t
lie(uint64_t seq, uint64_t n, uint32_t which) {
  const uint64_t lies[] = {seq, seq + 1, n - 1, n, UINT64_MAX - 1, UINT64_C(1) << 63, 0, seq - 1};
  return lies[which % G_N_ELEMENTS(lies)];
}

/* Of the last kind, the event before an error is its conflict. */
static bool
is_true(const td_any_event *problem, uint64_t seq, uint64_t cause) {
  return problem->event.kind == TD_EVENT_error && cause == seq - 1;
}

static void
assert_found_out(td_tape *tape, const td_catalog *outline, uint64_t seq) {
  td_any_event problem;
  uint64_t cause = 0;
  g_assert_cmpint(td_tape_get(tape, seq, &problem, NULL), ==, TD_OK);
  td_cause_known known =
      td_cause_look_up(outline->causes, outline->n_causes, tape, seq, &problem, &cause);
  g_autofree char *words = td_cause_words(outline, tape, known, cause);
  if (known == TD_CAUSE_none) return; /* an event that has no cause */
  g_assert_cmpint(known, ==, is_true(&problem, seq, cause) ? TD_CAUSE_found : TD_CAUSE_impossible);
  if (known == TD_CAUSE_impossible) g_assert_true(g_str_has_suffix(words, "That cannot be."));
}

/* Each event of the tape gets a cause, whatever it is. */
static void
test_lies(void) {
  for (uint32_t which = 0; which < 8; which++) {
    g_autofree char *path = make_tape(8);
    td_tape *tape = open_tape(path);
    uint64_t n = td_tape_info_get(tape)->n_events;
    td_keyframe outline = {0};
    for (uint64_t seq = 1; seq < n; seq++)
      put_claim(&outline, seq, lie(seq, n, which));
    td_tape_close(tape);
    write_outline(path, &outline);
    tape = open_tape(path);
    td_catalog *catalog = collect(tape, td_tape_outline(tape));
    g_assert_cmpuint(catalog->n_causes, ==, n - 1);
    for (uint64_t seq = 1; seq < n; seq++)
      assert_found_out(tape, catalog, seq);
    td_catalog_free(catalog);
    td_tape_close(tape);
    td_keyframe_fini(&outline);
    g_unlink(path);
  }
}

/* A reader takes as many as a writer may write, and one for each problem. */
static void
test_too_many(void) {
  g_autofree char *path = make_tape(100);
  td_keyframe outline = {0};
  for (uint64_t seq = 0; seq < 2 * TD_CATALOG_CAUSES; seq++) {
    put_claim(&outline, seq, 7);
    put_claim(&outline, seq, 8);
  }
  write_outline(path, &outline);
  td_tape *tape = open_tape(path);
  td_catalog *catalog = collect(tape, td_tape_outline(tape));
  g_assert_cmpuint(catalog->n_causes, ==, TD_CATALOG_CAUSES);
  for (uint32_t i = 0; i < catalog->n_causes; i++) {
    g_assert_cmpuint(catalog->causes[i].seq, ==, i);
    g_assert_cmpuint(catalog->causes[i].cause, ==, 7);
  }
  td_catalog_free(catalog);
  td_tape_close(tape);
  td_keyframe_fini(&outline);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cause-list/outline", test_outline);
  g_test_add_func("/cause-list/many", test_many);
  g_test_add_func("/cause-list/lies", test_lies);
  g_test_add_func("/cause-list/too-many", test_too_many);
  return g_test_run();
}
