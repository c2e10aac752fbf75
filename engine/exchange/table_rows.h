/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All rows of all tables of a tape, as it goes by. The thread that owns the tape. */
#pragma once

#include "engine/exchange/export.h"
#include "engine/exchange/table.h"

/* td_tables_write gives a sink all rows that a wish asks for. It reads the tape once, or twice if
 * it is not cut. Results are those of td_export_dot. */
td_status td_tables_write(td_tape *tape, const td_export_wish *wish, const td_row_sink *sink,
                          td_error *error);
