/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Raw tapes, made by hand: what follows from them is what the engine does, and where events are
 * missing nothing is guessed. */
#include "engine/trace/derive/derive.h"

#include "engine/events/emit.h"
#include "engine/trace/recorder.h"
#include "engine/trace/tape.h"
#include "tests/fixtures/assert_ok.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct fixture {
  char *path;
  td_recorder *recorder;
} fixture;

static td_error no_error;

static void
set_up(fixture *self, gconstpointer data) {
  self->path = g_strdup_printf("derive-%d.tape", (int)getpid());
  const td_recorder_options options = {
      .engine = "pytorch", .version = "2.13.0", .source = "test", .raw = true};
  assert_ok(td_recorder_start(self->path, true, &options, &self->recorder, &no_error), &no_error);
}

static void
tear_down(fixture *self, gconstpointer data) {
  g_unlink(self->path);
  g_free(self->path);
}

/* Node 2 is the root; its gradients go to 1 and 0, and that of 1 goes to 0. */
static void
emit_node(uint32_t node, uint64_t sequence_nr, uint32_t n_edges) {
  TD_EMIT(node_new, .node = node, .sequence_nr = sequence_nr, .topological_nr = node,
          .device = TD_DEVICE_CPU, .n_inputs = 1, .n_outputs = n_edges);
}

static void
emit_edge(uint32_t from, uint32_t output_nr, uint32_t to) {
  TD_EMIT_BORROWED(edge_new, .from = from, .output_nr = output_nr, .to = to);
}

static void
emit_graph(void) {
  emit_node(0, UINT64_MAX, 0);
  emit_node(1, 0, 1);
  emit_edge(1, 0, 0);
  emit_node(2, 1, 2);
  emit_edge(2, 0, 1);
  emit_edge(2, 1, 0);
}

static void
emit_begin(uint32_t graph_task) {
  TD_EMIT(graph_task_begin, .graph_task = graph_task, .owner = 0, .root = 2, .n_roots = 1,
          .accumulate_grad = true);
  TD_EMIT_BORROWED(root_gradient, .graph_task = graph_task, .node = 2, .defined = true,
                   .device = TD_DEVICE_CPU, .bytes = 4);
}

static void
emit_run(uint32_t graph_task, uint32_t node, uint32_t n_gradients) {
  TD_EMIT(node_begin, .node = node, .graph_task = graph_task);
  TD_EMIT(node_end, .node = node, .graph_task = graph_task);
  for (uint32_t i = 0; i < n_gradients; i++)
    TD_EMIT_BORROWED(node_gradient, .node = node, .graph_task = graph_task, .output_nr = i,
                     .device = TD_DEVICE_CPU, .bytes = 4);
}

static void
emit_pass(uint32_t graph_task) {
  emit_begin(graph_task);
  emit_run(graph_task, 2, 2);
  emit_run(graph_task, 1, 1);
  emit_run(graph_task, 0, 0);
  TD_EMIT(graph_task_end, .graph_task = graph_task, .status = TD_task_status_ok);
}

static td_tape *
open_tape(fixture *self) {
  td_tape *tape;
  assert_ok(td_recorder_stop(self->recorder, 0, &no_error), &no_error);
  assert_ok(td_tape_open(self->path, &tape, &no_error), &no_error);
  return tape;
}

/* "queue_push 1", an event a line, of those about passes; and the texts of marks. */
static char *
tell(td_tape *tape) {
  static const td_event_kind told[] = {
      TD_EVENT_dependency, TD_EVENT_dependency_dec, TD_EVENT_buffer_add, TD_EVENT_queue_push,
      TD_EVENT_queue_pop,  TD_EVENT_node_begin,     TD_EVENT_node_end};
  GString *text = g_string_new(NULL);
  for (uint64_t seq = 0; seq < td_tape_info_get(tape)->n_events; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    const td_event_type *type = td_event_type_get(event->event.kind);
    if (event->event.kind == TD_EVENT_mark)
      g_string_append_printf(text, "mark %s\n", td_tape_string(tape, event->mark.text));
    for (size_t i = 0; i < G_N_ELEMENTS(told); i++)
      for (uint16_t f = 0; event->event.kind == told[i] && f < type->n_fields; f++)
        if (strcmp(type->fields[f].name, "node") == 0)
          g_string_append_printf(text, "%s %u\n", type->name,
                                 (unsigned)td_event_field_get(&event->event, &type->fields[f]));
  }
  return g_string_free(text, FALSE);
}

static const char whole_pass[] = "dependency 1\ndependency 0\nbuffer_add 2\nqueue_push 2\n"
                                 "queue_pop 2\nnode_begin 2\nnode_end 2\n"
                                 "dependency_dec 1\nbuffer_add 1\nqueue_push 1\n"
                                 "dependency_dec 0\nbuffer_add 0\n"
                                 "queue_pop 1\nnode_begin 1\nnode_end 1\n"
                                 "dependency_dec 0\nbuffer_add 0\nqueue_push 0\n"
                                 "queue_pop 0\nnode_begin 0\nnode_end 0\n";

static void
test_whole_pass(fixture *self, gconstpointer data) {
  emit_graph();
  emit_pass(0);
  td_tape *tape = open_tape(self);
  g_autofree char *told = tell(tape);
  g_assert_cmpstr(told, ==, whole_pass);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_true(info->complete);
  g_assert_null(info->damage);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_root_gradient], ==, 0);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_node_gradient], ==, 0);
  td_tape_close(tape);
}

/* The file gets what a reader of the raw tape sees. */
static void
test_in_place(fixture *self, gconstpointer data) {
  emit_graph();
  emit_pass(0);
  td_tape *tape = open_tape(self);
  g_autofree char *before = tell(tape);
  td_tape_close(tape);
  g_assert_true(td_derive_is_raw(self->path));
  assert_ok(td_derive_in_place(self->path, &no_error), &no_error);
  g_assert_false(td_derive_is_raw(self->path));
  assert_ok(td_tape_open(self->path, &tape, &no_error), &no_error);
  g_autofree char *after = tell(tape);
  g_assert_cmpstr(before, ==, after);
  g_assert_true(td_tape_info_get(tape)->complete);
  td_tape_close(tape);
}

/* The pass under way is given up where events are missing; the next is whole. */
static void
test_missing_events(fixture *self, gconstpointer data) {
  emit_graph();
  emit_begin(0);
  emit_run(0, 2, 2);
  TD_EMIT(dropped, .count = 3, .cause = TD_drop_cause_ring_full);
  emit_run(0, 0, 0);
  TD_EMIT(graph_task_end, .graph_task = 0, .status = TD_task_status_ok);
  emit_pass(1);
  td_tape *tape = open_tape(self);
  g_autofree char *told = tell(tape);
  g_autofree char *wanted = g_strconcat(
      "dependency 1\ndependency 0\nbuffer_add 2\nqueue_push 2\nqueue_pop 2\nnode_begin 2\n"
      "node_end 2\nmark graph task 0 is reconstructed up to here: events are missing here\n"
      "node_begin 0\nnode_end 0\n",
      whole_pass, NULL);
  g_assert_cmpstr(told, ==, wanted);
  td_tape_close(tape);
}

/* An edge was lost behind its node: no count of that graph can be known. */
static void
test_missing_edge(fixture *self, gconstpointer data) {
  emit_node(0, UINT64_MAX, 0);
  emit_node(1, 0, 1);
  emit_edge(1, 0, 0);
  emit_node(2, 1, 2);
  emit_edge(2, 0, 1);
  TD_EMIT(dropped, .count = 1, .cause = TD_drop_cause_ring_full);
  emit_begin(0);
  emit_run(0, 2, 2);
  TD_EMIT(graph_task_end, .graph_task = 0, .status = TD_task_status_ok);
  td_tape *tape = open_tape(self);
  g_autofree char *told = tell(tape);
  g_assert_cmpstr(told, ==,
                  "mark graph task 0 is reconstructed up to here: a part of its graph is not on "
                  "the tape\nnode_begin 2\nnode_end 2\n");
  td_tape_close(tape);
}

/* A flight recorder has cut off the call. */
static void
test_missing_call(fixture *self, gconstpointer data) {
  emit_graph();
  emit_run(7, 1, 1);
  TD_EMIT(graph_task_end, .graph_task = 7, .status = TD_task_status_ok);
  emit_pass(8);
  td_tape *tape = open_tape(self);
  g_autofree char *told = tell(tape);
  g_autofree char *wanted = g_strconcat("node_begin 1\nnode_end 1\n", whole_pass, NULL);
  g_assert_cmpstr(told, ==, wanted);
  td_tape_close(tape);
}

/* Numbers that no recorder gives: a tape comes out all the same. */
static void
test_lies(fixture *self, gconstpointer data) {
  emit_graph();
  emit_node(2, 1, UINT32_MAX);
  emit_edge(2, UINT32_MAX, 2);
  TD_EMIT(graph_task_begin, .graph_task = TD_NONE, .root = TD_NONE, .n_roots = 0, .n_outputs = 9);
  TD_EMIT(wanted_output, .graph_task = TD_NONE, .output_nr = UINT32_MAX, .node = TD_NONE);
  emit_pass(TD_NONE);
  emit_begin(3);
  emit_begin(3);
  emit_run(3, 2, 3);
  emit_run(3, 2, 3);
  emit_run(3, 77, 3);
  TD_EMIT(node_free, .node = 2);
  TD_EMIT(node_gradient, .node = 77, .graph_task = 3, .output_nr = UINT32_MAX);
  TD_EMIT(graph_task_end, .graph_task = 3, .status = 99);
  td_tape *tape = open_tape(self);
  g_autofree char *told = tell(tape);
  g_assert_nonnull(strstr(told, "mark graph task 3 is reconstructed up to here"));
  td_tape_close(tape);
}

#define ADD(name, test) g_test_add("/engine/derive/" name, fixture, NULL, set_up, test, tear_down)

int
main(int argc, char *argv[]) {
  g_test_init(&argc, &argv, NULL);
  ADD("whole-pass", test_whole_pass);
  ADD("in-place", test_in_place);
  ADD("missing-events", test_missing_events);
  ADD("missing-edge", test_missing_edge);
  ADD("missing-call", test_missing_call);
  ADD("lies", test_lies);
  return g_test_run();
}
