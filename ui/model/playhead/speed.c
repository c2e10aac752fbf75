/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/speed.h"

#include "ui/draw/timeline_picture.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"

#include <glib/gi18n.h>

static const struct {
  TdSpeedUnit unit;
  double value;
} speeds[] = {{TD_SPEED_EVENTS, 2},   {TD_SPEED_EVENTS, 10},   {TD_SPEED_EVENTS, 30},
              {TD_SPEED_EVENTS, 100}, {TD_SPEED_EVENTS, 1000}, {TD_SPEED_EVENTS, 10000},
              {TD_SPEED_PASS, 60},    {TD_SPEED_PASS, 20},     {TD_SPEED_PASS, 5},
              {TD_SPEED_TIME, 10000}, {TD_SPEED_TIME, 1000},   {TD_SPEED_TIME, 100},
              {TD_SPEED_TIME, 10},    {TD_SPEED_TIME, 1}};

guint
td_speed_count(void) {
  return G_N_ELEMENTS(speeds);
}

guint
td_speed_find(TdSpeedUnit unit, double value) {
  guint i = 0;
  while (i < G_N_ELEMENTS(speeds) && (speeds[i].unit != unit || speeds[i].value != value))
    i++;
  return i;
}

char *
td_speed_dup_text(guint speed) {
  g_autofree char *value = td_format_count((uint64_t)speeds[speed].value);
  switch (speeds[speed].unit) {
  case TD_SPEED_EVENTS:
    return g_strdup_printf(_("%s/s"), value);
  case TD_SPEED_PASS:
    return g_strdup_printf(_("pass in %s s"), value);
  case TD_SPEED_TIME:
    break;
  }
  return speeds[speed].value == 1 ? g_strdup(_("real time"))
                                  : g_strdup_printf(_("time × %s"), value);
}

/* The events of the pass at a position, at least one. */
static double
events_of_pass(TdDocument *document, uint64_t position) {
  uint32_t graph_task = td_document_graph_task_at(document, position);
  const td_catalog_graph_task *pass =
      td_catalog_graph_task_find(td_document_get_catalog(document), graph_task);
  uint64_t length = td_document_get_length(document);
  if (!pass) return (double)MAX(length, 1);
  return (double)MAX(MIN(pass->end_seq, length), pass->begin_seq + 1) - (double)pass->begin_seq;
}

static uint64_t
advance_events(double events, uint64_t position, TdSpeedCarry *carry) {
  carry->events += events;
  uint64_t whole = (uint64_t)carry->events;
  carry->events -= (double)whole;
  return position + whole;
}

/* Many events may be so close that one frame shows them at once, and none for many frames. */
static uint64_t
advance_time(TdDocument *document, uint64_t position, double ns, TdSpeedCarry *carry) {
  td_replay *replay = td_document_get_replay(document);
  td_tape *tape = td_replay_tape(replay);
  const td_time_cuts *cuts = td_timeline_cuts(td_document_get_timeline(document));
  if (carry->position != position || carry->place_ns == 0)
    carry->place_ns = td_time_cuts_place(cuts, (double)td_replay_state(replay)->header->time_ns);
  carry->place_ns += ns;
  double now = td_time_cuts_time(cuts, carry->place_ns);
  uint64_t end = td_replay_end(replay), reached = td_tape_seq_at(tape, (uint64_t)now) + 1;
  bool is_over = reached >= end && position >= end;
  carry->position = is_over ? end + 1 : CLAMP(reached, position, end);
  return carry->position;
}

uint64_t
td_speed_advance(guint speed, TdDocument *document, uint64_t position, double seconds,
                 TdSpeedCarry *carry) {
  double value = speeds[speed].value;
  switch (speeds[speed].unit) {
  case TD_SPEED_PASS:
    return advance_events(seconds * events_of_pass(document, position) / value, position, carry);
  case TD_SPEED_TIME:
    return advance_time(document, position, seconds * 1e9 / value, carry);
  case TD_SPEED_EVENTS:
    break;
  }
  return advance_events(seconds * value, position, carry);
}
