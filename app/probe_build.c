/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/probe_build.h"

#include "app/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The compiler's options for the observer, and its sources below td_path_probe_sources(). */
static const char *const standards[] = {
#define STANDARD(text) text,
#define FLAG(text)
#define FILE(path)
#include "engine/probe/observer.def"
#undef STANDARD
#undef FLAG
#undef FILE
};
static const char *const flags[] = {
#define STANDARD(text)
#define FLAG(text) text,
#define FILE(path)
#include "engine/probe/observer.def"
#undef STANDARD
#undef FLAG
#undef FILE
};
static const char *const sources[] = {
#define STANDARD(text)
#define FLAG(text)
#define FILE(path) path,
#include "engine/probe/observer.def"
#undef STANDARD
#undef FLAG
#undef FILE
};

/* Where PyTorch's headers may be, relative to the folder of its libraries: in the wheel, and as
 * distributions install them. */
static const char *const header_folders[] = {"../include", "/usr/local/include", "/usr/include"};

static const char *const version_headers[] = {"torch/csrc/api/include/torch/version.h",
                                              "torch/version.h", "torch/headeronly/version.h"};

typedef struct build {
  char *library, *c10;       /* (owned) libtorch_cpu.so and libc10.so, their real paths */
  char *headers;             /* (owned) the folder with torch/ in it */
  char *version;             /* (owned) "2.13.0" */
  char *compiler;            /* (owned) its path */
  char *compiler_version;    /* (owned) its first line of --version */
  const char *cxx11_abi;     /* "0" or "1" */
  char *folder, *log, *path; /* (owned) of the observer, in the cache */
} build;

static void
build_clear(build *self) {
  g_free(self->library);
  g_free(self->c10);
  g_free(self->headers);
  g_free(self->version);
  g_free(self->compiler);
  g_free(self->compiler_version);
  g_free(self->folder);
  g_free(self->log);
  g_free(self->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(build, build_clear)

static gboolean
fail(GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  *error = g_error_new_valist(G_IO_ERROR, G_IO_ERROR_FAILED, format, arguments);
  va_end(arguments);
  return FALSE;
}

/* The version that a header of PyTorch defines, or NULL. */
static char *
read_version(const char *path) {
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

static gboolean
find_headers(build *self, GError **error) {
  g_autofree char *folder = g_path_get_dirname(self->library);
  for (gsize i = 0; i < G_N_ELEMENTS(header_folders) && !self->version; i++) {
    g_free(self->headers);
    self->headers = g_canonicalize_filename(header_folders[i], folder);
    for (gsize j = 0; j < G_N_ELEMENTS(version_headers) && !self->version; j++) {
      g_autofree char *path = g_build_filename(self->headers, version_headers[j], NULL);
      self->version = read_version(path);
    }
  }
  return self->version ||
         fail(error, "the headers of %s are not installed (Debian: libtorch-dev)", self->library);
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
find_abi(build *self, GError **error) {
  g_autofree char *folder = g_path_get_dirname(self->library);
  const char *suffix = strstr(self->library, "libtorch_cpu.so");
  self->c10 =
      g_strconcat(folder, "/libc10", suffix ? suffix + strlen("libtorch_cpu") : ".so", NULL);
  g_autoptr(GMappedFile) file = g_mapped_file_new(self->c10, FALSE, NULL);
  if (!file) return fail(error, "%s cannot be read", self->c10);
  self->cxx11_abi =
      has_new_strings(g_mapped_file_get_contents(file), g_mapped_file_get_length(file)) ? "1" : "0";
  return TRUE;
}

static gboolean
find_compiler(build *self, GError **error) {
  const char *candidates[] = {g_getenv("CXX"), "g++", "c++", "clang++"};
  for (gsize i = 0; i < G_N_ELEMENTS(candidates) && !self->compiler; i++)
    if (candidates[i] && *candidates[i]) self->compiler = g_find_program_in_path(candidates[i]);
  if (!self->compiler) return fail(error, "there is no C++ compiler (Debian: g++)");
  char *argv[] = {self->compiler, (char *)"--version", NULL};
  int status = 0;
  if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                    &self->compiler_version, NULL, &status, NULL) ||
      status != 0)
    return fail(error, "%s does not run", self->compiler);
  self->compiler_version[strcspn(self->compiler_version, "\n")] = '\0';
  return TRUE;
}

static gboolean
add_sources(GChecksum *sum, GError **error) {
  for (gsize i = 0; i < G_N_ELEMENTS(sources); i++) {
    g_autofree char *path = g_build_filename(td_path_probe_sources(), sources[i], NULL);
    g_autofree char *text = NULL;
    gsize length;
    if (!g_file_get_contents(path, &text, &length, NULL))
      return fail(error, "a source of the probe is missing: %s", path);
    g_checksum_update(sum, (const guchar *)text, (gssize)length);
  }
  return TRUE;
}

/* Another PyTorch, compiler or probe gives another folder. */
static gboolean
choose_folder(build *self, GError **error) {
  GStatBuf file;
  if (g_stat(self->library, &file)) return fail(error, "%s cannot be read", self->library);
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autofree char *facts =
      g_strdup_printf("%s\n%" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n%s\n%s\n%s\n%s\n",
                      self->library, (gint64)file.st_size, (gint64)file.st_mtime, self->headers,
                      self->version, self->compiler, self->compiler_version);
  g_checksum_update(sum, (const guchar *)facts, -1);
  if (!add_sources(sum, error)) return FALSE;
  g_autofree char *key =
      g_strdup_printf("torch-%s-%.16s", self->version, g_checksum_get_string(sum));
  self->folder = g_build_filename(g_get_user_cache_dir(), "tapedeck", "probe", key, NULL);
  self->path = g_build_filename(self->folder, "observer.so", NULL);
  self->log = g_build_filename(self->folder, "compiler.log", NULL);
  if (g_mkdir_with_parents(self->folder, 0700) == 0) return TRUE;
  return fail(error, "%s: %s", self->folder, g_strerror(errno));
}

/* Without an output the compiler only preprocesses. */
static char **
compiler_arguments(const build *self, const char *standard, const char *output) {
  g_autoptr(GStrvBuilder) argv = g_strv_builder_new();
  g_strv_builder_add_many(argv, self->compiler, standard, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
    g_strv_builder_add(argv, flags[i]);
  g_autofree char *abi = g_strdup_printf("-D_GLIBCXX_USE_CXX11_ABI=%s", self->cxx11_abi);
  g_strv_builder_add_many(argv, abi, "-I", td_path_probe_sources(), NULL);
  /* The system's own folder must keep its place in the order of folders. */
  if (strcmp(self->headers, "/usr/include") != 0)
    g_strv_builder_add_many(argv, "-isystem", self->headers, NULL);
  g_autofree char *api = g_build_filename(self->headers, "torch/csrc/api/include", NULL);
  g_autofree char *probe =
      g_build_filename(td_path_probe_libraries(), "libtapedeck-probe.so", NULL);
  g_strv_builder_add_many(argv, "-isystem", api, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(sources); i++) {
    if (!g_str_has_suffix(sources[i], ".cpp")) continue;
    g_autofree char *path = g_build_filename(td_path_probe_sources(), sources[i], NULL);
    g_strv_builder_add(argv, path);
  }
  if (output)
    g_strv_builder_add_many(argv, "-o", output, probe, self->library, self->c10, NULL);
  else
    g_strv_builder_add(argv, "-E");
  return g_strv_builder_end(argv);
}

/* This process only forwards signals; the compiler must still react to them. */
static void
unblock_signals_cb(gpointer data) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Removes the files of a compile that was killed. The lock is held. */
static void
remove_leftovers(const build *self) {
  g_autoptr(GDir) folder = g_dir_open(self->folder, 0, NULL);
  for (const char *name; folder && (name = g_dir_read_name(folder));) {
    g_autofree char *path = g_build_filename(self->folder, name, NULL);
    if (g_str_has_prefix(name, "observer.so.")) g_unlink(path);
  }
}

/* Runs the compiler, and adds the command and what the compiler says to `log`. */
static gboolean
run_compiler(const build *self, const char *standard, const char *output, GString *log,
             GError **error) {
  g_auto(GStrv) argv = compiler_arguments(self, standard, output);
  g_autofree char *messages = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, unblock_signals_cb, NULL, NULL,
                    &messages, &status, error))
    return FALSE;
  g_autofree char *command = g_strjoinv(" ", argv);
  g_string_append_printf(log, "%s\n%s\n", command, messages);
  return status == 0;
}

/* PyTorch's headers refuse a standard that is too old, and the preprocessor shows it at once. */
static gboolean
compile_with_standards(const build *self, const char *output, GString *log, GError **error) {
  gboolean made = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(standards) && !made && !*error; i++)
    made = run_compiler(self, standards[i], NULL, log, error) &&
           run_compiler(self, standards[i], output, log, error);
  return made;
}

static gboolean
compile(const build *self, GError **error) {
  remove_leftovers(self);
  g_autofree char *output = g_strdup_printf("%s.%d", self->path, (int)getpid());
  g_autoptr(GString) log = g_string_new(NULL);
  fprintf(stderr,
          "tapedeck: compiling an observer for PyTorch %s, only this once (about a minute)...\n",
          self->version);
  gboolean made = compile_with_standards(self, output, log, error);
  g_file_set_contents(self->log, log->str, -1, NULL);
  if (made && g_rename(output, self->path) == 0) return TRUE;
  g_unlink(output);
  if (*error) return FALSE;
  return fail(error, "the observer does not compile against PyTorch %s (see %s)", self->version,
              self->log);
}

/* A process that waited for the lock may find the observer already made. */
static gboolean
find_or_compile(const build *self, GError **error) {
  if (g_file_test(self->path, G_FILE_TEST_EXISTS)) return TRUE;
  g_autofree char *lock = g_build_filename(self->folder, "lock", NULL);
  int fd = g_open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return fail(error, "%s: %s", lock, g_strerror(errno));
  while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  gboolean there = g_file_test(self->path, G_FILE_TEST_EXISTS) || compile(self, error);
  close(fd);
  return there;
}

static void
build_cb(GTask *task, gpointer source, gpointer library, GCancellable *cancellable) {
  g_auto(build) self = {.library = realpath(library, NULL)};
  GError *error = NULL;
  if (!self.library) fail(&error, "%s: %s", (char *)library, g_strerror(errno));
  if (!error && find_headers(&self, &error) && find_abi(&self, &error) &&
      find_compiler(&self, &error) && choose_folder(&self, &error) &&
      find_or_compile(&self, &error))
    g_task_return_pointer(task, g_steal_pointer(&self.path), g_free);
  else
    g_task_return_error(task, error);
}

void
td_probe_build_async(const char *libtorch_cpu, GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, NULL, done, data);
  g_task_set_task_data(task, g_strdup(libtorch_cpu), g_free);
  g_task_run_in_thread(task, build_cb);
}

char *
td_probe_build_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
