/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parquet writer: a Python with pyarrow, which makes Parquet files of rows that come through pipes.
 * It is TAPEDECK_PYTHON or the python3 of PATH. Its program is write_parquet.py. Main thread. */
#pragma once

#include "engine/exchange/table.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/* The text of write_parquet.py. */
extern const char td_parquet_script[];

typedef struct td_parquet_writer {
  GPid pid;
  int said;                 /* (owned) what it prints */
  FILE *pipes[TD_N_TABLES]; /* (owned) where the rows go: td_export_typed_csv */
} td_parquet_writer;

/* td_parquet_writer_start starts it on files that are open and empty, by number of the table. If it
 * cannot, it returns false and sets *problem to the reason (free it). Writing into the pipes fails
 * from now on where it would have raised SIGPIPE. */
bool td_parquet_writer_start(td_parquet_writer *self, FILE *const *files, char **problem);

/* td_parquet_writer_end closes the pipes and waits for the end. It returns false and sets *problem
 * if the files are not whole. */
bool td_parquet_writer_end(td_parquet_writer *self, char **problem);
