/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/lay_words.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/queue_waits.h"

/* So many events before the pop are looked at. */
#define EVENTS_MAX 100000u

/* Less would be told as 0.000 ms. */
#define TOLD_NS 1000u

typedef struct telling {
  FILE *out;
  const td_catalog *catalog;
  td_lives *lives;
  const td_event_queue_pop *pop;
  uint32_t n_looked;
  bool found; /* the push */
} telling;

/* ---- a task that was popped ---- */

static char *
list_parts(const telling *self, const td_lay *lay) {
  char *parts = NULL;
  for (int i = 0; i < TD_N_LAY_CAUSES; i++) {
    if (lay->ns[i] < TOLD_NS) continue;
    char *part = td_said(self->catalog, TD_SAY_lay_part,
                         td_with_text("did", td_translate(td_lay_cause_words((td_lay_cause)i))),
                         td_with_ms("ms", lay->ns[i]));
    parts = td_list_add(parts, TD_SAY_clauses_next, part);
  }
  return parts;
}

static void
say_behind(const telling *self, const td_task_lay *lay) {
  if (lay->behind_ns < TOLD_NS || !td_catalog_has_node(self->catalog, lay->behind)) return;
  bool is_own = lay->behind_pass == lay->pass;
  td_say(self->out, self->catalog, is_own ? TD_SAY_lay_behind : TD_SAY_lay_behind_other,
         td_with_node("node", lay->behind), td_with_ms("ms", lay->behind_ns),
         td_with_pass("graph_task", td_lives_pass(self->lives, lay->behind_pass)->graph_task));
}

static void
task_cb(const td_task_lay *lay, void *data) {
  const telling *self = data;
  const td_event_queue_pop *pop = self->pop;
  if (lay->popped_ns != pop->event.time || lay->node != pop->node ||
      lay->graph_task != pop->graph_task)
    return;
  char *parts = list_parts(self, &lay->lay);
  if (!parts) return;
  td_say(self->out, self->catalog, TD_SAY_lay, td_with_ms("ms", lay->ns),
         td_with_thread("thread", lay->thread), td_with_text("parts", parts));
  free(parts);
  say_behind(self, lay);
}

static bool
is_push(const td_any_event *event, void *data) {
  telling *self = data;
  bool is_it = event->event.kind == TD_EVENT_queue_push &&
               event->queue_push.node == self->pop->node &&
               event->queue_push.graph_task == self->pop->graph_task;
  self->found |= is_it;
  return is_it || ++self->n_looked == EVENTS_MAX;
}

/* What the thread does at the push follows from there on. */
static bool
is_last_pop(const td_any_event *event, void *data) {
  telling *self = data;
  bool is_it =
      event->event.kind == TD_EVENT_queue_pop && event->event.thread == self->pop->event.thread;
  return is_it || ++self->n_looked == EVENTS_MAX;
}

static void
take(telling *self, td_queue_waits *waits, td_replay *replay, uint64_t seq) {
  td_any_event event;
  if (td_replay_event(replay, seq, &event, NULL) != TD_OK) return;
  td_lives_apply(self->lives, &event);
  td_range_time time = td_lives_time(self->lives);
  td_queue_waits_take(waits, self->lives, &event, &time, true);
}

/* Of passes inside others, only all that came before tells. */
static uint64_t
take_passes(telling *self, td_queue_waits *waits, td_replay *replay, uint64_t push, uint64_t from) {
  const td_catalog *catalog = self->catalog;
  uint64_t first = from;
  bool is_nested = false;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (pass->begin_seq >= push || pass->end_seq < push) continue;
    is_nested |= pass->depth > 0;
    first = TD_MIN(first, pass->begin_seq);
  }
  if (is_nested) return TD_MAX(first, catalog->segment.first);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (pass->begin_seq < from && pass->end_seq >= push &&
        pass->begin_seq >= catalog->segment.first)
      take(self, waits, replay, pass->begin_seq);
  }
  return from;
}

/* Whether a pass that was under way at the push began in an earlier segment. */
static bool
reaches_back(const td_catalog *catalog, uint64_t push) {
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (pass->begin_seq < catalog->segment.first && pass->end_seq >= push) return true;
  }
  return false;
}

void
td_lay_say(FILE *out, td_replay *replay, uint64_t seq, const td_event_queue_pop *pop) {
  telling self = {.out = out, .catalog = td_replay_catalog(replay), .pop = pop};
  const td_tape_info *info = td_tape_info_get(td_replay_tape(replay));
  uint64_t push, from;
  if (pop->node == TD_NONE || pop->graph_task == TD_NONE) return;
  if (!info->n_by_kind[TD_EVENT_queue_push]) return;
  if (td_replay_find(replay, seq, false, is_push, &self, &push, NULL) != TD_OK || !self.found)
    return td_say_plain(out, TD_SAY_lay_unknown);
  bool has_pop = td_replay_find(replay, push, false, is_last_pop, &self, &from, NULL) == TD_OK;
  if (reaches_back(self.catalog, push) || (!has_pop && self.catalog->segment.first))
    return td_say_plain(out, TD_SAY_lay_unknown);
  if (!has_pop) from = push;
  self.lives = td_lives_new(info, (td_life_listener){0});
  td_queue_waits waits = {.task = task_cb, .data = &self};
  td_queue_waits_serve(&waits, pop->queue, pop->event.thread);
  from = take_passes(&self, &waits, replay, push, from);
  for (uint64_t i = from; i <= seq && seq - i < 2 * EVENTS_MAX; i++)
    take(&self, &waits, replay, i);
  td_queue_waits_fini(&waits);
  td_lives_free(self.lives);
}

/* ---- a task that lies ---- */

/* The thread that pops from a queue, or TD_NONE: not known. */
static uint32_t
server_of(const td_catalog *catalog, uint32_t queue) {
  const td_catalog_queue *facts = &catalog->queues[queue];
  if (facts->owner != TD_NONE || facts->device < 0 || catalog->n_processes > 1) return facts->owner;
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    if (catalog->threads[i].named && catalog->threads[i].device == facts->device) return i;
  return TD_NONE;
}

static const td_sentence lock_waits[TD_lock_kind_LIMIT] = {
    [TD_lock_kind_queue] = TD_SAY_server_waits_for_lock,
    [TD_lock_kind_graph_task] = TD_SAY_server_waits_for_lock,
    [TD_lock_kind_node] = TD_SAY_server_waits_for_lock,
    [TD_lock_kind_gil] = TD_SAY_server_waits_for_gil,
};

void
td_lay_say_now(const td_story *story, uint32_t queue, uint32_t graph_task) {
  uint32_t server = server_of(story->catalog, queue);
  if (server == TD_NONE) return;
  const td_thread_now *thread = td_state_thread(story->state, server);
  td_blank name = td_with_thread("thread", server);
  if (thread->lock < TD_lock_kind_LIMIT)
    td_story_say(story, lock_waits[thread->lock], name);
  else if (thread->node != TD_NONE)
    td_story_say(
        story, thread->graph_task == graph_task ? TD_SAY_server_runs : TD_SAY_server_runs_other,
        name, td_with_node("node", thread->node), td_with_pass("graph_task", thread->graph_task));
  else if (thread->state == TD_thread_activity_idle)
    td_story_say(story, TD_SAY_server_sleeps, name);
}
