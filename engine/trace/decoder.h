/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decoder: a chunk's bytes become records in ring form, with times and durations in nanoseconds. It
 * trusts no byte. Constant after td_decoder_init. */
#pragma once

#include "engine/base/status.h"
#include "engine/trace/encoder.h"

/* How to read one kind as its writer wrote it. */
typedef struct td_decoder_kind {
  bool on_tape;
  uint16_t n_fields;
  td_wire wires[TD_FIELDS_MAX];
  const td_event_type *type; /* NULL: this build does not know the kind, and skips it */
} td_decoder_kind;

typedef struct td_decoder {
  td_decoder_kind *kinds; /* (owned) */
  uint32_t n_kinds;
  uint64_t start_ticks;
  uint64_t ns_per_tick; /* fixed point, 32 bits after the point */
} td_decoder;

/* Records of one chunk, end to end, and where each begins. */
typedef struct td_decoded {
  unsigned char *bytes; /* (owned) */
  uint32_t *offsets;    /* (owned) [n_events] */
  uint32_t n_events;
  size_t n_bytes, bytes_capacity, offsets_capacity;
  uint32_t n_unknown;
  uint32_t longest; /* bytes of a record, at most */
} td_decoded;

/* td_decoder_init reads a schema chunk. TD_DAMAGED. */
td_status td_decoder_init(td_decoder *decoder, const unsigned char *schema, size_t n_bytes,
                          td_error *error);
void td_decoder_fini(td_decoder *decoder);

/* td_decoder_ns never decreases with ticks: what 64 bits cannot hold is the greatest time. */
static inline uint64_t
td_decoder_ns(const td_decoder *decoder, uint64_t ticks) {
  unsigned __int128 ns = (unsigned __int128)ticks * decoder->ns_per_tick >> 32;
  return __builtin_expect(ns <= UINT64_MAX, 1) ? (uint64_t)ns : UINT64_MAX;
}

/* td_decoder_run decodes a chunk into `decoded`, whose memory it reuses. TD_DAMAGED. */
td_status td_decoder_run(const td_decoder *decoder, const td_chunk_header *header,
                         const unsigned char *raw, td_decoded *decoded, td_error *error);
void td_decoded_fini(td_decoded *decoded);

static inline const td_event *
td_decoded_get(const td_decoded *decoded, uint32_t number) {
  return (const void *)(decoded->bytes + decoded->offsets[number]);
}
