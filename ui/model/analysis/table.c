/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/analysis/table.h"

#include "ui/geometry/format.h"

#include <math.h>

typedef struct Cell {
  double number;
  char *text; /* (owned) or NULL */
} Cell;

struct _TdTableRow {
  GObject parent_instance;
  const TdColumn *columns;
  guint n;
  Cell *cells; /* (owned) */
  TdRowPlace place;
};

struct _TdTable {
  GObject parent_instance;
  const TdColumn *columns;
  guint n_columns, first_by;
  GListStore *rows;       /* (owned) */
  char *summary;          /* (owned) */
  GString *notes;         /* (owned) */
  td_memory_areas *areas; /* (owned) or NULL */
};

G_DEFINE_FINAL_TYPE(TdTableRow, td_table_row, G_TYPE_OBJECT)
G_DEFINE_FINAL_TYPE(TdTable, td_table, G_TYPE_OBJECT)

/* ---- rows ---- */

static void
td_table_row_finalize(GObject *object) {
  TdTableRow *self = TD_TABLE_ROW(object);
  for (guint i = 0; i < self->n; i++)
    g_free(self->cells[i].text);
  g_free(self->cells);
  G_OBJECT_CLASS(td_table_row_parent_class)->finalize(object);
}

static void
td_table_row_class_init(TdTableRowClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_table_row_finalize;
}

static void
td_table_row_init(TdTableRow *self) {
}

void
td_table_row_set_text(TdTableRow *self, guint column, const char *text) {
  g_free(self->cells[column].text);
  self->cells[column].text = g_strdup(text);
}

void
td_table_row_set_number(TdTableRow *self, guint column, double number) {
  self->cells[column].number = number;
}

static char *
dup_number(TdUnit unit, double number) {
  switch (unit) {
  case TD_UNIT_NS:
    return td_format_ns(number);
  case TD_UNIT_BYTES:
    return td_format_bytes((uint64_t)number);
  case TD_UNIT_SHARE:
    return g_strdup_printf("%.1f %%", 100 * number);
  case TD_UNIT_CHANGE:
    return g_strdup_printf(fabs(number) < 0.0005 ? "0.0 %%" : "%+.1f %%", 100 * number);
  default:
    return td_format_count((uint64_t)number);
  }
}

char *
td_table_row_dup_text(TdTableRow *self, guint column) {
  const Cell *cell = &self->cells[column];
  TdUnit unit = self->columns[column].unit;
  if (unit == TD_UNIT_TEXT) return g_strdup(cell->text && *cell->text ? cell->text : "–");
  return isnan(cell->number) ? g_strdup("–") : dup_number(unit, cell->number);
}

const char *
td_table_row_get_text(TdTableRow *self, guint column) {
  return self->cells[column].text ? self->cells[column].text : "";
}

TdRowPlace
td_table_row_get_place(TdTableRow *self) {
  return self->place;
}

static int
compare_numbers(double a, double b) {
  if (isnan(a) || isnan(b)) return (int)isnan(a) - (int)isnan(b);
  return (a > b) - (a < b);
}

int
td_table_row_compare(TdTableRow *a, TdTableRow *b, guint column) {
  if (a->columns[column].unit == TD_UNIT_TEXT)
    return strcmp(td_table_row_get_text(a, column), td_table_row_get_text(b, column));
  return compare_numbers(a->cells[column].number, b->cells[column].number);
}

gboolean
td_table_row_matches(TdTableRow *self, const char *letters) {
  for (guint i = 0; i < self->n; i++)
    if (self->cells[i].text && strcasestr(self->cells[i].text, letters)) return TRUE;
  return FALSE;
}

/* ---- the table ---- */

static void
td_table_finalize(GObject *object) {
  TdTable *self = TD_TABLE(object);
  g_clear_object(&self->rows);
  g_free(self->summary);
  g_free(self->areas);
  g_string_free(self->notes, TRUE);
  G_OBJECT_CLASS(td_table_parent_class)->finalize(object);
}

static void
td_table_class_init(TdTableClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_table_finalize;
}

static void
td_table_init(TdTable *self) {
  self->rows = g_list_store_new(TD_TYPE_TABLE_ROW);
  self->notes = g_string_new(NULL);
}

TdTable *
td_table_new(const TdColumn *columns, guint n_columns, guint first_by) {
  TdTable *self = g_object_new(TD_TYPE_TABLE, NULL);
  self->columns = columns;
  self->n_columns = n_columns;
  self->first_by = first_by;
  return self;
}

const TdColumn *
td_table_get_columns(TdTable *self, guint *n_columns) {
  *n_columns = self->n_columns;
  return self->columns;
}

guint
td_table_get_first_by(TdTable *self) {
  return self->first_by;
}

TdTableRow *
td_table_add(TdTable *self, TdRowPlace place) {
  g_autoptr(TdTableRow) row = g_object_new(TD_TYPE_TABLE_ROW, NULL);
  row->columns = self->columns;
  row->n = self->n_columns;
  row->cells = g_new0(Cell, row->n);
  row->place = place;
  for (guint i = 0; i < row->n; i++)
    row->cells[i].number = NAN;
  g_list_store_append(self->rows, row);
  return row;
}

GListModel *
td_table_get_rows(TdTable *self) {
  return G_LIST_MODEL(self->rows);
}

void
td_table_set_summary(TdTable *self, char *text) {
  g_free(self->summary);
  self->summary = text;
}

void
td_table_add_note(TdTable *self, char *text) {
  g_string_append_printf(self->notes, "%s%s", self->notes->len ? "\n" : "", text);
  g_free(text);
}

void
td_table_set_areas(TdTable *self, td_memory_areas *areas) {
  g_free(self->areas);
  self->areas = areas;
}

const td_memory_areas *
td_table_get_areas(TdTable *self) {
  return self->areas;
}

const char *
td_table_get_summary(TdTable *self) {
  return self->summary ? self->summary : "";
}

const char *
td_table_get_notes(TdTable *self) {
  return self->notes->str;
}
