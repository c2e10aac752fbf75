/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/why.h"

#include "engine/base/alloc.h"
#include "engine/profile/why/birth_links.h"
#include "engine/profile/why/gil_waits.h"
#include "engine/profile/why/lay_words.h"
#include "engine/profile/why/lock_words.h"
#include "engine/profile/why/story.h"

#include <string.h>

static void
say_queue_place(const td_story *story, uint32_t node, const td_task_now *task) {
  uint32_t n = td_state_queue(story->state, task->queue)->n, ahead = 0;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(story->state, story->catalog, task->queue, entries);
  while (ahead < n &&
         (entries[ahead].node != node || entries[ahead].graph_task != task->graph_task))
    ahead++;
  if (ahead == 0) {
    td_say_plain(story->out, TD_SAY_is_next);
  } else {
    char *others = td_story_entries(story, entries, ahead);
    td_story_say(story, TD_SAY_is_behind, td_with_text("others", others));
    free(others);
    if (ahead < n) td_story_loses(story, task->queue, entries, ahead + 1);
  }
  free(entries);
  td_lay_say_now(story, task->queue, task->graph_task);
}

/* The last gradient is counted off before it lies in the buffer. Between the two, this says who
 * sent it. */
static bool
say_last_sender(const td_story *story, const td_task_now *task) {
  td_task_now counted = *task;
  td_missing missing;
  counted.dependencies = counted.expected; /* so that nothing counts as delivered */
  td_missing_find(&missing, story->catalog, story->state, &story->senders, &counted);
  bool is_on_its_way = missing.n > 0;
  if (is_on_its_way)
    td_story_say(story, TD_SAY_waits_for_last, td_with_node("node", task->node),
                 td_with_node("from", missing.senders[0].from));
  td_missing_fini(&missing);
  return is_on_its_way;
}

/* What is said of a node that waits for nothing any more, or for nothing yet. */
static const td_sentence conditions[TD_N_NODE_STATES] = {
    [TD_NODE_absent] = TD_SAY_is_absent,     [TD_NODE_created] = TD_SAY_is_created,
    [TD_NODE_waiting] = TD_SAY_got_none,     [TD_NODE_partial] = TD_SAY_got_some,
    [TD_NODE_queued] = TD_SAY_is_popped,     [TD_NODE_running] = TD_SAY_is_running,
    [TD_NODE_done] = TD_SAY_has_run,         [TD_NODE_skipped] = TD_SAY_is_skipped,
    [TD_NODE_captured] = TD_SAY_is_captured, [TD_NODE_failed] = TD_SAY_has_failed,
    [TD_NODE_released] = TD_SAY_is_released,
};

static bool
is_waiting(const td_pair_now *pair) {
  return pair->state == TD_NODE_waiting || pair->state == TD_NODE_partial;
}

/* What is said of a thread that waits for a lock in the node that it runs. */
static const td_sentence lock_waits[TD_lock_kind_LIMIT] = {
    [TD_lock_kind_queue] = TD_SAY_waits_for_queue_lock,
    [TD_lock_kind_graph_task] = TD_SAY_waits_for_pass_lock,
    [TD_lock_kind_node] = TD_SAY_waits_for_node_lock,
    [TD_lock_kind_gil] = TD_SAY_waits_for_gil,
};

static td_sentence
condition_of(const td_story *story, uint32_t node, const td_pair_now *pair) {
  if (!pair->is_known) return TD_SAY_is_forgotten;
  if (pair->state != TD_NODE_running || pair->thread == TD_NONE) return conditions[pair->state];
  const td_thread_now *thread = td_state_thread(story->state, pair->thread);
  bool waits = thread->node == node && thread->lock < TD_lock_kind_LIMIT;
  return waits ? lock_waits[thread->lock] : TD_SAY_is_running;
}

/* `task` is that of the pair, or NULL: then it does not wait. */
static void
say_node_now(const td_story *story, uint32_t node, const td_pair_now *pair, const td_task_now *task,
             bool waits) {
  if (waits && task->dependencies > 0) {
    char *wait = td_story_wait(story, task);
    td_story_say(story, TD_SAY_stop, td_with_text("clause", wait));
    free(wait);
  } else if (task && task->queue != TD_NONE) {
    td_story_say(story, TD_SAY_is_ready, td_with_node("node", node),
                 td_with_queue("queue", task->queue));
    say_queue_place(story, node, task);
  } else if (!waits) {
    td_story_say(story, condition_of(story, node, pair), td_with_node("node", node),
                 td_with_thread("thread", pair->thread));
  } else if (!say_last_sender(story, task)) {
    td_story_say(story, TD_SAY_has_all, td_with_node("node", node));
  }
}

char *
td_why_wait(const td_replay *replay, uint32_t node, uint32_t graph_task) {
  td_story story;
  char *text = NULL;
  size_t size;
  if (td_story_open(&story, replay, &text, &size, NULL) != TD_OK) return td_dup_string("");
  if (td_catalog_has_node(story.catalog, node)) {
    const td_task_now *task = td_state_task_find(story.state, node, graph_task);
    td_pair_now pair = td_state_pair(story.state, node, graph_task);
    say_node_now(&story, node, &pair, task, task && is_waiting(&pair));
  }
  td_story_close(&story);
  return text;
}

static void
write_parked(const td_story *story, const td_task_now *task, FILE *out) {
  char *text = NULL;
  size_t size;
  td_story line = *story;
  line.out = open_memstream(&text, &size);
  if (!line.out) td_out_of_memory();
  td_pair_now pair = td_state_pair(story->state, task->node, task->graph_task);
  say_node_now(&line, task->node, &pair, task, is_waiting(&pair));
  fclose(line.out);
  fprintf(out, "  %s\n", text);
  free(text);
}

void
td_why_write_parked(const td_replay *replay, FILE *out) {
  td_story story;
  td_story_begin(&story, replay, NULL);
  uint32_t next;
  for (uint32_t i = story.state->header->first_parked; i != TD_NONE; i = next) {
    const td_task_now *task = td_state_task(story.state, i);
    write_parked(&story, task, out);
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
  uint32_t pass = td_event_graph_task(&event->event);
  const td_task_now *task =
      td_catalog_has_node(story.catalog, node) ? td_state_task_find(story.state, node, pass) : NULL;
  if (task && event->event.kind == TD_EVENT_queue_push && task->queue != TD_NONE) {
    say_queue_place(&story, node, task);
  } else if (task) {
    td_pair_now pair = td_state_pair(story.state, node, pass);
    say_node_now(&story, node, &pair, task, pair.state != TD_NODE_skipped);
  }
  td_story_close(&story);
  return text;
}

static td_status
tell_event(td_replay *replay, uint64_t seq, const td_any_event *event, char **text,
           td_error *error) {
  td_status status = td_replay_seek(replay, seq + 1, error);
  if (status != TD_OK) return status;
  size_t size;
  FILE *out = open_memstream(text, &size);
  if (!out) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a sentence");
  const td_catalog *catalog = td_replay_catalog(replay);
  td_tape *tape = td_replay_tape(replay);
  char *what = td_why_describe(catalog, tape, event);
  td_say(out, catalog, TD_SAY_event, td_with_number("seq", seq), td_with_text("event", what));
  free(what);
  td_say_text(out, is_about_waiting(event) ? explain_wait(replay, event)
                                           : td_why_mean(catalog, tape, event));
  if (event->event.kind == TD_EVENT_anomaly)
    td_birth_links_say(out, catalog, tape, seq, &event->anomaly);
  td_lock_waits_say(out, replay, seq, event);
  td_gil_waits_say(out, replay, seq, event);
  fclose(out);
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
