/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The life of a node as one stacked bar. Any thread. */
#pragma once

#include "engine/profile/report/lives.h"
#include "ui/draw/theme.h"

/* td_life_colour returns the colour of a part, the same in all pictures. */
td_colour td_life_colour(td_life_part part, const td_theme *theme);

/* td_life_draw paints the parts side by side, in the order in which a node goes through them. A
 * part is at least a pixel wide. */
void td_life_draw(cairo_t *cr, double width, double height, const uint64_t *parts,
                  const td_theme *theme);
