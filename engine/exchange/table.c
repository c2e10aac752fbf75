/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/table.h"

#include "engine/base/alloc.h"

#define TD_COLUMN(type, name, summary) {TD_CELL_##type, #name, summary},
#define TD_TABLE(name, summary, columns) static const td_column name##_columns[] = {columns};
#include "engine/exchange/tables.def"
#undef TD_COLUMN
#undef TD_TABLE

static const td_table_info tables[] = {
#define TD_TABLE(name, summary, columns)                                                           \
  {#name, summary, name##_columns, TD_N_ELEMENTS(name##_columns)},
#include "engine/exchange/tables.def"
#undef TD_TABLE
};

#define TD_TABLE(name, summary, columns)                                                           \
  _Static_assert(TD_N_ELEMENTS(name##_columns) <= TD_COLUMNS_MAX, #name);
#include "engine/exchange/tables.def"
#undef TD_TABLE

const td_table_info *
td_table_get(td_table table) {
  return &tables[table];
}
