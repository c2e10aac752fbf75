/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/parting.h"

#include "app/session/attach/rank.h"
#include "engine/profile/ranks/autopsy_words.h"
#include "engine/profile/why/describe.h"
#include "engine/replay/replay.h"

#include <string.h>

/* The processes were asked one after the other. */
#define APART_NS G_GUINT64_CONSTANT(1000000000)

typedef struct reading {
  const td_attach_rank *rank;
  guint32 process;
  guint64 seq; /* of the next event to read */
  bool has_end;
} reading;

static bool
is_whole(td_tape *tape, const td_event_setting *event) {
  return strcmp(td_tape_string(tape, event->name), "order of collectives") != 0 ||
         strcmp(td_tape_string(tape, event->value), "whole") == 0;
}

static bool
lacks_events(const td_tape_info *info) {
  return info->n_dropped > 0 || info->n_by_kind[TD_EVENT_left_out] > 0;
}

static void
take(td_autopsy *autopsy, const reading *self, const td_event_collective *event, guint64 seq) {
  td_tape *tape = self->rank->tape;
  td_handed handed = {
      .operation = td_tape_string(tape, event->operation),
      .dtype = td_tape_string(tape, event->dtype),
      .stack = event->stack ? td_tape_string(tape, event->stack) : "",
      .elements = event->elements,
      .time = td_tape_info_get(tape)->started_ns + event->event.time,
      .seq = seq,
      .number = event->number,
      .tensors = event->tensors,
      .node = event->node,
      .peer = event->peer,
  };
  td_autopsy_take(autopsy, self->process, event, td_tape_string(tape, event->group), handed);
}

/* Takes the next operation of a rank. Returns false at the end of its tape. */
static bool
read_next(td_autopsy *autopsy, reading *self) {
  td_tape *tape = self->rank->tape;
  const td_tape_info *info = td_tape_info_get(tape);
  const td_any_event *event;
  while (self->seq < info->n_events && (event = td_tape_peek(tape, self->seq++))) {
    if (event->event.kind == TD_EVENT_session_end) self->has_end = true;
    if (event->event.kind == TD_EVENT_session_end)
      td_autopsy_end(autopsy, self->process, event->session_end.status,
                     info->started_ns + event->event.time);
    if (event->event.kind == TD_EVENT_setting && !is_whole(tape, &event->setting))
      td_autopsy_lack(autopsy);
    td_pass_leaves_take(&autopsy->leaves, self->process, event,
                        event->event.kind == TD_EVENT_node_label
                            ? td_tape_string(tape, event->node_label.label)
                            : NULL);
    if (event->event.kind != TD_EVENT_collective) continue;
    take(autopsy, self, &event->collective, self->seq - 1);
    return true;
  }
  return false;
}

/* By turns, so that what all have handed is soon forgotten. */
static void
read_all(td_autopsy *autopsy, const GPtrArray *ranks) {
  g_autofree reading *readings = g_new0(reading, ranks->len);
  for (guint i = 0; i < ranks->len; i++) {
    readings[i] = (reading){.rank = ranks->pdata[i], .process = i};
    if (lacks_events(td_tape_info_get(readings[i].rank->tape))) td_autopsy_lack(autopsy);
  }
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (guint i = 0; i < ranks->len; i++)
      goes_on |= read_next(autopsy, &readings[i]);
  }
  for (guint i = 0; i < ranks->len; i++) {
    const td_tape_info *info = td_tape_info_get(readings[i].rank->tape);
    if (readings[i].rank->is_gone && !readings[i].has_end)
      td_autopsy_go(autopsy, i, info->started_ns + info->duration_ns);
  }
}

static char *
name_process_cb(void *data, uint32_t process) {
  const GPtrArray *ranks = data;
  char *name = g_strdup_printf("rank %d", ((td_attach_rank *)ranks->pdata[process])->rank);
  return name;
}

static char *
name_node_cb(void *data, uint32_t process, uint32_t node) {
  const GPtrArray *ranks = data;
  const td_catalog *catalog = ((td_attach_rank *)ranks->pdata[process])->catalog;
  return catalog && td_catalog_node_find(catalog, node) ? td_why_name_node(catalog, node) : NULL;
}

td_attach_parting
td_attach_parting_find(const GPtrArray *ranks) {
  td_attach_parting found = {0};
  td_autopsy autopsy = {0};
  td_autopsy_names names = {name_process_cb, name_node_cb, (void *)ranks};
  read_all(&autopsy, ranks);
  guint64 now = (guint64)g_get_real_time() * 1000;
  td_parting parting = td_autopsy_find(&autopsy, now, APART_NS);
  if (parting.group) {
    found.text = td_autopsy_text(&autopsy, &parting, &names);
    found.is_mutual = parting.differs || parting.message;
    found.missing = parting.group->members[parting.missing].process;
  }
  td_autopsy_fini(&autopsy);
  return found;
}
