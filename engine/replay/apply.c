/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/apply.h"

static void (*const appliers[TD_EVENT_LIMIT])(td_world *world, const td_any_event *any) = {
#define APPLY_state(name) td_apply_##name
#define APPLY_both(name) td_apply_##name
#define APPLY_facts(name) NULL
#define APPLY_neither(name) NULL
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
  [number] = APPLY_##replay(name),
#include "engine/events/events.def"
#undef TD_EVENT
};

void
td_apply_note_contradiction(td_world *world) {
  td_contradictions *noted = &world->state.header->contradictions;
  td_world_set(world, &noted->n, noted->n + 1);
  if (noted->n > 1) return;
  td_world_set_u64(world, &noted->first, world->state.header->seq);
  td_world_set(world, &noted->why, world->contradiction);
  td_world_set(world, &noted->state, world->contradicted);
}

void
td_apply_event(td_world *world, const td_any_event *event) {
  td_state_header *header = world->state.header;
  world->contradiction = event ? TD_CONTRADICTION_none : TD_CONTRADICTION_unread;
  world->contradicted = TD_NODE_absent;
  if (event) {
    void (*apply)(td_world *, const td_any_event *) = appliers[event->event.kind];
    if (apply) apply(world, event);
    td_world_set_u64(world, &header->time_ns, event->event.time);
  }
  if (world->contradiction && !world->is_beginning) td_apply_note_contradiction(world);
  td_world_set_u64(world, &header->seq, header->seq + 1);
}
