/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A finding as a card: what is wrong, where, what to do, and buttons. "Show", "Why?" and "Save…"
 * activate the actions `finding.show`, `finding.why` and `win.save-finding` with the number of the
 * event. If two passes differ, "Compare" activates `win.compare-finding` with the number of the
 * event, the node and both graph tasks. Main thread. */
#pragma once

#include "ui/model/findings/finding_item.h"

#include <gtk/gtk.h>

#define TD_TYPE_FINDING_CARD (td_finding_card_get_type())
G_DECLARE_FINAL_TYPE(TdFindingCard, td_finding_card, TD, FINDING_CARD, GtkListBoxRow)

GtkWidget *td_finding_card_new(TdFindingItem *item);
