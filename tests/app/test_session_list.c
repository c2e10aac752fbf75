/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of programs that are being recorded, with a real hub and with things that look like one.
 */
#include "app/common/paths.h"
#include "app/session/hub.h"
#include "app/session/session_list.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NOBODY 65534
#define SLOWEST_US (10 * G_USEC_PER_SEC)

typedef struct fixture {
  char *runtime; /* (owned) folder: the first place of sessions */
  td_hub *hub;   /* (owned) */
} fixture;

/* The second place: nothing is there. */
const char *
td_path_cache(void) {
  return "/nonexistent/tapedeck";
}

static void
hello_cb(td_hub_target *target, const td_line *hello, void *data) {
  td_line_text answer;
  td_line_begin(&answer, "record");
  td_hub_target_answer(target, &answer);
  td_line_text_fini(&answer);
}

static void
set_up(fixture *self, gconstpointer data) {
  char *problem = NULL;
  const td_hub_owner owner = {.hello = hello_cb};
  self->runtime = g_dir_make_tmp("tapedeck-test-XXXXXX", NULL);
  g_setenv("XDG_RUNTIME_DIR", self->runtime, TRUE);
  self->hub = td_hub_new(&owner, &problem);
  g_assert_cmpstr(problem, ==, NULL);
}

static void
tear_down(fixture *self, gconstpointer data) {
  td_hub_free(self->hub);
  g_assert_cmpint(g_rmdir(self->runtime), ==, 0);
  g_free(self->runtime);
}

static void
serve(void) {
  while (g_main_context_iteration(NULL, FALSE))
    continue;
}

static int
call(const char *path, const char *words) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  g_assert_cmpint(connect(fd, (void *)&address, sizeof address), ==, 0);
  g_assert_cmpint(write(fd, words, strlen(words)), ==, (ssize_t)strlen(words));
  serve();
  return fd;
}

/* A program with one of its sentences after its hello. */
static int
join(fixture *self, int pid, const char *words) {
  g_autofree char *hello = g_strdup_printf("hello pid=%d\n%s", pid, words);
  return call(td_hub_get_path(self->hub), hello);
}

static char *
hear_all(int fd) {
  char bytes[8192];
  serve();
  ssize_t n = recv(fd, bytes, sizeof bytes - 1, MSG_DONTWAIT);
  return g_strndup(bytes, n > 0 ? (gsize)n : 0);
}

static void
listed(GObject *source, GAsyncResult *result, gpointer data) {
  *(GPtrArray **)data = td_session_list_finish(result, NULL);
}

/* Other sessions of this user may be under way: only those of the test's folder count. */
static GPtrArray *
list(fixture *self) {
  GPtrArray *programs = NULL;
  gint64 begin = g_get_monotonic_time();
  td_session_list_async(NULL, listed, &programs);
  while (!programs)
    g_main_context_iteration(NULL, TRUE);
  g_assert_cmpint(g_get_monotonic_time() - begin, <, SLOWEST_US);
  for (guint i = programs->len; i-- > 0;) {
    const td_session_program *program = programs->pdata[i];
    if (!g_str_has_prefix(program->session, self->runtime)) g_ptr_array_remove_index(programs, i);
  }
  return programs;
}

static const td_session_program *
find(const GPtrArray *programs, guint pid) {
  for (guint i = 0; i < programs->len; i++)
    if (((td_session_program *)programs->pdata[i])->pid == pid) return programs->pdata[i];
  return NULL;
}

static void
test_nobody(fixture *self, gconstpointer data) {
  g_autoptr(GPtrArray) programs = list(self);
  g_assert_cmpuint(programs->len, ==, 0);
}

/* Several processes of one session are entries of their own. */
static void
test_targets(fixture *self, gconstpointer data) {
  int fds[] = {join(self, (int)getpid(),
                    "gate paused=1\ntape path=/a%20b.tape\nstopped thread=1\nstopped thread=2\n"),
               join(self, 1, "tape path=/deaf.tape\n"), join(self, 999999999, ""),
               join(self, 999999998, "gate paused=0\ntape path=/gone.tape\n")};
  close(fds[3]);
  serve();
  g_autoptr(GPtrArray) programs = list(self);
  g_assert_cmpuint(programs->len, ==, 3);
  const td_session_program *own = find(programs, (guint)getpid()), *deaf = find(programs, 1);
  g_assert_cmpstr(own->tape, ==, "/a b.tape");
  g_assert_cmpstr(own->session, ==, td_hub_get_path(self->hub));
  g_assert_nonnull(strstr(own->command, "test_session_list"));
  g_assert_cmpint(own->seconds, >=, 0);
  g_assert_cmpint(own->seconds, <=, deaf->seconds);
  g_assert_true(own->can_stop);
  g_assert_cmpuint(own->n_stopped, ==, 2);
  g_assert_cmpstr(deaf->tape, ==, "/deaf.tape");
  g_assert_false(deaf->can_stop);
  const td_session_program *last = programs->pdata[2]; /* no such process here */
  g_assert_cmpuint(last->pid, ==, 999999999);
  g_assert_null(last->tape);
  g_assert_null(last->command);
  g_assert_cmpint(last->seconds, ==, -1);
  for (int i = 0; i < 3; i++)
    close(fds[i]);
  serve();
}

/* A program without a gate never reads what a viewer says. One with a gate does. */
static void
test_deaf(fixture *self, gconstpointer data) {
  int deaf = join(self, 1, "tape path=/deaf.tape\n");
  int live = join(self, 2, "gate paused=0\ntape path=/live.tape\n");
  int viewers[] = {call(td_hub_get_path(self->hub), "view pid=1\npause pid=1\n"),
                   call(td_hub_get_path(self->hub), "view pid=2\npause pid=2\n")};
  g_autofree char *told = hear_all(viewers[0]);
  g_assert_nonnull(strstr(told, "target pid=1 path=/deaf.tape live=0 stopped=0\n"));
  g_assert_nonnull(strstr(told, "target pid=2 path=/live.tape live=1 stopped=0\n"));
  g_assert_true(td_hub_is_viewed(self->hub, 2));
  close(viewers[0]);
  close(viewers[1]);
  g_autofree char *to_deaf = hear_all(deaf), *to_live = hear_all(live);
  g_assert_cmpstr(to_deaf, ==, "record\n");
  g_assert_cmpstr(to_live, ==, "record\npause pid=2\ndetach\n");
  g_assert_false(td_hub_is_viewed(self->hub, 2));
  close(deaf);
  close(live);
  serve();
}

/* Whoever leaves, the program stays with those who still look. */
static void
test_two_viewers(fixture *self, gconstpointer data) {
  int live = join(self, 2, "gate paused=1\ntape path=/live.tape\n");
  int first = call(td_hub_get_path(self->hub), "view pid=2\n");
  int second = call(td_hub_get_path(self->hub), "view pid=2\n");
  close(first);
  g_autofree char *with_one = hear_all(live);
  g_assert_cmpstr(with_one, ==, "record\n");
  close(second);
  g_autofree char *alone = hear_all(live);
  g_assert_cmpstr(alone, ==, "detach\n");
  close(live);
  serve();
}

/* Who comes to a process of the session that has gone hears so, and does not wait for it. */
static void
test_gone(fixture *self, gconstpointer data) {
  int live = join(self, 2, "gate paused=1\ntape path=/live.tape\n");
  int viewers[] = {call(td_hub_get_path(self->hub), "view pid=3\n"),
                   call(td_hub_get_path(self->hub), "view pid=2\n"),
                   call(td_hub_get_path(self->hub), "view\n")};
  serve();
  for (int i = 0; i < 3; i++) {
    g_autofree char *told = hear_all(viewers[i]);
    g_assert_nonnull(strstr(told, "target pid=2 "));
    g_assert_cmpint(strstr(told, "over pid=3\n") != NULL, ==, i == 0);
    g_assert_null(strstr(told, "over pid=2"));
    close(viewers[i]);
  }
  close(live);
  serve();
}

/* ---- what is no hub ---- */

typedef struct impostor {
  char *folder, *path;
  int listening;
} impostor;

static impostor
impostor_new(fixture *self, const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  impostor made = {.folder = g_build_filename(self->runtime, name, NULL)};
  made.path = g_build_filename(made.folder, "session", NULL);
  g_assert_cmpint(g_mkdir(made.folder, 0700), ==, 0);
  g_strlcpy(address.sun_path, made.path, sizeof address.sun_path);
  made.listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  g_assert_cmpint(bind(made.listening, (void *)&address, sizeof address), ==, 0);
  g_assert_cmpint(listen(made.listening, 8), ==, 0);
  return made;
}

static void
impostor_free(impostor *self) {
  if (self->listening >= 0) close(self->listening);
  g_unlink(self->path);
  g_rmdir(self->folder);
  g_free(self->path);
  g_free(self->folder);
}

/* Says one thing to the first who comes. If it looks like an answer, it goes on saying it. */
static void *
answer_main(void *data) {
  void **both = data;
  const impostor *self = both[0];
  const char *words = both[1];
  int fd;
  while ((fd = accept(self->listening, NULL, NULL)) < 0)
    g_usleep(1000);
  while (send(fd, words, strlen(words), MSG_NOSIGNAL) > 0 && g_str_has_prefix(words, "target"))
    continue;
  close(fd);
  return NULL;
}

static void
check_beside(fixture *self, const char *words) {
  impostor impostor = impostor_new(self, "tapedeck-AAAAAA");
  int fd = join(self, (int)getpid(), "tape path=/good.tape\n");
  void *both[] = {&impostor, (void *)words};
  GThread *thread = words ? g_thread_new("impostor", answer_main, both) : NULL;
  g_autoptr(GPtrArray) programs = list(self);
  const td_session_program *good = find(programs, (guint)getpid());
  g_assert_nonnull(good);
  g_assert_cmpstr(good->tape, ==, "/good.tape");
  if (thread) g_thread_join(thread);
  close(fd);
  serve();
  impostor_free(&impostor);
}

static void
test_silent(fixture *self, gconstpointer data) {
  check_beside(self, NULL);
}

static void
test_nonsense(fixture *self, gconstpointer data) {
  check_beside(self, "\xff\x01 nonsense\n");
  check_beside(self, "listed");
  check_beside(self, "\n");
  check_beside(self, "dumped path=/x\n");
}

/* The list takes so many programs of one hub and no more. */
static void
test_flood(fixture *self, gconstpointer data) {
  check_beside(self, "target pid=7 path=/x live=1\ntarget pid=x\ntarget\ntarget pid=0 path=/0\n");
}

static void
test_stale(fixture *self, gconstpointer data) {
  impostor stale = impostor_new(self, "tapedeck-BBBBBB");
  close(stale.listening);
  stale.listening = -1;
  int fd = join(self, 7, "tape path=/good.tape\n");
  gint64 begin = g_get_monotonic_time();
  g_autoptr(GPtrArray) programs = list(self);
  g_assert_cmpuint(programs->len, ==, 1);
  g_assert_cmpint(g_get_monotonic_time() - begin, <, G_USEC_PER_SEC); /* it waits for nobody */
  close(fd);
  serve();
  impostor_free(&stale);
}

/* Another user's folder, a link and another name are not even asked. */
static void
test_strangers(fixture *self, gconstpointer data) {
  impostor impostors[] = {impostor_new(self, "tapedeck-CCCCCC"), impostor_new(self, "other"),
                          impostor_new(self, "tapedeck-toolong")};
  g_autofree char *link = g_build_filename(self->runtime, "tapedeck-DDDDDD", NULL);
  g_assert_cmpint(symlink("other", link), ==, 0);
  if (chown(impostors[0].folder, NOBODY, NOBODY) != 0) g_test_message("no second user");
  bool is_strange = geteuid() == 0;
  g_autoptr(GPtrArray) programs = list(self);
  g_assert_cmpuint(programs->len, ==, 0);
  for (int i = is_strange ? 0 : 1; i < 3; i++)
    g_assert_cmpint(accept(impostors[i].listening, NULL, NULL), <, 0);
  g_unlink(link);
  for (int i = 0; i < 3; i++)
    impostor_free(&impostors[i]);
}

static void
test_cancelled(fixture *self, gconstpointer data) {
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  GPtrArray *programs = (void *)self;
  g_cancellable_cancel(cancellable);
  td_session_list_async(cancellable, listed, &programs);
  while (programs)
    g_main_context_iteration(NULL, TRUE);
}

#define ADD(path, test) g_test_add(path, fixture, NULL, set_up, test, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("/app/session-list/nobody", test_nobody);
  ADD("/app/session-list/targets", test_targets);
  ADD("/app/session-list/deaf", test_deaf);
  ADD("/app/session-list/two-viewers", test_two_viewers);
  ADD("/app/session-list/gone", test_gone);
  ADD("/app/session-list/silent", test_silent);
  ADD("/app/session-list/nonsense", test_nonsense);
  ADD("/app/session-list/flood", test_flood);
  ADD("/app/session-list/stale", test_stale);
  ADD("/app/session-list/strangers", test_strangers);
  ADD("/app/session-list/cancelled", test_cancelled);
  return g_test_run();
}
