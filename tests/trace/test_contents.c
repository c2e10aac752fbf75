/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of contents at the end of a tape. A tape says the same with and without it. A table
 * that lies hides events at most, and a damaged tape gives the events that are whole. The same is
 * true of the list of chunks behind the index. */
#include "engine/replay/replay.h"
#include "engine/trace/contents.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/fuzz/pack.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define N_LIES 400

static td_error no_error;

static char *
new_path(void) {
  char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-contents-XXXXXX", NULL);
  int fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  g_unlink(path);
  return path;
}

static GBytes *
load(const char *path) {
  char *bytes;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  return g_bytes_new_take(bytes, n);
}

static char *
store(GBytes *bytes) {
  char *path = new_path();
  gsize n;
  const char *at = g_bytes_get_data(bytes, &n);
  g_assert_true(g_file_set_contents(path, at, (gssize)n, NULL));
  return path;
}

/* A tape of several blocks and several chunks, and the same with a table. */
static GBytes *
make_plain(uint64_t seed) {
  g_autofree char *path = new_path();
  td_tape_plan plan = {.n_nodes = 120, .n_threads = 3, .n_passes = 3, .seed = seed};
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  GBytes *bytes = load(path);
  g_unlink(path);
  return bytes;
}

static GBytes *
add_table(GBytes *plain) {
  g_autofree char *path = store(plain);
  td_error error = no_error;
  td_contents_add(path, &error);
  g_assert_cmpstr(td_error_text(&error), ==, td_error_text(&no_error));
  GBytes *bytes = load(path);
  g_unlink(path);
  return bytes;
}

static td_tape *
open_bytes(GBytes *bytes) {
  g_autofree char *path = store(bytes);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_unlink(path);
  return tape;
}

static bool
has_usable_table(GBytes *bytes) {
  g_autofree char *path = store(bytes);
  td_directory directory;
  td_contents contents = {0};
  g_assert_cmpint(td_directory_open(path, &directory, NULL), ==, TD_OK);
  bool usable = td_contents_read(&contents, &directory);
  td_contents_fini(&contents);
  td_directory_close(&directory);
  g_unlink(path);
  return usable;
}

static void
assert_same_info(const td_tape_info *a, const td_tape_info *b) {
  g_assert_cmpuint(a->n_events, ==, b->n_events);
  g_assert_cmpuint(a->started_ns, ==, b->started_ns);
  g_assert_cmpuint(a->duration_ns, ==, b->duration_ns);
  g_assert_cmpuint(a->n_dropped, ==, b->n_dropped);
  g_assert_cmpuint(a->n_strings, ==, b->n_strings);
  g_assert_cmpuint(a->n_threads, ==, b->n_threads);
  g_assert_true(!a->damage == !b->damage);
  g_assert_true(a->complete == b->complete);
  g_assert_cmpmem(a->n_by_kind, sizeof a->n_by_kind, b->n_by_kind, sizeof b->n_by_kind);
  g_assert_cmpmem(a->known, sizeof a->known, b->known, sizeof b->known);
  for (uint32_t t = 0; t < a->n_threads; t++) {
    g_assert_cmpuint(a->threads[t].n_events, ==, b->threads[t].n_events);
    g_assert_cmpuint(a->threads[t].first_ns, ==, b->threads[t].first_ns);
    g_assert_cmpuint(a->threads[t].last_ns, ==, b->threads[t].last_ns);
  }
}

static void
assert_same_event(td_tape *a, td_tape *b, uint64_t seq) {
  td_any_event left, right;
  g_assert_cmpint(td_tape_get(a, seq, &left, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_get(b, seq, &right, NULL), ==, TD_OK);
  gsize n = MIN(left.event.size, sizeof left);
  g_assert_cmpmem(&left, n, &right, MIN(right.event.size, sizeof right));
  g_assert_cmpuint(td_tape_seq_at(a, left.event.time), ==, td_tape_seq_at(b, left.event.time));
}

static void
test_says_the_same(void) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    g_autoptr(GBytes) plain = make_plain(seed), full = add_table(plain), again = add_table(full);
    g_assert_false(has_usable_table(plain));
    g_assert_true(has_usable_table(full));
    g_assert_true(g_bytes_equal(full, again));
    td_tape *a = open_bytes(plain), *b = open_bytes(full);
    const td_tape_info *info = td_tape_info_get(a);
    assert_same_info(info, td_tape_info_get(b));
    g_assert_cmpuint(info->n_events, >, 3 * TD_BLOCK_EVENTS);
    for (uint32_t id = 0; id < info->n_strings; id++)
      g_assert_cmpstr(td_tape_string(a, id), ==, td_tape_string(b, id));
    for (uint64_t i = 0; i < info->n_events; i++) /* a prime: every event, here and there */
      assert_same_event(a, b, i * 1000003 % info->n_events);
    for (uint64_t seq = 0; seq < info->n_events; seq++)
      assert_same_event(a, b, seq);
    td_tape_close(a);
    td_tape_close(b);
  }
}

/* How many events of each kind a pass over the tape gives. */
static void
count_events(td_tape *tape, uint64_t *n_by_kind) {
  uint64_t n = td_tape_info_get(tape)->n_events, time = 0;
  memset(n_by_kind, 0, TD_EVENT_LIMIT * sizeof *n_by_kind);
  for (uint64_t seq = 0; seq < n; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (!event) continue;
    n_by_kind[event->event.kind]++;
    g_assert_cmpuint(event->event.time, >=, time);
    time = event->event.time;
  }
}

/* Does not read beyond what the tape counts. Tells whether all events are there, or the damage. */
static bool
survives(GBytes *bytes, uint64_t n_real, bool *is_told) {
  g_autofree char *path = store(bytes);
  uint64_t n_by_kind[TD_EVENT_LIMIT], n_read = 0;
  td_tape *tape;
  td_replay *replay;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  count_events(tape, n_by_kind);
  const td_tape_info *info = td_tape_info_get(tape);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    g_assert_cmpuint(n_by_kind[kind], <=, info->n_by_kind[kind]);
    n_read += n_by_kind[kind];
  }
  g_assert_cmpuint(n_read, <=, n_real);
  *is_told = n_read == n_real || info->damage;
  td_tape_close(tape);
  if (td_replay_open(path, NULL, NULL, &replay, NULL) == TD_OK) td_replay_close(replay);
  g_unlink(path);
  return n_read == n_real;
}

/* Packed again, a tape has the clock of td_pack. */
static GBytes *
repack(GBytes *bytes) {
  gsize n;
  const unsigned char *at = g_bytes_get_data(bytes, &n);
  td_bytes unpacked = {0}, packed = {0};
  g_assert_true(td_unpack(at, n, &unpacked));
  td_pack(unpacked.at, unpacked.n, &packed);
  td_bytes_fini(&unpacked);
  return g_bytes_new_take(packed.at, packed.n);
}

/* A byte of the table becomes another one; the checksums hold. */
static void
test_lies(void) {
  g_autoptr(GBytes) recorded = make_plain(3), plain = repack(recorded), full = add_table(plain);
  g_autoptr(GBytes) honest = repack(full);
  g_assert_true(has_usable_table(honest));
  td_tape *tape = open_bytes(plain);
  uint64_t n_real = td_tape_info_get(tape)->n_events;
  td_tape_close(tape);
  td_bytes unpacked = {0};
  gsize n;
  const unsigned char *at = g_bytes_get_data(full, &n);
  g_assert_true(td_unpack(at, n, &unpacked));
  const char table[] = {'C', 'H', 'N', 'K', TD_CHUNK_TABLE};
  unsigned char *begin = memmem(unpacked.at, unpacked.n, table, sizeof table);
  g_assert_nonnull(begin);
  unsigned n_hiding = 0;
  gsize n_bytes = (gsize)(unpacked.at + unpacked.n - begin) - 12;
  for (unsigned i = 0; i < N_LIES; i++) {
    unsigned char *byte = begin + 12 + n_bytes * i / N_LIES, flip = i % 3 ? 1 : 0x28;
    td_bytes packed = {0};
    *byte ^= flip;
    td_pack(unpacked.at, unpacked.n, &packed);
    g_autoptr(GBytes) bytes = g_bytes_new_take(packed.at, packed.n);
    bool is_told;
    n_hiding += !survives(bytes, n_real, &is_told);
    g_assert_true(is_told);
    *byte ^= flip;
  }
  g_assert_cmpuint(n_hiding, >, 0);
  td_bytes_fini(&unpacked);
}

/* The bytes of a chunk in the middle are others: the rest is there, and the damage is told. */
static void
test_damage(void) {
  g_autoptr(GBytes) plain = make_plain(5), full = add_table(plain);
  gsize n;
  const unsigned char *at = g_bytes_get_data(full, &n);
  td_tape *whole = open_bytes(full);
  uint64_t n_real = td_tape_info_get(whole)->n_events;
  td_tape_close(whole);
  for (gsize hit = sizeof(td_tape_header); hit < n; hit += n / 97) {
    unsigned char *copy = g_memdup2(at, n);
    copy[hit] ^= 0x55;
    g_autoptr(GBytes) bytes = g_bytes_new_take(copy, n);
    g_autofree char *path = store(bytes);
    td_tape *tape;
    uint64_t n_by_kind[TD_EVENT_LIMIT];
    if (td_tape_open(path, &tape, NULL) == TD_OK) {
      count_events(tape, n_by_kind);
      uint64_t n_read = 0;
      for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
        n_read += n_by_kind[kind];
      if (n_read < n_real) g_assert_nonnull(td_tape_info_get(tape)->damage);
      td_tape_close(tape);
    }
    g_unlink(path);
  }
}

/* Wherever the end is missing, the table does not count any more. */
static void
test_cut(void) {
  g_autoptr(GBytes) plain = make_plain(7), full = add_table(plain);
  gsize n_plain = g_bytes_get_size(plain), n = g_bytes_get_size(full);
  for (gsize end = n_plain - 200; end < n; end += 7) {
    g_autoptr(GBytes) cut = g_bytes_new_from_bytes(full, 0, end);
    g_assert_false(has_usable_table(cut));
    td_tape *tape = open_bytes(cut);
    g_assert_nonnull(td_tape_info_get(tape)->damage);
    td_tape_close(tape);
  }
}

/* A killed program's tape gets a table too, and still says that it was not ended. */
static void
test_cut_off(void) {
  g_autoptr(GBytes) plain = make_plain(3);
  gsize n = g_bytes_get_size(plain);
  for (gsize end = n / 2; end < n; end += n / 60) {
    g_autoptr(GBytes) cut = g_bytes_new_from_bytes(plain, 0, end);
    g_autoptr(GBytes) full = add_table(cut), again = add_table(full);
    g_assert_true(has_usable_table(full));
    g_assert_true(g_bytes_equal(full, again));
    td_tape *a = open_bytes(cut), *b = open_bytes(full);
    assert_same_info(td_tape_info_get(a), td_tape_info_get(b));
    g_assert_false(td_tape_info_get(b)->complete);
    g_assert_nonnull(strstr(td_tape_info_get(b)->damage, "was not ended"));
    for (uint64_t seq = 0; seq < td_tape_info_get(a)->n_events; seq++)
      assert_same_event(a, b, seq);
    td_tape_close(a);
    td_tape_close(b);
  }
}

/* The tape with other bytes in its list of chunks, or without one. */
static GBytes *
replace_list(GBytes *full, const td_chunk_bytes *raw) {
  gsize n;
  const unsigned char *at = g_bytes_get_data(full, &n);
  const unsigned char mark[] = {'C', 'H', 'N', 'K', TD_CHUNK_LIST, 0, 0, 0};
  const unsigned char *list = memmem(at, n, mark, sizeof mark);
  g_assert_nonnull(list);
  td_chunk_bytes made = {0};
  td_chunk_header header;
  memcpy(&header, list, sizeof header);
  td_chunk_bytes_put(&made, at, (size_t)(list - at));
  if (raw) g_assert_true(td_chunk_bytes_put_chunk(&made, &header, raw->bytes, raw->n));
  td_chunk_bytes_put(&made, at + n - sizeof(td_trailer), sizeof(td_trailer));
  GBytes *bytes = g_bytes_new(made.bytes, made.n);
  td_chunk_bytes_fini(&made);
  return bytes;
}

/* What the tape's list has, or nothing. */
static td_chunk_list
load_list(GBytes *bytes) {
  g_autofree char *path = store(bytes);
  gsize n;
  const char *at = g_bytes_get_data(bytes, &n);
  td_chunk_list list;
  td_tape_file file;
  td_trailer trailer;
  memcpy(&trailer, at + n - sizeof trailer, sizeof trailer);
  g_assert_cmpint(td_tape_file_open(path, &file, NULL), ==, TD_OK);
  td_chunk_list_load(&list, &file, trailer.index_offset);
  td_tape_file_close(&file);
  g_unlink(path);
  return list;
}

static void
test_list(void) {
  g_autoptr(GBytes) plain = make_plain(2), full = add_table(plain);
  g_autoptr(GBytes) without = replace_list(full, NULL);
  td_chunk_list list = load_list(full), none = load_list(without);
  g_assert_cmpuint(list.n, >, 4);
  g_assert_cmpuint(none.n, ==, 0);
  td_tape *a = open_bytes(without), *b = open_bytes(full);
  assert_same_info(td_tape_info_get(a), td_tape_info_get(b));
  for (uint64_t seq = 0; seq < td_tape_info_get(a)->n_events; seq++)
    assert_same_event(a, b, seq);
  td_tape_close(a);
  td_tape_close(b);
  td_chunk_list_fini(&list);
}

/* The checksums hold, but not what the list says of a chunk. */
static void
test_list_lies(void) {
  g_autoptr(GBytes) plain = make_plain(4), full = add_table(plain);
  td_tape *tape = open_bytes(full);
  uint64_t n_real = td_tape_info_get(tape)->n_events;
  td_tape_close(tape);
  td_chunk_list list = load_list(full);
  td_chunk_bytes raw = {0};
  td_chunk_list_encode(&list, &raw);
  unsigned n_hiding = 0, n_used = 0, n_silent = 0;
  bool is_told;
  for (size_t i = 0; i < raw.n; i++) {
    raw.bytes[i] ^= i % 3 ? 1 : 0x28;
    g_autoptr(GBytes) bytes = replace_list(full, &raw);
    td_chunk_list lie = load_list(bytes);
    n_used += lie.n > 0;
    n_hiding += !survives(bytes, n_real, &is_told);
    n_silent += !is_told;
    td_chunk_list_fini(&lie);
    raw.bytes[i] ^= i % 3 ? 1 : 0x28;
  }
  g_assert_cmpuint(n_used, >, 0);
  g_assert_cmpuint(n_used, <, raw.n);
  g_assert_cmpuint(n_hiding, >, 0);
  g_assert_cmpuint(n_silent, <, list.n); /* as if the tape lacked that chunk */
  td_chunk_list_fini(&list);
  td_chunk_bytes_fini(&raw);
}

/* The list spares the reader the header of each chunk. So an error there comes when the chunk is
 * read: it is the chunk's, and not one of the whole file. */
static void
test_list_is_enough(void) {
  g_autoptr(GBytes) plain = make_plain(6), full = add_table(plain);
  td_chunk_list list = load_list(full);
  uint64_t offset = sizeof(td_tape_header);
  for (size_t i = 0; i < list.n / 2; i++)
    offset += sizeof(td_chunk_header) + list.rows[i].header.stored_bytes;
  gsize n;
  unsigned char *copy = g_bytes_unref_to_data(g_bytes_ref(full), &n);
  copy[offset + offsetof(td_chunk_header, first_ticks)] ^= 0x55;
  g_autoptr(GBytes) bytes = g_bytes_new_take(copy, n);
  td_tape *tape = open_bytes(bytes);
  uint64_t n_by_kind[TD_EVENT_LIMIT];
  g_assert_null(td_tape_info_get(tape)->damage);
  count_events(tape, n_by_kind);
  g_assert_nonnull(strstr(td_tape_info_get(tape)->damage, "is damaged"));
  g_assert_cmpint(td_tape_check_readable(tape, NULL), ==, TD_OK);
  td_tape_close(tape);
  td_chunk_list_fini(&list);
}

static void
test_no_room(void) {
  g_autoptr(GBytes) plain = make_plain(9);
  g_autofree char *path = store(plain);
  struct rlimit before, tight;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  tight = (struct rlimit){g_bytes_get_size(plain) + 10, before.rlim_max};
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &tight), ==, 0);
  td_status status = td_contents_add(path, NULL);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
  g_assert_cmpint(status, ==, TD_IO);
  g_autoptr(GBytes) after = load(path);
  g_assert_true(g_bytes_equal(plain, after));
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/contents/says-the-same", test_says_the_same);
  g_test_add_func("/contents/lies", test_lies);
  g_test_add_func("/contents/damage", test_damage);
  g_test_add_func("/contents/cut", test_cut);
  g_test_add_func("/contents/cut-off", test_cut_off);
  g_test_add_func("/contents/no-room", test_no_room);
  g_test_add_func("/contents/list", test_list);
  g_test_add_func("/contents/list-lies", test_list_lies);
  g_test_add_func("/contents/list-is-enough", test_list_is_enough);
  return g_test_run();
}
