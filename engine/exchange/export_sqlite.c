/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The database is written in one transaction without a journal: if that fails, nobody keeps the
 * file. After it is opened, SQLite only reads and writes that file, so a confined process may. */
#include "engine/base/alloc.h"
#include "engine/exchange/table_rows.h"

#include <sqlite3.h>

struct td_sqlite {
  sqlite3 *handle;
  sqlite3_stmt *inserts[TD_N_TABLES];
  int failure; /* the first code that is not SQLITE_OK */
};

/* Answers that need more than one table, the greatest first. */
static const struct view {
  const char *name, *columns, *from, *group, *order;
} views[] = {
    {"ops",
     "coalesce(n.name, '(no name)') AS op, count(*) AS n, sum(l.apply_ns) AS self_ns, "
     "max(l.apply_ns) AS longest_ns",
     "lives l LEFT JOIN nodes n USING (node)", "op", "self_ns"},
    {"modules", "n.module, n.module_class, count(*) AS n, sum(l.apply_ns) AS self_ns",
     "lives l JOIN nodes n USING (node)", "n.module, n.module_class", "self_ns"},
    {"contention", "w.lock, w.object, t.name AS waiter, count(*) AS n, sum(w.ns) AS wait_ns",
     "(SELECT * FROM waits WHERE kind = 'lock') w LEFT JOIN threads t USING (thread)",
     "w.lock, w.object, w.thread", "wait_ns"},
    {"hook_owners", "kind, owner, count(*) AS n, sum(ns) AS total_ns", "hooks", "kind, owner",
     "total_ns"},
};

static void
check(td_sqlite *self, int code) {
  bool is_fine = code == SQLITE_OK || code == SQLITE_DONE;
  if (!is_fine && !self->failure) self->failure = code;
}

static void
run(td_sqlite *self, const char *statement) {
  if (!self->failure) check(self, sqlite3_exec(self->handle, statement, NULL, NULL, NULL));
}

static td_status
result(const td_sqlite *self, td_error *error) {
  if (!self->failure) return TD_OK;
  return td_error_set(error, TD_IO, "SQLite: %s", sqlite3_errstr(self->failure));
}

/* The column's meaning is a comment of the schema. SQLite keeps it. */
static char *
make_create(const td_table_info *table) {
  char *bytes;
  size_t n;
  FILE *out = open_memstream(&bytes, &n);
  if (!out) td_out_of_memory();
  fprintf(out, "CREATE TABLE \"%s\" ( -- %s\n", table->name, table->summary);
  for (uint32_t i = 0; i < table->n_columns; i++) {
    const td_column *column = &table->columns[i];
    fprintf(out, "  \"%s\" %s%s -- %s\n", column->name,
            column->type == TD_CELL_TEXT ? "TEXT" : "INTEGER", i + 1 < table->n_columns ? "," : "",
            column->summary);
  }
  fputs(")", out);
  fclose(out);
  return bytes;
}

static char *
make_insert(const td_table_info *table) {
  char *bytes;
  size_t n;
  FILE *out = open_memstream(&bytes, &n);
  if (!out) td_out_of_memory();
  fprintf(out, "INSERT INTO \"%s\" VALUES (", table->name);
  for (uint32_t i = 0; i < table->n_columns; i++)
    fputs(i ? ", ?" : "?", out);
  fputs(")", out);
  fclose(out);
  return bytes;
}

static void
make_table(td_sqlite *self, td_table table) {
  char *create = make_create(td_table_get(table)), *insert = make_insert(td_table_get(table));
  run(self, create);
  if (!self->failure)
    check(self, sqlite3_prepare_v2(self->handle, insert, -1, &self->inserts[table], NULL));
  free(create);
  free(insert);
}

static int
bind(sqlite3_stmt *insert, int at, const td_cell *cell) {
  if (cell->type == TD_CELL_TEXT)
    return sqlite3_bind_text(insert, at, cell->text, (int)cell->length, SQLITE_STATIC);
  return cell->type ? sqlite3_bind_int64(insert, at, cell->number) : sqlite3_bind_null(insert, at);
}

static void
row_cb(td_table table, const td_cell *cells, void *data) {
  td_sqlite *self = data;
  sqlite3_stmt *insert = self->inserts[table];
  uint32_t n = td_table_get(table)->n_columns;
  if (self->failure) return;
  for (uint32_t i = 0; i < n; i++)
    check(self, bind(insert, (int)i + 1, &cells[i]));
  check(self, sqlite3_step(insert));
  sqlite3_reset(insert);
}

static void
make_view(td_sqlite *self, const struct view *view) {
  char *create = td_format("CREATE VIEW %s AS SELECT %s FROM %s GROUP BY %s ORDER BY %s DESC",
                           view->name, view->columns, view->from, view->group, view->order);
  run(self, create);
  free(create);
}

/* Pages of the cache are all that it keeps in memory. */
td_status
td_sqlite_open(const char *path, td_sqlite **database, td_error *error) {
  td_sqlite *self = TD_NEW(td_sqlite);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  check(self, sqlite3_open_v2(path, &self->handle, flags, "unix-none"));
  run(self, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
            "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA user_version = 1;"
            "BEGIN");
  td_status status = result(self, error);
  if (status)
    td_sqlite_close(self);
  else
    *database = self;
  return status;
}

td_status
td_export_sqlite(td_tape *tape, const td_export_wish *wish, td_sqlite *self, td_error *error) {
  const td_row_sink sink = {row_cb, self};
  for (int i = 0; i < TD_N_TABLES; i++)
    make_table(self, (td_table)i);
  td_status status = td_tables_write(tape, wish, &sink, error);
  for (size_t i = 0; i < TD_N_ELEMENTS(views); i++)
    make_view(self, &views[i]);
  run(self, "COMMIT");
  return status ? status : result(self, error);
}

void
td_sqlite_close(td_sqlite *self) {
  for (int i = 0; i < TD_N_TABLES; i++)
    sqlite3_finalize(self->inserts[i]);
  sqlite3_close(self->handle);
  free(self);
}
