/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/chunk_bytes.h"

#include "engine/base/alloc.h"

#include <zstd.h>

#define COMPRESSION_LEVEL 1

unsigned char *
td_chunk_bytes_room(td_chunk_bytes *self, size_t n) {
  while (self->capacity - self->n < n) {
    self->capacity = self->capacity ? 2 * self->capacity : 4096;
    self->bytes = td_realloc(self->bytes, self->capacity, 1);
  }
  return self->bytes + self->n;
}

void
td_chunk_bytes_put(td_chunk_bytes *self, const void *from, size_t n) {
  if (n) memcpy(td_chunk_bytes_room(self, n), from, n);
  self->n += n;
}

void
td_chunk_bytes_put_varint(td_chunk_bytes *self, uint64_t value) {
  unsigned char *at = td_chunk_bytes_room(self, TD_VARINT_MAX);
  self->n += (size_t)(td_varint_put(at, value) - at);
}

static bool
has_zstd(td_chunk_bytes *self) {
  if (self->zstd) return true;
  self->zstd = ZSTD_createCCtx();
  if (!self->zstd) return false;
  ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
  ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_checksumFlag, 1);
  return true;
}

bool
td_chunk_bytes_put_chunk(td_chunk_bytes *self, td_chunk_header *header, const void *raw,
                         size_t n_raw) {
  size_t room = ZSTD_compressBound(n_raw);
  if (!has_zstd(self)) return false;
  unsigned char *at = td_chunk_bytes_room(self, sizeof *header + room);
  size_t n_stored = ZSTD_compress2(self->zstd, at + sizeof *header, room, raw, n_raw);
  if (ZSTD_isError(n_stored)) return false;
  td_chunk_header_seal(header, n_raw, n_stored);
  memcpy(at, header, sizeof *header);
  self->n += sizeof *header + n_stored;
  self->raw_bytes += n_raw;
  return true;
}

void
td_chunk_bytes_fini(td_chunk_bytes *self) {
  free(self->bytes);
  ZSTD_freeCCtx(self->zstd);
  *self = (td_chunk_bytes){0};
}
