/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/trust.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool
holds(mode_t mode, uid_t owner) {
  return td_trust_holds(&(struct stat){.st_mode = mode, .st_uid = owner}, 1000);
}

static void
test_judgement(void) {
  g_assert_true(holds(S_IFREG | 0644, 1000));
  g_assert_true(holds(S_IFREG | 0755, 0));
  g_assert_true(holds(S_IFDIR | 01777, 0));
  g_assert_false(holds(S_IFREG | 0644, 1001));
  g_assert_false(holds(S_IFREG | 0664, 1000));
  g_assert_false(holds(S_IFREG | 0646, 1000));
  g_assert_false(holds(S_IFREG | 01666, 1000)); /* the sticky bit of a file means nothing */
  g_assert_false(holds(S_IFDIR | 0777, 0));
  g_assert_false(holds(S_IFDIR | 01777, 1001));
}

typedef struct fixture {
  char *top, *folder, *file; /* (owned) */
} fixture;

static void
set_up(fixture *self, gconstpointer data) {
  self->top = g_dir_make_tmp("trust-XXXXXX", NULL);
  self->folder = g_build_filename(self->top, "folder", NULL);
  self->file = g_build_filename(self->folder, "file", NULL);
  g_assert_cmpint(g_mkdir(self->folder, 0755), ==, 0);
  g_assert_true(g_file_set_contents(self->file, "x", -1, NULL));
  g_assert_cmpint(g_chmod(self->file, 0644), ==, 0);
}

static void
tear_down(fixture *self, gconstpointer data) {
  g_unlink(self->file);
  g_rmdir(self->folder);
  g_rmdir(self->top);
  g_free(self->file);
  g_free(self->folder);
  g_free(self->top);
}

static void
assert_trusted(const char *path) {
  char *real = NULL;
  g_assert_cmpint(td_trust_check(path, &real, NULL), ==, TD_OK);
  g_assert_true(g_str_has_prefix(real, "/"));
  free(real);
}

static void
assert_refused(const char *path, const char *culprit) {
  char *real = NULL;
  td_error error = {0};
  g_assert_cmpint(td_trust_check(path, &real, &error), ==, TD_IO);
  g_assert_null(real);
  g_assert_true(g_str_has_suffix(td_error_text(&error), culprit));
  td_error_clear(&error);
}

static void
test_modes(fixture *self, gconstpointer data) {
  assert_trusted(self->file);
  g_chmod(self->file, 0666);
  assert_refused(self->file, "/folder/file");
  g_chmod(self->file, 0644);
  g_chmod(self->folder, 0777);
  assert_refused(self->file, "/folder");
  g_chmod(self->folder, 01777);
  assert_trusted(self->file);
}

/* A link is as good as what it leads to. */
static void
test_links(fixture *self, gconstpointer data) {
  g_autofree char *link = g_build_filename(self->top, "link", NULL);
  g_assert_cmpint(symlink(self->file, link), ==, 0);
  assert_trusted(link);
  g_chmod(self->folder, 0777);
  assert_refused(link, "/folder");
  g_unlink(link);
}

static void
test_other_user(fixture *self, gconstpointer data) {
  if (geteuid() != 0) {
    g_test_skip("only root can give a file to another user");
    return;
  }
  g_assert_cmpint(chown(self->file, 65534, 65534), ==, 0);
  assert_refused(self->file, "/folder/file");
  g_assert_cmpint(chown(self->file, 0, 0), ==, 0);
  g_assert_cmpint(chown(self->folder, 65534, 65534), ==, 0);
  assert_refused(self->file, "/folder");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/trust/judgement", test_judgement);
  g_test_add("/engine/trust/modes", fixture, NULL, set_up, test_modes, tear_down);
  g_test_add("/engine/trust/links", fixture, NULL, set_up, test_links, tear_down);
  g_test_add("/engine/trust/other-user", fixture, NULL, set_up, test_other_user, tear_down);
  return g_test_run();
}
