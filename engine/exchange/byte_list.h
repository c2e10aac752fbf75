/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bytes that grow, for encodings. Zero-initialise. One thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct td_byte_list {
  unsigned char *bytes; /* (owned) */
  size_t n, capacity;
} td_byte_list;

/* td_byte_list_varint appends a number with seven bits in each byte, the lowest first.
 * td_byte_list_little appends its `n` lowest bytes. */
void td_byte_list_append(td_byte_list *list, const void *bytes, size_t n);
void td_byte_list_varint(td_byte_list *list, uint64_t value);
void td_byte_list_little(td_byte_list *list, uint64_t value, size_t n);
void td_byte_list_fini(td_byte_list *list);
