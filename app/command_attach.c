/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck attach`: what a program does now that is being recorded. The program goes on as before.
 * Its tape says where the engine is; the probe says where its threads are in Python. */
#include "app/command.h"
#include "app/session_list.h"
#include "app/state_text.h"
#include "app/tape_at.h"
#include "engine/control/link.h"
#include "ui/geometry/format.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_S 4

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

/* ---- where its threads are in Python ---- */

static bool
ask_where(const td_session_program *program, td_line *reply) {
  td_line_text question;
  td_link *link = NULL;
  td_error error = {0};
  td_status status = td_link_connect(program->session, &link, &error);
  td_error_clear(&error);
  if (status) return false;
  td_link_set_patience(link, PATIENCE_S);
  td_line_begin(&question, "where");
  td_line_add_number(&question, "pid", program->pid);
  status = td_link_ask(link, &question, reply, &error);
  td_line_text_fini(&question);
  td_error_clear(&error);
  td_link_close(link);
  return !status;
}

static void
print_lines(const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    bool is_name = g_str_has_prefix(lines[i], "thread ");
    if (*lines[i]) printf("  %s\n", lines[i] + (is_name ? strlen("thread ") : 0));
  }
}

/* The answer, or NULL: there was none. */
static void
print_where(const td_line *reply) {
  puts("\nIts threads in Python, the innermost line first");
  if (!reply) {
    puts("  unknown: the program does not answer");
    return;
  }
  const char *text = td_line_find(reply, "text"), *problem = td_line_find(reply, "problem");
  if (td_line_flag(reply, "held"))
    puts("  One of them holds the GIL and does not give it back. The others wait for it.");
  if (text) print_lines(text);
  if (!text) printf("  unknown: %s\n", problem ? problem : "the program does not say");
}

/* ---- where the engine is ---- */

static void
print_age(const td_tape_at *at) {
  const td_tape_info *info = td_tape_info_get(td_replay_tape(at->replay));
  gint64 last = (gint64)(info->started_ns + td_replay_state(at->replay)->header->time_ns);
  char *age = td_format_ns(MAX(0, (double)(g_get_real_time() * 1000 - last)));
  printf("The last event, number %" PRIu64 ", came %s ago.\n", at->seq, age);
  free(age);
}

static int
print_tape(const td_session_program *program, const td_line *where) {
  td_tape_at at;
  int status;
  const GOptionEntry none[] = {{0}};
  char *argv[] = {(char *)"attach", program->tape, (char *)"--at", (char *)"end", NULL};
  if (!td_tape_at_open(&at, "attach", none, 4, argv, &status)) return status;
  printf("Recorded into %s. ", program->tape);
  print_age(&at);
  print_where(where);
  td_state_print_text(at.replay);
  return td_tape_at_conclude(&at);
}

/* A program that is asked brings to its tape what it has emitted. So it is asked first. */
static int
print_program(const td_session_program *program) {
  td_line reply;
  printf("Process %u: %s\n", program->pid, program->command ? program->command : "");
  if (!program->tape) {
    puts("Nothing is on its tape: no backward pass has begun.");
    return TD_EXIT_OK;
  }
  bool answered = ask_where(program, &reply);
  int status = print_tape(program, answered ? &reply : NULL);
  if (answered) td_line_fini(&reply);
  return status;
}

/* ---- whom it is about ---- */

static bool
has_torch(const char *pid) {
  g_autofree char *path = g_strdup_printf("/proc/%s/maps", pid);
  g_autofree char *maps = NULL;
  return g_file_get_contents(path, &maps, NULL, NULL) && strstr(maps, "/libtorch_cpu.so");
}

static int
refuse(const char *pid, pid_t number) {
  if (kill(number, 0) != 0 && errno == ESRCH)
    return td_command_fail(pid, "there is no such process");
  if (kill(number, 0) != 0 && errno == EPERM)
    return td_command_fail(pid, "that process is another user's");
  if (!has_torch(pid)) return td_command_fail(pid, "that process has not loaded PyTorch");
  return td_command_fail(pid,
                         "that process is not recorded: start it with `tapedeck record`, or have "
                         "it call tapedeck.start()");
}

static int
attach(const char *pid, pid_t number) {
  g_autoptr(GPtrArray) programs = td_session_list();
  int status = TD_EXIT_OK;
  guint n = 0;
  for (guint i = 0; i < programs->len; i++) {
    const td_session_program *program = programs->pdata[i];
    if (!td_session_program_is_of(program, number)) continue;
    if (n++) putchar('\n');
    int own = print_program(program);
    status = MAX(status, own);
  }
  return n ? status : refuse(pid, number);
}

int
td_command_attach(int argc, char **argv) {
  const GOptionEntry entries[] = {{0}};
  int status;
  guint64 number;
  if (!td_command_parse("attach", entries, false, 0, 1, &argc, &argv, &status)) return status;
  if (argc == 1) return print_programs();
  if (!g_ascii_string_to_unsigned(argv[1], 10, 1, G_MAXINT32, &number, NULL))
    return td_command_bad_usage("attach", "'%s' is not the number of a process", argv[1]);
  return attach(argv[1], (pid_t)number);
}
