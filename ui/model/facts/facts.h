/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rows of the inspector, made from the state at the playhead. Cheap enough for every step. Main
 * thread only. */
#pragma once

#include "ui/model/document/document.h"
#include "ui/model/facts/fact.h"

/* td_facts_of_node lists everything about a node now. td_facts_of_edge tells the ends of an edge of
 * the catalog, and the gradient that went over it last. td_facts_of_tape lists everything about the
 * recording. All return a list of TdFact in which the rows of a section stand together. */
GListModel *td_facts_of_node(TdDocument *document, uint32_t node);
GListModel *td_facts_of_edge(TdDocument *document, uint32_t edge);
GListModel *td_facts_of_tape(TdDocument *document);

/* td_facts_engine_text says what was recorded and how: "PyTorch 2.13.0, level 1: engine probe", or
 * "tapedeck 0.2" for the own engine. A prediction says so first: "predicted: fifo · tapedeck 0.2".
 * The caller frees. */
char *td_facts_engine_text(TdDocument *document);

/* td_facts_dup_kinds returns the kinds of events that are known in one way, a line for each with
 * what it tells, or "". The caller frees. */
char *td_facts_dup_kinds(TdDocument *document, td_knowledge how);
