/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/hub_memory.h"

#include <string.h>

/* Beyond this a target's threads, or its words, are not remembered for viewers that come later. */
#define LINES_MAX 1024
#define BYTES_MAX 16384

#define STOPPED "stopped "

void
td_hub_memory_init(td_hub_memory *self) {
  self->lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void
td_hub_memory_fini(td_hub_memory *self) {
  g_hash_table_unref(self->lines);
}

void
td_hub_memory_keep(td_hub_memory *self, const td_line *line, const char *text) {
  bool is_full = g_hash_table_size(self->lines) >= LINES_MAX;
  const char *thread = td_line_find(line, "thread");
  g_autofree char *stopped = g_strconcat(STOPPED, thread ? thread : "", NULL);
  if (strlen(text) > BYTES_MAX) return;
  if (td_line_is(line, "tape") || td_line_is(line, "gate"))
    g_hash_table_replace(self->lines, g_strdup(line->word), g_strdup(text));
  else if (td_line_is(line, "stopped") && !is_full)
    g_hash_table_replace(self->lines, g_strdup(stopped), g_strdup(text));
  else if (td_line_is(line, "running"))
    g_hash_table_remove(self->lines, stopped);
}

void
td_hub_memory_forget(td_hub_memory *self) {
  g_hash_table_remove_all(self->lines);
}

static bool
has_gate(const td_hub_memory *self) {
  return g_hash_table_contains(self->lines, "gate");
}

bool
td_hub_memory_is_deaf(const td_hub_memory *self) {
  return g_hash_table_contains(self->lines, "tape") && !has_gate(self);
}

static guint
count_stopped(const td_hub_memory *self) {
  GHashTableIter at;
  gpointer key;
  guint n = 0;
  g_hash_table_iter_init(&at, self->lines);
  while (g_hash_table_iter_next(&at, &key, NULL))
    n += g_str_has_prefix(key, STOPPED);
  return n;
}

void
td_hub_memory_add_facts(const td_hub_memory *self, td_line_text *target) {
  const char *said = g_hash_table_lookup(self->lines, "tape");
  td_line tape;
  if (said && td_line_parse(&tape, said, strlen(said) - 1)) {
    td_line_add(target, "path", td_line_find(&tape, "path"));
    td_line_fini(&tape);
  }
  td_line_add_number(target, "live", has_gate(self));
  td_line_add_number(target, "stopped", count_stopped(self));
}

void
td_hub_memory_tell(const td_hub_memory *self, void (*tell)(const char *line, void *data),
                   void *data) {
  GHashTableIter at;
  gpointer key, line;
  const char *tape = g_hash_table_lookup(self->lines, "tape");
  if (tape) tell(tape, data);
  g_hash_table_iter_init(&at, self->lines);
  while (g_hash_table_iter_next(&at, &key, &line))
    if (line != tape) tell(line, data);
}
