/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/sentences.h"

#include <stdlib.h>
#include <string.h>

uint32_t
td_page_sentences_put(td_page_sentences *says, char *text) {
  uint32_t number = 0;
  size_t length = text ? strlen(text) : 0;
  bool has_room = says->texts.n_bytes + length <= says->most_bytes;
  if (length && has_room) number = td_text_table_put(&says->texts, text, length);
  says->left_out |= !has_room;
  free(text);
  return number;
}

void
td_page_sentences_write(const td_page_sentences *says, td_json *json) {
  td_json_begin_array(json);
  for (uint32_t i = 0; i <= says->texts.n; i++)
    td_json_string(json, td_text_table_get(&says->texts, i));
  td_json_end_array(json);
}

void
td_page_sentences_fini(td_page_sentences *says) {
  td_text_table_fini(&says->texts);
}
