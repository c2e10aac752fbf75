/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"

#include "engine/trace/tape.h"

#include <stdio.h>
#include <string.h>

#define RUN_READING(name) td_command_##name
#define RUN_WRITING(name) td_command_##name
#ifdef TD_READS_ALONE
#define RUN_ALL(name) NULL
#else
#define RUN_ALL(name) td_command_##name
#endif
#define RUN_WINDOW(name) RUN_ALL(name)

static const td_command commands[] = {
#define TD_COMMAND(name, needs, arguments, summary)                                                \
  {#name, arguments, summary, TD_NEEDS_##needs, RUN_##needs(name)},
#include "app/commands.def"
#undef TD_COMMAND
};

const td_command *
td_command_table(size_t *n) {
  *n = G_N_ELEMENTS(commands);
  return commands;
}

const td_command *
td_command_find(const char *name) {
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  return NULL;
}

/* The words after the command in its help: its arguments without the options, which GLib lists
 * itself. */
static char *
positional_arguments(const char *arguments) {
  static const char *const options[] = {" -", "[-", "[OPTION"};
  if (g_str_has_prefix(arguments, "[OPTION")) arguments += strcspn(arguments, " ");
  arguments += strspn(arguments, " ");
  size_t length = strlen(arguments);
  for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
    const char *option = strstr(arguments, options[i]);
    if (option) length = MIN(length, (size_t)(option - arguments));
  }
  g_autofree char *words = g_strchomp(g_strndup(arguments, length));
  return *words ? g_strconcat(words, " ", NULL) : g_strdup("");
}

static GOptionContext *
make_context(const td_command *command, const GOptionEntry *entries, bool strict, gboolean *help) {
  const GOptionEntry help_entries[] = {
      {"help", 'h', 0, G_OPTION_ARG_NONE, help, "Show this help", NULL}, {0}};
  g_autofree char *arguments = positional_arguments(command->arguments);
  g_autofree char *usage = g_strdup_printf("%s- %s", arguments, command->summary);
  GOptionContext *context = g_option_context_new(usage);
  g_option_context_set_help_enabled(context, FALSE);
  g_option_context_set_strict_posix(context, strict);
  g_option_context_add_main_entries(context, help_entries, NULL);
  if (entries) g_option_context_add_main_entries(context, entries, NULL);
  return context;
}

static void
print_command_help(const td_command *command, GOptionContext *context) {
  g_autofree char *previous = g_strdup(g_get_prgname());
  g_autofree char *name = g_strdup_printf("tapedeck %s", command->name);
  g_set_prgname(name);
  g_autofree char *text = g_option_context_get_help(context, TRUE, NULL);
  fputs(text, stdout);
  g_set_prgname(previous ? previous : "tapedeck");
}

static bool
count_is_right(const td_command *command, int min, int max, int argc, char **argv) {
  int n = argc - 1;
  if (n < min)
    td_command_bad_usage(command->name, "too few arguments: tapedeck %s %s", command->name,
                         command->arguments);
  else if (max >= 0 && n > max)
    td_command_bad_usage(command->name, "'%s' is one argument too many", argv[max + 1]);
  return n >= min && (max < 0 || n <= max);
}

/* GLib leaves the "--" that ends the options among the arguments. */
static void
remove_separator(int *argc, char **argv) {
  if (*argc < 2 || strcmp(argv[1], "--") != 0) return;
  memmove(argv + 1, argv + 2, (size_t)(*argc - 1) * sizeof *argv);
  --*argc;
}

/* Options with a word that may be left out, and what they are then. */
static char *const bare_options[][2] = {
    {"--anomaly", "--anomaly=nonfinite"},
    {"--stats", "--stats=full"},
};

static const GOptionEntry *
find_entry(const GOptionEntry *entries, const char *word) {
  for (; entries && entries->long_name; entries++) {
    bool is_short = word[1] == entries->short_name && word[1] && !word[2];
    if (is_short || (g_str_has_prefix(word, "--") && strcmp(word + 2, entries->long_name) == 0))
      return entries;
  }
  return NULL;
}

static char *
whole_of(const char *word) {
  for (size_t i = 0; i < G_N_ELEMENTS(bare_options); i++)
    if (strcmp(word, bare_options[i][0]) == 0) return bare_options[i][1];
  return NULL;
}

/* GLib would take "--" for the word that is left out. What stands behind the options is not ours.
 */
static void
complete_bare_options(const GOptionEntry *entries, int argc, char **argv) {
  for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
    const GOptionEntry *entry = find_entry(entries, argv[i]);
    if (!entry || entry->arg == G_OPTION_ARG_NONE || entry->flags & G_OPTION_FLAG_NO_ARG) continue;
    bool is_bare = i + 1 == argc || argv[i + 1][0] == '-';
    char *whole = is_bare ? whole_of(argv[i]) : NULL;
    if (whole)
      argv[i] = whole;
    else
      i++;
  }
}

bool
td_command_parse(const char *name, const GOptionEntry *entries, bool strict, int min, int max,
                 int *argc, char ***argv, int *status) {
  const td_command *command = td_command_find(name);
  g_assert(command);
  gboolean help = FALSE;
  g_autoptr(GError) error = NULL;
  g_autoptr(GOptionContext) context = make_context(command, entries, strict, &help);
  *status = TD_EXIT_USAGE;
  complete_bare_options(entries, *argc, *argv);
  if (!g_option_context_parse(context, argc, argv, &error)) {
    td_command_bad_usage(name, "%s", error->message);
    return false;
  }
  if (help) {
    print_command_help(command, context);
    *status = TD_EXIT_OK;
    return false;
  }
  remove_separator(argc, *argv);
  return count_is_right(command, min, max, *argc, *argv);
}

gboolean
td_command_trust_cb(const char *option, const char *value, void *data, GError **error) {
  td_tape_trust_all();
  return TRUE;
}
