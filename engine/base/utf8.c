/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/utf8.h"

#include "engine/base/alloc.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

int
td_utf8_length(const unsigned char *text) {
  static const struct {
    unsigned char mask, lead;
    int length;
    uint32_t least;
  } forms[] = {
      {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  for (int form = 0; form < 4; form++) {
    if ((text[0] & forms[form].mask) != forms[form].lead) continue;
    uint32_t code = text[0] & (unsigned char)~forms[form].mask;
    for (int i = 1; i < forms[form].length; i++) {
      if ((text[i] & 0xc0) != 0x80) return 0;
      code = code << 6 | (text[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code >= forms[form].least && code < 0x110000 && !surrogate ? forms[form].length : 0;
  }
  return 0;
}

bool
td_utf8_is_valid(const char *text, size_t n) {
  size_t at = 0;
  while (at < n) {
    int length = td_utf8_length((const unsigned char *)text + at);
    if (length == 0) return false;
    at += (size_t)length;
  }
  return at == n;
}

char *
td_utf8_dup(const char *text, size_t n) {
  char *copy = TD_NEW_N(char, 3 * n + 1), *to = copy;
  for (size_t at = 0; at < n;) {
    size_t length = (size_t)td_utf8_length((const unsigned char *)text + at);
    bool is_whole = length && length <= n - at;
    memcpy(to, is_whole ? text + at : REPLACEMENT, is_whole ? length : 3);
    to += is_whole ? length : 3;
    at += is_whole ? length : 1;
  }
  return copy;
}

char *
td_utf8_make(char *text) {
  size_t n = strlen(text);
  if (td_utf8_is_valid(text, n)) return text;
  char *made = td_utf8_dup(text, n);
  free(text);
  return made;
}
