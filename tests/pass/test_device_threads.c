/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The threads of devices: how they start, and how td_device_threads_stop ends them. */
#include "engine/torch/pass/device_threads.h"
#include "engine/torch/pass/engine_thread.h"
#include "tests/pass/story.h"

static td_status
count_device_threads(call_node *self, td_error *error) {
  *(unsigned *)self->data = call_threads("pt_autograd_0") + call_threads("pt_autograd_1");
  return TD_OK;
}

static void
test_start_barrier(void) {
  unsigned n = 0;
  call_node *root = call_node_new(TD_CPU, 0, count_device_threads, &n);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_cmpuint(n, ==, 2);
  call_node_unref(root);
}

/* A thread's entry may outlive it by a moment. */
static unsigned
device_threads_after_stop(unsigned wanted) {
  unsigned n = 3;
  for (int i = 0; i < 2000 && n > wanted; i++) {
    n = call_threads("pt_autograd_0") + call_threads("pt_autograd_1");
    if (n > wanted) g_usleep(1000);
  }
  return n;
}

static void
in_child(void (*test)(void)) {
  if (g_test_subprocess()) return test();
  g_test_trap_subprocess(NULL, 60 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void
stop_when_idle(void) {
  test_start_barrier();
  td_device_threads_stop();
  g_assert_cmpuint(device_threads_after_stop(0), ==, 0);
  td_device_threads_stop();
  /* What comes later runs where it is called. */
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, note_worker, &story);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_true(pthread_equal(story.inner_thread, story.caller));
  call_node_unref(root);
}

static void
test_stop(void) {
  in_child(stop_when_idle);
}

static void
stop_without_waiting(void) {
  test_start_barrier();
  g_setenv("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0", TRUE);
  td_device_threads_stop();
  g_usleep(20000);
  g_assert_cmpuint(device_threads_after_stop(2), ==, 2);
}

static void
test_stop_limit_zero(void) {
  in_child(stop_without_waiting);
}

static td_status
announce_and_wait(call_node *self, td_error *error) {
  story *story = self->data;
  atomic_store(&story->in_nested, true);
  call_wait(&story->may_go_on);
  return TD_OK;
}

static void *
backward_cb(void *root) {
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  return NULL;
}

/* A device that works on is waited for as long as the limit says. */
static void
stop_while_busy(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, announce_and_wait, &story);
  GThread *thread = g_thread_new("caller", backward_cb, root);
  call_wait(&story.in_nested);
  g_setenv("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0.2", TRUE);
  gint64 begin = g_get_monotonic_time();
  td_device_threads_stop();
  gint64 took = g_get_monotonic_time() - begin;
  g_assert_cmpint(took, >=, 190000);
  g_assert_cmpint(took, <, 5000000);
  g_assert_cmpuint(device_threads_after_stop(1), ==, 1);
  atomic_store(&story.may_go_on, true);
  g_thread_join(thread);
  g_assert_cmpuint(device_threads_after_stop(0), ==, 0);
  call_node_unref(root);
}

static void
test_stop_limit(void) {
  in_child(stop_while_busy);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_test_add_func("/engine/worker/start-barrier/L-09", test_start_barrier);
  g_test_add_func("/engine/worker/stop/L-11", test_stop);
  g_test_add_func("/engine/worker/stop-limit-zero/L-10", test_stop_limit_zero);
  g_test_add_func("/engine/worker/stop-limit/L-10", test_stop_limit);
  return g_test_run();
}
