/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Export: a tape for other tools. Each function reads the tape once, in the memory of one segment,
 * and writes as it reads. The thread that owns the tape. */
#pragma once

#include "engine/trace/tape.h"

#include <stdio.h>

typedef struct td_export_wish {
  uint32_t graph_task; /* only while this pass was under way, or TD_NONE for all of the tape */
} td_export_wish;

/* All return TD_OUT_OF_RANGE if there is no such pass; else as td_catalog_visit. The caller asks
 * `out` whether the disk took everything. */

/* td_export_dot writes nodes and edges for Graphviz. */
td_status td_export_dot(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error);

/* td_export_chrome writes JSON for chrome://tracing and Perfetto, td_export_perfetto Perfetto's own
 * format. Both have the tracks of engine/exchange/track_sink.h. */
td_status td_export_chrome(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error);
td_status td_export_perfetto(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error);

/* td_export_folded writes a line for each stack of engine/profile/report/stacks.h, with its thread
 * at the bottom, and ns. td_export_speedscope writes the same in time order, for
 * https://www.speedscope.app. Both take an outermost pass. They hold all stacks in memory. */
td_status td_export_folded(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error);
td_status td_export_speedscope(td_tape *tape, const td_export_wish *wish, FILE *out,
                               td_error *error);

/* The tables of tables.def, each in a file of its own, by number of the table. td_export_typed_csv
 * begins each file with a line of JSON for a program that makes typed columns of it: [[name, INT or
 * BOOL or TEXT, summary]...]. */
td_status td_export_csv(td_tape *tape, const td_export_wish *wish, FILE *const *files,
                        td_error *error);
td_status td_export_typed_csv(td_tape *tape, const td_export_wish *wish, FILE *const *files,
                              td_error *error);

/* The same tables in a database of SQLite. td_sqlite_open opens an empty file. TD_IO.
 * td_export_sqlite fills it. TD_IO too, if the disk did not take everything. td_sqlite_close frees
 * it. */
typedef struct td_sqlite td_sqlite;

td_status td_sqlite_open(const char *path, td_sqlite **database, td_error *error);
td_status td_export_sqlite(td_tape *tape, const td_export_wish *wish, td_sqlite *database,
                           td_error *error);
void td_sqlite_close(td_sqlite *database);
