/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The life of the selected node in the pass shown: a stacked bar, and what its colours mean. Main
 * thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_LIFE_BAR (td_life_bar_get_type())
G_DECLARE_FINAL_TYPE(TdLifeBar, td_life_bar, TD, LIFE_BAR, GtkBox)

/* td_life_bar_show shows a node of a document; without a known life, nothing. */
void td_life_bar_show(TdLifeBar *self, TdDocument *document, uint32_t node);
