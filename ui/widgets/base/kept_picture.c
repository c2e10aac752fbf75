/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/kept_picture.h"

#include <math.h>

/* The part of the canvas that a scrolled window around it shows; the whole canvas without one. */
static graphene_rect_t
seen_part(GtkWidget *canvas) {
  GtkWidget *scroller = gtk_widget_get_ancestor(canvas, GTK_TYPE_SCROLLED_WINDOW);
  graphene_rect_t whole = GRAPHENE_RECT_INIT(0, 0, (float)gtk_widget_get_width(canvas),
                                             (float)gtk_widget_get_height(canvas));
  graphene_rect_t seen = whole;
  if (scroller && gtk_widget_compute_bounds(scroller, canvas, &seen))
    graphene_rect_intersection(&whole, &seen, &seen);
  return seen;
}

static gboolean
covers(const TdKeptPicture *self, GtkWidget *canvas, const graphene_rect_t *seen) {
  return self->node && self->width == gtk_widget_get_width(canvas) &&
         self->height == gtk_widget_get_height(canvas) &&
         self->scale == gtk_widget_get_scale_factor(canvas) &&
         graphene_rect_contains_rect(&self->area, seen);
}

/* Room to scroll in before the picture must be painted again. */
static graphene_rect_t
area_around(GtkWidget *canvas, const graphene_rect_t *seen) {
  float top = MAX(seen->origin.y - seen->size.height, 0);
  float bottom = MIN(seen->origin.y + 2 * seen->size.height, (float)gtk_widget_get_height(canvas));
  return GRAPHENE_RECT_INIT(seen->origin.x, floorf(top), seen->size.width,
                            ceilf(bottom) - floorf(top));
}

static cairo_surface_t *
paint_area(GtkWidget *canvas, const graphene_rect_t *area, int scale, TdDraw draw) {
  cairo_surface_t *surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceilf(area->size.width) * scale,
                                 (int)ceilf(area->size.height) * scale);
  cairo_surface_set_device_scale(surface, scale, scale);
  cairo_t *cr = cairo_create(surface);
  cairo_translate(cr, -area->origin.x, -area->origin.y);
  draw(canvas, cr);
  cairo_destroy(cr);
  return surface;
}

static void
paint(TdKeptPicture *self, GtkWidget *canvas, const graphene_rect_t *seen, TdDraw draw) {
  td_kept_picture_drop(self);
  self->width = gtk_widget_get_width(canvas);
  self->height = gtk_widget_get_height(canvas);
  self->scale = gtk_widget_get_scale_factor(canvas);
  self->area = area_around(canvas, seen);
  cairo_surface_t *surface = paint_area(canvas, &self->area, self->scale, draw);
  self->node = gsk_cairo_node_new(&self->area);
  cairo_t *cr = gsk_cairo_node_get_draw_context(self->node);
  cairo_set_source_surface(cr, surface, self->area.origin.x, self->area.origin.y);
  cairo_paint(cr);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
}

void
td_kept_picture_drop(TdKeptPicture *self) {
  g_clear_pointer(&self->node, gsk_render_node_unref);
}

gboolean
td_kept_picture_append(TdKeptPicture *self, GtkWidget *canvas, TdDraw draw, GtkSnapshot *snapshot) {
  graphene_rect_t seen = seen_part(canvas);
  if (seen.size.width < 1 || seen.size.height < 1) return FALSE;
  if (draw && !covers(self, canvas, &seen)) paint(self, canvas, &seen, draw);
  if (self->node) gtk_snapshot_append_node(snapshot, self->node);
  return TRUE;
}

/* GTK draws again where a node of the frame before differs: the node is as small as its ink. */
void
td_append_ink(GtkWidget *canvas, TdDraw draw, GtkSnapshot *snapshot) {
  cairo_surface_t *ink = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
  double x, y, width, height;
  cairo_t *cr = cairo_create(ink);
  draw(canvas, cr);
  cairo_destroy(cr);
  cairo_recording_surface_ink_extents(ink, &x, &y, &width, &height);
  if (width > 0 && height > 0) {
    graphene_rect_t bounds = GRAPHENE_RECT_INIT((float)x, (float)y, (float)width, (float)height);
    graphene_rect_round_extents(&bounds, &bounds);
    cr = gtk_snapshot_append_cairo(snapshot, &bounds);
    cairo_set_source_surface(cr, ink, 0, 0);
    cairo_paint(cr);
    cairo_destroy(cr);
  }
  cairo_surface_destroy(ink);
}
