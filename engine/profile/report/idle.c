/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/idle.h"

#include "engine/base/alloc.h"
#include "engine/profile/knowledge.h"
#include "engine/profile/report/lives.h"
#include "engine/profile/report/report_keys.h"
#include "engine/replay/catalog_visit.h"

#include <string.h>

/* Integrals over the time in which a pass was under way: of 1, of "some thread runs a node", and
 * for each device of the share of its threads in those that run. */
typedef struct clock {
  uint64_t wall, busy;
  double share[TD_IDLE_DEVICES];
} clock;

typedef struct lane {
  td_idle_thread result;
  double waited_for[TD_IDLE_DEVICES];
  clock since; /* credited until then */
  uint32_t depth, n_callbacks;
  uint32_t slot; /* of its device */
  bool is_known, serves, is_asleep, is_locked_out, runs, has_ended;
} lane;

typedef struct watching {
  td_idle *result;
  td_lives *lives;
  const td_catalog *catalog; /* whose devices are known */
  uint32_t graph_task;       /* the wished pass, or TD_NONE */
  uint32_t n_under_way, n_running;
  uint32_t running[TD_IDLE_DEVICES]; /* threads that run a node */
  clock clock;
  uint64_t now;
  lane **lanes; /* (owned) by thread; NULL: no event yet */
  uint32_t n_lanes;
} watching;

const char *
td_idle_part_name(td_idle_part part) {
  static const char *const names[] = {
#define X(name) #name,
      TD_IDLE_PARTS(X)
#undef X
  };
  return names[part];
}

/* ---- time ---- */

static void
advance(watching *self, uint64_t now) {
  uint64_t ns = now - TD_MIN(self->now, now);
  self->now = TD_MAX(self->now, now);
  if (!self->n_under_way) return;
  self->clock.wall += ns;
  if (!self->n_running) return;
  self->clock.busy += ns;
  for (int i = 0; i < TD_IDLE_DEVICES; i++)
    if (self->running[i]) self->clock.share[i] += (double)ns * self->running[i] / self->n_running;
}

static td_idle_part
part_of(const lane *lane) {
  if (lane->is_locked_out) return TD_IDLE_lock;
  if (lane->runs) return TD_IDLE_running;
  if (lane->n_callbacks) return TD_IDLE_callbacks;
  return lane->depth || (lane->serves && !lane->has_ended) ? TD_IDLE_engine : TD_IDLE_outside;
}

/* Gives a thread the time since its last event. */
static void
credit(const watching *self, lane *lane) {
  uint64_t wall = self->clock.wall - lane->since.wall;
  uint64_t *parts = lane->result.parts;
  if (lane->is_asleep) {
    uint64_t busy = self->clock.busy - lane->since.busy;
    parts[TD_IDLE_waiting] += busy;
    parts[TD_IDLE_waking] += wall - busy;
    for (int i = 0; i < TD_IDLE_DEVICES; i++)
      lane->waited_for[i] += self->clock.share[i] - lane->since.share[i];
  } else {
    parts[part_of(lane)] += wall;
  }
}

/* Of `since`, the shares are only read for a thread that sleeps. */
static void
settle(const watching *self, lane *lane) {
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

static lane *
lane_of(watching *self, uint32_t thread) {
  if (thread >= self->n_lanes) {
    uint32_t n = TD_MAX(TD_MAX(2 * self->n_lanes, 8u), thread + 1);
    self->lanes = td_realloc(self->lanes, n, sizeof *self->lanes);
    memset(self->lanes + self->n_lanes, 0, (n - self->n_lanes) * sizeof *self->lanes);
    self->n_lanes = n;
  }
  if (!self->lanes[thread]) {
    self->lanes[thread] = TD_NEW(lane);
    self->lanes[thread]->result.thread = thread;
  }
  return self->lanes[thread];
}

static void
learn(lane *lane, const td_catalog *catalog) {
  const td_catalog_thread *thread = &catalog->threads[lane->result.thread];
  if (lane->is_known || lane->runs || !thread->named) return;
  lane->is_known = true;
  lane->slot = slot_of(thread->device);
  lane->serves |= thread->device >= 0;
  lane->result.name = td_report_thread_name(catalog, lane->result.thread);
  lane->result.device = td_dup_string(td_report_device_name(catalog, thread->device));
}

static void
note_devices(td_idle *idle, const td_catalog *catalog) {
  for (uint32_t i = 0; i < catalog->n_devices; i++) {
    char **name = &idle->devices[slot_of(catalog->devices[i].device)];
    if (!*name) *name = td_dup_string(catalog->devices[i].name);
  }
}

static void
set_running(watching *self, lane *lane, bool runs) {
  if (runs == lane->runs) return;
  lane->runs = runs;
  self->n_running += runs ? 1 : -1u;
  self->running[lane->slot] += runs ? 1 : -1u;
}

/* ---- events ---- */

static bool
counts(const watching *self, const td_catalog *catalog, uint32_t graph_task) {
  if (self->graph_task != TD_NONE) return self->graph_task == graph_task;
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  return facts && facts->outer == TD_NONE && facts->caller == TD_NONE;
}

/* Gives the owner of a pass its time until now. The event may be another thread's. */
static lane *
settle_owner(watching *self, const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  if (!facts || facts->owner == TD_NONE) return NULL;
  lane *owner = lane_of(self, facts->owner);
  credit(self, owner);
  settle(self, owner);
  return owner;
}

static void
begin_pass(watching *self, const td_catalog *catalog, uint32_t graph_task) {
  lane *owner = settle_owner(self, catalog, graph_task);
  if (owner) owner->depth++;
  if (!counts(self, catalog, graph_task)) return;
  self->n_under_way++;
  self->result->n_passes++;
}

static void
end_pass(watching *self, const td_catalog *catalog, uint32_t graph_task) {
  lane *owner = settle_owner(self, catalog, graph_task);
  if (owner && owner->depth) owner->depth--;
  if (self->n_under_way && counts(self, catalog, graph_task)) self->n_under_way--;
}

static void
change(watching *self, const td_catalog *catalog, lane *lane, const td_any_event *any) {
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
  case TD_EVENT_thread_end:
    lane->has_ended = true;
    return;
  case TD_EVENT_lock_wait:
    lane->is_locked_out = true;
    return;
  case TD_EVENT_lock_acquired:
    lane->is_locked_out = false;
    return;
  case TD_EVENT_final_callback:
    lane->n_callbacks++;
    return;
  case TD_EVENT_final_callback_end:
    if (lane->n_callbacks) lane->n_callbacks--;
    return;
  default:
    return;
  }
}

static void
event_cb(const td_catalog *catalog, const td_any_event *any, void *data) {
  watching *self = data;
  if (any->event.kind == TD_EVENT_kernel_begin || any->event.kind == TD_EVENT_kernel_end) return;
  lane *lane = lane_of(self, any->event.thread);
  if (self->catalog != catalog) note_devices(self->result, catalog);
  self->catalog = catalog;
  advance(self, any->event.time);
  learn(lane, catalog);
  credit(self, lane);
  settle(self, lane);
  td_lives_apply(self->lives, catalog, any);
  change(self, catalog, lane, any);
  set_running(self, lane, td_lives_is_busy(self->lives, any->event.thread) && !lane->is_locked_out);
  settle(self, lane);
}

/* ---- the end ---- */

static void
finish(watching *self) {
  td_idle *result = self->result;
  result->wall = self->clock.wall;
  result->threads = td_alloc(TD_MAX(self->n_lanes, 1u), sizeof *result->threads);
  for (uint32_t i = 0; i < self->n_lanes; i++) {
    lane *lane = self->lanes[i];
    if (!lane) continue;
    credit(self, lane);
    uint64_t *parts = lane->result.parts, sum = 0;
    for (int part = 0; part < TD_IDLE_outside; part++)
      sum += parts[part];
    if (!sum) continue;
    parts[TD_IDLE_outside] = result->wall - sum;
    if (!lane->is_known) lane->result.name = td_format("%u", i);
    for (int device = 0; device < TD_IDLE_DEVICES; device++)
      lane->result.waited_for[device] = (uint64_t)(lane->waited_for[device] + 0.5);
    result->threads[result->n_threads++] = lane->result;
    lane->result = (td_idle_thread){0};
  }
}

static void
watching_fini(watching *self) {
  td_lives_free(self->lives);
  for (uint32_t i = 0; i < self->n_lanes; i++) {
    if (!self->lanes[i]) continue;
    free(self->lanes[i]->result.name);
    free(self->lanes[i]->result.device);
    free(self->lanes[i]);
  }
  free(self->lanes);
}

static td_status
check(const td_idle *idle, uint32_t graph_task, td_error *error) {
  if (graph_task == TD_NONE || idle->n_passes) return TD_OK;
  return td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u", graph_task);
}

td_status
td_idle_make(td_tape *tape, uint32_t graph_task, td_idle *idle, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *idle = (td_idle){0};
  td_status status = td_knowledge_require_queues(info, error);
  if (status) return status;
  watching self = {.result = idle, .graph_task = graph_task};
  self.lives = td_lives_new(info, (td_life_listener){0});
  status = td_catalog_visit_events(tape, event_cb, &self, error);
  if (!status) finish(&self);
  watching_fini(&self);
  return status ? status : check(idle, graph_task, error);
}

void
td_idle_fini(td_idle *idle) {
  for (uint32_t i = 0; i < idle->n_threads; i++) {
    free(idle->threads[i].name);
    free(idle->threads[i].device);
  }
  free(idle->threads);
  for (int i = 0; i < TD_IDLE_DEVICES; i++)
    free(idle->devices[i]);
  *idle = (td_idle){0};
}
