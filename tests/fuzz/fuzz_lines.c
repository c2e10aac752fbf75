/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lines of a session, in pieces whose size the first byte says. A line that was understood is
 * the same after it has been written and read again. Values are tried as conditions too. */
#include "engine/control/condition.h"
#include "engine/control/line.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static void
try_condition(const char *text) {
  td_condition condition;
  td_error error = {0};
  if (td_condition_parse(text, &condition, &error) == TD_OK) td_condition_fini(&condition);
  td_error_clear(&error);
}

static void
check_line(const td_line *line) {
  td_line_text text;
  td_line again;
  td_line_copy(&text, line);
  if (text.n_bytes - 1 <= TD_LINE_BYTES_MAX) {
    if (!td_line_parse(&again, text.bytes, text.n_bytes - 1)) abort();
    if (!td_line_is(&again, line->word) || again.n_fields != line->n_fields) abort();
    for (unsigned i = 0; i < line->n_fields; i++)
      if (strcmp(again.fields[i].key, line->fields[i].key) != 0 ||
          strcmp(again.fields[i].value, line->fields[i].value) != 0)
        abort();
    td_line_fini(&again);
  }
  td_line_text_fini(&text);
  for (unsigned i = 0; i < line->n_fields; i++)
    try_condition(line->fields[i].value);
}

static td_line_result
take_all(td_line_reader *reader) {
  td_line line;
  td_line_result result;
  while ((result = td_line_reader_take(reader, &line)) == TD_LINE_READY) {
    check_line(&line);
    td_line_fini(&line);
  }
  return result;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  td_line_reader reader = {0};
  size_t piece = n ? 1 + (size_t)data[0] : 1;
  for (size_t at = 1; at < n; at += piece) {
    td_line_reader_add(&reader, data + at, n - at < piece ? n - at : piece);
    if (take_all(&reader) == TD_LINE_BAD) break;
  }
  td_line_reader_fini(&reader);
  return 0;
}
