/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar below the graph that says what led to the moment. It has the sentence of the present step
 * of a way back, and a button for the next one. Without a way it hides. Main thread. */
#pragma once

#include "ui/model/playhead/way_back.h"

#include <adwaita.h>

#define TD_TYPE_WAY_BACK_BAR (td_way_back_bar_get_type())
G_DECLARE_FINAL_TYPE(TdWayBackBar, td_way_back_bar, TD, WAY_BACK_BAR, AdwBin)

void td_way_back_bar_set_way(TdWayBackBar *self, TdWayBack *way);
