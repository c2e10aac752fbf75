/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Says how what is on a tape is known, where not all of it was seen in Tapedeck's own engine: a
 * button with the level, and behind it what was reconstructed and what cannot be seen. Main thread.
 */
#pragma once

#include "ui/model/playhead.h"

#include <adwaita.h>

#define TD_TYPE_LEVEL_BADGE (td_level_badge_get_type())
G_DECLARE_FINAL_TYPE(TdLevelBadge, td_level_badge, TD, LEVEL_BADGE, AdwBin)

void td_level_badge_set_playhead(TdLevelBadge *self, TdPlayhead *playhead);
