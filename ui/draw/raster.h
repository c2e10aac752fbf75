/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plain rectangles and lines, a pixel wide, written straight into an image. A hundred thousand of
 * them cost milliseconds. Everything is cut to the image. The thread that draws. */
#pragma once

#include "ui/draw/theme.h"

typedef struct td_raster {
  cairo_surface_t *surface;  /* (owned) ARGB32 */
  uint32_t *pixels;          /* (borrowed) */
  int width, height, stride; /* stride in pixels */
} td_raster;

/* td_raster_init makes an image filled with a colour. It returns false if cairo has no
 * memory. */
bool td_raster_init(td_raster *raster, int width, int height, td_colour ground);
void td_raster_fini(td_raster *raster);

/* td_raster_rectangle fills at least one pixel; td_raster_line draws from one point to another. */
void td_raster_rectangle(td_raster *raster, double x, double y, double width, double height,
                         td_colour colour);
void td_raster_line(td_raster *raster, double x1, double y1, double x2, double y2,
                    td_colour colour);

/* td_raster_show paints the image at the origin. */
void td_raster_show(td_raster *raster, cairo_t *cr);
