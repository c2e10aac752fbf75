/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/embed.h"

#include "engine/base/alloc.h"

/* U+2028 and U+2029 are e2 80 a8 and e2 80 a9. So many of their bytes were met last. */
typedef struct embed {
  FILE *out;
  int n_held;
} embed;

static void
release_held(embed *self) {
  static const char held[] = "\xe2\x80";
  fwrite(held, 1, (size_t)self->n_held, self->out);
  self->n_held = 0;
}

static void
put_byte(embed *self, unsigned char byte) {
  if (self->n_held == 2 && (byte == 0xa8 || byte == 0xa9)) {
    self->n_held = 0;
    fputs(byte == 0xa8 ? "\\u2028" : "\\u2029", self->out);
    return;
  }
  if (self->n_held == 1 && byte == 0x80) {
    self->n_held = 2;
    return;
  }
  release_held(self);
  if (byte == 0xe2)
    self->n_held = 1;
  else if (byte == '<' || byte == '>' || byte == '&')
    fprintf(self->out, "\\u%04x", byte);
  else
    putc(byte, self->out);
}

static ssize_t
write_cb(void *cookie, const char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    put_byte(cookie, (unsigned char)bytes[i]);
  return (ssize_t)n;
}

static int
close_cb(void *cookie) {
  release_held(cookie);
  free(cookie);
  return 0;
}

FILE *
td_page_embed_open(FILE *out) {
  embed *self = TD_NEW(embed);
  self->out = out;
  FILE *file =
      fopencookie(self, "w", (cookie_io_functions_t){.write = write_cb, .close = close_cb});
  if (!file) free(self);
  return file;
}
