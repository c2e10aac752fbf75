/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A JSON writer that streams to a FILE and keeps nothing in memory. It writes commas, quotes and
 * escapes; the caller is responsible for the nesting. One thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct td_json {
  FILE *file; /* (borrowed) */
  int depth;
  bool first; /* nothing written yet at this depth */
  bool after_key;
} td_json;

void td_json_init(td_json *json, FILE *file);

void td_json_begin_object(td_json *json);
void td_json_end_object(td_json *json);
void td_json_begin_array(td_json *json);
void td_json_end_array(td_json *json);

/* td_json_key writes a member's name; the next value belongs to it. */
void td_json_key(td_json *json, const char *key);

void td_json_u64(td_json *json, uint64_t value);
void td_json_i64(td_json *json, int64_t value);
void td_json_double(td_json *json, double value); /* not finite: null */
void td_json_bool(td_json *json, bool value);
void td_json_null(td_json *json);
void td_json_string(td_json *json,
                    const char *utf8); /* NULL: null; bytes that are no UTF-8: U+FFFD */

/* td_json_take writes a text and frees it. */
void td_json_take(td_json *json, char *utf8);

/* td_json_id writes a small integer, or null for TD_NONE (UINT32_MAX). */
void td_json_id(td_json *json, uint32_t id);

/* td_json_newline ends a document or a line of JSON Lines. */
void td_json_newline(td_json *json);
