/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/speed/steady_tape.h"

#include "engine/trace/contents.h"
#include "engine/trace/maker.h"
#include "engine/trace/tape.h"

#include <glib.h>
#include <glib/gstdio.h>

#define NS_APART 700

/* Numbers of texts are those of the process that recorded. */
static void
intern_texts(td_maker *maker, const td_tape *tape, td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    uint32_t *at = (uint32_t *)(void *)((char *)event + type->fields[i].offset);
    if (type->fields[i].type != TD_FIELD_STRING) continue;
    *at = td_maker_intern(maker, event->event.thread, event->event.time, td_tape_string(tape, *at));
  }
}

/* An event `string` is the maker's to write. */
static td_status
copy_event(td_maker *maker, td_tape *tape, uint64_t seq, td_error *error) {
  td_any_event event;
  td_status status = td_tape_get(tape, seq, &event, error);
  if (status || event.event.kind == TD_EVENT_string) return status;
  event.event.time = seq * NS_APART;
  intern_texts(maker, tape, &event);
  td_maker_add(maker, event);
  return TD_OK;
}

static td_status
copy(td_tape *tape, const char *path, td_error *error) {
  td_maker *maker;
  td_status status = td_maker_open(path, true, 0, 1, &maker, error);
  if (status) return status;
  for (uint64_t seq = 0; seq < td_tape_info_get(tape)->n_events && !status; seq++)
    status = copy_event(maker, tape, seq, error);
  if (!status) return td_maker_close(maker, error);
  td_maker_abandon(maker);
  return status;
}

td_status
td_steady_tape_make(const td_tape_plan *plan, const char *path, td_error *error) {
  g_autofree char *recorded = g_strconcat(path, ".recorded", NULL);
  td_tape *tape;
  td_status status = td_tape_make(plan, recorded, error);
  if (!status) status = td_tape_open(recorded, &tape, error);
  if (!status) {
    status = copy(tape, path, error);
    td_tape_close(tape);
  }
  g_unlink(recorded);
  return status;
}
