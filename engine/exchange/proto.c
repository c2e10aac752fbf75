/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/proto.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static void
tag(td_byte_list *self, uint32_t field, unsigned wire) {
  td_byte_list_varint(self, (uint64_t)field << 3 | wire);
}

void
td_proto_varint(td_byte_list *self, uint32_t field, uint64_t value) {
  tag(self, field, VARINT);
  td_byte_list_varint(self, value);
}

void
td_proto_fixed64(td_byte_list *self, uint32_t field, uint64_t value) {
  tag(self, field, FIXED64);
  td_byte_list_little(self, value, 8);
}

static void
put_bytes(td_byte_list *self, uint32_t field, const void *bytes, size_t n) {
  tag(self, field, BYTES);
  td_byte_list_varint(self, n);
  td_byte_list_append(self, bytes, n);
}

void
td_proto_text(td_byte_list *self, uint32_t field, const char *text) {
  put_bytes(self, field, text, strlen(text));
}

void
td_proto_message(td_byte_list *self, uint32_t field, td_byte_list *inner) {
  put_bytes(self, field, inner->bytes, inner->n);
  inner->n = 0;
}
