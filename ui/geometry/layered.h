/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Layered layout of a directed graph, top to bottom. A port is a marked node at the end of an edge:
 * the layout puts it beside one of its users, not into a layer. Tall layouts are folded into
 * columns that read like a newspaper's. The result depends on the input alone, never on time. Any
 * thread.
 *
 * The method is Sugiyama's in four steps, one file each: layers.c, ordering.c, coordinates.c,
 * columns.c; routes.c turns edges into points. Memory grows with nodes and edges, because edges
 * that span too many layers are led around the outside. */
#pragma once

#include "ui/geometry/layout.h"

/* td_layout_new lays a graph out. Edges name existing nodes. Cycles and self loops are led around.
 * The caller frees the layout with td_layout_free. */
td_layout *td_layout_new(const td_layout_graph *graph, const td_layout_options *options);
