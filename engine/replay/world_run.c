/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/world_run.h"

#include "engine/replay/apply.h"

/* Applies an event, which the catalog takes first. */
static td_status
learn(td_world *world, td_collecting *collecting, const td_any_event *event, uint64_t seq,
      td_error *error) {
  td_status status = TD_OK;
  if (event && collecting) status = td_collecting_take(collecting, event, seq);
  if (!status && !td_world_is_fit(world)) status = td_world_fit(world, error);
  if (!status) td_apply_event(world, event);
  return status;
}

/* A world that gets a keyframe. */
typedef struct beginning {
  td_world *world;
  td_collecting *collecting; /* or NULL */
  td_error *error;
  uint64_t time_ns; /* of the last event before the segment */
  bool contradicts; /* the keyframe itself */
} beginning;

static td_status
apply_one(const td_any_event *event, uint64_t seq, void *data) {
  beginning *self = data;
  td_status status = learn(self->world, self->collecting, event, seq, self->error);
  if (status) return status;
  self->contradicts |= self->world->contradiction != TD_CONTRADICTION_none;
  if (event->event.kind == TD_EVENT_totals_now) self->time_ns = event->event.time;
  return TD_OK;
}

td_status
td_world_begin(td_world *world, td_tape *tape, const td_segment *segment, td_collecting *collecting,
               td_error *error) {
  beginning self = {world, collecting, error, 0, false};
  td_state_header *header = world->state.header;
  world->is_beginning = true;
  td_status status = td_tape_visit_keyframe(tape, segment, apply_one, &self, error);
  world->is_beginning = false;
  td_world_set_u64(world, &header->seq, segment->first);
  td_world_set_u64(world, &header->time_ns, self.time_ns);
  world->contradiction = self.contradicts ? TD_CONTRADICTION_keyframe : TD_CONTRADICTION_none;
  if (self.contradicts) td_apply_note_contradiction(world);
  return status;
}

td_status
td_world_run(td_world *world, td_tape *tape, const td_segment *segment, td_collecting *collecting,
             td_world_visitor visit, void *data, td_error *error) {
  td_status status = TD_OK;
  td_tape_begin_pass(tape, segment);
  for (uint64_t seq = segment->first; seq < segment->end && !status; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    status = learn(world, collecting, event, seq, error);
    if (!status && visit) status = visit(event, seq, data);
  }
  td_tape_end_pass(tape);
  if (!status && world->out_of_memory) status = td_world_fit(world, error);
  return status ? status : td_tape_check_readable(tape, error);
}
