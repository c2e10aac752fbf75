/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/summary.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/profile/pauses.h"

#include <stdlib.h>
#include <string.h>

/* A node that runs on a thread. */
typedef struct running {
  uint32_t node;
  uint64_t since_ns, inner_ns; /* inner: time of nodes that ran inside it */
} running;

typedef struct thread_stack {
  running *at; /* (owned) */
  size_t n, capacity;
  td_number_map n_open; /* by node: how often it is on the stack */
} thread_stack;

typedef struct collector {
  const td_catalog *catalog;
  td_summary *out;
  thread_stack *threads; /* (owned) by thread */
  uint64_t *node_ns;     /* (owned) by the node's row */
  td_pauses pauses;
} collector;

static void
begin_node(collector *self, const td_event *event, uint32_t node) {
  thread_stack *stack = &self->threads[event->thread];
  TD_GROW(stack->at, stack->n, stack->capacity);
  stack->at[stack->n++] = (running){.node = node, .since_ns = self->pauses.now};
  ++*td_number_map_put(&stack->n_open, node);
}

static const running *
pop_node(thread_stack *stack) {
  const running *last = &stack->at[--stack->n];
  --*td_number_map_find(&stack->n_open, last->node);
  return last;
}

/* An error ends a node too. What began above it and never ended has no time. */
static void
end_node(collector *self, const td_event *event, uint32_t node) {
  thread_stack *stack = &self->threads[event->thread];
  const uint64_t *n_open = td_number_map_find(&stack->n_open, node);
  if (!n_open || *n_open == 0) return;
  const running *ended = pop_node(stack);
  while (ended->node != node)
    ended = pop_node(stack);
  uint64_t took = self->pauses.now - ended->since_ns;
  uint32_t row = td_catalog_node_row(self->catalog, node);
  if (row != TD_NO_ROW) self->node_ns[row] += took > ended->inner_ns ? took - ended->inner_ns : 0;
  if (stack->n > 0) stack->at[stack->n - 1].inner_ns += took;
}

static void
stack_fini(thread_stack *stack) {
  free(stack->at);
  td_number_map_fini(&stack->n_open);
}

static void
take(collector *self, const td_any_event *event) {
  switch (event->event.kind) {
  case TD_EVENT_node_begin:
    begin_node(self, &event->event, event->node_begin.node);
    break;
  case TD_EVENT_node_end:
    end_node(self, &event->event, event->node_end.node);
    break;
  default:
    break;
  }
}

static int
compare_nodes(const void *a, const void *b) {
  const td_summary_node *left = a, *right = b;
  if (left->ns != right->ns) return left->ns > right->ns ? -1 : 1;
  return (left->node > right->node) - (left->node < right->node);
}

static int
compare_names(const void *a, const void *b) {
  const td_summary_module *left = a, *right = b;
  return left->module == right->module ? 0 : strcmp(left->module, right->module);
}

static int
compare_modules(const void *a, const void *b) {
  const td_summary_module *left = a, *right = b;
  if (left->ns != right->ns) return left->ns > right->ns ? -1 : 1;
  return strcmp(left->module, right->module);
}

/* Makes one item of all that have the same name. */
static void
merge_modules(td_summary *out) {
  uint32_t n = 0;
  qsort(out->modules, out->n_modules, sizeof *out->modules, compare_names);
  for (uint32_t i = 0; i < out->n_modules; i++) {
    td_summary_module *item = &out->modules[i];
    if (n > 0 && compare_names(&out->modules[n - 1], item) == 0) {
      out->modules[n - 1].ns += item->ns;
      out->modules[n - 1].n_nodes += item->n_nodes;
    } else {
      out->modules[n++] = *item;
    }
  }
  out->n_modules = n;
  qsort(out->modules, n, sizeof *out->modules, compare_modules);
}

static void
conclude(collector *self) {
  td_summary *out = self->out;
  for (uint32_t row = 0; row < self->catalog->n_nodes; row++) {
    uint64_t ns = self->node_ns[row];
    uint32_t node = self->catalog->node_rows[row].id;
    const char *module = self->catalog->node_rows[row].module;
    if (ns == 0) continue;
    out->nodes[out->n_nodes++] = (td_summary_node){node, ns};
    out->total_ns += ns;
    if (module && *module)
      out->modules[out->n_modules++] =
          (td_summary_module){.module = module, .n_nodes = 1, .node = node, .ns = ns};
  }
  qsort(out->nodes, out->n_nodes, sizeof *out->nodes, compare_nodes);
  merge_modules(out);
}

static td_status
take_all(collector *self, td_tape *tape, td_error *error) {
  const td_segment *segment = &self->catalog->segment;
  td_tape_begin_pass(tape, segment);
  for (uint64_t seq = segment->first; seq < segment->end; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event) td_pauses_take(&self->pauses, event);
    if (event && event->event.thread < self->catalog->n_threads) take(self, event);
  }
  td_tape_end_pass(tape);
  return td_tape_check_readable(tape, error);
}

td_status
td_summary_make(td_tape *tape, const td_catalog *catalog, td_summary *summary, td_error *error) {
  *summary = (td_summary){.nodes = td_try_alloc(catalog->n_nodes, sizeof(td_summary_node)),
                          .modules = td_try_alloc(catalog->n_nodes, sizeof(td_summary_module))};
  collector self = {.catalog = catalog,
                    .out = summary,
                    .threads = td_try_alloc(catalog->n_threads, sizeof(thread_stack)),
                    .node_ns = td_try_alloc(catalog->n_nodes, sizeof(uint64_t))};
  bool has_memory = summary->nodes && summary->modules && self.threads && self.node_ns;
  td_status status = has_memory
                         ? take_all(&self, tape, error)
                         : td_error_set(error, TD_OUT_OF_MEMORY, "no memory to sum up the tape");
  if (has_memory) conclude(&self);
  for (uint32_t i = 0; self.threads && i < catalog->n_threads; i++)
    stack_fini(&self.threads[i]);
  free(self.threads);
  free(self.node_ns);
  if (status) td_summary_fini(summary);
  return status;
}

void
td_summary_fini(td_summary *summary) {
  free(summary->nodes);
  free(summary->modules);
  *summary = (td_summary){0};
}
