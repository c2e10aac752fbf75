/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One of two graphs beside each other: what it is of, where its playhead stands, and why its last
 * node was popped. The signal "focused" says that the person turned to it. Main thread. */
#pragma once

#include "ui/widgets/graph/graph_canvas.h"

#define TD_TYPE_COMPARE_SIDE (td_compare_side_get_type())
G_DECLARE_FINAL_TYPE(TdCompareSide, td_compare_side, TD, COMPARE_SIDE, GtkBox)

/* td_compare_side_set_playhead is called once. The letter names the side; it is constant. */
void td_compare_side_set_playhead(TdCompareSide *self, const char *letter, TdPlayhead *playhead);

/* td_compare_side_set_title says what is shown. */
void td_compare_side_set_title(TdCompareSide *self, const char *title);

/* td_compare_side_set_lead says whether the person moves this side. */
void td_compare_side_set_lead(TdCompareSide *self, gboolean leads);

/* td_compare_side_set_lone marks nodes that ran on this side alone. The array must outlive the
 * widget's document. */
void td_compare_side_set_lone(TdCompareSide *self, const uint32_t *nodes, uint32_t n);

/* td_compare_side_centre brings a node into the middle, as soon as its graph is there. */
void td_compare_side_centre(TdCompareSide *self, uint32_t node);

TdGraphCanvas *td_compare_side_get_graph(TdCompareSide *self);
