/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/pass/warnings.h"

#include "engine/base/alloc.h"
#include "engine/pass/engine_thread.h"

#include <stdio.h>

struct td_warning {
  char *text; /* (owned) */
  td_warning *next;
};

static td_status
print_cb(const char *text, td_error *error) {
  fprintf(stderr, "Warning: %s\n", text);
  return TD_OK;
}

static td_warning_handler handler = print_cb;

void
td_warning_set_handler(td_warning_handler wanted) {
  handler = wanted;
}

static void
collect(td_graph_task *graph_task, char *text) {
  td_warning *warning = TD_NEW(td_warning);
  warning->text = text;
  pthread_mutex_lock(&graph_task->notes_mutex);
  td_warning **link = &graph_task->warnings;
  while (*link)
    link = &(*link)->next;
  *link = warning;
  pthread_mutex_unlock(&graph_task->notes_mutex);
}

void
td_warn(const td_node *node, const char *text) {
  td_graph_task *graph_task = td_thread_self.graph_task;
  TD_EMIT(warning, .node = node ? td_node_id(node) : TD_NONE, .graph_task = td_graph_task_now_id(),
          .text = td_intern(text));
  if (graph_task) return collect(graph_task, td_dup_string(text));
  td_error error = {0};
  if (handler(text, &error)) td_error_clear(&error);
}

static td_warning *
take(td_graph_task *graph_task) {
  pthread_mutex_lock(&graph_task->notes_mutex);
  td_warning *first = graph_task->warnings;
  graph_task->warnings = NULL;
  pthread_mutex_unlock(&graph_task->notes_mutex);
  return first;
}

static void
drop(td_warning *first) {
  while (first) {
    td_warning *warning = first;
    first = warning->next;
    free(warning->text);
    free(warning);
  }
}

td_status
td_warnings_replay(td_graph_task *graph_task, td_error *error) {
  td_warning *first = take(graph_task);
  td_status status = TD_OK;
  for (td_warning *warning = first; warning && !status; warning = warning->next) {
    if (td_thread_self.graph_task)
      collect(td_thread_self.graph_task, td_dup_string(warning->text));
    else
      status = handler(warning->text, graph_task->result ? NULL : error);
  }
  drop(first);
  return status;
}

void
td_warnings_free(td_graph_task *graph_task) {
  drop(take(graph_task));
}
