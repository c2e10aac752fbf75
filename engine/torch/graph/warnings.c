/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/warnings.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/node.h"

#include <stdio.h>

typedef struct td_warning {
  char *text; /* (owned) */
  struct td_warning *next;
} td_warning;

static td_status
print_cb(const char *text, td_error *error) {
  fprintf(stderr, "Warning: %s\n", text);
  return TD_OK;
}

static td_warning_handler handler = print_cb;

static _Atomic bool always;

bool
td_warnings_always(void) {
  return atomic_load_explicit(&always, memory_order_relaxed);
}

void
td_warnings_set_always(bool wanted) {
  atomic_store_explicit(&always, wanted, memory_order_relaxed);
}

bool
td_warning_due(_Atomic bool *was_said) {
  return !atomic_exchange_explicit(was_said, true, memory_order_relaxed) || td_warnings_always();
}

void
td_warning_set_handler(td_warning_handler wanted) {
  handler = wanted;
}

static void
collect(td_warnings *warnings, const char *text) {
  td_warning *warning = TD_NEW(td_warning);
  warning->text = td_dup_string(text);
  pthread_mutex_lock(&warnings->mutex);
  td_warning **link = &warnings->first;
  while (*link)
    link = &(*link)->next;
  *link = warning;
  pthread_mutex_unlock(&warnings->mutex);
}

void
td_warn(const td_node *node, const char *text) {
  TD_EMIT(warning, .node = node ? td_node_id(node) : TD_NONE, .graph_task = td_graph_task_now_id(),
          .text = td_intern(text));
  if (td_now_self.warnings) return collect(td_now_self.warnings, text);
  td_error error = {0};
  if (handler(text, &error)) td_error_clear(&error);
}

static td_warning *
take(td_warnings *warnings) {
  pthread_mutex_lock(&warnings->mutex);
  td_warning *first = warnings->first;
  warnings->first = NULL;
  pthread_mutex_unlock(&warnings->mutex);
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
td_warnings_replay(td_warnings *warnings, bool has_failed, td_error *error) {
  td_warning *first = take(warnings);
  td_status status = TD_OK;
  for (td_warning *warning = first; warning && !status; warning = warning->next) {
    if (td_now_self.warnings)
      collect(td_now_self.warnings, warning->text);
    else
      status = handler(warning->text, has_failed ? NULL : error);
  }
  drop(first);
  return status;
}

void
td_warnings_init(td_warnings *warnings) {
  pthread_mutex_init(&warnings->mutex, NULL);
}

void
td_warnings_fini(td_warnings *warnings) {
  drop(take(warnings));
  pthread_mutex_destroy(&warnings->mutex);
}
