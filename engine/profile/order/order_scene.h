/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `order` keeps of the events while passes are under way, and what threads were doing at one
 * of them. Private to engine/profile. One thread. */
#pragma once

#include "engine/profile/order/pass_graph.h"

/* An event: queue_push, queue_pop, outstanding, hook_begin, hook_end or node_sequence_nr. */
typedef struct td_order_step {
  uint64_t seq;
  uint32_t kind, thread, queue, graph_task, node;
  bool is_chosen; /* a pop of a task that somebody chose, */
  td_chooser by;  /* and who did */
} td_order_step;

/* td_order_step_take copies what is kept of an event; false if nothing is. */
bool td_order_step_take(const td_any_event *event, td_order_step *step);

/* A task that a thread took. */
typedef struct td_scene_task {
  uint32_t graph_task, node;
  bool had_hook, had_inner; /* it called a hook, or a pass ran in it */
} td_scene_task;

typedef struct td_scene_thread {
  uint32_t thread;
  td_scene_task *tasks; /* (owned) innermost last */
  uint32_t n, capacity;
  uint32_t n_hooks;   /* that it is in */
  td_scene_task last; /* that it finished; node TD_NONE: none */
} td_scene_thread;

typedef enum td_scene_state {
  TD_SCENE_unready,
  TD_SCENE_queued,
  TD_SCENE_taken,
  TD_SCENE_over
} td_scene_state;

typedef struct td_scene {
  const td_pass_graph *graph;
  td_scene_thread *threads; /* (owned) */
  uint8_t *states;          /* (owned) by place: td_scene_state */
  uint32_t n_threads, capacity;
  td_number_map numbers; /* by thread: 1 + its place in threads */
  td_number_map servers; /* by queue: 1 + the thread that popped from it last */
  td_number_map
      tasks[2]; /* by queue: how many tasks are in it, of other outermost passes and of this */
  td_number_map shared;     /* queues that had tasks of both at once */
  td_number_map renumbered; /* nodes that got another sequence_nr meanwhile */
} td_scene;

/* td_scene_make goes through n steps, which begin before the graph's outermost pass. */
void td_scene_make(td_scene *scene, const td_pass_graph *graph, const td_order_step *steps,
                   size_t n);
void td_scene_fini(td_scene *scene);

/* td_scene_thread_find returns a thread, td_scene_server the one that serves a queue; NULL if it
 * did nothing yet. */
const td_scene_thread *td_scene_thread_find(const td_scene *scene, uint32_t thread);
const td_scene_thread *td_scene_server(const td_scene *scene, uint32_t queue);

/* td_scene_runner returns the thread that is at work for a node of a pass, or NULL. */
const td_scene_thread *td_scene_runner(const td_scene *scene, uint32_t place);

/* td_scene_is_shared tells whether a queue had tasks of this and another outermost pass at once. */
bool td_scene_is_shared(const td_scene *scene, uint32_t queue);
