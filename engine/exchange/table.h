/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables of a tape: which there are, and one row of each as it goes by. tables.def lists them. Any
 * thread. */
#pragma once

#include "engine/base/line.h"
#include "engine/profile/report/queue_waits.h"

#include <string.h>

#define TD_LAY_COLUMN(cause, words)                                                                \
  TD_COLUMN(INT, cause##_ns,                                                                       \
            "of a task, time in which the queue's thread " words "; null: no queue")
#define TD_LIFE_COLUMN(part) TD_COLUMN(INT, part##_ns, "time of this part; null: unknown")

typedef enum td_cell_type { TD_CELL_NULL, TD_CELL_INT, TD_CELL_BOOL, TD_CELL_TEXT } td_cell_type;

/* A value, or null. */
typedef struct td_cell {
  td_cell_type type;
  int64_t number;   /* INT; BOOL: 0 or 1 */
  const char *text; /* (borrowed) TEXT, of `length` bytes */
  size_t length;
} td_cell;

/* A row has a cell for each column, in their order. */
#define TD_COLUMN(type, name, summary) td_cell name;
#define TD_TABLE(name, summary, columns)                                                           \
  typedef struct td_row_##name {                                                                   \
    columns                                                                                        \
  } td_row_##name;
#include "engine/exchange/tables.def"
#undef TD_COLUMN
#undef TD_TABLE

typedef enum td_table {
#define TD_TABLE(name, summary, columns) TD_TABLE_##name,
#include "engine/exchange/tables.def"
#undef TD_TABLE
  TD_N_TABLES
} td_table;

typedef struct td_column {
  td_cell_type type; /* what its values are, if they are not null */
  const char *name, *summary;
} td_column;

#define TD_COLUMNS_MAX 32

typedef struct td_table_info {
  const char *name, *summary;
  const td_column *columns;
  uint32_t n_columns;
} td_table_info;

/* td_table_get returns a table's name and columns. Constant. */
const td_table_info *td_table_get(td_table table);

/* td_cell_int returns a number, td_cell_u64 one that may be too great: then it is the greatest.
 * td_cell_id returns null for TD_NONE. td_cell_whole returns null for NULL and "". td_cell_text
 * does so too, and cuts the text: a small tape may use a long one in each event. */
static inline td_cell
td_cell_int(int64_t number) {
  return (td_cell){TD_CELL_INT, number, NULL, 0};
}

static inline td_cell
td_cell_u64(uint64_t number) {
  return td_cell_int(number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static inline td_cell
td_cell_id(uint32_t id) {
  return id == TD_NONE ? (td_cell){0} : td_cell_int(id);
}

static inline td_cell
td_cell_bool(bool value) {
  return (td_cell){TD_CELL_BOOL, value, NULL, 0};
}

static inline td_cell
td_cell_whole(const char *text) {
  return text && *text ? (td_cell){TD_CELL_TEXT, 0, text, strlen(text)} : (td_cell){0};
}

static inline td_cell
td_cell_text(const char *text) {
  td_cell cell = td_cell_whole(text);
  if (cell.length > TD_TEXT_SHOWN) cell.length = td_line_cut(text, TD_TEXT_SHOWN);
  return cell;
}

/* Gets a row: its cells are valid for the call. Rows of different tables come mixed. */
typedef struct td_row_sink {
  void (*row)(td_table table, const td_cell *cells, void *data);
  void *data;
} td_row_sink;

/* TD_ROW(sink, table, .column = cell ...) gives a sink a row. Columns that are left out are null.
 */
#define TD_ROW(sink, table, ...)                                                                   \
  (sink)->row(TD_TABLE_##table, (const td_cell *)&(const td_row_##table){__VA_ARGS__}, (sink)->data)
