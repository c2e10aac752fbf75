/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/document_texts.h"

#include "engine/profile/findings/finding.h"
#include "engine/profile/why/why.h"
#include "ui/geometry/format.h"
#include "ui/model/base/dotted.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"

#include <glib/gi18n.h>

static char *
refusal_text(TdDocument *self, uint64_t position, const char *why) {
  TdSegment segment = td_document_segment_at(self, position);
  return g_strdup_printf(
      _("Segment %u of %u of this tape cannot be shown: %s. The window shows another segment."),
      segment.number, segment.n, why);
}

char *
td_document_dup_warning(TdDocument *self) {
  const td_tape_info *info = td_document_get_info(self);
  uint64_t refused = 0;
  const char *refusal = td_document_get_refusal(self, &refused);
  gboolean growing = td_document_is_growing(self);
  if (refusal && td_document_is_cut(self)) return refusal_text(self, refused, refusal);
  if (refusal)
    return g_strdup_printf(_("The list of this tape's segments is damaged: %s. The window reads "
                             "all of the tape instead."),
                           refusal);
  if (info->damage && !growing)
    return g_strdup_printf(
        _("This tape is damaged: %s. The window shows the part that can be read."), info->damage);
  if (info->n_dropped) {
    g_autofree char *count = td_format_count(info->n_dropped);
    return g_strdup_printf(ngettext("The recorder dropped %s event, so the pictures have gaps.",
                                    "The recorder dropped %s events, so the pictures have gaps.",
                                    (gulong)info->n_dropped),
                           count);
  }
  td_replay *replay = td_document_get_replay(self);
  td_contradictions contradictions = td_replay_contradictions(replay);
  if (growing) return NULL;
  return td_why_contradictions(td_replay_catalog(replay), td_replay_tape(replay), &contradictions);
}

/* Whether a NaN was found depends on what the recording looked for. Older tapes do not say that. */
static const char *
calm_text(TdDocument *self) {
  const char *search = td_catalog_setting_find(td_document_get_whole(self), "anomaly");
  if (td_document_get_info(self)->known[TD_EVENT_error] == TD_knowledge_absent)
    return _("The tape does not show whether there was an error. It does not show NaN and Inf "
             "either: the recording did not look for them.");
  if (td_document_get_info(self)->n_by_kind[TD_EVENT_unread])
    return _("There is no error. The recording could not read all gradients, so there may be NaN "
             "and Inf.");
  if (strcmp(search, "nonfinite") == 0)
    return _("There is no error, and no gradient or sum was NaN or Inf.");
  if (strcmp(search, "nan") == 0)
    return _("There is no error, and no gradient or sum was NaN. The recording did not look for "
             "Inf. To look for both, record with --anomaly nonfinite.");
  if (td_findings_look_at_roots(td_document_get_whole(self)))
    return _("There is no error. The last losses that are one number are finite, and so are the "
             "last gradients that parameters stored. To look for NaN and Inf everywhere, record "
             "with --anomaly nonfinite.");
  if (td_findings_look_at_leaves(td_document_get_whole(self)))
    return _("There is no error, and the last gradients that parameters stored are finite. To "
             "look for NaN and Inf everywhere, record with --anomaly nonfinite.");
  if (!*search && td_document_get_info(self)->known[TD_EVENT_anomaly] != TD_knowledge_absent)
    return _("There is no error, and no NaN or Inf was found. A recording looks for both only "
             "with --anomaly nonfinite.");
  return _("There is no error. The recording did not look for NaN and Inf. To look for them, "
           "record with --anomaly nonfinite.");
}

char *
td_document_dup_calm_text(TdDocument *self) {
  const td_tape_info *info = td_document_get_info(self);
  const char *found = calm_text(self);
  if (!info->damage && !info->n_dropped) return g_strdup(found);
  return g_strconcat(found, "\n\n", _("Events that the tape lacks may show some."), NULL);
}

char *
td_document_dup_node_name(TdDocument *self, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(td_document_get_catalog(self), node);
  const char *name = facts ? facts->name : "";
  return g_strdup_printf("%s #%u", *name ? name : C_("name", "node"), node);
}

char *
td_document_dup_node_called(TdDocument *self, uint32_t node) {
  const td_catalog *catalog = td_document_get_catalog(self);
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return facts && facts->label ? g_strdup(facts->label) : td_catalog_module_label(catalog, node);
}

char *
td_document_dup_node_words(TdDocument *self, uint32_t node) {
  g_autofree char *name = td_document_dup_node_name(self, node);
  g_autofree char *called = td_document_dup_node_called(self, node);
  return called ? g_strdup_printf("%s (%s)", name, called) : g_steal_pointer(&name);
}

char *
td_document_dup_edge_name(TdDocument *self, uint32_t edge) {
  const td_catalog_edge *facts = &td_document_get_catalog(self)->edges[edge];
  g_autofree char *from = td_document_dup_node_name(self, facts->from);
  g_autofree char *to = td_document_dup_node_name(self, facts->to);
  return g_strdup_printf(_("Edge from %s to %s"), from, to);
}

char *
td_document_dup_pass_text(TdDocument *self, uint32_t graph_task) {
  uint32_t n;
  const td_catalog *whole = td_document_get_whole(self);
  uint32_t number = td_pass_number(whole, td_document_get_process(self), graph_task, &n);
  uint32_t depth = td_catalog_depth(whole, graph_task);
  g_autofree char *step = td_document_dup_step_text(self, graph_task);
  g_autofree char *pass =
      depth ? g_strdup_printf(_("Backward pass %u of %u · depth %u"), number, n, depth)
            : g_strdup_printf(_("Backward pass %u of %u"), number, n);
  GString *text = g_string_new(pass);
  td_dotted_add(text, step);
  return g_string_free(text, FALSE);
}

GStrv
td_document_dup_process_names(TdDocument *self) {
  const td_catalog *catalog = td_document_get_catalog(self);
  GStrv names = g_new0(char *, catalog->n_processes + 1);
  for (uint32_t i = 0; i < catalog->n_processes; i++) {
    char *name = td_catalog_process_label(catalog, i);
    names[i] = g_strdup(name);
    free(name);
  }
  return names;
}

static char *
take_error_text(td_error *error) {
  char *text = g_strdup(td_error_text(error));
  td_error_clear(error);
  return text;
}

static char *
describe_event(TdDocument *self, uint64_t seq,
               char *(*describe)(const td_catalog *catalog, td_tape *tape,
                                 const td_any_event *event)) {
  td_any_event event;
  td_tape *tape;
  td_error error = {0};
  const td_catalog *catalog = td_document_read_event(self, seq, &event, &tape, &error);
  return catalog ? describe(catalog, tape, &event) : take_error_text(&error);
}

char *
td_document_dup_event_text(TdDocument *self, uint64_t seq) {
  return describe_event(self, seq, td_why_describe);
}

char *
td_document_dup_event_brief(TdDocument *self, uint64_t seq) {
  return describe_event(self, seq, td_why_describe_briefly);
}

char *
td_document_dup_event_module(TdDocument *self, uint64_t seq) {
  td_any_event event;
  td_tape *tape;
  const td_catalog *catalog = td_document_read_event(self, seq, &event, &tape, NULL);
  return catalog ? td_catalog_module_label(catalog, td_why_node_of(&event)) : NULL;
}

char *
td_document_dup_wait_text(TdDocument *self, uint32_t node) {
  return td_why_wait(td_document_get_replay(self), node, td_document_pass_of(self, node));
}

uint64_t
td_document_find_last_pop(TdDocument *self, uint32_t *queue) {
  const td_catalog *catalog = td_document_get_catalog(self);
  uint64_t last = UINT64_MAX;
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    uint64_t seq = td_state_queue(td_document_get_state(self), i)->last_pop_seq;
    if (td_catalog_process_of_queue(catalog, i) != td_document_get_process(self)) continue;
    if (seq == UINT64_MAX || (last != UINT64_MAX && seq < last)) continue;
    last = seq;
    *queue = i;
  }
  return last;
}

uint32_t
td_document_find_running(TdDocument *self) {
  const td_state *state = td_document_get_state(self);
  uint32_t queue, node = td_document_find_last_pop(self, &queue) == UINT64_MAX
                             ? TD_NONE
                             : td_state_queue(state, queue)->last_node;
  if (!td_catalog_has_node(td_document_get_catalog(self), node)) return TD_NONE;
  return td_state_pair(state, node, TD_NONE).state == TD_NODE_running ? node : TD_NONE;
}

/* Why a task was popped follows from what else was in the queue then. */
static char *
tell_of_earlier_segment(TdDocument *self, uint64_t seq) {
  g_autofree char *pop = describe_event(self, seq, td_why_describe);
  return g_strdup_printf(_("%s. The segment before this one shows why."), pop);
}

/* The playhead may be far beyond the pop by now, so the text begins with its event. */
char *
td_document_dup_pop_text(TdDocument *self, uint64_t seq) {
  td_error error = {0};
  char *text = NULL;
  g_autofree char *number = td_format_count(seq);
  if (seq < td_replay_first(td_document_get_replay(self))) {
    g_autofree char *earlier = tell_of_earlier_segment(self, seq);
    return g_strdup_printf(_("Event %s: %s"), number, earlier);
  }
  if (td_why_pop(td_document_get_replay(self), seq, &text, &error)) return take_error_text(&error);
  char *told = g_strdup_printf(_("Event %s: %s"), number, text);
  free(text);
  return told;
}
