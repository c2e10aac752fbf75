/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"

#include "app/output_file.h"
#include "app/paths.h"
#include "engine/trace/tape.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void
print_line(const char *subject, const char *separator, const char *format, va_list args) {
  g_autofree char *text = g_strdup_vprintf(format, args);
  fflush(stdout);
  fprintf(stderr, "tapedeck%s%s: %s\n", separator, subject, text);
}

int
td_command_bad_usage(const char *name, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_line(name, " ", format, args);
  va_end(args);
  return TD_EXIT_USAGE;
}

int
td_command_fail(const char *file, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_line(file ? file : "", file ? ": " : "", format, args);
  va_end(args);
  return TD_EXIT_USAGE;
}

int
td_command_file_error(const char *file, td_error *error) {
  td_command_fail(file, "%s", td_error_text(error));
  td_error_clear(error);
  return TD_EXIT_USAGE;
}

void
td_command_say_whole(const char *file, td_error *error) {
  td_command_fail(file, "%s; reading all of the tape instead", td_error_text(error));
  td_error_clear(error);
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

bool
td_command_parse(const char *name, const GOptionEntry *entries, bool strict, int min, int max,
                 int *argc, char ***argv, int *status) {
  const td_command *command = td_command_find(name);
  g_assert(command);
  gboolean help = FALSE;
  g_autoptr(GError) error = NULL;
  g_autoptr(GOptionContext) context = make_context(command, entries, strict, &help);
  *status = TD_EXIT_USAGE;
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

char *
td_command_list_words(const char *const *words) {
  g_autoptr(GString) list = g_string_new(words[0]);
  for (size_t i = 1; words[i]; i++)
    g_string_append_printf(list, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
  return g_string_free(g_steal_pointer(&list), FALSE);
}

bool
td_command_check_word(const char *command, const char *option, const char *value,
                      const char *const *words) {
  if (g_strv_contains(words, value)) return true;
  g_autofree char *list = td_command_list_words(words);
  td_command_bad_usage(command, "%s '%s': must be %s", option, value, list);
  return false;
}

bool
td_command_refuse_tape(const char *path) {
  if (!td_tape_is_at(path)) return false;
  g_autofree char *name = td_command_shell_name(path);
  td_command_fail(name, "is a tape; see it with: tapedeck %s %s", td_command_to_see(), name);
  return true;
}

const char *
td_command_to_see(void) {
  return access(td_path_window_program(), X_OK) == 0 ? "open" : "info";
}

static bool
is_same_file(const char *path, const GStatBuf *info) {
  GStatBuf other;
  return g_stat(path, &other) == 0 && other.st_dev == info->st_dev && other.st_ino == info->st_ino;
}

bool
td_command_may_write(const char *output, const char *input, bool force) {
  GStatBuf info;
  bool exists = g_stat(output, &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    td_command_fail(output, "is a directory");
  else if (!force && td_output_is_taken(output))
    td_command_fail(output, "exists already; --force overwrites it, -o FILE chooses another");
  else if (exists && is_same_file(input, &info))
    td_command_fail(output, "is the input itself; -o FILE chooses another");
  else
    return true;
  return false;
}

char *
td_command_shell_name(const char *path) {
  g_autofree char *here = g_get_current_dir();
  gsize length = strlen(here);
  bool below = strncmp(path, here, length) == 0 && path[length] == '/';
  const char *name = below ? path + length + 1 : path;
  return strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "/._-+=:,@%") == strlen(name)
             ? g_strdup(name)
             : g_shell_quote(name);
}
