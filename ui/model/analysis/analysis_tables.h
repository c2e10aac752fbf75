/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tables of analyses. Private to ui/model. Any thread that owns the tape. */
#pragma once

#include "engine/trace/tape.h"
#include "ui/model/analysis/analysis_wish.h"
#include "ui/model/analysis/table.h"

/* A table has no more rows than this; a note tells how many are left out. */
#define TD_TABLE_ROWS_MAX 10000

/* Each returns a table, or NULL with an error. The caller unrefs. */
TdTable *td_analysis_profile(td_tape *tape, const TdAnalysisWish *wish, td_error *error);
TdTable *td_analysis_contention(td_tape *tape, const TdAnalysisWish *wish, td_error *error);
TdTable *td_analysis_critical(td_tape *tape, const TdAnalysisWish *wish, td_error *error);
TdTable *td_analysis_memory(td_tape *tape, const TdAnalysisWish *wish, td_error *error);
TdTable *td_analysis_whatif(td_tape *tape, const TdAnalysisWish *wish, td_error *error);

/* td_table_note_left_out says how many of `n` rows the table lacks. `command` prints them all. */
void td_table_note_left_out(TdTable *table, guint n, const char *command);

/* td_table_note_range says what counts in the range of a wish, if it has one. */
void td_table_note_range(TdTable *table, const TdAnalysisWish *wish);

/* td_table_note_known says how the times of a table are known. */
void td_table_note_known(TdTable *table, td_knowledge known);
