/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Blocks of the merged order: TD_BLOCK_EVENTS events each, decoded. One thread at a time. */
#pragma once

#include "engine/trace/contents.h"

/* Where blocks come from: a tape's directory, contents and merge. */
typedef struct td_block_source {
  td_directory directory;
  td_contents contents;
  td_merge merge;
  uint64_t merge_block; /* the block that merge stands before, UINT64_MAX: none */
} td_block_source;

typedef struct td_block {
  uint64_t number; /* UINT64_MAX: empty */
  uint64_t used;   /* for the owner: when it was used last */
  td_decoded events;
  const char *damage; /* the first trouble of the directory, as known after this block */
  bool is_cut_off;    /* if there is trouble, it is one of the end alone */
  bool unusable;      /* the same: the directory is unreadable or out of memory */
} td_block;

/* td_block_load decodes a block of the source into `block`, whose memory it reuses. Trouble goes to
 * the directory. */
void td_block_load(td_block_source *source, td_block *block, uint64_t number);
