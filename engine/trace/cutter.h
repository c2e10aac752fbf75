/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cutter: makes a keyframe of the events before a cut, and puts it in their place. One thread. */
#pragma once

#include "engine/trace/keeper_file.h"
#include "engine/trace/keyframe.h"

/* Zero-initialise. */
typedef struct td_cutter {
  td_keyframe keyframe;
  uint64_t *numbers; /* (owned) [n_threads] of each thread's next event behind the keyframe */
  uint32_t n_threads;
} td_cutter;

/* td_cutter_cut lets go of all events up to the tick `cut`, but for the keyframe. TD_IO,
 * TD_DAMAGED: the file and the cutter are as before. */
td_status td_cutter_cut(td_cutter *self, td_keeper_file *file, uint64_t cut, td_error *error);
void td_cutter_fini(td_cutter *self);
