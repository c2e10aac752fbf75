/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/thrift.h"

#include <assert.h>
#include <string.h>

static void
put_byte(td_thrift *self, unsigned value) {
  td_byte_list_little(&self->bytes, value, 1);
}

/* Numbers of fields rise by at most 15 from one to the next. */
static void
put_head(td_thrift *self, uint32_t field, td_thrift_type type) {
  uint32_t step = field - self->last[self->depth];
  assert(step > 0 && step < 16);
  put_byte(self, step << 4 | type);
  self->last[self->depth] = field;
}

void
td_thrift_item_int(td_thrift *self, int64_t value) {
  td_byte_list_varint(&self->bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void
td_thrift_item_text(td_thrift *self, const char *text) {
  size_t n = strlen(text);
  td_byte_list_varint(&self->bytes, n);
  td_byte_list_append(&self->bytes, text, n);
}

void
td_thrift_int(td_thrift *self, uint32_t field, td_thrift_type type, int64_t value) {
  put_head(self, field, type);
  td_thrift_item_int(self, value);
}

void
td_thrift_text(td_thrift *self, uint32_t field, const char *text) {
  put_head(self, field, TD_THRIFT_TEXT);
  td_thrift_item_text(self, text);
}

void
td_thrift_list(td_thrift *self, uint32_t field, td_thrift_type type, size_t n) {
  put_head(self, field, TD_THRIFT_LIST);
  put_byte(self, (unsigned)(n < 15 ? n : 15) << 4 | type);
  if (n >= 15) td_byte_list_varint(&self->bytes, n);
}

void
td_thrift_item_begin(td_thrift *self) {
  assert(self->depth + 1 < TD_THRIFT_DEPTH);
  self->last[++self->depth] = 0;
}

void
td_thrift_begin(td_thrift *self, uint32_t field) {
  put_head(self, field, TD_THRIFT_STRUCT);
  td_thrift_item_begin(self);
}

void
td_thrift_end(td_thrift *self) {
  put_byte(self, 0);
  self->last[self->depth] = 0;
  if (self->depth) self->depth--;
}
