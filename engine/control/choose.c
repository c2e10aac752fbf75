/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/control/choose.h"

#include "engine/base/alloc.h"
#include "engine/events/event.h"

#include <stdlib.h>

static td_steering steering;

void
td_choose_offer(td_steering steer) {
  steering = steer;
}

/* NULL: it is chosen. */
static char *
choose(uint32_t queue, uint32_t node, uint32_t graph_task, bool is_stopped) {
  if (!steering)
    return td_dup_string("this engine cannot be steered: it pops tasks by its own order");
  if (queue == TD_NONE || node == TD_NONE)
    return td_dup_string("a choice names a queue and a node");
  if (!is_stopped) return td_dup_string("the program is running: stop it first");
  return steering(queue, node, graph_task);
}

void
td_choose_obey(const td_line *command, bool is_stopped, td_link *link) {
  uint32_t queue = TD_NONE, node = TD_NONE, graph_task = TD_NONE;
  td_line_text text;
  td_line_find_u32(command, "queue", &queue);
  td_line_find_u32(command, "node", &node);
  td_line_find_u32(command, "graph_task", &graph_task);
  char *reason = choose(queue, node, graph_task, is_stopped);
  td_line_begin(&text, reason ? "refused" : "chosen");
  if (queue != TD_NONE) td_line_add_number(&text, "queue", queue);
  if (node != TD_NONE) td_line_add_number(&text, "node", node);
  td_line_add(&text, "reason", reason);
  td_link_report(link, &text);
  td_line_text_fini(&text);
  free(reason);
}
