/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Markers: markers.py runs in the target and hears when an optimizer or PyTorch's profiler has made
 * a step. A program without Python has no markers. */
#pragma once

#include "engine/probe/probe.h"

/* td_markers_start begins to listen. `observer` is the one that records. `mark` gets the numbers of
 * steps.h. `note_rank` gets the rank of this process in its process group: at once, when an
 * optimizer steps for the first time, or in td_markers_find_rank. `begin` begins the tape, if the
 * program ends by an exception before its first pass. Any thread that holds no lock but
 * perhaps the GIL, which this takes. */
void td_markers_start(const td_observer *observer, void (*mark)(uint32_t marker),
                      void (*note_rank)(int32_t rank), void (*begin)(void));

/* td_markers_find_rank looks once more for the rank. A thread that holds no lock but perhaps the
 * GIL, which this takes. */
void td_markers_find_rank(void);

/* td_markers_expect_optimizer returns true if the program has made an optimizer so far. Takes the
 * GIL. */
bool td_markers_expect_optimizer(void);
