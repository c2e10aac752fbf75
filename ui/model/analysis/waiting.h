/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ledger of not_ready at the playhead: which gradients nodes have, and which are missing. Main
 * thread only. */
#pragma once

#include "ui/model/analysis/table.h"
#include "ui/model/document/document.h"

/* td_waiting_table lists the input buffers that lie in not_ready; the caller unrefs. */
TdTable *td_waiting_table(TdDocument *document);
