/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/commands/schema_words.h"
#include "app/commands/schemas.h"

#include <string.h>

/* Where the text has "@name", there come the words of that table. */
static void
print_schema(const char *text) {
  const char *mark;
  while ((mark = strstr(text, "\"@"))) {
    const char *name = mark + 2, *end = strchr(name, '"');
    td_json json;
    fwrite(text, 1, (size_t)(mark - text), stdout);
    td_json_init(&json, stdout);
    td_schema_print_words(&json, name, (size_t)(end - name));
    text = end + 1;
  }
  puts(text);
}

static void
print_names(void) {
  for (size_t i = 0; i < td_n_schemas; i++)
    printf("%-17s  %-28s  %s\n", td_schemas[i].name, td_schemas[i].id, td_schemas[i].title);
}

static const td_schema *
find_schema(const char *name) {
  for (size_t i = 0; i < td_n_schemas; i++)
    if (strcmp(td_schemas[i].name, name) == 0) return &td_schemas[i];
  return NULL;
}

int
td_command_schema(int argc, char **argv) {
  const GOptionEntry entries[] = {{0}};
  int status;
  if (!td_command_parse("schema", entries, false, 0, 1, &argc, &argv, &status)) return status;
  if (argc < 2) {
    print_names();
    return TD_EXIT_OK;
  }
  const td_schema *schema = find_schema(argv[1]);
  if (!schema)
    return td_command_bad_usage("schema", "'%s': `tapedeck schema` prints the names", argv[1]);
  print_schema(schema->text);
  return TD_EXIT_OK;
}
