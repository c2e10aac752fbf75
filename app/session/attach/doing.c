/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/doing.h"

#include "engine/profile/why/why.h"

#include <stdlib.h>
#include <string.h>

/* What it waits for goes before what it does. */
static const char *
lock_words(uint32_t lock) {
  static const char *const words[] = {
      [TD_lock_kind_queue] = "waits for the lock of a ready queue",
      [TD_lock_kind_graph_task] = "waits for the lock of a graph task",
      [TD_lock_kind_node] = "waits for the lock of a node",
      [TD_lock_kind_gil] = "waits for the GIL",
  };
  return lock < G_N_ELEMENTS(words) ? words[lock] : NULL;
}

static const char *
activity_words(uint32_t activity) {
  static const char *const words[] = {
      [TD_thread_activity_idle] = "waits for a task in its ready queue",
      [TD_thread_activity_processing] = "processes",
      [TD_thread_activity_scattering] = "hands on gradients of",
      [TD_thread_activity_completed] = "has ended a pass",
      [TD_thread_activity_post_processing] = "is in post_processing",
      [TD_thread_activity_notify_owner] = "wakes the thread that called backward",
      [TD_thread_activity_reentrant_wait] = "waits for the end of a pass inside",
  };
  return activity < G_N_ELEMENTS(words) ? words[activity] : NULL;
}

#define LOOKED_MAX 10000u /* events before the end */

/* Whether the last thing on the tape that a thread did was to begin a wait for a collective
 * operation. */
static bool
waits_for_ranks(td_replay *replay, uint32_t thread) {
  td_tape *tape = td_replay_tape(replay);
  uint64_t n = td_tape_info_get(tape)->n_events;
  td_any_event event;
  for (uint64_t i = 1; i <= MIN(n, LOOKED_MAX); i++) {
    if (td_tape_get(tape, n - i, &event, NULL) != TD_OK) return false;
    if (event.event.thread == thread) return event.event.kind == TD_EVENT_collective_begin;
  }
  return false;
}

char *
td_attach_doing_of(td_replay *replay, uint32_t thread) {
  const td_thread_now *now = td_state_thread(td_replay_state(replay), thread);
  const char *words = activity_words(now->state), *lock = lock_words(now->lock);
  if (lock) return g_strdup(lock);
  if (waits_for_ranks(replay, thread)) return g_strdup("waits for other ranks");
  if (!words || now->node == TD_NONE) return g_strdup(words);
  char *node = td_why_name_node(td_replay_catalog(replay), now->node);
  char *text = g_strdup_printf("%s %s", words, node);
  free(node);
  return text;
}

/* TD_NONE: none has that name, or several. */
static uint32_t
find_thread(const td_catalog *catalog, const char *name) {
  uint32_t found = TD_NONE;
  for (uint32_t i = 0; i < catalog->n_threads; i++) {
    if (!catalog->threads[i].named || strcmp(catalog->threads[i].name, name) != 0) continue;
    if (found != TD_NONE) return TD_NONE;
    found = i;
  }
  return found;
}

/* How many passes inside each other a thread is in. */
static uint32_t
count_passes(td_replay *replay, uint32_t thread) {
  const td_thread_now *now = td_state_thread(td_replay_state(replay), thread);
  bool works = now->state == TD_thread_activity_processing ||
               now->state == TD_thread_activity_scattering ||
               now->state == TD_thread_activity_reentrant_wait;
  if (!works || now->graph_task == TD_NONE) return 0;
  return 1 + td_catalog_depth(td_replay_catalog(replay), now->graph_task);
}

void
td_attach_doing_tell(td_attach_threads *threads, td_replay *replay) {
  for (guint i = 0; i < threads->list->len; i++) {
    td_attach_thread *thread = threads->list->pdata[i];
    uint32_t id = find_thread(td_replay_catalog(replay), thread->name);
    if (id == TD_NONE) continue;
    thread->doing = td_attach_doing_of(replay, id);
    thread->depth = count_passes(replay, id);
  }
}
