/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The training step and the backward pass in which the event of a finding lies. Private to
 * engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

/* The end of a step, which the program counted with this event. */
typedef struct td_step_end {
  uint64_t seq;
  uint32_t iteration;
} td_step_end;

/* An outermost pass. end_seq: UINT64_MAX before its end. */
typedef struct td_pass_place {
  uint64_t begin_seq, end_seq;
  uint32_t graph_task, number; /* the number counts all passes, from 1 */
  bool overlaps;               /* another one was under way meanwhile */
} td_pass_place;

typedef struct td_find_places {
  td_step_end *steps; /* (owned) in the order of the tape */
  uint32_t n_steps, steps_capacity;
  td_pass_place *passes; /* (owned) in the order in which they begin */
  uint32_t n_passes, passes_capacity, n_open;
  uint32_t n_begun;   /* also inside of others */
  td_number_map open; /* by graph task: number of the pass from 1; 0: it is over */
} td_find_places;

void td_find_places_step(td_find_places *self, const td_event_step *event, uint64_t seq);
void td_find_places_begin_pass(td_find_places *self, const td_event_graph_task_begin *event,
                               uint64_t seq);
/* td_find_places_end_pass takes the end of a pass that was given to begin_pass. */
void td_find_places_end_pass(td_find_places *self, uint32_t graph_task, uint64_t seq);

/* td_find_places_tell writes `step`, `graph_task` and `pass` of all findings. Of several processes
 * steps are not told apart, and of passes that run at once neither: then they stay TD_NONE. Passes
 * of several processes are not counted together. */
void td_find_places_tell(const td_find_places *self, bool has_processes, td_findings *findings);
void td_find_places_fini(td_find_places *self);
