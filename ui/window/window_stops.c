/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_stops.h"

#include "ui/model/playhead/playhead_steps.h"

#include <glib/gi18n.h>

/* Running by hand stops playing. */
static TdStopRun *
get_run(TdWindow *window) {
  td_playhead_set_playing(td_window_get_playhead(window), FALSE);
  return td_tape_view_get_run(td_window_get_tape_view(window));
}

void
td_window_continue(TdWindow *window) {
  td_playhead_set_playing(td_window_get_playhead(window), FALSE);
  td_playhead_to_end(td_window_get_playhead(window));
  td_live_session_continue(td_window_get_live(window));
}

static gboolean
program_waits(TdWindow *window) {
  TdLiveSession *live = td_window_get_live(window);
  return live && td_live_session_get_state(live) == TD_LIVE_STOPPED;
}

/* The program may have gone on meanwhile. */
static void
past_end(TdWindow *window) {
  if (program_waits(window)) td_window_continue(window);
}

void
td_window_run_to_stop(TdWindow *window) {
  TdStopRun *run = get_run(window);
  if (!program_waits(window)) {
    td_stop_run_start(run, 1, FALSE);
    return;
  }
  g_signal_handlers_disconnect_by_func(run, past_end, window);
  g_signal_connect_object(run, "past-end", G_CALLBACK(past_end), window, G_CONNECT_SWAPPED);
  td_stop_run_start(run, 1, TRUE);
}

void
td_window_back_to_stop(TdWindow *window) {
  td_stop_run_start(get_run(window), -1, FALSE);
}

void
td_window_stop_here(TdWindow *window) {
  TdStopList *stops = td_tape_view_get_stops(td_window_get_tape_view(window));
  uint32_t node = td_playhead_get_selection(td_window_get_playhead(window));
  if (node == TD_NONE) {
    td_window_say(window, _("First select the node to stop at"));
    return;
  }
  g_autofree char *condition = g_strdup_printf("node:%u", node);
  gboolean wanted = !td_stop_list_is_on(stops, condition);
  td_stop_list_set(stops, condition, wanted);
  td_window_say(window, wanted ? _("A stop is set where this node runs")
                               : _("This node has no stop of its own now"));
}

void
td_window_show_stops(TdWindow *window) {
  td_tape_view_show_stops(td_window_get_tape_view(window));
}
