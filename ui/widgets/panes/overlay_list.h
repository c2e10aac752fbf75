/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of what can colour the nodes of a graph. Main thread. */
#pragma once

#include "ui/model/document/overlay_choice.h"

#include <gtk/gtk.h>

/* td_overlay_list_fill fills a drop-down list, and lets it set what is chosen. */
void td_overlay_list_fill(GtkDropDown *list, TdOverlayChoice *choice);

/* td_overlay_list_set chooses an overlay, or with TD_N_OVERLAYS none. */
void td_overlay_list_set(GtkDropDown *list, td_overlay_kind kind);

/* td_overlay_list_next chooses the next entry; after the last one, the first. */
void td_overlay_list_next(GtkDropDown *list);
