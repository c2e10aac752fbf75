/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/tape_shipper.h"

#include "engine/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 32768

struct td_tape_shipper {
  char *path;        /* (owned) at first */
  int fd;            /* (owned) */
  struct stat begun; /* the tape when the last pass began */
  guint64 n_sent;    /* bytes that the copy has */
  GArray *hashes;    /* (owned) guint64 of each block that the copy has */
  bool is_whole, is_over;
  guint64 at;    /* where the pass is */
  guint64 zeros; /* bytes before `at` that are zero and not sent yet */
  unsigned char block[BLOCK_BYTES];
};

static int
open_tape(const char *path) {
  return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

td_tape_shipper *
td_tape_shipper_new(const char *path) {
  int fd = open_tape(path);
  if (fd < 0) return NULL;
  td_tape_shipper *shipper = g_new0(td_tape_shipper, 1);
  shipper->path = g_strdup(path);
  shipper->fd = fd;
  shipper->is_over = true;
  shipper->hashes = g_array_new(FALSE, FALSE, sizeof(guint64));
  return shipper;
}

void
td_tape_shipper_free(td_tape_shipper *shipper) {
  if (!shipper) return;
  close(shipper->fd);
  g_array_unref(shipper->hashes);
  g_free(shipper->path);
  g_free(shipper);
}

guint64
td_tape_shipper_get_size(const td_tape_shipper *shipper) {
  struct stat now;
  return fstat(shipper->fd, &now) == 0 ? (guint64)now.st_blocks * 512 : 0;
}

/* A flight recorder's last tape is a new file. */
void
td_tape_shipper_follow(td_tape_shipper *shipper) {
  struct stat now;
  if (fstat(shipper->fd, &now) != 0 || now.st_nlink > 0) return;
  int fd = open_tape(shipper->path);
  if (fd < 0) return;
  close(shipper->fd);
  shipper->fd = fd;
}

bool
td_tape_shipper_is_due(const td_tape_shipper *shipper) {
  struct stat now;
  const struct stat *then = &shipper->begun;
  return fstat(shipper->fd, &now) == 0 &&
         (now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
          now.st_mtim.tv_nsec != then->st_mtim.tv_nsec);
}

void
td_tape_shipper_begin(td_tape_shipper *shipper, bool is_whole) {
  shipper->is_over = fstat(shipper->fd, &shipper->begun) != 0 || !S_ISREG(shipper->begun.st_mode);
  shipper->is_whole = is_whole;
  shipper->at = shipper->zeros = 0;
}

/* Whether the block at `at` is as it was sent. Notes the new one. */
static bool
is_known(td_tape_shipper *shipper, gsize n_bytes) {
  guint64 hash = td_hash_bytes(TD_HASH_SEED, shipper->block, n_bytes);
  gsize number = shipper->at / BLOCK_BYTES;
  bool is_sent = number < shipper->hashes->len && shipper->at + n_bytes <= shipper->n_sent;
  if (number >= shipper->hashes->len) g_array_set_size(shipper->hashes, (guint)number + 1);
  guint64 *known = &g_array_index(shipper->hashes, guint64, number);
  is_sent = is_sent && *known == hash;
  *known = hash;
  return is_sent;
}

static bool
is_zero(const td_tape_shipper *shipper, gsize n_bytes) {
  return shipper->block[0] == 0 && memcmp(shipper->block, shipper->block + 1, n_bytes - 1) == 0;
}

/* A first block that changed: anything may have. One that did not: only what is behind the end of
 * what was sent. */
static void
go_on(td_tape_shipper *shipper, gsize n_bytes, bool known) {
  bool is_first = shipper->at == 0;
  if (is_first && !known) shipper->is_whole = true;
  shipper->at += n_bytes;
  if (is_first && !shipper->is_whole)
    shipper->at = MAX(shipper->at, shipper->n_sent / BLOCK_BYTES * BLOCK_BYTES);
  shipper->n_sent = MAX(shipper->n_sent, shipper->at);
}

static void
write_zeros(td_tape_shipper *shipper, td_line_text *line) {
  td_line_begin(line, "zeros");
  td_line_add_number(line, "at", (gint64)(shipper->at - shipper->zeros));
  td_line_add_number(line, "n", (gint64)shipper->zeros);
  shipper->zeros = 0;
}

static void
write_bytes(const td_tape_shipper *shipper, gsize n_bytes, td_line_text *line) {
  g_autofree char *text = g_base64_encode(shipper->block, n_bytes);
  td_line_begin(line, "bytes");
  td_line_add_number(line, "at", (gint64)shipper->at);
  td_line_add(line, "data", text);
}

/* What was behind the end of the tape is gone. */
static bool
end_pass(td_tape_shipper *shipper, td_line_text *line) {
  bool is_cut = shipper->at < shipper->n_sent;
  shipper->is_over = true;
  shipper->n_sent = shipper->at;
  if (!is_cut) return false;
  td_line_begin(line, "cut");
  td_line_add_number(line, "n", (gint64)shipper->at);
  return true;
}

static gsize
read_block(td_tape_shipper *shipper) {
  guint64 size = (guint64)shipper->begun.st_size, left = size - MIN(size, shipper->at);
  ssize_t n;
  do
    n = pread(shipper->fd, shipper->block, MIN(left, BLOCK_BYTES), (off_t)shipper->at);
  while (n < 0 && errno == EINTR);
  return n > 0 ? (gsize)n : 0;
}

bool
td_tape_shipper_next(td_tape_shipper *shipper, td_line_text *line) {
  while (!shipper->is_over) {
    gsize n_bytes = read_block(shipper);
    bool zero = n_bytes && is_zero(shipper, n_bytes);
    if (shipper->zeros && !zero) {
      write_zeros(shipper, line);
      return true;
    }
    if (!n_bytes) return end_pass(shipper, line);
    bool known = is_known(shipper, n_bytes);
    if (!known && !zero) write_bytes(shipper, n_bytes, line);
    if (zero && (!known || shipper->zeros)) shipper->zeros += n_bytes;
    go_on(shipper, n_bytes, known);
    if (!known && !zero) return true;
  }
  return false;
}
