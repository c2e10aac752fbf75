/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Looking for a long chain back to a cause, in a worker with a reading of the tape of its own. Call
 * from the main thread. */
#pragma once

#include "engine/profile/chain/chain.h"
#include "ui/model/document/document.h"

/* td_chain_work_async asks as td_chain_make does, about an event of a document's segment. finish
 * hands on a chain, whose numbers are those of the document's catalog. The caller calls
 * td_chain_fini. It returns FALSE with one of TD_ERROR or G_IO_ERROR_CANCELLED; TD_ERROR also if
 * another tape has the name of this one now. */
void td_chain_work_async(TdDocument *document, uint64_t seq, uint32_t node,
                         GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
gboolean td_chain_work_finish(GAsyncResult *result, td_chain *chain, GError **error);
