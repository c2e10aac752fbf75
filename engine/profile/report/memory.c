/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/memory.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/held_by.h"
#include "engine/profile/report/report_keys.h"
#include "engine/replay/catalog_visit.h"

#include <string.h>

#define OF_SAVED (1u << TD_HELD_saved | 1u << TD_HELD_kept)
#define OF_ALL ((1u << TD_N_HOLDING_GROUPS) - 1)

typedef struct watching {
  td_memory *result;
  td_tape *tape;
  td_held_by held;
  uint32_t graph_task;   /* the wished pass, or TD_NONE */
  uint32_t latest;       /* outermost pass that began last, if it is under way */
  uint32_t step_process; /* whose steps count, or TD_NONE */
  td_range range;
  uint64_t n_nodes;                  /* that are not freed */
  bool is_inside;                    /* the time of the wished pass */
  bool has_begun;                    /* the range has */
  bool is_peak_open;                 /* its holders are those of now */
  bool peak_is_new, retained_is_new; /* their names are not found yet */
} watching;

/* ---- levels ---- */

static td_memory_level
level_of(const watching *self) {
  td_memory_level level;
  memcpy(level.bytes, self->held.holdings.bytes, sizeof level.bytes);
  return level;
}

/* ---- moments ---- */

static void
clear_holders(td_memory_moment *moment) {
  for (uint32_t i = 0; i < moment->n_holders; i++) {
    free(moment->holders[i].name);
    free(moment->holders[i].module);
    free(moment->holders[i].line);
  }
  moment->n_holders = 0;
}

static void
take_holders(watching *self, unsigned groups, td_memory_moment *moment) {
  const td_holdings *holdings = &self->held.holdings;
  uint32_t numbers[TD_MEMORY_HOLDERS];
  clear_holders(moment);
  moment->n_holders = td_holdings_list(holdings, groups, numbers, TD_MEMORY_HOLDERS);
  for (uint32_t i = 0; i < moment->n_holders; i++) {
    const td_holding *item = &holdings->items[numbers[i]];
    const char *leaf = item->name ? td_text_table_get(&self->held.names, item->name) : NULL;
    moment->holders[i] = (td_memory_holder){.group = item->group,
                                            .bytes = item->bytes,
                                            .since_seq = item->since_seq,
                                            .node = item->node,
                                            .number = item->number,
                                            .is_leaf = item->is_leaf,
                                            .n_sharing = item->n_sharing,
                                            .name = leaf ? td_dup_string(leaf) : NULL,
                                            .shape = td_tape_string(self->tape, item->shape),
                                            .dtype = td_tape_string(self->tape, item->dtype)};
  }
}

/* A leaf's name may come after its gradient. */
static char *
name_of(const td_catalog *catalog, const td_memory_holder *holder) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, holder->node);
  if (holder->is_leaf && facts && facts->label) return td_dup_string(facts->label);
  return td_report_node_name(catalog, holder->node);
}

static void
find_names(const td_catalog *catalog, td_memory_moment *moment) {
  for (uint32_t i = 0; i < moment->n_holders; i++) {
    td_memory_holder *holder = &moment->holders[i];
    if (!holder->name) holder->name = name_of(catalog, holder);
    holder->module = td_report_user_module(catalog, holder->node);
    holder->line = td_report_user_line(catalog, holder->node);
  }
}

static void
close_peak(watching *self) {
  if (self->is_peak_open) take_holders(self, OF_ALL, &self->result->peak);
  self->is_peak_open = false;
}

static void
note_level(watching *self, uint64_t ns, uint64_t seq) {
  td_memory *result = self->result;
  const td_memory_level level = level_of(self);
  uint64_t total = td_memory_total(&level);
  if (total || result->samples.n) td_memory_samples_add(&result->samples, ns, &level);
  result->steps.peak = TD_MAX(result->steps.peak, total);
  if (total <= td_memory_total(&result->peak.level)) return;
  result->peak.level = level;
  result->peak.seq = seq;
  result->peak.ns = ns;
  result->peak.graph_task = self->latest;
  self->is_peak_open = self->peak_is_new = true;
}

/* What is held when the range begins counts in it. `seq`: the first event after that. */
static void
begin_range(watching *self, uint64_t seq) {
  if (self->has_begun) return;
  self->has_begun = true;
  if (self->is_inside) note_level(self, self->range.from_ns, seq - TD_MIN(seq, 1u));
}

static void
look(watching *self, const td_event *event, uint64_t seq) {
  if (self->is_inside && td_range_has(&self->range, event->time))
    note_level(self, event->time, seq);
}

/* ---- passes and steps ---- */

static void
end_step(watching *self, uint32_t number, const td_event *event, uint64_t seq) {
  const td_memory_step step = {.number = number,
                               .seq = seq,
                               .ns = event->time,
                               .end = level_of(self),
                               .n_nodes = self->n_nodes};
  if (self->is_inside && td_range_has(&self->range, event->time))
    td_memory_steps_end(&self->result->steps, step);
}

/* Steps of several processes do not end together. */
static void
note_step(watching *self, const td_catalog *catalog, const td_event_step *event, uint64_t seq) {
  uint32_t process = catalog->threads[event->event.thread].process;
  if (self->step_process == TD_NONE) self->step_process = process;
  if (self->step_process == process) end_step(self, event->iteration, &event->event, seq);
}

static void
begin_pass(watching *self, const td_catalog *catalog, const td_event_graph_task_begin *event) {
  if (!td_catalog_is_outermost(catalog, event->graph_task)) return;
  self->latest = event->graph_task;
  if (event->graph_task == self->graph_task) self->is_inside = true;
  self->result->n_passes += self->graph_task == TD_NONE || event->graph_task == self->graph_task;
}

static void
note_retained(watching *self, uint32_t graph_task, const td_event *event, uint64_t seq) {
  td_memory_moment *retained = &self->result->retained;
  const td_memory_level now = level_of(self);
  uint64_t before = retained->level.bytes[TD_HELD_saved] + retained->level.bytes[TD_HELD_kept];
  bool is_wished = self->graph_task == TD_NONE || graph_task == self->graph_task;
  if (!is_wished || !td_range_has(&self->range, event->time)) return;
  if (now.bytes[TD_HELD_saved] + now.bytes[TD_HELD_kept] <= before) return;
  retained->level = now;
  retained->seq = seq;
  retained->ns = event->time;
  retained->graph_task = graph_task;
  take_holders(self, OF_SAVED, retained);
  self->retained_is_new = true;
}

static void
end_pass(watching *self, const td_catalog *catalog, const td_event_graph_task_end *event,
         uint64_t seq) {
  uint32_t graph_task = event->graph_task;
  if (!td_catalog_is_outermost(catalog, graph_task)) return;
  if (graph_task == self->latest) self->latest = TD_NONE;
  note_retained(self, graph_task, &event->event, seq);
  if (!self->result->has_steps) end_step(self, graph_task, &event->event, seq);
  if (graph_task == self->graph_task) self->is_inside = false;
}

/* ---- events ---- */

static void
event_cb(const td_catalog *catalog, const td_any_event *any, uint64_t seq, void *data) {
  watching *self = data;
  td_event_kind kind = any->event.kind;
  if (kind == TD_EVENT_kernel_begin || kind == TD_EVENT_kernel_end) return; /* a device's times */
  if (self->range.is_set && any->event.time >= self->range.from_ns) begin_range(self, seq);
  if (kind == TD_EVENT_graph_task_begin) begin_pass(self, catalog, &any->graph_task_begin);
  if (kind == TD_EVENT_node_new) self->n_nodes++;
  if (kind == TD_EVENT_node_free && self->n_nodes) self->n_nodes--;
  if (self->is_peak_open && td_held_by_may_shift(kind)) close_peak(self);
  td_held_by_apply(&self->held, catalog, any, seq);
  look(self, &any->event, seq);
  if (kind == TD_EVENT_graph_task_end) end_pass(self, catalog, &any->graph_task_end, seq);
  if (kind == TD_EVENT_step) note_step(self, catalog, &any->step, seq);
}

/* Names are in the catalog of the segment alone. */
static void
name_new_holders(watching *self, const td_catalog *catalog) {
  close_peak(self);
  if (self->peak_is_new) find_names(catalog, &self->result->peak);
  if (self->retained_is_new) find_names(catalog, &self->result->retained);
  self->peak_is_new = self->retained_is_new = false;
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  watching *self = data;
  name_new_holders(self, catalog);
  td_held_by_end_segment(&self->held);
  return TD_OK;
}

/* ---- the whole ---- */

static bool
is_told(const td_tape_info *info, uint32_t kind) {
  bool by_a_probe = info->n_by_kind[TD_EVENT_probe_level] > 0;
  return info->known[kind] != TD_knowledge_absent && (info->n_by_kind[kind] > 0 || !by_a_probe);
}

static void
learn(td_memory *memory, const td_tape_info *info) {
  bool by_a_probe = info->n_by_kind[TD_EVENT_probe_level] > 0;
  bool saved = is_told(info, TD_EVENT_saved_tensor);
  memory->is_known[TD_HELD_saved] = memory->is_known[TD_HELD_kept] = saved;
  memory->is_known[TD_HELD_buffer] = is_told(info, TD_EVENT_buffer_add);
  memory->is_known[TD_HELD_gradient] = is_told(info, TD_EVENT_accumulate);
  memory->is_inferred = by_a_probe && info->n_by_kind[TD_EVENT_release] == 0;
  memory->knows_nodes = is_told(info, TD_EVENT_node_free);
  memory->meets_all = info->known[TD_EVENT_node_new] != TD_knowledge_absent && !by_a_probe;
  memory->has_steps = info->n_by_kind[TD_EVENT_step] > 0;
  memory->peak.seq = memory->retained.seq = UINT64_MAX;
}

td_status
td_memory_make(td_tape *tape, uint32_t graph_task, const td_range *range, td_memory *memory,
               td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *memory = (td_memory){0};
  learn(memory, info);
  watching self = {.result = memory,
                   .tape = tape,
                   .held = {.infers_release = memory->is_inferred},
                   .graph_task = graph_task,
                   .latest = TD_NONE,
                   .step_process = TD_NONE,
                   .is_inside = graph_task == TD_NONE};
  static const bool kinds[TD_EVENT_LIMIT] = {
      [TD_EVENT_node_new] = true,       [TD_EVENT_node_label] = true,
      [TD_EVENT_node_module] = true,    [TD_EVENT_edge_new] = true,
      [TD_EVENT_input_metadata] = true, [TD_EVENT_thread_new] = true,
      [TD_EVENT_process_new] = true,    [TD_EVENT_graph_task_begin] = true,
      [TD_EVENT_graph_task_end] = true, [TD_EVENT_pass_now] = true,
      [TD_EVENT_reentrant_enter] = true};
  if (range) self.range = *range;
  td_catalog_along along = {.listener = event_cb, .data = &self, .kinds = kinds};
  td_status status = td_catalog_visit_along(tape, &along, visit_segment, error);
  td_held_by_fini(&self.held);
  if (!status && graph_task != TD_NONE && memory->n_passes == 0)
    status = td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u", graph_task);
  return status;
}

void
td_memory_fini(td_memory *memory) {
  clear_holders(&memory->peak);
  clear_holders(&memory->retained);
  *memory = (td_memory){0};
}
