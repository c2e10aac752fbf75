/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What each kind of event tells of the unchanging side of a tape. */
#include "engine/base/alloc.h"
#include "engine/replay/graph_builder.h"

#include <string.h>

static void
add_node(td_graph_builder *builder, const td_event_node_new *event) {
  if (event->node == TD_NONE) return;
  td_graph_node *node = &builder->graph->nodes[event->node];
  const char *stack = td_tape_string(builder->tape, event->stack);
  *node = (td_graph_node){.name = td_tape_string(builder->tape, event->name),
                          .label = node->label,
                          .module = node->module,
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
add_edge(td_graph_builder *builder, const td_event_edge_new *event) {
  td_graph *graph = builder->graph;
  if (event->from == TD_NONE || event->to == TD_NONE) return;
  graph->edges[graph->n_edges++] =
      (td_graph_edge){event->from, event->output_nr, event->to, event->input_nr};
}

static void
add_metadata(td_graph_builder *builder, const td_event_input_metadata *event) {
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
add_graph_task(td_graph_builder *builder, const td_event_graph_task_begin *event) {
  if (event->graph_task == TD_NONE) return;
  td_graph_task_facts *facts = &builder->graph->graph_tasks[event->graph_task];
  *facts = (td_graph_task_facts){.outer = facts->outer,
                                 .caller = facts->caller,
                                 .depth = event->depth,
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

/* PyTorch tells of the entry before or after the pass's own beginning. */
static void
add_nesting(td_graph_builder *builder, const td_event_reentrant_enter *event) {
  if (event->graph_task == TD_NONE) return;
  td_graph_task_facts *facts = &builder->graph->graph_tasks[event->graph_task];
  facts->outer = event->outer;
  facts->caller = event->node;
}

static void
add_queue(td_graph_builder *builder, const td_event_queue_new *event) {
  if (event->queue == TD_NONE) return;
  td_graph_queue *queue = &builder->graph->queues[event->queue];
  queue->device = event->device;
  queue->graph_task = event->graph_task;
  queue->owner = event->owner;
  queue->order = (td_queue_order)TD_MIN(event->order, (uint32_t)TD_queue_order_lifo);
}

static void
lengthen(td_graph_builder *builder, uint32_t queue) {
  if (queue == TD_NONE) return;
  uint32_t length = ++builder->queue_lengths[queue];
  uint32_t *max = &builder->graph->queues[queue].max_size;
  *max = TD_MAX(*max, length);
}

static void
shorten(td_graph_builder *builder, uint32_t queue) {
  if (queue != TD_NONE && builder->queue_lengths[queue]) builder->queue_lengths[queue]--;
}

/* Processes are few and numbered from 0. */
void
td_graph_know_process(td_graph *graph, uint32_t process) {
  if (process < graph->n_processes) return;
  graph->processes = td_realloc(graph->processes, process + 1u, sizeof *graph->processes);
  while (graph->n_processes <= process)
    graph->processes[graph->n_processes++] = (td_graph_process){.name = "", .rank = -1};
}

static void
add_thread(td_graph_builder *builder, const td_event_thread_new *event) {
  if (event->id == TD_NONE) return;
  td_graph_thread *thread = &builder->graph->threads[event->id];
  thread->name = td_tape_string(builder->tape, event->name);
  thread->device = event->device;
  if (event->process < TD_GRAPH_PROCESSES_MAX) thread->process = event->process;
}

static void
add_process(td_graph_builder *builder, const td_event_process_new *event) {
  td_graph *graph = builder->graph;
  if (event->process >= TD_GRAPH_PROCESSES_MAX) return;
  td_graph_know_process(graph, event->process);
  graph->processes[event->process] = (td_graph_process){
      td_tape_string(builder->tape, event->name), event->pid, event->rank, event->clock_error_ns};
}

static void
add_run(td_graph_builder *builder, const td_event_node_begin *event) {
  td_graph *graph = builder->graph;
  if (event->node == TD_NONE || event->graph_task == TD_NONE) return;
  builder->runs[graph->n_ran++] = (td_graph_run){event->graph_task, event->node};
}

static void
add_device(td_graph_builder *builder, const td_event_device_new *event) {
  if (event->device < -1 || event->device >= TD_GRAPH_DEVICES_MAX) return;
  builder->device_seen[event->device + 1] = true;
  builder->device_names[event->device + 1] = event->name;
}

static void
add_session(td_graph_builder *builder, const td_event_session_begin *event) {
  td_graph *graph = builder->graph;
  graph->engine = td_tape_string(builder->tape, event->engine);
  graph->version = td_tape_string(builder->tape, event->version);
  graph->source = td_tape_string(builder->tape, event->source);
  graph->policy = td_tape_string(builder->tape, event->policy);
}

/* The events of the lists, each with the field that says what it is about. */
static const struct {
  td_event_kind kind;
  td_mention_list list;
  size_t about;
} mentioned[] = {
    {TD_EVENT_anomaly, TD_MENTION_PROBLEMS, offsetof(td_event_anomaly, node)},
    {TD_EVENT_error, TD_MENTION_PROBLEMS, offsetof(td_event_error, node)},
    {TD_EVENT_warning, TD_MENTION_PROBLEMS, offsetof(td_event_warning, node)},
    {TD_EVENT_version_conflict, TD_MENTION_PROBLEMS, offsetof(td_event_version_conflict, node)},
    {TD_EVENT_stream_conflict, TD_MENTION_PROBLEMS, offsetof(td_event_stream_conflict, second)},
    {TD_EVENT_breakpoint_hit, TD_MENTION_PROBLEMS, offsetof(td_event_breakpoint_hit, node)},
    {TD_EVENT_tensor_stats, TD_MENTION_STATS, offsetof(td_event_tensor_stats, node)},
    {TD_EVENT_saved_tensor, TD_MENTION_SAVED, offsetof(td_event_saved_tensor, node)},
    {TD_EVENT_hook_begin, TD_MENTION_HOOKS, offsetof(td_event_hook_begin, node)},
    {TD_EVENT_tensor_write, TD_MENTION_WRITES, offsetof(td_event_tensor_write, counter)},
};

size_t
td_graph_count_mentions(const td_tape_info *info, td_mention_list list) {
  size_t n = 0;
  for (size_t i = 0; i < TD_N_ELEMENTS(mentioned); i++)
    if (mentioned[i].list == list) n += info->n_by_kind[mentioned[i].kind];
  return n;
}

static void
add_mention(td_graph_builder *builder, const td_any_event *event) {
  for (size_t i = 0; i < TD_N_ELEMENTS(mentioned); i++) {
    if (mentioned[i].kind != event->event.kind) continue;
    td_graph_mentions *list = &builder->graph->mentions[mentioned[i].list];
    uint32_t about;
    memcpy(&about, (const char *)event + mentioned[i].about, sizeof about);
    list->items[list->n++] = (td_graph_mention){builder->seq, about, event->event.kind};
  }
}

/* Where processes differ, what is known of the one known worst is known of the tape. */
static void
set_level(td_graph_builder *builder, const td_event_probe_level *event) {
  td_graph *graph = builder->graph;
  if (event->level < graph->probe_level) return;
  graph->probe_level = event->level;
  graph->probe_reason = td_tape_string(builder->tape, event->reason);
}

void
td_graph_take(td_graph_builder *builder, const td_any_event *event) {
  td_graph *graph = builder->graph;
  switch (event->event.kind) {
  case TD_EVENT_session_begin:
    add_session(builder, &event->session_begin);
    break;
  case TD_EVENT_probe_level:
    set_level(builder, &event->probe_level);
    break;
  case TD_EVENT_process_new:
    add_process(builder, &event->process_new);
    break;
  case TD_EVENT_stream_new:
    graph->streams[graph->n_streams++] =
        (td_graph_stream){event->stream_new.device, event->stream_new.stream};
    break;
  case TD_EVENT_setting:
    graph->settings[graph->n_settings++] =
        (td_graph_setting){td_tape_string(builder->tape, event->setting.name),
                           td_tape_string(builder->tape, event->setting.value)};
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
  case TD_EVENT_node_sequence_nr:
    if (event->node_sequence_nr.node != TD_NONE)
      graph->nodes[event->node_sequence_nr.node].sequence_nr = event->node_sequence_nr.sequence_nr;
    break;
  case TD_EVENT_node_label:
    if (event->node_label.node != TD_NONE)
      graph->nodes[event->node_label.node].label =
          td_tape_string(builder->tape, event->node_label.label);
    break;
  case TD_EVENT_node_module:
    if (event->node_module.node != TD_NONE)
      graph->nodes[event->node_module.node].module =
          td_tape_string(builder->tape, event->node_module.module);
    break;
  case TD_EVENT_node_begin:
    add_run(builder, &event->node_begin);
    break;
  case TD_EVENT_pool_thread_new:
    if (event->pool_thread_new.id != TD_NONE)
      graph->threads[event->pool_thread_new.id].in_pool = true;
    break;
  case TD_EVENT_graph_task_begin:
    add_graph_task(builder, &event->graph_task_begin);
    break;
  case TD_EVENT_graph_task_end:
    if (event->graph_task_end.graph_task != TD_NONE)
      graph->graph_tasks[event->graph_task_end.graph_task].end_seq = builder->seq;
    break;
  case TD_EVENT_reentrant_enter:
    add_nesting(builder, &event->reentrant_enter);
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
  case TD_EVENT_step:
    graph->steps[graph->n_steps++] = builder->seq;
    break;
  case TD_EVENT_anomaly:
  case TD_EVENT_error:
  case TD_EVENT_warning:
  case TD_EVENT_version_conflict:
  case TD_EVENT_stream_conflict:
  case TD_EVENT_breakpoint_hit:
  case TD_EVENT_tensor_stats:
  case TD_EVENT_saved_tensor:
  case TD_EVENT_hook_begin:
  case TD_EVENT_tensor_write:
    add_mention(builder, event);
    break;
  default:
    break;
  }
}
