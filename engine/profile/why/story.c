/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/story.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/words.h"
#include "engine/rules/task_order.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

const char *
td_story_separator(uint32_t i, uint32_t n) {
  if (i == 0) return "";
  return i + 1 == n ? td_translate(" and ") : ", ";
}

void
td_story_entry(const td_story *story, const td_queue_entry *entry) {
  if (entry->node == TD_NONE)
    fputs(entry->kind == TD_TASK_SHUTDOWN ? td_translate("the shutdown task")
                                          : td_translate("a dummy task"),
          story->out);
  else
    td_words_node(story->out, story->catalog, entry->node);
}

void
td_story_entries(const td_story *story, const td_queue_entry *entries, uint32_t n) {
  uint32_t named = TD_MIN(n, TD_STORY_NAMED), n_told = named + (n > named);
  for (uint32_t i = 0; i < named; i++) {
    fputs(td_story_separator(i, n_told), story->out);
    td_story_entry(story, &entries[i]);
  }
  if (n > named) fprintf(story->out, td_translate(" and %u more"), n - named);
}

void
td_story_begin(td_story *story, const td_replay *replay, FILE *out) {
  *story = (td_story){out, td_replay_catalog(replay), td_replay_state(replay)};
  td_senders_now_list(&story->senders, story->catalog, story->state);
}

td_status
td_story_open(td_story *story, const td_replay *replay, char **text, size_t *size,
              td_error *error) {
  FILE *out = open_memstream(text, size);
  if (!out) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a sentence");
  td_story_begin(story, replay, out);
  return TD_OK;
}

void
td_story_close(td_story *story) {
  fclose(story->out);
  td_senders_now_fini(&story->senders);
}

/* ---- what a task waits for ---- */

static void
write_sender(const td_story *story, uint32_t from, uint32_t n_gradients) {
  td_node_state state = (td_node_state)td_state_node(story->state, from)->state;
  td_words_node(story->out, story->catalog, from);
  fprintf(story->out, " (%s", td_translate(td_node_state_name(state)));
  if (state == TD_NODE_done) fputs(td_translate(", on its way"), story->out);
  if (n_gradients > 1) fprintf(story->out, td_translate(", %u gradients"), n_gradients);
  putc(')', story->out);
}

static void
write_missing(const td_story *story, const td_task_now *task) {
  td_missing missing;
  td_missing_find(&missing, story->catalog, story->state, &story->senders, task);
  uint32_t named = TD_MIN(missing.n, TD_STORY_NAMED), n_told = named + (missing.n > named);
  for (uint32_t i = 0; i < named; i++) {
    fputs(i ? td_story_separator(i, n_told) : td_translate(", from "), story->out);
    write_sender(story, missing.senders[i].from, missing.senders[i].n_gradients);
  }
  if (missing.n > named) fprintf(story->out, td_translate(" and %u more"), missing.n - named);
  td_missing_fini(&missing);
}

void
td_story_wait(const td_story *story, const td_task_now *task) {
  td_words_node(story->out, story->catalog, task->node);
  fprintf(story->out, td_translate(" still waits for %u of "), task->dependencies);
  td_words_plural(story->out, task->expected, "gradient", "gradients");
  write_missing(story, task);
}

/* ---- the order of a queue ---- */

/* Why one entry goes before another. */
typedef enum reason {
  FIFO,
  LIFO,
  SHUTDOWN,
  DUMMY,
  OVER,
  UNSORTED,
  HIGHEST,
  TIE,
  DEEPER,
  HIGHER,
} reason;

/* The same words do for both entries. Those of DEEPER and HIGHER have numbers. */
static const char *const words[] = {
    [FIFO] = TD_N("this queue is first in, first out"),
    [LIFO] = TD_N("this queue is last in, first out"),
    [SHUTDOWN] = TD_N("a shutdown task goes before everything"),
    [DUMMY] = TD_N("a dummy task goes before every node"),
    [OVER] = TD_N("a task whose graph task is over goes first, and the engine throws it away"),
    [UNSORTED] =
        TD_N("a graph task ended while both were in the heap, and that moves nothing in the "
             "heap"),
    [HIGHEST] =
        TD_N("AccumulateGrad has the highest sequence_nr: the engine stores a leaf's gradient "
             "as soon as it is complete"),
    [TIE] = TD_N("depths and sequence numbers are equal, so the place in the heap decides"),
};

static bool
is_over(const td_story *story, const td_queue_entry *entry) {
  return entry->graph_task == TD_NONE ||
         td_state_graph_task(story->state, entry->graph_task)->status != TD_PASS_RUNNING;
}

static uint32_t
depth(const td_story *story, const td_queue_entry *entry) {
  return td_catalog_graph_task_get(story->catalog, entry->graph_task)->depth;
}

static uint32_t
depth_rank(const td_story *story, const td_queue_entry *entry) {
  return is_over(story, entry) ? INT_MAX : depth(story, entry);
}

static uint64_t
sequence_nr(const td_story *story, const td_queue_entry *entry) {
  return td_catalog_node_get(story->catalog, entry->node)->sequence_nr;
}

static reason
compare_nodes(const td_story *story, const td_queue_entry *winner, const td_queue_entry *loser) {
  uint32_t deep = depth_rank(story, winner), less_deep = depth_rank(story, loser);
  uint64_t high = sequence_nr(story, winner), low = sequence_nr(story, loser);
  if (deep < less_deep || (deep == less_deep && high < low)) return UNSORTED;
  if (deep > less_deep) return is_over(story, winner) ? OVER : DEEPER;
  if (high == low) return TIE;
  return high == UINT64_MAX ? HIGHEST : HIGHER;
}

static reason
compare(const td_story *story, uint32_t queue, const td_queue_entry *winner,
        const td_queue_entry *loser) {
  td_queue_order order = story->catalog->queues[queue].order;
  if (order == TD_queue_order_fifo) return FIFO;
  if (order == TD_queue_order_lifo) return LIFO;
  if (winner->kind == TD_TASK_SHUTDOWN) return SHUTDOWN;
  if (winner->kind == TD_TASK_DUMMY) return DUMMY;
  return loser->node == TD_NONE ? UNSORTED : compare_nodes(story, winner, loser);
}

/* One of two entries, and the one that it is compared with. */
typedef struct side {
  const td_queue_entry *self, *other;
  bool wins;
} side;

/* Threads count for themselves, and a program may set a number. */
static bool
is_younger(const td_story *story, const side *side) {
  const td_queue_entry *winner = side->wins ? side->self : side->other;
  const td_queue_entry *loser = side->wins ? side->other : side->self;
  return td_catalog_node_get(story->catalog, winner->node)->created_seq >=
         td_catalog_node_get(story->catalog, loser->node)->created_seq;
}

static char *
make_clause(const td_story *story, reason reason, const side *side) {
  if (reason == DEEPER)
    return td_format(td_translate("its graph task is nested %s (depth %u against %u)"),
                     side->wins ? td_translate("deeper") : td_translate("less deep"),
                     depth(story, side->self), depth(story, side->other));
  if (reason == HIGHER)
    return td_format(is_younger(story, side)
                         ? td_translate("its sequence_nr is %s (%llu against %llu): the node "
                                        "created later in the forward pass goes first")
                         : td_translate("its sequence_nr is %s (%llu against %llu), and the "
                                        "higher number goes first"),
                     side->wins ? td_translate("higher") : td_translate("lower"),
                     (unsigned long long)sequence_nr(story, side->self),
                     (unsigned long long)sequence_nr(story, side->other));
  return td_dup_string(td_translate(words[reason]));
}

/* The reason holds for all others. */
static void
write_sentence(const td_story *story, reason reason, const side *side, uint32_t n_others) {
  char *clause = make_clause(story, reason, side);
  if (reason == TIE)
    fputs(n_others == 1 ? td_translate("Their ") : td_translate("All "), story->out);
  else if (islower((unsigned char)*clause))
    *clause = (char)toupper((unsigned char)*clause);
  fprintf(story->out, td_translate("%s."), clause);
  free(clause);
}

static void
write_group(const td_story *story, reason reason, const side *side, const td_queue_entry *others,
            uint32_t n_others) {
  char *clause = make_clause(story, reason, side);
  fputs(td_translate("Against "), story->out);
  td_story_entries(story, others, n_others);
  fprintf(story->out, td_translate(", %s."), clause);
  free(clause);
}

/* An entry against n others, which are in the order of the queue. Those with the same reason
 * follow one another. */
static void
write_order(const td_story *story, uint32_t queue, const td_queue_entry *self, bool wins,
            const td_queue_entry *others, uint32_t n) {
  for (uint32_t first = 0, end; first < n; first = end) {
    reason reason = 0;
    for (end = first; end < n; end++) {
      const td_queue_entry *winner = wins ? self : &others[end];
      enum reason next = compare(story, queue, winner, wins ? &others[end] : self);
      if (end > first && next != reason) break;
      reason = next;
    }
    side side = {self, &others[wins ? first : end - 1], wins};
    if (first) putc(' ', story->out);
    if (end - first == n)
      write_sentence(story, reason, &side, n);
    else
      write_group(story, reason, &side, &others[first], end - first);
  }
}

void
td_story_wins(const td_story *story, uint32_t queue, const td_queue_entry *entries, uint32_t n) {
  write_order(story, queue, &entries[0], true, &entries[1], n - 1);
}

void
td_story_loses(const td_story *story, uint32_t queue, const td_queue_entry *entries, uint32_t n) {
  write_order(story, queue, &entries[n - 1], false, entries, n - 1);
}
