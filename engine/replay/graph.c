/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/graph.h"

#include "engine/base/alloc.h"
#include "engine/replay/slices.h"

#include <stdlib.h>
#include <string.h>

/* A recording may begin late in a process that has numbered nodes before. */
#define EARLIER_IDS (1u << 20)
#define DEVICES_MAX 1024

/* The tables that grow with the ids met, and which of them an id field belongs to. */
typedef enum table { NODES, THREADS, QUEUES, GRAPH_TASKS, N_TABLES } table;

typedef struct id_field {
  uint16_t offset;
  uint16_t table;
} id_field;

typedef struct id_fields {
  uint32_t n;
  id_field fields[8];
} id_fields;

typedef struct builder {
  td_tape *tape;
  td_graph *graph;
  td_error *error;
  uint64_t seq, limit; /* ids stay below limit */
  uint32_t capacity[N_TABLES];
  uint32_t *queue_lengths;                /* now, by queue */
  uint32_t device_names[DEVICES_MAX + 1]; /* string numbers by device + 1 */
  bool device_seen[DEVICES_MAX + 1];
  id_fields id_fields[TD_EVENT_LIMIT];
} builder;

static int
table_of(td_field_type type) {
  switch (type) {
  case TD_FIELD_NODE:
    return NODES;
  case TD_FIELD_THREAD:
    return THREADS;
  case TD_FIELD_QUEUE:
    return QUEUES;
  case TD_FIELD_GRAPH_TASK:
    return GRAPH_TASKS;
  default:
    return -1;
  }
}

static void
find_id_fields(builder *builder) {
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    id_fields *found = &builder->id_fields[kind];
    for (uint16_t i = 0; type && i < type->n_fields; i++) {
      int table = table_of(type->fields[i].type);
      if (table >= 0 && found->n < TD_N_ELEMENTS(found->fields))
        found->fields[found->n++] = (id_field){type->fields[i].offset, (uint16_t)table};
    }
  }
}

static void
fill_node(td_graph *graph, uint32_t i) {
  graph->nodes[i] = (td_graph_node){
      .name = "", .device = TD_DEVICE_CPU, .thread = TD_NONE, .created_seq = UINT64_MAX};
}

static void
fill_thread(td_graph *graph, uint32_t i) {
  graph->threads[i] = (td_graph_thread){.name = "", .device = TD_DEVICE_CPU};
}

static void
fill_queue(td_graph *graph, uint32_t i) {
  graph->queues[i] =
      (td_graph_queue){.device = TD_DEVICE_CPU, .graph_task = TD_NONE, .owner = TD_NONE};
}

static void
fill_graph_task(td_graph *graph, uint32_t i) {
  graph->graph_tasks[i] =
      (td_graph_task_facts){.owner = TD_NONE, .root = TD_NONE, .end_seq = UINT64_MAX};
}

static const struct {
  size_t array, n, size; /* offsets in td_graph of the pointer and the count; size of an element */
  void (*fill)(td_graph *graph, uint32_t i);
} tables[N_TABLES] = {
    [NODES] = {offsetof(td_graph, nodes), offsetof(td_graph, n_nodes), sizeof(td_graph_node),
               fill_node},
    [THREADS] = {offsetof(td_graph, threads), offsetof(td_graph, n_threads),
                 sizeof(td_graph_thread), fill_thread},
    [QUEUES] = {offsetof(td_graph, queues), offsetof(td_graph, n_queues), sizeof(td_graph_queue),
                fill_queue},
    [GRAPH_TASKS] = {offsetof(td_graph, graph_tasks), offsetof(td_graph, n_graph_tasks),
                     sizeof(td_graph_task_facts), fill_graph_task},
};

static uint32_t *
table_count(td_graph *graph, table which) {
  return (uint32_t *)(void *)((char *)graph + tables[which].n);
}

static bool
resize(void **array, uint32_t n, size_t size) {
  void *larger = realloc(*array, (size_t)n * size);
  if (larger) *array = larger;
  return larger != NULL;
}

static bool
reserve(builder *builder, table which, uint32_t n) {
  if (n <= builder->capacity[which]) return true;
  uint64_t doubled = 2 * (uint64_t)builder->capacity[which];
  uint32_t capacity = (uint32_t)TD_MIN(TD_MAX(TD_MAX(doubled, n), 16), UINT32_MAX);
  void **array = (void **)(void *)((char *)builder->graph + tables[which].array);
  if (!resize(array, capacity, tables[which].size)) return false;
  if (which == QUEUES) {
    if (!resize((void **)&builder->queue_lengths, capacity, sizeof(uint32_t))) return false;
    memset(builder->queue_lengths + builder->capacity[which], 0,
           (capacity - builder->capacity[which]) * sizeof(uint32_t));
  }
  builder->capacity[which] = capacity;
  return true;
}

static td_status
declare(builder *builder, table which, uint32_t id) {
  uint32_t *n = table_count(builder->graph, which);
  if (id < *n || id == TD_NONE) return TD_OK;
  if (id >= builder->limit)
    return td_error_set(builder->error, TD_DAMAGED, "event %llu names an impossible id, %u",
                        (unsigned long long)builder->seq, id);
  if (!reserve(builder, which, id + 1))
    return td_error_set(builder->error, TD_OUT_OF_MEMORY, "no memory for id %u", id);
  while (*n <= id)
    tables[which].fill(builder->graph, (*n)++);
  return TD_OK;
}

static td_status
declare_ids(builder *builder, const td_any_event *event) {
  const id_fields *ids = &builder->id_fields[event->event.kind];
  td_status status = declare(builder, THREADS, event->event.thread);
  for (uint32_t i = 0; i < ids->n && status == TD_OK; i++) {
    uint32_t id;
    memcpy(&id, (const char *)event + ids->fields[i].offset, sizeof id);
    status = declare(builder, (table)ids->fields[i].table, id);
  }
  return status;
}

static void
add_node(builder *builder, const td_event_node_new *event) {
  if (event->node == TD_NONE) return;
  td_graph_node *node = &builder->graph->nodes[event->node];
  const char *stack = td_tape_string(builder->tape, event->stack);
  *node = (td_graph_node){.name = td_tape_string(builder->tape, event->name),
                          .label = node->label,
                          .stack = *stack ? stack : NULL,
                          .sequence_nr = event->sequence_nr,
                          .topological_nr = event->topological_nr,
                          .device = event->device,
                          .stream = event->stream,
                          .n_inputs = event->n_inputs,
                          .n_outputs = event->n_outputs,
                          .thread = event->event.thread,
                          .created_seq = builder->seq};
}

static void
add_edge(builder *builder, const td_event_edge_new *event) {
  td_graph *graph = builder->graph;
  if (event->from == TD_NONE || event->to == TD_NONE) return;
  graph->edges[graph->n_edges++] =
      (td_graph_edge){event->from, event->output_nr, event->to, event->input_nr};
}

static void
add_metadata(builder *builder, const td_event_input_metadata *event) {
  td_graph *graph = builder->graph;
  if (event->node == TD_NONE) return;
  graph->metadata[graph->n_metadata++] =
      (td_graph_metadata){event->node,
                          event->input_nr,
                          td_tape_string(builder->tape, event->shape),
                          td_tape_string(builder->tape, event->dtype),
                          event->device,
                          event->bytes};
}

static void
add_graph_task(builder *builder, const td_event_graph_task_begin *event) {
  if (event->graph_task == TD_NONE) return;
  builder->graph->graph_tasks[event->graph_task] =
      (td_graph_task_facts){.depth = event->depth,
                            .owner = event->owner,
                            .root = event->root,
                            .n_roots = event->n_roots,
                            .n_outputs = event->n_outputs,
                            .keep_graph = event->keep_graph,
                            .create_graph = event->create_graph,
                            .accumulate_grad = event->accumulate_grad,
                            .begin_seq = builder->seq,
                            .end_seq = UINT64_MAX};
}

static void
add_queue(builder *builder, const td_event_queue_new *event) {
  if (event->queue == TD_NONE) return;
  td_graph_queue *queue = &builder->graph->queues[event->queue];
  queue->device = event->device;
  queue->graph_task = event->graph_task;
  queue->owner = event->owner;
  queue->order = (td_queue_order)TD_MIN(event->order, (uint32_t)TD_queue_order_lifo);
}

static void
lengthen(builder *builder, uint32_t queue) {
  if (queue == TD_NONE) return;
  uint32_t length = ++builder->queue_lengths[queue];
  uint32_t *max = &builder->graph->queues[queue].max_size;
  *max = TD_MAX(*max, length);
}

static void
shorten(builder *builder, uint32_t queue) {
  if (queue != TD_NONE && builder->queue_lengths[queue]) builder->queue_lengths[queue]--;
}

static void
add_thread(builder *builder, const td_event_thread_new *event) {
  if (event->id != TD_NONE)
    builder->graph->threads[event->id] =
        (td_graph_thread){td_tape_string(builder->tape, event->name), event->device};
}

static void
add_device(builder *builder, const td_event_device_new *event) {
  if (event->device < -1 || event->device >= DEVICES_MAX) return;
  builder->device_seen[event->device + 1] = true;
  builder->device_names[event->device + 1] = event->name;
}

static void
add_session(builder *builder, const td_event_session_begin *event) {
  td_graph *graph = builder->graph;
  graph->engine = td_tape_string(builder->tape, event->engine);
  graph->version = td_tape_string(builder->tape, event->version);
  graph->source = td_tape_string(builder->tape, event->source);
  graph->policy = td_tape_string(builder->tape, event->policy);
}

static void
collect_event(builder *builder, const td_any_event *event) {
  td_graph *graph = builder->graph;
  switch (event->event.kind) {
  case TD_EVENT_session_begin:
    add_session(builder, &event->session_begin);
    break;
  case TD_EVENT_probe_level:
    graph->probe_level = event->probe_level.level;
    break;
  case TD_EVENT_device_new:
    add_device(builder, &event->device_new);
    break;
  case TD_EVENT_node_new:
    add_node(builder, &event->node_new);
    break;
  case TD_EVENT_edge_new:
    add_edge(builder, &event->edge_new);
    break;
  case TD_EVENT_input_metadata:
    add_metadata(builder, &event->input_metadata);
    break;
  case TD_EVENT_node_label:
    if (event->node_label.node != TD_NONE)
      graph->nodes[event->node_label.node].label =
          td_tape_string(builder->tape, event->node_label.label);
    break;
  case TD_EVENT_graph_task_begin:
    add_graph_task(builder, &event->graph_task_begin);
    break;
  case TD_EVENT_graph_task_end:
    if (event->graph_task_end.graph_task != TD_NONE)
      graph->graph_tasks[event->graph_task_end.graph_task].end_seq = builder->seq;
    break;
  case TD_EVENT_queue_new:
    add_queue(builder, &event->queue_new);
    break;
  case TD_EVENT_queue_push:
    lengthen(builder, event->queue_push.queue);
    break;
  case TD_EVENT_queue_wake:
    lengthen(builder, event->queue_wake.queue);
    break;
  case TD_EVENT_queue_shutdown:
    lengthen(builder, event->queue_shutdown.queue);
    break;
  case TD_EVENT_queue_pop:
    shorten(builder, event->queue_pop.queue);
    break;
  case TD_EVENT_thread_new:
    add_thread(builder, &event->thread_new);
    break;
  default:
    break;
  }
}

static bool
collect_devices(builder *builder) {
  td_graph *graph = builder->graph;
  graph->devices = td_try_alloc(DEVICES_MAX + 1, sizeof *graph->devices);
  if (!graph->devices) return false;
  for (int32_t device = -1; device < DEVICES_MAX; device++)
    if (builder->device_seen[device + 1])
      graph->devices[graph->n_devices++] = (td_graph_device){
          device, td_tape_string(builder->tape, builder->device_names[device + 1])};
  return true;
}

static td_status
collect(builder *builder) {
  const td_tape_info *info = td_tape_info_get(builder->tape);
  td_graph *graph = builder->graph;
  graph->engine = graph->version = graph->source = graph->policy = "";
  graph->edges = td_try_alloc(info->n_by_kind[TD_EVENT_edge_new], sizeof *graph->edges);
  graph->metadata = td_try_alloc(info->n_by_kind[TD_EVENT_input_metadata], sizeof *graph->metadata);
  bool reserved = graph->edges && graph->metadata;
  for (table which = 0; which < N_TABLES; which++)
    reserved = reserved && reserve(builder, which, 1);
  td_status status = TD_OK;
  for (; builder->seq < info->n_events && reserved && status == TD_OK; builder->seq++) {
    const td_any_event *event = td_tape_peek(builder->tape, builder->seq);
    if (!event) continue;
    status = declare_ids(builder, event);
    if (status == TD_OK) collect_event(builder, event);
  }
  if (status != TD_OK) return status;
  for (uint32_t i = 0; i < graph->n_graph_tasks; i++)
    graph->graph_tasks[i].end_seq = TD_MIN(graph->graph_tasks[i].end_seq, info->n_events);
  if (!reserved || !collect_devices(builder) || !td_graph_slice(graph))
    return td_error_set(builder->error, TD_OUT_OF_MEMORY, "no memory for the graph");
  return TD_OK;
}

td_status
td_graph_collect(td_tape *tape, td_graph **graph, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  builder *state = TD_NEW(builder);
  state->tape = tape;
  state->error = error;
  state->graph = TD_NEW(td_graph);
  state->limit = TD_MIN(info->n_events + info->n_dropped + EARLIER_IDS, TD_NONE);
  find_id_fields(state);
  td_status status = collect(state);
  if (status == TD_OK)
    *graph = state->graph;
  else
    td_graph_free(state->graph);
  free(state->queue_lengths);
  free(state);
  return status;
}

void
td_graph_free(td_graph *graph) {
  if (!graph) return;
  free(graph->nodes);
  free(graph->edges);
  free(graph->in_edges);
  free(graph->metadata);
  free(graph->threads);
  free(graph->queues);
  free(graph->graph_tasks);
  free(graph->devices);
  free(graph);
}

const char *
td_graph_device_name(const td_graph *graph, int32_t device) {
  for (uint32_t i = 0; i < graph->n_devices; i++)
    if (graph->devices[i].device == device && *graph->devices[i].name)
      return graph->devices[i].name;
  return device == TD_DEVICE_CPU ? "cpu" : "unknown";
}
