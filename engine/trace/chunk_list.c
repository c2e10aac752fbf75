/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/chunk_list.h"

#include "engine/base/alloc.h"

#include <stdlib.h>

typedef struct reader {
  const unsigned char *at, *end; /* at is NULL once the list has ended too early */
} reader;

void
td_chunk_list_add(td_chunk_list *list, const td_chunk_header *header, uint32_t content) {
  TD_GROW(list->rows, list->n, list->capacity);
  list->rows[list->n++] = (td_chunk_row){*header, content};
}

void
td_chunk_list_fini(td_chunk_list *list) {
  free(list->rows);
  *list = (td_chunk_list){0};
}

static void
put_row(td_chunk_bytes *raw, const td_chunk_row *row, const td_chunk_header *before) {
  const td_chunk_header *header = &row->header;
  td_chunk_bytes_put_varint(raw, header->kind);
  td_chunk_bytes_put_varint(raw, header->thread);
  td_chunk_bytes_put_varint(raw, header->n_events);
  td_chunk_bytes_put_varint(raw, header->raw_bytes);
  td_chunk_bytes_put_varint(raw, header->stored_bytes);
  td_chunk_bytes_put_varint(raw, td_zigzag(header->first_ticks - before->last_ticks));
  td_chunk_bytes_put_varint(raw, td_zigzag(header->last_ticks - header->first_ticks));
  td_chunk_bytes_put_varint(raw, td_zigzag(header->first_number - before->first_number));
  td_chunk_bytes_put_varint(raw, td_zigzag(header->clock_ticks - before->clock_ticks));
  td_chunk_bytes_put_varint(raw,
                            td_zigzag(header->clock_monotonic_ns - before->clock_monotonic_ns));
  td_chunk_bytes_put_varint(raw, row->content);
}

void
td_chunk_list_encode(const td_chunk_list *list, td_chunk_bytes *raw) {
  td_chunk_header before = {0};
  for (size_t i = 0; i < list->n; i++) {
    put_row(raw, &list->rows[i], &before);
    before = list->rows[i].header;
  }
}

static uint64_t
get(reader *self) {
  uint64_t value = 0;
  if (self->at) self->at = td_varint_get(self->at, self->end, &value);
  return self->at ? value : 0;
}

/* A greater number becomes one that no header may have. */
static uint32_t
get_u32(reader *self) {
  uint64_t value = get(self);
  return (uint32_t)TD_MIN(value, UINT32_MAX);
}

static td_chunk_header
get_header(reader *self, const td_chunk_header *before) {
  td_chunk_header header = {0};
  header.kind = get_u32(self);
  header.thread = get_u32(self);
  header.n_events = get_u32(self);
  uint32_t raw_bytes = get_u32(self), stored_bytes = get_u32(self);
  header.first_ticks = before->last_ticks + td_unzigzag(get(self));
  header.last_ticks = header.first_ticks + td_unzigzag(get(self));
  header.first_number = before->first_number + td_unzigzag(get(self));
  header.clock_ticks = before->clock_ticks + td_unzigzag(get(self));
  header.clock_monotonic_ns = before->clock_monotonic_ns + td_unzigzag(get(self));
  td_chunk_header_seal(&header, raw_bytes, stored_bytes);
  return header;
}

/* The chunks end where the index begins. */
static bool
decode(td_chunk_list *list, reader *self, uint64_t index_offset) {
  td_chunk_header before = {0};
  uint64_t offset = sizeof(td_tape_header);
  while (self->at && self->at < self->end) {
    td_chunk_header header = get_header(self, &before);
    uint32_t content = get_u32(self);
    bool is_possible = self->at && offset + sizeof header <= index_offset &&
                       header.kind != TD_CHUNK_GAP &&
                       td_chunk_header_fits(&header, index_offset - offset - sizeof header);
    if (!is_possible) return false;
    td_chunk_list_add(list, &header, content);
    offset += sizeof header + header.stored_bytes;
    before = header;
  }
  return offset == index_offset;
}

void
td_chunk_list_load(td_chunk_list *list, td_tape_file *file, uint64_t index_offset) {
  td_chunk_bytes raw = {0};
  td_chunk_header header;
  uint32_t checksum;
  uint64_t offset = index_offset;
  *list = (td_chunk_list){.offset = sizeof(td_tape_header)};
  for (; td_tape_file_header(file, offset, &header); offset += sizeof header + header.stored_bytes)
    if (header.kind == TD_CHUNK_LIST) {
      if (td_tape_file_contents(file, offset, &header, &checksum, NULL)) break;
      td_chunk_bytes_put(&raw, file->raw, header.raw_bytes);
    }
  if (!raw.n) return;
  reader reader = {raw.bytes, raw.bytes + raw.n};
  if (!decode(list, &reader, index_offset)) td_chunk_list_fini(list);
  td_chunk_bytes_fini(&raw);
}

const td_chunk_row *
td_chunk_list_take(td_chunk_list *list, uint64_t offset) {
  for (; list->next < list->n && list->offset < offset; list->next++)
    list->offset += sizeof(td_chunk_header) + list->rows[list->next].header.stored_bytes;
  return list->next < list->n && list->offset == offset ? &list->rows[list->next] : NULL;
}
