/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/examples.h"
#include "app/command.h"
#include "engine/base/json.h"

#include <string.h>

static void
print_member(td_json *json, const char *key, const char *value) {
  td_json_key(json, key);
  td_json_string(json, value);
}

static void
print_json(const GPtrArray *examples) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_array(&json);
  for (guint i = 0; i < examples->len; i++) {
    const td_example *example = g_ptr_array_index(examples, i);
    td_json_begin_object(&json);
    print_member(&json, "name", example->name);
    print_member(&json, "summary", example->summary);
    print_member(&json, "devices", example->devices ? example->devices : "cpu");
    print_member(&json, "path", example->path);
    td_json_end_object(&json);
  }
  td_json_end_array(&json);
  td_json_newline(&json);
}

static void
print_lines(const GPtrArray *examples) {
  int width = 0;
  for (guint i = 0; i < examples->len; i++)
    width = MAX(width, (int)strlen(((td_example *)g_ptr_array_index(examples, i))->name));
  for (guint i = 0; i < examples->len; i++) {
    const td_example *example = g_ptr_array_index(examples, i);
    printf("%-*s  %s\n", width, example->name, example->summary);
  }
}

int
td_command_examples(int argc, char **argv) {
  gboolean as_json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL}, {0}};
  int status;
  if (!td_command_parse("examples", entries, false, 0, 0, &argc, &argv, &status)) return status;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) examples = td_examples_load(&error);
  if (!examples) return td_command_bad_usage("examples", "%s", error->message);
  if (as_json)
    print_json(examples);
  else
    print_lines(examples);
  return TD_EXIT_OK;
}
