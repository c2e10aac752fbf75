/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the inspector says: rows of (section, title, value), some of them links to another node.
 * Built from the state at the playhead; cheap enough for every step. Main thread only. */
#pragma once

#include "ui/model/document.h"

#define TD_TYPE_FACT (td_fact_get_type())
G_DECLARE_FINAL_TYPE(TdFact, td_fact, TD, FACT, GObject)

/* All borrowed. The node is where the row leads, or TD_NONE. */
const char *td_fact_get_section(TdFact *self);
const char *td_fact_get_title(TdFact *self);
const char *td_fact_get_value(TdFact *self);
uint32_t td_fact_get_node(TdFact *self);

/* td_fact_get_more returns lines to show on demand below the value, or NULL. */
const char *td_fact_get_more(TdFact *self);

/* td_facts_of_node lists everything about a node now; td_facts_of_tape about the recording as a
 * whole. Both return a list of TdFact in which the rows of a section stand together. */
GListModel *td_facts_of_node(TdDocument *document, uint32_t node);
GListModel *td_facts_of_tape(TdDocument *document);

/* td_facts_engine_text says what was recorded and how: "PyTorch 2.13.0, level 1: engine probe", or
 * "tapedeck 0.2" for the own engine. The caller frees. */
char *td_facts_engine_text(TdDocument *document);

/* td_facts_state_name returns a node state for people ("waiting for gradients"). */
const char *td_facts_state_name(td_node_state state);

/* td_facts_node_state returns the state of a node now, for people; it tells a node whose gradients
 * are all there from one that still waits. */
const char *td_facts_node_state(TdDocument *document, uint32_t node);
