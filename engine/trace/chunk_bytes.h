/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chunks as bytes in memory, for those who write a part of a tape at once. One thread. */
#pragma once

#include "engine/trace/format.h"

#include <stdbool.h>

/* Zero-initialise. */
typedef struct td_chunk_bytes {
  unsigned char *bytes; /* (owned) */
  size_t n, capacity;
  uint64_t raw_bytes;       /* of all chunks, before compression */
  struct ZSTD_CCtx_s *zstd; /* (owned) or NULL before the first chunk */
} td_chunk_bytes;

/* td_chunk_bytes_room returns where n bytes can be written behind the others. */
unsigned char *td_chunk_bytes_room(td_chunk_bytes *self, size_t n);
void td_chunk_bytes_put(td_chunk_bytes *self, const void *from, size_t n);
void td_chunk_bytes_put_varint(td_chunk_bytes *self, uint64_t value);

/* td_chunk_bytes_put_chunk compresses the contents and seals the header, whose other fields the
 * caller has set. False if there is no memory for it. */
bool td_chunk_bytes_put_chunk(td_chunk_bytes *self, td_chunk_header *header, const void *raw,
                              size_t n_raw);
void td_chunk_bytes_fini(td_chunk_bytes *self);
