/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/why.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/why/birth_links.h"
#include "engine/profile/why/gil_waits.h"
#include "engine/profile/why/story.h"
#include "engine/profile/words.h"

#include <string.h>

static void
write_queue_place(const td_story *story, uint32_t node, const td_task_now *task) {
  uint32_t n = td_state_queue(story->state, task->queue)->n, ahead = 0;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(story->state, story->catalog, task->queue, entries);
  while (ahead < n &&
         (entries[ahead].node != node || entries[ahead].graph_task != task->graph_task))
    ahead++;
  if (ahead == 0) {
    fputs(td_translate("It is the next to be popped."), story->out);
  } else {
    fputs(td_translate("It waits behind "), story->out);
    td_story_entries(story, entries, ahead);
    fputs(td_translate(". "), story->out);
    if (ahead < n) td_story_loses(story, task->queue, entries, ahead + 1);
  }
  free(entries);
}

static void
write_on_thread(const td_story *story, const char *verb, const td_node_now *now) {
  fprintf(story->out, " %s ", verb);
  td_words_thread(story->out, story->catalog, now->thread);
}

/* The last gradient is counted off before it lies in the buffer. Between the two, its sender is
 * told. */
static bool
write_last_sender(const td_story *story, const td_task_now *task) {
  td_task_now counted = *task;
  td_missing missing;
  counted.dependencies = counted.expected; /* so that nothing counts as delivered */
  td_missing_find(&missing, story->catalog, story->state, &story->senders, &counted);
  bool is_on_its_way = missing.n > 0;
  if (is_on_its_way) {
    fputs(td_translate(" waits for its last gradient, which is on its way from "), story->out);
    td_words_node(story->out, story->catalog, missing.senders[0].from);
  }
  td_missing_fini(&missing);
  return is_on_its_way;
}

/* What is said of a node that waits for nothing any more, or for nothing yet. */
static const char *const conditions[TD_N_NODE_STATES] = {
    [TD_NODE_absent] = TD_N(" is not created yet"),
    [TD_NODE_created] = TD_N(" takes part in no backward pass yet"),
    [TD_NODE_waiting] = TD_N(" got no gradients in the pass that it was part of"),
    [TD_NODE_partial] = TD_N(" was left without all its gradients when its pass ended"),
    [TD_NODE_queued] = TD_N(" was popped and is about to run"),
    [TD_NODE_skipped] = TD_N(" is not run in this pass"),
    [TD_NODE_captured] = TD_N(" was not run: its gradient was kept as a result"),
    [TD_NODE_failed] = TD_N(" failed"),
    [TD_NODE_released] = TD_N(" is released"),
};

static void
write_node_without_wait(const td_story *story, const td_node_now *now) {
  if (now->state == TD_NODE_running)
    write_on_thread(story, td_translate("is running on"), now);
  else if (now->state == TD_NODE_done)
    write_on_thread(story, td_translate("has run on"), now);
  else
    fputs(td_translate(conditions[now->state]), story->out);
}

static bool
is_waiting(const td_story *story, uint32_t node) {
  uint8_t state = td_state_node(story->state, node)->state;
  return state == TD_NODE_waiting || state == TD_NODE_partial;
}

/* `task` is one of the node's, or NULL: then it does not wait. */
static void
write_node_now(const td_story *story, uint32_t node, const td_task_now *task, bool waits) {
  const td_node_now *now = td_state_node(story->state, node);
  if (waits && task->dependencies > 0) {
    td_story_wait(story, task);
    fputs(td_translate("."), story->out);
    return;
  }
  td_words_node(story->out, story->catalog, node);
  if (task && task->queue != TD_NONE) {
    fputs(td_translate(" is ready and lies in "), story->out);
    td_words_queue(story->out, story->catalog, task->queue);
    fputs(td_translate(". "), story->out);
    write_queue_place(story, node, task);
    return;
  }
  if (!waits)
    write_node_without_wait(story, now);
  else if (!write_last_sender(story, task))
    fputs(td_translate(" has all its gradients and is about to enter a queue"), story->out);
  fputs(td_translate("."), story->out);
}

char *
td_why_wait(const td_replay *replay, uint32_t node) {
  td_story story;
  char *text = NULL;
  size_t size;
  if (td_story_open(&story, replay, &text, &size, NULL) != TD_OK) return td_dup_string("");
  if (td_catalog_has_node(story.catalog, node)) {
    const td_task_now *task = td_state_task_find(story.state, node, TD_NONE);
    write_node_now(&story, node, task, task && is_waiting(&story, node));
  }
  td_story_close(&story);
  return text;
}

void
td_why_write_parked(const td_replay *replay, FILE *out) {
  td_story story;
  td_story_begin(&story, replay, out);
  uint32_t next;
  for (uint32_t i = story.state->header->first_parked; i != TD_NONE; i = next) {
    const td_task_now *task = td_state_task(story.state, i);
    fputs("  ", out);
    write_node_now(&story, task->node, task, is_waiting(&story, task->node));
    putc('\n', out);
    next = task->parked_next;
  }
  td_senders_now_fini(&story.senders);
}

/* Is it news what the node of such an event waits for, or does the event itself say it? */
static bool
is_about_waiting(const td_any_event *event) {
  switch (event->event.kind) {
  case TD_EVENT_queue_push:
  case TD_EVENT_buffer_new:
  case TD_EVENT_buffer_add:
  case TD_EVENT_buffer_park:
  case TD_EVENT_buffer_expose:
  case TD_EVENT_dependency_dec:
    return true;
  default:
    return false;
  }
}

/* A node may wait in several passes at once. The event says in which: there it waits, whatever it
 * did in another one. */
static char *
explain_wait(const td_replay *replay, const td_any_event *event) {
  td_story story;
  char *text = NULL;
  size_t size;
  uint32_t node = td_why_node_of(event);
  if (td_story_open(&story, replay, &text, &size, NULL) != TD_OK) return td_dup_string("");
  const td_task_now *task =
      td_catalog_has_node(story.catalog, node)
          ? td_state_task_find(story.state, node, td_event_graph_task(&event->event))
          : NULL;
  if (task && event->event.kind == TD_EVENT_queue_push && task->queue != TD_NONE)
    write_queue_place(&story, node, task);
  else if (task)
    write_node_now(&story, node, task, td_state_node(story.state, node)->state != TD_NODE_skipped);
  td_story_close(&story);
  return text;
}

static td_status
tell_event(td_replay *replay, uint64_t seq, const td_any_event *event, char **text,
           td_error *error) {
  td_status status = td_replay_seek(replay, seq + 1, error);
  if (status != TD_OK) return status;
  const td_catalog *catalog = td_replay_catalog(replay);
  td_tape *tape = td_replay_tape(replay);
  char *what = td_why_describe(catalog, tape, event);
  char *then =
      is_about_waiting(event) ? explain_wait(replay, event) : td_why_mean(catalog, tape, event);
  char *links = event->event.kind == TD_EVENT_anomaly
                    ? td_birth_links(catalog, tape, seq, &event->anomaly)
                    : td_dup_string("");
  char *gil = td_gil_waits_tell(replay, seq, event);
  *text = td_format(td_translate("Event %llu: %s.%s%s%s%s"), (unsigned long long)seq, what,
                    *then ? " " : "", then, links, gil);
  free(gil);
  free(links);
  free(what);
  free(then);
  return TD_OK;
}

td_status
td_why_at(td_replay *replay, uint64_t seq, char **text, td_error *error) {
  td_any_event event;
  uint64_t position = td_replay_position(replay);
  td_status status = td_replay_event(replay, seq, &event, error);
  if (status != TD_OK) return status;
  if (event.event.kind == TD_EVENT_queue_pop) return td_why_pop(replay, seq, text, error);
  status = tell_event(replay, seq, &event, text, error);
  td_status back = td_replay_seek(replay, position, NULL);
  return status != TD_OK ? status : back;
}
