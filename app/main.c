/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/commands/confine.h"
#include "app/common/paths.h"
#include "app/common/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
print_help(void) {
  size_t n;
  const td_command *commands = td_command_table(&n);
  puts("Usage:\n  tapedeck COMMAND [OPTION…] [ARGUMENT…]\n  tapedeck\n");
  puts("Play, pause and rewind a backward pass. Without a command the window opens.\n\nCommands:");
  for (size_t i = 0; i < n; i++)
    printf("  %-10s %s\n", commands[i].name, commands[i].summary);
  puts("\nOptions:\n  -h, --help   show this help; `tapedeck COMMAND --help` shows that of a "
       "command\n"
       "  --version    show the version");
}

/* If standard output is closed, the next file to open would take its number, and printing would
 * go into that file. So this opens /dev/null there, for reading only: a print fails and says so. */
static void
keep_standard_files_open(void) {
  for (int fd = 0; fd < 3; fd++) {
    int mode = (fd == 2 ? O_WRONLY : O_RDONLY) | O_CLOEXEC;
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode) < 0) return;
  }
}

/* Note [Three programs] in app/command.h. Returns if there is no such program. */
static int
become_other(const td_command *command, char **argv) {
  const char *program = td_path_whole_program(), *window = td_path_window_program();
  if (command->needs == TD_NEEDS_WINDOW && access(window, X_OK) == 0) program = window;
  execv(program, argv);
  return td_command_fail(program, "%s", strerror(errno));
}

static int
run_command(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "open";
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    print_help();
    return TD_EXIT_OK;
  }
  if (strcmp(name, "--version") == 0) {
    puts("tapedeck " TD_VERSION);
    return TD_EXIT_OK;
  }
  const td_command *command = td_command_find(name);
  if (!command && td_command_refuse_tape(name)) return TD_EXIT_USAGE;
  if (!command) {
    fprintf(stderr, "tapedeck: unknown %s '%s' (see tapedeck --help)\n",
            name[0] == '-' ? "option" : "command", name);
    return TD_EXIT_USAGE;
  }
  if (!command->run) return become_other(command, argv);
  if (command->needs == TD_NEEDS_READING) td_confine_to_reading();
  if (argc == 1) return command->run(1, (char *[]){(char *)name, NULL});
  return command->run(argc - 1, argv + 1);
}

static void
set_locale(void) {
  setlocale(LC_ALL, "");
  /* Names on tapes are UTF-8 in every locale. In the C locale GLib takes none as an argument. */
  if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
  setlocale(LC_NUMERIC, "C");
  setlocale(LC_MESSAGES, "C"); /* scripts read what commands print; the window alone translates */
}

int
main(int argc, char **argv) {
  keep_standard_files_open();
  td_terminal_guard();
  set_locale();
  int status = run_command(argc, argv);
  errno = 0;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "tapedeck: standard output: %s\n", strerror(errno ? errno : EIO));
    return TD_EXIT_USAGE;
  }
  return status;
}
