/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keyframe: the events that say what lives at a moment, taken unchanged from all events before it.
 * They are nodes that were not freed, with edges, names and saved tensors, and queues, threads,
 * devices, settings and strings. The column `uses` of events.def says for each kind how long it
 * lasts. One thread.
 *
 * The values of one backward pass do not last. So a keyframe is whole where no pass is under way.
 */
#pragma once

#include "engine/base/number_map.h"
#include "engine/events/event_type.h"
#include "engine/trace/event_pile.h"

/* What the events were about that a keyframe stands for. */
typedef struct td_keyframe_counts {
  uint64_t n_events, n_passes; /* of the passes, those that no node called */
  uint32_t n_steps, first_step;
  uint64_t n_unwanted_passes; /* that never were events, nor were their steps: the user chose so */
  uint32_t n_unwanted_steps;
  uint32_t thread; /* of the last step or pass */
} td_keyframe_counts;

/* Zero-initialise. */
typedef struct td_keyframe {
  td_event_pile events; /* in the order in which they were added */
  uint64_t *seqs;       /* (owned) [n] the numbers that td_keyframe_add got */
  size_t n, capacity;
  size_t n_settled;             /* bytes that had lasted when td_keyframe_settle was last called */
  td_number_map nodes, threads; /* that have ended since then */
  bool holds_popped;    /* set by the user: a node that a queue popped last stays, freed or not */
  td_number_map popped; /* by queue: that node */
  td_keyframe_counts counts;
} td_keyframe;

/* td_keyframe_add takes the next event of the merged order, and its number there. */
void td_keyframe_add(td_keyframe *keyframe, const td_event *event, uint64_t seq);

/* td_keyframe_put adds an event that td_keyframe_settle does not judge. */
void td_keyframe_put(td_keyframe *keyframe, const td_event *event, uint64_t seq);

/* td_keyframe_settle drops what does not last. All of `events` belongs to the keyframe then. */
void td_keyframe_settle(td_keyframe *keyframe);

/* td_keyframe_copy returns a copy of a keyframe that was settled. */
td_keyframe td_keyframe_copy(const td_keyframe *keyframe);

/* td_keyframe_merge returns a list with the events of two lists whose numbers rise, so that its
 * numbers rise too. Of equal numbers, those of `one` come first. */
td_keyframe td_keyframe_merge(const td_keyframe *one, const td_keyframe *other);
void td_keyframe_fini(td_keyframe *keyframe);
