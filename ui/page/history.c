/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/history.h"

#include "engine/base/alloc.h"
#include "engine/profile/why/why.h"
#include "ui/page/tracker.h"

#include <string.h>

static void
add_event(td_page_changes *changes, td_page_event event) {
  TD_GROW(changes->events, changes->n_events, changes->event_capacity);
  changes->events[changes->n_events++] = event;
}

/* A reason costs what lies in the queue. */
#define MOST_OF_REASONS ((uint64_t)8 << 20) /* tasks in the queues of all pops */

static char *
reason_of(td_replay *replay, uint64_t seq) {
  char *text = NULL;
  return td_why_pop(replay, seq, &text, NULL) == TD_OK ? text : NULL;
}

typedef struct telling {
  td_page_sentences *says, *whys; /* (borrowed) */
  uint64_t n_in_queues;           /* at all pops so far */
} telling;

/* How many tasks lie in the queue before a pop. */
static uint64_t
count_tasks(const td_replay *replay, const td_event_queue_pop *pop) {
  bool is_known = pop->queue < td_replay_catalog(replay)->n_queues;
  return is_known ? td_state_queue(td_replay_state(replay), pop->queue)->n : 0;
}

/* Once there is no room for texts, none is made. */
static void
tell(td_page_event *made, td_replay *replay, const td_any_event *event, uint64_t seq,
     telling *telling) {
  td_page_sentences *says = telling->says, *whys = telling->whys;
  bool is_pop = event->event.kind == TD_EVENT_queue_pop;
  if (is_pop) telling->n_in_queues += count_tasks(replay, &event->queue_pop);
  whys->left_out |= telling->n_in_queues > MOST_OF_REASONS;
  if (is_pop && !whys->left_out) made->why = td_page_sentences_put(whys, reason_of(replay, seq));
  if (says->left_out) return;
  char *text = td_why_describe_briefly(td_replay_catalog(replay), td_replay_tape(replay), event);
  made->says = td_page_sentences_put(says, text);
}

/* Applies event `seq`, which comes next. One that cannot be read changes nothing. */
static td_status
take_event(td_page_changes *changes, td_page_tracker *tracker, td_page_nodes *nodes,
           telling *telling, uint64_t seq, td_error *error) {
  td_any_event event;
  td_replay *replay = tracker->replay;
  td_page_event made = {.thread = TD_NONE, .node = TD_NONE};
  size_t before = changes->n_words;
  bool is_readable = td_replay_event(replay, seq, &event, NULL) == TD_OK;
  if (is_readable) {
    td_page_tracker_expect(tracker, &event);
    made.thread = event.event.thread;
    made.kind = event.event.kind;
    made.node = td_page_nodes_put(nodes, td_why_node_of(&event));
    tell(&made, replay, &event, seq, telling);
  }
  td_status status = td_replay_forward(replay, error);
  if (status) return status;
  if (is_readable) td_page_tracker_compare(tracker, &event);
  made.time = td_replay_state(replay)->header->time_ns;
  made.n_words = (uint32_t)(changes->n_words - before);
  add_event(changes, made);
  return TD_OK;
}

/* What is there before the first event is known only at the end: later events name more nodes. */
static void
add_beginning(td_page_changes *changes, td_page_tracker *tracker) {
  size_t n_after = changes->n_words;
  td_page_tracker_write_beginning(tracker);
  size_t n = changes->n_words - n_after;
  int64_t *words = td_alloc(changes->n_words + 1, sizeof *words);
  memcpy(words, changes->words + n_after, n * sizeof *words);
  if (n_after) memcpy(words + n, changes->words, n_after * sizeof *words);
  free(changes->words);
  changes->words = words;
  changes->word_capacity = changes->n_words + 1;
  changes->events[0].n_words = (uint32_t)n;
}

td_status
td_page_history_make(td_page_changes *changes, td_replay *replay, td_page_nodes *nodes,
                     const td_page_graphs *graphs, td_page_sentences *says, td_page_sentences *whys,
                     uint64_t first, uint64_t end, td_error *error) {
  const td_catalog *catalog = td_replay_catalog(replay);
  *changes = (td_page_changes){.has_thread = TD_NEW_N(bool, catalog->n_threads + 1),
                               .has_queue = TD_NEW_N(bool, catalog->n_queues + 1)};
  td_status status = td_replay_seek(replay, first, error);
  if (status) return status;
  telling telling = {says, whys, 0};
  td_page_tracker tracker;
  td_page_tracker_init(&tracker, changes, replay, nodes, graphs);
  add_event(changes, (td_page_event){.time = td_replay_state(replay)->header->time_ns,
                                     .thread = TD_NONE,
                                     .node = TD_NONE});
  for (uint64_t seq = first; seq < end && !status; seq++)
    status = take_event(changes, &tracker, nodes, &telling, seq, error);
  add_beginning(changes, &tracker);
  td_page_tracker_fini(&tracker);
  return status;
}
