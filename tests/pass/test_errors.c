/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Errors of passes whose nodes run on several threads, and graphs that change under a pass. */
#include "engine/torch/pass/completion.h"
#include "engine/torch/pass/engine_thread.h"
#include "tests/pass/story.h"

/* J-10: the owner sleeps while a device fails. */
static void
test_error_on_device(void) {
  call_node *root = call_node_new(SIM_0, 0, fail, NULL),
            *fine = call_node_new(SIM_0, 0, NULL, NULL);
  for (int i = 0; i < 20; i++)
    assert_fails(root, "Simulate error");
  g_assert_cmpint(call_backward(fine, NULL), ==, TD_OK);
  call_node_unref(root);
  call_node_unref(fine);
}

static td_status
hold_graph_task(call_node *self, td_error *error) {
  story *story = self->data;
  story->graph_task = td_graph_task_now();
  g_assert_true(td_graph_task_handle_try_ref(&story->graph_task->handle));
  return TD_OK;
}

static td_status
wait_for_error(call_node *self, td_error *error) {
  story *story = self->data;
  call_wait(&story->graph_task->has_error);
  return TD_OK;
}

static td_status
must_not_run(call_node *self, td_error *error) {
  g_assert_not_reached();
}

/* But for the dummy that was to wake the caller, where it had left already. */
static uint64_t
tasks_left(td_graph_task *graph_task) {
  uint64_t n_dummies = td_ready_queue_size(td_thread_self.queue);
  return atomic_load(&graph_task->handle.outstanding) - n_dummies;
}

/* J-11: what another device has queued is skipped and counted down. */
static void
test_skipped_on_other_device(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 3, hold_graph_task, &story);
  call_node *later = call_node_new(SIM_1, 0, must_not_run, NULL);
  call_node *waits = call_node_new(SIM_1, 0, wait_for_error, &story);
  call_node *fails = call_node_new(SIM_0, 0, fail, &story);
  call_node_connect(root, 0, waits);
  call_node_connect(root, 1, later);
  call_node_connect(root, 2, fails);
  assert_fails(root, "Simulate error");
  for (int i = 0; i < 20000 && tasks_left(story.graph_task); i++)
    g_usleep(1000);
  g_assert_cmpuint(tasks_left(story.graph_task), ==, 0);
  td_graph_task_unref(story.graph_task);
  call_node *nodes[] = {root, later, waits, fails};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

static td_status
wait_for_leave(call_node *self, td_error *error) {
  story *story = self->data;
  call_wait(&story->may_go_on);
  return TD_OK;
}

static td_status
note_gone_on(call_node *self, td_error *error) {
  td_status status = call_nested(self, error);
  atomic_store(&((story *)self->data)->gone_on, true);
  return status;
}

static td_status
fail_in_nested(call_node *self, td_error *error) {
  call_wait(&((story *)self->data)->in_nested);
  return fail(self, error);
}

/* J-14: the outer pass fails on the CPU while a device still runs a nested one. */
static void
test_parent_fails_first(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL);
  call_node *nests = call_node_new(SIM_0, 1, note_gone_on, &story);
  call_node *below = call_node_new(TD_CPU, 0, must_not_run, NULL);
  call_node *fails = call_node_new(TD_CPU, 0, fail_in_nested, &story);
  story.inner = call_node_new(SIM_0, 0, wait_for_leave, &story);
  call_node_connect(nests, 0, below);
  call_node_connect(root, 0, nests);
  call_node_connect(root, 1, fails);
  assert_fails(root, "Simulate error");
  atomic_store(&story.may_go_on, true);
  call_wait(&story.gone_on);
  call_node *fine = call_node_new(SIM_0, 0, NULL, NULL);
  g_assert_cmpint(call_backward(fine, NULL), ==, TD_OK);
  call_node *nodes[] = {root, nests, below, fails, story.inner, fine};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

/* J-16: the result stands once it is settled. */
static void
test_late_error(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = graph_task_alone(queue);
  td_graph_task_complete(graph_task);
  g_assert_true(td_graph_task_is_done(graph_task));
  call_node *node = call_node_new(TD_CPU, 0, NULL, NULL);
  td_error error = {0};
  td_status status = td_error_set(&error, TD_AUTOGRAD, "too late");
  td_graph_task_fail(graph_task, status, &error);
  g_assert_null(error.message);
  g_assert_cmpint(graph_task->result, ==, TD_OK);
  td_graph_task_complete(graph_task);
  g_assert_cmpint(graph_task->result, ==, TD_OK);
  call_node_unref(node);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(queue);
}

static td_status
change_edge(call_node *self, td_error *error) {
  call_node_connect(self, 0, self->data);
  return TD_OK;
}

/* B-14, B-15: graphs that are changed between the count and the run. */
static void
test_dependency_not_found(void) {
  call_node *stranger = call_node_new(TD_CPU, 0, NULL, NULL);
  call_node *root = call_node_new(TD_CPU, 1, change_edge, stranger);
  call_node *known = call_node_new(TD_CPU, 0, NULL, NULL);
  call_node_connect(root, 0, known);
  call_node_unref(known);
  assert_fails(root, "dependency not found for CallBackward");
  call_node_unref(root);
  call_node_unref(stranger);
}

static void
test_not_all_gradients(void) {
  call_node *root = call_node_new(TD_CPU, 2, change_edge, NULL);
  call_node *waits = call_node_new(TD_CPU, 0, must_not_run, NULL);
  call_node_connect(root, 0, waits);
  call_node_connect(root, 1, waits);
  assert_fails(root, "could not compute gradients for some functions");
  call_node_unref(root);
  call_node_unref(waits);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_test_add_func("/engine/worker/error-on-device/J-10", test_error_on_device);
  g_test_add_func("/engine/worker/skipped-on-other-device/J-11", test_skipped_on_other_device);
  g_test_add_func("/engine/worker/parent-fails-first/J-14", test_parent_fails_first);
  g_test_add_func("/engine/worker/late-error/J-16", test_late_error);
  g_test_add_func("/engine/worker/dependency-not-found/B-14", test_dependency_not_found);
  g_test_add_func("/engine/worker/not-all-gradients/B-15", test_not_all_gradients);
  return g_test_run();
}
