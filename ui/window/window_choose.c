/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_choose.h"

#include <glib/gi18n.h>

static gboolean
holds(const td_state *state, uint32_t queue, uint32_t node) {
  const td_queue_now *now = td_state_queue(state, queue);
  for (uint32_t i = 0; i < now->n; i++)
    if (td_state_entry(state, now->first + i)->node == node) return TRUE;
  return FALSE;
}

/* The queue in which a node waits at the playhead, or TD_NONE. */
static uint32_t
find_queue(TdWindow *window, uint32_t node) {
  TdDocument *document = td_playhead_get_document(td_window_get_playhead(window));
  uint32_t n = td_document_get_catalog(document)->n_queues;
  for (uint32_t queue = 0; queue < n; queue++)
    if (holds(td_document_get_state(document), queue, node)) return queue;
  return TD_NONE;
}

/* The bar of the live session shows a choice that was made. */
static void
answered(TdWindow *window, const char *refusal, TdLiveSession *live) {
  if (!*refusal) return;
  g_autofree char *text = g_strdup_printf(_("It cannot run next: %s"), refusal);
  td_window_say(window, text);
}

void
td_window_run_next(TdWindow *window) {
  TdLiveSession *live = td_window_get_live(window);
  uint32_t node = td_playhead_get_selection(td_window_get_playhead(window));
  uint32_t queue = node == TD_NONE ? TD_NONE : find_queue(window, node);
  if (queue == TD_NONE) {
    td_window_say(window, _("First select a task that waits in a ready queue"));
    return;
  }
  g_signal_handlers_disconnect_by_func(live, answered, window);
  g_signal_connect_object(live, "answered", G_CALLBACK(answered), window, G_CONNECT_SWAPPED);
  td_live_session_choose(live, queue, node);
}
