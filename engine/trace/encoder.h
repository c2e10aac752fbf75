/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Encoder: one thread's records become the delta-coded bytes of a chunk, and the schema that says
 * how to read them. Owned by the recorder; one thread. */
#pragma once

#include "engine/trace/format.h"

typedef struct td_encoder {
  unsigned char *bytes; /* (owned) room for TD_CHUNK_RAW_MAX */
  size_t n_bytes;
  uint32_t n_events;
  uint64_t first_ticks, last_ticks;
  uint64_t last[TD_EVENT_LIMIT]
               [TD_FIELDS_MAX]; /* each field's value in the last event of its kind */
} td_encoder;

void td_encoder_init(td_encoder *encoder);
void td_encoder_fini(td_encoder *encoder);

/* td_encoder_begin forgets everything: a chunk is decodable alone. td_encoder_continue then tells
 * the time of the thread's last event in the chunk before: none here will be earlier. */
void td_encoder_begin(td_encoder *encoder);
void td_encoder_continue(td_encoder *encoder, uint64_t last_ticks);

/* td_encoder_add encodes a record (in ring form); false if the chunk has no room left for it. */
bool td_encoder_add(td_encoder *encoder, const td_event *event);

/* td_encoder_schema encodes the vocabulary of events.def into the encoder's bytes. */
void td_encoder_schema(td_encoder *encoder);

/* td_encoder_has_schema tells whether these are the same bytes. */
bool td_encoder_has_schema(const unsigned char *bytes, size_t n_bytes);
