/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Everything about the selected node at the playhead. Without a selection, everything about the
 * tape. Main thread. */
#pragma once

#include "ui/model/document/fold_choice.h"
#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_INSPECTOR (td_inspector_get_type())
G_DECLARE_FINAL_TYPE(TdInspector, td_inspector, TD, INSPECTOR, AdwBin)

void td_inspector_set_playhead(TdInspector *self, TdPlayhead *playhead);

/* td_inspector_set_folds says how the graph is folded: the inspector names the block of the node.
 */
void td_inspector_set_folds(TdInspector *self, TdFoldChoice *folds);
