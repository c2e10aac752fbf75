/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_words.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/sentence.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/describe.h"

#include <stdio.h>
#include <string.h>

typedef struct teller {
  FILE *out;
  const td_catalog *catalog;
  td_tape *tape;
  const td_chain *chain;
  const td_chain_step *step;
} teller;

#define say(self, sentence, ...) td_say((self)->out, (self)->catalog, sentence, __VA_ARGS__)

static void
say_data(const teller *self) {
  const td_chain_step *step = self->step;
  bool has_edge = step->edge != TD_NONE;
  const td_catalog_edge *edge = has_edge ? &self->catalog->edges[step->edge] : NULL;
  td_sentence last = has_edge ? TD_SAY_sent_last_along : TD_SAY_sent_last;
  td_sentence other = has_edge ? TD_SAY_sent_along : TD_SAY_sent;
  say(self, step->left == 0 ? last : other, td_with_node("node", step->node),
      td_with_node_again("to", step->to), td_with_number("output", edge ? edge->output_nr : 0),
      td_with_number("input", edge ? edge->input_nr : 0));
  if (step->left != TD_NONE && step->left > 0)
    say(self, TD_SAY_waited_for_more, td_with_number("n", step->left));
}

/* A step of the forward pass has no graph task. */
static void
say_operation(const teller *self) {
  say(self, TD_SAY_forward_step, td_with_node("node", self->step->node),
      td_with_node_again("to", self->step->to));
}

static void
say_state(const teller *self) {
  const td_chain_step *step = self->step;
  say(self, step->to == TD_NONE ? TD_SAY_last_to_end : TD_SAY_count_fell,
      td_with_node("node", step->node), td_with_node_again("to", step->to),
      td_with_pass("graph_task", step->graph_task), td_with_number("n", step->left));
}

static char *
dup_lock(const teller *self) {
  const td_chain_step *step = self->step;
  td_blank object = {0};
  switch (step->lock) {
  case TD_lock_kind_queue:
    object = td_with_queue("object", step->object);
    break;
  case TD_lock_kind_graph_task:
    object = td_with_pass("object", step->object);
    break;
  case TD_lock_kind_node:
    object = td_with_node_again("object", step->object);
    break;
  default:
    return td_dup_string(td_sentence_text(TD_SAY_gil));
  }
  return td_said(self->catalog, TD_SAY_lock_of, object);
}

static void
say_lock(const teller *self) {
  const td_chain_step *step = self->step;
  char *lock = dup_lock(self);
  bool has_time = step->ns >= 1000, has_holder = step->holder != TD_NONE;
  td_sentence plain = has_holder ? TD_SAY_waited_for_had : TD_SAY_waited_for;
  td_sentence timed = has_holder ? TD_SAY_waited_ms_for_had : TD_SAY_waited_ms_for;
  say(self, has_time ? timed : plain, td_with_thread("thread", step->thread),
      td_with_ms("ms", step->ns), td_with_text("lock", lock),
      td_with_thread("holder", step->holder));
  free(lock);
}

static void
say_holder(const teller *self) {
  say(self, TD_SAY_had_lock, td_with_thread("holder", self->step->holder),
      td_with_node("node", self->step->node));
}

static void
say_wait(const teller *self) {
  const td_chain_step *step = self->step;
  if (step->lock != TD_NONE)
    say_lock(self);
  else if (step->holder != TD_NONE)
    say_holder(self);
  else
    say(self, TD_SAY_waits_for_gradient, td_with_node_again("to", step->to),
        td_with_node("node", step->node));
}

static void
say_queue(const teller *self) {
  say(self, TD_SAY_left_queue, td_with_node("node", self->step->node),
      td_with_queue("queue", self->step->queue), td_with_node_again("to", self->step->to));
}

static void
say_call(const teller *self) {
  say(self, TD_SAY_called, td_with_node("node", self->step->node),
      td_with_pass("graph_task", self->step->graph_task));
}

/* The line of a write, or NULL. */
static char *
place_of(const teller *self, const td_any_event *event) {
  if (event->event.kind != TD_EVENT_tensor_write) return NULL;
  char *place = td_source_place(td_tape_string(self->tape, event->tensor_write.stack));
  return place ? td_line_make(place, TD_NAME_SHOWN) : NULL;
}

/* The cause of a birth is no more than possible: no value was read on the way. */
static bool
has_birth_before(const teller *self) {
  for (const td_chain_step *step = self->chain->steps; step < self->step; step++)
    if (step->link == TD_CHAIN_value) return true;
  return false;
}

static void
say_value(const teller *self) {
  td_any_event event;
  if (td_tape_get(self->tape, self->step->seq, &event, NULL) != TD_OK) return;
  char *what = td_why_describe(self->catalog, self->tape, &event), *place = place_of(self, &event);
  td_sentence value = place ? TD_SAY_value_at : TD_SAY_value;
  td_sentence cause = place ? TD_SAY_value_cause_at : TD_SAY_value_cause;
  say(self, has_birth_before(self) ? cause : value, td_with_text("event", what),
      td_with_text("place", place));
  free(what);
  free(place);
}

static void
say_pass(const teller *self) {
  const td_chain_step *step = self->step;
  td_sentence called = step->node != TD_NONE ? TD_SAY_pass_begins_by_at : TD_SAY_pass_begins_by;
  say(self, step->thread != TD_NONE ? called : TD_SAY_pass_begins,
      td_with_thread("thread", step->thread), td_with_pass("graph_task", step->graph_task),
      td_with_node("node", step->node));
}

static void
say_unknown(const teller *self) {
  uint8_t how = td_tape_info_get(self->tape)->known[TD_EVENT_queue_pop];
  td_say_plain(self->out,
               how == TD_knowledge_observed ? TD_SAY_chain_unknown : TD_SAY_chain_unwatched);
}

static void
say_end(const teller *self) {
  switch (self->chain->end) {
  case TD_CHAIN_END_pass:
    say_pass(self);
    break;
  case TD_CHAIN_END_forward:
    say(self, self->step->graph_task == TD_NONE ? TD_SAY_made_forward : TD_SAY_made_inside,
        td_with_pass("graph_task", self->step->graph_task));
    break;
  case TD_CHAIN_END_cut:
    td_say_plain(self->out, TD_SAY_chain_cut);
    break;
  case TD_CHAIN_END_far:
    td_say_plain(self->out, TD_SAY_chain_far);
    break;
  default:
    say_unknown(self);
  }
}

static void
say_step(const teller *self) {
  switch (self->step->link) {
  case TD_CHAIN_moment:
    fputs(self->chain->asked, self->out);
    break;
  case TD_CHAIN_data:
    (self->step->graph_task == TD_NONE ? say_operation : say_data)(self);
    break;
  case TD_CHAIN_state:
    say_state(self);
    break;
  case TD_CHAIN_wait:
    say_wait(self);
    break;
  case TD_CHAIN_queue:
    say_queue(self);
    break;
  case TD_CHAIN_call:
    say_call(self);
    break;
  case TD_CHAIN_value:
    say_value(self);
    break;
  default:
    say_end(self);
  }
}

/* A sentence has a capital letter first, but the name of a node stays as it is. */
static void
capitalise(char *text) {
  static const char *const words[] = {"thread ", "a ", "the ", "leaf ", "input ", "output "};
  for (size_t i = 0; i < TD_N_ELEMENTS(words); i++)
    if (strncmp(text, words[i], strlen(words[i])) == 0) *text = (char)(*text - 'a' + 'A');
}

char *
td_chain_words(const td_catalog *catalog, td_tape *tape, const td_chain *chain, uint32_t i) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  teller self = {out, catalog, tape, chain, &chain->steps[i]};
  say_step(&self);
  fclose(out);
  capitalise(text);
  return text;
}
