/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The option --overlay of the commands that show a graph. Any thread. */
#pragma once

#include "engine/profile/report/overlay.h"

#define TD_OVERLAY_HELP "Colour the nodes by time, bytes, norm, critical or slack"

/* td_overlay_option_find writes the overlay of that name, or TD_N_OVERLAYS for NULL. If there is no
 * such overlay, it prints so and returns false. */
bool td_overlay_option_find(const char *command, const char *name, td_overlay_kind *kind);
