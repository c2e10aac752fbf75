/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chunks of keyframes. A chunk has two varints for each of its events: how far its number is from
 * that of the event before, and its thread. Then come the events, as in a chunk of events. Times
 * and durations are in nanoseconds. One thread. */
#pragma once

#include "engine/trace/chunk_bytes.h"
#include "engine/trace/directory.h"
#include "engine/trace/segment.h"

/* One event of a chunk beside what the event itself does not say. */
typedef struct td_keyframe_place {
  uint64_t seq;
  uint32_t thread;
} td_keyframe_place;

/* A chunk, decoded. Zero-initialise. */
typedef struct td_keyframe_events {
  td_decoded decoded;
  td_keyframe_place *places; /* (owned) [decoded.n_events] */
  uint32_t capacity;
} td_keyframe_events;

/* td_keyframe_chunk_put writes as many events of a keyframe as fit into a chunk: those from event
 * *at and byte *at_byte on, which it moves forwards. `like` has the clocks, the kind and the number
 * of the segment. False without memory. */
bool td_keyframe_chunk_put(td_chunk_bytes *out, const td_chunk_header *like,
                           const td_keyframe *keyframe, size_t *at, size_t *at_byte);

/* td_keyframe_chunk_load decodes chunk i of directory->keyframes. Numbers rise, and the events have
 * their threads. TD_DAMAGED, TD_OUT_OF_MEMORY, TD_IO as td_directory_load. */
td_status td_keyframe_chunk_load(td_directory *directory, uint32_t i, td_keyframe_events *events,
                                 td_error *error);
void td_keyframe_events_fini(td_keyframe_events *events);

/* td_keyframe_visit is td_tape_visit_keyframe. Numbers from `end` on are damage. */
td_status td_keyframe_visit(td_directory *directory, const td_segment *segment, uint64_t end,
                            td_keyframe_visitor visit, void *data, td_error *error);
