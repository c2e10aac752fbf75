/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which training steps of the program are recorded. This counts steps and passes, and decides about
 * each pass at its begin. It emits `step` at the end of a recorded step, and `left_out` for what
 * the tape lacks. Note [Steps] in steps.c says what a step is. Any thread. */
#pragma once

#include "engine/probe/probe.h"

#include <stdbool.h>
#include <stdint.h>

/* Who can say that a step is over. Optimizers have the numbers from TD_MARKER_OPTIMIZER on. */
#define TD_MARKER_PROGRAM 0u
#define TD_MARKER_PROFILER 1u
#define TD_MARKER_PASS 2u
#define TD_MARKER_OPTIMIZER 3u

typedef struct td_steps_options {
  uint32_t from, to; /* from <= step < to, counted from 0 */
  uint32_t every;    /* and only each n-th of these; at least 1 */
  bool until_nan;    /* and none after the step in which a NaN is born */
  const char *words; /* the options as the user gave them; NULL: everything is wanted */
} td_steps_options;

/* td_steps_configure sets what is wanted. It is for the time before the first pass. */
void td_steps_configure(const td_steps_options *options);

/* td_steps_forget begins to count anew. It is for the child of a fork. */
void td_steps_forget(void);

/* td_steps_are_chosen returns true if the user chose steps. */
bool td_steps_are_chosen(void);

/* td_steps_wants_this returns true if the step under way is wanted. One load. */
extern bool td_steps_wanted; /* for td_steps_wants_this alone */

static inline bool
td_steps_wants_this(void) {
  return __atomic_load_n(&td_steps_wanted, __ATOMIC_RELAXED);
}

/* td_steps_wants_watching returns true if the engine must be watched: this step is wanted, or a
 * recorded pass is under way. */
bool td_steps_wants_watching(void);

/* td_steps_pass_begin and td_steps_pass_end: a pass that no node called. The end returns true if a
 * step is over with the pass. */
td_pass_ticket td_steps_pass_begin(void);
bool td_steps_pass_end(td_pass_ticket ticket);

/* td_steps_mark: this marker says that a step is over. Returns true if one is. */
bool td_steps_mark(uint32_t marker);

/* td_steps_count_passes: the program has no optimizer, so each pass is a step. */
void td_steps_count_passes(void);

/* td_steps_note_nan: a NaN was born, in a recorded pass or in the forward pass before it. */
void td_steps_note_nan(void);

/* td_steps_tell_left_out emits what was left out since the last call, if anything was. */
void td_steps_tell_left_out(void);

/* td_steps_counts returns how many steps and passes the process has made, and whether the NaN came
 * that ends the recording. */
void td_steps_counts(uint32_t *n_steps, uint32_t *n_passes, bool *nan_came);
