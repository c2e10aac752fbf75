/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/state_text.h"

#include "app/print/thread_label.h"
#include "engine/profile/why/why.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

static void
print_node(const td_catalog *catalog, uint32_t node) {
  char *name = td_why_name_node(catalog, node);
  fputs(name, stdout);
  free(name);
}

static void
print_graph_tasks(const td_catalog *catalog, const td_state *state) {
  puts("\nGraph tasks");
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *facts = &catalog->graph_task_rows[i];
    const td_graph_task_now *now = td_state_graph_task_row(state, i);
    if (now->status == 0) continue;
    printf("  %u  %s, depth %u, %u outstanding, %u done, %u in not_ready\n", facts->id,
           td_enum_word(TD_FIELD_ENUM_task_status, now->status - TD_PASS_RUNNING), facts->depth,
           now->outstanding, now->n_done, now->n_parked);
  }
}

static void
print_queue(const td_catalog *catalog, const td_state *state, uint32_t queue) {
  uint32_t n = td_state_queue(state, queue)->n;
  td_queue_entry *entries = g_new(td_queue_entry, n);
  td_state_queue_order(state, catalog, queue, entries);
  const char *device = td_catalog_device_label(catalog, catalog->queues[queue].device);
  printf(n ? "  %u  %s: " : "  %u  %s: empty", queue, device);
  for (uint32_t i = 0; i < n; i++) {
    if (i) printf(", ");
    if (entries[i].node == TD_NONE)
      fputs(entries[i].kind == 2 ? "shutdown" : "dummy", stdout);
    else
      print_node(catalog, entries[i].node);
  }
  putchar('\n');
  g_free(entries);
}

static void
print_not_ready(const td_replay *replay, const td_state *state) {
  bool none = state->header->first_parked == TD_NONE;
  puts(none ? "\nNot ready\n  none" : "\nNot ready");
  td_why_write_parked(replay, stdout);
}

static void
print_threads(const td_catalog *catalog, const td_state *state) {
  puts("\nThreads");
  for (uint32_t i = 0; i < catalog->n_threads; i++) {
    const td_thread_now *now = td_state_thread(state, i);
    if (!catalog->threads[i].named) continue;
    g_autofree char *label = td_thread_label(catalog, i);
    printf("  %u  %s: %s", i, label, td_enum_word(TD_FIELD_ENUM_thread_activity, now->state));
    if (now->node != TD_NONE) {
      putchar(' ');
      print_node(catalog, now->node);
    }
    putchar('\n');
  }
}

static void
print_node_states(const td_catalog *catalog, const td_state *state) {
  uint32_t counts[TD_N_NODE_STATES] = {0};
  for (uint32_t i = 0; i < catalog->n_nodes; i++)
    counts[td_state_pair(state, catalog->node_rows[i].id, TD_NONE).state]++;
  puts("\nNodes");
  for (int i = 0; i < TD_N_NODE_STATES; i++)
    if (counts[i]) printf("  %-8s  %u\n", td_node_state_name((td_node_state)i), counts[i]);
}

void
td_state_print_text(const td_replay *replay) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_state *state = td_replay_state(replay);
  print_graph_tasks(catalog, state);
  puts("\nQueues, in the order in which they will be popped");
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    if (catalog->queues[i].named) print_queue(catalog, state, i);
  print_not_ready(replay, state);
  print_threads(catalog, state);
  print_node_states(catalog, state);
}
