/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/lesson_picture.h"

#include "app/print/sentences.h"
#include "app/print/thread_label.h"
#include "engine/profile/why/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer list is no picture. */
#define LINES_MAX 30

static const char *const signs[TD_N_NODE_STATES] = {
    [TD_NODE_created] = "·", [TD_NODE_waiting] = "○",  [TD_NODE_partial] = "◐",
    [TD_NODE_queued] = "●",  [TD_NODE_running] = "▶",  [TD_NODE_done] = "✓",
    [TD_NODE_skipped] = "–", [TD_NODE_captured] = "✓", [TD_NODE_failed] = "✗"};

static bool
is_shown(const GArray *shown, uint32_t node) {
  for (guint i = 0; i < shown->len; i++)
    if (g_array_index(shown, uint32_t, i) == node) return true;
  return false;
}

static const char *
device_of(const td_catalog *catalog, uint32_t queue) {
  return queue == TD_NONE ? NULL : td_catalog_device_label(catalog, catalog->queues[queue].device);
}

static void
print_state(const td_state *state, const td_catalog *catalog, uint32_t node, bool has_counts) {
  td_pair_now now = td_state_pair(state, node, TD_NONE);
  const td_task_now *task = td_state_task_find(state, node, TD_NONE);
  bool runs = now.state == TD_NODE_running;
  bool waits = task && task->dependencies && has_counts;
  uint32_t in_queue = task ? task->queue : TD_NONE;
  g_autofree char *left = g_strdup_printf("%u", task ? task->dependencies : 0);
  g_autofree char *n = g_strdup_printf("%u", task ? task->expected : 0);
  g_autofree char *queue = g_strdup_printf("%u", in_queue);
  g_autofree char *thread = runs ? td_thread_label(catalog, now.thread) : NULL;
  td_printed sentence = runs                  ? TD_PRINTED_node_state_thread
                        : in_queue != TD_NONE ? TD_PRINTED_node_state_queue
                        : waits               ? TD_PRINTED_node_state_counts
                                              : TD_PRINTED_node_state;
  td_printed_print(sentence, {"state", td_node_state_name((td_node_state)now.state)},
                   {"left", left}, {"n", n}, {"queue", queue},
                   {"device", device_of(catalog, in_queue)}, {"thread", thread});
}

static void
print_node(const td_replay *replay, uint32_t node, bool is_shown, bool has_counts) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_state *state = td_replay_state(replay);
  char *name = td_why_name_node(catalog, node);
  int blanks = 34 - (int)g_utf8_strlen(name, -1);
  printf(" %s %s %s%*s ", is_shown ? "→" : " ", signs[td_state_pair(state, node, TD_NONE).state],
         name, MAX(blanks, 0), "");
  print_state(state, catalog, node, has_counts);
  putchar('\n');
  free(name);
}

static bool
is_there(const td_state *state, uint32_t node) {
  return signs[td_state_pair(state, node, TD_NONE).state] != NULL;
}

/* The node created last is the first to run, and stands first. */
void
td_lesson_picture_print(const td_replay *replay, const GArray *shown, bool has_counts) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_state *state = td_replay_state(replay);
  uint32_t told = 0, more = 0;
  for (uint32_t i = catalog->n_nodes; i-- > 0;) {
    uint32_t node = catalog->node_rows[i].id;
    if (!is_there(state, node)) continue;
    if (told < LINES_MAX || is_shown(shown, node)) {
      print_node(replay, node, is_shown(shown, node), has_counts);
      told++;
    } else {
      more++;
    }
  }
  if (more) printf("     and %u more\n", more);
}
