/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A popover that finds nodes by name, number, label or state and selects one. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_NODE_SEARCH (td_node_search_get_type())
G_DECLARE_FINAL_TYPE(TdNodeSearch, td_node_search, TD, NODE_SEARCH, GtkPopover)

void td_node_search_set_playhead(TdNodeSearch *self, TdPlayhead *playhead);
