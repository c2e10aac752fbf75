/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The states of a node in words for people. Main thread only. */
#pragma once

#include "ui/model/document/document.h"

/* td_node_state_text returns a state ("waiting for gradients"). */
const char *td_node_state_text(td_node_state state);

/* td_node_state_text_now returns the state of a node now. The text tells a
 * node that has all its gradients from a node that still waits. */
const char *td_node_state_text_now(TdDocument *document, uint32_t node);

/* td_node_state_dup_now tells all of a node's state now: "running on cpu worker",
 * "waits, 1 of 3 gradients arrived", "done, NaN was born here". td_node_dup_sequence returns
 * "sequence_nr 7". The caller frees. */
char *td_node_state_dup_now(TdDocument *document, uint32_t node);
char *td_node_dup_sequence(uint64_t sequence_nr);
