/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes hold in memory over time. Click or drag to go to a time; arrow keys go a hundredth of
 * it. Main thread. */
#pragma once

#include "ui/draw/memory_picture.h"
#include "ui/widgets/base/canvas.h"

#define TD_TYPE_MEMORY_PLOT (td_memory_plot_get_type())
G_DECLARE_FINAL_TYPE(TdMemoryPlot, td_memory_plot, TD, MEMORY_PLOT, TdCanvas)

/* td_memory_plot_set_areas shows a copy of what a tape tells of the time between two; to_ns 0: of
 * all time. NULL shows nothing. */
void td_memory_plot_set_areas(TdMemoryPlot *self, const td_memory_areas *areas, double from_ns,
                              double to_ns);
