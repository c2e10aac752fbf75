/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/quiz.h"

#include "engine/base/alloc.h"
#include "engine/profile/quiz/question_ask.h"
#include "engine/profile/quiz/question_queue.h"

#include <string.h>

/* So many moments of a kind are remembered. A tape with more has a sample of them. */
#define MOMENTS_MAX 4096

/* If so many moments of a kind in a row have no question, the kind misses its turn. Each try goes
 * to another place on the tape, so at its next turns it has fewer. */
#define TRIES_MAX 100
#define TRIES_AGAIN 5

/* Where a question may be asked: the replay's position, and the node that it is about. */
typedef struct moment {
  uint64_t position;
  uint32_t about; /* a node or a queue; or TD_NONE */
} moment;

typedef struct pool {
  moment *moments; /* (owned) [n] not yet asked */
  uint32_t n, capacity;
  uint64_t n_seen;
  bool is_poor; /* it missed a turn */
} pool;

struct td_quiz {
  td_replay *replay; /* (borrowed) */
  uint64_t random;
  pool pools[TD_N_QUESTION_KINDS];
  td_question_kind turn;
  td_question first; /* drawn already, if is_fresh */
  bool is_fresh;
  uint64_t *asked; /* (owned) [n_asked] positions: one question may answer another there */
  uint32_t n_asked, asked_capacity;
};

/* SplitMix64: https://prng.di.unimi.it/splitmix64.c */
static uint64_t
draw(td_quiz *self, uint64_t below) {
  uint64_t z = self->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % below;
}

/* A sample in which each moment has the same chance (Vitter, Algorithm R). */
static void
add(td_quiz *self, td_question_kind kind, uint64_t position, uint32_t about) {
  pool *pool = &self->pools[kind];
  uint64_t at = pool->n_seen++;
  if (at < MOMENTS_MAX) {
    TD_GROW(pool->moments, pool->n, pool->capacity);
    pool->moments[pool->n++] = (moment){position, about};
  } else if ((at = draw(self, at + 1)) < MOMENTS_MAX) {
    pool->moments[at] = (moment){position, about};
  }
}

/* A pop of the only task there is no question. */
static void
note_pop(td_quiz *self, const td_event_queue_pop *pop, uint64_t seq) {
  if (pop->node == TD_NONE || pop->size == 0) return;
  add(self, TD_QUESTION_POP, seq, TD_NONE);
  add(self, TD_QUESTION_ORDER, seq, TD_NONE);
  add(self, TD_QUESTION_POLICY, seq, pop->queue);
}

static void
note(const td_any_event *event, uint64_t seq, td_quiz *self) {
  switch (event->event.kind) {
  case TD_EVENT_queue_pop:
    note_pop(self, &event->queue_pop, seq);
    break;
  case TD_EVENT_dependency_dec:
    if (event->dependency_dec.left)
      add(self, TD_QUESTION_COUNT, seq + 1, event->dependency_dec.node);
    break;
  case TD_EVENT_queue_push:
    if (event->queue_push.node == TD_NONE) break;
    add(self, TD_QUESTION_THREAD, seq + 1, event->queue_push.node);
    add(self, TD_QUESTION_QUEUE, seq, event->queue_push.node);
    break;
  default:
    break;
  }
}

td_status
td_quiz_new(td_replay *replay, uint64_t seed, td_quiz **quiz, td_error *error) {
  td_quiz *self = TD_NEW(td_quiz);
  self->replay = replay;
  self->random = seed;
  td_tape *tape = td_replay_tape(replay);
  for (uint64_t seq = td_replay_first(replay); seq < td_replay_end(replay); seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event) note(event, seq, self);
  }
  self->is_fresh = td_quiz_next(self, &self->first);
  if (!self->is_fresh) {
    td_quiz_free(self);
    return td_error_set(error, TD_OUT_OF_RANGE, "no question was found on the tape");
  }
  *quiz = self;
  return TD_OK;
}

void
td_quiz_free(td_quiz *quiz) {
  if (!quiz) return;
  for (td_question_kind kind = 0; kind < TD_N_QUESTION_KINDS; kind++)
    free(quiz->pools[kind].moments);
  free(quiz->asked);
  free(quiz);
}

static bool
was_asked(const td_quiz *self, uint64_t position) {
  for (uint32_t i = 0; i < self->n_asked; i++)
    if (self->asked[i] == position) return true;
  return false;
}

/* Each order has its turn, or its name would be the answer to all questions. */
static td_question_wish
wish_of(td_quiz *self, td_question_kind kind, moment moment) {
  if (kind != TD_QUESTION_POLICY) return (td_question_wish){kind, moment.about};
  td_queue_order order = (td_queue_order)draw(self, TD_queue_order_LIMIT);
  return (td_question_wish){kind, td_question_first_in(self->replay, moment.about, order)};
}

static bool
ask(td_quiz *self, td_question_kind kind, moment moment, td_question *question) {
  bool is_there = td_replay_seek(self->replay, moment.position, NULL) == TD_OK;
  const td_question_wish wish =
      is_there ? wish_of(self, kind, moment) : (td_question_wish){kind, TD_NONE};
  return is_there && td_question_ask(self->replay, &wish, question, NULL) == TD_OK &&
         td_replay_seek(self->replay, question->position, NULL) == TD_OK &&
         !td_question_is_guess(self->replay, question);
}

/* Takes moments of a kind out until one has a question. */
static bool
ask_of(td_quiz *self, td_question_kind kind, td_question *question) {
  pool *pool = &self->pools[kind];
  uint32_t tries_max = pool->is_poor ? TRIES_AGAIN : TRIES_MAX;
  for (uint32_t tries = 0; pool->n && tries < tries_max; tries++) {
    uint32_t at = (uint32_t)draw(self, pool->n);
    moment moment = pool->moments[at];
    pool->moments[at] = pool->moments[--pool->n];
    if (!ask(self, kind, moment, question) || was_asked(self, question->position)) continue;
    TD_GROW(self->asked, self->n_asked, self->asked_capacity);
    self->asked[self->n_asked++] = question->position;
    return true;
  }
  pool->is_poor = true;
  return false;
}

static bool
ask_any(td_quiz *self, td_question *question) {
  for (uint32_t tried = 0; tried < TD_N_QUESTION_KINDS; tried++) {
    td_question_kind kind = self->turn;
    self->turn = (self->turn + 1) % TD_N_QUESTION_KINDS;
    if (ask_of(self, kind, question)) return true;
  }
  return false;
}

bool
td_quiz_next(td_quiz *quiz, td_question *question) {
  if (quiz->is_fresh) {
    *question = quiz->first;
    quiz->is_fresh = false;
    return true;
  }
  uint64_t back = td_replay_position(quiz->replay);
  bool is_asked = ask_any(quiz, question);
  td_replay_seek(quiz->replay, back, NULL);
  return is_asked;
}
