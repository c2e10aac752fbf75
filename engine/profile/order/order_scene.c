/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order_scene.h"

#include "engine/base/alloc.h"

#define TASKS_MAX 64u /* inside one another on a thread */

bool
td_order_step_take(const td_any_event *any, td_order_step *step) {
  *step = (td_order_step){.seq = UINT64_MAX,
                          .kind = any->event.kind,
                          .thread = any->event.thread,
                          .queue = TD_NONE,
                          .graph_task = TD_NONE,
                          .node = TD_NONE};
  switch (any->event.kind) {
  case TD_EVENT_queue_push:
    step->queue = any->queue_push.queue;
    step->graph_task = any->queue_push.graph_task;
    step->node = any->queue_push.node;
    return true;
  case TD_EVENT_queue_pop:
    step->queue = any->queue_pop.queue;
    step->graph_task = any->queue_pop.graph_task;
    step->node = any->queue_pop.node;
    return true;
  case TD_EVENT_outstanding:
    step->graph_task = any->outstanding.graph_task;
    return true;
  case TD_EVENT_node_sequence_nr:
    step->node = any->node_sequence_nr.node;
    return true;
  case TD_EVENT_hook_begin:
  case TD_EVENT_hook_end:
    return true;
  default:
    return false;
  }
}

const td_scene_thread *
td_scene_thread_find(const td_scene *scene, uint32_t thread) {
  const uint64_t *number = td_number_map_find(&scene->numbers, thread);
  return number ? &scene->threads[*number - 1] : NULL;
}

static td_scene_thread *
thread_of(td_scene *scene, uint32_t thread) {
  uint64_t *number = td_number_map_put(&scene->numbers, thread);
  if (*number) return &scene->threads[*number - 1];
  TD_GROW(scene->threads, scene->n_threads, scene->capacity);
  scene->threads[scene->n_threads] =
      (td_scene_thread){.thread = thread, .last = {.graph_task = TD_NONE, .node = TD_NONE}};
  *number = ++scene->n_threads;
  return &scene->threads[*number - 1];
}

const td_scene_thread *
td_scene_server(const td_scene *scene, uint32_t queue) {
  const uint64_t *thread = td_number_map_find(&scene->servers, queue);
  return thread ? td_scene_thread_find(scene, (uint32_t)*thread - 1) : NULL;
}

bool
td_scene_is_shared(const td_scene *scene, uint32_t queue) {
  return td_number_map_find(&scene->shared, queue) != NULL;
}

const td_scene_thread *
td_scene_runner(const td_scene *scene, uint32_t place) {
  const td_graph_node *node = &scene->graph->nodes[place];
  uint32_t graph_task = scene->graph->passes[node->pass].graph_task;
  for (uint32_t i = 0; i < scene->n_threads; i++) {
    const td_scene_thread *thread = &scene->threads[i];
    for (uint32_t k = 0; k < thread->n; k++)
      if (thread->tasks[k].node == node->node && thread->tasks[k].graph_task == graph_task)
        return thread;
  }
  return NULL;
}

/* ---- going through the steps ---- */

static void
set_state(td_scene *scene, const td_scene_task *task, td_scene_state state) {
  uint32_t place = td_pass_graph_find(scene->graph, task->graph_task, task->node);
  if (place != TD_NONE) scene->states[place] = state;
}

static bool
is_own(const td_scene *scene, const td_order_step *step) {
  return td_pass_graph_find_pass(scene->graph, step->graph_task) != TD_NONE;
}

static uint64_t *
tasks_of(td_scene *scene, const td_order_step *step) {
  return td_number_map_put(&scene->tasks[is_own(scene, step)], step->queue);
}

static void
push(td_scene *scene, const td_order_step *step) {
  const td_scene_task task = {.graph_task = step->graph_task, .node = step->node};
  set_state(scene, &task, TD_SCENE_queued);
  ++*tasks_of(scene, step);
  const uint64_t *others = td_number_map_find(&scene->tasks[!is_own(scene, step)], step->queue);
  const uint64_t *own = td_number_map_find(&scene->tasks[is_own(scene, step)], step->queue);
  if (others && *others && own && *own) *td_number_map_put(&scene->shared, step->queue) = 1;
}

static void
pop(td_scene *scene, const td_order_step *step) {
  td_scene_thread *thread = thread_of(scene, step->thread);
  const td_scene_task task = {.graph_task = step->graph_task, .node = step->node};
  *td_number_map_put(&scene->servers, step->queue) = 1 + (uint64_t)step->thread;
  set_state(scene, &task, TD_SCENE_taken);
  uint64_t *n_tasks = tasks_of(scene, step);
  *n_tasks -= *n_tasks > 0;
  if (thread->n && thread->tasks[thread->n - 1].graph_task != step->graph_task)
    thread->tasks[thread->n - 1].had_inner = true;
  if (thread->n == TASKS_MAX) thread->n = 0;
  TD_GROW(thread->tasks, thread->n, thread->capacity);
  thread->tasks[thread->n++] = task;
}

static void
finish(td_scene *scene, const td_order_step *step) {
  td_scene_thread *thread = thread_of(scene, step->thread);
  if (!thread->n || thread->tasks[thread->n - 1].graph_task != step->graph_task) return;
  thread->last = thread->tasks[--thread->n];
  set_state(scene, &thread->last, TD_SCENE_over);
}

static void
hook(td_scene *scene, const td_order_step *step) {
  td_scene_thread *thread = thread_of(scene, step->thread);
  if (step->kind == TD_EVENT_hook_begin)
    thread->n_hooks++;
  else if (thread->n_hooks)
    thread->n_hooks--;
  if (thread->n) thread->tasks[thread->n - 1].had_hook = true;
}

static void
take(td_scene *scene, const td_order_step *step) {
  switch (step->kind) {
  case TD_EVENT_queue_push:
    return push(scene, step);
  case TD_EVENT_queue_pop:
    return pop(scene, step);
  case TD_EVENT_outstanding:
    return finish(scene, step);
  case TD_EVENT_node_sequence_nr:
    ++*td_number_map_put(&scene->renumbered, step->node);
    return;
  default:
    return hook(scene, step);
  }
}

void
td_scene_make(td_scene *scene, const td_pass_graph *graph, const td_order_step *steps, size_t n) {
  *scene = (td_scene){.graph = graph};
  scene->states = TD_NEW_N(uint8_t, graph->n_nodes);
  for (size_t i = 0; i < n; i++)
    take(scene, &steps[i]);
}

void
td_scene_fini(td_scene *scene) {
  for (uint32_t i = 0; i < scene->n_threads; i++)
    free(scene->threads[i].tasks);
  free(scene->threads);
  free(scene->states);
  td_number_map_fini(&scene->numbers);
  td_number_map_fini(&scene->servers);
  td_number_map_fini(&scene->tasks[0]);
  td_number_map_fini(&scene->tasks[1]);
  td_number_map_fini(&scene->shared);
  td_number_map_fini(&scene->renumbered);
}
