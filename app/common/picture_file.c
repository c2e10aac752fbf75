/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/picture_file.h"

#include "engine/base/alloc.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>

static cairo_surface_t *
png_surface(const char *path, double width, double height) {
  return cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)ceil(width), (int)ceil(height));
}

struct td_picture_format {
  const char *extension;
  cairo_surface_t *(*create)(const char *path, double width, double height);
};

static const td_picture_format formats[] = {
    {".png", png_surface},
    {".svg", cairo_svg_surface_create},
    {".pdf", cairo_pdf_surface_create},
};

const td_picture_format *
td_picture_format_find(const char *path) {
  for (size_t i = 0; i < TD_N_ELEMENTS(formats); i++)
    if (g_str_has_suffix(path, formats[i].extension)) return &formats[i];
  return NULL;
}

/* cairo says only that writing failed; the system knows why. */
static int
find_obstacle(const char *path) {
  FILE *file = fopen(path, "wb");
  return !file || fclose(file) ? errno : 0;
}

static cairo_surface_t *
make_surface(const td_picture *picture, const td_picture_format *format, const char *path) {
  int scale = format->create == png_surface ? picture->scale : 1;
  cairo_surface_t *surface = format->create(path, picture->width * scale, picture->height * scale);
  if (scale != 1) cairo_surface_set_device_scale(surface, scale, scale);
  return surface;
}

static cairo_status_t
draw(const td_picture *picture, const td_picture_format *format, const char *path) {
  cairo_surface_t *surface = make_surface(picture, format, path);
  cairo_t *cr = cairo_create(surface);
  picture->draw(picture->data, cr);
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  if (!status && format->create == png_surface) status = cairo_surface_write_to_png(surface, path);
  cairo_surface_finish(surface);
  if (!status) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  return status;
}

const char *
td_picture_write(const td_picture *picture, const td_picture_format *format, const char *path) {
  int obstacle = find_obstacle(path);
  if (obstacle) return g_strerror(obstacle);
  cairo_status_t status = draw(picture, format, path);
  return status ? cairo_status_to_string(status) : NULL;
}
