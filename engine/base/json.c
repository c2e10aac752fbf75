/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/json.h"

#include "engine/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void
td_json_init(td_json *json, FILE *file) {
  *json = (td_json){.file = file, .first = true};
}

static void
begin_value(td_json *json) {
  if (!json->after_key && !json->first && json->depth > 0) fputs(", ", json->file);
  json->first = false;
  json->after_key = false;
}

static void
open_container(td_json *json, char bracket) {
  begin_value(json);
  putc(bracket, json->file);
  json->depth++;
  json->first = true;
}

static void
close_container(td_json *json, char bracket) {
  putc(bracket, json->file);
  json->depth--;
  json->first = false;
}

void
td_json_begin_object(td_json *json) {
  open_container(json, '{');
}

void
td_json_end_object(td_json *json) {
  close_container(json, '}');
}

void
td_json_begin_array(td_json *json) {
  open_container(json, '[');
}

void
td_json_end_array(td_json *json) {
  close_container(json, ']');
}

/* How many letters follow that stand for themselves. */
static size_t
count_plain(const unsigned char *text) {
  size_t n = 0;
  while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
    n++;
  return n;
}

static void
put_string(FILE *file, const char *utf8) {
  putc('"', file);
  for (const unsigned char *at = (const unsigned char *)utf8; *at;) {
    size_t n_plain = count_plain(at);
    fwrite(at, 1, n_plain, file);
    at += n_plain;
    if (!*at) break;
    int length = td_utf8_length(at);
    if (length == 0) {
      fputs("\\ufffd", file);
      at++;
      continue;
    }
    if (*at == '"' || *at == '\\')
      fprintf(file, "\\%c", *at);
    else if (*at == '\n')
      fputs("\\n", file);
    else if (*at < 0x20 || *at == 0x7f)
      fprintf(file, "\\u%04x", *at);
    else
      fwrite(at, 1, (size_t)length, file);
    at += length;
  }
  putc('"', file);
}

void
td_json_key(td_json *json, const char *key) {
  begin_value(json);
  put_string(json->file, key);
  fputs(": ", json->file);
  json->after_key = true;
}

void
td_json_u64(td_json *json, uint64_t value) {
  begin_value(json);
  fprintf(json->file, "%" PRIu64, value);
}

void
td_json_i64(td_json *json, int64_t value) {
  begin_value(json);
  fprintf(json->file, "%" PRId64, value);
}

void
td_json_double(td_json *json, double value) {
  begin_value(json);
  if (isfinite(value))
    fprintf(json->file, "%.10g", value);
  else
    fputs("null", json->file);
}

void
td_json_bool(td_json *json, bool value) {
  begin_value(json);
  fputs(value ? "true" : "false", json->file);
}

void
td_json_null(td_json *json) {
  begin_value(json);
  fputs("null", json->file);
}

void
td_json_string(td_json *json, const char *utf8) {
  begin_value(json);
  if (utf8)
    put_string(json->file, utf8);
  else
    fputs("null", json->file);
}

void
td_json_take(td_json *json, char *utf8) {
  td_json_string(json, utf8);
  free(utf8);
}

void
td_json_id(td_json *json, uint32_t id) {
  if (id == UINT32_MAX)
    td_json_null(json);
  else
    td_json_u64(json, id);
}

void
td_json_newline(td_json *json) {
  putc('\n', json->file);
  json->first = true;
}
