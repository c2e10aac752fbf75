/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/ranks/lateness.h"

#include "engine/base/alloc.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LATE_NS 1000000u
#define LATE_OF_PASS 0.03
#define PASSES_MIN 20u
#define QUEUE_MAX 64u /* passes that ranks are apart */
#define PLACES_MAX 4096u
#define OUTSIDE 1u /* the key of what lies between passes */

struct td_late_open {
  uint32_t thread, node, owner;
  bool is_wait;
  uint64_t key, begin, inside, seq; /* inside: ns of what began and ended within */
};

/* ---- keys ---- */

static uint64_t
mix(uint64_t a, uint64_t b) {
  uint64_t mixed = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  return mixed ^ mixed >> 31;
}

/* The same number for the same text of all ranks. */
static uint32_t
number_of(td_lateness *self, const char *text) {
  if (!text || !*text) return 0;
  uint64_t *number = td_number_map_put(&self->names, (uint64_t)(uintptr_t)text);
  if (!*number) *number = td_text_table_put(&self->texts, text, strlen(text));
  return (uint32_t)*number;
}

/* What the same node of all ranks has: its name, module and label, and how many such nodes the pass
 * had before. */
static uint64_t
key_of(td_lateness *self, td_late_process *process, const td_catalog *so_far, uint32_t node,
       uint64_t kind) {
  const td_catalog_node *facts = td_catalog_node_find(so_far, node);
  uint64_t key = mix(kind, 2);
  if (facts) {
    key = mix(key, number_of(self, facts->name));
    key = mix(key, number_of(self, facts->module));
    key = mix(key, number_of(self, facts->label));
  }
  return mix(key, ++*td_number_map_put(&process->met, key));
}

/* ---- what a process does ---- */

static td_late_process *
process_of(td_lateness *self, const td_catalog *so_far, uint32_t thread) {
  uint32_t process = thread < so_far->n_threads ? so_far->threads[thread].process : 0;
  while (self->n_processes <= process) {
    TD_GROW(self->processes, self->n_processes, self->capacity);
    self->processes[self->n_processes++] = (td_late_process){.graph_task = TD_NONE};
  }
  return &self->processes[process];
}

static void
add_piece(td_late_process *self, td_late_piece piece) {
  TD_GROW(self->now.pieces, self->now.n, self->now.capacity);
  self->now.pieces[self->now.n++] = piece;
}

static void
open(td_late_process *self, td_late_open span) {
  TD_GROW(self->open, self->n_open, self->open_capacity);
  self->open[self->n_open++] = span;
}

/* The innermost one of a thread, or NULL. */
static td_late_open *
find_open(td_late_process *self, uint32_t thread) {
  for (uint32_t i = self->n_open; i-- > 0;)
    if (self->open[i].thread == thread) return &self->open[i];
  return NULL;
}

static void
take_out(td_late_process *self, td_late_open *span) {
  size_t at = (size_t)(span - self->open);
  memmove(span, span + 1, (--self->n_open - at) * sizeof *span);
}

static void
close_span(td_late_process *self, const td_event *event) {
  td_late_open *span = find_open(self, event->thread);
  if (!span) return;
  td_late_open closed = *span;
  uint64_t ns = event->time - closed.begin;
  take_out(self, span);
  td_late_open *outer = find_open(self, event->thread);
  if (outer) outer->inside += ns;
  if (closed.is_wait) {
    self->now.waited += ns;
    if (self->graph_task == TD_NONE) self->waited += ns;
  } else if (ns > closed.inside) {
    add_piece(self, (td_late_piece){closed.key, ns - closed.inside, closed.seq, closed.node,
                                    closed.owner});
  }
}

/* ---- comparing ---- */

/* Places are few: nothing is behind by a millisecond in many. */
static td_late_place *
place_of(td_lateness *self, uint32_t process, uint64_t key) {
  if (self->n_places == PLACES_MAX) return NULL;
  uint64_t *number = td_number_map_put(&self->numbers, mix(key, process));
  if (*number) return &self->places[*number - 1];
  TD_GROW(self->places, self->n_places, self->places_capacity);
  self->places[self->n_places] = (td_late_place){.process = process, .key = key};
  *number = ++self->n_places;
  return &self->places[self->n_places - 1];
}

static char *
name_place(const td_catalog *so_far, td_tape *tape, const td_late_piece *piece) {
  if (piece->key == OUTSIDE) return td_dup_string(td_sentence_text(TD_SAY_late_outside));
  char *node = td_why_name_node_whole(so_far, piece->node);
  if (!piece->owner) return node;
  char *words =
      td_said(NULL, TD_SAY_late_hook, td_with_text("owner", td_tape_string(tape, piece->owner)),
              td_with_text("node", node));
  free(node);
  return words;
}

typedef struct comparing {
  td_lateness *self;
  td_tape *tape;
  const td_catalog *so_far;
  uint64_t *times; /* (owned) [n_processes] room */
} comparing;

static int
compare_numbers(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t
time_of(const td_late_pass *pass, uint64_t key) {
  for (uint32_t i = 0; i < pass->n; i++)
    if (pass->pieces[i].key == key) return pass->pieces[i].ns;
  return 0;
}

/* The median of what the other ranks took, and the least that they waited. */
static uint64_t
median_of_others(comparing *self, uint32_t process, uint64_t key, uint64_t *waited) {
  uint32_t n = 0;
  *waited = UINT64_MAX;
  for (uint32_t i = 0; i < self->self->n_processes; i++) {
    const td_late_process *other = &self->self->processes[i];
    if (i == process || !other->is_rank) continue;
    self->times[n++] = time_of(&other->queue[0], key);
    *waited = TD_MIN(*waited, other->queue[0].waited);
  }
  qsort(self->times, n, sizeof *self->times, compare_numbers);
  return self->times[n / 2];
}

static void
note(comparing *self, uint32_t process, const td_late_piece *piece, uint64_t behind) {
  td_late_place *place = place_of(self->self, process, piece->key);
  if (!place) return;
  if (!place->passes) {
    place->passes = TD_NEW_N(uint64_t, TD_LATE_WINDOW);
    place->behind = TD_NEW_N(uint64_t, TD_LATE_WINDOW);
  }
  place->passes[place->n % TD_LATE_WINDOW] = self->self->n_passes;
  place->behind[place->n++ % TD_LATE_WINDOW] = behind;
  place->seq = piece->seq;
  free(place->words);
  place->words = name_place(self->so_far, self->tape, piece);
}

static void
compare_process(comparing *self, uint32_t number) {
  const td_late_pass *pass = &self->self->processes[number].queue[0];
  uint64_t least = TD_MAX(LATE_NS, (uint64_t)((double)pass->ns * LATE_OF_PASS));
  for (uint32_t i = 0; i < pass->n; i++) {
    const td_late_piece *piece = &pass->pieces[i];
    uint64_t waited;
    if (piece->ns < least) continue;
    uint64_t others = median_of_others(self, number, piece->key, &waited);
    uint64_t behind = piece->ns > others ? piece->ns - others : 0;
    if (behind >= least && waited >= behind / 2) note(self, number, piece, behind);
  }
}

static void
drop_first(td_late_process *self) {
  free(self->queue[0].pieces);
  memmove(self->queue, self->queue + 1, --self->n_queue * sizeof *self->queue);
}

/* Compares the oldest pass, if all ranks have ended it. */
static bool
compare_oldest(td_lateness *self, td_tape *tape, const td_catalog *so_far) {
  uint32_t n_ranks = 0;
  for (uint32_t i = 0; i < self->n_processes; i++) {
    const td_late_process *process = &self->processes[i];
    n_ranks += process->is_rank;
    if (process->is_rank && process->n_queue == 0) return false;
  }
  if (n_ranks < 2) return false;
  comparing comparing = {self, tape, so_far, TD_NEW_N(uint64_t, self->n_processes)};
  self->n_passes++;
  for (uint32_t i = 0; i < self->n_processes; i++)
    if (self->processes[i].is_rank) compare_process(&comparing, i);
  free(comparing.times);
  for (uint32_t i = 0; i < self->n_processes; i++)
    if (self->processes[i].is_rank) drop_first(&self->processes[i]);
  return true;
}

/* ---- passes ---- */

static void
begin_pass(td_lateness *self, td_late_process *process, const td_event_graph_task_begin *event,
           uint64_t seq) {
  uint64_t now = event->event.time, outside = now - process->ended;
  if (event->depth) return;
  if (process->graph_task != TD_NONE) self->is_confused = true;
  process->graph_task = event->graph_task;
  if (process->ended && outside > process->waited)
    add_piece(process, (td_late_piece){OUTSIDE, outside - process->waited, seq, TD_NONE, 0});
  td_number_map_fini(&process->met);
}

static void
end_pass(td_lateness *self, td_tape *tape, const td_catalog *so_far, td_late_process *process,
         const td_event_graph_task_end *event) {
  if (event->graph_task != process->graph_task) return;
  process->graph_task = TD_NONE;
  process->now.ns = process->ended ? event->event.time - process->ended : 0;
  process->ended = event->event.time;
  process->waited = 0;
  if (process->n_queue == QUEUE_MAX) self->is_confused = true;
  TD_GROW(process->queue, process->n_queue, process->queue_capacity);
  process->queue[process->n_queue++] = process->now;
  process->now = (td_late_pass){0};
  while (!self->is_confused && compare_oldest(self, tape, so_far))
    continue;
}

void
td_lateness_take(td_lateness *self, td_tape *tape, const td_catalog *so_far,
                 const td_any_event *event, uint64_t seq) {
  uint32_t thread = event->event.thread;
  uint64_t now = event->event.time;
  if (self->is_confused) return;
  td_late_process *process = process_of(self, so_far, thread);
  switch (event->event.kind) {
  case TD_EVENT_collective:
    process->is_rank = true;
    return;
  case TD_EVENT_graph_task_begin:
    return begin_pass(self, process, &event->graph_task_begin, seq);
  case TD_EVENT_graph_task_end:
    return end_pass(self, tape, so_far, process, &event->graph_task_end);
  case TD_EVENT_node_begin:
    return open(process, (td_late_open){thread, event->node_begin.node, 0, false,
                                        key_of(self, process, so_far, event->node_begin.node, 0),
                                        now, 0, seq});
  case TD_EVENT_hook_begin:
    return open(process,
                (td_late_open){thread, event->hook_begin.node, event->hook_begin.owner, false,
                               key_of(self, process, so_far, event->hook_begin.node,
                                      1 + (uint64_t)event->hook_begin.kind),
                               now, 0, seq});
  case TD_EVENT_collective_begin:
    return open(process, (td_late_open){thread, TD_NONE, 0, true, 0, now, 0, seq});
  case TD_EVENT_node_end:
  case TD_EVENT_hook_end:
  case TD_EVENT_collective_end:
    return close_span(process, &event->event);
  default:
    return;
  }
}

/* ---- finding ---- */

static bool
is_late_in(const td_lateness *self, const td_late_place *place, uint32_t i) {
  return place->passes[i] + TD_LATE_WINDOW > self->n_passes;
}

static uint32_t
count(const td_lateness *self, const td_late_place *place) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < TD_MIN(place->n, TD_LATE_WINDOW); i++)
    n += is_late_in(self, place, i);
  return n;
}

static uint64_t
median(const td_lateness *self, const td_late_place *place) {
  uint64_t times[TD_LATE_WINDOW];
  uint32_t n = 0;
  for (uint32_t i = 0; i < TD_MIN(place->n, TD_LATE_WINDOW); i++)
    if (is_late_in(self, place, i)) times[n++] = place->behind[i];
  qsort(times, n, sizeof *times, compare_numbers);
  return times[n / 2];
}

static bool
are_others_behind(const td_lateness *self, const td_late_place *place, uint32_t n_passes) {
  for (uint32_t i = 0; i < self->n_places; i++) {
    const td_late_place *other = &self->places[i];
    if (other->key == place->key && other->process != place->process &&
        count(self, other) > n_passes / 10)
      return true;
  }
  return false;
}

bool
td_lateness_find(const td_lateness *self, td_late *found) {
  uint32_t n_passes = (uint32_t)TD_MIN(self->n_passes, TD_LATE_WINDOW);
  *found = (td_late){0};
  if (self->is_confused || n_passes < PASSES_MIN) return false;
  for (uint32_t i = 0; i < self->n_places; i++) {
    const td_late_place *place = &self->places[i];
    uint32_t n = count(self, place);
    if (n * 5 < n_passes * 3 || are_others_behind(self, place, n_passes)) continue;
    uint64_t behind = median(self, place);
    if (behind <= found->behind) continue;
    *found = (td_late){place->process, n, n_passes, behind, place->seq, place->words};
  }
  return found->n > 0;
}

char *
td_late_text(const td_late *late, const td_catalog *catalog) {
  char *rank = td_catalog_process_label(catalog, late->process);
  char *time = td_format("%.2f ms", (double)late->behind * 1e-6);
  char *text = td_said(NULL, TD_SAY_late, td_with_text("rank", rank),
                       td_with_number("late", late->n), td_with_number("passes", late->n_passes),
                       td_with_text("time", time), td_with_text("place", late->place));
  free(rank);
  free(time);
  text[0] = (char)toupper((unsigned char)text[0]);
  return text;
}

void
td_lateness_fini(td_lateness *self) {
  for (uint32_t i = 0; i < self->n_processes; i++) {
    td_late_process *process = &self->processes[i];
    for (uint32_t q = 0; q < process->n_queue; q++)
      free(process->queue[q].pieces);
    free(process->queue);
    free(process->now.pieces);
    free(process->open);
    td_number_map_fini(&process->met);
  }
  for (uint32_t i = 0; i < self->n_places; i++) {
    free(self->places[i].words);
    free(self->places[i].passes);
    free(self->places[i].behind);
  }
  free(self->processes);
  free(self->places);
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->names);
  td_text_table_fini(&self->texts);
  *self = (td_lateness){0};
}
