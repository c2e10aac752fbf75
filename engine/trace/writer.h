/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Writer: chunks into a file. The first failure is remembered and everything after it is thrown
 * away, so that a full disk never holds up the program that is recorded. Owned by the recorder, or
 * by a maker of tapes; one thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/trace/encoder.h"

typedef struct td_writer td_writer;

/* td_writer_open creates the file and writes its header and the schema. Without `overwrite` nothing
 * may have that name, not even a symbolic link. With `overwrite` it replaces the file that a link
 * leads to, or a link that leads to nothing. `raw`: the tape is one, see format.h. TD_IO with the
 * reason. */
td_status td_writer_open(const char *path, bool overwrite, uint32_t policy, bool raw,
                         td_writer **writer, td_error *error);

/* td_writer_open_made is td_writer_open for events that come from elsewhere than a live program:
 * their ticks are nanoseconds since `started_ns` (Unix time, 0 where nobody knows). */
td_status td_writer_open_made(const char *path, bool overwrite, uint32_t policy,
                              uint64_t started_ns, td_writer **writer, td_error *error);

/* td_writer_open_derived is td_writer_open_made for events of another tape, whose start it keeps.
 * The file is open already, and empty; the writer owns it. */
td_status td_writer_open_derived(int fd, const td_tape_header *of, td_writer **writer,
                                 td_error *error);

/* td_writer_open_copy is td_writer_open for the chunks of another tape, and with the moments of its
 * header. td_writer_copy writes such a chunk: a sealed header, and what is stored behind it. */
td_status td_writer_open_copy(const char *path, bool overwrite, const td_tape_header *header,
                              td_writer **writer, td_error *error);
void td_writer_copy(td_writer *writer, const td_chunk_header *header, const void *stored);

/* td_writer_reserve leaves a gap of n_bytes for keyframes (keeper.h), once in a tape. The gap takes
 * no room on the disk. If files there cannot have one, it returns an errno, not 0, and does nothing
 * else. */
int td_writer_reserve(td_writer *writer, uint64_t n_bytes);

/* td_writer_events writes an encoder's bytes as a chunk of events; first_number as in
 * td_chunk_header. */
void td_writer_events(td_writer *writer, const td_encoder *encoder, uint32_t thread,
                      uint64_t first_number);

/* td_writer_close writes the index, closes, and tells the first failure (TD_IO). Frees the writer.
 * If no event could be written, it removes the file: td_writer_open failing does so too. */
td_status td_writer_close(td_writer *writer, td_error *error);

/* td_writer_cut is td_writer_close without the index: readers take the recording for one that was
 * not ended. */
td_status td_writer_cut(td_writer *writer, td_error *error);

/* td_writer_close_dying is td_writer_close for a process that dies of a signal: it takes no lock of
 * malloc, and frees nothing. td_writer_events takes none either. */
void td_writer_close_dying(td_writer *writer);

/* td_writer_abandon closes the file as it is and frees the writer. */
void td_writer_abandon(td_writer *writer);

/* td_writer_leave is for the child of a fork: it closes the child's descriptor and frees nothing. A
 * thread of the parent may have been changing the writer. */
void td_writer_leave(const td_writer *writer);
