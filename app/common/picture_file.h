/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Picture file: what cairo draws as PNG, SVG or PDF. `tapedeck render` and the window write their
 * pictures with it. The thread that draws. */
#pragma once

#include <cairo.h>
#include <stdio.h>

/* The endings of a name, for people. */
#define TD_PICTURE_ENDINGS ".png, .svg or .pdf"

typedef struct td_picture {
  double width, height; /* in units: points of a SVG or PDF */
  int scale;            /* pixels of a PNG in a unit */
  void (*draw)(const void *data, cairo_t *cr);
  const void *data; /* (borrowed) */
} td_picture;

typedef struct td_picture_format td_picture_format;

/* td_picture_format_find returns the format that the ending of a name says, or NULL. */
const td_picture_format *td_picture_format_find(const char *path);

/* td_picture_write writes a picture into an open file, which stays open. It returns NULL, or why it
 * could not; borrowed until the next call. */
const char *td_picture_write(const td_picture *picture, const td_picture_format *format,
                             FILE *file);
