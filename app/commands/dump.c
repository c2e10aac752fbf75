/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/session/session_list.h"
#include "engine/control/link.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* The session that the environment of a process names, or NULL. */
static char *
find_session(const char *pid) {
  const char *name = TD_LINK_VARIABLE "=";
  g_autofree char *path = g_strdup_printf("/proc/%s/environ", pid);
  g_autofree char *bytes = NULL;
  gsize n;
  if (!g_file_get_contents(path, &bytes, &n, NULL)) return NULL;
  for (const char *word = bytes; word < bytes + n; word += strlen(word) + 1)
    if (g_str_has_prefix(word, name)) return g_strdup(word + strlen(name));
  return NULL;
}

/* `tapedeck record` itself has no such name in its environment, but the command that it started
 * has. */
static char *
find_session_of_child(const char *pid) {
  g_autofree char *path = g_strdup_printf("/proc/%s/task/%s/children", pid, pid);
  g_autofree char *list = NULL;
  if (!g_file_get_contents(path, &list, NULL, NULL)) return NULL;
  g_auto(GStrv) children = g_strsplit(g_strchomp(list), " ", -1);
  char *session = NULL;
  for (guint i = 0; children[i] && !session; i++)
    session = find_session(children[i]);
  return session;
}

/* A program that records itself has the name in its memory alone. */
static char *
find_session_in_list(pid_t pid) {
  g_autoptr(GPtrArray) programs = td_session_list();
  for (guint i = 0; i < programs->len; i++) {
    const td_session_program *program = programs->pdata[i];
    if (td_session_program_is_of(program, pid)) return g_strdup(program->session);
  }
  return NULL;
}

static td_status
ask(const char *session, td_line *reply, td_error *error) {
  td_line_text question;
  td_link *link = NULL;
  td_line_begin(&question, "dump");
  td_status status = td_link_open(session, &question, reply, &link, error);
  td_line_text_fini(&question);
  if (!status) td_link_close(link);
  return status;
}

/* Prints the path of the tape, or why there is none. */
static int
print_reply(const char *pid, const td_line *reply) {
  const char *path = td_line_find(reply, "path"), *problem = td_line_find(reply, "problem");
  if (!path)
    return td_command_fail(pid, "nothing was written: %s",
                           problem ? problem : "its recording cannot do it");
  puts(path);
  return TD_EXIT_OK;
}

static int
dump(const char *pid, const char *session) {
  td_error error = {0};
  td_line reply;
  int status;
  if (ask(session, &reply, &error)) {
    status = td_command_fail(pid, "its recording does not answer: %s", td_error_text(&error));
  } else {
    status = print_reply(pid, &reply);
    td_line_fini(&reply);
  }
  td_error_clear(&error);
  return status;
}

int
td_command_dump(int argc, char **argv) {
  const GOptionEntry entries[] = {{0}};
  int status;
  guint64 number;
  if (!td_command_parse("dump", entries, false, 1, 1, &argc, &argv, &status)) return status;
  if (!g_ascii_string_to_unsigned(argv[1], 10, 1, G_MAXINT32, &number, NULL))
    return td_command_bad_usage("dump", "'%s' is not the number of a process", argv[1]);
  g_autofree char *session = find_session(argv[1]);
  if (!session) session = find_session_of_child(argv[1]);
  if (!session) session = find_session_in_list((pid_t)number);
  return session ? dump(argv[1], session)
                 : td_command_fail(argv[1], "no process of yours with that number is recorded");
}
