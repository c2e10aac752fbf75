/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The events of a document that report a problem: NaN and Inf, errors, conflicts. Main thread. */
#pragma once

#include "ui/model/document.h"

/* td_document_get_problems returns all events of TD_LIST_problems on the whole tape,
 * ascending. */
const td_catalog_mention *td_document_get_problems(TdDocument *self, size_t *n);

/* td_document_find_anomaly copies the nth `anomaly` event of a node, from 0, before the present
 * position. It returns FALSE if the node has no more. */
gboolean td_document_find_anomaly(TdDocument *self, uint32_t node, uint32_t nth,
                                  td_event_anomaly *out);
