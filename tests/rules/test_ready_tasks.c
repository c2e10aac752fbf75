/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rules' ready tasks and the engine's ready queue, which share no comparison: whatever is
 * pushed, both hand out the same, also if another task than the first is taken. */
#include "engine/rules/ready_tasks.h"
#include "engine/torch/pass/graph_task.h"
#include "engine/torch/pass/ready_queue.h"

#include <glib.h>

#define N_PASSES 5
#define N_NUMBERS 4 /* few, so that there are ties */

static td_status
apply_nothing(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  return TD_OK;
}

static const td_node_class plain_class = {.name = "Plain", .apply = apply_nothing};

typedef struct both {
  GRand *random;
  td_ready_queue *queue;
  td_ready_tasks tasks;
  td_graph_task *passes[N_PASSES]; /* NULL: gone */
  GPtrArray *pushed;               /* nodes by id; NULL: none */
  GArray *pass_of;                 /* by id */
} both;

static uint32_t
below(both *self, uint32_t limit) {
  return (uint32_t)g_rand_int_range(self->random, 0, (gint32)limit);
}

static td_graph_task *
pass_of_depth(both *self, uint32_t depth) {
  td_execute_options options = {.accumulate_grad = true};
  return td_graph_task_new(&options, depth, self->queue);
}

static void
push_place(both *self, td_task_place place) {
  uint64_t number = self->pushed->len;
  td_ready_tasks_push(&self->tasks, (td_ready_task){number, number, place});
}

static void
push_node(both *self) {
  uint32_t pass = below(self, N_PASSES), number = below(self, N_NUMBERS + 1);
  if (!self->passes[pass]) return;
  uint64_t sequence_nr = number == N_NUMBERS ? TD_SEQUENCE_NR_MAX : number;
  td_node *node = td_node_new_raw(&plain_class, sizeof *node, 0, sequence_nr);
  td_node_task task = {.graph_task = td_graph_task_weak_ref(self->passes[pass]), .node = node};
  td_ready_queue_push(self->queue, task, TD_push_reason_ready);
  push_place(self, (td_task_place){.depth = self->passes[pass]->handle.reentrant_depth,
                                   .sequence_nr = sequence_nr});
  g_ptr_array_add(self->pushed, node);
  g_array_append_val(self->pass_of, pass);
}

static void
push_other(both *self, td_task_kind kind) {
  uint32_t pass = below(self, N_PASSES);
  if (kind == TD_TASK_SHUTDOWN) {
    td_ready_queue_push_shutdown(self->queue);
  } else {
    if (!self->passes[pass]) return;
    td_node_task task = {.graph_task = td_graph_task_weak_ref(self->passes[pass])};
    td_ready_queue_push(self->queue, task, TD_push_reason_root);
  }
  push_place(self, (td_task_place){.kind = kind});
  g_ptr_array_add(self->pushed, NULL);
  g_array_append_val(self->pass_of, pass);
}

static size_t wanted_place;

static td_pick
pick_cb(td_ready_queue *queue) {
  return (td_pick){.place = wanted_place};
}

static void
take(both *self) {
  if (self->tasks.n == 0) return;
  bool may_choose = self->tasks.order == TD_queue_order_heap && below(self, 4) == 0;
  wanted_place = may_choose ? below(self, (uint32_t)self->tasks.n) : 0;
  td_ready_task expected = td_ready_tasks_remove(&self->tasks, wanted_place);
  if (may_choose) atomic_store(&td_ready_queue_pilot, pick_cb);
  td_node_task popped = td_ready_queue_pop(self->queue);
  atomic_store(&td_ready_queue_pilot, NULL);
  g_assert_true(popped.is_shutdown == (expected.place.kind == TD_TASK_SHUTDOWN));
  g_assert_true(popped.node == g_ptr_array_index(self->pushed, expected.id));
  td_node_task_fini(&popped);
}

static void
lose_pass(both *self) {
  uint32_t pass = below(self, N_PASSES);
  if (!self->passes[pass]) return;
  td_graph_task_unref(self->passes[pass]);
  self->passes[pass] = NULL;
  for (size_t i = 0; i < self->tasks.n; i++)
    if (g_array_index(self->pass_of, uint32_t, self->tasks.heap[i].id) == pass)
      td_ready_tasks_expire(&self->tasks, i);
}

static void
step(both *self) {
  uint32_t what = below(self, 100);
  if (what < 55)
    push_node(self);
  else if (what < 60)
    push_other(self, TD_TASK_DUMMY);
  else if (what < 62)
    push_other(self, TD_TASK_SHUTDOWN);
  else if (what < 63)
    lose_pass(self);
  else
    take(self);
}

static void
run(td_queue_order order, uint32_t seed) {
  both self = {.random = g_rand_new_with_seed(seed), .tasks.order = order};
  self.queue = td_ready_queue_new_ordered(TD_CPU, order);
  self.pushed = g_ptr_array_new();
  self.pass_of = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t i = 0; i < N_PASSES; i++)
    self.passes[i] = pass_of_depth(&self, i / 2);
  for (uint32_t i = 0; i < 300; i++)
    step(&self);
  while (self.tasks.n)
    take(&self);
  g_assert_cmpuint(td_ready_queue_size(self.queue), ==, 0);
  for (uint32_t i = 0; i < N_PASSES; i++)
    if (self.passes[i]) td_graph_task_unref(self.passes[i]);
  td_ready_tasks_fini(&self.tasks);
  td_ready_queue_unref(self.queue);
  g_ptr_array_unref(self.pushed);
  g_array_unref(self.pass_of);
  g_rand_free(self.random);
}

static void
test_as_the_engine(void) {
  for (td_queue_order order = 0; order < TD_queue_order_LIMIT; order++)
    for (uint32_t seed = 0; seed < 100; seed++)
      run(order, seed);
}

/* What the engine has not: a policy's rank decides before the sequence_nr, after the depth. */
static void
test_rank(void) {
  td_ready_tasks tasks = {0};
  td_ready_tasks_push(&tasks, (td_ready_task){0, 0, (td_task_place){.rank = 1, .sequence_nr = 1}});
  td_ready_tasks_push(&tasks, (td_ready_task){1, 1, (td_task_place){.rank = 2, .sequence_nr = 0}});
  td_ready_tasks_push(&tasks, (td_ready_task){2, 2, (td_task_place){.rank = 1, .sequence_nr = 2}});
  td_ready_tasks_push(&tasks, (td_ready_task){3, 3, (td_task_place){.depth = 1, .rank = -1}});
  static const uint64_t order[] = {3, 1, 2, 0};
  for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
    g_assert_cmpuint(td_ready_tasks_pop(&tasks).id, ==, order[i]);
  td_ready_tasks_fini(&tasks);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/rules/ready_tasks/as_the_engine", test_as_the_engine);
  g_test_add_func("/rules/ready_tasks/rank", test_rank);
  return g_test_run();
}
