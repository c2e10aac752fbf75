/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bytes of a tape, shared by writer and reader; described for others in engine/trace/FORMAT.md.
 * All numbers are little-endian. Structs are copied to and from the file whole, and contain no
 * padding. */
#pragma once

#include "engine/base/hash.h"
#include "engine/events/event_type.h"

#include <stdbool.h>
#include <string.h>

#define TD_TAPE_VERSION 1u
#define TD_TAPE_MAGIC "TAPEDECK"
#define TD_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define TD_TRAILER_MAGIC "TAPE-END"
#define TD_TRAILER_MAGIC_CUT_OFF "TAPE-CUT" /* the index was made for a tape that was not ended */

#define TD_CHUNK_RAW_MAX (1u << 20) /* encoded bytes of a chunk before compression */
#define TD_CHUNK_STORED_MAX (TD_CHUNK_RAW_MAX + (TD_CHUNK_RAW_MAX >> 8)) /* and after it */

typedef struct td_tape_header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t start_ticks;
  uint64_t start_monotonic_ns;
  uint64_t start_wall_ns;
  uint32_t policy;   /* td_ring_policy */
  uint32_t flags;    /* td_tape_flag */
  uint64_t checksum; /* of the bytes before it */
} td_tape_header;

typedef enum td_tape_flag {
  TD_TAPE_RAW = 1, /* Note [Raw tapes] in engine/trace/derive/derive.h */
} td_tape_flag;

typedef enum td_chunk_kind {
  TD_CHUNK_SCHEMA = 1,   /* the vocabulary of the writer */
  TD_CHUNK_EVENTS = 2,   /* events of one thread */
  TD_CHUNK_INDEX = 3,    /* offsets of all chunks before it, as uint64_t */
  TD_CHUNK_TABLE = 4,    /* a piece of the table of contents */
  TD_CHUNK_GAP = 5,      /* the tape goes on at another offset: td_gap */
  TD_CHUNK_KEYFRAME = 6, /* what lives where a segment begins; `thread` is the segment */
  TD_CHUNK_LIST = 7,     /* a piece of the list of all chunks before the index: chunk_list.h */
} td_chunk_kind;

typedef struct td_chunk_header {
  uint32_t magic;
  uint32_t kind;
  uint32_t thread;
  uint32_t n_events;
  uint32_t raw_bytes;    /* after decompression */
  uint32_t stored_bytes; /* that follow this header: one zstd frame with its own checksum */
  uint64_t first_ticks;
  uint64_t last_ticks;
  uint64_t first_number; /* of the thread's events, to see a loss */
  uint64_t clock_ticks;  /* one moment by both clocks, when the chunk was written */
  uint64_t clock_monotonic_ns;
  uint64_t checksum; /* of the bytes before it */
} td_chunk_header;

/* Where a gap leads, and the moment at which the tape now begins, by both clocks. Without a moment
 * it begins where its header says. */
typedef struct td_gap {
  uint64_t next; /* offset of the next chunk: behind the gap */
  uint64_t start_ticks, start_monotonic_ns;
} td_gap;

#define TD_GAP_RESERVE (UINT64_C(256) << 20) /* room for keyframes: a hole in the file */

typedef struct td_trailer {
  uint64_t index_offset;
  char magic[8];
} td_trailer;

/* A kind in the schema chunk is its number, its name, the number of its fields, and each field's
 * wire class and name. A name is a varint length and bytes. */
typedef enum td_wire {
  TD_WIRE_DELTA =
      0, /* zigzag varint of the difference to this field's value in the last such event */
  TD_WIRE_TEXT = 1, /* varint length, then bytes */
} td_wire;

static inline uint64_t
td_format_checksum(const void *bytes, size_t n_bytes) {
  return td_hash_bytes(TD_HASH_SEED, bytes, n_bytes);
}

/* td_chunk_header_seal fills in what every chunk has, once all else is known. */
static inline void
td_chunk_header_seal(td_chunk_header *header, size_t raw_bytes, size_t stored_bytes) {
  header->magic = TD_CHUNK_MAGIC;
  header->raw_bytes = (uint32_t)raw_bytes;
  header->stored_bytes = (uint32_t)stored_bytes;
  header->checksum = td_format_checksum(header, offsetof(td_chunk_header, checksum));
}

/* td_chunk_header_fits tells whether a chunk may be so large, if the file has n_bytes behind its
 * header. */
static inline bool
td_chunk_header_fits(const td_chunk_header *header, uint64_t n_bytes) {
  return header->raw_bytes <= TD_CHUNK_RAW_MAX && header->n_events <= header->raw_bytes / 2 &&
         header->stored_bytes <= TD_CHUNK_STORED_MAX && header->stored_bytes <= n_bytes;
}

/* td_gap_init makes the chunk of a gap, which has no contents. td_gap_of reads it. */
static inline void
td_gap_init(td_chunk_header *header, const td_gap *gap) {
  *header = (td_chunk_header){.kind = TD_CHUNK_GAP,
                              .first_number = gap->next,
                              .clock_ticks = gap->start_ticks,
                              .clock_monotonic_ns = gap->start_monotonic_ns};
  td_chunk_header_seal(header, 0, 0);
}

static inline td_gap
td_gap_of(const td_chunk_header *header) {
  return (td_gap){header->first_number, header->clock_ticks, header->clock_monotonic_ns};
}

static inline uint64_t
td_zigzag(uint64_t difference) {
  return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t
td_unzigzag(uint64_t code) {
  return code >> 1 ^ (0 - (code & 1));
}

#define TD_VARINT_MAX 10

/* td_varint_put writes a LEB128 number and returns the byte after it. */
static inline unsigned char *
td_varint_put(unsigned char *at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = (unsigned char)(value | 0x80);
    value >>= 7;
  }
  *at++ = (unsigned char)value;
  return at;
}

/* td_varint_get reads one between at and end and returns the byte after it, or NULL if it does not
 * end there. */
static inline const unsigned char *
td_varint_get(const unsigned char *at, const unsigned char *end, uint64_t *value) {
  if (__builtin_expect(at < end && *at < 0x80, 1)) {
    *value = *at;
    return at + 1;
  }
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
    unsigned char byte = *at++;
    result |= (uint64_t)(byte & 0x7f) << (shift < 63 ? shift : 63);
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return NULL;
}
