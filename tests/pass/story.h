/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the nodes of one test tell each other about the threads that they run on, and functions for
 * such nodes. Flags force what runs when, so that each test has one outcome. */
#pragma once

#include "engine/torch/device/device.h"
#include "engine/torch/device/stream.h"
#include "tests/fixtures/call_nodes.h"

#include <glib.h>

#define SIM_0 ((td_device)0)
#define SIM_1 ((td_device)1)

typedef struct story {
  call_node *inner; /* root of a nested pass */
  pthread_mutex_t user_lock;
  pthread_t caller, inner_thread;
  _Atomic bool in_nested, outer_ran, failed, may_go_on, gone_on;
  td_device owner;
  uint32_t depth;
  td_device queue_device;
  td_graph_task *graph_task; /* (owned reference) or NULL */
  td_stream stream;
} story;

/* story_init sets the calling thread as the caller. */
void story_init(story *self);

/* Functions for nodes whose data is a story. call_nested runs a pass from story->inner; note_worker
 * notes the engine's thread as it looks from within a node; fail fails, also without a story. */
td_status call_nested(call_node *self, td_error *error);
td_status note_worker(call_node *self, td_error *error);
td_status fail(call_node *self, td_error *error);

/* assert_fails runs a pass from a node; the pass must fail with this text. */
void assert_fails(call_node *root, const char *text);

/* graph_task_alone makes a graph task that nobody runs; its owner has this queue. */
td_graph_task *graph_task_alone(td_ready_queue *queue);
