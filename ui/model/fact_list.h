/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A list of facts under construction and what it is read from. Private to ui/model. Main thread
 * only. */
#pragma once

#include "ui/model/facts.h"

typedef struct TdFactList {
  GListStore *store;
  TdDocument *document;
  const td_graph *graph;
  const td_state *state;
  const char *section; /* of what is added next; translated, constant */
} TdFactList;

TdFactList td_fact_list_new(TdDocument *document);

/* All take the value. */
void td_fact_list_add(TdFactList *facts, const char *title, char *value);
void td_fact_list_add_link(TdFactList *facts, const char *title, char *value, uint32_t node);
void td_fact_list_add_more(TdFactList *facts, const char *title, char *value, const char *more);
void td_fact_list_add_count(TdFactList *facts, const char *title, uint64_t count);

/* td_fact_list_add_known adds a value that comes from events of a kind: what was reconstructed says
 * so. */
void td_fact_list_add_known(TdFactList *facts, const char *title, char *value, td_event_kind kind);

/* td_fact_list_is_absent tells whether events of a kind cannot be seen on this tape. */
gboolean td_fact_list_is_absent(const TdFactList *facts, td_event_kind kind);

/* td_facts_add_origin adds where the forward pass made a node, td_facts_add_numbers what its
 * gradients looked like (facts_origin.c). */
void td_facts_add_origin(TdFactList *facts, uint32_t node);
void td_facts_add_numbers(TdFactList *facts, uint32_t node);

/* What else a node is made of (facts_parts.c): td_facts_add_hooks its hooks, in the order in which
 * they run, td_facts_add_saved what it keeps for backward, td_facts_add_conflicts who wrote into
 * that before it was needed. */
void td_facts_add_hooks(TdFactList *facts, uint32_t node);
void td_facts_add_saved(TdFactList *facts, uint32_t node);
void td_facts_add_conflicts(TdFactList *facts, uint32_t node);

/* td_facts_add_error adds why a node failed. */
void td_facts_add_error(TdFactList *facts, uint32_t node);
