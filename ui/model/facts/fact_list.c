/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/fact_list.h"

#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"

#include <glib/gi18n.h>

TdFactList
td_fact_list_new(TdDocument *document) {
  return (TdFactList){g_list_store_new(TD_TYPE_FACT),    document,
                      td_document_get_catalog(document), td_document_get_whole(document),
                      td_document_get_state(document),   NULL};
}

static void
add_fact(TdFactList *facts, const char *title, char *value, uint32_t node, const char *more) {
  g_autoptr(TdFact) fact = td_fact_new(facts->section, title, value, node, more);
  g_list_store_append(facts->store, fact);
}

void
td_fact_list_add_link(TdFactList *facts, const char *title, char *value, uint32_t node) {
  add_fact(facts, title, value, node, NULL);
}

void
td_fact_list_add_all(TdFactList *facts, const char *title, char *value, GListModel *all) {
  g_autoptr(TdFact) fact = td_fact_new(facts->section, title, value, TD_NONE, NULL);
  td_fact_set_all(fact, all);
  g_list_store_append(facts->store, fact);
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
