/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A table of quantities: what an analysis found. A worker makes it, and then the main thread owns
 * it. A quantity that nobody knows is NAN, and people see a dash. */
#pragma once

#include "ui/draw/memory_picture.h"

#include <gio/gio.h>
#include <stdint.h>

typedef enum TdUnit {
  TD_UNIT_TEXT,
  TD_UNIT_NS,
  TD_UNIT_COUNT,
  TD_UNIT_BYTES,
  TD_UNIT_SHARE,  /* 1 is 100 % */
  TD_UNIT_CHANGE, /* the same, with a sign */
} TdUnit;

typedef struct TdColumn {
  const char *title; /* to translate, constant */
  TdUnit unit;
  const char *meaning; /* what it is; the same, or NULL */
  int width;           /* pixels of a text, 0: as many as a few letters take */
} TdColumn;

/* Where a row leads. */
typedef struct TdRowPlace {
  uint32_t node;         /* or TD_NONE */
  uint64_t position;     /* or UINT64_MAX: only the node */
  double from_ns, to_ns; /* time to show, or both 0 */
} TdRowPlace;

#define TD_NOWHERE ((TdRowPlace){UINT32_MAX, UINT64_MAX, 0, 0})

#define TD_TYPE_TABLE_ROW (td_table_row_get_type())
G_DECLARE_FINAL_TYPE(TdTableRow, td_table_row, TD, TABLE_ROW, GObject)

#define TD_TYPE_TABLE (td_table_get_type())
G_DECLARE_FINAL_TYPE(TdTable, td_table, TD, TABLE, GObject)

/* td_table_new takes columns that stay as long as the program. People first see the rows in the
 * order of a column, the greatest first. */
TdTable *td_table_new(const TdColumn *columns, guint n_columns, guint first_by);
const TdColumn *td_table_get_columns(TdTable *self, guint *n_columns);
guint td_table_get_first_by(TdTable *self);

/* td_table_add appends a row without contents; borrowed. The functions that fill it in copy. */
TdTableRow *td_table_add(TdTable *self, TdRowPlace place);
void td_table_row_set_text(TdTableRow *row, guint column, const char *text);
void td_table_row_set_number(TdTableRow *row, guint column, double number);

/* td_table_get_rows returns a list of TdTableRow; borrowed. */
GListModel *td_table_get_rows(TdTable *self);

/* td_table_set_summary says in a sentence what the table is of. td_table_add_note adds a line to
 * what people read below the rows: the reason of a dash, how things are known, what is left out.
 * Both take the text. */
void td_table_set_summary(TdTable *self, char *text);
void td_table_add_note(TdTable *self, char *text);
const char *td_table_get_summary(TdTable *self);
const char *td_table_get_notes(TdTable *self);

/* td_table_set_areas adds a picture of the memory over time, which a view shows above the rows. It
 * takes the areas, which g_free frees. td_table_get_areas returns them, borrowed, or NULL. */
void td_table_set_areas(TdTable *self, td_memory_areas *areas);
const td_memory_areas *td_table_get_areas(TdTable *self);

/* td_table_row_dup_text returns a cell as people read it; the caller frees. */
char *td_table_row_dup_text(TdTableRow *row, guint column);

/* td_table_row_get_text returns the text of a column of texts, or "". */
const char *td_table_row_get_text(TdTableRow *row, guint column);
TdRowPlace td_table_row_get_place(TdTableRow *row);

/* td_table_row_compare orders by a column: the smallest first, unknown ones last. */
int td_table_row_compare(TdTableRow *a, TdTableRow *b, guint column);

/* td_table_row_matches tells whether one of the row's texts has these letters. */
gboolean td_table_row_matches(TdTableRow *row, const char *letters);
