/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/parquet.h"

#include "engine/base/alloc.h"
#include "engine/exchange/thrift.h"

#include <zstd.h>

/* A group of rows ends with so many rows, or bytes of values. */
enum { GROUP_ROWS = 1 << 16, GROUP_BYTES = 4 << 20 };

/* Numbers of the format's own enums. */
enum { TYPE_BOOLEAN = 0, TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { CONVERTED_UTF8 = 0, REPETITION_OPTIONAL = 1, PAGE_DATA = 0 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, CODEC_ZSTD = 6, ZSTD_LEVEL = 3 };

/* The format's fields, in the order of their numbers. */
enum { SCHEMA_TYPE = 1, SCHEMA_REPETITION = 3, SCHEMA_NAME, SCHEMA_N_CHILDREN, SCHEMA_CONVERTED };
enum { PAGE_TYPE = 1, PAGE_PLAIN_BYTES, PAGE_STORED_BYTES, PAGE_HEADER = 5 };
enum { HEADER_N_VALUES = 1, HEADER_ENCODING, HEADER_DEFINITIONS, HEADER_REPETITIONS };
enum { CHUNK_OFFSET = 2, CHUNK_METADATA };
enum {
  COLUMN_TYPE = 1,
  COLUMN_ENCODINGS,
  COLUMN_PATH,
  COLUMN_CODEC,
  COLUMN_N_VALUES,
  COLUMN_PLAIN_BYTES,
  COLUMN_STORED_BYTES,
  COLUMN_OFFSET = 9
};
enum { GROUP_COLUMNS = 1, GROUP_SIZE, GROUP_N_ROWS };
enum { FILE_VERSION = 1, FILE_SCHEMA, FILE_N_ROWS, FILE_GROUPS, FILE_PAIRS };
enum { PAIR_KEY = 1, PAIR_VALUE };

typedef struct column {
  td_byte_list levels; /* runs: 1 for a value, 0 for null */
  td_byte_list values; /* that are not null */
  uint32_t run;        /* length of the run at the end */
  bool run_has_values;
  uint32_t n_bits; /* BOOL: values in `values` */
} column;

struct td_parquet {
  const td_table_info *table;
  FILE *out;
  uint64_t at; /* bytes written */
  column columns[TD_COLUMNS_MAX];
  uint32_t n_rows; /* of the present group */
  size_t n_bytes;
  uint64_t n_rows_before;
  td_thrift groups; /* what the end of the file says of them */
  uint32_t n_groups;
  td_byte_list page, stored;
};

static int
type_of(const td_column *column) {
  if (column->type == TD_CELL_TEXT) return TYPE_BYTE_ARRAY;
  return column->type == TD_CELL_BOOL ? TYPE_BOOLEAN : TYPE_INT64;
}

static void
write_bytes(td_parquet *self, const void *bytes, size_t n) {
  fwrite(bytes, 1, n, self->out);
  self->at += n;
}

/* ---- values ---- */

static void
end_run(column *column) {
  if (!column->run) return;
  td_byte_list_varint(&column->levels, (uint64_t)column->run << 1);
  td_byte_list_little(&column->levels, column->run_has_values, 1);
  column->run = 0;
}

static void
add_level(column *column, bool has_value) {
  if (column->run_has_values != has_value) end_run(column);
  column->run_has_values = has_value;
  column->run++;
}

static void
add_bit(column *column, bool value) {
  uint32_t bit = column->n_bits++ % 8;
  if (bit == 0) td_byte_list_little(&column->values, 0, 1);
  if (value) column->values.bytes[column->values.n - 1] |= (unsigned char)(1u << bit);
}

static void
add_value(column *column, const td_cell *cell) {
  add_level(column, cell->type != TD_CELL_NULL);
  if (cell->type == TD_CELL_INT) td_byte_list_little(&column->values, (uint64_t)cell->number, 8);
  if (cell->type == TD_CELL_BOOL) add_bit(column, cell->number != 0);
  if (cell->type != TD_CELL_TEXT) return;
  td_byte_list_little(&column->values, cell->length, 4);
  td_byte_list_append(&column->values, cell->text, cell->length);
}

/* ---- groups of rows ---- */

static void
write_page_head(td_parquet *self, size_t n_plain, size_t n_stored) {
  td_thrift head = {0};
  td_thrift_int(&head, PAGE_TYPE, TD_THRIFT_I32, PAGE_DATA);
  td_thrift_int(&head, PAGE_PLAIN_BYTES, TD_THRIFT_I32, (int64_t)n_plain);
  td_thrift_int(&head, PAGE_STORED_BYTES, TD_THRIFT_I32, (int64_t)n_stored);
  td_thrift_begin(&head, PAGE_HEADER);
  td_thrift_int(&head, HEADER_N_VALUES, TD_THRIFT_I32, self->n_rows);
  td_thrift_int(&head, HEADER_ENCODING, TD_THRIFT_I32, ENCODING_PLAIN);
  td_thrift_int(&head, HEADER_DEFINITIONS, TD_THRIFT_I32, ENCODING_RLE);
  td_thrift_int(&head, HEADER_REPETITIONS, TD_THRIFT_I32, ENCODING_RLE);
  td_thrift_end(&head);
  td_thrift_end(&head);
  write_bytes(self, head.bytes.bytes, head.bytes.n);
  td_byte_list_fini(&head.bytes);
}

static void
describe_column(td_parquet *self, const td_column *info, uint64_t offset, size_t n_plain) {
  td_thrift *groups = &self->groups;
  td_thrift_item_begin(groups);
  td_thrift_int(groups, CHUNK_OFFSET, TD_THRIFT_I64, (int64_t)offset);
  td_thrift_begin(groups, CHUNK_METADATA);
  td_thrift_int(groups, COLUMN_TYPE, TD_THRIFT_I32, type_of(info));
  td_thrift_list(groups, COLUMN_ENCODINGS, TD_THRIFT_I32, 2);
  td_thrift_item_int(groups, ENCODING_PLAIN);
  td_thrift_item_int(groups, ENCODING_RLE);
  td_thrift_list(groups, COLUMN_PATH, TD_THRIFT_TEXT, 1);
  td_thrift_item_text(groups, info->name);
  td_thrift_int(groups, COLUMN_CODEC, TD_THRIFT_I32, CODEC_ZSTD);
  td_thrift_int(groups, COLUMN_N_VALUES, TD_THRIFT_I64, self->n_rows);
  td_thrift_int(groups, COLUMN_PLAIN_BYTES, TD_THRIFT_I64, (int64_t)n_plain);
  td_thrift_int(groups, COLUMN_STORED_BYTES, TD_THRIFT_I64, (int64_t)(self->at - offset));
  td_thrift_int(groups, COLUMN_OFFSET, TD_THRIFT_I64, (int64_t)offset);
  td_thrift_end(groups);
  td_thrift_end(groups);
}

/* The page is the levels with their length, and the values. */
static void
write_column(td_parquet *self, uint32_t i) {
  column *column = &self->columns[i];
  uint64_t offset = self->at;
  end_run(column);
  self->page.n = self->stored.n = 0;
  td_byte_list_little(&self->page, column->levels.n, 4);
  td_byte_list_append(&self->page, column->levels.bytes, column->levels.n);
  td_byte_list_append(&self->page, column->values.bytes, column->values.n);
  td_byte_list_reserve(&self->stored, ZSTD_compressBound(self->page.n));
  size_t n = ZSTD_compress(self->stored.bytes, self->stored.capacity, self->page.bytes,
                           self->page.n, ZSTD_LEVEL);
  if (ZSTD_isError(n)) td_out_of_memory();
  write_page_head(self, self->page.n, n);
  size_t n_head = (size_t)(self->at - offset);
  write_bytes(self, self->stored.bytes, n);
  describe_column(self, &self->table->columns[i], offset, n_head + self->page.n);
  column->levels.n = column->values.n = 0;
  column->n_bits = 0;
}

static void
end_group(td_parquet *self) {
  if (!self->n_rows) return;
  td_thrift_item_begin(&self->groups);
  td_thrift_list(&self->groups, GROUP_COLUMNS, TD_THRIFT_STRUCT, self->table->n_columns);
  for (uint32_t i = 0; i < self->table->n_columns; i++)
    write_column(self, i);
  td_thrift_int(&self->groups, GROUP_SIZE, TD_THRIFT_I64, (int64_t)self->n_bytes);
  td_thrift_int(&self->groups, GROUP_N_ROWS, TD_THRIFT_I64, self->n_rows);
  td_thrift_end(&self->groups);
  self->n_groups++;
  self->n_rows_before += self->n_rows;
  self->n_rows = 0;
  self->n_bytes = 0;
}

td_parquet *
td_parquet_new(const td_table_info *table, FILE *out) {
  td_parquet *self = TD_NEW(td_parquet);
  self->table = table;
  self->out = out;
  write_bytes(self, "PAR1", 4);
  return self;
}

void
td_parquet_row(td_parquet *self, const td_cell *cells) {
  for (uint32_t i = 0; i < self->table->n_columns; i++) {
    add_value(&self->columns[i], &cells[i]);
    self->n_bytes += 8 + cells[i].length;
  }
  self->n_rows++;
  if (self->n_rows >= GROUP_ROWS || self->n_bytes >= GROUP_BYTES) end_group(self);
}

/* ---- the end of the file ---- */

static void
describe_schema(const td_table_info *table, td_thrift *file) {
  td_thrift_list(file, FILE_SCHEMA, TD_THRIFT_STRUCT, table->n_columns + 1);
  td_thrift_item_begin(file);
  td_thrift_text(file, SCHEMA_NAME, table->name);
  td_thrift_int(file, SCHEMA_N_CHILDREN, TD_THRIFT_I32, table->n_columns);
  td_thrift_end(file);
  for (uint32_t i = 0; i < table->n_columns; i++) {
    const td_column *column = &table->columns[i];
    td_thrift_item_begin(file);
    td_thrift_int(file, SCHEMA_TYPE, TD_THRIFT_I32, type_of(column));
    td_thrift_int(file, SCHEMA_REPETITION, TD_THRIFT_I32, REPETITION_OPTIONAL);
    td_thrift_text(file, SCHEMA_NAME, column->name);
    if (column->type == TD_CELL_TEXT)
      td_thrift_int(file, SCHEMA_CONVERTED, TD_THRIFT_I32, CONVERTED_UTF8);
    td_thrift_end(file);
  }
}

/* What each column says, by its name. */
static void
describe_meanings(const td_table_info *table, td_thrift *file) {
  td_thrift_list(file, FILE_PAIRS, TD_THRIFT_STRUCT, table->n_columns);
  for (uint32_t i = 0; i < table->n_columns; i++) {
    td_thrift_item_begin(file);
    td_thrift_text(file, PAIR_KEY, table->columns[i].name);
    td_thrift_text(file, PAIR_VALUE, table->columns[i].summary);
    td_thrift_end(file);
  }
}

static void
end_file(td_parquet *self) {
  td_thrift file = {0};
  td_thrift_int(&file, FILE_VERSION, TD_THRIFT_I32, 1);
  describe_schema(self->table, &file);
  td_thrift_int(&file, FILE_N_ROWS, TD_THRIFT_I64, (int64_t)self->n_rows_before);
  td_thrift_list(&file, FILE_GROUPS, TD_THRIFT_STRUCT, self->n_groups);
  td_byte_list_append(&file.bytes, self->groups.bytes.bytes, self->groups.bytes.n);
  describe_meanings(self->table, &file);
  td_thrift_end(&file);
  size_t n = file.bytes.n;
  td_byte_list_little(&file.bytes, n, 4);
  td_byte_list_append(&file.bytes, "PAR1", 4);
  write_bytes(self, file.bytes.bytes, file.bytes.n);
  td_byte_list_fini(&file.bytes);
}

void
td_parquet_free(td_parquet *self) {
  end_group(self);
  end_file(self);
  for (uint32_t i = 0; i < TD_COLUMNS_MAX; i++) {
    td_byte_list_fini(&self->columns[i].levels);
    td_byte_list_fini(&self->columns[i].values);
  }
  td_byte_list_fini(&self->groups.bytes);
  td_byte_list_fini(&self->page);
  td_byte_list_fini(&self->stored);
  free(self);
}
