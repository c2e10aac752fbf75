/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/tape_copy.h"

#include "engine/trace/write_at.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define TAPE_BYTES_MAX (UINT64_C(1) << 42) /* zeros cost a line only */

struct td_tape_copy {
  int fd;         /* (owned) */
  guint64 length; /* so far */
};

td_tape_copy *
td_tape_copy_new(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return NULL;
  td_tape_copy *copy = g_new0(td_tape_copy, 1);
  copy->fd = fd;
  return copy;
}

void
td_tape_copy_free(td_tape_copy *copy) {
  if (copy) close(copy->fd);
  g_free(copy);
}

bool
td_tape_copy_is_part(const td_line *line) {
  return td_line_is(line, "bytes") || td_line_is(line, "zeros") || td_line_is(line, "cut");
}

static bool
find_number(const td_line *line, const char *key, guint64 max, guint64 *value) {
  const char *text = td_line_find(line, key);
  return text && g_ascii_string_to_unsigned(text, 10, 0, max, value, NULL);
}

static int
set_length(td_tape_copy *copy, guint64 length) {
  if (ftruncate(copy->fd, (off_t)length) != 0) return errno;
  copy->length = length;
  return 0;
}

static int
write_bytes(td_tape_copy *copy, guint64 at, const td_line *line) {
  gsize n_bytes = 0;
  const char *text = td_line_find(line, "data");
  g_autofree guchar *bytes = text ? g_base64_decode(text, &n_bytes) : NULL;
  if (!n_bytes) return EBADMSG;
  int error = td_write_at(copy->fd, bytes, n_bytes, at);
  if (!error) copy->length = MAX(copy->length, at + n_bytes);
  return error;
}

/* A hole, if files can have one in the middle here. */
static int
clear(td_tape_copy *copy, guint64 at, guint64 n) {
  static const char zeros[32768];
  int error = 0;
  if (!n) return 0;
  if (!fallocate(copy->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n))
    return 0;
  for (guint64 done = 0; done < n && !error; done += sizeof zeros)
    error = td_write_at(copy->fd, zeros, MIN(n - done, sizeof zeros), at + done);
  return error;
}

static int
write_zeros(td_tape_copy *copy, guint64 at, guint64 n) {
  int error = clear(copy, at, MIN(n, copy->length - at));
  return !error && at + n > copy->length ? set_length(copy, at + n) : error;
}

/* 0, or what went wrong; EBADMSG: the line. */
static int
take(td_tape_copy *copy, const td_line *line) {
  guint64 at = 0, n = 0;
  if (td_line_is(line, "cut"))
    return find_number(line, "n", copy->length, &n) ? set_length(copy, n) : EBADMSG;
  if (!find_number(line, "at", copy->length, &at)) return EBADMSG;
  if (td_line_is(line, "bytes")) return write_bytes(copy, at, line);
  return find_number(line, "n", TAPE_BYTES_MAX - at, &n) ? write_zeros(copy, at, n) : EBADMSG;
}

bool
td_tape_copy_take(td_tape_copy *copy, const td_line *line, char **problem) {
  int error = take(copy, line);
  if (error == EBADMSG)
    *problem = g_strdup("the other end talks nonsense");
  else if (error)
    *problem = g_strdup_printf("the copy of the tape: %s", g_strerror(error));
  return !error;
}
