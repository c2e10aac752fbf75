/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The small shapes that all pictures share: cards, state marks, badges, hatching. The thread that
 * draws. */
#pragma once

#include "ui/draw/theme.h"

typedef struct td_box {
  double x, y, width, height;
} td_box;

/* td_shape_rounded makes a path with round corners. */
void td_shape_rounded(cairo_t *cr, td_box box, double radius);

/* td_shape_state_mark draws the sign of a node state, about `size` wide around a middle: the second
 * way to tell states apart, beside colour. `share`, 0 to 1, is how much of a partial node has
 * arrived. */
void td_shape_state_mark(cairo_t *cr, td_node_state state, double share, double x, double y,
                         double size, td_colour colour);

/* td_shape_card fills and outlines a card as its state wants it; radius in user space. */
void td_shape_card(cairo_t *cr, td_box box, double radius, td_node_state state, double share,
                   const td_theme *theme);

/* td_shape_text_colour returns what reads well on a card of that state; td_shape_fill_colour its
 * ground. */
td_colour td_shape_text_colour(td_node_state state, const td_theme *theme);
td_colour td_shape_fill_colour(td_node_state state, const td_theme *theme);

/* td_shape_badge draws white bold text on a pill around a middle and returns its width. */
double td_shape_badge(cairo_t *cr, td_label_cache *labels, const char *text, double size, double x,
                      double y, td_colour ground);

/* td_shape_hatch fills a box with slanted lines. */
void td_shape_hatch(cairo_t *cr, td_box box, double distance, double width, td_colour colour);

/* td_shape_diamond fills a diamond around a middle. */
void td_shape_diamond(cairo_t *cr, double x, double y, double radius, td_colour colour);

/* td_label_right and td_label_middle draw text that ends at x, or has its middle there; y is the
 * top. */
void td_label_right(td_label_cache *labels, cairo_t *cr, const char *text, double size, double x,
                    double y, td_colour colour, bool bold);
void td_label_middle(td_label_cache *labels, cairo_t *cr, const char *text, double size, double x,
                     double y, td_colour colour, bool bold);
