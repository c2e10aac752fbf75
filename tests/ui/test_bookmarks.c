/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bookmarks: what random changes leave is what another window finds, for a copy of the tape too.
 * Windows of one tape keep each other's. Dumps of one program are apart. */
#include "engine/trace/maker.h"
#include "tests/fixtures/isolated_dirs.h"
#include "tests/ui/model_fixture.h"
#include "ui/model/playhead/bookmarks.h"

#include <glib/gstdio.h>
#include <unistd.h>

enum { N_CHANGES = 300, N_PLACES = 40 };

typedef struct Told {
  gboolean is_there;
  char note[32];
} Told;

static void
change(TdBookmarks *bookmarks, TdPlayhead *playhead, GRand *random, Told *told) {
  uint64_t position = (uint64_t)g_rand_int_range(random, 0, N_PLACES);
  Told *one = &told[position];
  td_playhead_set_position(playhead, position);
  switch (g_rand_int_range(random, 0, 3)) {
  case 0:
    g_assert_cmpuint(td_bookmarks_add(bookmarks), ==, position);
    if (!one->is_there) *one = (Told){TRUE, ""};
    break;
  case 1:
    td_bookmarks_remove(bookmarks, position);
    one->is_there = FALSE;
    break;
  default:
    if (one->is_there)
      g_snprintf(one->note, sizeof one->note, "[%u]\n= é;", g_rand_int(random) % 1000);
    td_bookmarks_set_note(bookmarks, position, one->note);
  }
}

static void
check(TdBookmarks *bookmarks, const Told *told) {
  guint n, i = 0;
  const TdBookmark *found = td_bookmarks_get(bookmarks, &n);
  for (uint64_t position = 0; position < N_PLACES; position++) {
    if (!told[position].is_there) continue;
    g_assert_cmpuint(i, <, n);
    g_assert_cmpuint(found[i].position, ==, position);
    g_assert_cmpstr(found[i].note, ==, told[position].note);
    i++;
  }
  g_assert_cmpuint(i, ==, n);
}

static void
check_copy(td_model_fixture *self, const Told *told) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(self->folder, "copy.tape", NULL);
  g_autoptr(GFile) from = g_file_new_for_path(self->path), to = g_file_new_for_path(path);
  g_assert_true(g_file_copy(from, to, G_FILE_COPY_NONE, NULL, NULL, NULL, &error));
  g_autoptr(TdDocument) document = td_document_new(path);
  g_assert_true(td_load_document(document, &error));
  g_autoptr(TdPlayhead) playhead = td_playhead_new();
  td_playhead_set_document(playhead, document);
  g_autoptr(TdBookmarks) bookmarks = td_bookmarks_new(playhead);
  if (td_document_get_info(document)->started_ns) check(bookmarks, told);
  g_unlink(path);
}

static void
test_kept(td_model_fixture *self, gconstpointer data) {
  g_autoptr(GRand) random = g_rand_new_with_seed(11);
  g_autoptr(TdBookmarks) bookmarks = td_bookmarks_new(self->playhead);
  Told told[N_PLACES] = {0};
  check(bookmarks, told);
  for (int i = 0; i < N_CHANGES; i++) {
    change(bookmarks, self->playhead, random, told);
    check(bookmarks, told);
    if (i % 20) continue;
    g_autoptr(TdBookmarks) later = td_bookmarks_new(self->playhead);
    check(later, told);
  }
  check_copy(self, told);
}

/* Two windows change one list by turns. Each sees the other's changes with its next. */
static void
test_two_windows(td_model_fixture *self, gconstpointer data) {
  g_autoptr(GRand) random = g_rand_new_with_seed(12);
  g_autoptr(TdBookmarks) first = td_bookmarks_new(self->playhead);
  g_autoptr(TdBookmarks) second = td_bookmarks_new(self->playhead);
  Told told[N_PLACES] = {0};
  for (int i = 0; i < N_CHANGES; i++) {
    TdBookmarks *one = g_rand_boolean(random) ? first : second;
    uint64_t beyond = N_PLACES + (uint64_t)i % 2;
    td_playhead_set_position(self->playhead, beyond);
    td_bookmarks_add(one); /* it sees what the other did */
    td_bookmarks_remove(one, beyond);
    change(one, self->playhead, random, told);
    check(one, told);
  }
}

static void
add_at(td_model_fixture *self, TdBookmarks *bookmarks, uint64_t position) {
  td_playhead_set_position(self->playhead, position);
  td_bookmarks_add(bookmarks);
}

/* The last bookmark that a window knows is not the last one of the file. */
static void
test_remove_apart(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdBookmarks) first = td_bookmarks_new(self->playhead);
  g_autoptr(TdBookmarks) second = td_bookmarks_new(self->playhead);
  Told told[N_PLACES] = {[5] = {TRUE, ""}};
  add_at(self, first, 2);
  add_at(self, second, 5);
  td_bookmarks_remove(first, 2);
  check(first, told);
  g_autoptr(TdBookmarks) later = td_bookmarks_new(self->playhead);
  check(later, told);
}

/* A dump of a program that began at a time. */
static void
make_dump(const char *path, uint64_t started_ns, uint32_t n_events) {
  td_maker *maker;
  g_assert_cmpint(td_maker_open(path, true, 0, started_ns, &maker, NULL), ==, TD_OK);
  for (uint32_t i = 0; i < n_events; i++)
    TD_MAKE(maker, 0, i, node_free, .node = i);
  g_assert_cmpint(td_maker_close(maker, NULL), ==, TD_OK);
}

/* As a program that still runs leaves it: without an index. */
static void
cut_end(const char *path) {
  GStatBuf info;
  g_assert_cmpint(g_stat(path, &info), ==, 0);
  g_assert_cmpint(truncate(path, info.st_size - 8), ==, 0);
}

static void
show(td_model_fixture *self, const char *path, gboolean is_complete) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TdDocument) document = td_document_new(path);
  td_load_document(document, &error);
  g_assert_no_error(error);
  g_assert_true(td_document_get_info(document)->complete == is_complete);
  td_playhead_set_document(self->playhead, document);
}

/* Dumps of one program are apart. */
static void
test_dumps(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = g_build_filename(self->folder, "dump.tape", NULL);
  g_autoptr(TdBookmarks) bookmarks = td_bookmarks_new(self->playhead);
  const Told none[N_PLACES] = {0}, one[N_PLACES] = {[2] = {TRUE, ""}};
  make_dump(path, 1000, 10);
  show(self, path, TRUE);
  add_at(self, bookmarks, 2);
  make_dump(path, 1000, 12);
  show(self, path, TRUE);
  check(bookmarks, none);
  make_dump(path, 1001, 10);
  show(self, path, TRUE);
  check(bookmarks, none);
  make_dump(path, 1000, 10);
  show(self, path, TRUE);
  check(bookmarks, one);
  g_unlink(path);
}

/* A tape that grows keeps its bookmarks, when it has ended too. */
static void
test_growing(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = g_build_filename(self->folder, "growing.tape", NULL);
  g_autoptr(TdBookmarks) bookmarks = td_bookmarks_new(self->playhead);
  Told told[N_PLACES] = {0};
  for (uint32_t n_events = 8; n_events < 12; n_events++) {
    gboolean has_ended = n_events == 11;
    make_dump(path, 2000, n_events);
    if (!has_ended) cut_end(path);
    show(self, path, has_ended);
    check(bookmarks, told);
    add_at(self, bookmarks, n_events - 4);
    told[n_events - 4].is_there = TRUE;
    check(bookmarks, told);
  }
  g_autoptr(TdBookmarks) later = td_bookmarks_new(self->playhead);
  check(later, told);
  g_unlink(path);
}

/* The one file of bookmarks. */
static char *
find_file(void) {
  g_autofree char *folder = g_build_filename(g_get_user_data_dir(), "tapedeck", NULL);
  g_autoptr(GDir) names = g_dir_open(folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(names));)
    if (g_str_has_suffix(name, ".bookmarks")) return g_build_filename(folder, name, NULL);
  g_assert_not_reached();
}

static void
check_text(const char *path, const char *wanted) {
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, wanted);
}

/* A file that nobody can read is put aside, whole, whenever a window meets it. */
static void
test_broken(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdBookmarks) open = td_bookmarks_new(self->playhead);
  const Told none[N_PLACES] = {0}, one[N_PLACES] = {[3] = {TRUE, ""}};
  add_at(self, open, 1);
  g_autofree char *path = find_file(), *broken = g_strconcat(path, ".broken", NULL);
  g_assert_true(g_file_set_contents(path, "first", -1, NULL));
  g_autoptr(TdBookmarks) bookmarks = td_bookmarks_new(self->playhead);
  check(bookmarks, none);
  check_text(broken, "first");
  g_assert_true(g_file_set_contents(path, "second", -1, NULL));
  add_at(self, bookmarks, 3);
  check(bookmarks, one);
  check_text(broken, "second");
  g_autoptr(TdBookmarks) later = td_bookmarks_new(self->playhead);
  check(later, one);
}

static void
hear(TdPlayhead *playhead, const char *text, gpointer data) {
  ++*(int *)data;
}

/* A folder has the name of the file, and another one the name to put it aside. */
static void
block(const char *path) {
  g_autofree char *inside = g_build_filename(path, "x", NULL);
  g_assert_cmpint(g_mkdir_with_parents(inside, 0700), ==, 0);
}

static void
unblock(const char *path) {
  g_autofree char *inside = g_build_filename(path, "x", NULL);
  g_rmdir(inside);
  g_assert_cmpint(g_rmdir(path), ==, 0);
}

/* What cannot be saved is told, stays in the list, and is saved with the next change. */
static void
test_unsaved(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdBookmarks) bookmarks = td_bookmarks_new(self->playhead);
  const Told told[N_PLACES] = {[1] = {TRUE, ""}, [2] = {TRUE, ""}};
  int n_said = 0;
  add_at(self, bookmarks, 9);
  g_autofree char *path = find_file(), *broken = g_strconcat(path, ".broken", NULL);
  td_bookmarks_remove(bookmarks, 9);
  block(path);
  block(broken);
  g_signal_connect(self->playhead, "message", G_CALLBACK(hear), &n_said);
  add_at(self, bookmarks, 1);
  g_assert_cmpint(n_said, ==, 1);
  unblock(path);
  add_at(self, bookmarks, 2);
  g_assert_cmpint(n_said, ==, 1);
  check(bookmarks, told);
  g_autoptr(TdBookmarks) later = td_bookmarks_new(self->playhead);
  check(later, told);
  unblock(broken);
}

/* From bookmark to bookmark, forward and back, each once. */
static void
test_go(td_model_fixture *self, gconstpointer data) {
  static const uint64_t places[] = {0, 3, 17, 30};
  g_autoptr(TdBookmarks) bookmarks = td_bookmarks_new(self->playhead);
  for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
    td_playhead_set_position(self->playhead, places[i]);
    td_bookmarks_add(bookmarks);
  }
  for (guint i = G_N_ELEMENTS(places) - 1; i > 0; i--) {
    g_assert_true(td_bookmarks_go(bookmarks, -1));
    g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, places[i - 1]);
  }
  g_assert_false(td_bookmarks_go(bookmarks, -1));
  for (guint i = 1; i < G_N_ELEMENTS(places); i++) {
    g_assert_true(td_bookmarks_go(bookmarks, 1));
    g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, places[i]);
  }
  g_assert_false(td_bookmarks_go(bookmarks, 1));
}

#define ADD(path, test)                                                                            \
  g_test_add(path, td_model_fixture, NULL, td_model_fixture_set_up, test,                          \
             td_model_fixture_tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  ADD("/ui/bookmarks/kept", test_kept);
  ADD("/ui/bookmarks/two-windows", test_two_windows);
  ADD("/ui/bookmarks/remove-apart", test_remove_apart);
  ADD("/ui/bookmarks/dumps", test_dumps);
  ADD("/ui/bookmarks/growing", test_growing);
  ADD("/ui/bookmarks/broken", test_broken);
  ADD("/ui/bookmarks/unsaved", test_unsaved);
  ADD("/ui/bookmarks/go", test_go);
  return g_test_run();
}
