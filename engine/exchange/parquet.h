/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One table as a file of Apache Parquet: plain values, pages compressed with zstd. Rows wait in
 * memory until there are enough for a group of rows. One thread. */
#pragma once

#include "engine/exchange/table.h"

#include <stdio.h>

typedef struct td_parquet td_parquet;

/* td_parquet_new begins a file, td_parquet_free ends it. The caller asks `out` whether the disk
 * took everything. */
td_parquet *td_parquet_new(const td_table_info *table, FILE *out);
void td_parquet_row(td_parquet *parquet, const td_cell *cells);
void td_parquet_free(td_parquet *parquet);
