/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/terminal.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_BYTES ((size_t)64 << 10)

typedef struct guarded {
  int fd;
  char held[4]; /* the beginning of a character that the next bytes complete */
  size_t n_held;
} guarded;

static guarded outputs[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

static bool
is_harmless(gunichar c) {
  if (c < 0x20) return c == '\t' || c == '\n';
  if (c < 0x7f) return true;
  return !(c <= 0x9f || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069));
}

/* How many harmless letters of ASCII stand in front. */
static size_t
count_plain(const char *bytes, size_t n) {
  size_t i = 0;
  while (i < n && (unsigned char)bytes[i] < 0x7f && is_harmless((unsigned char)bytes[i]))
    i++;
  return i;
}

/* Escapes the character or byte at `at` and returns how many bytes it took, or 0 if the character
 * goes on beyond `end`. */
static size_t
take_character(const char *at, const char *end, bool last, GString *out) {
  gunichar c = *at ? g_utf8_get_char_validated(at, end - at) : 0;
  if (c == (gunichar)-2 && !last) return 0;
  if (c == (gunichar)-1 || c == (gunichar)-2) {
    g_string_append_printf(out, "\\x%02x", (unsigned char)*at);
    return 1;
  }
  size_t length = c ? (size_t)(g_utf8_next_char(at) - at) : 1;
  if (is_harmless(c))
    g_string_append_len(out, at, (gssize)length);
  else
    g_string_append_printf(out, "\\u%04x", c);
  return length;
}

size_t
td_terminal_escape(const char *bytes, size_t n, bool last, char **text, size_t *length) {
  GString *out = g_string_sized_new(n + 1);
  size_t taken = 0, step = 1;
  while (taken < n && step > 0) {
    size_t n_plain = count_plain(bytes + taken, n - taken);
    g_string_append_len(out, bytes + taken, (gssize)n_plain);
    taken += n_plain;
    if (taken == n) break;
    step = take_character(bytes + taken, bytes + n, last, out);
    taken += step;
  }
  *length = out->len;
  *text = g_string_free(out, FALSE);
  return taken;
}

static bool
write_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t written = write(fd, bytes, n);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    n -= (size_t)written;
  }
  return true;
}

static bool
write_escaped(guarded *output, const char *bytes, size_t n, bool last) {
  g_autofree char *whole = g_malloc(output->n_held + n + 1), *text = NULL;
  size_t length;
  memcpy(whole, output->held, output->n_held);
  memcpy(whole + output->n_held, bytes, n);
  n += output->n_held;
  size_t taken = td_terminal_escape(whole, n, last, &text, &length);
  output->n_held = n - taken;
  memcpy(output->held, whole + taken, output->n_held);
  return write_all(output->fd, text, length);
}

/* The stream's write function: 0 is a failure. */
static ssize_t
write_cb(void *data, const char *bytes, size_t n) {
  guarded *output = data;
  bool plain = output->n_held == 0 && count_plain(bytes, n) == n;
  bool done = plain ? write_all(output->fd, bytes, n) : write_escaped(output, bytes, n, false);
  return done ? (ssize_t)n : 0;
}

/* What a text that ends in the middle of a character leaves. */
static void
end_cb(void) {
  fflush(stdout);
  for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++)
    if (outputs[i].n_held) write_escaped(&outputs[i], "", 0, true);
}

/* GLib's own writer refuses a stream without a descriptor. */
static GLogWriterOutput
log_cb(GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data) {
  const char *domain = NULL;
  for (gsize i = 0; i < n; i++)
    if (strcmp(fields[i].key, "GLIB_DOMAIN") == 0) domain = fields[i].value;
  if (g_log_writer_default_would_drop(level, domain)) return G_LOG_WRITER_HANDLED;
  g_autofree char *text = g_log_writer_format_fields(level, fields, n, FALSE);
  fprintf(stderr, "%s\n", text);
  return G_LOG_WRITER_HANDLED;
}

static FILE *
open_stream(guarded *output, int mode, size_t size) {
  FILE *stream = fopencookie(output, "w", (cookie_io_functions_t){.write = write_cb});
  if (!stream) abort();
  setvbuf(stream, NULL, mode, size);
  return stream;
}

void
td_terminal_guard(void) {
  stdout = open_stream(&outputs[0], isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, OUTPUT_BYTES);
  stderr = open_stream(&outputs[1], _IONBF, 0);
  g_log_set_writer_func(log_cb, NULL, NULL);
  atexit(end_cb);
}

void
td_terminal_control(const char *sequence) {
  fflush(stderr);
  write_all(STDERR_FILENO, sequence, strlen(sequence));
}
