/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues at one instant, a strip per queue. Cards show the tasks in the order in which
 * threads will pop them, each with its key (depth, sequence_nr). On the left is the task that was
 * popped last. */
#pragma once

#include "ui/draw/shapes.h"

typedef struct td_queues_view {
  double width, height;
  double scroll_x; /* pixels */
  uint32_t selected;
  bool is_short; /* each strip is one line: cards have a name alone */
} td_queues_view;

/* td_queues_height returns the height that all strips need. */
double td_queues_height(const td_catalog *catalog, bool is_short);

/* td_queues_draw paints the strips that cairo's clip lets through, without the selection.
 * td_queues_draw_over paints a ring around the selected node's cards on a picture of the same
 * view. */
void td_queues_draw(cairo_t *cr, const td_catalog *catalog, const td_state *state,
                    const td_queues_view *view, const td_theme *theme, td_label_cache *labels);
void td_queues_draw_over(cairo_t *cr, const td_catalog *catalog, const td_state *state,
                         const td_queues_view *view, const td_theme *theme);

/* td_queues_strip_box returns where the strip of a queue is. td_queues_card_box returns where the
 * card of a task is: of the one that threads pop as number i from 0. For -1 it is the one popped
 * last. */
td_box td_queues_strip_box(const td_catalog *catalog, const td_queues_view *view, uint32_t queue);
td_box td_queues_card_box(const td_catalog *catalog, const td_queues_view *view, uint32_t queue,
                          int i);

/* td_queues_hit returns the node of the card at a point, or TD_NONE. */
uint32_t td_queues_hit(const td_catalog *catalog, const td_state *state, const td_queues_view *view,
                       double x, double y);
