/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/story.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/rules/task_order.h"

#include <limits.h>
#include <stdlib.h>

char *
td_story_entry(const td_story *story, const td_queue_entry *entry) {
  if (entry->node != TD_NONE)
    return td_said(story->catalog, TD_SAY_name, td_with_node("name", entry->node));
  return td_dup_string(
      td_sentence_text(entry->kind == TD_TASK_SHUTDOWN ? TD_SAY_shutdown_task : TD_SAY_dummy_task));
}

/* Item i of n that are named, of which "and 12 more" may follow. */
static td_sentence
joint(uint32_t i, uint32_t n, bool has_more) {
  return i + 1 == n && !has_more ? TD_SAY_list_last : TD_SAY_list_next;
}

char *
td_story_entries(const td_story *story, const td_queue_entry *entries, uint32_t n) {
  uint32_t named = TD_MIN(n, TD_STORY_NAMED), more = n - named;
  char *list = NULL;
  for (uint32_t i = 0; i < named; i++)
    list = td_list_add(list, joint(i, named, more), td_story_entry(story, &entries[i]));
  return td_list_more(list, TD_SAY_list_more, more);
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

static char *
dup_sender(const td_story *story, const td_sender *sender, uint32_t graph_task) {
  td_pair_now pair = td_state_pair(story->state, sender->from, graph_task);
  td_node_state state = (td_node_state)pair.state;
  bool has_sent = state == TD_NODE_done, has_several = sender->n_gradients > 1;
  td_sentence one = has_sent ? TD_SAY_sender_sent : TD_SAY_sender;
  td_sentence several = has_sent ? TD_SAY_sender_sent_of : TD_SAY_sender_of;
  return td_said(story->catalog, has_several ? several : one, td_with_node("node", sender->from),
                 td_with_text("state", td_translate(td_node_state_name(state))),
                 td_with_number("n", sender->n_gradients));
}

/* NULL if there is none. */
static char *
dup_senders(const td_story *story, const td_task_now *task) {
  td_missing missing;
  char *list = NULL;
  td_missing_find(&missing, story->catalog, story->state, &story->senders, task);
  uint32_t named = TD_MIN(missing.n, TD_STORY_NAMED), more = missing.n - named;
  for (uint32_t i = 0; i < named; i++)
    list = td_list_add(list, joint(i, named, more),
                       dup_sender(story, &missing.senders[i], task->graph_task));
  td_missing_fini(&missing);
  return td_list_more(list, TD_SAY_list_more, more);
}

char *
td_story_wait(const td_story *story, const td_task_now *task) {
  char *senders = dup_senders(story, task);
  char *text = td_said(story->catalog, senders ? TD_SAY_waits_from : TD_SAY_waits,
                       td_with_node("node", task->node), td_with_number("left", task->dependencies),
                       td_with_number("n", task->expected), td_with_text("senders", senders));
  free(senders);
  return text;
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

/* What is said if a reason holds for all others of a queue, and what if it holds for some. */
typedef struct reason_words {
  td_sentence all, some;
} reason_words;

#define REASON(name)                                                                               \
  { TD_SAY_##name, TD_SAY_##name##_against }

/* The same words do for both entries. */
static const reason_words words[] = {
    [FIFO] = REASON(fifo),       [LIFO] = REASON(lifo), [SHUTDOWN] = REASON(shutdown),
    [DUMMY] = REASON(dummy),     [OVER] = REASON(over), [UNSORTED] = REASON(unsorted),
    [HIGHEST] = REASON(highest), [TIE] = REASON(tie),
};

/* By whether the entry wins. */
static const reason_words depths[] = {REASON(less_deep), REASON(deeper)};
static const reason_words numbers[] = {REASON(lower), REASON(higher)};
static const reason_words ages[] = {REASON(older), REASON(younger)};

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

static const reason_words *
words_of(const td_story *story, reason reason, const side *side) {
  if (reason == DEEPER) return &depths[side->wins];
  if (reason != HIGHER) return &words[reason];
  return is_younger(story, side) ? &ages[side->wins] : &numbers[side->wins];
}

static uint64_t
number_of(const td_story *story, reason reason, const td_queue_entry *entry) {
  if (reason == DEEPER) return depth(story, entry);
  return reason == HIGHER ? sequence_nr(story, entry) : 0;
}

static void
say_reason(const td_story *story, reason reason, const side *side, td_sentence sentence,
           const char *others) {
  td_story_say(story, sentence, td_with_text("others", others),
               td_with_number("own", number_of(story, reason, side->self)),
               td_with_number("other", number_of(story, reason, side->other)));
}

/* The reason holds for all others. */
static void
say_of_all(const td_story *story, reason reason, const side *side, uint32_t n_others) {
  td_sentence sentence = words_of(story, reason, side)->all;
  say_reason(story, reason, side, reason == TIE && n_others > 1 ? TD_SAY_tie_of_all : sentence,
             NULL);
}

static void
say_of_some(const td_story *story, reason reason, const side *side, const td_queue_entry *others,
            uint32_t n_others) {
  char *list = td_story_entries(story, others, n_others);
  say_reason(story, reason, side, words_of(story, reason, side)->some, list);
  free(list);
}

/* An entry against n others, which are in the order of the queue. Those with the same reason
 * follow one another. */
static void
say_order(const td_story *story, uint32_t queue, const td_queue_entry *self, bool wins,
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
    if (end - first == n)
      say_of_all(story, reason, &side, n);
    else
      say_of_some(story, reason, &side, &others[first], end - first);
  }
}

void
td_story_wins(const td_story *story, uint32_t queue, const td_queue_entry *entries, uint32_t n) {
  say_order(story, queue, &entries[0], true, &entries[1], n - 1);
}

void
td_story_loses(const td_story *story, uint32_t queue, const td_queue_entry *entries, uint32_t n) {
  say_order(story, queue, &entries[n - 1], false, entries, n - 1);
}
