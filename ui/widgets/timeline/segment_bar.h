/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar that says which segment of a long tape is shown, and goes to the segments beside it. It
 * hides where the tape is not cut. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_SEGMENT_BAR (td_segment_bar_get_type())
G_DECLARE_FINAL_TYPE(TdSegmentBar, td_segment_bar, TD, SEGMENT_BAR, AdwBin)

void td_segment_bar_set_playhead(TdSegmentBar *self, TdPlayhead *playhead);
