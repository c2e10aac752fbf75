/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts.h"

#include "ui/geometry/format.h"
#include "ui/model/fact_list.h"

#include <glib/gi18n.h>

struct _TdFact {
  GObject parent_instance;
  const char *section; /* translated, constant */
  char *title, *value; /* (owned) */
  char *more;          /* (owned) or NULL */
  uint32_t node;
};

G_DEFINE_FINAL_TYPE(TdFact, td_fact, G_TYPE_OBJECT)

static void
td_fact_finalize(GObject *object) {
  TdFact *self = TD_FACT(object);
  g_free(self->title);
  g_free(self->value);
  g_free(self->more);
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

TdFactList
td_fact_list_new(TdDocument *document) {
  return (TdFactList){g_list_store_new(TD_TYPE_FACT), document, td_document_get_graph(document),
                      td_document_get_state(document), NULL};
}

static void
add_fact(TdFactList *facts, const char *title, char *value, uint32_t node, const char *more) {
  g_autoptr(TdFact) fact = g_object_new(TD_TYPE_FACT, NULL);
  fact->section = facts->section;
  fact->title = g_strdup(title);
  fact->value = value;
  fact->node = node;
  fact->more = g_strdup(more);
  g_list_store_append(facts->store, fact);
}

void
td_fact_list_add_link(TdFactList *facts, const char *title, char *value, uint32_t node) {
  add_fact(facts, title, value, node, NULL);
}

void
td_fact_list_add_more(TdFactList *facts, const char *title, char *value, const char *more) {
  add_fact(facts, title, value, TD_NONE, more);
}

void
td_fact_list_add(TdFactList *facts, const char *title, char *value) {
  add_fact(facts, title, value, TD_NONE, NULL);
}

void
td_fact_list_add_count(TdFactList *facts, const char *title, uint64_t count) {
  td_fact_list_add(facts, title, td_format_count(count));
}

void
td_fact_list_add_known(TdFactList *facts, const char *title, char *value, td_event_kind kind) {
  bool seen = td_document_get_info(facts->document)->known[kind] != TD_knowledge_reconstructed;
  td_fact_list_add(facts, title,
                   seen ? g_strdup(value) : g_strdup_printf(_("%s (reconstructed)"), value));
  g_free(value);
}

gboolean
td_fact_list_is_absent(const TdFactList *facts, td_event_kind kind) {
  return td_document_get_info(facts->document)->known[kind] == TD_knowledge_absent;
}

static const char *const state_names[TD_N_NODE_STATES] = {
    [TD_NODE_created] = N_("created"),
    [TD_NODE_waiting] = N_("waiting for gradients"),
    [TD_NODE_partial] = N_("waiting, some gradients arrived"),
    [TD_NODE_queued] = N_("in a ready queue"),
    [TD_NODE_running] = N_("running"),
    [TD_NODE_done] = N_("done"),
    [TD_NODE_skipped] = N_("skipped: not run in this pass"),
    [TD_NODE_captured] = N_("gradient captured"),
    [TD_NODE_failed] = N_("failed"),
    [TD_NODE_released] = N_("released"),
    [TD_NODE_absent] = N_("not created yet"),
};

const char *
td_facts_state_name(td_node_state state) {
  return state < TD_N_NODE_STATES ? _(state_names[state]) : "";
}

const char *
td_facts_node_state(TdDocument *document, uint32_t node) {
  const td_state *state = td_document_get_state(document);
  const td_task_now *task = td_state_task_find(state, node, TD_NONE);
  td_node_state now = state->nodes[node].state;
  if (now == TD_NODE_partial && task && task->expected && !task->dependencies)
    return _("has all its gradients");
  return td_facts_state_name(now);
}
