/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Passes that call passes, over several devices and the thread pool. */
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/pool.h"
#include "tests/pass/story.h"

/* K-13, K-16: the outer pass's node runs inside the nested one, on the same stack. */
static td_status
run_inside(call_node *self, td_error *error) {
  story *story = self->data;
  g_assert_true(pthread_equal(pthread_self(), story->caller));
  g_assert_true(atomic_load(&story->in_nested));
  g_assert_cmpuint(td_graph_task_now()->handle.reentrant_depth, ==, 0);
  g_assert_cmpuint(td_thread_self.current_depth, ==, 1);
  /* A lock that the waiting node holds: taking it would be the end. */
  g_assert_cmpint(pthread_mutex_trylock(&story->user_lock), ==, EBUSY);
  atomic_store(&story->outer_ran, true);
  return TD_OK;
}

static td_status
wait_for_outer(call_node *self, td_error *error) {
  story *story = self->data;
  g_assert_false(pthread_equal(pthread_self(), story->caller));
  call_wait(&story->outer_ran);
  return TD_OK;
}

static td_status
call_nested_with_lock(call_node *self, td_error *error) {
  story *story = self->data;
  pthread_mutex_lock(&story->user_lock);
  td_status status = call_nested(self, error);
  pthread_mutex_unlock(&story->user_lock);
  return status;
}

static td_status
wait_for_nested(call_node *self, td_error *error) {
  call_wait(&((story *)self->data)->in_nested);
  return TD_OK;
}

static void
test_outer_inside_inner(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL);
  call_node *nests = call_node_new(TD_CPU, 0, call_nested_with_lock, &story);
  call_node *on_device = call_node_new(SIM_0, 1, wait_for_nested, &story);
  call_node *back = call_node_new(TD_CPU, 0, run_inside, &story);
  story.inner = call_node_new(SIM_1, 0, wait_for_outer, &story);
  call_node_connect(on_device, 0, back);
  call_node_connect(root, 0, nests);
  call_node_connect(root, 1, on_device);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_true(atomic_load(&story.outer_ran));
  call_node *nodes[] = {root, nests, on_device, back, story.inner};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

/* K-14, K-15: the pass that a device's node calls belongs to that device's thread and queue, and
 * wakes it when another thread finishes it. */
static void
test_nested_on_device(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, call_nested, &story);
  story.inner = call_node_new(TD_CPU, 1, note_worker, &story);
  call_node *last = call_node_new(SIM_1, 0, NULL, NULL);
  call_node_connect(story.inner, 0, last);
  for (int i = 0; i < 20; i++)
    g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_false(pthread_equal(story.inner_thread, story.caller));
  g_assert_cmpint(story.owner, ==, SIM_0);
  g_assert_cmpint(story.queue_device, ==, SIM_0);
  g_assert_cmpuint(story.depth, ==, 1);
  call_node_unref(root);
  call_node_unref(story.inner);
  call_node_unref(last);
}

/* K-19: the only root of a nested pass goes to its device at once. */
static void
test_nested_root_on_device(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 0, call_nested, &story);
  story.inner = call_node_new(SIM_1, 0, note_worker, &story);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_false(pthread_equal(story.inner_thread, story.caller));
  g_assert_cmpint(story.queue_device, ==, SIM_1);
  g_assert_cmpint(story.owner, ==, TD_CPU);
  call_node_unref(root);
  call_node_unref(story.inner);
}

typedef struct tower {
  int left;
  uint32_t deepest, n_wrong;
} tower;

static td_status
nest(call_node *self, td_error *error) {
  tower *tower = self->data;
  uint32_t depth = td_graph_task_now()->handle.reentrant_depth;
  /* The first thread has depths 0 to 60, each of the pool 61 of them. */
  uint32_t expected = depth <= 60 ? depth : (depth - 61) % 61;
  tower->n_wrong += td_thread_self.current_depth != expected || td_thread_self.total_depth != depth;
  tower->deepest = depth;
  if (tower->left-- == 0) return TD_OK;
  call_node *inner = call_node_new(TD_CPU, 0, nest, tower);
  td_status status = call_backward(inner, error);
  call_node_unref(inner);
  return status;
}

static void
assert_tower(int depth) {
  tower tower = {.left = depth};
  call_node *root = call_node_new(TD_CPU, 0, nest, &tower);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_cmpuint(tower.deepest, ==, depth);
  g_assert_cmpuint(tower.n_wrong, ==, 0);
  call_node_unref(root);
}

/* Before anything else went to the pool, or after: how many threads a tower adds. */
static void
test_thresholds(void) {
  uint32_t before = td_pool_size();
  assert_tower(60);
  g_assert_cmpuint(td_pool_size(), ==, before);
  if (before > 0) return;
  assert_tower(61);
  g_assert_cmpuint(td_pool_size(), ==, 1);
  assert_tower(121);
  g_assert_cmpuint(td_pool_size(), <=, 2); /* one may not be idle again yet */
  assert_tower(122);
  g_assert_cmpuint(td_pool_size(), >=, 2);
}

static void
test_very_deep(void) {
  assert_tower(2000);
  assert_tower(8193);
  g_assert_cmpuint(td_pool_size(), >=, 134);
}

/* K-11: a pass that has died before a thread of the pool gets to it. */
static void
test_expired_in_pool(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  for (int i = 0; i < 3; i++) {
    td_graph_task *graph_task = graph_task_alone(queue);
    td_graph_task_handle *dead = td_graph_task_weak_ref(graph_task);
    td_graph_task_unref(graph_task);
    g_assert_cmpint(td_pool_submit(dead, NULL), ==, TD_OK);
    td_graph_task_handle_unref(dead);
  }
  assert_tower(61);
  td_ready_queue_unref(queue);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_test_add_func("/engine/worker/outer-inside-inner/K-13", test_outer_inside_inner);
  g_test_add_func("/engine/worker/lock-around-nested/K-16", test_outer_inside_inner);
  g_test_add_func("/engine/worker/nested-on-device/K-14", test_nested_on_device);
  g_test_add_func("/engine/worker/nested-on-device/queue/K-15", test_nested_on_device);
  g_test_add_func("/engine/worker/nested-root-on-device/K-19", test_nested_root_on_device);
  g_test_add_func("/engine/worker/thresholds/K-03", test_thresholds);
  g_test_add_func("/engine/worker/expired-in-pool/K-11", test_expired_in_pool);
  g_test_add_func("/engine/worker/very-deep/K-12", test_very_deep);
  return g_test_run();
}
