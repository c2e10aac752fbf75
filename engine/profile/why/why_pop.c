/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/profile/chosen.h"
#include "engine/profile/why/gil_waits.h"
#include "engine/profile/why/lay_words.h"
#include "engine/profile/why/lock_words.h"
#include "engine/profile/why/story.h"
#include "engine/profile/why/why.h"
#include "engine/rules/task_order.h"

#include <stdlib.h>
#include <string.h>

/* What lies in not_ready: those that might have been popped had their gradients come. */
static void
say_not_ready(const td_story *story, uint32_t graph_task) {
  const td_state *state = story->state;
  uint32_t named = 0, more = 0;
  char *waits = NULL;
  for (uint32_t i = state->header->first_parked; i != TD_NONE;
       i = td_state_task(state, i)->parked_next) {
    const td_task_now *task = td_state_task(state, i);
    if (task->graph_task != graph_task) continue;
    if (named == TD_STORY_NAMED) {
      more++;
      continue;
    }
    named++;
    waits = td_list_add(waits, TD_SAY_clauses_next, td_story_wait(story, task));
  }
  waits = td_list_more(waits, TD_SAY_clauses_more, more);
  if (waits) td_story_say(story, TD_SAY_not_ready, td_with_text("waits", waits));
  free(waits);
}

/* What a task without a node is for. */
static void
say_purpose(const td_story *story, const td_queue_entry *entry) {
  if (entry->node != TD_NONE) return;
  td_story_say(story, entry->kind == TD_TASK_SHUTDOWN ? TD_SAY_ends_thread : TD_SAY_wakes_thread,
               td_with_pass("graph_task", entry->graph_task));
}

/* Why the popped task went before `first`, whose turn it was. `by` is who chose it, or NULL. */
static void
say_out_of_turn(const td_story *story, const td_queue_entry *first, const td_chooser *by) {
  if (by)
    td_say_plain(story->out,
                 *by == TD_chooser_schedule ? TD_SAY_chosen_by_schedule : TD_SAY_chosen_by_user);
  char *task = td_story_entry(story, first);
  td_story_say(story, by ? TD_SAY_turn_of : TD_SAY_out_of_turn, td_with_text("task", task));
  free(task);
}

/* A sentence may begin with it. */
static char *
dup_popped(const td_story *story, const td_queue_entry *entry) {
  if (entry->node != TD_NONE) return td_story_entry(story, entry);
  return td_dup_string(td_sentence_text(entry->kind == TD_TASK_SHUTDOWN ? TD_SAY_shutdown_task_first
                                                                        : TD_SAY_dummy_task_first));
}

/* Entry `at` was popped. It goes to the front. */
static void
say_popped(const td_story *story, uint32_t queue, td_queue_entry *entries, uint32_t n,
           uint32_t at) {
  td_queue_entry popped = entries[at];
  memmove(entries + 1, entries, at * sizeof *entries);
  entries[0] = popped;
  char *task = dup_popped(story, &popped);
  char *others = n > 1 ? td_story_entries(story, entries + 1, n - 1) : NULL;
  td_story_say(story, others ? TD_SAY_popped_before : TD_SAY_popped_alone,
               td_with_text("task", task), td_with_queue("queue", queue),
               td_with_text("others", others));
  free(task);
  free(others);
}

static void
say_winner(const td_story *story, uint32_t queue, td_queue_entry *entries, uint32_t n, uint32_t at,
           const td_chooser *by) {
  say_popped(story, queue, entries, n, at);
  if (at > 0)
    say_out_of_turn(story, &entries[1], by);
  else if (n > 1)
    td_story_wins(story, queue, entries, n);
  if (at == 0 && n > 1 && by) td_say_plain(story->out, TD_SAY_chosen_as_well);
  say_purpose(story, &entries[0]);
}

static uint32_t
place_in_queue(const td_queue_entry *entries, uint32_t n, const td_event_queue_pop *pop) {
  uint32_t at = 0;
  while (at < n && (entries[at].node != pop->node ||
                    (pop->node != TD_NONE && entries[at].graph_task != pop->graph_task)))
    at++;
  return at;
}

static void
say_unseen(const td_story *story, const td_event_queue_pop *pop) {
  td_story_say(story, pop->node == TD_NONE ? TD_SAY_popped_unseen_task : TD_SAY_popped_unseen,
               td_with_node("node", pop->node), td_with_queue("queue", pop->queue));
}

/* The state is the one just before the pop. */
static void
say_pop(const td_story *story, const td_event_queue_pop *pop, const td_chooser *by) {
  uint32_t n = pop->queue == TD_NONE ? 0 : td_state_queue(story->state, pop->queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  if (n) td_state_queue_order(story->state, story->catalog, pop->queue, entries);
  uint32_t at = place_in_queue(entries, n, pop);
  if (at < n) {
    say_winner(story, pop->queue, entries, n, at, by);
    say_not_ready(story, pop->graph_task);
  } else {
    say_unseen(story, pop);
  }
  free(entries);
}

static td_status
tell_pop(td_replay *replay, uint64_t seq, const td_any_event *event, char **text, td_error *error) {
  td_status status = td_replay_seek(replay, seq, error);
  if (status != TD_OK) return status;
  td_story story;
  size_t size;
  td_chooser by;
  bool is_chosen = td_chosen_find(replay, seq, &event->queue_pop, &by);
  status = td_story_open(&story, replay, text, &size, error);
  if (status != TD_OK) return status;
  say_pop(&story, &event->queue_pop, is_chosen ? &by : NULL);
  td_lay_say(story.out, replay, seq, &event->queue_pop);
  td_lock_waits_say(story.out, replay, seq, event);
  td_gil_waits_say(story.out, replay, seq, event);
  td_story_close(&story);
  return TD_OK;
}

td_status
td_why_pop(td_replay *replay, uint64_t seq, char **text, td_error *error) {
  td_any_event event;
  uint64_t position = td_replay_position(replay);
  td_status status = td_replay_event(replay, seq, &event, error);
  if (status != TD_OK) return status;
  if (event.event.kind != TD_EVENT_queue_pop)
    return td_error_set(error, TD_INVALID, "event %llu is not a queue_pop",
                        (unsigned long long)seq);
  status = tell_pop(replay, seq, &event, text, error);
  td_status back = td_replay_seek(replay, position, NULL);
  return status != TD_OK ? status : back;
}
