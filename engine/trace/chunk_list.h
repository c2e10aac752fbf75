/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * List of chunks: what a walk from header to header would find. A tape with a table of contents has
 * it behind the index, so that its readers need not touch the whole file (FORMAT.md). One thread.
 *
 * Note [A list of chunks may lie]
 * A list comes from the same stranger as the tape. So it is used only if its chunks fill the file
 * up to the index. What it says of a chunk counts until somebody reads that chunk. If the file then
 * has another header or another checksum, the chunk is damaged, and none of its events is used. */
#pragma once

#include "engine/trace/chunk_bytes.h"
#include "engine/trace/tape_file.h"

typedef struct td_chunk_row {
  td_chunk_header header;
  uint32_t content; /* as td_tape_file_checksum */
} td_chunk_row;

/* The chunks follow one another, from the header of the tape on. Zero-initialise. */
typedef struct td_chunk_list {
  td_chunk_row *rows; /* (owned) */
  size_t n, capacity;
  size_t next;     /* of td_chunk_list_take */
  uint64_t offset; /* of that row's chunk in the file */
} td_chunk_list;

void td_chunk_list_add(td_chunk_list *list, const td_chunk_header *header, uint32_t content);
void td_chunk_list_fini(td_chunk_list *list);

/* td_chunk_list_encode writes the list as bytes behind others. */
void td_chunk_list_encode(const td_chunk_list *list, td_chunk_bytes *raw);

/* td_chunk_list_load reads the list behind the index at that offset. It stays empty if the tape has
 * none, or none that can be used. */
void td_chunk_list_load(td_chunk_list *list, td_tape_file *file, uint64_t index_offset);

/* td_chunk_list_take returns the row of the chunk at an offset, or NULL. Offsets must rise. */
const td_chunk_row *td_chunk_list_take(td_chunk_list *list, uint64_t offset);
