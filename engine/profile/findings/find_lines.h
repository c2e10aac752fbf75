/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The text of the lines that findings name: "net.py:9". Two files may have the same name. Then a
 * line of that name has no text here. Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/profile/findings/finding.h"

typedef struct td_line_meant {
  uint32_t place; /* the number of the whole place */
  bool is_ambiguous;
} td_line_meant;

typedef struct td_find_lines {
  td_number_map stacks; /* met ones */
  td_text_table names;  /* "net.py:9" */
  td_text_table places; /* "/home/ann/net.py:9" */
  td_line_meant *meant; /* (owned) by the number of the name, less 1 */
  uint32_t capacity;
  td_number_map texts; /* by the number of the place: a string */
} td_find_lines;

/* td_find_lines_meet takes a stack of the tape, 0 for none. */
void td_find_lines_meet(td_find_lines *self, td_tape *tape, uint32_t stack);
void td_find_lines_read(td_find_lines *self, td_tape *tape, const td_event_source_line *event);

/* td_find_lines_text returns the text of a stack's own line, borrowed; "" if it is not known. */
const char *td_find_lines_text(const td_find_lines *self, td_tape *tape, uint32_t stack);

/* td_find_lines_tell writes `source` of all findings. */
void td_find_lines_tell(const td_find_lines *self, td_tape *tape, td_findings *findings);
void td_find_lines_fini(td_find_lines *self);
