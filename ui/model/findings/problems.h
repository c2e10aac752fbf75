/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The events of a document that report a problem: NaN and Inf, errors, conflicts. Main thread. */
#pragma once

#include "ui/model/document/document.h"

/* td_document_get_problems returns all events of TD_LIST_problems on the whole tape,
 * ascending. */
const td_catalog_mention *td_document_get_problems(TdDocument *self, size_t *n);

/* td_document_find_anomaly copies the nth `anomaly` event of a node, from 0, before the present
 * position, and writes its number. It returns FALSE if the node has no more. */
gboolean td_document_find_anomaly(TdDocument *self, uint32_t node, uint32_t nth, uint64_t *seq,
                                  td_event_anomaly *out);

/* td_document_dup_cause says what may have led to the problem of event seq: "Event 12 may have led
 * to it: Inf was born in node #4". "" if nobody knows. The caller frees. */
char *td_document_dup_cause(TdDocument *self, uint64_t seq);

/* td_document_dup_problem_place says where that problem is, and what may have led to it. An
 * example: "step 3 · segment 2 of 9 · Event 12 may have led to it: ...". It leaves away what nobody
 * knows. */
char *td_document_dup_problem_place(TdDocument *self, uint64_t seq);
