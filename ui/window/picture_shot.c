/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/picture_shot.h"

#include "app/common/output_file.h"
#include "app/common/picture_file.h"
#include "ui/model/base/worker.h"

#include <errno.h>
#include <glib/gi18n.h>

/* The worker reads it alone: nobody changes it. */
struct TdShot {
  cairo_surface_t *inks; /* (owned) what cairo drew, in pixels */
  int width, height, scale;
};

TdShot *
td_shot_new(TdCanvas *canvas) {
  GtkWidget *widget = GTK_WIDGET(canvas);
  TdShot *self = g_atomic_rc_box_new(TdShot);
  *self = (TdShot){.width = gtk_widget_get_width(widget),
                   .height = gtk_widget_get_height(widget),
                   .scale = gtk_widget_get_scale_factor(widget)};
  cairo_rectangle_t extents = {0, 0, self->width, self->height};
  self->inks = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, &extents);
  cairo_t *cr = cairo_create(self->inks);
  td_canvas_paint(canvas, cr);
  cairo_destroy(cr);
  return self;
}

TdShot *
td_shot_ref(TdShot *self) {
  return g_atomic_rc_box_acquire(self);
}

static void
clear(gpointer data) {
  cairo_surface_destroy(((TdShot *)data)->inks);
}

void
td_shot_unref(gpointer self) {
  g_atomic_rc_box_release_full(self, clear);
}

static void
draw(const void *data, cairo_t *cr) {
  const TdShot *self = data;
  cairo_set_source_surface(cr, self->inks, 0, 0);
  cairo_paint(cr);
}

/* ---- a file ---- */

typedef struct Job {
  TdShot *shot; /* (owned) */
  const td_picture_format *format;
  td_output_file output; /* the main thread begins and ends it */
} Job;

static void
job_free(gpointer data) {
  td_shot_unref(((Job *)data)->shot);
  g_free(data);
}

static const char *
write_picture(const td_picture *picture, const td_picture_format *format, const char *path) {
  FILE *file = fopen(path, "we");
  if (!file) return g_strerror(errno);
  const char *failure = td_picture_write(picture, format, file);
  bool is_closed = fclose(file) == 0;
  return failure || is_closed ? failure : g_strerror(errno);
}

static void
write_cb(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const Job *job = data;
  const TdShot *shot = job->shot;
  const td_picture picture = {shot->width, shot->height, shot->scale, draw, shot};
  const char *failure = write_picture(&picture, job->format, job->output.part);
  if (failure)
    g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", failure);
  else
    g_task_return_boolean(task, TRUE);
}

void
td_shot_write_async(TdShot *self, const char *path, GCancellable *cancellable,
                    GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, done, data);
  const td_picture_format *format = td_picture_format_find(path);
  if (!format) {
    g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s",
                            _("the name must end in .png, .svg or .pdf"));
    return;
  }
  Job *job = g_new0(Job, 1);
  job->shot = td_shot_ref(self);
  job->format = format;
  td_output_file_begin(&job->output, path);
  g_task_set_task_data(task, job, job_free);
  td_worker_start(task, write_cb);
}

gboolean
td_shot_write_finish(GAsyncResult *result, GError **error) {
  Job *job = g_task_get_task_data(G_TASK(result));
  if (!g_task_propagate_boolean(G_TASK(result), error)) {
    if (job) td_output_file_drop(&job->output);
    return FALSE;
  }
  if (td_output_file_keep(&job->output, true)) return TRUE;
  int reason = errno;
  g_set_error_literal(error, G_IO_ERROR, (int)g_io_error_from_errno(reason), g_strerror(reason));
  return FALSE;
}

/* ---- pixels ---- */

static cairo_surface_t *
make_pixels(const TdShot *self) {
  cairo_surface_t *pixels = cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, self->width * self->scale, self->height * self->scale);
  cairo_surface_set_device_scale(pixels, self->scale, self->scale);
  cairo_t *cr = cairo_create(pixels);
  draw(self, cr);
  cairo_destroy(cr);
  cairo_surface_flush(pixels);
  return pixels;
}

/* GDK_MEMORY_DEFAULT is what cairo has. */
static void
texture_cb(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  cairo_surface_t *pixels = make_pixels(data);
  int width = cairo_image_surface_get_width(pixels),
      height = cairo_image_surface_get_height(pixels);
  gsize stride = (gsize)cairo_image_surface_get_stride(pixels);
  g_autoptr(GBytes) bytes =
      g_bytes_new(cairo_image_surface_get_data(pixels), stride * (gsize)height);
  cairo_surface_destroy(pixels);
  g_task_return_pointer(task,
                        gdk_memory_texture_new(width, height, GDK_MEMORY_DEFAULT, bytes, stride),
                        g_object_unref);
}

void
td_shot_texture_async(TdShot *self, GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, NULL, done, data);
  g_task_set_task_data(task, td_shot_ref(self), td_shot_unref);
  td_worker_start(task, texture_cb);
}

GdkTexture *
td_shot_texture_finish(GAsyncResult *result) {
  return g_task_propagate_pointer(G_TASK(result), NULL);
}
