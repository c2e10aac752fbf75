/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/variants/scheduler_2017.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/pass/graph_task.h"
#include "engine/torch/tensor/kernels.h"

#include <assert.h>
#include <string.h>

/* One entry of a Counter. */
typedef struct use {
  td_node *consumer; /* (borrowed: the pass keeps the graph alive) */
  uint32_t output_nr, n;
  struct use *next;
} use;

/* The scheduler's own data of one node. The rest is in the graph task's table. */
typedef struct counters {
  use *first; /* (owned) in the order of visit; none left: ready */
  bool *
      was_copied; /* (owned) [n_inputs] or NULL: gradients that this scheduler copied (2017-fifo) */
} counters;

/* A graph task's scheduler_data. */
typedef struct counted_uses {
  counters *nodes; /* (owned) [n] as the graph task's entries */
  uint32_t n;
} counted_uses;

static bool
is_fifo(void) {
  return td_scheduler_now->order == TD_queue_order_fifo;
}

/* The thread that runs passes now. */
static struct {
  pthread_mutex_t mutex; /* guards the rest */
  pthread_t thread;
  uint32_t n_passes; /* nested in each other */
} running = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static td_status
refuse(td_error *error, const char *what) {
  return td_error_set(error, TD_UNSUPPORTED, "the scheduler of %s does not know %s",
                      td_scheduler_get(), what);
}

static bool
take_turn(void) {
  pthread_mutex_lock(&running.mutex);
  bool free = running.n_passes == 0 || pthread_equal(running.thread, pthread_self());
  if (free) {
    running.thread = pthread_self();
    running.n_passes++;
  }
  pthread_mutex_unlock(&running.mutex);
  return free;
}

static td_status
enter(const td_execute_options *options, uint32_t n_roots, td_error *error) {
  if (!options->accumulate_grad) return refuse(error, "grad(): gradients go to leaves alone");
  if (options->n_outputs) return refuse(error, "inputs= of backward()");
  if (options->create_graph) return refuse(error, "create_graph");
  if (options->keep_graph && !is_fifo())
    return refuse(error, "retain_graph: it never frees anything");
  if (n_roots != 1) return refuse(error, "backward of several tensors at once");
  return take_turn() ? TD_OK : refuse(error, "threads: another one runs a backward pass");
}

static void
leave(void) {
  pthread_mutex_lock(&running.mutex);
  running.n_passes--;
  pthread_mutex_unlock(&running.mutex);
}

static counted_uses *
uses_of(const td_graph_task *graph_task) {
  return graph_task->scheduler_data;
}

static counters *
counters_of(const td_graph_task *graph_task, const td_node *node) {
  const td_node_entry *entry = td_node_table_find(&graph_task->nodes, node);
  return entry ? &uses_of(graph_task)->nodes[entry - graph_task->nodes.entries] : NULL;
}

/* The place of a use in its list: of the entry, or of the NULL at the end. */
static use **
find_use(counters *self, uint32_t output_nr, const td_node *consumer) {
  use **place = &self->first;
  while (*place && ((*place)->output_nr != output_nr || (*place)->consumer != consumer))
    place = &(*place)->next;
  return place;
}

static void
count_uses(td_graph_task *graph_task, td_node *consumer) {
  for (uint32_t i = 0; i < consumer->n_outputs; i++) {
    td_edge edge = consumer->next_edges[i];
    if (!edge.node) continue;
    use **place = find_use(counters_of(graph_task, edge.node), edge.input_nr, consumer);
    if (!*place) {
      *place = TD_NEW(use);
      **place = (use){.consumer = consumer, .output_nr = edge.input_nr};
    }
    (*place)->n++;
  }
}

static void
free_use(counters *self, uint32_t output_nr, const td_node *consumer) {
  use **place = find_use(self, output_nr, consumer), *found = *place;
  assert(found);
  if (--found->n > 0) return;
  *place = found->next;
  free(found);
}

static td_status
check_node(const td_node *node, td_error *error) {
  if (node->device >= 0) return refuse(error, "devices other than the CPU");
  if (td_node_has_hooks(node, ~0u) && node->sequence_nr != TD_SEQUENCE_NR_MAX)
    return refuse(error, "hooks other than on leaves");
  return TD_OK;
}

static td_status
prepare(td_graph_task *graph_task, td_error *error) {
  const td_node_table *nodes = &graph_task->nodes;
  td_status status = TD_OK;
  for (uint32_t i = 0; i < nodes->n && !status; i++)
    status = check_node(nodes->entries[i].node, error);
  if (status) return status;
  counted_uses *self = graph_task->scheduler_data = TD_NEW(counted_uses);
  self->n = nodes->n;
  self->nodes = TD_NEW_N(counters, nodes->n);
  for (uint32_t i = 0; i < nodes->n; i++)
    count_uses(graph_task, nodes->entries[i].node);
  if (!is_fifo()) graph_task->keep_graph = true;
  return TD_OK;
}

static void
free_uses(void *data) {
  counted_uses *self = data;
  if (!self) return;
  for (uint32_t i = 0; i < self->n; i++) {
    free(self->nodes[i].was_copied);
    for (use *use = self->nodes[i].first, *next; use; use = next) {
      next = use->next;
      free(use);
    }
  }
  free(self->nodes);
  free(self);
}

void
td_scheduler_2017_each(const td_graph_task *graph_task, td_use_callback *callback, void *data) {
  const counted_uses *self = graph_task ? graph_task->scheduler_data : NULL;
  for (uint32_t i = 0; self && i < self->n; i++)
    for (const use *use = self->nodes[i].first; use; use = use->next)
      callback(graph_task->nodes.entries[i].node, use->output_nr, use->consumer, use->n, data);
}

/* Functions of 2016 returned row-major memory. Here the gradient of a sum may be one number that
 * is repeated. So this makes a row-major copy. Takes gradient. */
static td_status
keep(td_tensor **slot, td_tensor *gradient, td_error *error) {
  if (gradient->sparse || td_tensor_is_contiguous(gradient)) {
    *slot = gradient;
    return TD_OK;
  }
  td_status status = td_kernel_contiguous(gradient, slot, error);
  td_tensor_unref(gradient);
  return status;
}

/* Adds to the kept gradient in place, even if somebody else holds it. 2017-fifo makes a copy
 * first. Takes gradient. */
static td_status
add(td_tensor **slot, td_tensor *gradient, bool *was_copied, td_accumulation *mode,
    td_error *error) {
  td_tensor *sum = NULL;
  td_status status = TD_OK;
  *mode = TD_accumulation_in_place;
  if (!td_tensor_same_sizes(*slot, gradient))
    status = td_error_set(error, TD_SHAPE, "gradients of different shapes meet in not_ready");
  else if ((was_copied && !*was_copied) || ((*slot)->sparse && !gradient->sparse))
    status = td_kernel_add(*slot, gradient, &sum, error);
  else
    td_kernel_add_into(*slot, gradient);
  if (sum) {
    *mode = TD_accumulation_out_of_place;
    td_tensor_unref(*slot);
    *slot = sum;
    if (was_copied) *was_copied = true;
  }
  td_tensor_unref(gradient);
  return status;
}

static td_status
put_into_buffer(td_input_slot *slot, td_tensor *gradient, bool *was_copied, td_accumulation *mode,
                td_error *error) {
  *mode = TD_accumulation_undefined;
  if (!gradient) return TD_OK;
  if (slot->tensor) return add(&slot->tensor, gradient, was_copied, mode, error);
  *mode = TD_accumulation_move;
  return keep(&slot->tensor, gradient, error);
}

/* A gradient on its way along one edge. */
typedef struct delivery {
  td_graph_task *graph_task;
  td_node *from;
  td_edge edge;
  td_node_entry *entry;
  counters *counters;
} delivery;

static td_status
add_to_buffer(delivery *self, td_tensor *gradient, td_error *error) {
  td_edge edge = self->edge;
  bool *was_copied = NULL;
  if (is_fifo()) {
    if (!self->counters->was_copied)
      self->counters->was_copied = TD_NEW_N(bool, edge.node->n_inputs);
    was_copied = &self->counters->was_copied[edge.input_nr];
  }
  td_accumulation mode;
  size_t n_bytes = gradient ? td_tensor_n_bytes(gradient) : 0;
  unsigned found = gradient ? td_anomaly_look(gradient) : 0;
  td_status status = put_into_buffer(&self->entry->buffer->slots[edge.input_nr], gradient,
                                     was_copied, &mode, error);
  if (!status)
    TD_EMIT(buffer_add, .node = td_node_id(edge.node), .graph_task = self->graph_task->handle.id,
            .input_nr = edge.input_nr, .from = td_node_id(self->from), .mode = mode,
            .bytes = (uint32_t)TD_MIN(n_bytes, (size_t)UINT32_MAX));
  if (found)
    td_anomaly_carry(self->from, edge.node, self->graph_task->handle.id, found, td_clock_now());
  return status;
}

/* Says what the scheduler cannot do with a node that is ready at its first gradient. */
static td_status
check_first(const delivery *self, td_error *error) {
  if (!is_fifo() && self->edge.input_nr != 0)
    return td_error_set(error, TD_ASSERTION,
                        "%s is ready with output %u alone: output_nr must be 0",
                        td_node_name(self->edge.node), self->edge.input_nr);
  if (is_fifo() && self->edge.node->n_inputs > 1)
    return td_error_set(error, TD_AUTOGRAD,
                        "one of the function outputs wasn't used - this is an error not, but "
                        "it's going to be fixed soon");
  return TD_OK;
}

static void
push(delivery *self) {
  td_graph_task *graph_task = self->graph_task;
  td_node *node = self->edge.node;
  TD_EMIT(buffer_ready, .node = td_node_id(node), .graph_task = graph_task->handle.id);
  td_node_task task = {.graph_task = td_graph_task_weak_ref(graph_task),
                       .node = td_node_ref(node),
                       .buffer = self->entry->buffer};
  self->entry->buffer = NULL;
  td_ready_queue_push(graph_task->cpu_ready_queue, task, TD_push_reason_ready);
}

static td_status
deliver(delivery *self, td_tensor *gradient, td_error *error) {
  td_node *node = self->edge.node;
  td_graph_task *graph_task = self->graph_task;
  free_use(self->counters, self->edge.input_nr, self->from);
  bool is_ready = self->counters->first == NULL, was_parked = self->entry->buffer != NULL;
  self->entry->has_dependencies = !is_ready;
  TD_EMIT(dependency_dec, .node = td_node_id(node), .graph_task = graph_task->handle.id,
          .left = --self->entry->dependencies, .by = td_node_id(self->from));
  td_status status = is_ready && !was_parked ? check_first(self, error) : TD_OK;
  if (status) {
    td_tensor_unref(gradient);
    return status;
  }
  if (!was_parked) {
    self->entry->buffer = td_input_buffer_new(node->n_inputs);
    TD_EMIT(buffer_new, .node = td_node_id(node), .graph_task = graph_task->handle.id);
  }
  status = add_to_buffer(self, gradient, error);
  if (status) return status;
  if (!is_ready && !was_parked)
    TD_EMIT(buffer_park, .node = td_node_id(node), .graph_task = graph_task->handle.id);
  graph_task->n_parked += !is_ready;
  graph_task->n_parked -= was_parked;
  if (is_ready) push(self);
  return TD_OK;
}

static td_status
scatter(td_graph_task *graph_task, td_node *node, td_tensor **outputs, td_error *error) {
  td_status status = TD_OK;
  for (uint32_t i = 0; i < node->n_outputs && !status; i++) {
    delivery self = {.graph_task = graph_task, .from = node, .edge = node->next_edges[i]};
    td_tensor *gradient = outputs[i];
    if (!self.edge.node) {
      if (gradient)
        status = td_error_set(error, TD_ASSERTION,
                              "%s returned a gradient for input %u, which does not require one",
                              td_node_name(node), i);
      continue;
    }
    outputs[i] = NULL;
    self.entry = td_node_table_find(&graph_task->nodes, self.edge.node);
    self.counters = counters_of(graph_task, self.edge.node);
    status = deliver(&self, gradient, error);
  }
  return status;
}

static const td_scheduler schedulers[] = {
    {.name = "2017",
     .order = TD_queue_order_lifo,
     .enter = enter,
     .leave = leave,
     .prepare = prepare,
     .free = free_uses,
     .scatter = scatter},
    {.name = "2017-fifo",
     .order = TD_queue_order_fifo,
     .enter = enter,
     .leave = leave,
     .prepare = prepare,
     .free = free_uses,
     .scatter = scatter},
};

const char *
td_scheduler_get(void) {
  return td_scheduler_now ? td_scheduler_now->name : "engine";
}

td_status
td_scheduler_set(const char *name, td_error *error) {
  const td_scheduler *wanted = NULL;
  for (size_t i = 0; i < TD_N_ELEMENTS(schedulers); i++)
    if (strcmp(name, schedulers[i].name) == 0) wanted = &schedulers[i];
  if (!wanted && strcmp(name, "engine"))
    return td_error_set(error, TD_INVALID, "scheduler '%s': must be engine, 2017 or 2017-fifo",
                        name);
  td_scheduler_now = wanted;
  return TD_OK;
}
