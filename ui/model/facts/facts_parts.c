/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node is made of besides its function: its hooks, what it keeps for backward, and who wrote
 * into that. */
#include "ui/model/facts/facts_parts.h"

#include "engine/profile/why/conflicts.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/findings/problems.h"

#include <glib/gi18n.h>

#define MAX_PARTS_LISTED 32

static gboolean
read_event(TdFactList *facts, uint64_t seq, td_any_event *event) {
  td_tape *tape;
  return td_document_read_event(facts->document, seq, event, &tape, NULL) != NULL;
}

static const char *
text_of(const TdFactList *facts, uint32_t string) {
  return td_tape_string(td_replay_tape(td_document_get_replay(facts->document)), string);
}

static gboolean
has_happened(const TdFactList *facts, const td_catalog_mention *mention) {
  return mention->seq < facts->state->header->seq;
}

static const char *const hook_kinds[TD_hook_kind_LIMIT] = {
    [TD_hook_kind_tensor_pre] = N_("Tensor hook"),
    [TD_hook_kind_retains_grad] = N_("retain_grad"),
    [TD_hook_kind_pre] = N_("Pre-hook"),
    [TD_hook_kind_post] = N_("Post-hook"),
    [TD_hook_kind_capture] = N_("Capture hook"),
    [TD_hook_kind_post_accumulate_grad] = N_("After accumulation"),
    [TD_hook_kind_creation] = N_("Creation hook"),
};

/* In the order in which they ran; a later pass calls the same hooks again. */
void
td_facts_add_hooks(TdFactList *facts, uint32_t node) {
  uint32_t n;
  const td_catalog_mention *mentions =
      td_catalog_mentions_of(facts->catalog, TD_LIST_hooks, node, &n);
  td_any_event event;
  facts->section = _("Hooks");
  for (uint32_t i = n > MAX_PARTS_LISTED ? n - MAX_PARTS_LISTED : 0; i < n; i++) {
    if (!read_event(facts, mentions[i].seq, &event)) continue;
    const td_event_hook_begin *hook = &event.hook_begin;
    const char *kind = hook->kind < TD_hook_kind_LIMIT ? _(hook_kinds[hook->kind]) : _("Hook");
    const char *owner = text_of(facts, hook->owner);
    td_fact_list_add(facts, kind,
                     g_strdup_printf(has_happened(facts, &mentions[i]) ? _("%s · called")
                                                                       : _("%s · to be called"),
                                     *owner ? owner : _("a function without a name")));
  }
}

static void
add_writer(TdFactList *facts, const td_event_version_conflict *conflict) {
  td_event_tensor_write write;
  td_tape *tape = td_replay_tape(td_document_get_replay(facts->document));
  if (!td_conflict_find_write(facts->catalog, tape, conflict, &write)) return;
  const char *operation = text_of(facts, write.operation);
  const char *stack = text_of(facts, write.stack);
  char *text = g_strdup_printf(_("%s, which made it version %u"), operation, write.version);
  if (write.node != TD_NONE)
    td_fact_list_add_link(facts, _("Written by"), text, write.node);
  else
    td_fact_list_add_more(facts, _("Written by"), text, *stack ? stack : NULL);
}

/* What a node that failed said: the last thing before the playhead. */
void
td_facts_add_error(TdFactList *facts, uint32_t node) {
  size_t n;
  const td_catalog_mention *problems = td_document_get_problems(facts->document, &n);
  td_any_event event;
  uint32_t pass = td_document_pass_of(facts->document, node);
  if (td_state_pair(facts->state, node, pass).state != TD_NODE_failed) return;
  facts->section = _("Failed");
  for (size_t i = 0; i < n && has_happened(facts, &problems[i]); i++)
    if (problems[i].kind == TD_EVENT_error && problems[i].node == node &&
        read_event(facts, problems[i].seq, &event))
      td_fact_list_add(facts, _("Error"), g_strdup(text_of(facts, event.error.text)));
}

/* Why "modified by an inplace operation": who saved what, and who wrote into it. */
void
td_facts_add_conflicts(TdFactList *facts, uint32_t node) {
  size_t n;
  const td_catalog_mention *problems = td_document_get_problems(facts->document, &n);
  td_any_event event;
  facts->section = _("Version conflict");
  for (size_t i = 0; i < n && has_happened(facts, &problems[i]); i++) {
    if (problems[i].kind != TD_EVENT_version_conflict || problems[i].node != node) continue;
    if (!read_event(facts, problems[i].seq, &event)) continue;
    const td_event_version_conflict *conflict = &event.version_conflict;
    td_fact_list_add(
        facts, _("Saved here"),
        g_strdup_printf(_("tensor %u, at version %u"), conflict->number, conflict->saved));
    td_fact_list_add(facts, _("Found"), g_strdup_printf(_("at version %u"), conflict->found));
    add_writer(facts, conflict);
  }
}

/* "float32 [64, 10], ", or "" on tapes that have neither. */
static char *
kind_of_saved(const TdFactList *facts, const td_event_saved_tensor *saved) {
  const char *shape = text_of(facts, saved->shape), *dtype = text_of(facts, saved->dtype);
  return *shape ? g_strdup_printf("%s %s, ", dtype, shape) : g_strdup("");
}

/* Newest first: what a later use of the node saved under the same number replaces the older. */
void
td_facts_add_saved(TdFactList *facts, uint32_t node) {
  uint32_t n;
  const td_catalog_mention *mentions =
      td_catalog_mentions_of(facts->catalog, TD_LIST_saved, node, &n);
  td_any_event event;
  facts->section = _("Saved for backward");
  for (uint32_t i = 0; i < MIN(n, MAX_PARTS_LISTED); i++) {
    if (!has_happened(facts, &mentions[i]) || !read_event(facts, mentions[i].seq, &event)) continue;
    const td_event_saved_tensor *saved = &event.saved_tensor;
    g_autofree char *title = g_strdup_printf(_("Tensor %u"), saved->number);
    g_autofree char *bytes = td_format_bytes(saved->bytes), *kind = kind_of_saved(facts, saved);
    td_fact_list_add(
        facts, title,
        g_strdup_printf(saved->is_output ? _("%s%s, a result, version %u") : _("%s%s, version %u"),
                        kind, bytes, saved->version));
  }
}
