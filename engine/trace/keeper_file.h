/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The file of a flight recorder. The program's recorder appends chunks at its end. The keeper reads
 * them, replaces the oldest by a keyframe, and gives their room on the disk back. One thread.
 *
 * Note [The file is a tape at every moment]
 * Whoever is killed, what is on the disk must be a tape. So nothing that a reader needs is ever
 * written over:
 *
 *   header · schema · gap -> keyframe ... keyframe · gap -> kept chunks ... kept chunks
 *
 * - The recorder leaves a gap behind the schema. On the disk it is a hole and takes no room.
 * - A new keyframe goes where neither the old keyframe nor a kept chunk is. Its own gap leads to
 * the oldest chunk that stays.
 * - Then one write of one chunk header changes where the first gap leads. Before it the old tape is
 *   there, after it the new one.
 * - What neither tape needs becomes a hole at the next cut. A reader that opened the file before
 *   has until then.
 * - If the recorder began to keep later, chunks come before its gap: the early ones.
 *
 *     header · schema · early chunks · gap -> chunk ... chunk
 *
 *   The first keyframe goes into this gap, and takes the place of all early chunks. The one write
 *   turns the header of the first early chunk into the first gap. So a reader that opened the file
 *   before loses that chunk. */
#pragma once

#include "engine/trace/chunk_bytes.h"
#include "engine/trace/directory.h"

typedef struct td_keeper_chunk {
  uint64_t offset;
  td_chunk_header header;
} td_keeper_chunk;

typedef struct td_keeper_file {
  td_directory directory;          /* the open file and its schema; times are ticks */
  int fd;                          /* (owned) to write */
  uint64_t gap;                    /* offset of the first gap, or of what becomes it */
  uint64_t room;                   /* where room for keyframes begins: behind the recorder's gap */
  uint64_t keyframe, keyframe_end; /* where it is; equal if there is none yet */
  uint64_t next;                   /* where the next chunk will begin */
  td_keeper_chunk *chunks;         /* (owned) that are kept, in the order of the file */
  size_t n_chunks, capacity;
  size_t n_moved;       /* the first of them, which lie in the keyframe or are early */
  uint64_t n_bytes;     /* of these chunks and of the keyframe */
  td_chunk_header last; /* the newest chunk */
  bool has_garbage;     /* bytes that no reader needs */
  bool is_complete;     /* the recorder has written its index */
} td_keeper_file;

/* td_keeper_file_open opens the tape that a recorder writes. TD_NOT_A_TAPE, TD_DAMAGED: its
 * beginning may not be written yet. TD_UNSUPPORTED: it has no gap. */
td_status td_keeper_file_open(const char *path, td_keeper_file *self, td_error *error);
void td_keeper_file_close(td_keeper_file *self);

/* td_keeper_file_next takes notice of the next chunk of events, or returns NULL if there is none
 * yet. The result is valid until the next call. */
const td_keeper_chunk *td_keeper_file_next(td_keeper_file *self);

/* td_keeper_file_is_early tells whether the recorder wrote a chunk before it began to keep. */
bool td_keeper_file_is_early(const td_keeper_file *self, const td_keeper_chunk *chunk);

/* td_keeper_chunk_bytes is the room of a chunk, and td_keeper_file_chunk_bytes that of all chunks
 * without the keyframe. */
uint64_t td_keeper_chunk_bytes(const td_keeper_chunk *chunk);
uint64_t td_keeper_file_chunk_bytes(const td_keeper_file *self);

/* What takes the place of old chunks. */
typedef struct td_keeper_piece {
  td_chunk_bytes bytes;   /* (owned) chunks of the keyframe, then moved chunks */
  td_keeper_chunk *moved; /* (owned) with offsets in `bytes` */
  size_t n_moved, capacity;
  uint64_t start_ticks, start_monotonic_ns; /* where the tape begins now */
} td_keeper_piece;

/* td_keeper_file_replace puts a piece in place of the first n chunks, n_moved of the file or more.
 * TD_IO: nothing has changed. */
td_status td_keeper_file_replace(td_keeper_file *self, size_t n, const td_keeper_piece *piece,
                                 td_error *error);

/* td_keeper_file_can_free returns 0 if the system can make holes in files of that folder, or an
 * errno. */
int td_keeper_file_can_free(const char *folder);
