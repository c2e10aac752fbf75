/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/held_by.h"

#include "engine/base/alloc.h"

#include <string.h>

#define ZEROS_MIN 1024 /* keys without a holding that a map may have */
#define NAMED (UINT64_C(1) << 63)

/* ---- maps ---- */

static uint32_t
find(const td_held_map *held, uint64_t key) {
  const uint64_t *found = td_number_map_find(&held->map, key);
  return found ? (uint32_t)*found : 0;
}

static void
put(td_held_map *held, uint64_t key, uint32_t value) {
  *td_number_map_put(&held->map, key) = value;
}

static void
forget(td_held_map *held, uint64_t key) {
  uint64_t *found = td_number_map_find(&held->map, key);
  if (!found || !*found) return;
  *found = 0;
  if (++held->n_zeros < ZEROS_MIN || held->n_zeros < held->map.n / 2) return;
  td_number_map_forget_zeros(&held->map);
  held->n_zeros = 0;
}

static uint64_t
task_key(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

/* ---- saved tensors ---- */

static void
share(td_held_by *self, uint32_t holding, uint32_t counter) {
  td_holdings *holdings = &self->holdings;
  uint32_t first = find(&self->by_counter, counter);
  if (!first) return put(&self->by_counter, counter, holding + 1);
  uint32_t counted = first - 1;
  uint64_t bytes = holdings->items[holding].bytes;
  td_holdings_share(holdings, holding, counted);
  if (bytes > holdings->items[counted].bytes) td_holdings_set_bytes(holdings, counted, bytes);
}

static void
save(td_held_by *self, const td_event_saved_tensor *event, uint64_t seq) {
  if (event->node == TD_NONE) return;
  uint32_t earlier = find(&self->by_node, event->node);
  const td_holding saved = {.group = TD_HELD_saved,
                            .bytes = event->bytes,
                            .since_seq = seq,
                            .node = event->node,
                            .number = event->number,
                            .shape = event->shape,
                            .dtype = event->dtype,
                            .key = event->counter};
  uint32_t holding = td_holdings_add(&self->holdings, saved);
  self->holdings.items[holding].next = earlier;
  put(&self->by_node, event->node, holding + 1);
  share(self, holding, event->counter);
}

/* td_holdings_remove gives the place of a storage to the next of its tensors. */
static void
leave_storage(td_held_by *self, uint32_t holding) {
  const td_holding *item = &self->holdings.items[holding];
  uint32_t counted = find(&self->by_counter, item->key);
  if (!counted) return;
  if (counted != holding + 1)
    self->holdings.items[counted - 1].n_sharing--;
  else if (item->right == holding)
    forget(&self->by_counter, item->key);
  else
    put(&self->by_counter, item->key, item->right + 1);
}

static void
let_go(td_held_by *self, uint32_t node) {
  uint32_t next, number = find(&self->by_node, node);
  if (!number) return;
  forget(&self->by_node, node);
  for (; number; number = next) {
    next = self->holdings.items[number - 1].next;
    leave_storage(self, number - 1);
    td_holdings_remove(&self->holdings, number - 1);
  }
}

static bool
keeps_graph(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  return facts && facts->keep_graph;
}

static void
keep(td_held_by *self, const td_catalog *catalog, const td_event_node_begin *event) {
  uint32_t number = find(&self->by_node, event->node);
  if (!number || !keeps_graph(catalog, event->graph_task)) return;
  for (; number; number = self->holdings.items[number - 1].next)
    td_holdings_set_group(&self->holdings, number - 1, TD_HELD_kept);
}

/* ---- buffers ---- */

static void
remove_of_pass(td_held_by *self, uint32_t graph_task, uint32_t holding) {
  uint32_t right = self->holdings.items[holding].right;
  if (right == holding)
    forget(&self->by_pass, graph_task);
  else if (find(&self->by_pass, graph_task) == holding + 1)
    put(&self->by_pass, graph_task, right + 1);
  td_holdings_remove(&self->holdings, holding);
}

static uint32_t
add_to_pass(td_held_by *self, uint32_t graph_task, td_holding item) {
  uint32_t other = find(&self->by_pass, graph_task),
           holding = td_holdings_add(&self->holdings, item);
  if (other)
    td_holdings_join(&self->holdings, holding, other - 1);
  else
    put(&self->by_pass, graph_task, holding + 1);
  return holding;
}

/* Gradients that are added to others take no memory of their own. */
static bool
takes_memory(uint32_t mode) {
  return mode == TD_accumulation_move || mode == TD_accumulation_sparse ||
         mode == TD_accumulation_steal || mode == TD_accumulation_copy;
}

static void
arrive(td_held_by *self, const td_event_buffer_add *event, uint64_t seq) {
  if (event->graph_task == TD_NONE || !takes_memory(event->mode)) return;
  uint64_t key = task_key(event->graph_task, event->node);
  uint32_t number = find(&self->by_task, key);
  if (number) {
    uint64_t bytes = self->holdings.items[number - 1].bytes + event->bytes;
    return td_holdings_set_bytes(&self->holdings, number - 1, bytes);
  }
  const td_holding buffer = {.group = TD_HELD_buffer,
                             .bytes = event->bytes,
                             .since_seq = seq,
                             .node = event->node,
                             .key = key};
  put(&self->by_task, key, 1 + add_to_pass(self, event->graph_task, buffer));
}

static void
empty_buffer(td_held_by *self, uint32_t graph_task, uint32_t node) {
  uint64_t key = task_key(graph_task, node);
  uint32_t number = find(&self->by_task, key);
  if (!number) return;
  forget(&self->by_task, key);
  remove_of_pass(self, graph_task, number - 1);
}

/* Of what the tape tells twice, the first counts. */
static void
learn_expected(td_held_by *self, const td_catalog *catalog) {
  for (; self->n_expected < catalog->n_metadata; self->n_expected++) {
    const td_catalog_metadata *metadata = &catalog->metadata[self->n_expected];
    uint64_t *bytes =
        td_number_map_put(&self->expected, (uint64_t)metadata->node << 32 | metadata->input_nr);
    if (!*bytes) *bytes = 1 + (uint64_t)metadata->bytes;
  }
}

/* Takes one gradient out of a buffer, and returns its bytes. */
static uint64_t
take(td_held_by *self, const td_catalog *catalog, uint32_t graph_task, uint32_t node,
     uint32_t input_nr, bool only_look) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  learn_expected(self, catalog);
  const uint64_t *expected = td_number_map_find(&self->expected, (uint64_t)node << 32 | input_nr);
  uint64_t bytes = expected ? *expected - 1 : 0;
  uint32_t number = find(&self->by_task, task_key(graph_task, node));
  if (!number) return bytes;
  uint64_t held = self->holdings.items[number - 1].bytes;
  if (!facts || facts->n_inputs <= 1) bytes = held;
  if (!only_look) td_holdings_set_bytes(&self->holdings, number - 1, held - TD_MIN(held, bytes));
  return bytes;
}

/* ---- gradients ---- */

static void
capture(td_held_by *self, const td_catalog *catalog, const td_event_capture *event, uint64_t seq) {
  if (event->graph_task == TD_NONE) return;
  const td_holding captured = {
      .group = TD_HELD_gradient,
      .bytes = take(self, catalog, event->graph_task, event->node, event->input_nr, false),
      .since_seq = seq,
      .node = event->node,
      .number = event->output_nr};
  add_to_pass(self, event->graph_task, captured);
}

static uint64_t
leaf_key(td_held_by *self, const td_catalog *catalog, uint32_t thread, uint32_t node,
         uint32_t *name) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  *name = 0;
  if (!facts || !facts->label) return node;
  *name = td_text_table_put(&self->names, facts->label, strlen(facts->label));
  return NAMED | (uint64_t)catalog->threads[thread].process << 32 | *name;
}

static void
forget_leaf(td_held_by *self, uint64_t key) {
  uint32_t number = find(&self->by_leaf, key);
  if (!number) return;
  forget(&self->by_leaf, key);
  td_holdings_remove(&self->holdings, number - 1);
}

static void
accumulate(td_held_by *self, const td_catalog *catalog, const td_event_accumulate *event,
           uint64_t seq) {
  uint32_t name, mode = event->mode;
  uint64_t key = leaf_key(self, catalog, event->event.thread, event->node, &name);
  bool is_added = mode == TD_accumulation_in_place || mode == TD_accumulation_undefined;
  if (is_added && find(&self->by_leaf, key)) return;
  const td_holding grad = {.group = TD_HELD_gradient,
                           .bytes = take(self, catalog, event->graph_task, event->node, 0,
                                         mode != TD_accumulation_steal),
                           .since_seq = seq,
                           .node = event->node,
                           .is_leaf = true,
                           .name = name,
                           .key = key};
  forget_leaf(self, key);
  put(&self->by_leaf, key, 1 + td_holdings_add(&self->holdings, grad));
}

/* A leaf that has a gradient gets its name. */
static void
name_leaf(td_held_by *self, const td_catalog *catalog, const td_event_node_label *event) {
  uint32_t name, number = find(&self->by_leaf, event->node);
  if (!number) return;
  uint64_t key = leaf_key(self, catalog, event->event.thread, event->node, &name);
  if (key == event->node) return;
  forget(&self->by_leaf, event->node);
  forget_leaf(self, key);
  put(&self->by_leaf, key, number);
  self->holdings.items[number - 1].name = name;
  self->holdings.items[number - 1].key = key;
}

static void
end_pass(td_held_by *self, uint32_t graph_task) {
  for (uint32_t number; (number = find(&self->by_pass, graph_task));) {
    const td_holding *item = &self->holdings.items[number - 1];
    if (item->group == TD_HELD_buffer) forget(&self->by_task, item->key);
    remove_of_pass(self, graph_task, number - 1);
  }
}

/* ---- events ---- */

static void
free_node(td_held_by *self, uint32_t node) {
  let_go(self, node);
  forget_leaf(self, node);
}

static void
end_node(td_held_by *self, const td_catalog *catalog, const td_event_node_end *event) {
  empty_buffer(self, event->graph_task, event->node);
  if (self->infers_release && !keeps_graph(catalog, event->graph_task)) let_go(self, event->node);
}

bool
td_held_by_may_shift(td_event_kind kind) {
  return kind == TD_EVENT_node_begin || kind == TD_EVENT_node_end || kind == TD_EVENT_release ||
         kind == TD_EVENT_node_free || kind == TD_EVENT_node_skip || kind == TD_EVENT_error ||
         kind == TD_EVENT_capture || kind == TD_EVENT_accumulate || kind == TD_EVENT_graph_task_end;
}

void
td_held_by_apply(td_held_by *self, const td_catalog *catalog, const td_any_event *any,
                 uint64_t seq) {
  switch (any->event.kind) {
  case TD_EVENT_saved_tensor:
    return save(self, &any->saved_tensor, seq);
  case TD_EVENT_release:
    return let_go(self, any->release.node);
  case TD_EVENT_node_free:
    return free_node(self, any->node_free.node);
  case TD_EVENT_node_begin:
    return keep(self, catalog, &any->node_begin);
  case TD_EVENT_node_end:
    return end_node(self, catalog, &any->node_end);
  case TD_EVENT_node_skip:
    return empty_buffer(self, any->node_skip.graph_task, any->node_skip.node);
  case TD_EVENT_error:
    return empty_buffer(self, any->error.graph_task, any->error.node);
  case TD_EVENT_buffer_add:
    return arrive(self, &any->buffer_add, seq);
  case TD_EVENT_capture:
    return capture(self, catalog, &any->capture, seq);
  case TD_EVENT_node_label:
    return name_leaf(self, catalog, &any->node_label);
  case TD_EVENT_accumulate:
    return accumulate(self, catalog, &any->accumulate, seq);
  case TD_EVENT_graph_task_end:
    return end_pass(self, any->graph_task_end.graph_task);
  default:
    return;
  }
}

void
td_held_by_end_segment(td_held_by *self) {
  td_number_map_fini(&self->expected);
  self->n_expected = 0;
}

static void
map_fini(td_held_map *held) {
  td_number_map_fini(&held->map);
}

void
td_held_by_fini(td_held_by *self) {
  td_holdings_fini(&self->holdings);
  map_fini(&self->by_node);
  map_fini(&self->by_counter);
  map_fini(&self->by_task);
  map_fini(&self->by_pass);
  map_fini(&self->by_leaf);
  td_text_table_fini(&self->names);
  td_held_by_end_segment(self);
}
