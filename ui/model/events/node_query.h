/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Finding nodes by what a person types. Each typed word must occur in a node: in its name, number,
 * label, module path, state or the lines of the model that made it. On a tape of millions of nodes
 * a search takes some tens of milliseconds, because it looks once at a text that many nodes share.
 * Main thread only. */
#pragma once

#include "ui/model/document/document.h"

typedef struct TdNodeQuery TdNodeQuery;

/* td_node_query_new takes what was typed; the document stays open meanwhile. */
TdNodeQuery *td_node_query_new(TdDocument *document, const char *typed);
void td_node_query_free(TdNodeQuery *self);
gboolean td_node_query_matches(TdNodeQuery *self, uint32_t node);

/* td_node_query_run finds nodes, those of the pass shown first, and writes the first `room` of
 * them. Returns how many there are. */
uint32_t td_node_query_run(TdNodeQuery *self, uint32_t *nodes, uint32_t room);

/* td_node_query_describe returns what people read of a node of the document: its name, label,
 * module, line and state now. The caller frees. */
char *td_node_query_describe(TdDocument *document, uint32_t node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TdNodeQuery, td_node_query_free)
