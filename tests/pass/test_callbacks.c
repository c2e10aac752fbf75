/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Final callbacks and warnings: on which thread, with which streams and under which locks. */
#include "engine/torch/graph/warnings.h"
#include "engine/torch/pass/callbacks.h"
#include "engine/torch/pass/engine_thread.h"
#include "tests/pass/story.h"

static void
free_callback(td_final_callback *callback) {
  free(callback);
}

/* I-08: the thread that ran the last node has the caller's streams in a callback. */
typedef struct stream_callback {
  td_final_callback callback;
  story *story;
} stream_callback;

static td_status
note_stream(td_final_callback *callback, td_error *error) {
  story *story = ((stream_callback *)callback)->story;
  g_assert_false(pthread_equal(pthread_self(), story->caller));
  story->stream = td_stream_current(SIM_0);
  return TD_OK;
}

static td_status
queue_note_stream(call_node *self, td_error *error) {
  stream_callback *callback = g_new0(stream_callback, 1);
  callback->callback = (td_final_callback){.call = note_stream, .free = free_callback};
  callback->story = self->data;
  return td_final_callback_queue(&callback->callback, error);
}

static void
test_streams_of_callbacks(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, queue_note_stream, &story);
  td_stream before = td_stream_current(SIM_0), own = td_stream_new(SIM_0);
  td_stream_set_current(own);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  td_stream_set_current(before);
  g_assert_true(td_stream_equal(story.stream, own));
  call_node_unref(root);
}

/* J-18: warnings of nodes, wherever they ran, reach the caller's thread once, before the result. */
static struct {
  int n;
  pthread_t thread;
  bool fails;
} warned;

static td_status
warned_cb(const char *text, td_error *error) {
  g_assert_cmpstr(text, ==, "mind the gap");
  warned.n++;
  warned.thread = pthread_self();
  return warned.fails ? td_error_set(error, TD_FOREIGN, "as an error") : TD_OK;
}

static td_status
warn(call_node *self, td_error *error) {
  g_assert_cmpint(warned.n, ==, 0);
  td_warn(&self->node, "mind the gap");
  return TD_OK;
}

static void
assert_warned(call_node *root, td_status wanted, const char *text) {
  td_error error = {0};
  warned.n = 0;
  g_assert_cmpint(call_backward(root, &error), ==, wanted);
  g_assert_cmpstr(error.message, ==, text);
  g_assert_cmpint(warned.n, ==, 1);
  g_assert_true(pthread_equal(warned.thread, pthread_self()));
  td_error_clear(&error);
}

static void
test_warnings(void) {
  story story;
  story_init(&story);
  td_warning_set_handler(warned_cb);
  call_node *nests = call_node_new(SIM_1, 0, call_nested, &story);
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL),
            *fails = call_node_new(TD_CPU, 0, fail, NULL);
  story.inner = call_node_new(SIM_0, 0, warn, NULL);
  assert_warned(story.inner, TD_OK, NULL);
  assert_warned(nests, TD_OK, NULL);
  warned.fails = true;
  assert_warned(nests, TD_FOREIGN, "as an error");
  /* The pass's own error counts more. */
  call_node *warns = call_node_new(TD_CPU, 0, warn, NULL);
  call_node_connect(root, 0, fails);
  call_node_connect(root, 1, warns);
  assert_warned(root, TD_AUTOGRAD, "Simulate error");
  call_node *nodes[] = {nests, root, fails, story.inner, warns};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

static td_status
look_at_locks(td_final_callback *callback, td_error *error) {
  td_graph_task *graph_task = td_graph_task_now();
  g_assert_null(td_node_now());
  g_assert_cmpint(pthread_mutex_trylock(&graph_task->lock.mutex), ==, EBUSY);
  g_assert_cmpint(pthread_mutex_trylock(&graph_task->final_callbacks.mutex), ==, 0);
  pthread_mutex_unlock(&graph_task->final_callbacks.mutex);
  return TD_OK;
}

static td_status
queue_look(call_node *self, td_error *error) {
  td_final_callback *callback = g_new0(td_final_callback, 1);
  *callback = (td_final_callback){.call = look_at_locks, .free = free_callback};
  return td_final_callback_queue(callback, error);
}

static void
test_locks_of_callbacks(void) {
  call_node *root = call_node_new(TD_CPU, 0, queue_look, NULL);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  call_node_unref(root);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_test_add_func("/engine/worker/streams-of-callbacks/I-08", test_streams_of_callbacks);
  g_test_add_func("/engine/worker/warnings/J-18", test_warnings);
  g_test_add_func("/engine/worker/locks-of-callbacks/L-16", test_locks_of_callbacks);
  return g_test_run();
}
