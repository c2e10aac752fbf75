/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/observer/torch_files.h"

#include "app/common/failure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where distributions install the headers. */
static const char *const system_folders[] = {"/usr/local/include", "/usr/include"};

static const char *const version_headers[] = {"torch/csrc/api/include/torch/version.h",
                                              "torch/version.h", "torch/headeronly/version.h"};

/* The version that a header of PyTorch defines, or NULL. */
static char *
read_header(const char *path) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return NULL;
  g_autoptr(GString) version = g_string_new(NULL);
  for (const char *const *part = (const char *const[]){"MAJOR", "MINOR", "PATCH", NULL}; *part;
       part++) {
    g_autofree char *macro = g_strdup_printf("TORCH_VERSION_%s ", *part);
    const char *at = strstr(text, macro);
    if (!at) return NULL;
    g_string_append_printf(version, "%s%d", version->len ? "." : "", atoi(at + strlen(macro)));
  }
  return g_string_free(g_steal_pointer(&version), FALSE);
}

/* The version that the package itself gives: it also names nightly builds. NULL: no package. */
static char *
read_package(const char *path) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return NULL;
  const char *at = strstr(text, "__version__ = ");
  if (!at) return NULL;
  at += strlen("__version__ = '");
  return g_strndup(at, strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz.+-_"));
}

/* Whether `folder` holds headers; then their version, unless a package has given it. */
static gboolean
take_headers(td_torch_files *self, char *folder) {
  g_free(self->headers);
  self->headers = folder;
  for (gsize i = 0; i < G_N_ELEMENTS(version_headers); i++) {
    g_autofree char *path = g_build_filename(folder, version_headers[i], NULL);
    g_autofree char *version = read_header(path);
    if (!version) continue;
    if (!self->version) self->version = g_steal_pointer(&version);
    return TRUE;
  }
  return FALSE;
}

/* A package brings its own headers. The system's may be those of another version. */
static gboolean
find_headers(td_torch_files *self, const char *folder, GError **error) {
  g_autofree char *package = g_build_filename(folder, "..", "version.py", NULL);
  self->version = read_package(package);
  if (self->version) self->package = g_canonicalize_filename("../..", folder);
  if (take_headers(self, g_canonicalize_filename("../include", folder))) return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS(system_folders) && !self->package; i++)
    if (take_headers(self, g_strdup(system_folders[i]))) return TRUE;
  return td_fail(error, "the headers of %s are not installed%s", self->library,
                 self->package ? "" : " (Debian: libtorch-dev)");
}

/* Whether one of PyTorch's own functions takes a string of the new layout. Other names do not tell:
 * libstdc++ leaves some with the new layout in every library. */
static gboolean
has_new_strings(const char *bytes, gsize n_bytes) {
  static const char own[] = "\0_ZN3c10", mark[] = "St7__cxx11";
  const char *end = bytes + n_bytes;
  while ((bytes = memmem(bytes, (gsize)(end - bytes), own, sizeof own - 1))) {
    bytes++;
    if (memmem(bytes, strnlen(bytes, (gsize)(end - bytes)), mark, sizeof mark - 1)) return TRUE;
  }
  return FALSE;
}

/* The names in a small library of PyTorch show the layout of strings. */
static gboolean
find_abi(td_torch_files *self, const char *folder, GError **error) {
  const char *suffix = strstr(self->library, "libtorch_cpu.so");
  self->c10 =
      g_strconcat(folder, "/libc10", suffix ? suffix + strlen("libtorch_cpu") : ".so", NULL);
  g_autoptr(GMappedFile) file = g_mapped_file_new(self->c10, FALSE, NULL);
  if (!file) return td_fail(error, "%s cannot be read", self->c10);
  const char *bytes = g_mapped_file_get_contents(file);
  self->cxx11_abi = bytes && has_new_strings(bytes, g_mapped_file_get_length(file)) ? "1" : "0";
  return TRUE;
}

gboolean
td_torch_files_find(td_torch_files *self, const char *libtorch_cpu, GError **error) {
  *self = (td_torch_files){.library = realpath(libtorch_cpu, NULL)};
  if (!self->library) return td_fail(error, "%s: %s", libtorch_cpu, g_strerror(errno));
  g_autofree char *folder = g_path_get_dirname(self->library);
  return find_headers(self, folder, error) && find_abi(self, folder, error);
}

void
td_torch_files_clear(td_torch_files *self) {
  free(self->library);
  g_free(self->c10);
  g_free(self->headers);
  g_free(self->version);
  g_free(self->package);
}
