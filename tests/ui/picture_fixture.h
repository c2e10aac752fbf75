/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape of a random graph, what the pictures are drawn from, and each picture as an image. Needs
 * no display. Main thread. */
#pragma once

#include "ui/draw/overview.h"

#include <glib.h>

typedef struct picture_fixture {
  char *path;        /* (owned) of a temporary tape */
  td_replay *replay; /* (owned), as all below but catalog and state */
  const td_catalog *catalog;
  const td_state *state;
  td_timeline *timeline;
  td_graph_scene *scene;
  td_label_cache *labels;
} picture_fixture;

/* picture_fixture_init makes a tape of n_nodes on three threads and seeks its middle. Its events
 * are even apart in time, so all pictures are the same in every run. */
void picture_fixture_init(picture_fixture *self, uint32_t n_nodes);
void picture_fixture_fini(picture_fixture *self);

/* graph_view and timeline_view show everything at a size. */
td_graph_view graph_view(const picture_fixture *self, int width, int height);
td_timeline_view timeline_view(const picture_fixture *self, int width, int height);

typedef struct picture {
  const char *name;
  void (*draw)(picture_fixture *self, cairo_t *cr, const td_theme *theme, int width, int height);
} picture;

/* All pictures: graph, queues, timeline, overview. */
extern const picture pictures[4];

/* paint draws a picture on an image of its own. A theme other than the default
 * one needs labels of its own. */
cairo_surface_t *paint(picture_fixture *self, const picture *picture, const td_theme *theme,
                       int width, int height);

/* paint_at draws on a screen with `scale` pixels to a unit, along each side. */
cairo_surface_t *paint_at(picture_fixture *self, const picture *picture, const td_theme *theme,
                          int width, int height, int scale);
