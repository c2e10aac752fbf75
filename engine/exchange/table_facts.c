/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/table_facts.h"

#include "engine/base/alloc.h"
#include "engine/profile/source_place.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the tape, and these tables ---- */

static void
give_fact(const td_table_facts *self, const char *key, const char *value) {
  TD_ROW(self->sink, tape, .key = td_cell_text(key), .value = td_cell_text(value));
}

static void
give_number(const td_table_facts *self, const char *key, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  give_fact(self, key, text);
}

static void
give_columns(const td_table_facts *self) {
  for (int i = 0; i < TD_N_TABLES; i++) {
    const td_table_info *table = td_table_get((td_table)i);
    for (uint32_t c = 0; c < table->n_columns; c++)
      TD_ROW(self->sink, columns, .table_name = td_cell_text(table->name),
             .column_name = td_cell_text(table->columns[c].name),
             .summary = td_cell_text(table->columns[c].summary));
  }
}

static void
give_kinds(const td_table_facts *self, const td_tape_info *info) {
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    if (!type) continue;
    const char *known = td_enum_word(TD_FIELD_ENUM_knowledge, info->known[kind]);
    TD_ROW(self->sink, kinds, .event = td_cell_text(type->name),
           .n = td_cell_u64(info->n_by_kind[kind]), .known = td_cell_text(known),
           .summary = td_cell_text(type->summary));
  }
}

void
td_table_facts_about(const td_table_facts *self, td_tape *tape) {
  const td_tape_info *info = td_tape_info_get(tape);
  give_number(self, "started_ns", info->started_ns);
  give_number(self, "duration_ns", info->duration_ns);
  give_number(self, "n_events", info->n_events);
  give_number(self, "n_dropped", info->n_dropped);
  give_fact(self, "complete", info->complete ? "1" : "0");
  give_fact(self, "damage", info->damage);
  give_columns(self);
  give_kinds(self, info);
}

/* ---- nodes ---- */

static td_cell
stack_of(td_table_facts *self, const td_catalog_node *node) {
  if (!node->stack || !*node->stack) return (td_cell){0};
  uint32_t n = self->stacks.n;
  uint64_t *number = td_number_map_put(&self->stacks, (uint64_t)(uintptr_t)node->stack);
  if (!*number) {
    *number = (uint64_t)n + 1;
    TD_ROW(self->sink, stacks, .stack = td_cell_u64(n), .text = td_cell_whole(node->stack));
  }
  return td_cell_u64(*number - 1);
}

static void
give_edges(td_table_facts *self, const td_catalog *catalog, const td_catalog_node *node) {
  for (uint32_t i = 0; i < node->n_out; i++) {
    const td_catalog_edge *edge = &catalog->edges[node->first_out + i];
    TD_ROW(self->sink, edges, .from_node = td_cell_int(edge->from),
           .output_nr = td_cell_int(edge->output_nr), .to_node = td_cell_int(edge->to),
           .input_nr = td_cell_int(edge->input_nr));
  }
}

static void
give_inputs(td_table_facts *self, const td_catalog *catalog, const td_catalog_node *node) {
  for (uint32_t i = 0; i < node->n_metadata; i++) {
    const td_catalog_metadata *input = &catalog->metadata[node->first_metadata + i];
    TD_ROW(self->sink, inputs, .node = td_cell_int(input->node),
           .input_nr = td_cell_int(input->input_nr), .shape = td_cell_text(input->shape),
           .dtype = td_cell_text(input->dtype),
           .device = td_cell_text(td_catalog_device_name(catalog, input->device)),
           .bytes = td_cell_int(input->bytes));
  }
}

/* A node that no event declared has its number alone. */
void
td_table_facts_node(td_table_facts *self, const td_catalog *catalog, const td_catalog_node *node) {
  if (node->created_seq == UINT64_MAX) {
    TD_ROW(self->sink, nodes, .node = td_cell_int(node->id));
  } else {
    char *line = node->stack ? td_source_place(node->stack) : NULL;
    TD_ROW(self->sink, nodes, .node = td_cell_int(node->id), .name = td_cell_text(node->name),
           .label = td_cell_text(node->label), .module = td_cell_text(node->module),
           .module_class = td_cell_text(node->module_class), .line = td_cell_text(line),
           .stack = stack_of(self, node), .sequence_nr = td_cell_u64(node->sequence_nr),
           .topological_nr = td_cell_int(node->topological_nr),
           .device = td_cell_text(td_catalog_device_name(catalog, node->device)),
           .stream = td_cell_int(node->stream), .n_inputs = td_cell_int(node->n_inputs),
           .n_outputs = td_cell_int(node->n_outputs), .thread = td_cell_id(node->thread),
           .created_seq = td_cell_u64(node->created_seq));
    free(line);
  }
  give_edges(self, catalog, node);
  give_inputs(self, catalog, node);
}

/* ---- threads, queues, passes ---- */

void
td_table_facts_take(td_table_facts *self, const td_any_event *any) {
  if (any->event.kind == TD_EVENT_graph_task_begin)
    *td_number_map_put(&self->begin, any->graph_task_begin.graph_task) = 1 + any->event.time;
  if (any->event.kind == TD_EVENT_graph_task_end)
    *td_number_map_put(&self->end, any->graph_task_end.graph_task) = 1 + any->event.time;
}

static td_cell
time_of(const td_number_map *times, uint32_t graph_task) {
  const uint64_t *time = td_number_map_find(times, graph_task);
  return time && *time ? td_cell_u64(*time - 1) : (td_cell){0};
}

static void
give_pass(td_table_facts *self, const td_catalog_graph_task *pass) {
  td_cell begin = time_of(&self->begin, pass->id), end = time_of(&self->end, pass->id);
  TD_ROW(self->sink, passes, .graph_task = td_cell_int(pass->id), .depth = td_cell_int(pass->depth),
         .owner = td_cell_id(pass->owner), .root = td_cell_id(pass->root),
         .outer = td_cell_id(pass->outer), .caller = td_cell_id(pass->caller),
         .status = td_cell_text(td_enum_word(TD_FIELD_ENUM_task_status, pass->status)),
         .keep_graph = td_cell_bool(pass->keep_graph),
         .create_graph = td_cell_bool(pass->create_graph),
         .accumulate_grad = td_cell_bool(pass->accumulate_grad),
         .begin_seq = begin.type ? td_cell_u64(pass->begin_seq) : begin,
         .end_seq = end.type ? td_cell_u64(pass->end_seq) : end, .begin_ns = begin, .end_ns = end);
}

static void
give_queue(const td_table_facts *self, const td_catalog *catalog, uint32_t i) {
  const td_catalog_queue *queue = &catalog->queues[i];
  const char *device = td_catalog_device_name(catalog, queue->device);
  char *name = td_format("%" PRIu32 " %s", i, device);
  TD_ROW(self->sink, queues, .queue = td_cell_int(i), .name = td_cell_text(name),
         .device = td_cell_text(device), .graph_task = td_cell_id(queue->graph_task),
         .owner = td_cell_id(queue->owner),
         .sort_order = td_cell_text(td_enum_word(TD_FIELD_ENUM_queue_order, queue->order)),
         .max_size = td_cell_int(queue->max_size));
  free(name);
}

static void
give_process(const td_table_facts *self, const td_catalog *catalog, uint32_t i) {
  const td_catalog_process *process = &catalog->processes[i];
  TD_ROW(self->sink, processes, .process = td_cell_int(i), .name = td_cell_text(process->name),
         .pid = process->pid ? td_cell_int(process->pid) : (td_cell){0},
         .rank = process->rank < 0 ? (td_cell){0} : td_cell_int(process->rank));
}

static void
give_thread(const td_table_facts *self, const td_catalog *catalog, uint32_t i) {
  const td_catalog_thread *thread = &catalog->threads[i];
  TD_ROW(self->sink, threads, .thread = td_cell_int(i), .name = td_cell_text(thread->name),
         .device = td_cell_text(td_catalog_device_name(catalog, thread->device)),
         .process = td_cell_int(thread->process), .in_pool = td_cell_bool(thread->in_pool),
         .tid = thread->tid ? td_cell_int(thread->tid) : (td_cell){0});
}

void
td_table_facts_whole(td_table_facts *self, const td_catalog *catalog, uint64_t first,
                     uint64_t end) {
  give_fact(self, "engine", catalog->engine);
  give_fact(self, "engine_version", catalog->version);
  give_fact(self, "source", catalog->source);
  give_number(self, "probe_level", catalog->probe_level);
  for (uint32_t i = 0; i < catalog->n_processes; i++)
    give_process(self, catalog, i);
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    if (catalog->threads[i].named) give_thread(self, catalog, i);
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    if (catalog->queues[i].named) give_queue(self, catalog, i);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (td_number_map_find(&self->begin, pass->id) || td_number_map_find(&self->end, pass->id) ||
        (first == 0 && pass->begin_seq < end))
      give_pass(self, pass);
  }
}

void
td_table_facts_fini(td_table_facts *self) {
  td_number_map_fini(&self->stacks);
  td_number_map_fini(&self->begin);
  td_number_map_fini(&self->end);
}
