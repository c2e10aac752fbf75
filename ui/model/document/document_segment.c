/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/document_segment.h"

#include "engine/base/bisect.h"
#include "ui/draw/strip_picture.h"
#include "ui/geometry/format.h"
#include "ui/model/base/dotted.h"
#include "ui/model/document/passes.h"

#include <glib/gi18n.h>

gboolean
td_document_is_cut(TdDocument *self) {
  return td_document_get_outline(self) != NULL;
}

TdSegment
td_document_segment_at(TdDocument *self, uint64_t position) {
  td_outline *outline = td_document_get_outline(self);
  if (!outline) return (TdSegment){1, 1, 0, td_document_get_length(self)};
  td_tape *tape = td_outline_tape(outline);
  td_segment segment = td_tape_segment_at(tape, position ? position - 1 : 0);
  return (TdSegment){segment.number + 1, td_tape_n_segments(tape), segment.first, segment.end};
}

TdSegment
td_document_get_segment(TdDocument *self) {
  return td_document_segment_at(self, td_replay_first(td_document_get_replay(self)) + 1);
}

gboolean
td_document_covers(TdDocument *self, uint64_t position) {
  td_replay *replay = td_document_get_replay(self);
  uint64_t first = td_replay_first(replay);
  return (position > first || first == 0) && position <= td_replay_end(replay);
}

const td_catalog *
td_document_get_whole(TdDocument *self) {
  td_outline *outline = td_document_get_outline(self);
  return outline ? td_outline_catalog(outline) : td_document_get_catalog(self);
}

uint64_t
td_document_get_length(TdDocument *self) {
  return td_document_get_info(self)->n_events;
}

static double
time_of(TdDocument *self, uint64_t seq) {
  td_any_event event;
  td_replay *replay = td_document_get_replay(self);
  return td_replay_event(replay, seq, &event, NULL) == TD_OK ? (double)event.event.time : 0;
}

void
td_document_get_extent(TdDocument *self, double *from_ns, double *to_ns) {
  td_replay *replay = td_document_get_replay(self);
  *from_ns = 0;
  *to_ns = (double)td_document_get_info(self)->duration_ns;
  if (!td_document_is_cut(self)) return;
  *from_ns = time_of(self, td_replay_first(replay));
  *to_ns = MAX(*from_ns, time_of(self, td_replay_end(replay) - 1));
}

const td_catalog *
td_document_read_event(TdDocument *self, uint64_t seq, td_any_event *event, td_tape **tape,
                       td_error *error) {
  td_outline *outline = td_document_get_outline(self);
  const td_catalog *catalog = td_document_get_catalog(self);
  *tape = td_replay_tape(td_document_get_replay(self));
  if (td_catalog_event(catalog, *tape, seq, event, outline ? NULL : error) == TD_OK) return catalog;
  if (!outline) return NULL;
  catalog = td_outline_catalog(outline);
  *tape = td_outline_tape(outline);
  return td_catalog_event(catalog, *tape, seq, event, error) == TD_OK ? catalog : NULL;
}

static void
add_time(GString *text, const td_catalog *whole, uint64_t position) {
  double ns;
  if (!td_strip_time_at(whole, position, &ns)) return;
  g_autofree char *time = td_format_ns(ns);
  td_dotted_take(text, g_strdup_printf(_("about %s"), time));
}

char *
td_document_dup_step_text(TdDocument *self, uint32_t graph_task) {
  uint32_t step;
  const td_catalog *whole = td_document_get_whole(self);
  bool is_counted = td_pass_find_step(whole, td_document_get_process(self), graph_task, &step);
  if (step == TD_NONE) return g_strdup("");
  return g_strdup_printf(is_counted ? _("step %u") : _("after step %u"), step);
}

static void
add_pass(GString *text, TdDocument *self, uint64_t position) {
  const td_catalog *whole = td_document_get_whole(self);
  uint32_t n, process = td_document_get_process(self);
  uint32_t pass = td_pass_at(whole, td_document_get_length(self), process, position);
  if (pass == TD_NONE) return;
  g_autofree char *step = td_document_dup_step_text(self, pass);
  uint32_t number = td_pass_number(whole, process, pass, &n);
  td_dotted_add(text, step);
  td_dotted_take(text, g_strdup_printf(_("pass %u of %u"), number, n));
}

char *
td_document_dup_place_text(TdDocument *self, uint64_t position) {
  const td_catalog *whole = td_document_get_whole(self);
  g_autofree char *event = td_format_count(position ? position - 1 : 0);
  g_autofree char *length = td_format_count(td_document_get_length(self));
  GString *text = g_string_new(NULL);
  TdSegment segment = td_document_segment_at(self, position);
  g_string_append_printf(text, _("event %s of %s"), event, length);
  add_time(text, whole, position);
  add_pass(text, self, position);
  td_dotted_take(text, g_strdup_printf(_("segment %u of %u"), segment.number, segment.n));
  return g_string_free(text, FALSE);
}

char *
td_document_dup_segment_text(TdDocument *self) {
  TdSegment segment = td_document_get_segment(self);
  return g_strdup_printf(_("Segment %u of %u"), segment.number, segment.n);
}

char *
td_document_dup_segment_events(TdDocument *self) {
  TdSegment segment = td_document_get_segment(self);
  g_autofree char *first = td_format_count(segment.first);
  g_autofree char *last = td_format_count(segment.end - 1);
  g_autofree char *length = td_format_count(td_document_get_length(self));
  return g_strdup_printf(_("events %s to %s of %s"), first, last, length);
}
