/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The way to another segment of a tape: a worker loads a document of it, while the segment that is
 * shown stays. One worker at a time; whoever changes the goal meanwhile gets only the last goal.
 * Main thread.
 *
 * Signals: "arrived" with the TdDocument, which stands at the goal; "failed" with a message. */
#pragma once

#include "ui/model/document/document.h"

#define TD_TYPE_TRAVEL (td_travel_get_type())
G_DECLARE_FINAL_TYPE(TdTravel, td_travel, TD, TRAVEL, GObject)

/* A position, or the next node that begins after it (1) or before it (-1). Beyond the last node is
 * the end of the tape, before the first its start. */
typedef struct TdGoal {
  uint64_t position;
  int node_step;
} TdGoal;

TdTravel *td_travel_new(void);

/* td_travel_go sets out, or changes the goal. `from` is any document of the tape, which is cut.
 * td_travel_stop forgets the goal. */
void td_travel_go(TdTravel *self, TdDocument *from, TdGoal goal);
void td_travel_stop(TdTravel *self);

/* td_travel_get_refused returns the position that could not be shown when "failed" was last told.
 */
uint64_t td_travel_get_refused(TdTravel *self);

/* td_travel_get_goal returns the goal, or NULL if there is none. */
const TdGoal *td_travel_get_goal(TdTravel *self);
