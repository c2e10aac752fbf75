/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/raster.h"

#include "engine/base/alloc.h"

#include <math.h>

static uint32_t
packed(td_colour colour) {
  return 0xff000000u | (uint32_t)lrint(colour.r * 255) << 16 |
         (uint32_t)lrint(colour.g * 255) << 8 | (uint32_t)lrint(colour.b * 255);
}

static int
clamped(double value, int limit) {
  return value < 0 ? 0 : value > limit ? limit : (int)value;
}

bool
td_raster_init(td_raster *raster, int width, int height, td_colour ground) {
  raster->surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
  if (cairo_surface_status(raster->surface)) {
    cairo_surface_destroy(raster->surface);
    return false;
  }
  raster->width = width;
  raster->height = height;
  raster->stride = cairo_image_surface_get_stride(raster->surface) / 4;
  raster->pixels = (uint32_t *)(void *)cairo_image_surface_get_data(raster->surface);
  td_raster_rectangle(raster, 0, 0, width, height, ground);
  return true;
}

void
td_raster_fini(td_raster *raster) {
  cairo_surface_destroy(raster->surface);
}

void
td_raster_rectangle(td_raster *raster, double x, double y, double width, double height,
                    td_colour colour) {
  uint32_t value = packed(colour);
  int left = clamped(floor(x), raster->width),
      right = clamped(TD_MAX(floor(x + width), floor(x) + 1), raster->width);
  int top = clamped(floor(y), raster->height);
  int bottom = clamped(TD_MAX(floor(y + height), floor(y) + 1), raster->height);
  for (int j = top; j < bottom; j++)
    for (int i = left; i < right; i++)
      raster->pixels[(ptrdiff_t)j * raster->stride + i] = value;
}

/* Integers that have 32 bits behind the point: a line of ten thousand pixels needs no more. */
#define FIXED_BITS 32

static int64_t
fixed(double value) {
  return (int64_t)(value * (double)(UINT64_C(1) << FIXED_BITS));
}

/* Cuts the stretch of a line, as shares of its length, to where one coordinate is inside. */
static bool
cut(double from, double length, double limit, double *begin, double *end) {
  if (length == 0) return from >= 0 && from < limit;
  double a = -from / length, b = (limit - from) / length;
  *begin = TD_MAX(*begin, TD_MIN(a, b));
  *end = TD_MIN(*end, TD_MAX(a, b));
  return *begin < *end;
}

void
td_raster_line(td_raster *raster, double x1, double y1, double x2, double y2, td_colour colour) {
  double dx = x2 - x1, dy = y2 - y1, begin = 0, end = 1;
  uint32_t value = packed(colour);
  if (!cut(x1, dx, raster->width, &begin, &end) || !cut(y1, dy, raster->height, &begin, &end))
    return;
  int steps = (int)ceil((end - begin) * TD_MAX(fabs(dx), fabs(dy)));
  double share = (end - begin) / TD_MAX(steps, 1);
  int64_t x = fixed(x1 + dx * begin), y = fixed(y1 + dy * begin);
  int64_t right = fixed(dx * share), down = fixed(dy * share);
  for (int i = 0; i <= steps; i++, x += right, y += down) {
    uint64_t column = (uint64_t)(x >> FIXED_BITS), row = (uint64_t)(y >> FIXED_BITS);
    if (column < (uint64_t)raster->width && row < (uint64_t)raster->height)
      raster->pixels[row * (uint64_t)raster->stride + column] = value;
  }
}

void
td_raster_show(td_raster *raster, cairo_t *cr) {
  cairo_surface_mark_dirty(raster->surface);
  cairo_set_source_surface(cr, raster->surface, 0, 0);
  cairo_paint(cr);
}
