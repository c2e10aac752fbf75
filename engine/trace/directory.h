/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Directory: the file, its header, and where its chunks of events lie, thread by thread. It trusts
 * no byte; what cannot be used is left out and told. One thread.
 *
 * Another program may overwrite the file while it is open. Readers would then meet events whose ids
 * nobody has checked. So the directory remembers the checksums of each chunk. */
#pragma once

#include "engine/trace/chunk_list.h"
#include "engine/trace/decoder.h"
#include "engine/trace/tape_file.h"

typedef struct td_directory_chunk {
  uint64_t offset; /* of its header in the file */
  uint64_t first_ns, last_ns;
  uint64_t checksum; /* of its header */
  uint32_t content;  /* checksum of its content: the last 4 bytes of the frame */
  uint32_t n_events;
  uint32_t first_claim, n_claims; /* what the table of contents says of it */
  bool is_counted;                /* the claims were compared with its events */
  bool is_listed; /* so says the list of chunks: nobody has compared it with the file yet */
} td_directory_chunk;

/* A chunk of the keyframe of a segment. */
typedef struct td_directory_keyframe {
  td_directory_chunk chunk;
  uint32_t segment;
} td_directory_keyframe;

/* So many events of one kind are in a chunk, says the table of contents. */
typedef struct td_directory_claim {
  uint32_t kind, n;
} td_directory_claim;

typedef struct td_directory_thread {
  td_directory_chunk *chunks; /* (owned) in time order */
  uint32_t n_chunks, capacity;
  uint64_t next_number; /* of the event that should come next */
  uint64_t last_ticks;
} td_directory_thread;

typedef struct td_directory {
  td_tape_file file;
  td_tape_header header;
  td_decoder decoder;
  td_directory_thread *threads; /* (owned) */
  uint32_t n_threads, threads_capacity;
  uint64_t n_chunks;
  td_directory_claim *claims; /* (owned) of all chunks; none if there is no table of contents */
  uint32_t n_claims, claims_capacity;
  uint64_t gap;       /* offset of the first gap, or 0 */
  uint64_t n_skipped; /* bytes of gaps */
  uint64_t *pieces;   /* (owned) offsets of the pieces of the table of contents */
  uint32_t n_pieces, pieces_capacity;
  td_directory_keyframe *keyframes; /* (owned) in the order of the file */
  uint32_t n_keyframes, keyframes_capacity;
  td_chunk_list list;    /* (owned) while the directory is made */
  uint64_t raw_bytes;    /* of all contents, after decompression */
  uint64_t n_file_bytes; /* of the file without its gaps, also of one that a raw tape became */
  bool trusted;
  bool has_end;       /* an index and a trailer */
  bool complete;      /* the recording itself was ended properly */
  bool cut_off;       /* what is wrong, if anything, is wrong with its end alone */
  bool unreadable;    /* TD_IO came: for the users of td_directory_load to set */
  bool out_of_memory; /* a chunk is missing for that reason: for the same users */
  char *damage;       /* (owned) first trouble, or NULL */
} td_directory;

/* td_directory_open opens the file and finds its chunks. TD_IO, TD_NOT_A_TAPE, TD_UNSUPPORTED (a
 * newer format, or more contents than Note [What a stranger's tape may cost] allows), TD_DAMAGED
 * (nothing in it can be read). */
td_status td_directory_open(const char *path, td_directory *directory, td_error *error);

/* td_directory_open_own is td_directory_open for a tape that a recorder of this session writes: it
 * is no stranger's, and may have any contents. */
td_status td_directory_open_own(const char *path, td_directory *directory, td_error *error);
void td_directory_close(td_directory *directory);

/* td_directory_open_memory is td_directory_open for a tape that this process has written into a
 * file without a name. It owns the descriptor. */
td_status td_directory_open_memory(int fd, td_directory *directory, td_error *error);

/* td_directory_trust_all lifts the limits of that note for all tapes that are opened later. */
void td_directory_trust_all(void);

/* td_directory_allows returns true if a tape of n_bytes may have contents of raw_bytes. */
bool td_directory_allows(const td_directory *directory, uint64_t n_bytes, uint64_t raw_bytes);

/* td_directory_count_events returns how many events the headers of the chunks name. */
uint64_t td_directory_count_events(const td_directory *directory);

/* td_directory_read decompresses a chunk into file.raw. TD_DAMAGED, TD_OUT_OF_MEMORY. TD_IO as
 * td_directory_tell_unreadable. td_directory_load also decodes it. */
td_status td_directory_read(td_directory *directory, td_directory_chunk *known,
                            td_chunk_header *header, td_error *error);
td_status td_directory_load(td_directory *directory, uint32_t thread, uint32_t chunk,
                            td_decoded *decoded, td_error *error);

/* td_directory_tell_unreadable returns TD_IO. It says why the system cannot read the file; if the
 * system can, another program changed the file. */
td_status td_directory_tell_unreadable(const td_directory *directory, td_error *error);

/* td_directory_is_sound returns true if nothing is damaged, though the end may be missing. */
static inline bool
td_directory_is_sound(const td_directory *directory) {
  return !directory->damage || directory->cut_off;
}

/* td_directory_note_damage remembers the first trouble, in words; it is not one of the end alone.
 */
void td_directory_note_damage(td_directory *directory, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
