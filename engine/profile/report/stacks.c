/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/stacks.h"

#include "engine/base/line.h"
#include "engine/profile/report/report_keys.h"
#include "engine/replay/catalog_visit.h"

#include <stdlib.h>
#include <string.h>

typedef struct stacking {
  uint32_t graph_task; /* wished, or TD_NONE */
  td_stacks *stacks;
  td_tape *tape;
  td_lives *lives;
  td_life *pending; /* (owned) of this segment: its nodes get their modules at its end */
  size_t n_pending, capacity;
  uint32_t n_passes;
} stacking;

/* Frames beside the function; NULL: the function itself. */
static const char *const frames[TD_N_LIFE_PARTS] = {[TD_LIFE_lock_wait] = "[waiting for a lock]",
                                                    [TD_LIFE_no_core] = "[waiting for a core]",
                                                    [TD_LIFE_pre_hooks] = "[hooks]",
                                                    [TD_LIFE_post_hooks] = "[hooks]",
                                                    [TD_LIFE_accumulate] = "[handing over]",
                                                    [TD_LIFE_release] = "[handing over]",
                                                    [TD_LIFE_push] = "[handing over]"};

static void
append(char **text, const char *frame) {
  char separator[] = {TD_STACK_SEPARATOR, '\0'};
  char *longer = td_format("%s%s%s", *text, **text ? separator : "", frame);
  free(*text);
  *text = longer;
}

/* "net.encoder.0" is three frames. */
static char *
module_frames(const td_catalog *catalog, uint32_t node) {
  uint32_t of = td_report_module_node(catalog, node);
  const char *module = of == TD_NONE ? NULL : td_catalog_node_find(catalog, of)->module;
  char *text = td_line_dup(module ? module : "", TD_NAME_SHOWN);
  for (char *at = text; *at; at++)
    if (*at == '.') *at = TD_STACK_SEPARATOR;
  return text;
}

static void
add_sample(td_stacks *stacks, const td_life *life, const char *stack, uint64_t ns) {
  if (!ns) return;
  TD_GROW(stacks->samples, stacks->n, stacks->capacity);
  stacks->samples[stacks->n++] =
      (td_stack_sample){.thread = life->thread,
                        .stack = td_text_table_put(&stacks->texts, stack, strlen(stack)),
                        .begin_ns = life->begin_ns,
                        .ns = ns};
}

static void
add_beside(td_stacks *stacks, const td_life *life, const char *stack, const char *frame,
           uint64_t ns) {
  char *text = td_dup_string(stack);
  append(&text, frame);
  add_sample(stacks, life, text, ns);
  free(text);
}

static void
add_life(td_stacks *stacks, const td_catalog *catalog, const td_life *life) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, life->node);
  char *stack = module_frames(catalog, life->node);
  stacks->has_modules |= *stack != '\0';
  char *name = td_line_dup(facts && *facts->name ? facts->name : "(no name)", TD_NAME_SHOWN);
  append(&stack, name);
  free(name);
  for (int part = TD_LIFE_lock_wait; part < TD_N_LIFE_PARTS; part++)
    if (frames[part])
      add_beside(stacks, life, stack, frames[part], life->parts[part]);
    else
      add_sample(stacks, life, stack, life->parts[part]);
  add_beside(stacks, life, stack, "[the recorder]", life->recorder_ns);
  free(stack);
}

static void
life_cb(const td_life *life, void *data) {
  stacking *self = data;
  bool is_wished = self->graph_task == TD_NONE ||
                   td_lives_pass(self->lives, life->pass)->graph_task == self->graph_task;
  if (!is_wished) return;
  TD_GROW(self->pending, self->n_pending, self->capacity);
  self->pending[self->n_pending++] = *life;
}

static void
event_cb(const td_catalog *so_far, const td_any_event *event, uint64_t seq, void *data) {
  stacking *self = data;
  (void)so_far;
  td_lives_at(self->lives, seq);
  td_lives_apply(self->lives, event);
}

static void
name_threads(td_stacks *stacks, const td_catalog *catalog) {
  for (uint32_t i = stacks->threads.n; i < catalog->n_threads; i++) {
    char *name = td_report_thread_name(catalog, i);
    td_text_table_put(&stacks->threads, name, strlen(name));
    free(name);
  }
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  stacking *self = data;
  (void)first;
  (void)error;
  if (end == td_tape_info_get(self->tape)->n_events) self->n_passes = td_lives_end(self->lives);
  name_threads(self->stacks, catalog);
  for (size_t i = 0; i < self->n_pending; i++)
    add_life(self->stacks, catalog, &self->pending[i]);
  self->n_pending = 0;
  return TD_OK;
}

/* The parts of one life keep their order. */
static int
compare_samples(const void *a, const void *b) {
  const td_stack_sample *left = a, *right = b;
  if (left->thread != right->thread) return left->thread < right->thread ? -1 : 1;
  if (left->begin_ns != right->begin_ns) return left->begin_ns < right->begin_ns ? -1 : 1;
  return (left->stack > right->stack) - (left->stack < right->stack);
}

static bool
has_pass(const stacking *self) {
  bool found = self->graph_task == TD_NONE;
  for (uint32_t i = 0; i < self->n_passes && !found; i++)
    found = td_lives_pass(self->lives, i)->graph_task == self->graph_task;
  return found;
}

td_status
td_stacks_make(td_tape *tape, uint32_t graph_task, td_stacks *stacks, td_error *error) {
  *stacks = (td_stacks){0};
  stacking self = {.graph_task = graph_task, .stacks = stacks, .tape = tape};
  self.lives =
      td_lives_new(td_tape_info_get(tape),
                   (td_life_listener){.life = life_cb, .unfinished = life_cb, .data = &self});
  bool kinds[TD_EVENT_LIMIT];
  td_report_key_kinds(TD_REPORT_BY_module, kinds);
  kinds[TD_EVENT_thread_new] = kinds[TD_EVENT_process_new] = true;
  td_catalog_along along = {.listener = event_cb, .data = &self, .kinds = kinds};
  td_status status = td_catalog_visit_along(tape, &along, visit_segment, error);
  if (!status && !has_pass(&self))
    status = td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u", graph_task);
  if (stacks->n) qsort(stacks->samples, stacks->n, sizeof *stacks->samples, compare_samples);
  td_lives_free(self.lives);
  free(self.pending);
  return status;
}

void
td_stacks_fini(td_stacks *stacks) {
  free(stacks->samples);
  td_text_table_fini(&stacks->texts);
  td_text_table_fini(&stacks->threads);
  *stacks = (td_stacks){0};
}
