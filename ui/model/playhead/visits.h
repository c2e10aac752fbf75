/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Places that somebody visited on a tape, to go back to as in a browser. A place is a position and
 * a selection where the playhead rested for a moment. A few events on are the same place: steps are
 * no visits. Another tape begins anew. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#define TD_TYPE_VISITS (td_visits_get_type())
G_DECLARE_FINAL_TYPE(TdVisits, td_visits, TD, VISITS, GObject)

TdVisits *td_visits_new(TdPlayhead *playhead);

/* td_visits_go goes to the place visited before (-1), or to the one that was left so (1). FALSE if
 * there is none. */
gboolean td_visits_go(TdVisits *self, int direction);

/* td_visits_keep makes the place where the playhead is a place of its own, however near it is to
 * the one before. */
void td_visits_keep(TdVisits *self);
