/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/observer/observer_compiler.h"

#include "app/common/failure.h"
#include "app/common/paths.h"

#include <string.h>
#include <sys/wait.h>

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

gboolean
td_observer_compiler_find(td_observer_compiler *self, GError **error) {
  const char *candidates[] = {g_getenv("CXX"), "g++", "c++", "clang++"};
  *self = (td_observer_compiler){0};
  for (gsize i = 0; i < G_N_ELEMENTS(candidates) && !self->path; i++)
    if (candidates[i] && *candidates[i]) self->path = g_find_program_in_path(candidates[i]);
  if (!self->path) return td_fail(error, "there is no C++ compiler (Debian: g++)");
  char *argv[] = {self->path, (char *)"--version", NULL};
  int status = 0;
  if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &self->version, NULL,
                    &status, NULL) ||
      status != 0)
    return td_fail(error, "%s does not run", self->path);
  self->version[strcspn(self->version, "\n")] = '\0';
  return TRUE;
}

void
td_observer_compiler_clear(td_observer_compiler *self) {
  g_free(self->path);
  g_free(self->version);
}

gboolean
td_observer_add_sources(GChecksum *sum, GError **error) {
  for (gsize i = 0; i < G_N_ELEMENTS(sources); i++) {
    g_autofree char *path = g_build_filename(td_path_probe_sources(), sources[i], NULL);
    g_autofree char *text = NULL;
    gsize length;
    if (!g_file_get_contents(path, &text, &length, NULL))
      return td_fail(error, "a source of the probe is missing: %s", path);
    g_checksum_update(sum, (const guchar *)text, (gssize)length);
  }
  return TRUE;
}

/* Without an output the compiler only preprocesses. */
static char **
arguments(const td_observer_compiler *self, const td_torch_files *torch, const char *standard,
          const char *output) {
  g_autoptr(GStrvBuilder) argv = g_strv_builder_new();
  g_strv_builder_add_many(argv, self->path, standard, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
    g_strv_builder_add(argv, flags[i]);
  g_autofree char *abi = g_strdup_printf("-D_GLIBCXX_USE_CXX11_ABI=%s", torch->cxx11_abi);
  g_strv_builder_add_many(argv, abi, "-I", td_path_probe_sources(), NULL);
  /* The system's own folder must keep its place in the order of folders. */
  if (strcmp(torch->headers, "/usr/include") != 0)
    g_strv_builder_add_many(argv, "-isystem", torch->headers, NULL);
  g_autofree char *api = g_build_filename(torch->headers, "torch/csrc/api/include", NULL);
  g_autofree char *probe =
      g_build_filename(td_path_probe_libraries(), "libtapedeck-probe.so", NULL);
  g_strv_builder_add_many(argv, "-isystem", api, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(sources); i++) {
    if (!g_str_has_suffix(sources[i], ".cpp")) continue;
    g_autofree char *path = g_build_filename(td_path_probe_sources(), sources[i], NULL);
    g_strv_builder_add(argv, path);
  }
  if (output)
    g_strv_builder_add_many(argv, "-o", output, probe, torch->library, torch->c10, NULL);
  else
    g_strv_builder_add(argv, "-E");
  return g_strv_builder_end(argv);
}

/* The first line that speaks of an error, else the first line; without the folders of the file. */
static char *
first_complaint(const char *messages) {
  g_auto(GStrv) lines = g_strsplit(messages, "\n", -1);
  const char *found = NULL;
  for (char **line = lines; *line; line++)
    if (strstr(*line, "error") && (!found || !strstr(found, "error")))
      found = *line;
    else if (!found && **line)
      found = *line;
  if (!found) return g_strdup("the compiler says nothing");
  const char *place = strchr(found, ':');
  while (place && place > found && place[-1] != '/')
    place--;
  return g_strdup(place ? place : found);
}

/* A compiler that was killed, or that found no file or no memory, may do better next time. */
static gboolean
is_final(int wait_status, const char *messages) {
  return WIFEXITED(wait_status) && !strstr(messages, "fatal error");
}

/* What became of a run of the compiler. */
typedef struct attempt {
  gboolean worked, compiled, is_final;
  char *complaint; /* (owned) or NULL */
} attempt;

static void
attempt_clear(attempt *self) {
  g_free(self->complaint);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(attempt, attempt_clear)

typedef struct compile {
  const td_observer_compiler *compiler;
  const td_torch_files *torch;
  const td_progress *progress;
  GString *log;
} compile;

static gboolean
run(const compile *self, const char *standard, const char *output, attempt *out, GError **error) {
  g_auto(GStrv) argv = arguments(self->compiler, self->torch, standard, output);
  g_autoptr(GString) said = g_string_new(NULL);
  int status;
  if (!td_subprocess_run(&(td_subprocess){.argv = argv}, self->progress, said, &status, error))
    return FALSE;
  g_autofree char *command = g_strjoinv(" ", argv);
  g_string_append_printf(self->log, "%s\n%s\n", command, said->str);
  attempt_clear(out);
  *out = (attempt){.worked = status == 0, .compiled = output != NULL};
  if (out->worked) return TRUE;
  out->is_final = is_final(status, said->str);
  out->complaint = first_complaint(said->str);
  return TRUE;
}

/* The first complaint counts. But one about the whole observer says more than one about the
 * standard. */
static void
keep_complaint(attempt *kept, attempt *latest) {
  if (kept->complaint && (kept->compiled || !latest->compiled)) return;
  attempt_clear(kept);
  *kept = *latest;
  latest->complaint = NULL;
}

/* PyTorch's headers refuse a standard that is too old, and the preprocessor shows it at once. */
gboolean
td_observer_compile(const td_observer_compiler *self, const td_torch_files *torch,
                    const char *output, const td_progress *progress, GString *log,
                    gboolean *is_final, GError **error) {
  const compile what = {self, torch, progress, log};
  g_auto(attempt) kept = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(standards); i++) {
    g_auto(attempt) latest = {0};
    if (!run(&what, standards[i], NULL, &latest, error)) return FALSE;
    if (latest.worked && !run(&what, standards[i], output, &latest, error)) return FALSE;
    if (latest.worked) return TRUE;
    keep_complaint(&kept, &latest);
  }
  *is_final = kept.is_final;
  return td_fail(error, "%s", kept.complaint);
}
