/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages in the encoding of protobuf, field by field. One thread. */
#pragma once

#include "engine/exchange/byte_list.h"

/* Each appends a field to a message: its number, and a value. An inner message is appended whole,
 * and then emptied. */
void td_proto_varint(td_byte_list *message, uint32_t field, uint64_t value);
void td_proto_fixed64(td_byte_list *message, uint32_t field, uint64_t value);
void td_proto_text(td_byte_list *message, uint32_t field, const char *text);
void td_proto_message(td_byte_list *message, uint32_t field, td_byte_list *inner);
