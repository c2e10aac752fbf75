/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/findings/problems.h"

#include "engine/profile/why/cause_words.h"
#include "engine/replay/steps.h"
#include "ui/model/base/dotted.h"
#include "ui/model/document/document_segment.h"

#include <glib/gi18n.h>

const td_catalog_mention *
td_document_get_problems(TdDocument *self, size_t *n) {
  const td_catalog *catalog = td_document_get_whole(self);
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  *n = problems->n;
  return problems->items;
}

gboolean
td_document_find_anomaly(TdDocument *self, uint32_t node, uint32_t nth, uint64_t *seq,
                         td_event_anomaly *out) {
  size_t n;
  td_replay *replay = td_document_get_replay(self);
  const td_catalog_mention *problems = td_document_get_problems(self, &n);
  td_any_event event;
  td_tape *tape;
  for (size_t i = 0; i < n; i++) {
    const td_catalog_mention *problem = &problems[i];
    if (problem->seq >= td_replay_position(replay)) return FALSE;
    if (problem->kind != TD_EVENT_anomaly || problem->node != node || nth-- > 0) continue;
    if (!td_document_read_event(self, problem->seq, &event, &tape, NULL)) return FALSE;
    *out = event.anomaly;
    *seq = problem->seq;
    return TRUE;
  }
  return FALSE;
}

/* Reads any event of the tape. */
static td_tape *
tape_of(TdDocument *self) {
  td_outline *outline = td_document_get_outline(self);
  return outline ? td_outline_tape(outline) : td_replay_tape(td_document_get_replay(self));
}

static char *
words_of_cause(TdDocument *self, uint64_t seq, const td_any_event *problem) {
  uint32_t n;
  const td_catalog_cause *causes = td_document_get_causes(self, &n);
  td_tape *tape = tape_of(self);
  uint64_t cause = 0;
  td_cause_known known = td_cause_look_up(causes, n, tape, seq, problem, &cause);
  return td_cause_words(td_document_get_whole(self), tape, known, cause);
}

char *
td_document_dup_cause(TdDocument *self, uint64_t seq) {
  td_any_event event;
  bool is_there = td_tape_get(tape_of(self), seq, &event, NULL) == TD_OK;
  return is_there ? words_of_cause(self, seq, &event) : g_strdup("");
}

static gboolean
find_step(TdDocument *self, uint64_t seq, uint32_t thread, uint32_t *step) {
  const td_catalog *whole = td_document_get_whole(self);
  uint32_t process = thread < whole->n_threads ? whole->threads[thread].process : 0;
  return td_step_at(whole, process, seq, step);
}

char *
td_document_dup_problem_place(TdDocument *self, uint64_t seq) {
  td_any_event event;
  uint32_t step;
  GString *text = g_string_new(NULL);
  TdSegment segment = td_document_segment_at(self, seq + 1);
  if (td_tape_get(tape_of(self), seq, &event, NULL) == TD_OK) {
    if (find_step(self, seq, event.event.thread, &step))
      td_dotted_take(text, g_strdup_printf(_("step %u"), step));
    if (segment.n > 1)
      td_dotted_take(text, g_strdup_printf(_("segment %u of %u"), segment.number, segment.n));
    td_dotted_take(text, words_of_cause(self, seq, &event));
  }
  return g_string_free(text, FALSE);
}
