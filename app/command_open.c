/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/window_request.h"

#include <errno.h>
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
page_exists(const char *page) {
  static const char *const pages[] = {"inspector", "events", "problems", NULL};
  return g_strv_contains(pages, page);
}

static int
check_values(gint64 at, const char *size, TdWindowRequest *request) {
  if (at < -1) return td_command_bad_usage("open", "--at wants the number of an event");
  if (size && !parse_size(size, request))
    return td_command_bad_usage("open", "--size wants WIDTHxHEIGHT, as 1600x1000");
  if (request->page && !page_exists(request->page))
    return td_command_bad_usage("open", "--page wants inspector, events or problems");
  if (request->path && access(request->path, R_OK) != 0)
    return td_command_fail(request->path, "%s", strerror(errno));
  request->position = at >= 0 ? (guint64)at + 1 : G_MAXUINT64;
  return TD_EXIT_OK;
}

int
td_command_open(int argc, char **argv) {
  TdWindowRequest request = {.node = -1};
  gint64 at = -1;
  g_autofree char *screenshot = NULL, *size = NULL, *page = NULL;
  const GOptionEntry entries[] = {
      {"at", 0, 0, G_OPTION_ARG_INT64, &at, "Go to the instant after event SEQ", "SEQ"},
      {"node", 0, 0, G_OPTION_ARG_INT64, &request.node, "Select this node", "NODE"},
      {"page", 0, 0, G_OPTION_ARG_STRING, &page, "Side pane: inspector, events or problems",
       "PAGE"},
      {"size", 0, 0, G_OPTION_ARG_STRING, &size, "Size of the window", "WxH"},
      {"dark", 0, 0, G_OPTION_ARG_NONE, &request.dark, "Dark colours", NULL},
      {"screenshot", 0, 0, G_OPTION_ARG_FILENAME, &screenshot,
       "Write a picture of the window to OUT.png and quit", "OUT.png"},
      {0}};
  int status;
  if (!td_command_parse("open", entries, false, 0, 1, &argc, &argv, &status)) return status;
  request.path = argc > 1 ? argv[1] : NULL;
  request.page = page;
  request.screenshot = screenshot;
  status = check_values(at, size, &request);
  return status == TD_EXIT_OK ? td_window_run(&request) : status;
}
