/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows that follow from one event each. The thread that owns the tape. */
#pragma once

#include "engine/exchange/table.h"

typedef struct td_table_events td_table_events;

td_table_events *td_table_events_new(td_tape *tape, const td_row_sink *sink);
void td_table_events_take(td_table_events *rows, const td_catalog *catalog, uint64_t seq,
                          const td_any_event *event);
void td_table_events_free(td_table_events *rows);
