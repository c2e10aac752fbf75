/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How well a tape knows what it shows, if Tapedeck's own engine did not record all of it: a button
 * with the level. Its popover lists what the recorder reconstructed and what it cannot see. Main
 * thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_LEVEL_BADGE (td_level_badge_get_type())
G_DECLARE_FINAL_TYPE(TdLevelBadge, td_level_badge, TD, LEVEL_BADGE, AdwBin)

void td_level_badge_set_playhead(TdLevelBadge *self, TdPlayhead *playhead);
