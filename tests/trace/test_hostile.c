/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tapes that no recorder writes: their bytes lie about times and sizes. The reader says so, and
 * its cost follows the size of the file. */
#include "engine/replay/catalog_collect.h"
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

/* An event of two fields, right after the one before it. */
static void
add_event(GByteArray *unpacked, td_event_kind kind, uint64_t first, uint64_t second) {
  unsigned char event[4 * TD_VARINT_MAX], *end = td_varint_put(event, kind);
  end = td_varint_put(end, 1);
  end = td_varint_put(end, td_zigzag(first));
  end = td_varint_put(end, td_zigzag(second));
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

/* 36 MB of contents in a few kilobytes: more than a stranger may ask for, unless trusted. The
 * option holds for a process, so a child takes it. */
static void
test_bomb(void) {
  GByteArray *unpacked = new_unpacked();
  for (int section = 0; section < 36; section++) {
    add_section(unpacked, 0, 0);
    for (int i = 0; i < 333000; i++)
      add_step(unpacked, 1);
  }
  g_autofree char *path = write_tape(unpacked);
  td_tape *tape;
  if (g_test_subprocess()) {
    td_tape_trust_all();
    g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
    g_assert_cmpuint(td_tape_info_get(tape)->n_events, ==, 36 * 333000);
    td_tape_close(tape);
  } else {
    td_error error = {0};
    g_assert_cmpint(td_tape_open(path, &tape, &error), ==, TD_UNSUPPORTED);
    g_assert_nonnull(strstr(td_error_text(&error), "--trust"));
    td_error_clear(&error);
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
  }
  g_unlink(path);
}

/* One chunk of the greatest thread that a file of this size cannot have. */
static void
test_far_thread(void) {
  GByteArray *unpacked = new_unpacked();
  add_section(unpacked, TD_LIE_THREAD | TD_FAR_THREAD, 4000);
  add_step(unpacked, 5);
  g_autofree char *path = write_tape(unpacked);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
  g_assert_cmpuint(td_tape_info_get(tape)->n_threads, ==, 0);
  g_assert_nonnull(td_tape_info_get(tape)->damage);
  td_tape_close(tape);
  g_unlink(path);
}

static td_status
collect(const char *path, td_catalog **catalog, td_tape **tape) {
  td_error error = {0};
  g_assert_cmpint(td_tape_open(path, tape, &no_error), ==, TD_OK);
  td_status status = td_catalog_collect_whole(*tape, catalog, &error);
  td_error_clear(&error);
  return status;
}

/* Four events with a queue that a tape of four events does not have, and one that it says it lost
 * events for. */
static void
test_far_ids(void) {
  for (int dropped = 0; dropped < 2; dropped++) {
    GByteArray *unpacked = new_unpacked();
    add_section(unpacked, 0, 0);
    if (dropped) add_event(unpacked, TD_EVENT_dropped, UINT32_MAX - 1, 0);
    add_event(unpacked, TD_EVENT_queue_wake, dropped ? 100000000 : 1048570, 0);
    g_byte_array_append(unpacked, (const guint8[1]){0}, 1); /* its third field */
    g_autofree char *path = write_tape(unpacked);
    td_tape *tape;
    td_catalog *catalog;
    g_assert_cmpint(collect(path, &catalog, &tape), ==, TD_DAMAGED);
    td_tape_close(tape);
    g_unlink(path);
  }
}

/* A node and a pass cost the same, whatever their ids. */
static void
test_far_node(void) {
  td_tape *tape;
  td_catalog *catalog;
  GByteArray *unpacked = new_unpacked();
  add_section(unpacked, 0, 0);
  add_event(unpacked, TD_EVENT_node_end, UINT32_MAX - 1, UINT32_MAX - 2);
  g_autofree char *path = write_tape(unpacked);
  g_assert_cmpint(collect(path, &catalog, &tape), ==, TD_OK);
  g_assert_cmpuint(catalog->n_nodes, ==, 1);
  g_assert_cmpuint(catalog->node_rows[0].id, ==, UINT32_MAX - 1);
  g_assert_cmpuint(catalog->graph_task_rows[0].id, ==, UINT32_MAX - 2);
  td_catalog_free(catalog);
  td_tape_close(tape);
  g_unlink(path);
}

/* Edges between nodes that no event makes: two for each event. */
static void
test_too_many_nodes(void) {
  td_tape *tape;
  td_catalog *catalog;
  GByteArray *unpacked = new_unpacked();
  for (uint32_t i = 0; i < 70000; i++) {
    if (i % 1000 == 0) add_section(unpacked, 0, 0);
    unsigned char event[6 * TD_VARINT_MAX], *end = td_varint_put(event, TD_EVENT_edge_new);
    end = td_varint_put(end, 1);
    end = td_varint_put(end, td_zigzag(i % 1000 ? 2 : 2 * i));
    end = td_varint_put(end, td_zigzag(0));
    end = td_varint_put(end, td_zigzag(i % 1000 ? 2 : 2 * i + 1));
    end = td_varint_put(end, td_zigzag(0));
    g_byte_array_append(unpacked, event, (guint)(end - event));
  }
  g_autofree char *path = write_tape(unpacked);
  g_assert_cmpint(collect(path, &catalog, &tape), ==, TD_DAMAGED);
  td_tape_close(tape);
  g_unlink(path);
}

/* Another program cuts the tape off, or writes another over it, while it is open. The first events
 * are in memory by then; the last are not. */
static void
test_changed(gconstpointer overwrites) {
  GByteArray *unpacked = new_unpacked();
  for (int section = 0; section < 60; section++) {
    add_section(unpacked, 0, 0);
    for (int i = 0; i < 1000; i++)
      add_step(unpacked, (uint64_t)g_test_rand_int_range(1, 1 << 20));
  }
  g_autofree char *path = write_tape(unpacked);
  td_tape *tape;
  td_any_event event;
  td_error error = {0};
  g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
  g_assert_cmpint(td_tape_get(tape, 0, &event, &no_error), ==, TD_OK);
  g_assert_cmpint(td_tape_check_readable(tape, NULL), ==, TD_OK);
  g_assert_cmpint(truncate(path, overwrites ? 0 : 8192), ==, 0);
  if (overwrites) g_assert_cmpint(truncate(path, 200000), ==, 0);
  g_assert_cmpint(td_tape_get(tape, 59000, &event, &error), ==, TD_IO);
  g_assert_nonnull(strstr(td_error_text(&error), "changed the file"));
  g_assert_cmpint(td_tape_check_readable(tape, NULL), ==, TD_IO);
  td_error_clear(&error);
  td_tape_close(tape);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trace/hostile/wrapped-time", test_wrapped_time);
  g_test_add_func("/trace/hostile/bomb", test_bomb);
  g_test_add_func("/trace/hostile/far-thread", test_far_thread);
  g_test_add_data_func("/trace/hostile/cut-while-open", GINT_TO_POINTER(false), test_changed);
  g_test_add_data_func("/trace/hostile/overwritten-while-open", GINT_TO_POINTER(true),
                       test_changed);
  g_test_add_func("/trace/hostile/far-ids", test_far_ids);
  g_test_add_func("/trace/hostile/far-node", test_far_node);
  g_test_add_func("/trace/hostile/too-many-nodes", test_too_many_nodes);
  return g_test_run();
}
