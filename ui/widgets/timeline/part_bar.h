/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar that says which part of a long tape is shown, and goes to the parts beside it. It hides
 * where the tape is not cut. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_PART_BAR (td_part_bar_get_type())
G_DECLARE_FINAL_TYPE(TdPartBar, td_part_bar, TD, PART_BAR, AdwBin)

void td_part_bar_set_playhead(TdPartBar *self, TdPlayhead *playhead);
