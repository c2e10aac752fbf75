/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/text_blocks.h"

#include "engine/base/alloc.h"

#include <string.h>

#define BLOCK_BYTES ((size_t)256 << 10)

static void
add_block(td_text_blocks *texts, size_t least) {
  TD_GROW(texts->blocks, texts->n, texts->capacity);
  texts->size = texts->room = TD_MAX(least, BLOCK_BYTES);
  texts->blocks[texts->n++] = TD_NEW_N(char, texts->size);
}

const char *
td_text_blocks_take(td_text_blocks *texts, char *text) {
  size_t n_bytes = strlen(text) + 1;
  if (n_bytes > texts->room) add_block(texts, n_bytes);
  char *copy = texts->blocks[texts->n - 1] + texts->size - texts->room;
  texts->room -= n_bytes;
  memcpy(copy, text, n_bytes);
  free(text);
  return copy;
}

void
td_text_blocks_fini(td_text_blocks *texts) {
  for (uint32_t i = 0; i < texts->n; i++)
    free(texts->blocks[i]);
  free(texts->blocks);
}
