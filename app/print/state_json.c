/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/state_json.h"

#include "app/print/json_members.h"
#include "engine/profile/why/why.h"

#include <glib.h>
#include <stdlib.h>

static void
print_graph_tasks(td_json *json, const td_catalog *catalog, const td_state *state) {
  td_json_key(json, "graph_tasks");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *facts = &catalog->graph_task_rows[i];
    const td_graph_task_now *now = td_state_graph_task_row(state, i);
    if (now->status == 0) continue;
    td_json_begin_object(json);
    td_member_u64(json, "id", facts->id);
    td_member_u64(json, "depth", facts->depth);
    td_member_id(json, "owner", facts->owner);
    td_member_u64(json, "outstanding", now->outstanding);
    td_member_bool(json, "keep_graph", facts->keep_graph);
    td_member_string(json, "status",
                     td_enum_word(TD_FIELD_ENUM_task_status, now->status - TD_PASS_RUNNING));
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

/* Dummies and shutdown tasks have no node: null. */
static void
print_queues(td_json *json, const td_catalog *catalog, const td_state *state) {
  td_json_key(json, "queues");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    if (!catalog->queues[i].named) continue;
    td_queue_entry *entries = g_new(td_queue_entry, td_state_queue(state, i)->n);
    td_state_queue_order(state, catalog, i, entries);
    td_json_begin_object(json);
    td_member_u64(json, "id", i);
    td_member_string(json, "device", td_catalog_device_name(catalog, catalog->queues[i].device));
    td_member_id(json, "graph_task", catalog->queues[i].graph_task);
    td_json_key(json, "nodes");
    td_json_begin_array(json);
    for (uint32_t entry = 0; entry < td_state_queue(state, i)->n; entry++)
      td_json_id(json, entries[entry].node);
    td_json_end_array(json);
    td_json_end_object(json);
    g_free(entries);
  }
  td_json_end_array(json);
}

static int
compare_arrivals(const void *a, const void *b, void *data) {
  const td_state *state = data;
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  uint32_t left_nr = td_state_arrival(state, left)->input_nr,
           right_nr = td_state_arrival(state, right)->input_nr;
  return (left_nr > right_nr) - (left_nr < right_nr);
}

/* The arrivals of a task by input_nr, and those of one input in the order in which they came. */
static GArray *
sorted_arrivals(const td_state *state, const td_task_now *task) {
  GArray *arrivals = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t i = task->first_arrival; i != TD_NONE; i = td_state_arrival(state, i)->next)
    g_array_append_val(arrivals, i);
  for (guint i = 0; i < arrivals->len / 2; i++) {
    uint32_t *first = &g_array_index(arrivals, uint32_t, i);
    uint32_t *last = &g_array_index(arrivals, uint32_t, arrivals->len - 1 - i), kept = *first;
    *first = *last;
    *last = kept;
  }
  g_array_sort_with_data(arrivals, compare_arrivals, (void *)state);
  return arrivals;
}

/* One object for each input that has a gradient: its senders, and the bytes that are held. */
static void
print_inputs(td_json *json, const td_state *state, const td_task_now *task) {
  g_autoptr(GArray) arrivals = sorted_arrivals(state, task);
  td_json_key(json, "inputs");
  td_json_begin_array(json);
  for (guint i = 0; i < arrivals->len;) {
    const td_arrival_now *first = td_state_arrival(state, g_array_index(arrivals, uint32_t, i));
    uint64_t bytes = 0;
    td_json_begin_object(json);
    td_json_key(json, "arrived");
    td_json_begin_array(json);
    for (; i < arrivals->len; i++) {
      const td_arrival_now *arrival = td_state_arrival(state, g_array_index(arrivals, uint32_t, i));
      if (arrival->input_nr != first->input_nr) break;
      td_json_id(json, arrival->from);
      bytes = MAX(bytes, arrival->bytes);
    }
    td_json_end_array(json);
    td_member_u64(json, "bytes", bytes);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_not_ready(td_json *json, const td_state *state) {
  td_json_key(json, "not_ready");
  td_json_begin_array(json);
  for (uint32_t i = state->header->first_parked; i != TD_NONE;
       i = td_state_task(state, i)->parked_next) {
    const td_task_now *task = td_state_task(state, i);
    td_json_begin_object(json);
    td_member_u64(json, "node", task->node);
    td_member_u64(json, "graph_task", task->graph_task);
    td_member_u64(json, "dependencies", task->dependencies);
    print_inputs(json, state, task);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_threads(td_json *json, const td_catalog *catalog, const td_state *state) {
  td_json_key(json, "threads");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_threads; i++) {
    const td_thread_now *now = td_state_thread(state, i);
    if (!catalog->threads[i].named) continue;
    td_json_begin_object(json);
    td_member_u64(json, "id", i);
    td_member_string(json, "name", catalog->threads[i].name);
    td_member_string(json, "device", td_catalog_device_name(catalog, catalog->threads[i].device));
    td_member_string(json, "state", td_enum_word(TD_FIELD_ENUM_thread_activity, now->state));
    td_member_id(json, "node", now->node);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

/* What a node has none of is left out: a node has few names. */
static void
write_names(td_json *json, const td_catalog_node *facts) {
  if (facts->label && *facts->label) td_member_string(json, "label", facts->label);
  if (facts->module && *facts->module) td_member_string(json, "module", facts->module);
  if (facts->module_class && *facts->module_class)
    td_member_string(json, "module_class", facts->module_class);
}

/* How many events so far contradict the state before them, and the first one in words. */
static void
print_contradictions(td_json *json, td_replay *replay) {
  const td_contradictions *now = &td_replay_state(replay)->header->contradictions;
  char *text = td_why_contradictions(td_replay_catalog(replay), td_replay_tape(replay), now);
  td_json_key(json, "contradictions");
  td_json_begin_object(json);
  td_member_u64(json, "n", now->n);
  if (now->n) td_member_u64(json, "first", now->first);
  if (now->n) td_member_string(json, "text", text);
  td_json_end_object(json);
  free(text);
}

typedef struct sharing {
  td_json *json; /* or NULL: they are counted */
  const td_state *state;
  guint n;
} sharing;

/* The state also keeps what the node did last in a pass that is over. */
static void
pair_cb(uint32_t graph_task, const td_pair_now *pair, void *data) {
  sharing *self = data;
  if (td_state_graph_task(self->state, graph_task)->status > TD_PASS_RUNNING) return;
  self->n++;
  if (!self->json) return;
  td_json_begin_object(self->json);
  td_member_u64(self->json, "graph_task", graph_task);
  td_member_string(self->json, "state", td_node_state_name((td_node_state)pair->state));
  td_member_id(self->json, "thread", pair->thread);
  td_json_end_object(self->json);
}

/* Of a node that passes under way share: what it does in each of them. */
static void
write_passes(td_json *json, const td_state *state, uint32_t node) {
  sharing self = {.state = state};
  td_state_each_pair(state, node, pair_cb, &self);
  if (self.n < 2) return;
  self.json = json;
  td_json_key(json, "passes");
  td_json_begin_array(json);
  td_state_each_pair(state, node, pair_cb, &self);
  td_json_end_array(json);
}

/* Nodes that are not created yet are not there. */
static void
print_nodes(td_json *json, const td_catalog *catalog, const td_state *state) {
  td_json_key(json, "nodes");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_nodes; i++) {
    const td_catalog_node *facts = &catalog->node_rows[i];
    td_pair_now now = td_state_pair(state, facts->id, TD_NONE);
    if (now.state == TD_NODE_absent) continue;
    td_json_begin_object(json);
    td_member_u64(json, "id", facts->id);
    td_member_string(json, "name", facts->name);
    td_member_u64(json, "sequence_nr", facts->sequence_nr);
    td_member_u64(json, "topological_nr", facts->topological_nr);
    td_member_string(json, "device", td_catalog_device_name(catalog, facts->device));
    td_member_string(json, "state", td_node_state_name((td_node_state)now.state));
    write_passes(json, state, facts->id);
    write_names(json, facts);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

void
td_state_print_json(td_replay *replay, uint64_t seq, FILE *file) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_state *state = td_replay_state(replay);
  td_json json;
  td_json_init(&json, file);
  td_json_begin_object(&json);
  td_member_u64(&json, "seq", seq);
  td_member_u64(&json, "t", state->header->time_ns);
  print_graph_tasks(&json, catalog, state);
  print_queues(&json, catalog, state);
  print_not_ready(&json, state);
  print_threads(&json, catalog, state);
  print_nodes(&json, catalog, state);
  print_contradictions(&json, replay);
  td_json_end_object(&json);
  td_json_newline(&json);
}
