/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/brush.h"

#include "ui/geometry/format.h"

#include <glib/gi18n.h>

struct _TdBrush {
  GObject parent_instance;
  TdPlayhead *playhead; /* (owned) */
  gboolean is_set;
  double from_ns, to_ns;
  char *path; /* (owned) of the tape */
};

G_DEFINE_FINAL_TYPE(TdBrush, td_brush, G_TYPE_OBJECT)

static guint changed_signal;

void
td_brush_set(TdBrush *self, double from_ns, double to_ns) {
  self->is_set = TRUE;
  self->from_ns = MIN(from_ns, to_ns);
  self->to_ns = MAX(from_ns, to_ns);
  g_signal_emit(self, changed_signal, 0);
}

gboolean
td_brush_get(TdBrush *self, double *from_ns, double *to_ns) {
  *from_ns = self->from_ns;
  *to_ns = self->to_ns;
  return self->is_set;
}

gboolean
td_brush_clear(TdBrush *self) {
  if (!self->is_set) return FALSE;
  self->is_set = FALSE;
  g_signal_emit(self, changed_signal, 0);
  return TRUE;
}

char *
td_brush_dup_text(TdBrush *self) {
  if (!self->is_set) return NULL;
  g_autofree char *length = td_format_ns(self->to_ns - self->from_ns);
  g_autofree char *from = td_format_ns(self->from_ns);
  return g_strdup_printf(_("%s from %s on"), length, from);
}

/* Segments of one tape are documents too. */
static void
document_changed(TdBrush *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  const char *path = document ? td_document_get_path(document) : NULL;
  if (g_strcmp0(path, self->path) == 0) return;
  g_free(self->path);
  self->path = g_strdup(path);
  td_brush_clear(self);
}

TdBrush *
td_brush_new(TdPlayhead *playhead) {
  TdBrush *self = g_object_new(TD_TYPE_BRUSH, NULL);
  self->playhead = g_object_ref(playhead);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  document_changed(self);
  return self;
}

static void
td_brush_finalize(GObject *object) {
  TdBrush *self = TD_BRUSH(object);
  g_clear_object(&self->playhead);
  g_free(self->path);
  G_OBJECT_CLASS(td_brush_parent_class)->finalize(object);
}

static void
td_brush_class_init(TdBrushClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_brush_finalize;
  changed_signal = g_signal_new("changed", TD_TYPE_BRUSH, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 0);
}

static void
td_brush_init(TdBrush *self) {
}
