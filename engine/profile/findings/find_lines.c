/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_lines.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/source_place.h"

#include <stdlib.h>
#include <string.h>

static uint32_t
put(td_text_table *table, const char *text) {
  return td_text_table_put(table, text, strlen(text));
}

void
td_find_lines_meet(td_find_lines *self, td_tape *tape, uint32_t stack) {
  if (!stack || (*td_number_map_put(&self->stacks, stack))++) return;
  char *name = td_source_place(td_tape_string(tape, stack));
  char *place = td_source_place_whole(td_tape_string(tape, stack));
  uint32_t n_before = self->names.n;
  uint32_t number = name && place ? put(&self->names, name) : 0;
  if (number > n_before) {
    TD_GROW(self->meant, number - 1, self->capacity);
    self->meant[number - 1] = (td_line_meant){.place = put(&self->places, place)};
  } else if (number) {
    td_line_meant *meant = &self->meant[number - 1];
    meant->is_ambiguous |= strcmp(td_text_table_get(&self->places, meant->place), place) != 0;
  }
  free(name);
  free(place);
}

void
td_find_lines_read(td_find_lines *self, td_tape *tape, const td_event_source_line *event) {
  uint32_t place = put(&self->places, td_tape_string(tape, event->place));
  *td_number_map_put(&self->texts, place) = event->text;
}

/* A string, or 0. */
static uint32_t
find_text(const td_find_lines *self, const char *name) {
  for (uint32_t i = 0; i < self->names.n; i++) {
    if (strcmp(td_text_table_get(&self->names, i + 1), name) != 0) continue;
    const uint64_t *text =
        self->meant[i].is_ambiguous ? NULL : td_number_map_find(&self->texts, self->meant[i].place);
    return text ? (uint32_t)*text : 0;
  }
  return 0;
}

const char *
td_find_lines_text(const td_find_lines *self, td_tape *tape, uint32_t stack) {
  char *name = stack ? td_source_place(td_tape_string(tape, stack)) : NULL;
  uint32_t text = name ? find_text(self, name) : 0;
  free(name);
  return text ? td_tape_string(tape, text) : "";
}

void
td_find_lines_tell(const td_find_lines *self, td_tape *tape, td_findings *findings) {
  for (uint32_t i = 0; i < findings->n; i++) {
    td_finding *finding = &findings->items[i];
    bool is_own = finding->line && !finding->is_line_of_caller;
    uint32_t text = is_own ? find_text(self, finding->line) : 0;
    if (text) finding->source = td_line_dup(td_tape_string(tape, text), TD_TEXT_SHOWN);
  }
}

void
td_find_lines_fini(td_find_lines *self) {
  td_number_map_fini(&self->stacks);
  td_number_map_fini(&self->texts);
  td_text_table_fini(&self->names);
  td_text_table_fini(&self->places);
  free(self->meant);
  *self = (td_find_lines){0};
}
