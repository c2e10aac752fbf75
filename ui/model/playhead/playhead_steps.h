/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moves of a playhead that look for a place on the tape: nodes, passes, training steps,
 * problems. `direction` is 1 or -1. Without a document they do nothing. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

void td_playhead_to_start(TdPlayhead *self);
void td_playhead_to_end(TdPlayhead *self);

/* td_playhead_step_node goes to the next or previous node_begin. Without one it goes to the end or
 * start. */
void td_playhead_step_node(TdPlayhead *self, int direction);

/* td_playhead_go_to_node goes to where the selected node begins or ends (node_begin, node_end) in
 * the pass that is shown. If this segment of the tape has no such event, it says so. */
void td_playhead_go_to_node(TdPlayhead *self, td_event_kind edge);

/* td_playhead_step_graph_task goes to the next or previous backward pass of the process shown. */
void td_playhead_step_graph_task(TdPlayhead *self, int direction);

/* td_playhead_step_training goes to the next or previous training step that the program counted. */
void td_playhead_step_training(TdPlayhead *self, int direction);

/* td_playhead_run_to_problem goes to the next anomaly or error. Without one it says so. */
void td_playhead_run_to_problem(TdPlayhead *self);

/* td_playhead_show_problem stops playing, goes to an event and selects its node, whether or not the
 * selection follows. A document is open. */
void td_playhead_show_problem(TdPlayhead *self, uint64_t seq);
