/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/block.h"

#include "engine/base/alloc.h"

#include <string.h>

static void
reserve(td_decoded *events) {
  if (events->bytes) return;
  events->bytes_capacity = TD_BLOCK_EVENTS * sizeof(td_any_event);
  events->bytes = td_alloc(events->bytes_capacity, 1);
  events->offsets_capacity = TD_BLOCK_EVENTS;
  events->offsets = TD_NEW_N(uint32_t, TD_BLOCK_EVENTS);
}

/* Appends copies of n events, none of them longer than td_any_event. */
static void
add_short(td_decoded *into, const td_decoded *from, uint32_t first, uint32_t n) {
  uint32_t begin = from->offsets[first], last = first + n - 1;
  uint32_t n_bytes = from->offsets[last] + td_decoded_get(from, last)->size - begin;
  uint32_t moved = (uint32_t)into->n_bytes - begin;
  memcpy(into->bytes + into->n_bytes, from->bytes + begin, n_bytes);
  for (uint32_t i = 0; i < n; i++)
    into->offsets[into->n_events + i] = from->offsets[first + i] + moved;
  into->n_events += n;
  into->n_bytes += n_bytes;
}

/* Appends a copy of an event, cut to what td_any_event holds. */
static void
add_cut(td_decoded *into, const td_event *event) {
  size_t size = TD_MIN((size_t)event->size, sizeof(td_any_event));
  memcpy(into->bytes + into->n_bytes, event, size);
  into->offsets[into->n_events++] = (uint32_t)into->n_bytes;
  into->n_bytes += size;
}

static void
add_events(td_decoded *into, const td_decoded *from, uint32_t first, uint32_t n) {
  if (n == 0) return;
  if (from->longest <= sizeof(td_any_event)) {
    add_short(into, from, first, n);
    return;
  }
  for (uint32_t i = first; i < first + n; i++)
    add_cut(into, td_decoded_get(from, i));
}

/* Where the block after this one begins; NULL: nowhere. */
static const td_merge_place *
block_end(const td_contents *contents, uint64_t number) {
  return number + 1 < contents->n_blocks ? &contents->places[number + 1] : NULL;
}

/* Appends those events of a run that lie between two places. False if there are later ones. A table
 * of contents may name places that are not those of the events: see the note in
 * engine/trace/contents.h. */
static bool
add_between(td_decoded *into, const td_merge_run *run, const td_merge_place *first,
            const td_merge_place *end) {
  uint32_t from = 0, to = run->n;
  td_merge_place place = td_merge_run_place(run, 0);
  while (td_merge_is_before(&place, first) && ++from < run->n)
    place = td_merge_run_place(run, from);
  for (; end && to > from; to--) {
    place = td_merge_run_place(run, to - 1);
    if (td_merge_is_before(&place, end)) break;
  }
  add_events(into, run->events, run->first + from, to - from);
  return to == run->n;
}

void
td_block_load(td_block_source *source, td_block *block, uint64_t number) {
  td_directory *directory = &source->directory;
  td_contents *contents = &source->contents;
  const td_merge_place *first = &contents->places[number], *end = block_end(contents, number);
  td_decoded *events = &block->events;
  if (source->merge_block != number) td_merge_seek(&source->merge, first);
  reserve(events);
  block->number = number;
  events->n_events = 0;
  events->n_bytes = 0;
  bool is_whole = true;
  td_merge_run run;
  while (is_whole && events->n_events < TD_BLOCK_EVENTS &&
         td_merge_next_run(&source->merge, TD_BLOCK_EVENTS - events->n_events, &run)) {
    if (directory->n_claims)
      is_whole = add_between(events, &run, first, end);
    else
      add_events(events, run.events, run.first, run.n);
  }
  uint64_t n_wanted = TD_MIN(contents->n_events - number * TD_BLOCK_EVENTS, TD_BLOCK_EVENTS);
  if (events->n_events < n_wanted)
    td_directory_note_damage(directory, "its table of contents names places where no events are");
  source->merge_block = is_whole ? number + 1 : UINT64_MAX;
  block->damage = directory->damage;
  block->is_cut_off = td_directory_is_sound(directory);
  block->unusable = directory->unreadable || directory->out_of_memory;
}
