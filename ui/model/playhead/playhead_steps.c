/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/playhead_steps.h"
#include "engine/base/bisect.h"

#include "ui/model/document/document_segment.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/document/passes.h"
#include "ui/model/findings/problems.h"

#include <glib/gi18n.h>

static bool
is_node_begin(const td_any_event *event, void *data) {
  return event->event.kind == TD_EVENT_node_begin;
}

/* Event 0 has no number before it that a search could start from. */
static gboolean
find_from(TdPlayhead *self, int direction, td_event_predicate matches, uint64_t *seq) {
  td_replay *replay = td_document_get_replay(td_playhead_get_document(self));
  uint64_t position = td_playhead_get_position(self);
  td_any_event first;
  if (position == 0) {
    if (direction < 0 || td_replay_event(replay, 0, &first, NULL) != TD_OK) return FALSE;
    *seq = 0;
    if (matches(&first, NULL)) return TRUE;
  }
  uint64_t from = position ? position - 1 : 0;
  return td_replay_find(replay, from, direction > 0, matches, NULL, seq, NULL) == TD_OK;
}

/* Does the tape go on beyond the segment that is shown? */
static gboolean
goes_on(TdPlayhead *self, int direction) {
  TdDocument *document = td_playhead_get_document(self);
  TdSegment segment = td_document_get_segment(document);
  return direction > 0 ? segment.end < td_document_get_length(document) : segment.first > 0;
}

void
td_playhead_step_node(TdPlayhead *self, int direction) {
  if (!td_playhead_get_document(self)) return;
  uint64_t seq;
  if (td_playhead_is_travelling(self))
    td_playhead_travel_to_node(self, direction);
  else if (find_from(self, direction, is_node_begin, &seq))
    td_playhead_set_position(self, seq + 1);
  else if (goes_on(self, direction))
    td_playhead_travel_to_node(self, direction);
  else if (direction > 0)
    td_playhead_to_end(self);
  else
    td_playhead_to_start(self);
}

typedef struct Edge {
  td_event_kind kind;
  uint32_t node, graph_task;
} Edge;

static bool
is_edge(const td_any_event *event, void *data) {
  const Edge *wanted = data;
  if (event->event.kind != wanted->kind) return false;
  if (wanted->kind == TD_EVENT_node_begin)
    return event->node_begin.node == wanted->node &&
           event->node_begin.graph_task == wanted->graph_task;
  return event->node_end.node == wanted->node && event->node_end.graph_task == wanted->graph_task;
}

void
td_playhead_go_to_node(TdPlayhead *self, td_event_kind edge) {
  TdDocument *document = td_playhead_get_document(self);
  uint32_t node = td_playhead_get_selection(self);
  if (!document || node == TD_NONE) return;
  Edge wanted = {edge, node, td_document_get_graph_task(document)};
  const td_catalog_graph_task *pass =
      td_catalog_graph_task_find(td_document_get_catalog(document), wanted.graph_task);
  uint64_t seq;
  if (!pass || td_replay_find(td_document_get_replay(document), pass->begin_seq, true, is_edge,
                              &wanted, &seq, NULL) != TD_OK) {
    td_playhead_say(self, td_document_is_cut(document)
                              ? _("This segment of the tape does not have that event")
                              : _("The pass shown does not have that event"));
    return;
  }
  td_playhead_set_playing(self, FALSE);
  td_playhead_show_node(self, seq + 1, node);
}

void
td_playhead_step_graph_task(TdPlayhead *self, int direction) {
  TdDocument *document = td_playhead_get_document(self);
  if (!document) return;
  const td_catalog *catalog = td_document_get_whole(document);
  uint64_t here = td_playhead_get_target(self), best = direction > 0 ? G_MAXUINT64 : 0;
  uint32_t process = td_document_get_process(document);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (!td_pass_is_of(catalog, pass, process)) continue;
    uint64_t position = pass->begin_seq + 1;
    if (direction > 0 && position > here) best = MIN(best, position);
    if (direction < 0 && position < here) best = MAX(best, position);
  }
  if (best == G_MAXUINT64)
    td_playhead_say(self, _("This tape has no further backward pass"));
  else
    td_playhead_set_position(self, best);
}

/* Before the first step lies the start. */
void
td_playhead_step_training(TdPlayhead *self, int direction) {
  TdDocument *document = td_playhead_get_document(self);
  if (!document) return;
  const td_catalog *catalog = td_document_get_whole(document);
  uint64_t here = td_playhead_get_target(self);
  uint32_t next; /* the first step not before the playhead */
  TD_BISECT(next, 0, catalog->n_steps, catalog->steps[next].seq + 1 < here + (direction > 0));
  if (direction > 0 && next < catalog->n_steps)
    td_playhead_set_position(self, catalog->steps[next].seq + 1);
  else if (direction < 0 && next > 0)
    td_playhead_set_position(self, catalog->steps[next - 1].seq + 1);
  else if (direction < 0 && catalog->n_steps)
    td_playhead_to_start(self);
  else
    td_playhead_say(self,
                    catalog->n_steps
                        ? _("This tape has no further training step")
                        : _("The program counted no training steps; tapedeck.step() counts one"));
}

void
td_playhead_to_start(TdPlayhead *self) {
  td_playhead_set_position(self, 0);
}

void
td_playhead_to_end(TdPlayhead *self) {
  td_playhead_set_position(self, G_MAXUINT64);
}

void
td_playhead_show_problem(TdPlayhead *self, uint64_t seq) {
  td_playhead_set_playing(self, FALSE);
  td_playhead_set_position(self, seq + 1);
  td_playhead_select_reached(self);
}

void
td_playhead_run_to_problem(TdPlayhead *self) {
  TdDocument *document = td_playhead_get_document(self);
  if (!document) return;
  size_t n;
  uint64_t here = td_playhead_get_target(self);
  const td_catalog_mention *problems = td_document_get_problems(document, &n);
  for (size_t i = 0; i < n; i++) {
    if (problems[i].seq < here || problems[i].kind == TD_EVENT_breakpoint_hit) continue;
    g_autofree char *text = td_document_dup_event_text(document, problems[i].seq);
    td_playhead_show_problem(self, problems[i].seq);
    td_playhead_say(self, text);
    return;
  }
  td_playhead_say(self, n ? _("No further NaN, Inf or error after this event")
                          : _("This tape has no NaN, Inf or error"));
}
