/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All edges into a node, or out of it, as a list of TdFact. A fact is made when somebody asks for
 * it, so a node with thousands of edges costs nothing. Main thread only. */
#pragma once

#include "ui/model/document/document.h"

#define TD_TYPE_EDGE_LIST (td_edge_list_get_type())
G_DECLARE_FINAL_TYPE(TdEdgeList, td_edge_list, TD, EDGE_LIST, GObject)

typedef enum TdEdgeSide {
  TD_EDGES_IN,
  TD_EDGES_OUT,
} TdEdgeSide;

/* td_edge_list_new keeps a reference to the document, and to no segment of it. An item that the
 * document's present segment does not have is a row without a name. */
TdEdgeList *td_edge_list_new(TdDocument *document, uint32_t node, TdEdgeSide side);

/* td_edge_list_dup_title tells where an edge ends at the node: "into input 2", "output 0". The
 * caller frees. */
char *td_edge_list_dup_title(TdEdgeSide side, const td_catalog_edge *edge);
