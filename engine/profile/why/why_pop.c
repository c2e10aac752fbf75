/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/chosen.h"
#include "engine/profile/why/gil_waits.h"
#include "engine/profile/why/story.h"
#include "engine/profile/why/why.h"
#include "engine/profile/words.h"
#include "engine/rules/task_order.h"

#include <stdlib.h>
#include <string.h>

/* What lies in not_ready: those that might have been popped had their gradients come. */
static void
write_not_ready(const td_story *story, uint32_t graph_task) {
  const td_state *state = story->state;
  uint32_t told = 0, more = 0;
  for (uint32_t i = state->header->first_parked; i != TD_NONE;
       i = td_state_task(state, i)->parked_next) {
    const td_task_now *task = td_state_task(state, i);
    if (task->graph_task != graph_task) continue;
    if (told == TD_STORY_NAMED) {
      more++;
      continue;
    }
    fputs(told++ ? td_translate("; ") : td_translate(" Not ready: "), story->out);
    td_story_wait(story, task);
  }
  if (more) fprintf(story->out, td_translate("; and %u more"), more);
  if (told) fputs(td_translate("."), story->out);
}

/* What a task without a node is for. */
static void
write_purpose(const td_story *story, const td_queue_entry *entry) {
  if (entry->node != TD_NONE) return;
  if (entry->kind == TD_TASK_SHUTDOWN) {
    fputs(td_translate(" It runs no node: it tells the thread to end."), story->out);
    return;
  }
  fputs(td_translate(" It runs no node: it wakes the thread, because another thread completed "),
        story->out);
  td_words_graph_task(story->out, entry->graph_task);
  fputs(td_translate("."), story->out);
}

/* Who chose the popped task; NULL: nobody, so the queue's order decided. */
static const char *
words_of_choice(const td_chooser *by) {
  if (!by) return NULL;
  return *by == TD_chooser_schedule
             ? td_translate(" It was popped because the schedule chose it: its sequence_nr did not "
                            "decide.")
             : td_translate(" It was popped because the user chose it: its sequence_nr did not "
                            "decide.");
}

/* It changes the entries. */
static void
write_out_of_turn(const td_story *story, td_queue_entry *entries, uint32_t n, uint32_t at,
                  const td_chooser *by) {
  td_queue_entry first = entries[0];
  memmove(entries + at, entries + at + 1, (n - at - 1) * sizeof *entries);
  td_story_entries(story, entries, n - 1);
  if (by) {
    fputs(td_translate("."), story->out);
    fputs(words_of_choice(by), story->out);
    fputs(td_translate(" By the order of the queue it was the turn of "), story->out);
  } else {
    fputs(td_translate(". Out of turn: by the order of the queue it was the turn of "), story->out);
  }
  td_story_entry(story, &first);
  fputs(td_translate("."), story->out);
}

/* `by` is who chose it, or NULL. */
static void
write_winner(const td_story *story, uint32_t queue, td_queue_entry *entries, uint32_t n,
             uint32_t at, const td_chooser *by) {
  td_queue_entry popped = entries[at];
  if (popped.node != TD_NONE)
    td_story_entry(story, &popped);
  else
    fputs(popped.kind == TD_TASK_SHUTDOWN ? td_translate("The shutdown task")
                                          : td_translate("A dummy task"),
          story->out);
  fputs(td_translate(" was popped from "), story->out);
  td_words_queue(story->out, story->catalog, queue);
  if (n == 1) {
    fputs(td_translate(". It was the only task there."), story->out);
    write_purpose(story, &popped);
    return;
  }
  fputs(td_translate(" before "), story->out);
  if (at == 0) {
    td_story_entries(story, entries + 1, n - 1);
    fputs(td_translate(". "), story->out);
    td_story_wins(story, queue, entries, n);
    if (by) fputs(td_translate(" It was chosen as well."), story->out);
  } else {
    write_out_of_turn(story, entries, n, at, by);
  }
  write_purpose(story, &popped);
}

static uint32_t
place_in_queue(const td_queue_entry *entries, uint32_t n, const td_event_queue_pop *pop) {
  uint32_t at = 0;
  while (at < n && (entries[at].node != pop->node ||
                    (pop->node != TD_NONE && entries[at].graph_task != pop->graph_task)))
    at++;
  return at;
}

/* The state is the one just before the pop. */
static void
write_pop(const td_story *story, const td_event_queue_pop *pop, const td_chooser *by) {
  uint32_t n = pop->queue == TD_NONE ? 0 : td_state_queue(story->state, pop->queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  if (n) td_state_queue_order(story->state, story->catalog, pop->queue, entries);
  uint32_t at = place_in_queue(entries, n, pop);
  if (at < n) {
    write_winner(story, pop->queue, entries, n, at, by);
    write_not_ready(story, pop->graph_task);
  } else {
    if (pop->node == TD_NONE)
      fputs(td_translate("A task without a node"), story->out);
    else
      td_words_node(story->out, story->catalog, pop->node);
    fputs(td_translate(" was popped, but the tape has no event of its entry into "), story->out);
    td_words_queue(story->out, story->catalog, pop->queue);
    fputs(td_translate("."), story->out);
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
  write_pop(&story, &event->queue_pop, is_chosen ? &by : NULL);
  td_story_close(&story);
  char *gil = td_gil_waits_tell(replay, seq, event), *told = *text;
  *text = td_format("%s%s", told, gil);
  free(told);
  free(gil);
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
