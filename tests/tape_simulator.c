/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/tape_simulator.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/events/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGES_MAX 3
#define WIDTH 8

typedef struct sim_node {
  uint64_t sequence_nr;
  uint32_t topological_nr;
  int32_t device;
  uint32_t n_edges, edges[EDGES_MAX];
  uint32_t dependencies; /* left in this pass */
  bool reached, has_buffer;
} sim_node;

typedef enum phase { IDLE, POPPED, RUNNING, SCATTERING, FINISHING } phase;

/* A thread and the queue that it serves. */
typedef struct sim_thread {
  uint32_t *heap; /* (owned) node numbers, TD_NONE for a dummy */
  uint32_t n, capacity;
  phase phase;
  uint32_t node, next_edge;
} sim_thread;

typedef struct simulator {
  const td_tape_plan *plan;
  td_tape_sink sink;
  void *data;
  uint64_t random;
  sim_node *nodes; /* (owned) */
  uint32_t n_leaves;
  uint32_t base; /* number on the tape of node 0: a plan that trains numbers on */
  uint64_t sequence_nr;
  uint32_t *unused; /* (owned) inner nodes that nothing leads to yet, oldest first */
  uint32_t first_unused, n_unused;
  sim_thread *threads; /* (owned) */
  uint32_t graph_task, outstanding;
  bool over;
} simulator;

#define TELL(simulator, thread_, name, ...)                                                        \
  (simulator)->sink(                                                                               \
      &(td_any_event){.name = {.event = {0, TD_EVENT_##name, sizeof(td_event_##name), (thread_)},  \
                               __VA_ARGS__}},                                                      \
      (simulator)->data)

/* xorshift64*, Vigna 2014 */
static uint32_t
draw(simulator *sim, uint32_t limit) {
  sim->random ^= sim->random >> 12;
  sim->random ^= sim->random << 25;
  sim->random ^= sim->random >> 27;
  return (uint32_t)((sim->random * 0x2545f4914f6cdd1dull >> 32) * limit >> 32);
}

static bool
is_leaf(const simulator *sim, uint32_t node) {
  return node < sim->n_leaves;
}

/* The number of a node on the tape. */
static uint32_t
id_of(const simulator *sim, uint32_t node) {
  return node == TD_NONE ? TD_NONE : sim->base + node;
}

static bool
comes_before(uint32_t a, uint32_t b, void *data) {
  const simulator *sim = data;
  if (a == TD_NONE) return false;
  if (b == TD_NONE) return true;
  return sim->nodes[a].sequence_nr < sim->nodes[b].sequence_nr;
}

static void
set_slot(void *data, uint32_t *slot, uint32_t value) {
  *slot = value;
}

TD_HEAP_DEFINE(ready, uint32_t, comes_before, set_slot)

/* graph */

static void
add_edge(simulator *sim, uint32_t from, uint32_t to) {
  sim_node *node = &sim->nodes[from], *target = &sim->nodes[to];
  node->edges[node->n_edges++] = to;
  node->topological_nr = TD_MAX(node->topological_nr, target->topological_nr + 1);
}

static void
use_oldest(simulator *sim, uint32_t from) {
  add_edge(sim, from, sim->unused[sim->first_unused++]);
}

/* Keeps about WIDTH branches open, and joins them all in the last node. */
static void
draw_edges(simulator *sim, uint32_t i) {
  uint32_t n_open = sim->n_unused - sim->first_unused, n_left = sim->plan->n_nodes - i;
  uint32_t n_inner = i - sim->n_leaves;
  if (n_open >= TD_MIN(n_left, WIDTH)) {
    use_oldest(sim, i);
    if (n_open > 1) use_oldest(sim, i);
  } else if (n_open > 0 && draw(sim, 3) > 0) {
    use_oldest(sim, i);
  }
  if (sim->nodes[i].n_edges == 0 || draw(sim, 2)) add_edge(sim, i, draw(sim, sim->n_leaves));
  if (sim->nodes[i].n_edges < EDGES_MAX && n_inner > 0 && draw(sim, 3) == 0)
    add_edge(sim, i, i - 1 - draw(sim, TD_MIN(n_inner, 4 * WIDTH)));
}

static void
make_graph(simulator *sim) {
  uint32_t n = sim->plan->n_nodes;
  sim->n_leaves = TD_MAX(1, n / 4);
  sim->first_unused = sim->n_unused = 0;
  memset(sim->nodes, 0, n * sizeof *sim->nodes);
  for (uint32_t i = 0; i < n; i++) {
    sim_node *node = &sim->nodes[i];
    node->sequence_nr = is_leaf(sim, i) ? UINT64_MAX : sim->sequence_nr++;
    node->device = (int32_t)draw(sim, sim->plan->n_threads) - 1;
    if (is_leaf(sim, i)) continue;
    draw_edges(sim, i);
    sim->unused[sim->n_unused++] = i;
  }
}

static const char *
name_of(const simulator *sim, uint32_t node) {
  static const char *const names[] = {"AddBackward0", "MulBackward0",  "MmBackward0",
                                      "SinBackward0", "ReluBackward0", "AddmmBackward0"};
  return is_leaf(sim, node) ? "AccumulateGrad" : names[node * 7 % TD_N_ELEMENTS(names)];
}

static void
tell_node(simulator *sim, uint32_t i) {
  const sim_node *node = &sim->nodes[i];
  TELL(sim, 0, node_new, .node = id_of(sim, i), .name = td_intern(name_of(sim, i)),
       .sequence_nr = node->sequence_nr, .topological_nr = node->topological_nr,
       .device = node->device, .n_inputs = 1, .n_outputs = node->n_edges);
  TELL(sim, 0, input_metadata, .node = id_of(sim, i), .shape = td_intern("[32, 64]"),
       .dtype = td_intern("float32"), .device = node->device, .bytes = 8192);
  for (uint32_t edge = 0; edge < node->n_edges; edge++)
    TELL(sim, 0, edge_new, .from = id_of(sim, i), .output_nr = edge,
         .to = id_of(sim, node->edges[edge]));
  if (!is_leaf(sim, i)) return;
  char label[32];
  snprintf(label, sizeof label, "w%u", i);
  TELL(sim, 0, node_label, .node = id_of(sim, i), .label = td_intern(label));
}

/* queues */

static sim_thread *
thread_of(simulator *sim, const sim_node *node) {
  return &sim->threads[node->device + 1];
}

static void
push(simulator *sim, sim_thread *queue, uint32_t node) {
  TD_GROW(queue->heap, queue->n, queue->capacity);
  ready_push(queue->heap, queue->n++, node, sim);
  sim->outstanding++;
}

static void
push_node(simulator *sim, uint32_t thread, uint32_t node, td_push_reason reason) {
  sim_thread *queue = thread_of(sim, &sim->nodes[node]);
  uint32_t number = (uint32_t)(queue - sim->threads);
  bool contended = draw(sim, 32) == 0;
  if (contended) {
    TELL(sim, thread, lock_wait, .lock = TD_lock_kind_queue, .object = number);
    TELL(sim, thread, lock_acquired, .lock = TD_lock_kind_queue, .object = number);
  }
  push(sim, queue, node);
  TELL(sim, thread, queue_push, .queue = number, .node = id_of(sim, node),
       .graph_task = sim->graph_task, .size = queue->n, .reason = reason);
  if (contended) TELL(sim, thread, lock_released, .lock = TD_lock_kind_queue, .object = number);
}

static void
pop(simulator *sim, uint32_t number) {
  sim_thread *thread = &sim->threads[number];
  thread->node = ready_pop(thread->heap, thread->n, sim);
  thread->n--;
  TELL(sim, number, queue_pop, .queue = number, .node = id_of(sim, thread->node),
       .graph_task = sim->graph_task, .size = thread->n);
  thread->phase = thread->node == TD_NONE ? FINISHING : POPPED;
}

/* a pass */

static void
begin_node(simulator *sim, uint32_t number) {
  sim_thread *thread = &sim->threads[number];
  TELL(sim, number, node_begin, .node = id_of(sim, thread->node), .graph_task = sim->graph_task);
  if (number > 0)
    TELL(sim, number, kernel_begin, .device = (int32_t)number - 1, .node = id_of(sim, thread->node),
         .bytes = 8192);
  thread->phase = RUNNING;
}

static void
end_node(simulator *sim, uint32_t number) {
  sim_thread *thread = &sim->threads[number];
  if (number > 0)
    TELL(sim, number, kernel_end, .device = (int32_t)number - 1, .node = id_of(sim, thread->node));
  if (is_leaf(sim, thread->node))
    TELL(sim, number, accumulate, .node = id_of(sim, thread->node), .graph_task = sim->graph_task);
  if (draw(sim, sim->plan->n_nodes) < sim->plan->n_anomalies)
    TELL(sim, number, anomaly, .node = id_of(sim, thread->node), .graph_task = sim->graph_task,
         .from = TD_NONE);
  TELL(sim, number, node_end, .node = id_of(sim, thread->node), .graph_task = sim->graph_task);
  thread->phase = SCATTERING;
  thread->next_edge = 0;
}

static void
deliver(simulator *sim, uint32_t number, uint32_t from, uint32_t to) {
  sim_node *target = &sim->nodes[to];
  uint32_t graph_task = sim->graph_task;
  bool is_new = !target->has_buffer;
  target->dependencies--;
  target->has_buffer = true;
  TELL(sim, number, dependency_dec, .node = id_of(sim, to), .graph_task = graph_task,
       .left = target->dependencies, .by = id_of(sim, from));
  if (is_new) TELL(sim, number, buffer_new, .node = id_of(sim, to), .graph_task = graph_task);
  TELL(sim, number, buffer_add, .node = id_of(sim, to), .graph_task = graph_task,
       .from = id_of(sim, from),
       .mode = is_new ? TD_accumulation_move : TD_accumulation_out_of_place, .bytes = 8192);
  if (target->dependencies == 0) {
    TELL(sim, number, buffer_ready, .node = id_of(sim, to), .graph_task = graph_task);
    push_node(sim, number, to, TD_push_reason_ready);
  } else if (is_new) {
    TELL(sim, number, buffer_park, .node = id_of(sim, to), .graph_task = graph_task);
  }
}

static void
scatter(simulator *sim, uint32_t number) {
  sim_thread *thread = &sim->threads[number];
  const sim_node *node = &sim->nodes[thread->node];
  if (thread->next_edge < node->n_edges)
    deliver(sim, number, thread->node, node->edges[thread->next_edge++]);
  else
    thread->phase = FINISHING;
}

static void
finish(simulator *sim, uint32_t number) {
  sim->outstanding--;
  TELL(sim, number, outstanding, .graph_task = sim->graph_task, .value = sim->outstanding);
  sim->threads[number].phase = IDLE;
  if (sim->outstanding > 0 || sim->over) return;
  TELL(sim, number, graph_task_end, .graph_task = sim->graph_task, .status = TD_task_status_ok);
  sim->over = true;
  if (number == 0) return;
  push(sim, &sim->threads[0], TD_NONE);
  TELL(sim, number, queue_wake, .queue = 0, .graph_task = sim->graph_task,
       .size = sim->threads[0].n);
}

static void (*const steps[])(simulator *sim, uint32_t number) = {[IDLE] = pop,
                                                                 [POPPED] = begin_node,
                                                                 [RUNNING] = end_node,
                                                                 [SCATTERING] = scatter,
                                                                 [FINISHING] = finish};

static bool
step_some_thread(simulator *sim) {
  uint32_t n = sim->plan->n_threads, first = draw(sim, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t number = (first + i) % n;
    const sim_thread *thread = &sim->threads[number];
    if (thread->phase == IDLE && thread->n == 0) continue;
    steps[thread->phase](sim, number);
    return true;
  }
  return false;
}

/* Children have smaller numbers, except that leaves come before all: one sweep downwards suffices.
 */
static void
count_dependencies(simulator *sim, uint32_t root) {
  for (uint32_t i = 0; i < sim->plan->n_nodes; i++) {
    sim->nodes[i].dependencies = 0;
    sim->nodes[i].reached = i == root;
    sim->nodes[i].has_buffer = i == root;
  }
  for (uint32_t i = root + 1; i-- > 0;) {
    const sim_node *node = &sim->nodes[i];
    for (uint32_t edge = 0; node->reached && edge < node->n_edges; edge++) {
      sim->nodes[node->edges[edge]].reached = true;
      sim->nodes[node->edges[edge]].dependencies++;
    }
  }
}

static void
run_pass(simulator *sim, uint32_t pass) {
  uint32_t root = sim->plan->n_nodes - 1;
  sim->graph_task = pass;
  sim->over = false;
  TELL(sim, 0, step, .iteration = pass);
  TELL(sim, 0, graph_task_begin, .graph_task = pass, .owner = 0,
       .keep_graph = !sim->plan->trains && pass + 1 < sim->plan->n_passes, .accumulate_grad = true,
       .root = id_of(sim, root), .n_roots = 1);
  count_dependencies(sim, root);
  for (uint32_t i = 0; i < sim->plan->n_nodes; i++)
    if (sim->nodes[i].dependencies)
      TELL(sim, 0, dependency, .graph_task = pass, .node = id_of(sim, i),
           .count = sim->nodes[i].dependencies);
  push_node(sim, 0, root, TD_push_reason_root);
  while (step_some_thread(sim)) {
  }
}

/* What a recording with node hooks knows and does not. */
static void
tell_knowledge(simulator *sim) {
  static const struct {
    td_event_kind kind;
    td_knowledge how;
  } known[] = {
      {TD_EVENT_queue_push, TD_knowledge_reconstructed},
      {TD_EVENT_queue_pop, TD_knowledge_reconstructed},
      {TD_EVENT_buffer_add, TD_knowledge_reconstructed},
      {TD_EVENT_lock_wait, TD_knowledge_absent},
  };
  TELL(sim, 0, probe_level, .level = 2, .reason = td_intern("there is no C++ compiler"));
  for (size_t i = 0; i < TD_N_ELEMENTS(known); i++)
    TELL(sim, 0, known, .kind = td_intern(td_event_type_get(known[i].kind)->name),
         .how = known[i].how);
}

static void
tell_threads(simulator *sim) {
  TELL(sim, 0, device_new, .device = TD_DEVICE_CPU, .name = td_intern("cpu"));
  for (uint32_t i = 0; i < sim->plan->n_threads; i++) {
    char name[32];
    snprintf(name, sizeof name, "sim:%u", i - 1);
    int32_t device = (int32_t)i - 1;
    if (i > 0) TELL(sim, 0, device_new, .device = device, .name = td_intern(name));
    TELL(sim, i, thread_new, .id = i, .name = td_intern(i ? name : "main"), .device = device);
    TELL(sim, 0, queue_new, .queue = i, .device = device, .graph_task = TD_NONE, .owner = i);
  }
}

static void
tell_graph(simulator *sim) {
  make_graph(sim);
  for (uint32_t i = 0; i < sim->plan->n_nodes; i++)
    tell_node(sim, i);
}

static void
tell_release(simulator *sim) {
  for (uint32_t i = sim->plan->n_nodes; i-- > 0;)
    TELL(sim, 0, node_free, .node = id_of(sim, i));
}

void
td_tape_simulate(const td_tape_plan *plan, td_tape_sink sink, void *data) {
  simulator sim = {.plan = plan, .sink = sink, .data = data};
  sim.random = plan->seed * 0x9e3779b97f4a7c15ull + 1;
  sim.threads = TD_NEW_N(sim_thread, plan->n_threads);
  sim.nodes = TD_NEW_N(sim_node, plan->n_nodes);
  sim.unused = TD_NEW_N(uint32_t, plan->n_nodes);
  if (plan->hooked) tell_knowledge(&sim);
  tell_threads(&sim);
  tell_graph(&sim);
  for (uint32_t pass = 0; pass < plan->n_passes; pass++) {
    bool fresh = plan->trains && pass > 0;
    if (fresh) tell_release(&sim);
    if (fresh) sim.base += plan->n_nodes;
    if (fresh) tell_graph(&sim);
    run_pass(&sim, pass);
  }
  tell_release(&sim);
  for (uint32_t i = 0; i < plan->n_threads; i++)
    free(sim.threads[i].heap);
  free(sim.threads);
  free(sim.nodes);
  free(sim.unused);
}
