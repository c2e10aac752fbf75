/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of what took time: slices, hooks, waits, locks, lives of nodes. The thread that owns the
 * tape. */
#pragma once

#include "engine/exchange/table.h"

typedef struct td_table_spans td_table_spans;

td_table_spans *td_table_spans_new(td_tape *tape, const td_row_sink *sink);
void td_table_spans_take(td_table_spans *rows, const td_catalog *catalog, uint64_t seq,
                         const td_any_event *event);

/* td_table_spans_finish says that the tape is over. What is open ends with the last event. */
void td_table_spans_finish(td_table_spans *rows, const td_catalog *catalog);
void td_table_spans_free(td_table_spans *rows);
