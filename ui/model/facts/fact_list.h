/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A list of facts under construction, and the document that the facts come from. Private to
 * ui/model. Main thread only. */
#pragma once

#include "ui/model/document/document.h"
#include "ui/model/facts/fact.h"

typedef struct TdFactList {
  GListStore *store;
  TdDocument *document;
  const td_catalog *catalog, *whole; /* of the segment, of the tape */
  const td_state *state;
  const char *section; /* of the rows that follow; translated, constant */
} TdFactList;

TdFactList td_fact_list_new(TdDocument *document);

/* All take the value and copy title and more. */
void td_fact_list_add(TdFactList *facts, const char *title, char *value);
void td_fact_list_add_link(TdFactList *facts, const char *title, char *value, uint32_t node);
void td_fact_list_add_more(TdFactList *facts, const char *title, char *value, const char *more);
/* It also takes the list of all that the value stands for. */
void td_fact_list_add_all(TdFactList *facts, const char *title, char *value, GListModel *all);
void td_fact_list_add_count(TdFactList *facts, const char *title, uint64_t count);

/* td_fact_list_add_known adds a value that comes from events of a kind. The value says so if those
 * events were reconstructed. */
void td_fact_list_add_known(TdFactList *facts, const char *title, char *value, td_event_kind kind);
