/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/contents.h"

#include "engine/base/alloc.h"

#include <string.h>

#define STRINGS_FREE 65536u

void
td_contents_define(td_contents *contents, uint32_t id, const char *text, size_t length) {
  if (id > contents->n_events + STRINGS_FREE) return;
  if (id >= contents->strings_capacity) {
    uint32_t n = TD_MAX(id + 1, contents->strings_capacity * 2);
    contents->strings = td_realloc(contents->strings, n, sizeof *contents->strings);
    memset(contents->strings + contents->strings_capacity, 0,
           (n - contents->strings_capacity) * sizeof *contents->strings);
    contents->strings_capacity = n;
  }
  free(contents->strings[id]);
  contents->strings[id] = td_alloc(length + 1, 1);
  memcpy(contents->strings[id], text, length);
  contents->n_strings = TD_MAX(contents->n_strings, id + 1);
}

static void
collect_string(td_contents *contents, const td_event_string *event) {
  size_t room = event->event.size > sizeof *event ? event->event.size - sizeof *event : 0;
  td_contents_define(contents, event->id, (const char *)(event + 1),
                     TD_MIN((size_t)event->length, room));
}

static void
collect_event(td_contents *contents, const td_event *event) {
  td_tape_thread *thread = &contents->threads[event->thread];
  if (thread->n_events++ == 0) thread->first_ns = event->time;
  thread->last_ns = event->time;
  contents->n_by_kind[event->kind]++;
  if (event->kind == TD_EVENT_string) collect_string(contents, (const td_event_string *)event);
  if (event->kind == TD_EVENT_known) {
    TD_GROW(contents->known, contents->n_known, contents->known_capacity);
    contents->known[contents->n_known++] = *(const td_event_known *)event;
  }
  if (event->kind == TD_EVENT_dropped)
    contents->n_dropped += ((const td_event_dropped *)event)->count;
  contents->n_events++;
}

static void
collect_run(td_contents *contents, const td_merge_run *run) {
  if (contents->n_events % TD_BLOCK_EVENTS == 0) {
    TD_GROW(contents->places, contents->n_blocks, contents->places_capacity);
    contents->places[contents->n_blocks++] = td_merge_run_place(run, 0);
  }
  for (uint32_t i = 0; i < run->n; i++)
    collect_event(contents, td_decoded_get(run->events, run->first + i));
}

/* A run ends where a block does. */
void
td_contents_scan(td_contents *contents, td_merge *merge, const td_contents_listener *listener) {
  uint32_t n_threads = merge->directory->n_threads;
  td_merge_run run;
  *contents = (td_contents){.threads = TD_NEW_N(td_tape_thread, n_threads)};
  td_merge_start(merge);
  while (td_merge_next_run(merge, TD_BLOCK_EVENTS - contents->n_events % TD_BLOCK_EVENTS, &run)) {
    if (listener) listener->run(&run, contents->n_events, listener->data);
    collect_run(contents, &run);
  }
  for (uint32_t t = 0; t < n_threads; t++)
    contents->n_unknown += merge->streams[t].n_unknown;
}

void
td_contents_fini(td_contents *contents) {
  for (uint32_t id = 0; id < contents->n_strings; id++)
    free(contents->strings[id]);
  free(contents->strings);
  free(contents->threads);
  free(contents->known);
  free(contents->places);
  free(contents->segments);
  *contents = (td_contents){0};
}
