/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/render_options.h"

#include "app/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_SIZE = 64, MOST_SIZE = 16384 };

#define ROOM 0.02 /* of a pass, on each side */

bool
td_render_parse_size(const char *text, int *width, int *height) {
  char end;
  if (!text) return true;
  bool is_size = g_ascii_isdigit(text[0]) && sscanf(text, "%5dx%5d%c", width, height, &end) == 2;
  if (is_size && *width >= LEAST_SIZE && *width <= MOST_SIZE && *height >= LEAST_SIZE &&
      *height <= MOST_SIZE)
    return true;
  td_command_bad_usage("render", "--size '%s': must be WIDTHxHEIGHT, each from %d to %d", text,
                       LEAST_SIZE, MOST_SIZE);
  return false;
}

bool
td_render_range_check(const td_render_range *range, const char *view) {
  bool is_given = range->from != -1 || range->to != -1;
  bool is_turned = range->to != -1 && range->from > range->to;
  if (!is_given) return true;
  if (range->from < -1 || range->to < -1)
    td_command_bad_usage("render", "--from and --to: must be the numbers of events");
  else if (is_turned)
    td_command_bad_usage("render", "--to: must not be before --from");
  else if (strcmp(view, "timeline") != 0)
    td_command_bad_usage("render", "--from and --to go with --view timeline alone");
  else
    return true;
  return false;
}

static bool
find_time(td_tape *tape, const char *path, gint64 seq, double *ns) {
  td_any_event event;
  td_error error = {0};
  uint64_t n = td_tape_info_get(tape)->n_events;
  if (seq == -1) return true;
  if ((uint64_t)seq >= n) {
    td_command_fail(path, "there is no event %" PRId64 "; the tape has %" PRIu64, (int64_t)seq, n);
    return false;
  }
  if (td_tape_get(tape, (uint64_t)seq, &event, &error)) {
    td_command_file_error(path, &error);
    return false;
  }
  *ns = (double)event.event.time;
  return true;
}

/* The pass with a little room on both sides. One that has no end on the tape lasts to the end. */
static void
narrow_to_pass(const td_catalog *catalog, uint32_t graph_task, double *from_ns, double *to_ns) {
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, graph_task);
  if (!pass) return;
  double begin = (double)pass->begin_ns;
  double end = pass->took_ns ? begin + (double)pass->took_ns : *to_ns;
  double room = ROOM * (end - begin);
  *from_ns = MAX(begin - room, *from_ns);
  *to_ns = MIN(end + room, *to_ns);
}

bool
td_render_range_find(const td_render_range *range, uint32_t graph_task, const td_timeline *timeline,
                     td_replay *replay, const char *path, double *from_ns, double *to_ns) {
  td_tape *tape = td_replay_tape(replay);
  td_timeline_extent(timeline, from_ns, to_ns);
  if (graph_task != TD_NONE && range->from == -1 && range->to == -1)
    narrow_to_pass(td_replay_catalog(replay), graph_task, from_ns, to_ns);
  if (!find_time(tape, path, range->from, from_ns) || !find_time(tape, path, range->to, to_ns))
    return false;
  *to_ns = MAX(*to_ns, *from_ns + 1);
  return true;
}
