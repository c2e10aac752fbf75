/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sentences about a document: what its tape lacks, what an event says, why a node waits. Main
 * thread; the caller frees every text. */
#pragma once

#include "ui/model/document/document.h"

/* td_document_dup_warning says what the tape lacks (damage, dropped events) or contradicts. It
 * returns NULL if the tape is whole. */
char *td_document_dup_warning(TdDocument *self);

/* td_document_dup_calm_text says what a tape without problems tells: whether anybody looked for
 * NaN, and whether a segment of the tape is missing. */
char *td_document_dup_calm_text(TdDocument *self);

/* td_document_dup_node_name returns "MulBackward0 #6". td_document_dup_node_called returns what the
 * program calls it: the name of a leaf, "Linear · layers.0" of other nodes, or NULL.
 * td_document_dup_node_words returns both: "AccumulateGrad #6 (layers.0.weight)".
 * td_document_dup_edge_name returns "Edge from MulBackward0 #6 to AccumulateGrad #7".
 * td_document_dup_event_text returns what an event says; td_document_dup_event_brief leaves the
 * modules away. */
char *td_document_dup_node_name(TdDocument *self, uint32_t node);
char *td_document_dup_node_called(TdDocument *self, uint32_t node);
char *td_document_dup_node_words(TdDocument *self, uint32_t node);
char *td_document_dup_edge_name(TdDocument *self, uint32_t edge);
char *td_document_dup_event_text(TdDocument *self, uint64_t seq);
char *td_document_dup_event_brief(TdDocument *self, uint64_t seq);

/* td_document_dup_event_module returns "Linear · layers.0" for the node that an event is about, or
 * NULL. */
char *td_document_dup_event_module(TdDocument *self, uint64_t seq);

/* td_document_dup_pass_text names a graph task of the process shown: "Backward pass 3 of 9 · depth
 * 1 · step 2". It leaves a depth of 0 away. td_document_dup_process_names returns what people call
 * each process of the tape. */
char *td_document_dup_pass_text(TdDocument *self, uint32_t graph_task);
GStrv td_document_dup_process_names(TdDocument *self);

/* td_document_find_last_pop returns the pop that happened last before the playhead in the process
 * shown, and writes its queue. UINT64_MAX if there was none. */
uint64_t td_document_find_last_pop(TdDocument *self, uint32_t *queue);

/* td_document_find_running returns the node of that pop, if it still runs, or TD_NONE. */
uint32_t td_document_find_running(TdDocument *self);

/* td_document_dup_wait_text says what a node waits for at the playhead; NULL if it waits for
 * nothing. td_document_dup_pop_text answers "why this one next?" for the pop of event `seq`. */
char *td_document_dup_wait_text(TdDocument *self, uint32_t node);
char *td_document_dup_pop_text(TdDocument *self, uint64_t seq);
