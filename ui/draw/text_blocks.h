/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Many short texts that live equally long, in few large blocks. One thread fills them; then any
 * thread reads. Private to ui/draw. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct td_text_blocks {
  char **blocks; /* (owned) */
  uint32_t n, capacity;
  size_t room; /* free bytes at the end of the last block */
  size_t size; /* of the last block */
} td_text_blocks;

/* td_text_blocks_take frees `text`, and returns a copy that lives until td_text_blocks_fini. */
const char *td_text_blocks_take(td_text_blocks *texts, char *text);
void td_text_blocks_fini(td_text_blocks *texts);
