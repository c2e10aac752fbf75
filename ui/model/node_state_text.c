/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/node_state_text.h"

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

const char *
td_node_state_text_now(TdDocument *document, uint32_t node) {
  const td_state *state = td_document_get_state(document);
  const td_task_now *task = td_state_task_find(state, node, TD_NONE);
  td_node_state now = td_state_node(state, node)->state;
  if (now == TD_NODE_partial && task && task->expected && !task->dependencies)
    return _("has all its gradients");
  return td_node_state_text(now);
}
