/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The end of a tape, written anew: what a recording knows only when it is over. The new chunks take
 * the place of the table of contents, the index, the list of chunks and the trailer, which follow
 * them again. If the recording was not ended, they take the place of half a chunk. One thread. */
#pragma once

#include "engine/trace/chunk_list.h"
#include "engine/trace/directory.h"

typedef struct td_tape_end {
  uint64_t offset;      /* in the file: where the new chunks begin */
  td_chunk_list chunks; /* (owned) all that stay */
  bool was_cut_off;     /* the recording was not ended, so the trailer will say so */
  td_chunk_header last; /* of the tape: its moment by both clocks stays the last one */
  td_chunk_bytes out;
} td_tape_end;

/* td_tape_end_init finds the end of a tape without gaps. False if the file cannot be read. */
bool td_tape_end_init(td_tape_end *end, td_directory *directory);
void td_tape_end_fini(td_tape_end *end);

/* td_tape_end_begin_chunk returns the header of a new chunk, with kind and clocks. */
td_chunk_header td_tape_end_begin_chunk(const td_tape_end *end, td_chunk_kind kind);

/* td_tape_end_put writes contents of any length as chunks. False without memory. */
bool td_tape_end_put(td_tape_end *end, td_chunk_kind kind, const void *raw, size_t n_raw);

/* td_tape_end_replace adds the index, the list and the trailer. Then it writes the file at `path`,
 * if it is the one that the directory has read. It does nothing if the tape would become too large
 * for its contents. TD_OUT_OF_MEMORY, or TD_IO: the tape is as before, or lacks its end. */
td_status td_tape_end_replace(td_tape_end *end, const char *path, const td_directory *directory,
                              td_error *error);
