/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/node_state_text.h"

#include <glib/gi18n.h>

static const char *const state_names[TD_N_NODE_STATES] = {
    [TD_NODE_created] = N_("created"),
    [TD_NODE_waiting] = N_("waiting for gradients"),
    [TD_NODE_partial] = N_("waiting, some gradients arrived"),
    [TD_NODE_queued] = N_("in a ready queue"),
    [TD_NODE_running] = N_("running"),
    [TD_NODE_done] = N_("done"),
    [TD_NODE_skipped] = N_("skipped: not run in this pass"),
    [TD_NODE_captured] = N_("gradient captured"),
    [TD_NODE_failed] = N_("failed"),
    [TD_NODE_released] = N_("released"),
    [TD_NODE_absent] = N_("not created yet"),
};

const char *
td_node_state_text(td_node_state state) {
  return state < TD_N_NODE_STATES ? _(state_names[state]) : "";
}

static gboolean
waits_for_lock(const td_state *state, uint32_t node, const td_pair_now *now) {
  if (now->state != TD_NODE_running || now->thread == TD_NONE) return FALSE;
  const td_thread_now *thread = td_state_thread(state, now->thread);
  return thread->node == node && thread->lock != TD_NONE;
}

const char *
td_node_state_text_now(TdDocument *document, uint32_t node) {
  const td_state *state = td_document_get_state(document);
  uint32_t pass = td_document_pass_of(document, node);
  const td_task_now *task = td_state_task_find(state, node, pass);
  td_pair_now now = td_state_pair(state, node, pass);
  if (!now.is_known) return _("not known: another pass has used the node since this one ended");
  if (waits_for_lock(state, node, &now)) return _("running, waits for a lock");
  if (now.state == TD_NODE_partial && task && task->expected && !task->dependencies)
    return _("has all its gradients");
  return td_node_state_text(now.state);
}

/* How many gradients came says more than that some did. */
static char *
dup_state(TdDocument *document, uint32_t node) {
  const td_state *state = td_document_get_state(document);
  uint32_t pass = td_document_pass_of(document, node);
  td_pair_now now = td_state_pair(state, node, pass);
  const td_task_now *task = td_state_task_find(state, node, pass);
  if ((now.state == TD_NODE_waiting || now.state == TD_NODE_partial) && task && task->expected &&
      task->dependencies)
    return g_strdup_printf(_("waits, %u of %u gradients arrived"),
                           task->expected - MIN(task->dependencies, task->expected),
                           task->expected);
  if (now.state == TD_NODE_running && now.thread != TD_NONE) {
    char *thread = td_catalog_thread_label(td_document_get_catalog(document), now.thread);
    bool waits = waits_for_lock(state, node, &now);
    char *text = g_strdup_printf(
        waits ? _("running on %s, which waits for a lock") : _("running on %s"), thread);
    free(thread);
    return text;
  }
  return g_strdup(td_node_state_text_now(document, node));
}

char *
td_node_state_dup_now(TdDocument *document, uint32_t node) {
  if (!td_catalog_has_node(td_document_get_catalog(document), node)) return g_strdup("");
  const td_node_now *now = td_state_node(td_document_get_state(document), node);
  g_autofree char *state = dup_state(document, node);
  if (!now->anomaly) return g_steal_pointer(&state);
  const char *kind = now->anomaly == TD_NODE_INF ? "Inf" : "NaN";
  return g_strdup_printf(_("%s, %s was born here"), state, kind);
}

char *
td_node_dup_sequence(uint64_t sequence_nr) {
  if (sequence_nr == UINT64_MAX) return g_strdup(_("sequence_nr max"));
  return g_strdup_printf(_("sequence_nr %llu"), (unsigned long long)sequence_nr);
}
