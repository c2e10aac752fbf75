/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What each kind of event tells of the unchanging side of a tape. */
#include "engine/base/alloc.h"
#include "engine/replay/catalog_builder.h"

#include <string.h>

static td_catalog_node *
node_of(td_catalog_builder *builder, uint32_t node) {
  td_catalog *catalog = builder->catalog;
  return &catalog->node_rows[td_catalog_node_row(catalog, node)];
}

static td_catalog_graph_task *
graph_task_of(td_catalog_builder *builder, uint32_t graph_task) {
  td_catalog *catalog = builder->catalog;
  return &catalog->graph_task_rows[td_catalog_graph_task_row(catalog, graph_task)];
}

/* The order of tasks was asked for with another number than the node's. */
static void
note_number(td_catalog_builder *builder, const td_catalog_node *node, uint64_t sequence_nr) {
  builder->late |= node->asked && node->sequence_nr != sequence_nr;
}

static void
note_pass(td_catalog_builder *builder, const td_catalog_graph_task *facts, uint32_t depth,
          uint32_t n_outputs) {
  builder->late |= facts->asked && (facts->depth != depth || facts->n_outputs != n_outputs);
}

static void
take_node_new(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_node_new *event = &any->node_new;
  if (event->node == TD_NONE) return;
  td_catalog_node *node = node_of(builder, event->node);
  note_number(builder, node, event->sequence_nr);
  const char *stack = td_tape_string(builder->tape, event->stack);
  *node = (td_catalog_node){.id = event->node,
                            .asked = node->asked,
                            .name = td_tape_string(builder->tape, event->name),
                            .label = node->label,
                            .module = node->module,
                            .module_class = node->module_class,
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
take_edge_new(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_edge_new *event = &any->edge_new;
  td_catalog *catalog = builder->catalog;
  if (event->from == TD_NONE || event->to == TD_NONE) return;
  TD_CATALOG_ADD(builder, catalog->edges, catalog->n_edges, builder->room.edges,
                 (td_catalog_edge){event->from, event->output_nr, event->to, event->input_nr});
}

static void
take_input_metadata(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_input_metadata *event = &any->input_metadata;
  td_catalog *catalog = builder->catalog;
  if (event->node == TD_NONE) return;
  TD_CATALOG_ADD(builder, catalog->metadata, catalog->n_metadata, builder->room.metadata,
                 (td_catalog_metadata){
                     event->node, event->input_nr, td_tape_string(builder->tape, event->shape),
                     td_tape_string(builder->tape, event->dtype), event->device, event->bytes});
}

static void
take_graph_task_begin(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_graph_task_begin *event = &any->graph_task_begin;
  if (event->graph_task == TD_NONE) return;
  td_catalog_graph_task *facts = graph_task_of(builder, event->graph_task);
  note_pass(builder, facts, event->depth, event->n_outputs);
  *facts = (td_catalog_graph_task){.id = event->graph_task,
                                   .asked = facts->asked,
                                   .outer = facts->outer,
                                   .caller = facts->caller,
                                   .depth = event->depth,
                                   .owner = event->owner,
                                   .root = event->root,
                                   .n_roots = event->n_roots,
                                   .n_outputs = event->n_outputs,
                                   .keep_graph = event->keep_graph,
                                   .create_graph = event->create_graph,
                                   .accumulate_grad = event->accumulate_grad,
                                   .number = td_catalog_n_passes_begun(builder->catalog),
                                   .begin_seq = builder->seq,
                                   .begin_ns = event->event.time,
                                   .end_seq = UINT64_MAX};
}

static void
take_pass_now(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_pass_now *event = &any->pass_now;
  if (event->graph_task == TD_NONE) return;
  uint32_t status = event->status ? event->status - 1 : (uint32_t)TD_task_status_running;
  td_catalog_graph_task *facts = graph_task_of(builder, event->graph_task);
  note_pass(builder, facts, event->depth, event->n_outputs);
  *facts = (td_catalog_graph_task){.id = event->graph_task,
                                   .asked = facts->asked,
                                   .outer = event->outer,
                                   .caller = event->caller,
                                   .depth = event->depth,
                                   .owner = event->owner,
                                   .root = event->root,
                                   .n_roots = event->n_roots,
                                   .n_outputs = event->n_outputs,
                                   .keep_graph = event->keep_graph,
                                   .create_graph = event->create_graph,
                                   .accumulate_grad = event->accumulate_grad,
                                   .begin_seq = TD_MIN(event->begin, builder->seq),
                                   .end_seq = event->end,
                                   .status = TD_MIN(status, (uint32_t)TD_task_status_error)};
}

/* PyTorch tells of the entry before or after the pass's own beginning. */
static void
take_reentrant_enter(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_reentrant_enter *event = &any->reentrant_enter;
  if (event->graph_task == TD_NONE) return;
  td_catalog_graph_task *facts = graph_task_of(builder, event->graph_task);
  facts->outer = event->outer;
  facts->caller = event->node;
}

static void
take_queue_new(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_queue_new *event = &any->queue_new;
  if (event->queue == TD_NONE) return;
  td_catalog_queue *queue = &builder->catalog->queues[event->queue];
  queue->device = event->device;
  queue->graph_task = event->graph_task;
  queue->owner = event->owner;
  td_queue_order order = (td_queue_order)TD_MIN(event->order, (uint32_t)TD_queue_order_lifo);
  builder->late |= queue->asked && queue->order != order;
  queue->order = order;
}

static void
take_queue_now(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_queue_now *event = &any->queue_now;
  if (event->queue == TD_NONE) return;
  td_catalog_queue *queue = &builder->catalog->queues[event->queue];
  queue->max_size = TD_MAX(queue->max_size, event->most);
}

static void
take_totals_now(td_catalog_builder *builder, const td_any_event *any) {
  builder->catalog->n_passes_before = any->totals_now.passes;
}

static void
take_stretch_now(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_stretch_now *event = &any->stretch_now;
  td_catalog *catalog = builder->catalog;
  if (catalog->n_stretches == TD_CATALOG_STRETCHES) return;
  TD_CATALOG_ADD(builder, catalog->stretches, catalog->n_stretches, builder->room.stretches,
                 (td_catalog_stretch){.end = builder->seq + 1,
                                      .end_ns = event->event.time,
                                      .busy_ns = event->busy_ns,
                                      .most = event->most});
}

/* A problem has one cause: the first counts. */
static void
take_cause_now(td_catalog_builder *builder, const td_any_event *any) {
  td_catalog *catalog = builder->catalog;
  uint32_t n = catalog->n_causes;
  bool is_told = n && catalog->causes[n - 1].seq == builder->seq;
  if (is_told || n == TD_CATALOG_CAUSES) return;
  TD_CATALOG_ADD(builder, catalog->causes, catalog->n_causes, builder->room.causes,
                 (td_catalog_cause){builder->seq, any->cause_now.cause});
}

/* A power of two: a tape with many processes tells of them one by one. */
static size_t
room_for(size_t n_processes) {
  size_t room = n_processes ? 8 : 0;
  while (room < n_processes)
    room *= 2;
  return room;
}

/* Processes are few and numbered from 0. */
void
td_catalog_know_process(td_catalog *catalog, uint32_t process) {
  if (process < catalog->n_processes) return;
  size_t room = room_for(process + (size_t)1);
  if (room > room_for(catalog->n_processes))
    catalog->processes = td_realloc(catalog->processes, room, sizeof *catalog->processes);
  while (catalog->n_processes <= process)
    catalog->processes[catalog->n_processes++] = (td_catalog_process){.name = "", .rank = -1};
}

/* A thread may be told twice, with a better name. A keyframe has both before the events of its
 * segment. So the newest counts, not the last that comes. */
static void
take_thread_new(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_thread_new *event = &any->thread_new;
  if (event->id == TD_NONE) return;
  td_catalog_thread *thread = &builder->catalog->threads[event->id];
  if (builder->seq < thread->told_seq) return;
  thread->told_seq = builder->seq;
  thread->name = td_tape_string(builder->tape, event->name);
  thread->device = event->device;
  if (event->process < TD_CATALOG_PROCESSES_MAX) thread->process = event->process;
  if (event->tid) thread->tid = event->tid;
}

static void
take_process_new(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_process_new *event = &any->process_new;
  td_catalog *catalog = builder->catalog;
  if (event->process >= TD_CATALOG_PROCESSES_MAX) return;
  td_catalog_know_process(catalog, event->process);
  catalog->processes[event->process] = (td_catalog_process){
      td_tape_string(builder->tape, event->name), event->pid, event->rank, event->clock_error_ns};
}

static void
take_node_begin(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_node_begin *event = &any->node_begin;
  td_catalog *catalog = builder->catalog;
  if (event->node == TD_NONE || event->graph_task == TD_NONE) return;
  TD_CATALOG_ADD(builder, builder->runs, catalog->n_ran, builder->room.runs,
                 (td_catalog_run){event->graph_task, event->node});
}

static void
take_ran_now(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_ran_now *event = &any->ran_now;
  td_catalog *catalog = builder->catalog;
  if (event->node == TD_NONE || event->graph_task == TD_NONE) return;
  TD_CATALOG_ADD(builder, builder->runs, catalog->n_ran, builder->room.runs,
                 (td_catalog_run){event->graph_task, event->node});
}

static void
take_device_new(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_device_new *event = &any->device_new;
  if (event->device < -1 || event->device >= TD_CATALOG_DEVICES_MAX) return;
  builder->device_seen[event->device + 1] = true;
  builder->device_names[event->device + 1] = event->name;
}

static void
take_session_begin(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_session_begin *event = &any->session_begin;
  td_catalog *catalog = builder->catalog;
  catalog->engine = td_tape_string(builder->tape, event->engine);
  catalog->version = td_tape_string(builder->tape, event->version);
  catalog->source = td_tape_string(builder->tape, event->source);
  catalog->policy = td_tape_string(builder->tape, event->policy);
}

/* A joined tape has the knowledge level of its least-observed process. */
static void
take_probe_level(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_probe_level *event = &any->probe_level;
  td_catalog *catalog = builder->catalog;
  if (event->level < catalog->probe_level) return;
  catalog->probe_level = event->level;
  catalog->probe_reason = td_tape_string(builder->tape, event->reason);
}

static void
take_stream_new(td_catalog_builder *builder, const td_any_event *any) {
  td_catalog *catalog = builder->catalog;
  TD_CATALOG_ADD(builder, catalog->streams, catalog->n_streams, builder->room.streams,
                 (td_catalog_stream){any->stream_new.device, any->stream_new.stream});
}

static void
take_setting(td_catalog_builder *builder, const td_any_event *any) {
  td_catalog *catalog = builder->catalog;
  TD_CATALOG_ADD(builder, catalog->settings, catalog->n_settings, builder->room.settings,
                 (td_catalog_setting){td_tape_string(builder->tape, any->setting.name),
                                      td_tape_string(builder->tape, any->setting.value)});
}

static void
take_recorder_stopped(td_catalog_builder *builder, const td_any_event *any) {
  uint32_t work = any->recorder_stopped.work;
  if (work < 32) builder->catalog->recorder_stopped |= UINT32_C(1) << work;
}

static void
take_node_sequence_nr(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_node_sequence_nr *event = &any->node_sequence_nr;
  if (event->node == TD_NONE) return;
  td_catalog_node *node = node_of(builder, event->node);
  note_number(builder, node, event->sequence_nr);
  node->sequence_nr = event->sequence_nr;
  node->renumbered = true;
}

static void
take_node_label(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_node_label *event = &any->node_label;
  if (event->node != TD_NONE)
    node_of(builder, event->node)->label = td_tape_string(builder->tape, event->label);
}

static void
take_node_module(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_node_module *event = &any->node_module;
  if (event->node == TD_NONE) return;
  td_catalog_node *node = node_of(builder, event->node);
  node->module = td_tape_string(builder->tape, event->module);
  node->module_class = td_tape_string(builder->tape, event->module_class);
  builder->catalog->has_modules |= *node->module != '\0';
}

static void
take_pool_thread_new(td_catalog_builder *builder, const td_any_event *any) {
  uint32_t thread = any->pool_thread_new.id;
  if (thread != TD_NONE) builder->catalog->threads[thread].in_pool = true;
}

static void
take_graph_task_end(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_graph_task_end *event = &any->graph_task_end;
  if (event->graph_task == TD_NONE) return;
  td_catalog_graph_task *facts = graph_task_of(builder, event->graph_task);
  facts->end_seq = builder->seq;
  facts->took_ns = event->event.time - facts->begin_ns;
  facts->status = event->status;
}

static void
take_step(td_catalog_builder *builder, const td_any_event *any) {
  td_catalog *catalog = builder->catalog;
  TD_CATALOG_ADD(builder, catalog->steps, catalog->n_steps, builder->room.steps,
                 (td_catalog_step){.seq = builder->seq,
                                   .iteration = any->step.iteration,
                                   .thread = any->event.thread});
}

static void
take_left_out(td_catalog_builder *builder, const td_any_event *any) {
  const td_event_left_out *event = &any->left_out;
  td_catalog *catalog = builder->catalog;
  TD_CATALOG_ADD(builder, catalog->left_out, catalog->n_left_out, builder->room.left_out,
                 (td_catalog_left_out){.first = event->first,
                                       .n_steps = event->steps,
                                       .n_passes = event->passes,
                                       .thread = any->event.thread,
                                       .chosen = td_tape_string(builder->tape, event->chosen)});
}

/* The kinds that events.def counts among the facts have a function here. */
static void (*const takers[TD_EVENT_LIMIT])(td_catalog_builder *builder,
                                            const td_any_event *any) = {
#define TAKE_facts(name) take_##name
#define TAKE_both(name) take_##name
#define TAKE_state(name) NULL
#define TAKE_neither(name) NULL
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
  [number] = TAKE_##replay(name),
#include "engine/events/events.def"
#undef TD_EVENT
};

static void
change_length(td_catalog_builder *builder, uint32_t queue, int change) {
  if (queue == TD_NONE) return;
  uint32_t *length = &builder->queue_lengths[queue];
  td_catalog_queue *facts = &builder->catalog->queues[queue];
  if (change > 0) ++*length;
  if (change < 0 && *length) --*length;
  facts->max_size = TD_MAX(facts->max_size, *length);
}

static void
add_mention(td_catalog_builder *builder, const td_event *event, const td_event_type *type) {
  td_catalog_mentions *list = &builder->catalog->mentions[type->list.list];
  uint32_t about = td_event_u32(event, type->list.about);
  TD_CATALOG_ADD(builder, list->items, list->n, builder->room.mentions[type->list.list],
                 (td_catalog_mention){builder->seq, about, event->kind});
}

static void
ask(td_catalog_builder *builder, uint32_t node, uint32_t graph_task, uint32_t queue) {
  if (node != TD_NONE) node_of(builder, node)->asked = true;
  if (graph_task != TD_NONE) graph_task_of(builder, graph_task)->asked = true;
  if (queue != TD_NONE) builder->catalog->queues[queue].asked = true;
}

/* What engine/replay/apply.h takes from the catalog for a task. */
static void
note_asked(td_catalog_builder *builder, const td_any_event *any) {
  switch (any->event.kind) {
  case TD_EVENT_dependency:
    ask(builder, TD_NONE, any->dependency.graph_task, TD_NONE);
    break;
  case TD_EVENT_queue_push:
    ask(builder, any->queue_push.node, any->queue_push.graph_task, any->queue_push.queue);
    break;
  case TD_EVENT_queue_pop:
    ask(builder, TD_NONE, any->queue_pop.graph_task, TD_NONE);
    break;
  case TD_EVENT_queue_wake:
    ask(builder, TD_NONE, any->queue_wake.graph_task, any->queue_wake.queue);
    break;
  case TD_EVENT_queue_shutdown:
    ask(builder, TD_NONE, TD_NONE, any->queue_shutdown.queue);
    break;
  case TD_EVENT_entry_now:
    ask(builder, any->entry_now.node, any->entry_now.graph_task, any->entry_now.queue);
    break;
  default:
    break;
  }
}

void
td_catalog_take(td_catalog_builder *builder, const td_any_event *any) {
  const td_event *event = &any->event;
  const td_event_type *type = td_event_type_get(event->kind);
  builder->catalog->n_by_kind[event->kind]++;
  if (takers[event->kind]) takers[event->kind](builder, any);
  note_asked(builder, any);
  if (type->list.list) add_mention(builder, event, type);
  if (type->queue.change)
    change_length(builder, td_event_u32(event, type->queue.queue), type->queue.change);
}
