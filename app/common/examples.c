/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/examples.h"

#include "app/common/paths.h"

#include <string.h>

#define QUOTES "\"\"\""
#define DEVICES "# devices: "
#define ANOMALY "# anomaly: "

/* The text behind `mark` up to the end of its line, or NULL. */
static char *
line_after(const char *text, const char *mark) {
  const char *found = strstr(text, mark);
  if (!found) return NULL;
  found += strlen(mark);
  return g_strndup(found, strcspn(found, "\n"));
}

static char *
docstring_summary(const char *text) {
  char *line = line_after(text, QUOTES);
  if (!line) return g_strdup("");
  char *end = strstr(line, QUOTES);
  if (end) *end = '\0';
  return g_strchomp(line);
}

static td_example *
example_load(const char *folder, const char *file) {
  g_autofree char *path = g_build_filename(folder, file, NULL), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return NULL;
  td_example *example = g_new0(td_example, 1);
  example->name = g_strndup(file, strlen(file) - strlen(".py"));
  example->path = g_steal_pointer(&path);
  example->summary = docstring_summary(text);
  example->devices = line_after(text, "\n" DEVICES);
  example->anomaly = line_after(text, "\n" ANOMALY);
  return example;
}

void
td_example_free(td_example *example) {
  if (!example) return;
  g_free(example->name);
  g_free(example->path);
  g_free(example->summary);
  g_free(example->devices);
  g_free(example->anomaly);
  g_free(example);
}

static int
compare_names(gconstpointer a, gconstpointer b) {
  return strcmp((*(const td_example *const *)a)->name, (*(const td_example *const *)b)->name);
}

GPtrArray *
td_examples_load(GError **error) {
  GDir *folder = g_dir_open(td_path_examples(), 0, error);
  if (!folder) return NULL;
  GPtrArray *examples = g_ptr_array_new_with_free_func((GDestroyNotify)td_example_free);
  const char *file;
  while ((file = g_dir_read_name(folder))) {
    td_example *example =
        g_str_has_suffix(file, ".py") ? example_load(td_path_examples(), file) : NULL;
    if (example) g_ptr_array_add(examples, example);
  }
  g_dir_close(folder);
  g_ptr_array_sort(examples, compare_names);
  return examples;
}

td_example *
td_example_find(const char *name) {
  if (strchr(name, '/')) return NULL;
  g_autofree char *file = g_strconcat(name, ".py", NULL);
  return example_load(td_path_examples(), file);
}
