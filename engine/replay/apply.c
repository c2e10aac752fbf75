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
td_apply_event(td_world *world, const td_any_event *event) {
  td_state_header *header = world->state.header;
  world->troubled = event == NULL;
  if (event) {
    void (*apply)(td_world *, const td_any_event *) = appliers[event->event.kind];
    if (apply) apply(world, event);
    td_world_set_u64(world, &header->time_ns, event->event.time);
  }
  td_world_set_u64(world, &header->seq, header->seq + 1);
}
