/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/commands/open_remote.h"
#include "app/commands/overlay_option.h"
#include "app/common/leftovers.h"
#include "app/common/lessons.h"
#include "app/common/moment.h"
#include "app/session/remote_address.h"
#include "engine/trace/join.h"
#include "ui/model/analysis/analysis_wish.h"
#include "ui/model/document/layout.h"
#include "ui/window/window_request.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool
parse_size(const char *text, TdWindowRequest *request) {
  char rest;
  return sscanf(text, "%dx%d%c", &request->width, &request->height, &rest) == 2 &&
         request->width >= 100 && request->height >= 100 && request->width <= 10000 &&
         request->height <= 10000;
}

static bool
parse_range(const char *text, TdWindowRequest *request) {
  char rest;
  request->has_range =
      g_ascii_isdigit(*text) &&
      sscanf(text, "%" SCNu64 ":%" SCNu64 "%c", &request->from_ns, &request->to_ns, &rest) == 2 &&
      request->from_ns < request->to_ns;
  return request->has_range;
}

static int
check_tape(const char *path) {
  td_error error = {0};
  td_tape *tape = NULL;
  int status = TD_EXIT_OK;
  if (td_tape_open(path, &tape, &error))
    status = td_command_fail(path, "%s", td_error_text(&error));
  td_error_clear(&error);
  td_tape_close(tape);
  return status;
}

/* The window of two tapes shows no tape alone, so both must be tapes before it opens. */
static int
check_beside(const TdWindowRequest *request) {
  gboolean has_pass = request->beside_pass != TD_MOMENT_NO_PASS;
  if ((request->beside || has_pass) && !request->path)
    return td_command_bad_usage("open", "--beside and --beside-pass need a tape");
  if (has_pass && request->moment.pass == TD_MOMENT_NO_PASS)
    return td_command_bad_usage("open", "--beside-pass needs --pass, the pass on the left");
  if (has_pass && (request->beside_pass < 0 || request->beside_pass >= TD_NONE))
    return td_command_bad_usage("open", "--beside-pass: must be the number of a graph task");
  if (!request->beside) return TD_EXIT_OK;
  int status = check_tape(request->path);
  return status ? status : check_tape(request->beside);
}

static bool
knows_lesson(const char *name) {
  g_autoptr(GError) error = NULL;
  g_autoptr(td_lesson) lesson = td_lessons_find(name, NULL, &error);
  if (!lesson) td_command_bad_usage("open", "--lesson: %s", error->message);
  return lesson != NULL;
}

static int
check_values(const char *size, const char *overlay, const char *range, TdWindowRequest *request) {
#define X(name, title) #name,
  static const char *const pages[] = {"answers", "inspector", "events", "findings",
                                      TD_ANALYSES(X) NULL};
#undef X
#define X(NAME, name) #name,
  static const char *const layouts[] = {TD_LAYOUTS(X) NULL};
#undef X
  if (!td_moment_options_check("open", &request->moment)) return TD_EXIT_USAGE;
  if (td_moment_options_given(&request->moment) && !request->path)
    return td_command_bad_usage("open", "--at and --pass need a tape");
  int status = check_beside(request);
  if (status != TD_EXIT_OK) return status;
  if (size && !parse_size(size, request))
    return td_command_bad_usage("open", "--size '%s': must be WIDTHxHEIGHT, such as 1600x1000",
                                size);
  if (range && !request->path) return td_command_bad_usage("open", "--range needs a tape");
  if (range && !parse_range(range, request))
    return td_command_bad_usage(
        "open", "--range '%s': must be FROM:TO, two times on the tape in ns, such as 1200:3400",
        range);
  if (g_strcmp0(request->page, "problems") == 0) request->page = "findings"; /* its older name */
  if (request->page && !td_command_check_word("open", "--page", request->page, pages))
    return TD_EXIT_USAGE;
  if (request->layout && !td_command_check_word("open", "--layout", request->layout, layouts))
    return TD_EXIT_USAGE;
  if (request->lesson && !knows_lesson(request->lesson)) return TD_EXIT_USAGE;
  if (!td_overlay_option_find("open", overlay, &request->overlay)) return TD_EXIT_USAGE;
  if (request->path && access(request->path, R_OK) != 0)
    return td_command_fail(request->path, "%s", strerror(errno));
  return TD_EXIT_OK;
}

/* A.tape and B.tape become A+B.tape in a new folder, as long as the window is open. */
static char *
join_path(char **paths, const char *folder) {
  g_autoptr(GString) name = g_string_new(NULL);
  for (guint i = 0; paths[i] && i < 4; i++) {
    g_autofree char *base = g_path_get_basename(paths[i]);
    if (g_str_has_suffix(base, ".tape")) base[strlen(base) - strlen(".tape")] = '\0';
    g_string_append_printf(name, "%s%.40s", i ? "+" : "", base);
  }
  g_string_append(name, ".tape");
  return g_build_filename(folder, name->str, NULL);
}

static int
run_joined(TdWindowRequest *request, char **paths) {
  g_autoptr(GError) problem = NULL;
  g_autofree char *folder = td_leftovers_make_folder("tapedeck-XXXXXX", &problem);
  if (!folder) return td_command_fail(paths[0], "%s", problem->message);
  g_autofree char *path = join_path(paths, folder);
  td_error error = {0};
  int status = TD_EXIT_USAGE;
  request->path = path;
  td_leftovers_add(path);
  if (td_join((const char *const *)paths, g_strv_length(paths), path, false, &error) == TD_OK)
    status = td_window_run(request);
  else
    fprintf(stderr, "tapedeck: %s\n", td_error_text(&error));
  td_error_clear(&error);
  g_unlink(path);
  g_rmdir(folder);
  td_leftovers_forget(path);
  td_leftovers_forget(folder);
  return status;
}

/* A tape, several, or none. */
static int
run_here(TdWindowRequest *request, char **paths) {
  return paths[0] && paths[1] ? run_joined(request, paths) : td_window_run(request);
}

int
td_command_open(int argc, char **argv) {
  TdWindowRequest request = {
      .node = -1, .moment = TD_MOMENT_OPTIONS, .beside_pass = TD_MOMENT_NO_PASS};
  g_autofree char *screenshot = NULL, *size = NULL, *page = NULL, *session = NULL;
  g_autofree char *beside = NULL, *lesson = NULL, *remote = NULL, *output = NULL;
  g_auto(GStrv) arguments = g_strdupv(argv + 1);
  g_autofree char *overlay = NULL, *layout = NULL, *range = NULL;
  const GOptionEntry entries[] = {
      TD_MOMENT_ENTRIES(request.moment, "the begin of the first pass"),
      {"beside", 0, 0, G_OPTION_ARG_FILENAME, &beside,
       "Show another tape beside it, aligned as by `tapedeck diff`", "OTHER.tape"},
      {"beside-pass", 0, 0, G_OPTION_ARG_INT64, &request.beside_pass,
       "Show graph task N beside that of --pass", "N"},
      {"node", 0, 0, G_OPTION_ARG_INT64, &request.node, "Select this node", "NODE"},
      {"page", 0, 0, G_OPTION_ARG_STRING, &page,
       "Side pane: answers, inspector, events, findings, profile, waiting, contention, critical, "
       "whatif or "
       "memory",
       "PAGE"},
      {"layout", 0, 0, G_OPTION_ARG_STRING, &layout,
       "Layout of the panes: debug, profile or teach (default: the one of the last time)",
       "LAYOUT"},
      {"range", 0, 0, G_OPTION_ARG_STRING, &range,
       "Choose this range of time, in ns as `tapedeck events` has them: tables count it alone",
       "FROM:TO"},
      {"overlay", 0, 0, G_OPTION_ARG_STRING, &overlay, TD_OVERLAY_HELP, "WHAT"},
      {"lesson", 0, 0, G_OPTION_ARG_STRING, &lesson,
       "Begin this lesson of the course, in place of a tape", "NAME"},
      {"size", 0, 0, G_OPTION_ARG_STRING, &size, "Size of the window", "WxH"},
      {"dark", 0, 0, G_OPTION_ARG_NONE, &request.dark, "Dark colours", NULL},
      TD_TRUST_ENTRY,
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
       "With ssh://...: where the copy of the tape goes, to stay (default: a temporary file)",
       "FILE"},
      {"session", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &session, NULL, NULL},
      {"process", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &request.process, NULL, NULL},
      {"remote", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &remote, NULL, NULL},
      {"screenshot", 0, 0, G_OPTION_ARG_FILENAME, &screenshot,
       "Write a picture of the window to OUT.png and quit", "OUT.png"},
      {0}};
  int status;
  if (!td_command_parse("open", entries, false, 0, -1, &argc, &argv, &status)) return status;
  bool is_remote = argc == 2 && td_remote_address_is(argv[1]);
  request.path = argc > 1 && !is_remote ? argv[1] : NULL;
  request.remote = remote;
  request.beside = beside;
  request.lesson = lesson;
  request.page = page;
  request.layout = layout;
  request.session = session;
  request.screenshot = screenshot;
  status = check_values(size, overlay, range, &request);
  if (status == TD_EXIT_OK && lesson && argc > 1)
    status = td_command_bad_usage("open", "--lesson goes without a tape");
  if (status == TD_EXIT_OK && argc > 2 && (beside || request.beside_pass != TD_MOMENT_NO_PASS))
    status = td_command_bad_usage("open", "--beside and --beside-pass go with one tape");
  if (status == TD_EXIT_OK)
    status = is_remote ? td_open_remote(argv[1], arguments, output) : run_here(&request, argv + 1);
  td_moment_options_fini(&request.moment);
  return td_window_leave(status);
}
