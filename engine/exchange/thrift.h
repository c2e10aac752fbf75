/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Structs in Thrift's compact encoding, field by field, by rising numbers. Zero-initialise. One
 * thread. */
#pragma once

#include "engine/exchange/byte_list.h"

#define TD_THRIFT_DEPTH 8

typedef enum td_thrift_type {
  TD_THRIFT_I32 = 5,
  TD_THRIFT_I64 = 6,
  TD_THRIFT_TEXT = 8,
  TD_THRIFT_LIST = 9,
  TD_THRIFT_STRUCT = 12
} td_thrift_type;

typedef struct td_thrift {
  td_byte_list bytes;
  uint32_t last[TD_THRIFT_DEPTH]; /* by depth: the number of the last field */
  uint32_t depth;
} td_thrift;

/* td_thrift_int writes a field that is an integer, td_thrift_text one that is a text. After
 * td_thrift_list come n values: td_thrift_item_int, td_thrift_item_text, or structs.
 * td_thrift_begin begins a struct that is a field, and td_thrift_item_begin one that is in a list;
 * td_thrift_end ends it, also the outermost one. */
void td_thrift_int(td_thrift *thrift, uint32_t field, td_thrift_type type, int64_t value);
void td_thrift_text(td_thrift *thrift, uint32_t field, const char *text);
void td_thrift_list(td_thrift *thrift, uint32_t field, td_thrift_type type, size_t n);
void td_thrift_item_int(td_thrift *thrift, int64_t value);
void td_thrift_item_text(td_thrift *thrift, const char *text);
void td_thrift_begin(td_thrift *thrift, uint32_t field);
void td_thrift_item_begin(td_thrift *thrift);
void td_thrift_end(td_thrift *thrift);
