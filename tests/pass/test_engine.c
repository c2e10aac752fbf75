/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine through its C interface: orders and counts as they stand on the tape, threads, errors,
 * captures. The golden graphs of real PyTorch are in tests/semantics/rows_golden_traces.py. */
#include "engine/base/alloc.h"
#include "engine/profile/check/check.h"
#include "engine/torch/device/device.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/function.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/ops/linalg/linalg.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/pass/engine.h"
#include "engine/torch/tensor/factories.h"
#include "engine/trace/recorder.h"
#include "engine/trace/tape.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>

static td_error no_error;

static td_tensor *
leaf(int64_t n, double value, td_device device) {
  td_tensor *tensor;
  g_assert_cmpint(td_tensor_new(TD_FLOAT32, device, 1, &n, &tensor, &no_error), ==, TD_OK);
  for (int64_t i = 0; i < n; i++)
    td_tensor_set(tensor, i, value);
  g_assert_cmpint(td_set_requires_grad(tensor, true, &no_error), ==, TD_OK);
  return tensor;
}

static td_tensor *
constant(double value) {
  return td_tensor_new_scalar(TD_FLOAT32, TD_CPU, value);
}

/* Each helper takes its first operand and returns a new tensor. */
static td_tensor *
times(td_tensor *a, td_tensor *b) {
  td_tensor *out;
  g_assert_cmpint(td_op_mul(a, b, &out, &no_error), ==, TD_OK);
  td_tensor_unref(a);
  return out;
}

static td_tensor *
plus(td_tensor *a, td_tensor *b) {
  td_tensor *out;
  g_assert_cmpint(td_op_add(a, b, 1, &out, &no_error), ==, TD_OK);
  td_tensor_unref(a);
  return out;
}

static td_tensor *
times_number(td_tensor *a, double number) {
  td_tensor *b = constant(number);
  td_tensor *out = times(a, b);
  td_tensor_unref(b);
  return out;
}

static td_status
backward(td_tensor *end, bool keep_graph, td_error *error) {
  td_edge root = td_gradient_edge(end);
  td_tensor *gradient;
  g_assert_cmpint(td_tensor_new_like(end, &gradient, &no_error), ==, TD_OK);
  for (int64_t i = 0; i < td_tensor_n_elements(gradient); i++)
    td_tensor_set(gradient, i, 1);
  td_execute_options options = {.keep_graph = keep_graph, .accumulate_grad = true};
  td_status status = td_engine_execute(&root, &gradient, 1, &options, NULL, error);
  td_tensor_unref(gradient);
  td_node_unref(root.node);
  return status;
}

static double
grad_of(td_tensor *tensor) {
  td_tensor *grad = td_grad_get(tensor);
  g_assert_nonnull(grad);
  double value = td_tensor_get(grad, 0);
  td_tensor_unref(grad);
  return value;
}

typedef struct recording {
  char *path;
  td_recorder *recorder;
} recording;

static recording
record(void) {
  recording self = {.path = g_build_filename(g_get_tmp_dir(), "tapedeck-test-XXXXXX", NULL)};
  int fd = g_mkstemp(self.path);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  td_recorder_options options = {.engine = "tapedeck", .version = "test", .source = "test_engine"};
  g_assert_cmpint(td_recorder_start(self.path, true, &options, &self.recorder, &no_error), ==,
                  TD_OK);
  return self;
}

static void
print_violation_cb(const td_violation *violation, void *data) {
  g_printerr("event %" G_GUINT64_FORMAT ": %s: %s\n", violation->seq, violation->rule,
             violation->text);
}

/* Ends the recording, holds it to the engine's invariants, and opens it. */
static td_tape *
stop_and_check(recording *self) {
  g_assert_cmpint(td_recorder_stop(self->recorder, 0, &no_error), ==, TD_OK);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(self->path, &tape, &no_error), ==, TD_OK);
  g_assert_null(td_tape_info_get(tape)->damage);
  uint64_t n_violations;
  g_assert_cmpint(td_check_run(tape, print_violation_cb, NULL, &n_violations, &no_error), ==,
                  TD_OK);
  g_assert_cmpuint(n_violations, ==, 0);
  g_unlink(self->path);
  g_free(self->path);
  return tape;
}

/* Names in the order in which their functions were called, short, with a space behind each. */
static char *
order_on(td_tape *tape) {
  const td_tape_info *info = td_tape_info_get(tape);
  g_autoptr(GHashTable) names = g_hash_table_new(NULL, NULL);
  GString *order = g_string_new(NULL);
  td_any_event event;
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    g_assert_cmpint(td_tape_get(tape, seq, &event, &no_error), ==, TD_OK);
    if (event.event.kind == TD_EVENT_node_new)
      g_hash_table_insert(names, GUINT_TO_POINTER(event.node_new.node),
                          (void *)td_tape_string(tape, event.node_new.name));
    if (event.event.kind == TD_EVENT_node_begin)
      g_string_append_printf(
          order, "%s ",
          (char *)g_hash_table_lookup(names, GUINT_TO_POINTER(event.node_begin.node)));
  }
  return g_string_free(order, FALSE);
}

/* GT-4: y = 2x; z = 3y + sin y. */
static void
test_diamond(void) {
  recording self = record();
  td_tensor *x = leaf(1, 1, TD_CPU);
  td_tensor *y = times_number(td_tensor_ref(x), 2);
  td_tensor *three = times_number(td_tensor_ref(y), 3), *sine;
  g_assert_cmpint(td_op_sin(y, &sine, &no_error), ==, TD_OK);
  td_tensor *z = plus(three, sine);
  g_assert_cmpint(backward(z, false, &no_error), ==, TD_OK);
  td_tape *tape = stop_and_check(&self);
  g_autofree char *order = order_on(tape);
  g_assert_cmpstr(order, ==, "AddBackward0 SinBackward0 MulBackward0 MulBackward0 AccumulateGrad ");
  td_tape_close(tape);
  td_tensor_unref(x);
  td_tensor_unref(y);
  td_tensor_unref(sine);
  td_tensor_unref(z);
}

/* GT-16: the order of a sum shows in its bits. */
static double
sum_of_three(double first, double second, double third) {
  const double factors[] = {first, second, third};
  td_tensor *x = leaf(1, 1, TD_CPU), *y = times_number(td_tensor_ref(x), 1), *sum = NULL;
  for (int i = 0; i < 3; i++) {
    td_tensor *term = times_number(td_tensor_ref(y), factors[i]);
    sum = sum ? plus(sum, term) : td_tensor_ref(term);
    td_tensor_unref(term);
  }
  g_assert_cmpint(backward(sum, false, &no_error), ==, TD_OK);
  double grad = grad_of(x);
  td_tensor_unref(sum);
  td_tensor_unref(y);
  td_tensor_unref(x);
  return grad;
}

static void
test_sum_order(void) {
  g_assert_cmpfloat(sum_of_three(1, 1e8, -1e8), ==, 1.0);
  g_assert_cmpfloat(sum_of_three(-1e8, 1e8, 1), ==, 0.0);
}

static void
test_second_time(void) {
  td_tensor *x = leaf(1, 3, TD_CPU), *y = times(td_tensor_ref(x), x);
  g_assert_cmpint(backward(y, true, &no_error), ==, TD_OK);
  g_assert_cmpint(backward(y, false, &no_error), ==, TD_OK);
  g_assert_cmpfloat(grad_of(x), ==, 12);
  td_error error = {0};
  g_assert_cmpint(backward(y, false, &error), ==, TD_AUTOGRAD);
  g_assert_true(g_str_has_prefix(td_error_text(&error),
                                 "Trying to backward through the graph a second time"));
  td_error_clear(&error);
  td_tensor_unref(y);
  td_tensor_unref(x);
}

static td_status
boom_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  return td_error_set(error, TD_AUTOGRAD, "boom");
}

static const td_node_class boom_class = {.name = "BoomBackward", .apply = boom_apply};

static td_tensor *
boom(td_tensor *x) {
  td_tensor *out = td_tensor_detach(x);
  td_node *node = td_function_begin(&boom_class, sizeof *node, &x, 1);
  td_function_end(node, &out, 1);
  return out;
}

/* GT-13: the failing node with the higher number goes first; what it leaves in the queue is thrown
 * away by the next pass, which is right. */
static void
test_error_leaves_engine_usable(void) {
  recording self = record();
  td_tensor *x = leaf(1, 1, TD_CPU);
  td_tensor *first = times_number(td_tensor_ref(x), 2), *second = boom(x), *third = boom(x);
  td_tensor *sum = plus(plus(td_tensor_ref(first), third), second);
  td_error error = {0};
  g_assert_cmpint(backward(sum, false, &error), ==, TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==, "boom");
  td_error_clear(&error);
  g_assert_null(td_grad_get(x));
  g_assert_cmpint(backward(first, false, &no_error), ==, TD_OK);
  g_assert_cmpfloat(grad_of(x), ==, 2);
  td_tape_close(stop_and_check(&self));
  td_tensor_unref(sum);
  td_tensor_unref(first);
  td_tensor_unref(second);
  td_tensor_unref(third);
  td_tensor_unref(x);
}

/* grad(): the wanted leaf is popped and captured, not run. */
static void
test_capture(void) {
  recording self = record();
  td_tensor *x = leaf(1, 3, TD_CPU), *w = leaf(1, 5, TD_CPU), *y = times(td_tensor_ref(x), w);
  td_edge root = td_gradient_edge(y), wanted = td_gradient_edge(x);
  td_tensor *gradient = leaf(1, 1, TD_CPU), *captured = NULL;
  td_execute_options options = {.outputs = &wanted, .n_outputs = 1};
  g_assert_cmpint(td_engine_execute(&root, &gradient, 1, &options, &captured, &no_error), ==,
                  TD_OK);
  g_assert_cmpfloat(td_tensor_item(captured), ==, 5);
  g_assert_null(td_grad_get(x));
  g_assert_null(td_grad_get(w));
  td_tape *tape = stop_and_check(&self);
  g_autofree char *order = order_on(tape);
  g_assert_cmpstr(order, ==, "MulBackward0 ");
  g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_capture], ==, 1);
  td_tape_close(tape);
  td_node_unref(root.node);
  td_node_unref(wanted.node);
  td_tensor_unref(captured);
  td_tensor_unref(gradient);
  td_tensor_unref(y);
  td_tensor_unref(w);
  td_tensor_unref(x);
}

/* The first birth on a tape after `seq`; fails where there is none. */
static td_event_anomaly
next_birth(td_tape *tape, uint64_t *seq) {
  td_any_event event;
  for (; *seq < td_tape_info_get(tape)->n_events; (*seq)++) {
    g_assert_cmpint(td_tape_get(tape, *seq, &event, &no_error), ==, TD_OK);
    if (event.event.kind != TD_EVENT_anomaly) continue;
    (*seq)++;
    return event.anomaly;
  }
  g_assert_not_reached();
}

/* After the recording a node still knows the number that it had. */
static uint32_t
id_on_tape(const td_node *node) {
  return (uint32_t)atomic_load_explicit(&node->number, memory_order_relaxed);
}

/* A recording that begins late numbers from 0 what it meets, also nodes that are older than it. */
static void
test_late_recording(void) {
  td_tensor *x = leaf(1, 2, TD_CPU);
  for (int i = 0; i < 1000; i++)
    td_tensor_unref(times_number(td_tensor_ref(x), 3));
  td_tensor *old = times_number(td_tensor_ref(x), 3);
  g_assert_cmpuint(td_grad_fn(old)->id, >, 1000);
  recording self = record();
  td_tensor *y = times_number(old, 5);
  g_assert_cmpint(backward(y, false, &no_error), ==, TD_OK);
  td_tape *tape = stop_and_check(&self);
  td_any_event event;
  for (uint64_t seq = 0; seq < td_tape_info_get(tape)->n_events; seq++) {
    g_assert_cmpint(td_tape_get(tape, seq, &event, &no_error), ==, TD_OK);
    if (event.event.kind == TD_EVENT_node_new) g_assert_cmpuint(event.node_new.node, <, 3);
  }
  g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_node_new], ==, 3);
  td_tape_close(tape);
  td_tensor_unref(y);
  td_tensor_unref(x);
}

/* +Inf and -Inf meet in one input buffer: the sum is to blame, not the node behind it; and both
 * contributors are named. In the forward pass they meet too. */
static void
test_nan_born_in_sum(void) {
  td_anomaly_search_set(TD_ANOMALY_NAN);
  recording self = record();
  td_tensor *x = leaf(1, 2, TD_CPU), *z;
  g_assert_cmpint(td_op_sin(x, &z, &no_error), ==, TD_OK);
  td_tensor *up = times_number(td_tensor_ref(z), INFINITY);
  td_tensor *down = times_number(td_tensor_ref(z), -INFINITY);
  td_tensor *sum = plus(up, down);
  g_assert_cmpint(backward(sum, false, &no_error), ==, TD_OK);
  td_anomaly_search_set(TD_ANOMALY_OFF);
  td_tape *tape = stop_and_check(&self);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_anomaly], ==, 2);
  uint64_t seq = 0;
  td_event_anomaly forward = next_birth(tape, &seq), backward = next_birth(tape, &seq);
  g_assert_cmpint(forward.born, ==, TD_birthplace_forward);
  g_assert_cmpuint(forward.node, ==, id_on_tape(td_grad_fn(sum)));
  g_assert_cmpint(backward.born, ==, TD_birthplace_sum);
  g_assert_cmpint(backward.kind, ==, TD_anomaly_kind_nan);
  g_assert_cmpuint(backward.node, ==, id_on_tape(td_grad_fn(z)));
  g_assert_cmpuint(backward.other, ==, id_on_tape(td_grad_fn(down)));
  g_assert_cmpuint(backward.from, ==, id_on_tape(td_grad_fn(sum)->next_edges[0].node));
  td_tape_close(tape);
  td_tensor_unref(sum);
  td_tensor_unref(down);
  td_tensor_unref(z);
  td_tensor_unref(x);
}

#define PASSES 200

/* A graph whose middle runs on two devices, run again and again. */
static void *
run_passes_cb(void *data) {
  td_tensor *shared = data;
  for (int pass = 0; pass < PASSES; pass++) {
    td_tensor *on_0, *on_1, *back;
    g_assert_cmpint(td_op_to_device(shared, 0, &on_0, &no_error), ==, TD_OK);
    td_tensor *square = times(td_tensor_ref(on_0), on_0);
    g_assert_cmpint(td_op_to_device(square, 1, &on_1, &no_error), ==, TD_OK);
    td_tensor *twice = plus(td_tensor_ref(on_1), on_1);
    g_assert_cmpint(td_op_to_device(twice, TD_CPU, &back, &no_error), ==, TD_OK);
    td_tensor *end = times(td_tensor_ref(back), shared);
    g_assert_cmpint(backward(end, false, &no_error), ==, TD_OK);
    td_tensor *all[] = {on_0, square, on_1, twice, back, end};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
      td_tensor_unref(all[i]);
  }
  return NULL;
}

/* Two threads call backward at once, on graphs that share a leaf and two device threads. d(2x^3)/dx
 * at 1 is 6. */
static void
test_two_threads_two_devices(void) {
  recording self = record();
  td_tensor *shared = leaf(4, 1, TD_CPU);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    g_assert_cmpint(pthread_create(&threads[i], NULL, run_passes_cb, shared), ==, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  g_assert_cmpfloat(grad_of(shared), ==, 2 * PASSES * 6);
  td_tape *tape = stop_and_check(&self);
  g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_graph_task_end], ==, 2 * PASSES);
  td_tape_close(tape);
  td_tensor_unref(shared);
}

/* A chain of a million nodes is built, run and freed without deep recursion. */
static void
test_deep_chain(void) {
  td_tensor *x = leaf(1, 1, TD_CPU), *at = td_tensor_ref(x);
  for (int i = 0; i < 1000000; i++) {
    td_tensor *next;
    g_assert_cmpint(td_op_neg(at, &next, &no_error), ==, TD_OK);
    td_tensor_unref(at);
    at = next;
  }
  g_assert_cmpint(backward(at, false, &no_error), ==, TD_OK);
  g_assert_cmpfloat(grad_of(x), ==, 1);
  td_tensor_unref(at);
  td_tensor_unref(x);
}

/* Whoever hangs a node above another relies on the numbers below. */
static void
test_edges_of_a_child(void) {
  if (g_test_subprocess()) {
    td_tensor *x = leaf(1, 1, TD_CPU);
    td_tensor *y, *z;
    td_op_exp(x, &y, &no_error);
    td_op_exp(y, &z, &no_error);
    td_node_set_edge(td_grad_fn(y), 0, td_gradient_edge(x));
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed();
  g_test_trap_assert_stderr(
      "*Cannot update a node's topological_nr after it already has a parent*");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", &no_error), ==, TD_OK);
  g_test_add_func("/engine/diamond", test_diamond);
  g_test_add_func("/engine/edges-of-a-child/A-09", test_edges_of_a_child);
  g_test_add_func("/engine/sum-order", test_sum_order);
  g_test_add_func("/engine/second-time", test_second_time);
  g_test_add_func("/engine/error-leaves-engine-usable", test_error_leaves_engine_usable);
  g_test_add_func("/engine/capture", test_capture);
  g_test_add_func("/engine/late-recording", test_late_recording);
  g_test_add_func("/engine/nan-born-in-sum", test_nan_born_in_sum);
  g_test_add_func("/engine/two-threads-two-devices", test_two_threads_two_devices);
  g_test_add_func("/engine/deep-chain", test_deep_chain);
  return g_test_run();
}
