/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A long list of facts, of which only the rows in sight are widgets. Main thread only. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <gtk/gtk.h>

/* td_fact_view_new keeps a reference to the facts (of TdFact) and to the playhead. A click on a
 * row, or Enter, selects the fact's node. */
GtkWidget *td_fact_view_new(GListModel *facts, TdPlayhead *playhead);
