/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/profile/check/check.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/why.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static td_replay *
open_script(const td_tape_script *script) {
  g_autofree char *path =
      g_strdup_printf("%s/tapedeck-why-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_replay *replay = NULL;
  g_assert_cmpint(td_tape_script_write(script, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, NULL), ==, TD_OK);
  g_unlink(path);
  return replay;
}

static char *
why(td_replay *replay, uint64_t seq) {
  char *text = NULL;
  g_assert_cmpint(td_why_at(replay, seq, &text, NULL), ==, TD_OK);
  g_assert_true(g_str_has_suffix(text, "."));
  g_assert_true(g_utf8_validate(text, -1, NULL));
  return text;
}

/* A pass of five nodes on one thread, written out by hand. */
enum { LEAF, ADD, SIN, MUL, ROOT };

static void
tell_nodes(td_tape_script *script) {
  TELL(script, queue_new, .queue = 0, .device = TD_DEVICE_CPU, .graph_task = TD_NONE, .owner = 0);
  for (uint32_t node = LEAF; node <= ROOT; node++)
    TELL(script, node_new, .node = node, .sequence_nr = node == LEAF ? UINT64_MAX : node,
         .device = TD_DEVICE_CPU);
  TELL(script, edge_new, .from = ADD, .to = LEAF);
  TELL(script, edge_new, .from = SIN, .to = LEAF);
  TELL(script, graph_task_begin, .root = ROOT, .n_roots = 1);
  TELL(script, dependency, .node = LEAF, .count = 2);
  TELL(script, dependency, .node = ADD, .count = 1);
}

static void
tell_push(td_tape_script *script, uint32_t node) {
  TELL(script, queue_push, .node = node);
}

static uint64_t
last_event(td_replay *replay) {
  uint64_t seq = td_replay_end(replay);
  td_any_event event;
  do
    g_assert_cmpint(td_replay_event(replay, --seq, &event, NULL), ==, TD_OK);
  while (event.event.kind == TD_EVENT_session_end);
  return seq;
}

static void
test_sentence(void) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  TELL(&script, dependency_dec, .node = LEAF, .left = 1, .by = SIN);
  TELL(&script, buffer_add, .node = LEAF, .from = SIN, .bytes = 8);
  TELL(&script, buffer_park, .node = LEAF);
  tell_push(&script, SIN);
  tell_push(&script, MUL);
  tell_push(&script, ROOT);
  TELL(&script, queue_pop, .node = ROOT, .size = 2);
  td_replay *replay = open_script(&script);
  g_autofree char *text = why(replay, last_event(replay));
  g_assert_cmpstr(text, ==,
                  "node #4 was popped from queue 0 (cpu, thread 0) before node #3 and node #2. Its "
                  "sequence_nr is higher (4 against 3): the node created later in the forward pass "
                  "goes first. Not ready: node #0 still waits for 1 of 2 gradients, from node #1 "
                  "(waiting).");
  g_assert_cmpuint(td_replay_position(replay), ==, 0);
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

/* Only a node with edges hands gradients on, and only one that saved tensors refuses another pass.
 */
static void
test_end_of_nodes(void) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  TELL(&script, node_begin, .node = ADD);
  TELL(&script, node_end, .node = ADD);
  TELL(&script, release, .node = ADD);
  TELL(&script, node_begin, .node = LEAF);
  TELL(&script, node_end, .node = LEAF);
  td_replay *replay = open_script(&script);
  uint64_t last = last_event(replay);
  g_autofree char *of_leaf = why(replay, last), *of_release = why(replay, last - 2),
                  *of_add = why(replay, last - 3);
  g_assert_true(g_str_has_suffix(of_leaf, ": node #0 ended."));
  g_assert_nonnull(strstr(
      of_release, "node #1 let go of what it had saved. If it had saved a tensor, another pass "
                  "through it would fail."));
  g_assert_nonnull(strstr(of_add, "node #1 ended. Now its gradients are handed out."));
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

static void
test_leaf_first(void) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  tell_push(&script, ROOT);
  tell_push(&script, LEAF);
  TELL(&script, queue_pop, .node = LEAF, .size = 1);
  td_replay *replay = open_script(&script);
  g_autofree char *text = why(replay, last_event(replay));
  g_assert_nonnull(strstr(text, "AccumulateGrad has the highest sequence_nr"));
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

static void
test_out_of_turn(void) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  tell_push(&script, ROOT);
  tell_push(&script, MUL);
  TELL(&script, queue_pop, .node = MUL, .size = 1);
  td_replay *replay = open_script(&script);
  g_autofree char *text = why(replay, last_event(replay));
  g_assert_nonnull(strstr(text, "Out of turn"));
  g_assert_nonnull(strstr(text, "it was the turn of node #4"));
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

static void
test_task_without_node(void) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  tell_push(&script, ROOT);
  TELL(&script, queue_wake, .size = 2);
  TELL(&script, queue_pop, .node = TD_NONE, .size = 1);
  td_replay *replay = open_script(&script);
  g_autofree char *text = why(replay, last_event(replay));
  g_assert_cmpstr(
      text, ==,
      "A dummy task was popped from queue 0 (cpu, thread 0) before node #4. A dummy task "
      "goes before every node. It runs no node: it wakes the thread, because another "
      "thread completed graph task 0.");
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

static void
test_greatest_number(void) {
  td_tape_script script = {.n_threads = 1};
  TELL(&script, node_new, .node = LEAF, .sequence_nr = UINT64_MAX, .device = TD_DEVICE_CPU);
  td_replay *replay = open_script(&script);
  g_autofree char *text = why(replay, last_event(replay));
  g_assert_nonnull(strstr(text, "created node #0 with sequence_nr max."));
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

/* An Inf in one node, a NaN in the next: the NaN points to the Inf, and both say where they are. */
static void
test_cause(void) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  TELL(&script, edge_new, .from = ROOT, .to = MUL);
  TELL(&script, edge_new, .from = MUL, .to = SIN);
  TELL(&script, anomaly, .kind = TD_anomaly_kind_inf, .born = TD_birthplace_node, .node = ROOT,
       .from = TD_NONE, .other = TD_NONE);
  TELL(&script, anomaly, .kind = TD_anomaly_kind_nan, .born = TD_birthplace_node, .node = LEAF,
       .from = TD_NONE, .other = TD_NONE);
  TELL(&script, anomaly, .kind = TD_anomaly_kind_nan, .born = TD_birthplace_node, .node = SIN,
       .from = TD_NONE, .other = TD_NONE);
  td_replay *replay = open_script(&script);
  uint64_t last = last_event(replay);
  g_autofree char *text = why(replay, last),
                  *led = g_strdup_printf("Event %" G_GUINT64_FORMAT
                                         " may have led to it: Inf was born in node #4",
                                         last - 2);
  g_assert_nonnull(strstr(text, led));
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

/* A NaN of the forward pass may or may not lead to one in the gradients. Both are told at once. */
static void
check_gradients(uint32_t forward, bool has_gradients, const char *expected) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  TELL(&script, edge_new, .from = ROOT, .to = MUL);
  TELL(&script, edge_new, .from = MUL, .to = SIN);
  TELL(&script, anomaly, .kind = TD_anomaly_kind_nan, .born = TD_birthplace_forward,
       .node = forward, .from = TD_NONE, .other = TD_NONE);
  TELL(&script, anomaly, .kind = TD_anomaly_kind_inf, .born = TD_birthplace_node, .node = ROOT,
       .from = TD_NONE, .other = TD_NONE);
  if (has_gradients)
    TELL(&script, anomaly, .kind = TD_anomaly_kind_nan, .born = TD_birthplace_node, .node = MUL,
         .from = TD_NONE, .other = TD_NONE);
  td_replay *replay = open_script(&script);
  uint64_t last = last_event(replay);
  g_autofree char *text = why(replay, last - 1 - has_gradients);
  g_autofree char *begin = g_strdup_printf(
      "In the gradients, the first NaN is event %" G_GUINT64_FORMAT ": NaN was born in ", last);
  g_assert_true(g_str_has_suffix(text, expected));
  g_assert_cmpint(strstr(text, begin) != NULL, ==, has_gradients);
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

static void
test_gradients_after_forward(void) {
  check_gradients(SIN, true, " This one may have led to it.");
  check_gradients(ADD, true, " No path leads there from this one: it has a cause of its own.");
  check_gradients(SIN, false, " PyTorch's anomaly mode does not look at the forward pass.");
}

static void
check_place(const char *stack, const char *expected) {
  g_autofree char *place = td_source_place(stack);
  g_assert_cmpstr(place, ==, expected);
}

static void
test_place(void) {
  check_place(
      "/a/net.py:9 forward\n/usr/lib/python3/dist-packages/torch/nn/functional.py:1457 relu",
      "net.py:9");
  check_place("/usr/lib/python3/dist-packages/torch/nn/functional.py:1457 relu",
              "functional.py:1457");
  check_place("  File \"/a/net.py\", line 12, in forward\n    y = f(x)\n", "net.py:12");
  check_place("/a/inner.py(3): f\n/a/outer.py(4): <module>", "inner.py:3");
  check_place("/a/a:1/net.py:7", "net.py:7");
  check_place("no line", NULL);
  check_place(NULL, NULL);
}

static void
test_never_entered(void) {
  td_tape_script script = {.n_threads = 1};
  tell_nodes(&script);
  TELL(&script, queue_pop, .node = SIN);
  td_replay *replay = open_script(&script);
  g_autofree char *text = why(replay, last_event(replay));
  g_assert_nonnull(strstr(text, "no event of its entry into queue 0"));
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

/* Two waits for the GIL. Who had it is told of the first alone. */
static void
test_two_waits(void) {
  td_tape_script script = {.n_threads = 2};
  tell_nodes(&script);
  TELL(&script, lock_wait, .lock = TD_lock_kind_gil);
  TELL(&script, lock_held, .lock = TD_lock_kind_gil, .holder = 1);
  TELL(&script, lock_acquired, .lock = TD_lock_kind_gil, .waited = 7);
  TELL(&script, lock_acquired, .lock = TD_lock_kind_gil, .waited = 9);
  td_replay *replay = open_script(&script);
  uint64_t second_end = last_event(replay) - 1; /* then thread 1 ends */
  g_autofree char *first = why(replay, second_end - 1), *second = why(replay, second_end);
  g_assert_nonnull(strstr(first, "thread 1 had the GIL"));
  g_assert_nonnull(strstr(second, "the tape does not say who had the GIL"));
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

/* Whatever a tape says, there is a sentence for each of its events, and the position stays. */
static void
test_every_event(void) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 3, .n_passes = 2, .seed = 8, .n_anomalies = 3};
  uint64_t random = 4;
  for (uint32_t round = 0; round < 8; round++) {
    td_tape_script script;
    uint64_t n_violations;
    td_tape_script_make(&script, &plan);
    if (round) td_tape_script_bend(&script, &random);
    td_replay *replay = open_script(&script);
    for (uint64_t seq = 0; seq < td_replay_end(replay); seq++) {
      g_autofree char *text = why(replay, seq);
      g_assert_cmpuint(strlen(text), >, 20);
      g_assert_cmpuint(td_replay_position(replay), ==, 0);
    }
    g_assert_cmpint(td_check_run(td_replay_tape(replay), NULL, NULL, &n_violations, NULL), ==,
                    TD_OK);
    g_assert_cmpint(n_violations > 0, ==, round > 0);
    td_replay_close(replay);
    td_tape_script_fini(&script);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/why/sentence", test_sentence);
  g_test_add_func("/why/end-of-nodes", test_end_of_nodes);
  g_test_add_func("/why/leaf-first", test_leaf_first);
  g_test_add_func("/why/out-of-turn", test_out_of_turn);
  g_test_add_func("/why/task-without-node", test_task_without_node);
  g_test_add_func("/why/greatest-number", test_greatest_number);
  g_test_add_func("/why/cause", test_cause);
  g_test_add_func("/why/gradients-after-forward", test_gradients_after_forward);
  g_test_add_func("/why/place", test_place);
  g_test_add_func("/why/never-entered", test_never_entered);
  g_test_add_func("/why/two-waits", test_two_waits);
  g_test_add_func("/why/every-event", test_every_event);
  return g_test_run();
}
