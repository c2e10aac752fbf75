/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Graph, queues and timeline of one instant on one page under a title: the picture to put in a
 * report. */
#pragma once

#include "ui/draw/graph_scene.h"
#include "ui/draw/queues_picture.h"
#include "ui/draw/timeline_picture.h"

typedef struct td_overview {
  td_graph_scene *scene; /* (borrowed), as all below */
  td_timeline *timeline;
  const td_catalog *catalog;
  const td_state *state;
  const char *title, *note; /* "digits.py", "event 412 of 9 031 · 1.84 ms" */
  const char *why;          /* what happened and why, in a sentence or several; or NULL */
} td_overview;

void td_overview_draw(const td_overview *overview, cairo_t *cr, double width, double height,
                      const td_theme *theme, td_label_cache *labels);
