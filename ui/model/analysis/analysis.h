/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine can find out about a whole tape, as tables. A worker does so, on a reading of the
 * tape of its own. Main thread only. */
#pragma once

#include "ui/model/analysis/analysis_wish.h"
#include "ui/model/analysis/table.h"
#include "ui/model/document/document.h"

/* td_analysis_name returns "profile", ..., or NULL beyond the last; td_analysis_title what people
 * read, translated. */
const char *td_analysis_name(guint analysis);
const char *td_analysis_title(TdAnalysis analysis);

/* td_analysis_choice returns what the rows can be, translated: "By function", ... NULL beyond the
 * last. */
const char *td_analysis_choice(TdAnalysis analysis, guint choice);

/* td_analysis_has_ranges tells whether an analysis can be of a range of time. Others are of whole
 * passes, or of one moment. */
gboolean td_analysis_has_ranges(TdAnalysis analysis);

/* td_analysis_async makes the table; finish returns it, which the caller unrefs, or NULL with an
 * error of TD_ERROR or G_IO_ERROR_CANCELLED. */
void td_analysis_async(TdDocument *document, const TdAnalysisWish *wish, GCancellable *cancellable,
                       GAsyncReadyCallback done, gpointer data);
TdTable *td_analysis_finish(GAsyncResult *result, GError **error);

/* td_analysis_nodes_async finds the nodes of the wished pass, of the document's segment, that count
 * in the row of a key. finish returns an array of uint32_t, which the caller unrefs. It is empty if
 * nodes alone do not tell. */
void td_analysis_nodes_async(TdDocument *document, const TdAnalysisWish *wish, const char *key,
                             GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
GArray *td_analysis_nodes_finish(GAsyncResult *result, GError **error);
