/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The file of a tape, chunk by chunk. Another program may shorten or overwrite the file while it is
 * open. A mapping would then kill the reader with SIGBUS. So this reads copies, into buffers that
 * it keeps. It trusts no byte. One thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/trace/format.h"

#include <time.h>

typedef struct td_tape_file {
  int fd;                      /* (owned) */
  int failure;                 /* errno of the first read that failed, or 0 */
  size_t n_bytes;              /* when it was opened */
  struct timespec written;     /* last, before it was opened */
  unsigned char *stored, *raw; /* (owned) a chunk's contents, and the same decompressed */
  size_t stored_capacity, raw_capacity;
  struct ZSTD_DCtx_s *zstd; /* (owned) */
} td_tape_file;

/* td_tape_file_open opens a regular file. TD_IO, TD_NOT_A_TAPE. td_tape_file_close also takes a
 * file that was not opened. */
td_status td_tape_file_open(const char *path, td_tape_file *file, td_error *error);
void td_tape_file_close(td_tape_file *file);

/* td_tape_file_adopt is td_tape_file_open for a descriptor, which it owns. */
td_status td_tape_file_adopt(int fd, td_tape_file *file, td_error *error);

/* td_tape_file_read copies bytes. False if the file has less, or if the system cannot read it. Only
 * the second sets file->failure: then the disk failed, and the tape may be whole. */
bool td_tape_file_read(td_tape_file *file, uint64_t offset, void *bytes, size_t n);

/* td_tape_file_header reads the header of a chunk. False if none is there that holds and whose
 * contents the file has. */
bool td_tape_file_header(td_tape_file *file, uint64_t offset, td_chunk_header *header);

/* td_tape_file_has_changed tells whether another program has written to the file, or shortened it,
 * since it was opened. The system's clock for that may be 4 ms late. */
bool td_tape_file_has_changed(const td_tape_file *file);

/* td_tape_file_find returns the next place from offset on where a header holds, or n_bytes. */
uint64_t td_tape_file_find(td_tape_file *file, uint64_t offset);

/* td_tape_file_checksum returns the checksum at the end of a chunk's frame, 0 if it has none. */
uint32_t td_tape_file_checksum(td_tape_file *file, uint64_t offset, const td_chunk_header *header);

/* td_tape_file_check returns TD_IO and the system's words if a read has failed. */
td_status td_tape_file_check(const td_tape_file *file, td_error *error);

/* td_tape_file_contents decompresses a chunk into file->raw, and sets *checksum as
 * td_tape_file_checksum does. TD_DAMAGED, TD_OUT_OF_MEMORY. */
td_status td_tape_file_contents(td_tape_file *file, uint64_t offset, const td_chunk_header *header,
                                uint32_t *checksum, td_error *error);
