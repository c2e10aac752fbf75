/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A library in any folder gets a path that LD_PRELOAD can hold. */
#include "app/common/paths.h"
#include "app/common/preload.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *probe_folder;

/* Instead of the program's own, which is where it was built. */
const char *
td_path_probe_libraries(void) {
  return probe_folder;
}

typedef struct fixture {
  char *base, *library;
} fixture;

static void
set_up(fixture *self, const void *name) {
  g_autoptr(GError) error = NULL;
  self->base = g_dir_make_tmp("tapedeck-preload-XXXXXX", &error);
  g_assert_no_error(error);
  probe_folder = g_build_filename(self->base, name, NULL);
  g_assert_cmpint(g_mkdir(probe_folder, 0700), ==, 0);
  self->library = g_build_filename(probe_folder, "libtapedeck-preload.so", NULL);
  g_file_set_contents(self->library, self->base, -1, &error);
  g_assert_no_error(error);
}

static void
tear_down(fixture *self, const void *name) {
  g_unlink(self->library);
  g_rmdir(probe_folder);
  g_rmdir(self->base);
  g_free(self->library);
  g_free(self->base);
  g_clear_pointer(&probe_folder, g_free);
}

/* Returns the path, which is the library's and has nothing that ld.so divides at. */
static char *
path_of(const fixture *self) {
  char *problem = NULL;
  char *path = td_preload_path(self->library, &problem);
  g_assert_cmpstr(problem, ==, NULL);
  g_assert_null(strpbrk(path, " :"));
  g_autofree char *contents = NULL;
  g_assert_true(g_file_get_contents(path, &contents, NULL, NULL));
  g_assert_cmpstr(contents, ==, self->base);
  return path;
}

static void
remove_link(const char *path) {
  g_autofree char *link = g_path_get_dirname(path);
  g_unlink(link);
}

static void
test_plain(fixture *self, const void *name) {
  g_autofree char *path = path_of(self);
  g_assert_cmpstr(path, ==, self->library);
}

static void
test_linked(fixture *self, const void *name) {
  g_autofree char *path = path_of(self);
  g_autofree char *again = path_of(self);
  g_assert_cmpstr(path, ==, again);
  g_autofree char *link = g_path_get_dirname(path);
  g_unlink(link);
  g_assert_cmpint(symlink("/nowhere", link), ==, 0);
  g_autofree char *mended = path_of(self);
  g_assert_cmpstr(path, ==, mended);
  remove_link(path);
}

/* Something in the link's place that cannot be replaced. */
static void
test_in_the_way(fixture *self, const void *name) {
  g_autofree char *path = path_of(self);
  g_autofree char *link = g_path_get_dirname(path);
  g_unlink(link);
  g_assert_cmpint(g_mkdir(link, 0700), ==, 0);
  g_autofree char *problem = NULL;
  g_assert_null(td_preload_path(self->library, &problem));
  g_assert_nonnull(strstr(problem, probe_folder));
  g_assert_nonnull(strstr(problem, g_strerror(EEXIST)));
  g_assert_cmpint(g_rmdir(link), ==, 0);
}

/* Sets LD_PRELOAD to `before`, and expects the library between `first` and `rest`. */
static void
check_place(const fixture *self, const char *before, const char *first, const char *rest) {
  char *problem = NULL;
  g_autofree char *path = path_of(self);
  char **environment = g_environ_setenv(NULL, "LD_PRELOAD", before, TRUE);
  environment = td_preload_set(environment, &problem);
  g_autofree char *expected = g_strconcat(first, path, rest, NULL);
  g_assert_cmpstr(g_environ_getenv(environment, "LD_PRELOAD"), ==, expected);
  g_strfreev(environment);
}

static void
test_sanitizers(fixture *self, const void *name) {
  check_place(self, "", "", "");
  check_place(self, "/usr/lib/libasan.so.8", "/usr/lib/libasan.so.8:", "");
  check_place(self, "/a/libtsan.so:/b/other.so", "/a/libtsan.so:", ":/b/other.so");
  check_place(self, "libclang_rt.asan-x86_64.so libubsan.so",
              "libclang_rt.asan-x86_64.so libubsan.so:", "");
  check_place(self, "/libasan/other.so", "", ":/libasan/other.so");
}

static void
test_set(fixture *self, const void *name) {
  char *problem = NULL;
  g_autofree char *path = path_of(self);
  char **environment = td_preload_set(g_strdupv((char *[]){"A=1", NULL}), &problem);
  g_assert_cmpstr(g_environ_getenv(environment, "LD_PRELOAD"), ==, path);
  environment = g_environ_setenv(environment, "LD_PRELOAD", "/lib/other.so", TRUE);
  environment = td_preload_set(environment, &problem);
  g_autofree char *both = g_strconcat(path, ":/lib/other.so", NULL);
  g_assert_cmpstr(g_environ_getenv(environment, "LD_PRELOAD"), ==, both);
  g_assert_cmpstr(g_environ_getenv(environment, "A"), ==, "1");
  g_strfreev(environment);
  remove_link(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/preload/plain", fixture, "plain", set_up, test_plain, tear_down);
  g_test_add("/preload/space", fixture, "a b", set_up, test_linked, tear_down);
  g_test_add("/preload/colon", fixture, "a:b", set_up, test_linked, tear_down);
  g_test_add("/preload/in-the-way", fixture, "in the way", set_up, test_in_the_way, tear_down);
  g_test_add("/preload/sanitizers", fixture, "plain", set_up, test_sanitizers, tear_down);
  g_test_add("/preload/set", fixture, "c d", set_up, test_set, tear_down);
  return g_test_run();
}
