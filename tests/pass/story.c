/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/pass/story.h"

#include "engine/torch/pass/engine_thread.h"

void
story_init(story *self) {
  *self = (story){.caller = pthread_self()};
  pthread_mutex_init(&self->user_lock, NULL);
}

td_status
call_nested(call_node *self, td_error *error) {
  story *story = self->data;
  atomic_store(&story->in_nested, true);
  td_status status = call_backward(story->inner, error);
  atomic_store(&story->in_nested, false);
  return status;
}

td_status
note_worker(call_node *self, td_error *error) {
  story *story = self->data;
  story->inner_thread = pthread_self();
  story->owner = td_graph_task_now()->owner;
  story->depth = td_graph_task_now()->handle.reentrant_depth;
  story->queue_device = td_thread_self.queue->device;
  return TD_OK;
}

td_status
fail(call_node *self, td_error *error) {
  story *story = self->data;
  if (story) atomic_store(&story->failed, true);
  return td_error_set(error, TD_AUTOGRAD, "Simulate error");
}

void
assert_fails(call_node *root, const char *text) {
  td_error error = {0};
  g_assert_cmpint(call_backward(root, &error), ==, TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==, text);
  td_error_clear(&error);
}

td_graph_task *
graph_task_alone(td_ready_queue *queue) {
  td_execute_options options = {.accumulate_grad = true};
  return td_graph_task_new(&options, 61, queue);
}
