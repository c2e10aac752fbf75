/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/live/stop.h"

#include "ui/model/base/error.h"

#include <glib/gi18n.h>

struct _TdStop {
  GObject parent_instance;
  td_condition condition; /* (owned) */
  gboolean enabled;
  gint64 hits;
};

G_DEFINE_FINAL_TYPE(TdStop, td_stop, G_TYPE_OBJECT)

enum { PROP_ENABLED = 1, PROP_HITS, N_PROPS };
static GParamSpec *props[N_PROPS];

static void
td_stop_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  if (id == PROP_ENABLED)
    g_value_set_boolean(value, TD_STOP(object)->enabled);
  else
    g_value_set_int64(value, TD_STOP(object)->hits);
}

static void
td_stop_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  if (id == PROP_ENABLED)
    td_stop_set_enabled(TD_STOP(object), g_value_get_boolean(value));
  else
    td_stop_set_hits(TD_STOP(object), g_value_get_int64(value));
}

static void
td_stop_finalize(GObject *object) {
  td_condition_fini(&TD_STOP(object)->condition);
  G_OBJECT_CLASS(td_stop_parent_class)->finalize(object);
}

static void
td_stop_class_init(TdStopClass *klass) {
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  object_class->finalize = td_stop_finalize;
  object_class->get_property = td_stop_get_property;
  object_class->set_property = td_stop_set_property;
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  props[PROP_ENABLED] = g_param_spec_boolean("enabled", NULL, NULL, TRUE, flags);
  props[PROP_HITS] = g_param_spec_int64("hits", NULL, NULL, -1, G_MAXINT64, -1, flags);
  g_object_class_install_properties(object_class, N_PROPS, props);
}

static void
td_stop_init(TdStop *self) {
  self->enabled = TRUE;
  self->hits = -1;
}

TdStop *
td_stop_new(const char *text, GError **error) {
  td_error failure = {0};
  g_autoptr(TdStop) self = g_object_new(TD_TYPE_STOP, NULL);
  if (td_condition_parse(text, &self->condition, &failure) == TD_OK) return g_steal_pointer(&self);
  td_error_propagate(error, &failure);
  return NULL;
}

const td_condition *
td_stop_get_condition(TdStop *self) {
  return &self->condition;
}

const char *
td_stop_get_text(TdStop *self) {
  return self->condition.text;
}

const char *
td_stop_get_help(TdStop *self) {
  return _(td_condition_words_of(self->condition.kind)->help);
}

gboolean
td_stop_get_enabled(TdStop *self) {
  return self->enabled;
}

void
td_stop_set_enabled(TdStop *self, gboolean enabled) {
  if (self->enabled == enabled) return;
  self->enabled = enabled;
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_ENABLED]);
}

gint64
td_stop_get_hits(TdStop *self) {
  return self->hits;
}

void
td_stop_set_hits(TdStop *self, gint64 hits) {
  if (self->hits == hits) return;
  self->hits = hits;
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_HITS]);
}
