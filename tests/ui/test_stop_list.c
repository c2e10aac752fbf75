/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of stops and runs between them: forwards and back over the same places; the list is the
 * same when the tape is opened again. */
#include "engine/control/line.h"
#include "engine/profile/stops/stop_search.h"
#include "tests/fixtures/isolated_dirs.h"
#include "tests/ui/model_fixture.h"
#include "ui/model/live/stop_list.h"
#include "ui/model/live/stop_run.h"

#include <glib/gstdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A run ends with a move, or with a word for the person. */
static char *said;

static void
hear(TdPlayhead *playhead, const char *text) {
  g_free(said);
  said = g_strdup(text);
}

static void
run(TdStopRun *run, int direction) {
  g_clear_pointer(&said, g_free);
  td_stop_run_start(run, direction, FALSE);
  while (td_stop_run_is_busy(run))
    g_main_context_iteration(NULL, TRUE);
  g_assert_nonnull(said);
}

static GArray *
list_begins(td_model_fixture *self, uint32_t node) {
  GArray *places = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint64_t seq = 0; seq < td_playhead_get_length(self->playhead); seq++) {
    td_any_event event = td_model_fixture_event(self, seq);
    if (event.event.kind == TD_EVENT_node_begin && event.node_begin.node == node)
      g_array_append_val(places, seq);
  }
  return places;
}

static uint64_t
place(GArray *places, guint i) {
  return g_array_index(places, uint64_t, i) + 1;
}

static void
test_run(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  g_autoptr(TdStopRun) runs = td_stop_run_new(self->playhead, stops);
  g_autoptr(GArray) places = list_begins(self, 3);
  g_assert_cmpuint(places->len, >, 1);
  g_signal_connect(self->playhead, "message", G_CALLBACK(hear), NULL);
  td_playhead_set_position(self->playhead, 0);
  run(runs, 1); /* no stop is set */
  g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, 0);
  g_assert_true(td_stop_list_add(stops, "node:3", NULL));
  for (guint i = 0; i < places->len; i++) {
    run(runs, 1);
    g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, place(places, i));
    g_assert_cmpuint(td_playhead_get_selection(self->playhead), ==, 3);
    g_assert_cmpstr(said, ==, "Stopped on node:3");
  }
  run(runs, 1);
  g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, place(places, places->len - 1));
  for (guint i = places->len - 1; i-- > 0;) {
    run(runs, -1);
    g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, place(places, i));
  }
  run(runs, -1);
  g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, place(places, 0));
  td_stop_set_enabled(td_stop_list_find(stops, "node:3"), FALSE);
  run(runs, 1);
  g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, place(places, 0));
}

/* Whoever moves meanwhile stays where they are. */
static void
test_moved_meanwhile(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  g_autoptr(TdStopRun) runs = td_stop_run_new(self->playhead, stops);
  g_assert_true(td_stop_list_add(stops, "node:3", NULL));
  td_playhead_set_position(self->playhead, 0);
  td_stop_run_start(runs, 1, FALSE);
  g_assert_true(td_stop_run_is_busy(runs));
  td_playhead_set_position(self->playhead, 7);
  g_assert_false(td_stop_run_is_busy(runs));
  for (int i = 0; i < 20; i++) {
    g_usleep(5000);
    g_main_context_iteration(NULL, FALSE);
  }
  g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, 7);
}

static void
wait_for_hits(TdStop *stop) {
  while (td_stop_get_hits(stop) < 0)
    g_main_context_iteration(NULL, TRUE);
}

static void
test_list(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  g_autoptr(GArray) places = list_begins(self, 5);
  g_autoptr(GError) error = NULL;
  g_assert_false(td_stop_list_add(stops, "node:many", &error));
  g_assert_nonnull(error);
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(stops)), ==, 0);
  g_assert_true(td_stop_list_add(stops, "node:5", NULL));
  g_assert_true(td_stop_list_add(stops, "node:5", NULL));
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(stops)), ==, 1);
  TdStop *stop = td_stop_list_find(stops, "node:5");
  wait_for_hits(stop);
  g_assert_cmpint(td_stop_get_hits(stop), ==, places->len);
  guint n;
  const uint32_t *nodes = td_stop_list_get_nodes(stops, &n);
  g_assert_cmpuint(n, ==, 1);
  g_assert_cmpuint(nodes[0], ==, 5);
  td_stop_set_enabled(stop, FALSE);
  td_stop_list_get_nodes(stops, &n);
  g_assert_cmpuint(n, ==, 0);
}

/* Patterns mark all that they mean. */
static void
test_marks(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  const td_catalog *catalog = td_document_get_catalog(self->document);
  td_stop_list_set(stops, "op:Acc*", TRUE);
  guint n, wanted = 0;
  td_stop_list_get_nodes(stops, &n);
  for (uint32_t i = 0; i < catalog->n_nodes; i++)
    wanted += g_str_has_prefix(catalog->node_rows[i].name, "Acc");
  g_assert_cmpuint(wanted, >, 0);
  g_assert_cmpuint(n, ==, wanted);
}

static void
test_kept(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdStopList) first = td_stop_list_new(self->playhead);
  td_stop_list_add(first, "node:1", NULL);
  td_stop_list_add(first, "op:A;b[c]\\d", NULL);
  td_stop_list_add(first, "nan", NULL);
  td_stop_set_enabled(td_stop_list_find(first, "nan"), FALSE);
  td_stop_list_remove(first, td_stop_list_find(first, "node:1"));
  g_autoptr(TdStopList) again = td_stop_list_new(self->playhead);
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(again)), ==, 2);
  g_assert_true(td_stop_list_is_on(again, "op:A;b[c]\\d"));
  g_assert_nonnull(td_stop_list_find(again, "nan"));
  g_assert_false(td_stop_list_is_on(again, "nan"));
}

static char *
dup_file(const char *end) {
  g_autofree char *name = g_strconcat("stops.ini", end, NULL);
  return g_build_filename(g_get_user_config_dir(), "tapedeck", name, NULL);
}

/* A file that nobody can read is put aside, whole. */
static void
test_broken(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = dup_file(""), *broken = dup_file(".broken"), *text = NULL;
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  g_assert_true(td_stop_list_add(stops, "node:1", NULL));
  g_assert_true(g_file_set_contents(path, "[stops", -1, NULL));
  g_assert_true(td_stop_list_add(stops, "node:2", NULL));
  g_assert_true(g_file_get_contents(broken, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, "[stops");
  g_autoptr(TdStopList) again = td_stop_list_new(self->playhead);
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(again)), ==, 2);
}

/* The folder's name is that of a file. */
static void
test_unsaved(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = dup_file(""), *folder = g_path_get_dirname(path);
  g_autofree char *above = g_path_get_dirname(folder);
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  g_mkdir_with_parents(above, 0700);
  g_assert_true(g_file_set_contents(folder, "", -1, NULL));
  g_clear_pointer(&said, g_free);
  g_signal_connect(self->playhead, "message", G_CALLBACK(hear), NULL);
  g_assert_true(td_stop_list_add(stops, "node:1", NULL));
  g_assert_nonnull(said);
  g_assert_true(g_str_has_prefix(said, "The stops are not kept: "));
  g_assert_true(td_stop_list_is_on(stops, "node:1"));
}

enum { N_TOO_MANY = TD_STOPS_MAX + 20 };

static void
check_full(TdStopList *stops) {
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(stops)), ==, TD_STOPS_MAX);
}

/* A file that a person wrote has too many stops. */
static void
test_full_file(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  g_autofree char *path = dup_file(""), *text = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(td_stop_list_add(stops, "node:0", NULL));
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(GString) more = g_string_new(text);
  for (int i = 1; i < N_TOO_MANY; i++)
    g_string_append_printf(more, i == 1 ? "off=node:%d;" : "node:%d;", i);
  g_assert_true(g_file_set_contents(path, more->str, -1, NULL));
  g_autoptr(TdStopList) again = td_stop_list_new(self->playhead);
  check_full(again);
  g_assert_false(td_stop_list_add(again, "nan", &error));
  g_assert_nonnull(error);
  check_full(again);
}

/* A hub without a program: what it says comes from the test. */
static TdLiveSession *
meet_hub(const char *path, int *fd) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_autoptr(GError) error = NULL;
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  g_assert_cmpint(bind(listening, (struct sockaddr *)&address, sizeof address), ==, 0);
  g_assert_cmpint(listen(listening, 1), ==, 0);
  TdLiveSession *session = td_live_session_new(path, 1, &error);
  g_assert_no_error(error);
  *fd = accept(listening, NULL, NULL);
  close(listening);
  return session;
}

static void
tell_condition(int fd, int node) {
  g_autofree char *condition = g_strdup_printf("node:%d", node);
  td_line_text text;
  td_line_begin(&text, "gate");
  td_line_add_number(&text, "pid", 1);
  td_line_add(&text, "break", condition);
  g_assert_cmpint(write(fd, text.bytes, text.n_bytes), ==, text.n_bytes);
  td_line_text_fini(&text);
}

/* A program stops on more than the list has room for. The window says so. */
static void
test_full_program(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = g_build_filename(self->folder, "hub", NULL);
  g_autofree char *last = g_strdup_printf("node:%d", N_TOO_MANY - 1);
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  int fd;
  g_autoptr(TdLiveSession) session = meet_hub(path, &fd);
  g_clear_pointer(&said, g_free);
  g_signal_connect(self->playhead, "message", G_CALLBACK(hear), NULL);
  td_stop_list_set_session(stops, session);
  for (int i = 0; i < N_TOO_MANY; i++)
    tell_condition(fd, i);
  while (!td_live_session_has_condition(session, last))
    g_main_context_iteration(NULL, TRUE);
  check_full(stops);
  g_assert_cmpstr(said, ==, "There can be 64 stops at most");
  close(fd);
  g_unlink(path);
}

/* What the window said to the hub since the last time. */
static char *
hear_window(int fd) {
  char bytes[4096];
  ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
  return g_strndup(bytes, n > 0 ? (gsize)n : 0);
}

static void
tell(int fd, TdLiveSession *session, const char *line, TdLiveState wanted) {
  g_assert_cmpint(write(fd, line, strlen(line)), ==, (ssize_t)strlen(line));
  while (td_live_session_get_state(session) != wanted)
    g_main_context_iteration(NULL, TRUE);
}

static void
leave_hub(int fd, const char *path) {
  close(fd);
  g_unlink(path);
}

/* The window leaves a tape with stops for a program. They are not the program's, unless it has that
 * tape. */
static void
test_other_tape(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = g_build_filename(self->folder, "hub", NULL);
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  int fd;
  g_assert_true(td_stop_list_add(stops, "node:1", NULL));
  td_playhead_set_document(self->playhead, NULL);
  g_autoptr(TdLiveSession) session = meet_hub(path, &fd);
  td_stop_list_set_session(stops, session);
  g_autofree char *first = hear_window(fd);
  g_assert_cmpstr(first, ==, "view pid=1\n");
  td_playhead_set_document(self->playhead, self->document);
  g_autofree char *then = hear_window(fd);
  g_assert_cmpstr(then, ==, "break add=node:1 pid=1\n");
  leave_hub(fd, path);
}

/* A program that somebody let go hears of the stops when it is taken back. */
static void
test_released(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = g_build_filename(self->folder, "hub", NULL);
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  int fd;
  g_assert_true(td_stop_list_add(stops, "node:1", NULL));
  g_autoptr(TdLiveSession) session = meet_hub(path, &fd);
  tell(fd, session, "target pid=1 live=1\ngate pid=1 paused=0\n", TD_LIVE_DETACHED);
  td_stop_list_set_session(stops, session);
  g_autofree char *first = hear_window(fd);
  g_assert_cmpstr(first, ==, "view pid=1\n");
  tell(fd, session, "gate pid=1 paused=1\n", TD_LIVE_RUNNING);
  g_autofree char *then = hear_window(fd);
  g_assert_cmpstr(then, ==, "break add=node:1 pid=1\n");
  leave_hub(fd, path);
}

/* A program that was recorded without --live stops on nothing. */
static void
test_watched(td_model_fixture *self, gconstpointer data) {
  g_autofree char *path = g_build_filename(self->folder, "hub", NULL);
  g_autoptr(TdStopList) stops = td_stop_list_new(self->playhead);
  int fd;
  g_assert_true(td_stop_list_add(stops, "node:1", NULL));
  TdStop *stop = td_stop_list_find(stops, "node:1");
  g_autoptr(TdLiveSession) session = meet_hub(path, &fd);
  td_stop_list_set_session(stops, session);
  g_assert_null(td_stop_list_get_note(stops, stop));
  tell(fd, session, "target pid=1 live=0\n", TD_LIVE_WATCHED);
  g_assert_cmpstr(td_stop_list_get_note(stops, stop), ==,
                  "On the tape only: the program cannot stop on it");
  tell(fd, session, "over pid=1\n", TD_LIVE_ENDED);
  g_assert_null(td_stop_list_get_note(stops, stop));
  leave_hub(fd, path);
}

#define ADD(path, test)                                                                            \
  g_test_add(path, td_model_fixture, NULL, td_model_fixture_set_up, test,                          \
             td_model_fixture_tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  ADD("/ui/stops/run", test_run);
  ADD("/ui/stops/moved-meanwhile", test_moved_meanwhile);
  ADD("/ui/stops/list", test_list);
  ADD("/ui/stops/marks", test_marks);
  ADD("/ui/stops/kept", test_kept);
  ADD("/ui/stops/broken", test_broken);
  ADD("/ui/stops/unsaved", test_unsaved);
  ADD("/ui/stops/full-file", test_full_file);
  ADD("/ui/stops/full-program", test_full_program);
  ADD("/ui/stops/other-tape", test_other_tape);
  ADD("/ui/stops/released", test_released);
  ADD("/ui/stops/watched", test_watched);
  return g_test_run();
}
