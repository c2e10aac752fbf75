/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/control/line.h"

#include "engine/base/alloc.h"

#include <stdio.h>
#include <string.h>

static const char hex_digits[] = "0123456789ABCDEF";

static bool
is_name(const char *text) {
  return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz_") == strlen(text);
}

static int
hex_value(char digit) {
  if (digit >= 'a' && digit <= 'f') digit = (char)(digit - 'a' + 'A');
  const char *at = digit ? strchr(hex_digits, digit) : NULL;
  return at ? (int)(at - hex_digits) : -1;
}

/* Decodes in place. A value never holds a NUL byte. */
static bool
decode(char *value) {
  char *to = value;
  for (const char *from = value; *from; from++) {
    if (*from != '%') {
      *to++ = *from;
      continue;
    }
    int high = hex_value(from[1]), low = high < 0 ? -1 : hex_value(from[2]);
    if (low < 0 || high * 16 + low == 0) return false;
    *to++ = (char)(high * 16 + low);
    from += 2;
  }
  *to = '\0';
  return true;
}

static bool
parse_field(td_line *line, char *text) {
  char *equals = strchr(text, '=');
  if (!equals || line->n_fields == TD_LINE_FIELDS_MAX) return false;
  *equals = '\0';
  line->fields[line->n_fields++] = (td_line_field){.key = text, .value = equals + 1};
  return is_name(text) && decode(equals + 1);
}

static bool
parse_text(td_line *line, char *text) {
  char *rest = NULL;
  line->word = strtok_r(text, " ", &rest);
  if (!line->word || !is_name(line->word)) return false;
  for (char *field; (field = strtok_r(NULL, " ", &rest));)
    if (!parse_field(line, field)) return false;
  return true;
}

bool
td_line_parse(td_line *line, const char *bytes, size_t n_bytes) {
  if (n_bytes > TD_LINE_BYTES_MAX || memchr(bytes, '\0', n_bytes)) return false;
  line->n_fields = 0;
  line->text = TD_NEW_N(char, n_bytes + 1);
  memcpy(line->text, bytes, n_bytes);
  if (parse_text(line, line->text)) return true;
  td_line_fini(line);
  return false;
}

void
td_line_fini(td_line *line) {
  free(line->text);
  line->text = NULL;
  line->n_fields = 0;
}

bool
td_line_is(const td_line *line, const char *word) {
  return strcmp(line->word, word) == 0;
}

const char *
td_line_find(const td_line *line, const char *key) {
  for (unsigned i = 0; i < line->n_fields; i++)
    if (strcmp(line->fields[i].key, key) == 0) return line->fields[i].value;
  return NULL;
}

bool
td_line_find_u32(const td_line *line, const char *key, uint32_t *value) {
  const char *text = td_line_find(line, key);
  size_t length = text ? strlen(text) : 0;
  if (length == 0 || length > 10 || strspn(text, "0123456789") != length) return false;
  unsigned long long number = strtoull(text, NULL, 10);
  if (number > UINT32_MAX) return false;
  *value = (uint32_t)number;
  return true;
}

bool
td_line_flag(const td_line *line, const char *key) {
  const char *text = td_line_find(line, key);
  return text && strcmp(text, "1") == 0;
}

static void
append(td_line_text *text, const char *bytes, size_t n_bytes) {
  while (!text->bytes || text->n_bytes + n_bytes + 1 > text->capacity) {
    text->capacity = text->capacity ? text->capacity * 2 : 256;
    text->bytes = td_realloc(text->bytes, text->capacity, 1);
  }
  memcpy(text->bytes + text->n_bytes, bytes, n_bytes);
  text->n_bytes += n_bytes;
  text->bytes[text->n_bytes] = '\0';
}

static void
append_value(td_line_text *text, const char *value) {
  for (; *value; value++) {
    unsigned char byte = (unsigned char)*value;
    if (byte > ' ' && byte < 0x7f && byte != '%' && byte != '=')
      append(text, value, 1);
    else
      append(text, (char[]){'%', hex_digits[byte >> 4], hex_digits[byte & 15]}, 3);
  }
}

void
td_line_begin(td_line_text *text, const char *word) {
  *text = (td_line_text){0};
  append(text, word, strlen(word));
  append(text, "\n", 1);
}

void
td_line_add(td_line_text *text, const char *key, const char *value) {
  if (!value) return;
  text->n_bytes--; /* the newline */
  append(text, " ", 1);
  append(text, key, strlen(key));
  append(text, "=", 1);
  append_value(text, value);
  append(text, "\n", 1);
}

void
td_line_add_number(td_line_text *text, const char *key, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", (long long)value);
  td_line_add(text, key, digits);
}

void
td_line_text_fini(td_line_text *text) {
  free(text->bytes);
  *text = (td_line_text){0};
}

void
td_line_copy(td_line_text *text, const td_line *line) {
  td_line_begin(text, line->word);
  for (unsigned i = 0; i < line->n_fields; i++)
    td_line_add(text, line->fields[i].key, line->fields[i].value);
}

void
td_line_reader_add(td_line_reader *reader, const void *bytes, size_t n_bytes) {
  if (reader->n_bytes + n_bytes > reader->capacity) {
    reader->capacity = (reader->n_bytes + n_bytes) * 2;
    reader->bytes = td_realloc(reader->bytes, reader->capacity, 1);
  }
  if (n_bytes) memcpy(reader->bytes + reader->n_bytes, bytes, n_bytes);
  reader->n_bytes += n_bytes;
}

td_line_result
td_line_reader_take(td_line_reader *reader, td_line *line) {
  char *end = reader->n_bytes ? memchr(reader->bytes, '\n', reader->n_bytes) : NULL;
  if (!end) return reader->n_bytes > TD_LINE_BYTES_MAX ? TD_LINE_BAD : TD_LINE_NONE;
  size_t length = (size_t)(end - reader->bytes);
  bool fine = td_line_parse(line, reader->bytes, length);
  reader->n_bytes -= length + 1;
  memmove(reader->bytes, end + 1, reader->n_bytes);
  return fine ? TD_LINE_READY : TD_LINE_BAD;
}

void
td_line_reader_fini(td_line_reader *reader) {
  free(reader->bytes);
  *reader = (td_line_reader){0};
}
