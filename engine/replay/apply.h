/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The only code that interprets events: one function per kind that changes the state. The catalog
 * has met each id, so only TD_NONE needs to be looked for. Private to
 * engine/replay: others call td_apply_event. One thread. */
#pragma once

#include "engine/replay/world.h"

/* td_apply_event applies one event: only this function changes the state. An event that contradicts
 * the state sets world->contradiction. NULL: an event that cannot be read. */
void td_apply_event(td_world *world, const td_any_event *event);

/* td_apply_note_contradiction counts world->contradiction in the state. td_apply_event does so too,
 * but for the events of a keyframe. */
void td_apply_note_contradiction(td_world *world);

/* The kinds that events.def counts among the changes of the state have a function. */
#define DECLARE_state(name) void td_apply_##name(td_world *world, const td_any_event *any);
#define DECLARE_both(name) DECLARE_state(name)
#define DECLARE_facts(name)
#define DECLARE_neither(name)
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
  DECLARE_##replay(name)
#include "engine/events/events.def"
#undef TD_EVENT
#undef DECLARE_state
#undef DECLARE_both
#undef DECLARE_facts
#undef DECLARE_neither

/* The event contradicts the state: of several reasons, the first counts. */
static inline void
td_apply_trouble(td_world *world, td_contradiction why) {
  if (!world->contradiction) world->contradiction = why;
}

/* So does the event with what a node does in a pass. */
static inline void
td_apply_trouble_of(td_world *world, td_contradiction why, td_node_state state) {
  td_apply_trouble(world, why);
  world->contradicted = state;
}

/* The node that the event is about, if there is one. */
static inline void
td_apply_current(td_world *world, uint32_t node) {
  if (node != TD_NONE) td_world_set(world, &world->state.header->current_node, node);
}

/* What the event's thread does, and what it works on. */
static inline void
td_apply_activity(td_world *world, const td_event *event, td_thread_activity state) {
  td_thread_now *thread = td_world_thread(world, event->thread);
  if (thread->state == (uint32_t)state) return;
  td_world_set(world, &thread->state, (uint32_t)state);
  td_world_set_u64(world, &thread->since_ns, event->time);
}

static inline void
td_apply_work(td_world *world, const td_event *event, uint32_t node, uint32_t graph_task) {
  td_thread_now *thread = td_world_thread(world, event->thread);
  td_world_set(world, &thread->node, node);
  td_world_set(world, &thread->graph_task, graph_task);
}
