/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sentences about single events, and what sentences call a node. Any thread that owns the tape's
 * reader. */
#pragma once

#include "engine/replay/catalog.h"

/* td_why_name_node returns what people call a node: "AccumulateGrad(conv1.weight)", "MulBackward0
 * #3", or "no node" for TD_NONE. The caller frees. td_why_name_node_of does so from
 * the node's facts. */
char *td_why_name_node(const td_catalog *catalog, uint32_t node);
char *td_why_name_node_of(const td_catalog_node *facts);

/* td_why_name_node_whole adds the module and the line that made the node, as far as the tape knows
 * them: "MulBackward0 #3 (encoder.0, net.py:9)". The caller frees. */
char *td_why_name_node_whole(const td_catalog *catalog, uint32_t node);

/* td_why_describe returns the sentence of an event by events.def: "AddBackward0 #3 (Block ·
 * layers.0) entered queue 0 (cpu), 2 in it". td_why_describe_briefly leaves the modules away. The
 * caller frees. */
char *td_why_describe(const td_catalog *catalog, td_tape *tape, const td_any_event *event);
char *td_why_describe_briefly(const td_catalog *catalog, td_tape *tape, const td_any_event *event);

/* td_why_node_of returns the node that an event is about, or TD_NONE. */
uint32_t td_why_node_of(const td_any_event *event);

/* td_why_mean says what an event means: for the pass, or what to do about a NaN's birth or a
 * conflict. "" if there is nothing to add. The caller frees. */
char *td_why_mean(const td_catalog *catalog, td_tape *tape, const td_any_event *event);
