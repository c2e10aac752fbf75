/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tapes that no recorder writes: their bytes lie about times and sizes. The reader says so, and
 * its cost follows the size of the file. */
#include "engine/trace/format.h"
#include "engine/trace/tape.h"
#include "tests/fuzz/pack.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

static td_error no_error;

static char *
new_path(void) {
  char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-hostile-XXXXXX", NULL);
  int fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  return path;
}

/* A section of an unpacked tape, and events in it. */
static void
add_section(GByteArray *unpacked, uint8_t lies, uint16_t thread) {
  g_byte_array_append(unpacked, (const guint8 *)"CHNK", 4);
  g_byte_array_append(unpacked, (const guint8[]){TD_CHUNK_EVENTS, lies}, 2);
  g_byte_array_append(unpacked, (const guint8 *)&thread, sizeof thread);
  g_byte_array_append(unpacked, (const guint8[4]){0}, 4);
}

static void
add_step(GByteArray *unpacked, uint64_t ticks) {
  unsigned char event[3 * TD_VARINT_MAX], *end = td_varint_put(event, TD_EVENT_step);
  end = td_varint_put(end, ticks);
  end = td_varint_put(end, 0);
  g_byte_array_append(unpacked, event, (guint)(end - event));
}

/* Packs, writes and frees an unpacked tape. */
static char *
write_tape(GByteArray *unpacked) {
  char *path = new_path();
  td_bytes tape = {0};
  td_pack(unpacked->data, unpacked->len, &tape);
  g_assert_true(g_file_set_contents(path, (const char *)tape.at, (gssize)tape.n, NULL));
  td_bytes_fini(&tape);
  g_byte_array_unref(unpacked);
  return path;
}

static GByteArray *
new_unpacked(void) {
  return g_byte_array_append(g_byte_array_new(), (const guint8[]){0}, 1);
}

/* A difference of times so great that the sum wraps: time would run backwards. */
static void
test_wrapped_time(void) {
  GByteArray *unpacked = new_unpacked();
  add_section(unpacked, 0, 0);
  add_step(unpacked, 5);
  add_section(unpacked, 0, 1);
  add_step(unpacked, 5);
  add_step(unpacked, UINT64_MAX - 2);
  g_autofree char *path = write_tape(unpacked);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_nonnull(info->damage);
  g_assert_cmpuint(info->n_events, ==, 1);
  td_tape_close(tape);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trace/hostile/wrapped-time", test_wrapped_time);
  return g_test_run();
}
