/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/byte_list.h"

#include "engine/base/alloc.h"

#include <string.h>

static void
reserve(td_byte_list *self, size_t n) {
  if (self->bytes && self->capacity - self->n >= n) return;
  self->capacity = TD_MAX(2 * self->capacity, self->n + n + 64);
  self->bytes = td_realloc(self->bytes, self->capacity, 1);
}

void
td_byte_list_append(td_byte_list *self, const void *bytes, size_t n) {
  reserve(self, n);
  if (n) memcpy(self->bytes + self->n, bytes, n);
  self->n += n;
}

void
td_byte_list_varint(td_byte_list *self, uint64_t value) {
  reserve(self, 10);
  for (; value >= 0x80; value >>= 7)
    self->bytes[self->n++] = (unsigned char)(value | 0x80);
  self->bytes[self->n++] = (unsigned char)value;
}

void
td_byte_list_little(td_byte_list *self, uint64_t value, size_t n) {
  reserve(self, n);
  for (size_t i = 0; i < n; i++)
    self->bytes[self->n++] = (unsigned char)(value >> (8 * i));
}

void
td_byte_list_fini(td_byte_list *self) {
  free(self->bytes);
  *self = (td_byte_list){0};
}
