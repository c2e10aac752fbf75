/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/numbers.h"
#include "engine/profile/report/idle_watch.h"

/* Threads with higher numbers wait for nobody, and nobody waits for them. Else a tape with very
 * many threads would cost the square of their number. */
#define LANES_MAX 4096u

static uint32_t
n_lanes(const td_idle_watch *self) {
  return TD_MIN(self->n_lanes, LANES_MAX);
}

static bool
is_in_collective(const td_idle_lane *lane) {
  return lane->is_waiting && lane->wait == TD_IDLE_collective;
}

/* Whether a thread has come to where all processes meet. */
static bool
has_come(const td_idle_lane *lane) {
  return lane->n_callbacks || is_in_collective(lane);
}

/* ---- who came last ---- */

static bool
is_of_another(const td_catalog *catalog, const td_idle_lane *lane, const td_idle_lane *other) {
  return other && catalog->threads[lane->result.thread].process !=
                      catalog->threads[other->result.thread].process;
}

/* A thread that was there when the wait began, or came and went since, is not on its way. */
static bool
is_on_its_way(const td_idle_lane *lane, const td_idle_lane *waiting) {
  return !has_come(lane) && lane->parted <= waiting->waits_since;
}

static void
arrive(const td_idle_watch *self, const td_catalog *catalog, const td_idle_lane *lane) {
  for (uint32_t i = 0; i < n_lanes(self) && !has_come(lane); i++) {
    td_idle_lane *waiting = self->lanes[i];
    if (!is_of_another(catalog, lane, waiting) || !is_in_collective(waiting)) continue;
    if (!is_on_its_way(lane, waiting)) continue;
    waiting->arrived = self->clock.wall.inside;
    waiting->last = lane->result.thread;
  }
}

static void
part(const td_idle_watch *self, td_idle_lane *lane) {
  if (!has_come(lane)) lane->parted = self->clock.wall.inside;
}

/* Who is still on its way at the end of a wait came as soon as it had run its nodes: its thread did
 * not have to wait, or not yet. */
static void
find_last(const td_idle_watch *self, const td_catalog *catalog, td_idle_lane *waiting) {
  for (uint32_t i = 0; i < n_lanes(self); i++) {
    const td_idle_lane *lane = self->lanes[i];
    if (!is_of_another(catalog, waiting, lane) || !is_on_its_way(lane, waiting)) continue;
    uint64_t until = lane->runs ? self->clock.wall.inside : lane->ran;
    if (until <= waiting->arrived) continue;
    waiting->arrived = until;
    waiting->last = i;
  }
}

/* ---- blame ---- */

/* Blames somebody for what a thread waited in a final callback, or for other processes. */
static void
count(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *lane, uint64_t until) {
  uint64_t since = lane->counted;
  if (since >= until) return;
  lane->counted = until;
  if (is_in_collective(lane)) {
    find_last(self, catalog, lane);
    uint64_t arrived = TD_MAX(since, TD_MIN(until, lane->arrived));
    td_idle_blame_thread(&self->blame, TD_IDLE_collective, lane->last, arrived - since);
    td_idle_blame_string(&self->blame, TD_IDLE_collective, lane->whom ? lane->whom : lane->callback,
                         until - arrived);
  } else {
    td_idle_blame_string(&self->blame, TD_IDLE_callbacks, lane->callback, until - since);
  }
}

void
td_idle_blame_late(td_idle_watch *self, const td_catalog *catalog, const td_idle_lane *late,
                   uint64_t since) {
  for (uint32_t i = 0; i < n_lanes(self); i++) {
    td_idle_lane *lane = self->lanes[i];
    if (!is_of_another(catalog, late, lane) || !has_come(lane)) continue;
    uint64_t from = TD_MAX(since, lane->counted), now = self->clock.wall.inside;
    if (from >= now) continue;
    count(self, catalog, lane, from);
    td_idle_blame_thread(&self->blame, TD_IDLE_late, late->result.thread, now - from);
    lane->counted = now;
  }
}

static void
begin_callback(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *lane,
               const td_event_final_callback *event) {
  arrive(self, catalog, lane);
  if (lane->n_callbacks++) return;
  lane->callback = event->owner;
  lane->counted = self->clock.wall.inside;
}

static void
end_callback(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *lane) {
  if (!lane->n_callbacks || --lane->n_callbacks) return;
  count(self, catalog, lane, self->clock.wall.inside);
  lane->callback = 0;
  part(self, lane);
}

static void
begin_wait(td_idle_watch *self, td_idle_lane *lane, td_idle_part part, uint32_t whom) {
  lane->is_waiting = true;
  lane->wait = part;
  lane->whom = whom;
  lane->waits_since = self->clock.wall.inside;
}

static void
begin_collective(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *lane,
                 const td_event_collective_begin *event) {
  arrive(self, catalog, lane);
  if (lane->n_callbacks) count(self, catalog, lane, self->clock.wall.inside);
  begin_wait(self, lane, TD_IDLE_collective, event->operation);
  lane->counted = lane->arrived = self->clock.wall.inside;
  lane->last = TD_NONE;
}

static void
end_wait(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *lane) {
  uint64_t now = self->clock.wall.inside, ns = now - lane->waits_since;
  if (!lane->is_waiting) return;
  if (lane->wait == TD_IDLE_collective)
    count(self, catalog, lane, now);
  else if (lane->wait == TD_IDLE_stream)
    td_idle_blame_stream(&self->blame, (int32_t)lane->whom, lane->stream, ns);
  else
    td_idle_blame_thread(&self->blame, lane->wait, lane->whom, ns);
  bool was_there = has_come(lane);
  lane->is_waiting = false;
  if (was_there) part(self, lane);
}

static void
begin_stream_wait(td_idle_watch *self, td_idle_lane *lane,
                  const td_event_synchronize_begin *event) {
  begin_wait(self, lane, TD_IDLE_stream, (uint32_t)event->device);
  lane->stream = event->stream;
}

void
td_idle_change_wait(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *lane,
                    const td_any_event *any) {
  switch (any->event.kind) {
  case TD_EVENT_lock_wait:
    return begin_wait(
        self, lane, any->lock_wait.lock == TD_lock_kind_gil ? TD_IDLE_gil : TD_IDLE_lock, TD_NONE);
  case TD_EVENT_lock_held:
    if (lane->is_waiting) lane->whom = any->lock_held.holder;
    return;
  case TD_EVENT_synchronize_begin:
    return begin_stream_wait(self, lane, &any->synchronize_begin);
  case TD_EVENT_collective_begin:
    if (any->collective_begin.graph_task == TD_NONE) return; /* outside of passes */
    return begin_collective(self, catalog, lane, &any->collective_begin);
  case TD_EVENT_collective_end:
    if (any->collective_end.graph_task == TD_NONE) return;
    return end_wait(self, catalog, lane);
  case TD_EVENT_lock_acquired:
  case TD_EVENT_synchronize_end:
    return end_wait(self, catalog, lane);
  case TD_EVENT_final_callback:
    return begin_callback(self, catalog, lane, &any->final_callback);
  case TD_EVENT_final_callback_end:
    return end_callback(self, catalog, lane);
  default:
    return;
  }
}
