/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The machine and the engine, which share no rules: random programs, with
 * passes inside nodes, on the CPU and on devices. The machine gets the graph
 * and durations. Then the engine runs the same program. Each function returns
 * when the machine has said that it does: when all threads have come as far as
 * theirs in the machine. So no clock is in it, and each thread must pop the
 * same tasks in the same order. */
#include "engine/rules/machine.h"
#include "engine/torch/device/device.h"
#include "engine/torch/pass/device_queues.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/ready_queue.h"
#include "engine/torch/pass/variants/scheduler_2017.h"
#include "tests/fixtures/call_nodes.h"

#include <glib.h>
#include <pthread.h>

#define MAX_TASKS 192
#define MAX_PASSES 96
#define N_TEAMS 3 /* sim:0, sim:1, the caller */
#define CALLER 2
#define PATIENCE 20000 /* ms */

/* A function returns, or calls a pass, when each thread is so far. */
typedef struct turn {
  uint32_t task;
  uint32_t n_begun[N_TEAMS]; /* how often each thread popped a task or went on
                                with one */
  bool is_idle[N_TEAMS];
} turn;

typedef struct program {
  td_machine_task tasks[MAX_TASKS];
  td_machine_edge edges[MAX_TASKS * MAX_TASKS];
  td_machine_pass passes[MAX_PASSES];
  uint32_t n_tasks, n_edges, n_passes;
  call_node *nodes[MAX_TASKS]; /* (owned) */

  GArray *expected[N_TEAMS]; /* tasks as the machine pops them */
  GArray *turns;
  turn now; /* while the machine runs */

  td_queue_order order;
  bool is_timed;
  uint32_t n_deep;                    /* passes inside one another, beside others */
  pthread_mutex_t lock;               /* guards what follows */
  GArray *popped[N_TEAMS];            /* tasks as the engine pops them */
  uint32_t n_begun[N_TEAMS], n_turns; /* n_turns: that are over */
  td_ready_queue *queues[N_TEAMS];    /* (borrowed) */
} program;

/* ---- the program ---- */

/* A thread that sleeps pops as soon as it can. So a task that hands two tasks
 * to another thread would not say which of them that thread sees first. */
static bool
may_lead_to(const bool leads[MAX_TASKS][N_TEAMS], const program *self, uint32_t from, uint32_t to) {
  uint32_t team = self->tasks[to].team;
  return self->tasks[from].team == team || !leads[from][team];
}

/* Edges [from][to] between the tasks of a pass. Each but the first hangs below
 * one before it. */
static void
draw_edges(program *self, GRand *random, uint32_t first, bool edges[MAX_TASKS][MAX_TASKS]) {
  bool leads[MAX_TASKS][N_TEAMS] = {{false}};
  for (uint32_t to = first + 1; to < self->n_tasks; to++) {
    uint32_t above = (uint32_t)g_rand_int_range(random, (gint32)first, (gint32)to);
    if (!may_lead_to(leads, self, above, to)) self->tasks[to].team = self->tasks[above].team;
    for (uint32_t from = first; from < to; from++) {
      if (from != above && g_rand_int_range(random, 0, 4) != 0) continue;
      if (!may_lead_to(leads, self, from, to)) continue;
      edges[from][to] = leads[from][self->tasks[to].team] = true;
    }
  }
}

static void
add_edges(program *self, GRand *random, uint32_t first) {
  bool edges[MAX_TASKS][MAX_TASKS] = {{false}};
  draw_edges(self, random, first, edges);
  for (uint32_t from = first; from < self->n_tasks; from++) {
    td_machine_task *task = &self->tasks[from];
    task->first = self->n_edges;
    for (uint32_t to = from + 1; to < self->n_tasks; to++)
      if (edges[from][to])
        self->edges[self->n_edges++] = (td_machine_edge){from, to, task->lasts_ns};
    task->n = self->n_edges - task->first;
  }
}

/* A pass over tasks of its own. */
static void
add_pass(program *self, GRand *random, uint32_t caller, uint32_t n, uint32_t n_teams) {
  uint32_t first = self->n_tasks, pass = self->n_passes++;
  bool is_inner = caller != TD_NONE;
  for (uint32_t i = first; i < first + n; i++) {
    uint32_t team = n_teams == 1 ? CALLER : (uint32_t)g_rand_int_range(random, 0, N_TEAMS);
    if (team == CALLER && is_inner) team = self->tasks[caller].team; /* the CPU's tasks */
    bool is_leaf = g_rand_int_range(random, 0, 4) == 0;
    self->tasks[i] = (td_machine_task){
        .pass = pass,
        .team = team,
        .next_root = TD_NONE,
        .inner = TD_NONE,
        .sequence_nr = is_leaf ? TD_SEQUENCE_NR_MAX : (uint64_t)g_rand_int_range(random, 0, 20),
        .lasts_ns = 1000 + (uint64_t)g_rand_int_range(random, 0, 1000000)};
  }
  self->n_tasks += n;
  add_edges(self, random, first);
  self->passes[pass] = (td_machine_pass){.team = is_inner ? self->tasks[caller].team : CALLER,
                                         .root = first,
                                         .caller = caller,
                                         .next = TD_NONE,
                                         .callback = TD_NONE,
                                         .begin_ns = is_inner ? TD_MACHINE_CALLED : 0};
}

/* A pass that a task calls before those that it calls already. */
static void
add_inner(program *self, GRand *random, uint32_t caller, uint32_t n, uint32_t n_teams) {
  uint32_t pass = self->n_passes, before = self->tasks[caller].inner;
  add_pass(self, random, caller, n, n_teams);
  self->passes[pass].next = before;
  self->tasks[caller].inner = pass;
}

static void
make_program(program *self, GRand *random, uint32_t n_teams) {
  bool nests = self->order == TD_queue_order_heap;
  add_pass(self, random, TD_NONE, (uint32_t)g_rand_int_range(random, 1, 16), n_teams);
  for (int i = g_rand_int_range(random, 0, 5); nests && i > 0; i--) {
    uint32_t caller = (uint32_t)g_rand_int_range(random, 0, (gint32)self->n_tasks);
    add_inner(self, random, caller, (uint32_t)g_rand_int_range(random, 1, 8), n_teams);
  }
  for (uint32_t i = 0; i < self->n_deep; i++)
    add_inner(self, random, self->n_tasks - 1, (uint32_t)g_rand_int_range(random, 1, 3), n_teams);
}

/* ---- the machine ---- */

static void
note_turn(program *self, uint32_t task) {
  self->now.task = task;
  g_array_append_val(self->turns, self->now);
}

static void
happened_cb(const td_machine_event *event, void *data) {
  program *self = data;
  uint32_t team = event->team;
  if (event->kind == TD_MACHINE_pop) g_array_append_val(self->expected[team], event->id);
  if (event->kind == TD_MACHINE_pop || event->kind == TD_MACHINE_resume) {
    self->now.n_begun[team]++;
    self->now.is_idle[team] = false;
  } else if (event->kind == TD_MACHINE_idle) {
    self->now.is_idle[team] = true;
  } else if (event->kind == TD_MACHINE_finish) {
    note_turn(self, event->id);
  } else if (event->kind == TD_MACHINE_pass_begin && self->passes[event->id].caller != TD_NONE) {
    note_turn(self, self->passes[event->id].caller);
  }
}

static void
ask_machine(program *self) {
  const td_queue_order orders[N_TEAMS] = {self->order, self->order, self->order};
  const td_machine_plan plan = {.tasks = self->tasks,
                                .edges = self->edges,
                                .passes = self->passes,
                                .orders = orders,
                                .n_tasks = self->n_tasks,
                                .n_passes = self->n_passes,
                                .n_teams = N_TEAMS,
                                .n_workers = 1,
                                .is_timed = self->is_timed,
                                .heard = TD_MACHINE_ALL,
                                .happened = happened_cb,
                                .data = self};
  for (uint32_t i = 0; i < N_TEAMS; i++)
    self->now.is_idle[i] = true;
  g_assert_cmpint(td_machine_run(&plan), ==, TD_OK);
}

/* ---- the engine ---- */

static uint32_t
own_team(void) {
  return td_thread_self.device == TD_CPU ? CALLER : (uint32_t)td_thread_self.device;
}

static bool
sleeps(td_ready_queue *queue) {
  td_lock_acquire(&queue->lock);
  bool does = queue->n == 0 && queue->n_waiting > 0;
  td_lock_release(&queue->lock);
  return does;
}

static bool
is_turn(program *self, uint32_t task) {
  if (self->n_turns == self->turns->len) return false;
  const turn *turn = &g_array_index(self->turns, struct turn, self->n_turns);
  if (turn->task != task) return false;
  for (uint32_t i = 0; i < N_TEAMS; i++) {
    if (self->n_begun[i] != turn->n_begun[i]) return false;
    if (i != own_team() && turn->is_idle[i] && !sleeps(self->queues[i])) return false;
  }
  return true;
}

static void
wait_for_turn(program *self, uint32_t task) {
  bool is_over = !self->is_timed;
  for (int i = 0; i < PATIENCE && !is_over; i++) {
    pthread_mutex_lock(&self->lock);
    is_over = is_turn(self, task);
    self->n_turns += is_over;
    pthread_mutex_unlock(&self->lock);
    if (!is_over) g_usleep(i < 100 ? 20 : 1000);
  }
  g_assert_true(is_over); /* else a thread is not where the machine has it */
}

static void
note_begun(program *self, uint32_t task) {
  pthread_mutex_lock(&self->lock);
  self->n_begun[own_team()]++;
  if (task != TD_NONE) g_array_append_val(self->popped[own_team()], task);
  pthread_mutex_unlock(&self->lock);
}

typedef struct part {
  program *program;
  uint32_t task;
} part;

static td_status
run_cb(call_node *node, td_error *error) {
  const part *part = node->data;
  program *self = part->program;
  note_begun(self, part->task);
  for (uint32_t inner = self->tasks[part->task].inner; inner != TD_NONE;
       inner = self->passes[inner].next) {
    wait_for_turn(self, part->task);
    g_assert_cmpint(call_backward(self->nodes[self->passes[inner].root], error), ==, TD_OK);
    note_begun(self, TD_NONE);
  }
  wait_for_turn(self, part->task);
  return TD_OK;
}

/* On the CPU are the nodes that the thread of their pass runs. */
static td_device
device_of(const program *self, const td_machine_task *task) {
  return task->team == self->passes[task->pass].team ? TD_CPU : (td_device)task->team;
}

static void
run_engine(program *self) {
  part parts[MAX_TASKS];
  for (uint32_t i = self->n_tasks; i-- > 0;) {
    const td_machine_task *task = &self->tasks[i];
    parts[i] = (part){self, i};
    self->nodes[i] = call_node_new(device_of(self, task), task->n, run_cb, &parts[i]);
    self->nodes[i]->node.sequence_nr = task->sequence_nr;
    for (uint32_t k = 0; k < task->n; k++)
      call_node_connect(self->nodes[i], k, self->nodes[self->edges[task->first + k].to]);
  }
  self->queues[0] = td_device_queue(0);
  self->queues[1] = td_device_queue(1);
  self->queues[CALLER] = td_thread_self.queue;
  g_assert_cmpint(call_backward(self->nodes[0], NULL), ==, TD_OK);
  for (uint32_t i = 0; i < self->n_tasks; i++)
    call_node_unref(self->nodes[i]);
}

/* ---- both ---- */

typedef struct wish {
  uint32_t n_teams, n_deep;
  td_queue_order order;
} wish;

/* With several threads, time counts. */
static void
compare(uint32_t seed, wish wish) {
  g_autofree program *self = g_new0(program, 1);
  pthread_mutex_init(&self->lock, NULL);
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  self->is_timed = wish.n_teams > 1;
  self->order = wish.order;
  self->n_deep = wish.n_deep;
  self->turns = g_array_new(FALSE, FALSE, sizeof(turn));
  for (uint32_t i = 0; i < N_TEAMS; i++) {
    self->expected[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    self->popped[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  }
  make_program(self, random, wish.n_teams);
  ask_machine(self);
  run_engine(self);
  for (uint32_t i = 0; i < N_TEAMS; i++) {
    const GArray *expected = self->expected[i], *popped = self->popped[i];
    g_assert_cmpmem(expected->data, expected->len * sizeof(uint32_t), popped->data,
                    popped->len * sizeof(uint32_t));
    g_array_unref(self->expected[i]);
    g_array_unref(self->popped[i]);
  }
  g_array_unref(self->turns);
}

static void
test_one_thread(void) {
  for (uint32_t seed = 0; seed < 300; seed++)
    compare(seed, (wish){1, 0, TD_queue_order_heap});
}

static void
test_devices(void) {
  for (uint32_t seed = 0; seed < 150; seed++)
    compare(seed, (wish){N_TEAMS, 0, TD_queue_order_heap});
}

/* Threads of the pool run what is deeper than MAX_DEPTH, from the same queue. */
static void
test_pool(void) {
  for (uint32_t seed = 0; seed < 5; seed++)
    compare(seed, (wish){1, 66, TD_queue_order_heap});
}

/* Their passes have queues of their own, so a pass inside a node is another matter. */
static void
test_2017(void) {
  g_assert_cmpint(td_scheduler_set("2017", NULL), ==, TD_OK);
  for (uint32_t seed = 0; seed < 100; seed++)
    compare(seed, (wish){1, 0, TD_queue_order_lifo});
  g_assert_cmpint(td_scheduler_set("2017-fifo", NULL), ==, TD_OK);
  for (uint32_t seed = 0; seed < 100; seed++)
    compare(seed, (wish){1, 0, TD_queue_order_fifo});
  g_assert_cmpint(td_scheduler_set("engine", NULL), ==, TD_OK);
}

static td_status
do_nothing(call_node *self, td_error *error) {
  return TD_OK;
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  call_node *first = call_node_new(TD_CPU, 0, do_nothing, NULL); /* the threads get their queues */
  g_assert_cmpint(call_backward(first, NULL), ==, TD_OK);
  call_node_unref(first);
  g_test_add_func("/rules/machine/one_thread", test_one_thread);
  g_test_add_func("/rules/machine/devices", test_devices);
  g_test_add_func("/rules/machine/pool", test_pool);
  g_test_add_func("/rules/machine/schedulers-of-2017", test_2017);
  return g_test_run();
}
