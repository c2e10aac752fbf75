/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/picture_file.h"

#include "engine/base/alloc.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>

/* Where cairo's bytes go. cairo says only that writing failed; the system knows why. */
typedef struct sink {
  FILE *file;  /* (borrowed) */
  int failure; /* errno, or 0 */
} sink;

static cairo_status_t
write_cb(void *data, const unsigned char *bytes, unsigned n) {
  sink *self = data;
  if (fwrite(bytes, 1, n, self->file) == n) return CAIRO_STATUS_SUCCESS;
  self->failure = errno;
  return CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *
png_surface(cairo_write_func_t write, void *data, double width, double height) {
  return cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)ceil(width), (int)ceil(height));
}

struct td_picture_format {
  const char *extension;
  cairo_surface_t *(*create)(cairo_write_func_t write, void *data, double width, double height);
};

static const td_picture_format formats[] = {
    {".png", png_surface},
    {".svg", cairo_svg_surface_create_for_stream},
    {".pdf", cairo_pdf_surface_create_for_stream},
};

const td_picture_format *
td_picture_format_find(const char *path) {
  for (size_t i = 0; i < TD_N_ELEMENTS(formats); i++)
    if (g_str_has_suffix(path, formats[i].extension)) return &formats[i];
  return NULL;
}

static cairo_surface_t *
make_surface(const td_picture *picture, const td_picture_format *format, sink *sink) {
  int scale = format->create == png_surface ? picture->scale : 1;
  cairo_surface_t *surface =
      format->create(write_cb, sink, picture->width * scale, picture->height * scale);
  if (scale != 1) cairo_surface_set_device_scale(surface, scale, scale);
  return surface;
}

static cairo_status_t
draw(const td_picture *picture, const td_picture_format *format, sink *sink) {
  cairo_surface_t *surface = make_surface(picture, format, sink);
  cairo_t *cr = cairo_create(surface);
  picture->draw(picture->data, cr);
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  if (!status && format->create == png_surface)
    status = cairo_surface_write_to_png_stream(surface, write_cb, sink);
  cairo_surface_finish(surface);
  if (!status) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  return status;
}

const char *
td_picture_write(const td_picture *picture, const td_picture_format *format, FILE *file) {
  sink sink = {.file = file};
  cairo_status_t status = draw(picture, format, &sink);
  if (!sink.failure && fflush(file) != 0) sink.failure = errno;
  if (sink.failure) return g_strerror(sink.failure);
  return status ? cairo_status_to_string(status) : NULL;
}
