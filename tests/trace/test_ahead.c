/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pass over a tape with a thread that decodes ahead gives the same events, the same damage and
 * the same status as one without. Tapes are whole, damaged, and cut off while they are open. */
#include "engine/trace/contents.h"
#include "engine/trace/tape.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct pass {
  GByteArray *events; /* (owned) all, end to end; a zero for one that cannot be read */
  char *damage;       /* (owned) or NULL */
  td_status status;
  char *words; /* (owned) of the status */
} pass;

static char *
make_tape(bool with_table) {
  char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-ahead-XXXXXX", NULL);
  td_tape_plan plan = {.n_nodes = 1500, .n_threads = 3, .n_passes = 6, .seed = 5, .n_anomalies = 9};
  int fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  g_unlink(path);
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  if (with_table) g_assert_cmpint(td_contents_add(path, NULL), ==, TD_OK);
  return path;
}

static guint
count_threads(void) {
  g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
  guint n = 0;
  while (g_dir_read_name(tasks))
    n++;
  return n;
}

/* A thread that was joined may be seen for a moment. */
static void
wait_for_threads(guint n) {
  for (int i = 0; count_threads() > n && i < 1000; i++)
    g_usleep(1000);
  g_assert_cmpuint(count_threads(), ==, n);
}

/* `change` is called when the tape is open. */
static pass
read_all(const char *path, bool ahead, void (*change)(const char *path)) {
  pass read = {.events = g_byte_array_new()};
  td_error error = {0};
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, &error), ==, TD_OK);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_cmpuint(info->n_events, >, 64 * TD_BLOCK_EVENTS);
  if (change) change(path);
  guint n_threads = count_threads();
  td_segment whole = td_tape_whole(tape);
  if (ahead) td_tape_begin_pass(tape, &whole);
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    static const guint8 none;
    if (seq == 0 && ahead && g_get_num_processors() > 1)
      g_assert_cmpuint(count_threads(), ==, n_threads + 1);
    g_byte_array_append(read.events, event ? (const guint8 *)event : &none,
                        event ? (guint)MIN(event->event.size, sizeof *event) : 1);
  }
  if (ahead) td_tape_end_pass(tape);
  wait_for_threads(n_threads);
  read.damage = g_strdup(info->damage);
  read.status = td_tape_check_readable(tape, &error);
  read.words = g_strdup(td_error_text(&error));
  td_error_clear(&error);
  td_tape_close(tape);
  return read;
}

static void
pass_fini(pass *read) {
  g_byte_array_unref(read->events);
  g_free(read->damage);
  g_free(read->words);
}

static void
assert_same(pass *plain, pass *ahead) {
  g_assert_cmpmem(plain->events->data, plain->events->len, ahead->events->data, ahead->events->len);
  g_assert_cmpstr(plain->damage, ==, ahead->damage);
  g_assert_cmpint(plain->status, ==, ahead->status);
  g_assert_cmpstr(plain->words, ==, ahead->words);
  pass_fini(plain);
  pass_fini(ahead);
}

static void
test_same(gconstpointer with_table) {
  g_autofree char *path = make_tape(with_table != NULL);
  pass plain = read_all(path, false, NULL), ahead = read_all(path, true, NULL);
  g_assert_cmpint(plain.status, ==, TD_OK);
  g_assert_null(plain.damage);
  assert_same(&plain, &ahead);
  g_unlink(path);
}

/* Spoils bytes here and there; headers stay, so that the table still counts. */
static void
spoil(const char *path) {
  char *bytes;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  for (gsize i = n / 3; i < n / 2; i += n / 20)
    bytes[i] ^= 0x55;
  g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
  g_free(bytes);
}

static void
test_damaged(gconstpointer with_table) {
  g_autofree char *path = make_tape(with_table != NULL);
  spoil(path);
  pass plain = read_all(path, false, NULL), ahead = read_all(path, true, NULL);
  g_assert_nonnull(plain.damage);
  assert_same(&plain, &ahead);
  g_unlink(path);
}

static void
cut_off(const char *path) {
  GStatBuf info;
  g_assert_cmpint(g_stat(path, &info), ==, 0);
  g_assert_cmpint(truncate(path, info.st_size / 2), ==, 0);
}

static void
test_cut_off_meanwhile(gconstpointer with_table) {
  g_autofree char *path = make_tape(with_table != NULL), *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  pass plain = read_all(path, false, cut_off);
  g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
  pass ahead = read_all(path, true, cut_off);
  g_assert_cmpint(plain.status, ==, TD_IO);
  assert_same(&plain, &ahead);
  g_unlink(path);
}

/* A reader may go elsewhere, stop early, or close the tape during a pass. */
static void
test_left_early(void) {
  g_autofree char *path = make_tape(true);
  td_tape *tape;
  td_any_event first, again;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  guint n_threads = count_threads();
  g_assert_cmpint(td_tape_get(tape, 0, &first, NULL), ==, TD_OK);
  td_segment whole = td_tape_whole(tape);
  td_tape_begin_pass(tape, &whole);
  td_tape_begin_pass(tape, &whole);
  for (uint64_t seq = 0; seq < 5 * TD_BLOCK_EVENTS; seq++)
    g_assert_nonnull(td_tape_peek(tape, seq));
  g_assert_cmpint(td_tape_get(tape, 0, &again, NULL), ==, TD_OK);
  g_assert_cmpmem(&first, first.event.size, &again, again.event.size);
  wait_for_threads(n_threads);
  td_tape_begin_pass(tape, &whole);
  g_assert_nonnull(td_tape_peek(tape, 0));
  td_tape_close(tape);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/trace/ahead/same", NULL, test_same);
  g_test_add_data_func("/trace/ahead/same/table", "", test_same);
  g_test_add_data_func("/trace/ahead/damaged", NULL, test_damaged);
  g_test_add_data_func("/trace/ahead/damaged/table", "", test_damaged);
  g_test_add_data_func("/trace/ahead/cut-off", NULL, test_cut_off_meanwhile);
  g_test_add_data_func("/trace/ahead/cut-off/table", "", test_cut_off_meanwhile);
  g_test_add_func("/trace/ahead/left-early", test_left_early);
  return g_test_run();
}
