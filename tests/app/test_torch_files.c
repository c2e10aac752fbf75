/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Folders that look like a PyTorch: what is found in them, and what is said if something is
 * missing. */
#include "app/session/observer/torch_files.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD "\0_ZN3c105ErrorC1ENS_14SourceLocationESs\0_ZNSt7__cxx1112basic_stringIcEE_clone\0"
#define NEW "\0_ZNSt6vectorE\0_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcEE\0"

typedef struct package {
  char *folder, *library; /* (owned) */
} package;

static void
write_file(const package *self, const char *name, const char *bytes, gssize n_bytes) {
  g_autofree char *path = g_build_filename(self->folder, name, NULL);
  g_autofree char *folder = g_path_get_dirname(path);
  g_mkdir_with_parents(folder, 0700);
  g_assert_true(g_file_set_contents(path, bytes, n_bytes, NULL));
}

static void
package_init(package *self) {
  self->folder = g_dir_make_tmp("tapedeck-torch-XXXXXX", NULL);
  self->library = g_build_filename(self->folder, "torch/lib/libtorch_cpu.so", NULL);
  write_file(self, "torch/lib/libtorch_cpu.so", "", 0);
  write_file(self, "torch/lib/libc10.so", NEW, sizeof NEW);
  write_file(self, "torch/version.py", "from typing import Any\n__version__ = '2.16.0a0+git12'\n",
             -1);
  write_file(self, "torch/include/torch/headeronly/version.h",
             "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 16\n"
             "#define TORCH_VERSION_PATCH 0\n#define TORCH_VERSION_ABI_TAG 0\n",
             -1);
}

static void
package_fini(package *self) {
  char *argv[] = {(char *)"rm", (char *)"-r", self->folder, NULL};
  g_assert_true(
      g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  g_free(self->folder);
  g_free(self->library);
}

static void
assert_strings(const package *self, const char *expected) {
  td_torch_files torch;
  GError *error = NULL;
  g_assert_true(td_torch_files_find(&torch, self->library, &error));
  g_assert_no_error(error);
  g_assert_cmpstr(torch.cxx11_abi, ==, expected);
  td_torch_files_clear(&torch);
}

static void
test_strings(void) {
  package package;
  package_init(&package);
  assert_strings(&package, "1");
  write_file(&package, "torch/lib/libc10.so", OLD, sizeof OLD);
  assert_strings(&package, "0");
  write_file(&package, "torch/lib/libc10.so", "", 0);
  assert_strings(&package, "0");
  package_fini(&package);
}

static void
test_nightly(void) {
  package package;
  td_torch_files torch;
  GError *error = NULL;
  package_init(&package);
  g_assert_true(td_torch_files_find(&torch, package.library, &error));
  g_assert_cmpstr(torch.version, ==, "2.16.0a0+git12");
  g_autofree char *real = realpath(package.folder, NULL);
  g_assert_cmpstr(torch.package, ==, real);
  td_torch_files_clear(&torch);
  g_autofree char *version = g_build_filename(package.folder, "torch/version.py", NULL);
  g_unlink(version);
  g_assert_true(td_torch_files_find(&torch, package.library, &error));
  g_assert_cmpstr(torch.version, ==, "2.16.0");
  g_assert_null(torch.package);
  td_torch_files_clear(&torch);
  package_fini(&package);
}

static void
assert_missing(const package *self, const char *words) {
  td_torch_files torch;
  GError *error = NULL;
  g_assert_false(td_torch_files_find(&torch, self->library, &error));
  g_assert_nonnull(strstr(error->message, words));
  g_assert_null(strchr(error->message, '\n'));
  g_error_free(error);
  td_torch_files_clear(&torch);
}

/* Headers of the system would be those of another version. */
static void
test_missing(void) {
  package package;
  package_init(&package);
  g_autofree char *headers = g_build_filename(package.folder, "torch/include", NULL);
  g_autofree char *away = g_build_filename(package.folder, "torch/away", NULL);
  g_autofree char *c10 = g_build_filename(package.folder, "torch/lib/libc10.so", NULL);
  g_assert_cmpint(g_rename(headers, away), ==, 0);
  assert_missing(&package, "are not installed");
  g_assert_cmpint(g_rename(away, headers), ==, 0);
  g_unlink(c10);
  assert_missing(&package, "libc10.so cannot be read");
  g_unlink(package.library);
  assert_missing(&package, "No such file");
  package_fini(&package);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/app/torch-files/strings", test_strings);
  g_test_add_func("/app/torch-files/nightly", test_nightly);
  g_test_add_func("/app/torch-files/missing", test_missing);
  return g_test_run();
}
