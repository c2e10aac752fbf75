/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/graph.h"

#include "engine/base/alloc.h"
#include "engine/replay/graph_builder.h"

#include <stdlib.h>
#include <string.h>

/* A recording may begin late in a process that has numbered nodes before. */
#define EARLIER_IDS (1u << 20)

static int
table_of(td_id_space space) {
  switch (space) {
  case TD_ID_NODE:
    return NODES;
  case TD_ID_THREAD:
    return THREADS;
  case TD_ID_QUEUE:
    return QUEUES;
  case TD_ID_GRAPH_TASK:
    return GRAPH_TASKS;
  default:
    return -1;
  }
}

static void
find_id_fields(td_graph_builder *builder) {
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    id_fields *found = &builder->id_fields[kind];
    for (uint16_t i = 0; type && i < type->n_fields; i++) {
      int table = table_of(type->fields[i].space);
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
  graph->graph_tasks[i] = (td_graph_task_facts){.owner = TD_NONE,
                                                .root = TD_NONE,
                                                .outer = TD_NONE,
                                                .caller = TD_NONE,
                                                .end_seq = UINT64_MAX};
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
reserve(td_graph_builder *builder, table which, uint32_t n) {
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
declare(td_graph_builder *builder, table which, uint32_t id) {
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
declare_ids(td_graph_builder *builder, const td_any_event *event) {
  const id_fields *ids = &builder->id_fields[event->event.kind];
  td_status status = declare(builder, THREADS, event->event.thread);
  for (uint32_t i = 0; i < ids->n && status == TD_OK; i++) {
    uint32_t id;
    memcpy(&id, (const char *)event + ids->fields[i].offset, sizeof id);
    status = declare(builder, (table)ids->fields[i].table, id);
  }
  return status;
}

static bool
collect_devices(td_graph_builder *builder) {
  td_graph *graph = builder->graph;
  graph->devices = td_try_alloc(TD_GRAPH_DEVICES_MAX + 1, sizeof *graph->devices);
  if (!graph->devices) return false;
  for (int32_t device = -1; device < TD_GRAPH_DEVICES_MAX; device++)
    if (builder->device_seen[device + 1])
      graph->devices[graph->n_devices++] = (td_graph_device){
          device, td_tape_string(builder->tape, builder->device_names[device + 1])};
  return true;
}

/* Room for every event of each list. */
static bool
reserve_mentions(td_graph_builder *builder) {
  const td_tape_info *info = td_tape_info_get(builder->tape);
  size_t n[TD_N_LISTS] = {0};
  for (uint32_t kind = 1; kind < TD_EVENT_LIMIT; kind++)
    if (info->n_by_kind[kind]) n[td_event_type_get(kind)->list.list] += info->n_by_kind[kind];
  for (int list = TD_LIST_none + 1; list < TD_N_LISTS; list++) {
    td_graph_mentions *mentions = &builder->graph->mentions[list];
    mentions->items = td_try_alloc(n[list], sizeof *mentions->items);
    if (!mentions->items) return false;
  }
  return true;
}

static int
compare_mentions(const void *a, const void *b) {
  const td_graph_mention *left = a, *right = b;
  if (left->node != right->node) return left->node < right->node ? -1 : 1;
  return (left->seq > right->seq) - (left->seq < right->seq);
}

static td_status
collect(td_graph_builder *builder) {
  const td_tape_info *info = td_tape_info_get(builder->tape);
  td_graph *graph = builder->graph;
  graph->engine = graph->version = graph->source = graph->policy = graph->probe_reason = "";
  graph->edges = td_try_alloc(info->n_by_kind[TD_EVENT_edge_new], sizeof *graph->edges);
  graph->metadata = td_try_alloc(info->n_by_kind[TD_EVENT_input_metadata], sizeof *graph->metadata);
  builder->runs = td_try_alloc(info->n_by_kind[TD_EVENT_node_begin], sizeof *builder->runs);
  graph->steps = td_try_alloc(info->n_by_kind[TD_EVENT_step], sizeof *graph->steps);
  graph->settings = td_try_alloc(info->n_by_kind[TD_EVENT_setting], sizeof *graph->settings);
  graph->streams = td_try_alloc(info->n_by_kind[TD_EVENT_stream_new], sizeof *graph->streams);
  bool reserved = graph->settings && graph->streams && graph->edges && graph->metadata &&
                  builder->runs && graph->steps && reserve_mentions(builder);
  for (table which = 0; which < N_TABLES; which++)
    reserved = reserved && reserve(builder, which, 1);
  td_status status = TD_OK;
  for (; builder->seq < info->n_events && reserved && status == TD_OK; builder->seq++) {
    const td_any_event *event = td_tape_peek(builder->tape, builder->seq);
    if (!event) continue;
    status = declare_ids(builder, event);
    if (status == TD_OK) td_graph_take(builder, event);
  }
  if (status != TD_OK) return status;
  for (uint32_t i = 0; i < graph->n_graph_tasks; i++)
    graph->graph_tasks[i].end_seq = TD_MIN(graph->graph_tasks[i].end_seq, info->n_events);
  td_graph_know_process(graph, 0);
  for (int list = TD_LIST_problems + 1; list < TD_N_LISTS; list++)
    qsort(graph->mentions[list].items, graph->mentions[list].n, sizeof *graph->mentions[list].items,
          compare_mentions);
  for (uint32_t i = 0; i < graph->n_threads; i++)
    td_graph_know_process(graph, graph->threads[i].process);
  if (!reserved || !collect_devices(builder) || !td_graph_slice(graph, builder->runs))
    return td_error_set(builder->error, TD_OUT_OF_MEMORY, "no memory for the graph");
  return TD_OK;
}

td_status
td_graph_collect(td_tape *tape, td_graph **graph, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  td_graph_builder *state = TD_NEW(td_graph_builder);
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
  free(state->runs);
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
  free(graph->processes);
  free(graph->ran);
  free(graph->steps);
  free(graph->settings);
  free(graph->streams);
  for (int list = 0; list < TD_N_LISTS; list++)
    free(graph->mentions[list].items);
  free(graph);
}

const char *
td_graph_device_name(const td_graph *graph, int32_t device) {
  for (uint32_t i = 0; i < graph->n_devices; i++)
    if (graph->devices[i].device == device && *graph->devices[i].name)
      return graph->devices[i].name;
  return device == TD_DEVICE_CPU ? "cpu" : device == TD_DEVICE_META ? "meta" : "unknown";
}

char *
td_graph_process_label(const td_graph *graph, uint32_t process) {
  const td_graph_process *facts = process < graph->n_processes ? &graph->processes[process] : NULL;
  if (facts && facts->rank >= 0) return td_format("rank %d", (int)facts->rank);
  if (facts && *facts->name && facts->pid) return td_format("%s (%u)", facts->name, facts->pid);
  if (facts && *facts->name) return td_dup_string(facts->name);
  return td_format("process %u", process);
}

char *
td_graph_thread_label(const td_graph *graph, uint32_t thread) {
  const td_graph_thread *facts = thread < graph->n_threads ? &graph->threads[thread] : NULL;
  char *name = facts && *facts->name ? td_dup_string(facts->name) : td_format("thread %u", thread);
  if (!facts || graph->n_processes < 2) return name;
  char *process = td_graph_process_label(graph, facts->process);
  char *label = td_format("%s · %s", process, name);
  free(process);
  free(name);
  return label;
}

static uint32_t
process_of(const td_graph *graph, uint32_t thread) {
  return thread < graph->n_threads ? graph->threads[thread].process : 0;
}

uint32_t
td_graph_process_of_task(const td_graph *graph, uint32_t graph_task) {
  return graph_task < graph->n_graph_tasks ? process_of(graph, graph->graph_tasks[graph_task].owner)
                                           : 0;
}

uint32_t
td_graph_process_of_queue(const td_graph *graph, uint32_t queue) {
  return queue < graph->n_queues ? process_of(graph, graph->queues[queue].owner) : 0;
}

const td_graph_mention *
td_graph_mentions_of(const td_graph *graph, td_event_list list, uint32_t node, uint32_t *n) {
  const td_graph_mentions *mentions = &graph->mentions[list];
  uint32_t low = 0, high = mentions->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (mentions->items[middle].node < node)
      low = middle + 1;
    else
      high = middle;
  }
  for (*n = 0; low + *n < mentions->n && mentions->items[low + *n].node == node;)
    (*n)++;
  return &mentions->items[low];
}

const td_graph_metadata *
td_graph_metadata_find(const td_graph *graph, const td_graph_node *node, uint32_t input_nr) {
  for (uint32_t i = 0; i < node->n_metadata; i++) {
    const td_graph_metadata *metadata = &graph->metadata[node->first_metadata + i];
    if (metadata->input_nr == input_nr) return metadata;
  }
  return NULL;
}
