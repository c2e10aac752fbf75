/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck attach`: what a program does now. A recorded program says so itself, and its tape says
 * where the engine is. Into one that nobody records, gdb looks. The program goes on as before. */
#include "app/command.h"
#include "app/common/moment_replay.h"
#include "app/common/process_facts.h"
#include "app/common/process_tree.h"
#include "app/print/attach_json.h"
#include "app/print/attach_report.h"
#include "app/session/attach/process.h"
#include "app/session/attach/release.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define INTERRUPTED 130

typedef struct attach_options {
  gboolean json, let_go;
} attach_options;

static int
print_programs(void) {
  g_autoptr(GPtrArray) programs = td_session_list();
  if (programs->len == 0) puts("no program of yours is being recorded");
  for (guint i = 0; i < programs->len; i++) {
    const td_session_program *program = programs->pdata[i];
    g_autofree char *time =
        program->seconds < 0 ? NULL : g_strdup_printf("%" G_GINT64_FORMAT " s", program->seconds);
    printf("%7u  %9s  %s\n", program->pid, time ? time : "",
           program->command ? program->command : "");
  }
  return TD_EXIT_OK;
}

static void
print_all(const attach_options *options, const GPtrArray *processes) {
  td_attach_ranks *ranks = td_attach_ranks_compare(processes);
  (options->json ? td_attach_json_print : td_attach_report_print)(processes, ranks);
  td_attach_ranks_free(ranks);
}

/* ---- programs that are recorded ---- */

static int
read_tape(td_attach_process *process) {
  const char *path = process->program->tape;
  td_moment_options end = {.at = (char *)"end", .pass = TD_MOMENT_NO_PASS};
  g_autofree char *how = NULL;
  td_replay *replay;
  uint64_t seq;
  if (!path) return TD_EXIT_OK;
  if (!td_moment_replay(path, &end, false, &replay, &seq, &how)) return TD_EXIT_USAGE;
  td_error error = {0};
  td_status status = td_tape_check_readable(td_replay_tape(replay), &error);
  td_attach_process_take_replay(process, replay, seq);
  return status ? td_command_file_error(path, &error) : TD_EXIT_OK;
}

/* A program that answers has brought to its tape what it has emitted. So the tape comes second. */
static int
ask_all(const attach_options *options, const GPtrArray *programs) {
  int status = TD_EXIT_OK;
  g_autoptr(GPtrArray) processes = g_ptr_array_new_with_free_func(td_attach_process_free);
  for (guint i = 0; i < programs->len; i++) {
    td_attach_process *process = td_attach_process_ask(programs->pdata[i]);
    g_ptr_array_add(processes, process);
    int of_tape = read_tape(process);
    status = MAX(status, of_tape);
  }
  print_all(options, processes);
  return status;
}

static int
let_all_go(const GPtrArray *programs) {
  int status = TD_EXIT_OK;
  for (guint i = 0; i < programs->len; i++) {
    bool done;
    g_autofree char *sentence = td_attach_release(programs->pdata[i], &done);
    puts(sentence);
    if (!done) status = TD_EXIT_BAD;
  }
  return status;
}

/* ---- programs that nobody records ---- */

static int
refuse(const char *pid, pid_t number) {
  if (kill(number, 0) != 0 && errno == ESRCH)
    return td_command_fail(pid, "there is no such process");
  if (kill(number, 0) != 0 && errno == EPERM)
    return td_command_fail(pid, "that process is another user's");
  return td_command_fail(pid, "that process has not loaded PyTorch, and none that it started has");
}

/* One that could not be looked into is an error if there is no other. */
static int
conclude(const attach_options *options, const char *pid, const GPtrArray *processes) {
  const td_attach_process *first = processes->pdata[0];
  if (processes->len == 1 && !first->threads)
    return td_command_fail(pid, "that process is not recorded, and gdb cannot look into it: %s",
                           first->silence);
  print_all(options, processes);
  return TD_EXIT_OK;
}

static int
look_into_all(const attach_options *options, const char *pid, pid_t number) {
  g_autoptr(GArray) found = td_process_tree_find_torch(number);
  g_autoptr(GPtrArray) processes = g_ptr_array_new_with_free_func(td_attach_process_free);
  if (found->len == 0) return refuse(pid, number);
  if (options->let_go) {
    printf("Process %d is not recorded: nothing holds it.\n", (int)number);
    return TD_EXIT_OK;
  }
  for (guint i = 0; i < found->len; i++) {
    td_attach_process *process = td_attach_process_look(g_array_index(found, pid_t, i));
    if (!process) return INTERRUPTED;
    g_ptr_array_add(processes, process);
  }
  return conclude(options, pid, processes);
}

/* ---- whom it is about ---- */

static int
attach(const attach_options *options, const char *pid, pid_t number) {
  g_autoptr(GPtrArray) all = td_session_list();
  g_autoptr(GPtrArray) programs = g_ptr_array_new();
  for (guint i = 0; i < all->len; i++)
    if (td_session_program_is_of(all->pdata[i], number)) g_ptr_array_add(programs, all->pdata[i]);
  if (programs->len == 0) return look_into_all(options, pid, number);
  return options->let_go ? let_all_go(programs) : ask_all(options, programs);
}

int
td_command_attach(int argc, char **argv) {
  attach_options options = {0};
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON document", NULL},
      {"let-go", 0, 0, G_OPTION_ARG_NONE, &options.let_go,
       "Let a program run on if it stands still in a live session", NULL},
      {0}};
  int status;
  guint64 number;
  if (!td_command_parse("attach", entries, false, 0, 1, &argc, &argv, &status)) return status;
  if (options.json && options.let_go)
    return td_command_bad_usage("attach", "--json and --let-go do not go together");
  if (argc == 1 && (options.json || options.let_go))
    return td_command_bad_usage("attach", "give the number of a process");
  if (argc == 1) return print_programs();
  if (!g_ascii_string_to_unsigned(argv[1], 10, 1, G_MAXINT32, &number, NULL))
    return td_command_bad_usage("attach", "'%s' is not the number of a process", argv[1]);
  return attach(&options, argv[1], (pid_t)number);
}
