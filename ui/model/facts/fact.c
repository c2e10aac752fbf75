/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/fact.h"

#include "engine/events/event.h"

struct _TdFact {
  GObject parent_instance;
  const char *section; /* translated, constant */
  char *title, *value; /* (owned) */
  char *more;          /* (owned) or NULL */
  GListModel *all;     /* (owned) or NULL */
  uint32_t node;
};

G_DEFINE_FINAL_TYPE(TdFact, td_fact, G_TYPE_OBJECT)

static void
td_fact_finalize(GObject *object) {
  TdFact *self = TD_FACT(object);
  g_free(self->title);
  g_free(self->value);
  g_free(self->more);
  g_clear_object(&self->all);
  G_OBJECT_CLASS(td_fact_parent_class)->finalize(object);
}

static void
td_fact_class_init(TdFactClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_fact_finalize;
}

static void
td_fact_init(TdFact *self) {
  self->node = TD_NONE;
}

const char *
td_fact_get_section(TdFact *self) {
  return self->section;
}

const char *
td_fact_get_title(TdFact *self) {
  return self->title;
}

const char *
td_fact_get_value(TdFact *self) {
  return self->value;
}

uint32_t
td_fact_get_node(TdFact *self) {
  return self->node;
}

const char *
td_fact_get_more(TdFact *self) {
  return self->more;
}

GListModel *
td_fact_get_all(TdFact *self) {
  return self->all;
}

void
td_fact_set_all(TdFact *self, GListModel *all) {
  self->all = all;
}

TdFact *
td_fact_new(const char *section, const char *title, char *value, uint32_t node, const char *more) {
  TdFact *self = g_object_new(TD_TYPE_FACT, NULL);
  self->section = section;
  self->title = g_strdup(title);
  self->value = value;
  self->node = node;
  self->more = g_strdup(more);
  return self;
}
