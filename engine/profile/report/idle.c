/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/idle.h"

#include "engine/base/alloc.h"
#include "engine/profile/knowledge.h"
#include "engine/profile/report/idle_watch.h"
#include "engine/profile/report/report_keys.h"
#include "engine/replay/catalog_visit.h"

#include <string.h>

/* ---- time ---- */

static void
advance(td_idle_watch *self, const td_any_event *event) {
  td_range_clock_take(&self->time, event);
  td_range_time now = td_range_clock_time(&self->time);
  td_range_time passed = td_range_time_since(&self->now, &now);
  self->now = now;
  if (!self->n_under_way) return;
  td_range_time_add(&self->clock.wall, &passed);
  if (!self->n_running) return;
  td_range_time_add(&self->clock.busy, &passed);
  for (int i = 0; i < TD_IDLE_DEVICES; i++)
    if (self->running[i])
      self->clock.share[i] += (double)passed.inside * self->running[i] / self->n_running;
}

static td_idle_part
part_of(const td_idle_lane *lane) {
  if (lane->is_waiting) return lane->wait;
  if (lane->runs) return TD_IDLE_running;
  if (lane->n_callbacks) return TD_IDLE_callbacks;
  return lane->depth || (lane->serves && !lane->has_ended) ? TD_IDLE_engine : TD_IDLE_outside;
}

/* Waits for a core are told of in the pass in which they were. */
static void
begin_fresh(const td_idle_watch *self, td_idle_lane *lane) {
  if (lane->fresh_since == self->period.wall.all) return;
  lane->fresh_since = self->period.wall.all;
  memset(lane->fresh, 0, sizeof lane->fresh);
}

static void
add(td_idle_lane *lane, td_idle_part part, const td_range_time *time) {
  lane->result.parts[part] += time->inside;
  td_range_time_add(&lane->fresh[part], time);
}

/* Gives a part its time, and no_core its share of that; returns how much that was of all. */
static uint64_t
split(td_idle_lane *lane, td_idle_part part, td_range_time time, uint64_t no_core) {
  td_range_time taken = td_range_time_share(&time, no_core);
  lane->result.parts[TD_IDLE_no_core] += taken.inside;
  td_range_time_remove(&time, &taken);
  add(lane, part, &time);
  return taken.all;
}

/* Of a sleep, the thread waited for a core at the end: of the time in which nobody ran nodes, it
 * takes as much as of the rest. */
static uint64_t
credit_sleep(td_idle_lane *lane, const td_idle_clock *until, uint64_t no_core) {
  td_range_time wall = td_range_time_since(&lane->since.wall, &until->wall);
  td_range_time busy = td_range_time_since(&lane->since.busy, &until->busy);
  td_range_time rest = td_range_time_since(&busy, &wall);
  uint64_t taken = TD_MIN(no_core, wall.all);
  uint64_t of_busy = wall.all ? td_range_share(busy.all, taken, wall.all) : 0;
  double left = busy.all ? 1 - (double)of_busy / (double)busy.all : 0;
  for (int i = 0; i < TD_IDLE_DEVICES; i++)
    lane->waited_for[i] += left * (until->share[i] - lane->since.share[i]);
  split(lane, TD_IDLE_no_ready, busy, of_busy);
  split(lane, TD_IDLE_waking, rest, taken - of_busy);
  return taken;
}

/* A thread in no pass does not count its waits. */
static uint64_t
credit_awake(td_idle_lane *lane, const td_idle_clock *until, uint64_t no_core) {
  td_range_time wall = td_range_time_since(&lane->since.wall, &until->wall);
  td_idle_part part = part_of(lane);
  return split(lane, part, wall, part == TD_IDLE_outside ? 0 : no_core);
}

static uint64_t
credit_until(td_idle_lane *lane, const td_idle_clock *until, uint64_t no_core) {
  return lane->is_asleep ? credit_sleep(lane, until, no_core) : credit_awake(lane, until, no_core);
}

static void
take_from_earlier(td_idle_lane *lane, uint64_t no_core) {
  static const td_idle_part earlier[] = {TD_IDLE_running, TD_IDLE_lock,      TD_IDLE_gil,
                                         TD_IDLE_stream,  TD_IDLE_callbacks, TD_IDLE_engine};
  for (size_t i = 0; i < TD_N_ELEMENTS(earlier) && no_core; i++) {
    td_range_time taken = td_range_time_share(&lane->fresh[earlier[i]], no_core);
    td_range_time_remove(&lane->fresh[earlier[i]], &taken);
    lane->result.parts[earlier[i]] -= taken.inside;
    lane->result.parts[TD_IDLE_no_core] += taken.inside;
    no_core -= taken.all;
  }
}

/* Gives a thread the time since its last event. For `no_core` of it, and of the time before in the
 * same period, it had no core. */
static void
credit(const td_idle_watch *self, td_idle_lane *lane, uint64_t no_core) {
  if (lane->since.wall.all < self->period.wall.all) {
    credit_until(lane, &self->period, 0);
    lane->since = self->period;
  }
  begin_fresh(self, lane);
  take_from_earlier(lane, no_core - credit_until(lane, &self->clock, no_core));
}

/* Of `since`, the shares are only read for a thread that sleeps. */
static void
settle(const td_idle_watch *self, td_idle_lane *lane) {
  if (lane->is_asleep)
    lane->since = self->clock;
  else
    lane->since.wall = self->clock.wall;
}

/* ---- threads ---- */

static uint32_t
slot_of(int32_t device) {
  return device < 0 ? 0 : TD_MIN((uint32_t)device + 1, TD_IDLE_DEVICES - 1u);
}

static td_idle_lane *
lane_of(td_idle_watch *self, uint32_t thread) {
  TD_REACH(self->lanes, self->n_lanes, thread);
  if (!self->lanes[thread]) {
    self->lanes[thread] = TD_NEW(td_idle_lane);
    self->lanes[thread]->result.thread = thread;
  }
  return self->lanes[thread];
}

/* What a thread serves is told with the first news of it. */
static void
meet(td_idle_watch *self, td_idle_lane *lane, int32_t device) {
  uint32_t slot = slot_of(device);
  if (lane->runs) self->running[lane->slot]--;
  if (lane->runs) self->running[slot]++;
  lane->is_met = true;
  lane->slot = slot;
  lane->serves |= device >= 0;
}

/* At the end of the first segment that has events of it: a better name may come. */
static void
learn(td_idle_lane *lane, const td_catalog *catalog) {
  const td_catalog_thread *thread = &catalog->threads[lane->result.thread];
  if (lane->is_known || !lane->is_met) return;
  lane->is_known = true;
  lane->result.name = td_report_thread_name(catalog, lane->result.thread);
  lane->result.device = td_dup_string(td_report_device_name(catalog, thread->device));
}

/* What was told of sleep and of time in no pass, split. */
static void
split_parts(td_idle_lane *lane, uint64_t wall) {
  uint64_t *parts = lane->result.parts, sum = 0;
  double others = 0;
  for (uint32_t i = 0; i < TD_IDLE_DEVICES; i++) {
    lane->result.waited_for[i] = (uint64_t)(lane->waited_for[i] + 0.5);
    if (i != lane->slot) others += lane->waited_for[i];
  }
  parts[TD_IDLE_other_device] = TD_MIN((uint64_t)(others + 0.5), parts[TD_IDLE_no_ready]);
  parts[TD_IDLE_no_ready] -= parts[TD_IDLE_other_device];
  for (int part = 0; part < TD_IDLE_late; part++)
    sum += parts[part];
  parts[TD_IDLE_late] = TD_MIN(parts[TD_IDLE_late], wall - sum);
  parts[TD_IDLE_outside] = wall - sum - parts[TD_IDLE_late];
}

static void
note_devices(td_idle *idle, const td_catalog *catalog) {
  for (uint32_t i = 0; i < catalog->n_devices; i++) {
    char **name = &idle->devices[slot_of(catalog->devices[i].device)];
    if (!*name) *name = td_dup_string(catalog->devices[i].name);
  }
}

static void
set_running(td_idle_watch *self, td_idle_lane *lane, bool runs) {
  if (runs == lane->runs) return;
  lane->runs = runs;
  lane->ran = self->clock.wall.inside;
  self->n_running += runs ? 1 : -1u;
  self->running[lane->slot] += runs ? 1 : -1u;
}

/* ---- events ---- */

static bool
counts(const td_idle_watch *self, const td_catalog *catalog, uint32_t graph_task) {
  return self->graph_task == TD_NONE ? td_catalog_is_outermost(catalog, graph_task)
                                     : self->graph_task == graph_task;
}

/* Gives the owner of a pass its time until now. The event may be another thread's. */
static td_idle_lane *
settle_owner(td_idle_watch *self, const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  if (!facts || facts->owner == TD_NONE) return NULL;
  td_idle_lane *owner = lane_of(self, facts->owner);
  credit(self, owner, 0);
  settle(self, owner);
  return owner;
}

/* Time of a thread in no pass, now that it calls backward. */
static void
note_late(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *owner) {
  if (owner->depth || owner->serves || !self->n_under_way) return;
  uint64_t since = TD_MAX(self->period.wall.inside, owner->left);
  owner->result.parts[TD_IDLE_late] += self->clock.wall.inside - since;
  td_idle_blame_late(self, catalog, owner, since);
}

/* A pass counts if it has a part in the range: it begins before the end, and ends after the begin.
 */
static bool
begins_in_time(const td_idle_watch *self) {
  return !self->time.range.is_set || td_range_clock_ns(&self->time) < self->time.range.to_ns;
}

static bool
ended_too_early(const td_idle_watch *self) {
  return self->time.range.is_set && td_range_clock_ns(&self->time) <= self->time.range.from_ns;
}

static void
begin_pass(td_idle_watch *self, const td_catalog *catalog, uint32_t graph_task) {
  td_idle_lane *owner = settle_owner(self, catalog, graph_task);
  if (owner) note_late(self, catalog, owner);
  if (owner) owner->depth++;
  if (!counts(self, catalog, graph_task)) return;
  if (!self->n_under_way) self->period = self->clock;
  self->n_under_way++;
  self->n_wished++;
  self->result->n_passes += begins_in_time(self);
}

static void
end_pass(td_idle_watch *self, const td_catalog *catalog, uint32_t graph_task) {
  td_idle_lane *owner = settle_owner(self, catalog, graph_task);
  if (owner && owner->depth) owner->depth--;
  if (owner) owner->left = self->clock.wall.inside;
  if (!self->n_under_way || !counts(self, catalog, graph_task)) return;
  self->n_under_way--;
  self->result->n_passes -= ended_too_early(self);
}

static void
note_thread(td_idle_watch *self, const td_event_thread_new *event) {
  td_idle_lane *named = event->id < self->n_lanes ? self->lanes[event->id] : NULL;
  if (named && named->is_met) meet(self, named, event->device);
}

static void
change(td_idle_watch *self, const td_catalog *catalog, td_idle_lane *lane,
       const td_any_event *any) {
  if (any->event.kind == TD_EVENT_core_wait) return;
  lane->is_asleep = false;
  switch (any->event.kind) {
  case TD_EVENT_graph_task_begin:
    return begin_pass(self, catalog, any->graph_task_begin.graph_task);
  case TD_EVENT_graph_task_end:
    return end_pass(self, catalog, any->graph_task_end.graph_task);
  case TD_EVENT_thread_state:
    lane->is_asleep = any->thread_state.state == TD_thread_activity_idle;
    lane->serves |= lane->is_asleep && !lane->depth;
    return;
  case TD_EVENT_thread_new:
    return note_thread(self, &any->thread_new);
  case TD_EVENT_thread_end:
    lane->has_ended = true;
    return;
  default:
    return td_idle_change_wait(self, catalog, lane, any);
  }
}

static bool
waits(const td_idle_lane *lane) {
  return lane->is_asleep || lane->is_waiting;
}

static void
end_stretch(const td_idle_watch *self, td_idle_lane *lane, uint64_t end_ns) {
  td_idle_stretch stretch = lane->stretch;
  stretch.end_ns = end_ns;
  stretch.ns = self->clock.wall.inside - stretch.ns;
  if (stretch.ns > lane->result.longest.ns) lane->result.longest = stretch;
}

/* A stretch lasts while the thread waits for the same. */
static void
note_stretch(const td_idle_watch *self, td_idle_lane *lane, const td_event *event, uint64_t seq) {
  td_idle_part part = lane->is_waiting ? lane->wait : TD_IDLE_no_ready;
  if (lane->is_in_stretch && waits(lane) && lane->stretch.part == part) return;
  if (lane->is_in_stretch) end_stretch(self, lane, event->time);
  lane->is_in_stretch = waits(lane);
  if (lane->is_in_stretch)
    lane->stretch = (td_idle_stretch){
        .part = part, .begin_seq = seq, .begin_ns = event->time, .ns = self->clock.wall.inside};
}

static void
event_cb(const td_catalog *catalog, const td_any_event *any, uint64_t seq, void *data) {
  td_idle_watch *self = data;
  if (any->event.kind == TD_EVENT_kernel_begin || any->event.kind == TD_EVENT_kernel_end) return;
  td_idle_lane *lane = lane_of(self, any->event.thread);
  bool is_core = any->event.kind == TD_EVENT_core_wait;
  advance(self, any);
  if (!lane->is_met) meet(self, lane, catalog->threads[any->event.thread].device);
  credit(self, lane, is_core && self->n_under_way ? any->core_wait.waited : 0);
  settle(self, lane);
  if (is_core) memset(lane->fresh, 0, sizeof lane->fresh);
  td_lives_apply(self->lives, any);
  change(self, catalog, lane, any);
  set_running(self, lane, td_lives_is_busy(self->lives, any->event.thread) && !lane->is_waiting);
  settle(self, lane);
  note_stretch(self, lane, &any->event, seq);
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  td_idle_watch *self = data;
  note_devices(self->result, catalog);
  td_idle_learn_parts(self->result, td_tape_info_get(self->tape), catalog);
  for (uint32_t i = 0; i < self->n_lanes; i++)
    if (self->lanes[i]) learn(self->lanes[i], catalog);
  td_idle_blame_name(&self->blame, catalog, self->tape);
  return TD_OK;
}

/* ---- the end ---- */

/* In a range, a thread may only have been late. */
static bool
did_nothing(const td_idle_watch *self, const uint64_t *parts) {
  uint64_t late = self->time.range.is_set ? 0 : parts[TD_IDLE_late];
  return late + parts[TD_IDLE_outside] == self->clock.wall.inside;
}

static void
finish(td_idle_watch *self) {
  td_idle *result = self->result;
  result->wall = self->clock.wall.inside;
  result->threads = td_alloc(TD_MAX(self->n_lanes, 1u), sizeof *result->threads);
  for (uint32_t i = 0; i < self->n_lanes; i++) {
    td_idle_lane *lane = self->lanes[i];
    if (!lane) continue;
    credit(self, lane, 0);
    split_parts(lane, result->wall);
    if (did_nothing(self, lane->result.parts)) continue;
    if (!lane->is_known) lane->result.name = td_format("%u", i);
    result->threads[result->n_threads++] = lane->result;
    lane->result = (td_idle_thread){0};
  }
  td_idle_blame_end(&self->blame);
}

static void
watch_fini(td_idle_watch *self) {
  td_lives_free(self->lives);
  for (uint32_t i = 0; i < self->n_lanes; i++) {
    if (!self->lanes[i]) continue;
    free(self->lanes[i]->result.name);
    free(self->lanes[i]->result.device);
    free(self->lanes[i]);
  }
  free(self->lanes);
  td_number_map_fini(&self->blame.numbers);
}

static td_status
check(const td_idle_watch *self, uint32_t graph_task, td_error *error) {
  if (graph_task == TD_NONE || self->n_wished) return TD_OK;
  return td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u", graph_task);
}

td_status
td_idle_make(td_tape *tape, uint32_t graph_task, const td_range *range, td_idle *idle,
             td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *idle = (td_idle){0};
  td_status status = td_knowledge_require_queues(info, error);
  if (status) return status;
  td_idle_know_parts(idle, info);
  td_idle_watch self = {
      .result = idle, .graph_task = graph_task, .tape = tape, .blame = {.idle = idle}};
  if (range) self.time.range = *range;
  self.lives = td_lives_new(info, (td_life_listener){0});
  static const bool kinds[TD_EVENT_LIMIT] = {
      [TD_EVENT_thread_new] = true,  [TD_EVENT_process_new] = true,
      [TD_EVENT_probe_level] = true, [TD_EVENT_device_new] = true,
      [TD_EVENT_setting] = true,     [TD_EVENT_graph_task_begin] = true,
      [TD_EVENT_pass_now] = true,    [TD_EVENT_reentrant_enter] = true,
      [TD_EVENT_lock_held] = true};
  td_catalog_along along = {.listener = event_cb, .data = &self, .kinds = kinds};
  status = td_catalog_visit_along(tape, &along, visit_segment, error);
  if (!status) finish(&self);
  watch_fini(&self);
  return status ? status : check(&self, graph_task, error);
}
