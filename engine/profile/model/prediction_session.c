/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A prediction's session, queues and threads. */
#include "engine/base/alloc.h"
#include "engine/profile/model/prediction.h"
#include "engine/profile/model/prediction_tape.h"

#include <stdio.h>
#include <string.h>

static const td_event_kind reconstructed[] = {TD_EVENT_graph_task_begin, TD_EVENT_graph_task_end,
                                              TD_EVENT_dependency,       TD_EVENT_outstanding,
                                              TD_EVENT_queue_new,        TD_EVENT_queue_push,
                                              TD_EVENT_queue_pop,        TD_EVENT_buffer_add,
                                              TD_EVENT_buffer_ready,     TD_EVENT_dependency_dec,
                                              TD_EVENT_node_begin,       TD_EVENT_node_end,
                                              TD_EVENT_thread_state,     TD_EVENT_none};

uint64_t
td_prediction_tape_at(td_prediction_tape *self, uint32_t thread, uint64_t ns) {
  int64_t at = (int64_t)ns + self->shift_ns;
  uint64_t least = self->last_ns + (thread != self->last_thread);
  self->last_thread = thread;
  self->last_ns = at > (int64_t)least ? (uint64_t)at : least;
  return self->last_ns;
}

/* ---- the session ---- */

static uint32_t
intern(td_prediction_tape *self, uint32_t thread, const char *text) {
  return td_maker_intern(self->maker, thread, self->last_ns, text);
}

static void
tell_setting(td_prediction_tape *self, const char *name, const char *value) {
  TD_MAKE(self->maker, 0, self->last_ns, setting, .name = intern(self, 0, name),
          .value = intern(self, 0, value));
}

/* "fifo, 2 devices, 3 workers each, AddmmBackward0 x 0.5" */
static char *
plan_text(const td_virtual_plan *plan) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  fputs(td_schedule_name(plan->schedule), out);
  if (plan->n_devices) fprintf(out, ", %u devices", plan->n_devices);
  if (plan->n_workers > 1) fprintf(out, ", %u workers each", plan->n_workers);
  for (uint32_t i = 0; i < plan->n_scalings; i++) {
    const td_scaling *scaling = &plan->scalings[i];
    if (scaling->name)
      fprintf(out, ", %s x %g", scaling->name, scaling->share);
    else
      fprintf(out, ", #%u x %g", scaling->node, scaling->share);
  }
  fclose(out);
  return text;
}

static void
tell_plan(td_prediction_tape *self) {
  char *text = plan_text(self->plan);
  tell_setting(self, TD_PREDICTION_SETTING, text);
  free(text);
}

static void
begin_session(td_prediction_tape *self, const td_catalog *catalog) {
  TD_MAKE(self->maker, 0, 0, session_begin, .engine = intern(self, 0, catalog->engine),
          .version = intern(self, 0, catalog->version), .source = intern(self, 0, catalog->source),
          .policy = intern(self, 0, catalog->policy));
  if (catalog->probe_level)
    TD_MAKE(self->maker, 0, 0, probe_level, .level = catalog->probe_level,
            .reason = intern(self, 0, "predicted from such a tape"));
  for (uint32_t i = 0; i < catalog->n_processes; i++) {
    const td_catalog_process *process = &catalog->processes[i];
    TD_MAKE(self->maker, 0, 0, process_new, .process = i, .pid = process->pid,
            .rank = process->rank, .name = intern(self, 0, process->name),
            .clock_error_ns = process->clock_error_ns);
  }
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    TD_MAKE(self->maker, 0, 0, device_new, .device = catalog->devices[i].device,
            .name = intern(self, 0, catalog->devices[i].name));
  td_maker_know(self->maker, TD_knowledge_reconstructed, reconstructed);
  tell_plan(self);
  for (uint32_t i = 0; i < catalog->n_settings; i++)
    tell_setting(self, catalog->settings[i].name, catalog->settings[i].value);
  self->has_begun = true;
}

/* ---- teams ---- */

static td_queue_order
order_of(td_schedule schedule) {
  return schedule == TD_SCHEDULE_fifo   ? TD_queue_order_fifo
         : schedule == TD_SCHEDULE_lifo ? TD_queue_order_lifo
                                        : TD_queue_order_heap;
}

static bool
has_device(const td_catalog *catalog, int32_t device) {
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    if (catalog->devices[i].device == device) return true;
  return false;
}

/* "sim:0", or "what-if:2" for a device that the recorded tape does not have. */
static char *
dup_device_name(const td_catalog *catalog, int32_t device) {
  if (has_device(catalog, device)) return td_dup_string(td_catalog_device_name(catalog, device));
  return td_format("what-if:%d", device);
}

static char *
dup_team_name(const td_catalog *catalog, const td_predicted_team *team) {
  if (team->owner == TD_NONE) return dup_device_name(catalog, team->device);
  const char *name = team->owner < catalog->n_threads ? catalog->threads[team->owner].name : NULL;
  return td_dup_string(name && *name ? name : "main");
}

static char *
dup_thread_name(const td_catalog *catalog, const td_predicted_team *team, uint32_t worker) {
  char *name = dup_team_name(catalog, team);
  if (!worker) return name;
  char *text = td_format("%s, worker %u", name, worker + 1);
  free(name);
  return text;
}

static void
tell_device(td_prediction_tape *self, const td_catalog *catalog, int32_t device, uint64_t ns) {
  if (device == TD_DEVICE_CPU || has_device(catalog, device)) return;
  char *name = dup_device_name(catalog, device);
  uint64_t at = td_prediction_tape_at(self, 0, ns);
  TD_MAKE(self->maker, 0, at, device_new, .device = device, .name = intern(self, 0, name));
  free(name);
}

uint32_t
td_prediction_tape_thread(td_prediction_tape *self, const td_catalog *catalog,
                          const td_predicted_team *team, uint32_t worker, uint64_t ns) {
  uint32_t thread = team->threads[worker];
  if (thread != TD_NONE) return thread;
  thread = team->threads[worker] = self->n_threads++;
  team->free_ns[worker] = td_prediction_tape_at(self, thread, ns);
  char *name = dup_thread_name(catalog, team, worker);
  uint32_t process = team->owner < catalog->n_threads ? catalog->threads[team->owner].process : 0;
  TD_MAKE(self->maker, thread, self->last_ns, thread_new, .id = thread,
          .name = intern(self, thread, name), .device = team->device, .process = process);
  free(name);
  if (!self->has_begun) begin_session(self, catalog);
  return thread;
}

static td_predicted_team *
add_team(td_prediction_tape *self, int32_t device, uint32_t owner) {
  uint32_t n = self->plan->n_workers;
  TD_GROW(self->teams, self->n_teams, self->teams_capacity);
  td_predicted_team *team = &self->teams[self->n_teams++];
  *team = (td_predicted_team){.device = device, .owner = owner};
  team->threads = TD_NEW_N(uint32_t, n);
  team->free_ns = TD_NEW_N(uint64_t, n);
  team->idle = TD_NEW_N(uint32_t, n);
  memset(team->threads, 0xff, n * sizeof *team->threads);
  while (n-- > 0)
    team->idle[team->n_idle++] = n;
  return team;
}

uint32_t
td_prediction_tape_team(td_prediction_tape *self, const td_catalog *catalog, int32_t device,
                        uint32_t owner, uint64_t ns) {
  uint64_t *known = td_number_map_put(&self->team_of, (uint64_t)(uint32_t)device << 32 | owner);
  if (*known) return (uint32_t)*known;
  const td_predicted_team *team = add_team(self, device, owner);
  tell_device(self, catalog, device, ns);
  *known = self->n_teams;
  uint32_t thread = td_prediction_tape_thread(self, catalog, team, 0, ns);
  TD_PREDICT(self, thread, ns, queue_new, .queue = self->n_teams - 1, .device = device,
             .graph_task = TD_NONE, .owner = thread, .order = order_of(self->plan->schedule));
  return self->n_teams;
}

void
td_prediction_tape_end(td_prediction_tape *self) {
  if (self->has_begun) TD_MAKE(self->maker, 0, self->last_ns, session_end, .status = 0);
  for (uint32_t i = 0; i < self->n_teams; i++) {
    free(self->teams[i].threads);
    free(self->teams[i].free_ns);
    free(self->teams[i].idle);
  }
  free(self->teams);
  td_number_map_fini(&self->nodes);
  td_number_map_fini(&self->team_of);
}
