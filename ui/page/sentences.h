/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The sentences of a page, each text once. There is room for so many bytes; then events go without.
 * Zero-initialise. Private to ui/page. One thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/base/text_table.h"

#include <stdbool.h>

typedef struct td_page_sentences {
  td_text_table texts; /* (owned) */
  size_t most_bytes;
  bool left_out; /* a text found no room */
} td_page_sentences;

/* td_page_sentences_put returns the number of a text, 0 for NULL, for "" and if there is no room.
 * It takes the text. */
uint32_t td_page_sentences_put(td_page_sentences *says, char *text);

/* td_page_sentences_write writes an array of the texts, by number. */
void td_page_sentences_write(const td_page_sentences *says, td_json *json);
void td_page_sentences_fini(td_page_sentences *says);
