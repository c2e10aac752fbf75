/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a canvas has painted, kept as pixels: Note [The kept picture] of canvas.h. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* Empty if all is 0. */
typedef struct TdKeptPicture {
  GskRenderNode *node;      /* (owned) or NULL */
  graphene_rect_t area;     /* of the canvas, that it covers */
  int width, height, scale; /* of the canvas when it was painted */
} TdKeptPicture;

/* Draws on a canvas, in its pixels. */
typedef void (*TdDraw)(GtkWidget *canvas, cairo_t *cr);

void td_kept_picture_drop(TdKeptPicture *self);

/* td_kept_picture_append adds the picture to a frame. It paints the picture again if it does not
 * cover the visible part of the canvas. draw is NULL: the picture stays as it is. Returns FALSE,
 * and does nothing, if no part is visible. */
gboolean td_kept_picture_append(TdKeptPicture *self, GtkWidget *canvas, TdDraw draw,
                                GtkSnapshot *snapshot);

/* td_append_ink adds to a frame what draw draws, and keeps nothing. */
void td_append_ink(GtkWidget *canvas, TdDraw draw, GtkSnapshot *snapshot);
