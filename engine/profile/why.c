/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why.h"

#include "engine/base/alloc.h"
#include "engine/profile/birth_links.h"
#include "engine/profile/missing.h"
#include "engine/profile/words.h"

#include <limits.h>
#include <string.h>

#define NAMED_MAX 3 /* losers and waiting nodes named before "and 12 more" */

typedef struct story {
  FILE *out;
  const td_catalog *catalog;
  const td_state *state;
  td_senders_now senders; /* (owned) */
} story;

static bool
is_over(const td_state *state, uint32_t graph_task) {
  return graph_task == TD_NONE ||
         td_state_graph_task(state, graph_task)->status != 1 + TD_task_status_running;
}

static void
write_entry(const story *story, const td_queue_entry *entry) {
  if (entry->node == TD_NONE)
    fputs(entry->kind == 2 ? "the shutdown task" : "a dummy task", story->out);
  else
    td_words_node(story->out, story->catalog, entry->node);
}

/* Separator before item i of n that are told: "a, b and c". */
static const char *
separator(uint32_t i, uint32_t n) {
  if (i == 0) return "";
  return i + 1 == n ? " and " : ", ";
}

/* Writes all entries but `skipped`, the first few by name. */
static void
write_entries(const story *story, const td_queue_entry *entries, uint32_t n, uint32_t skipped) {
  uint32_t told = 0, n_others = skipped < n ? n - 1 : n, named = TD_MIN(n_others, NAMED_MAX);
  uint32_t n_told = named + (n_others > named);
  for (uint32_t i = 0; i < n && told < named; i++) {
    if (i == skipped) continue;
    fputs(separator(told++, n_told), story->out);
    write_entry(story, &entries[i]);
  }
  if (n_others > named) fprintf(story->out, " and %u more", n_others - named);
}

static uint64_t
sequence_nr(const story *story, const td_queue_entry *entry) {
  return td_catalog_node_get(story->catalog, entry->node)->sequence_nr;
}

static uint32_t
depth(const story *story, const td_queue_entry *entry) {
  return td_catalog_graph_task_get(story->catalog, entry->graph_task)->depth;
}

static void
write_depth_rule(const story *story, const td_queue_entry *winner, const td_queue_entry *loser) {
  if (is_over(story->state, winner->graph_task))
    fputs("Its graph task is over, and the engine pops such tasks first to throw them away",
          story->out);
  else
    fprintf(story->out, "Its graph task is nested deeper (depth %u against %u)",
            depth(story, winner), depth(story, loser));
}

static void
write_sequence_rule(const story *story, const td_queue_entry *winner, const td_queue_entry *loser) {
  uint64_t won = sequence_nr(story, winner), lost = sequence_nr(story, loser);
  if (won == lost)
    fputs("Their depths and sequence numbers are equal, so the place in the heap decides",
          story->out);
  else if (won == UINT64_MAX)
    fputs("AccumulateGrad has the highest sequence_nr: the engine stores a leaf's gradient as soon "
          "as "
          "it is complete",
          story->out);
  else
    fprintf(
        story->out,
        "Its sequence_nr is higher (%llu against %llu): the node created later in the forward pass "
        "goes first",
        (unsigned long long)won, (unsigned long long)lost);
}

static uint32_t
depth_rank(const story *story, const td_queue_entry *entry) {
  if (is_over(story->state, entry->graph_task)) return INT_MAX;
  return depth(story, entry);
}

static void
write_rule(const story *story, uint32_t queue, const td_queue_entry *winner,
           const td_queue_entry *loser) {
  td_queue_order order = story->catalog->queues[queue].order;
  if (order == TD_queue_order_fifo)
    fputs("This queue is first in, first out", story->out);
  else if (order == TD_queue_order_lifo)
    fputs("This queue is last in, first out", story->out);
  else if (winner->kind == 2)
    fputs("A shutdown task goes before everything", story->out);
  else if (winner->kind == 1)
    fputs("A dummy task goes before every node", story->out);
  else if (loser->node == TD_NONE)
    fputs("A graph task ended while both were in the heap, and that moves nothing in the heap",
          story->out);
  else if (depth_rank(story, winner) != depth_rank(story, loser))
    write_depth_rule(story, winner, loser);
  else
    write_sequence_rule(story, winner, loser);
}

static void
write_sender(const story *story, uint32_t from, uint32_t n_gradients) {
  td_node_state state = (td_node_state)td_state_node(story->state, from)->state;
  td_words_node(story->out, story->catalog, from);
  if (n_gradients > 1)
    fprintf(story->out, " (%s, %u gradients)", td_node_state_name(state), n_gradients);
  else
    fprintf(story->out, " (%s)", td_node_state_name(state));
}

static void
write_missing(const story *story, const td_task_now *task) {
  td_missing missing;
  td_missing_find(&missing, story->catalog, story->state, &story->senders, task);
  uint32_t named = TD_MIN(missing.n, NAMED_MAX), n_told = named + (missing.n > named);
  for (uint32_t i = 0; i < named; i++) {
    fputs(i ? separator(i, n_told) : ", from ", story->out);
    write_sender(story, missing.senders[i].from, missing.senders[i].n_gradients);
  }
  if (missing.n > named) fprintf(story->out, " and %u more", missing.n - named);
  td_missing_fini(&missing);
}

static void
write_wait(const story *story, const td_task_now *task) {
  td_words_node(story->out, story->catalog, task->node);
  fprintf(story->out, " still waits for %u of ", task->dependencies);
  td_words_plural(story->out, task->expected, "gradient");
  write_missing(story, task);
}

/* What lies in not_ready: those that might have been popped had their gradients come. */
static void
write_not_ready(const story *story, uint32_t graph_task) {
  const td_state *state = story->state;
  uint32_t told = 0, more = 0;
  for (uint32_t i = state->header->first_parked; i != TD_NONE;
       i = td_state_task(state, i)->parked_next) {
    const td_task_now *task = td_state_task(state, i);
    if (task->graph_task != graph_task) continue;
    if (told == NAMED_MAX) {
      more++;
      continue;
    }
    fputs(told++ ? "; " : " Not ready: ", story->out);
    write_wait(story, task);
  }
  if (more) fprintf(story->out, "; and %u more", more);
  if (told) putc('.', story->out);
}

/* What a task without a node is for. */
static void
write_purpose(const story *story, const td_queue_entry *entry) {
  if (entry->node != TD_NONE) return;
  if (entry->kind == 2) {
    fputs(" It runs no node: it tells the thread to end.", story->out);
    return;
  }
  fputs(" It runs no node: it wakes the thread, because another thread completed ", story->out);
  td_words_graph_task(story->out, entry->graph_task);
  putc('.', story->out);
}

static void
write_winner(const story *story, uint32_t queue, const td_queue_entry *entries, uint32_t n,
             uint32_t at) {
  if (entries[at].node != TD_NONE)
    write_entry(story, &entries[at]);
  else
    fputs(entries[at].kind == 2 ? "The shutdown task" : "A dummy task", story->out);
  fputs(" was popped from ", story->out);
  td_words_queue(story->out, story->catalog, queue);
  if (n == 1) {
    fputs(". It was the only task there.", story->out);
    write_purpose(story, &entries[at]);
    return;
  }
  fputs(" before ", story->out);
  write_entries(story, entries, n, at);
  fputs(". ", story->out);
  if (at == 0) {
    write_rule(story, queue, &entries[0], &entries[1]);
  } else {
    fputs("Out of turn: by the order of the queue it was the turn of ", story->out);
    write_entry(story, &entries[0]);
  }
  putc('.', story->out);
  write_purpose(story, &entries[at]);
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
write_pop(const story *story, const td_event_queue_pop *pop) {
  uint32_t n = pop->queue == TD_NONE ? 0 : td_state_queue(story->state, pop->queue)->n;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  if (n) td_state_queue_order(story->state, story->catalog, pop->queue, entries);
  uint32_t at = place_in_queue(entries, n, pop);
  if (at < n) {
    write_winner(story, pop->queue, entries, n, at);
    write_not_ready(story, pop->graph_task);
  } else {
    if (pop->node == TD_NONE)
      fputs("A task without a node", story->out);
    else
      td_words_node(story->out, story->catalog, pop->node);
    fputs(" was popped, but the tape has no event of its entry into ", story->out);
    td_words_queue(story->out, story->catalog, pop->queue);
    putc('.', story->out);
  }
  free(entries);
}

static void
begin_story(story *story, const td_replay *replay, FILE *out) {
  *story = (struct story){out, td_replay_catalog(replay), td_replay_state(replay)};
  td_senders_now_list(&story->senders, story->catalog, story->state);
}

static td_status
open_story(story *story, const td_replay *replay, char **text, size_t *size, td_error *error) {
  FILE *out = open_memstream(text, size);
  if (!out) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a sentence");
  begin_story(story, replay, out);
  return TD_OK;
}

static void
close_story(story *story) {
  fclose(story->out);
  td_senders_now_fini(&story->senders);
}

static td_status
tell_pop(td_replay *replay, uint64_t seq, const td_any_event *event, char **text, td_error *error) {
  td_status status = td_replay_seek(replay, seq, error);
  if (status != TD_OK) return status;
  story story;
  size_t size;
  status = open_story(&story, replay, text, &size, error);
  if (status != TD_OK) return status;
  write_pop(&story, &event->queue_pop);
  close_story(&story);
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

static void
write_queued(const story *story, uint32_t node, const td_task_now *task) {
  uint32_t n = td_state_queue(story->state, task->queue)->n, ahead = 0;
  td_queue_entry *entries = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(story->state, story->catalog, task->queue, entries);
  while (ahead < n &&
         (entries[ahead].node != node || entries[ahead].graph_task != task->graph_task))
    ahead++;
  fputs(" is ready and waits in ", story->out);
  td_words_queue(story->out, story->catalog, task->queue);
  if (ahead == 0) {
    fputs(". It is the next to be popped", story->out);
  } else {
    fputs(" behind ", story->out);
    write_entries(story, entries, ahead, TD_NONE);
    fputs(". ", story->out);
    write_rule(story, task->queue, &entries[0], &entries[TD_MIN(ahead, n - 1)]);
  }
  free(entries);
}

static void
write_on_thread(const story *story, const char *verb, const td_node_now *now) {
  fprintf(story->out, " %s ", verb);
  td_words_thread(story->out, story->catalog, now->thread);
}

/* What is said of a node that waits for nothing any more, or for nothing yet. */
static const char *const conditions[TD_N_NODE_STATES] = {
    [TD_NODE_absent] = " is not created yet",
    [TD_NODE_created] = " takes part in no backward pass yet",
    [TD_NODE_waiting] = " got no gradients in the pass that it was part of",
    [TD_NODE_partial] = " was left without all its gradients when its pass ended",
    [TD_NODE_queued] = " was popped and is about to run",
    [TD_NODE_skipped] = " is not run in this pass",
    [TD_NODE_captured] = " was not run: its gradient was kept as a result",
    [TD_NODE_failed] = " failed",
    [TD_NODE_released] = " is released",
};

/* `task` is one of the node's, or NULL. */
static void
write_node_now(const story *story, uint32_t node, const td_task_now *task) {
  const td_node_now *now = td_state_node(story->state, node);
  bool waits = now->state == TD_NODE_waiting || now->state == TD_NODE_partial;
  if (task && waits && task->dependencies > 0) {
    write_wait(story, task);
    putc('.', story->out);
    return;
  }
  td_words_node(story->out, story->catalog, node);
  if (task && task->queue != TD_NONE)
    write_queued(story, node, task);
  else if (now->state == TD_NODE_running)
    write_on_thread(story, "is running on", now);
  else if (now->state == TD_NODE_done)
    write_on_thread(story, "has run on", now);
  else if (task && waits)
    fputs(" has all its gradients and is about to enter a queue", story->out);
  else
    fputs(conditions[now->state], story->out);
  putc('.', story->out);
}

char *
td_why_wait(const td_replay *replay, uint32_t node) {
  story story;
  char *text = NULL;
  size_t size;
  if (open_story(&story, replay, &text, &size, NULL) != TD_OK) return td_dup_string("");
  if (td_catalog_has_node(story.catalog, node))
    write_node_now(&story, node, td_state_task_find(story.state, node, TD_NONE));
  close_story(&story);
  return text;
}

void
td_why_write_parked(const td_replay *replay, FILE *out) {
  story story;
  begin_story(&story, replay, out);
  uint32_t next;
  for (uint32_t i = story.state->header->first_parked; i != TD_NONE; i = next) {
    const td_task_now *task = td_state_task(story.state, i);
    fputs("  ", out);
    write_node_now(&story, task->node, task);
    putc('\n', out);
    next = task->parked_next;
  }
  td_senders_now_fini(&story.senders);
}

static td_status
tell_event(td_replay *replay, uint64_t seq, const td_any_event *event, char **text,
           td_error *error) {
  td_status status = td_replay_seek(replay, seq + 1, error);
  if (status != TD_OK) return status;
  char *what = td_why_describe(td_replay_catalog(replay), td_replay_tape(replay), event);
  char *wait = td_why_mean(td_replay_catalog(replay), td_replay_tape(replay), event);
  char *links =
      event->event.kind == TD_EVENT_anomaly
          ? td_birth_links(td_replay_catalog(replay), td_replay_tape(replay), seq, &event->anomaly)
          : td_dup_string("");
  if (!*wait && event->event.kind != TD_EVENT_error) {
    free(wait);
    wait = td_why_wait(replay, td_why_node_of(event));
  }
  *text = td_format("Event %llu: %s.%s%s%s", (unsigned long long)seq, what, *wait ? " " : "", wait,
                    links);
  free(links);
  free(what);
  free(wait);
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
