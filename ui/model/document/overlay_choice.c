/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/overlay_choice.h"

#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"

#include <glib/gi18n.h>

struct _TdOverlayChoice {
  GObject parent_instance;
  td_overlay_kind kind;
  TdDocument *document; /* (owned) or NULL */
  uint32_t graph_task;
  td_overlay *overlay;   /* (owned) or NULL: not wanted, or not yet computed */
  char *note;            /* (owned) or NULL */
  GCancellable *running; /* (owned) of the worker, or NULL */
};

G_DEFINE_FINAL_TYPE(TdOverlayChoice, td_overlay_choice, G_TYPE_OBJECT)

enum { PROP_KIND = 1 };

/* What a worker is to compute. */
typedef struct Job {
  TdDocument *document; /* (owned) */
  uint32_t graph_task;
  td_overlay_kind kind;
} Job;

static void
job_free(gpointer data) {
  Job *job = data;
  g_object_unref(job->document);
  g_free(job);
}

static void
overlay_free(gpointer data) {
  if (!data) return;
  td_overlay_fini(data);
  g_free(data);
}

static void
work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const Job *job = data;
  td_error error = {0};
  td_tape *tape = NULL;
  GError *failure = NULL;
  td_overlay *overlay = g_new0(td_overlay, 1);
  td_status status = td_tape_open(td_document_get_path(job->document), &tape, &error);
  if (!status)
    status = td_overlay_make(tape, td_document_get_catalog(job->document), job->graph_task,
                             job->kind, overlay, &error);
  td_tape_close(tape);
  if (!status) {
    g_task_return_pointer(task, overlay, overlay_free);
    return;
  }
  overlay_free(overlay);
  td_error_propagate(&failure, &error);
  g_task_return_error(task, failure);
}

static void
take(TdOverlayChoice *self, td_overlay *overlay, char *note) {
  overlay_free(self->overlay);
  g_free(self->note);
  self->overlay = overlay;
  self->note = note;
  g_signal_emit_by_name(self, "changed");
}

/* An overlay without figures shows the note. */
static td_overlay *
empty_overlay(TdOverlayChoice *self) {
  td_overlay *overlay = g_new0(td_overlay, 1);
  overlay->kind = self->kind;
  overlay->graph_task = self->graph_task;
  return overlay;
}

static void
done(GObject *source, GAsyncResult *result, gpointer data) {
  TdOverlayChoice *self = TD_OVERLAY_CHOICE(source);
  g_autoptr(GError) error = NULL;
  td_overlay *overlay = g_task_propagate_pointer(G_TASK(result), &error);
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) return;
  g_clear_object(&self->running);
  take(self, overlay ? overlay : empty_overlay(self), error ? g_strdup(error->message) : NULL);
}

static void
restart(TdOverlayChoice *self) {
  if (self->running) g_cancellable_cancel(self->running);
  g_clear_object(&self->running);
  if (self->overlay &&
      (self->overlay->kind != self->kind || self->overlay->graph_task != self->graph_task))
    take(self, NULL, NULL);
  if (self->kind == TD_N_OVERLAYS || !self->document || self->graph_task == TD_NONE) return;
  self->running = g_cancellable_new();
  g_autoptr(GTask) task = g_task_new(self, self->running, done, NULL);
  Job *job = g_new(Job, 1);
  *job = (Job){g_object_ref(self->document), self->graph_task, self->kind};
  g_task_set_task_data(task, job, job_free);
  td_worker_start(task, work);
}

void
td_overlay_choice_set_kind(TdOverlayChoice *self, td_overlay_kind kind) {
  if (kind == self->kind) return;
  self->kind = kind;
  restart(self);
  g_object_notify(G_OBJECT(self), "kind");
}

td_overlay_kind
td_overlay_choice_get_kind(TdOverlayChoice *self) {
  return self->kind;
}

void
td_overlay_choice_show(TdOverlayChoice *self, TdDocument *document, uint32_t graph_task) {
  if (!g_set_object(&self->document, document) && graph_task == self->graph_task) return;
  self->graph_task = graph_task;
  restart(self);
}

gboolean
td_overlay_choice_is_busy(TdOverlayChoice *self) {
  return self->running != NULL;
}

const td_overlay *
td_overlay_choice_get(TdOverlayChoice *self) {
  return self->overlay;
}

const char *
td_overlay_choice_get_note(TdOverlayChoice *self) {
  return self->note;
}

char *
td_overlay_choice_dup_sentence(TdOverlayChoice *self, uint32_t node) {
  const td_overlay *overlay = self->overlay;
  const td_overlay_value *value = overlay ? td_overlay_find(overlay, node) : NULL;
  if (!value) return NULL;
  char *text = td_graph_scene_figure(overlay, value->value);
  char *sentence = g_strdup_printf(_("%s: %s."), _(td_overlay_label(overlay->kind)), text);
  free(text);
  return sentence;
}

GStrv
td_overlay_choice_dup_titles(void) {
  GStrv titles = g_new0(char *, TD_N_OVERLAYS + 2);
  titles[0] = g_strdup(_("State"));
  for (int i = 0; i < TD_N_OVERLAYS; i++)
    titles[i + 1] = g_strdup(_(td_overlay_label((td_overlay_kind)i)));
  return titles;
}

static void
td_overlay_choice_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec) {
  g_value_set_uint(value, TD_OVERLAY_CHOICE(object)->kind);
}

static void
td_overlay_choice_set_property(GObject *object, guint id, const GValue *value, GParamSpec *pspec) {
  td_overlay_choice_set_kind(TD_OVERLAY_CHOICE(object), (td_overlay_kind)g_value_get_uint(value));
}

static void
td_overlay_choice_dispose(GObject *object) {
  TdOverlayChoice *self = TD_OVERLAY_CHOICE(object);
  if (self->running) g_cancellable_cancel(self->running);
  g_clear_object(&self->running);
  g_clear_object(&self->document);
  g_clear_pointer(&self->overlay, overlay_free);
  g_clear_pointer(&self->note, g_free);
  G_OBJECT_CLASS(td_overlay_choice_parent_class)->dispose(object);
}

static void
td_overlay_choice_class_init(TdOverlayChoiceClass *klass) {
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  object_class->dispose = td_overlay_choice_dispose;
  object_class->get_property = td_overlay_choice_get_property;
  object_class->set_property = td_overlay_choice_set_property;
  g_object_class_install_property(
      object_class, PROP_KIND,
      g_param_spec_uint("kind", NULL, NULL, 0, TD_N_OVERLAYS, TD_N_OVERLAYS,
                        G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS));
  g_signal_new("changed", TD_TYPE_OVERLAY_CHOICE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
               G_TYPE_NONE, 0);
}

static void
td_overlay_choice_init(TdOverlayChoice *self) {
  self->kind = TD_N_OVERLAYS;
  self->graph_task = TD_NONE;
}

TdOverlayChoice *
td_overlay_choice_new(void) {
  return g_object_new(TD_TYPE_OVERLAY_CHOICE, NULL);
}
