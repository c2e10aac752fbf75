/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_words.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/describe.h"
#include "engine/profile/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct teller {
  FILE *out;
  const td_catalog *catalog;
  td_tape *tape;
  const td_chain *chain;
  const td_chain_step *step;
} teller;

static void
write_again(const teller *self, uint32_t node) {
  td_words_node_again(self->out, self->catalog, node);
}

static void
write_ways(const teller *self) {
  if (self->step->edge == TD_NONE) return;
  const td_catalog_edge *edge = &self->catalog->edges[self->step->edge];
  fprintf(self->out, td_translate(": its output %u goes to input %u"), edge->output_nr,
          edge->input_nr);
}

static void
write_data(const teller *self) {
  const td_chain_step *step = self->step;
  td_words_node(self->out, self->catalog, step->node);
  if (step->left == 0)
    fputs(td_translate(" sent the last gradient that "), self->out);
  else
    fputs(td_translate(" sent a gradient to "), self->out);
  write_again(self, step->to);
  if (step->left == 0) fputs(td_translate(" waited for"), self->out);
  write_ways(self);
  fputs(td_translate("."), self->out);
  if (step->left != TD_NONE && step->left > 0)
    fprintf(self->out, td_translate(" It waited for %u more."), step->left);
}

/* A step of the forward pass has no graph task. */
static void
write_operation(const teller *self) {
  fputs(td_translate("The forward pass handed on what the operation of "), self->out);
  td_words_node(self->out, self->catalog, self->step->node);
  fputs(td_translate(" made, to that of "), self->out);
  write_again(self, self->step->to);
  fputs(td_translate("."), self->out);
}

static void
write_state(const teller *self) {
  td_words_node(self->out, self->catalog, self->step->node);
  if (self->step->to == TD_NONE) {
    fputs(td_translate(" was the last node to end in "), self->out);
    td_words_graph_task(self->out, self->step->graph_task);
    fputs(td_translate("."), self->out);
    return;
  }
  fputs(td_translate(" ended, and the count of "), self->out);
  write_again(self, self->step->to);
  fprintf(self->out, td_translate(" fell to %u."), self->step->left);
}

static void
write_lock(const teller *self) {
  const td_chain_step *step = self->step;
  td_words_thread(self->out, self->catalog, step->thread);
  fputs(td_translate(" waited "), self->out);
  if (step->ns >= 1000) fprintf(self->out, td_translate("%.3f ms "), (double)step->ns / 1e6);
  fputs(td_translate("for "), self->out);
  switch (step->lock) {
  case TD_lock_kind_queue:
    fputs(td_translate("the lock of "), self->out);
    td_words_queue(self->out, self->catalog, step->object);
    break;
  case TD_lock_kind_graph_task:
    fputs(td_translate("the lock of "), self->out);
    td_words_graph_task(self->out, step->object);
    break;
  case TD_lock_kind_node:
    fputs(td_translate("the lock of "), self->out);
    write_again(self, step->object);
    break;
  default:
    fputs(td_translate("Python's GIL"), self->out);
  }
  if (step->holder != TD_NONE) {
    fputs(td_translate(", which "), self->out);
    td_words_thread(self->out, self->catalog, step->holder);
    fputs(td_translate(" had"), self->out);
  }
  fputs(td_translate("."), self->out);
}

static void
write_holder(const teller *self) {
  td_words_thread(self->out, self->catalog, self->step->holder);
  fputs(td_translate(" had the lock, and was at "), self->out);
  td_words_node(self->out, self->catalog, self->step->node);
  fputs(td_translate("."), self->out);
}

static void
write_wait(const teller *self) {
  if (self->step->lock != TD_NONE || self->step->holder != TD_NONE) {
    (self->step->lock != TD_NONE ? write_lock : write_holder)(self);
    return;
  }
  write_again(self, self->step->to);
  fputs(td_translate(" waits for the gradient of "), self->out);
  td_words_node(self->out, self->catalog, self->step->node);
  fputs(td_translate("."), self->out);
}

static void
write_queue(const teller *self) {
  td_words_node(self->out, self->catalog, self->step->node);
  fputs(td_translate(" left "), self->out);
  td_words_queue(self->out, self->catalog, self->step->queue);
  fputs(td_translate(" first, while "), self->out);
  write_again(self, self->step->to);
  fputs(td_translate(" lay there."), self->out);
}

static void
write_call(const teller *self) {
  td_words_node(self->out, self->catalog, self->step->node);
  fputs(td_translate(" called backward: "), self->out);
  td_words_graph_task(self->out, self->step->graph_task);
  fputs(td_translate(" began inside it."), self->out);
}

static void
write_place(const teller *self, const td_event_tensor_write *write) {
  char *place = td_source_place(td_tape_string(self->tape, write->stack));
  if (place) {
    fputs(td_translate(", at "), self->out);
    td_words_name(self->out, place);
  }
  free(place);
}

/* The cause of a birth is no more than possible: no value was read on the way. */
static bool
has_birth_before(const teller *self) {
  for (const td_chain_step *step = self->chain->steps; step < self->step; step++)
    if (step->link == TD_CHAIN_value) return true;
  return false;
}

static void
write_value(const teller *self) {
  td_any_event event;
  if (td_tape_get(self->tape, self->step->seq, &event, NULL) != TD_OK) return;
  char *what = td_why_describe(self->catalog, self->tape, &event);
  fprintf(self->out, "%s%s",
          has_birth_before(self) ? td_translate("This may have led to it: ") : "", what);
  if (event.event.kind == TD_EVENT_tensor_write) write_place(self, &event.tensor_write);
  fputs(td_translate("."), self->out);
  free(what);
}

static void
write_pass(const teller *self) {
  fputs(td_translate("The pass begins here"), self->out);
  if (self->step->thread != TD_NONE) {
    fputs(": ", self->out);
    td_words_thread(self->out, self->catalog, self->step->thread);
    fputs(td_translate(" called backward, and "), self->out);
    td_words_graph_task(self->out, self->step->graph_task);
    fputs(td_translate(" began"), self->out);
    if (self->step->node != TD_NONE) {
      fputs(td_translate(" at "), self->out);
      td_words_node(self->out, self->catalog, self->step->node);
    }
  }
  fputs(td_translate("."), self->out);
}

static void
write_unknown(const teller *self) {
  bool hooks_only =
      td_tape_info_get(self->tape)->known[TD_EVENT_queue_pop] != TD_knowledge_observed;
  fputs(td_translate("The tape does not know more"), self->out);
  if (hooks_only) fputs(td_translate(": its recorder did not watch the engine itself"), self->out);
  fputs(td_translate("."), self->out);
}

static void
write_made_inside(const teller *self) {
  fputs(td_translate("It was made while "), self->out);
  td_words_graph_task(self->out, self->step->graph_task);
  fputs(td_translate(" ran; what came before is not on the tape."), self->out);
}

static void
write_end(const teller *self) {
  switch (self->chain->end) {
  case TD_CHAIN_END_pass:
    write_pass(self);
    break;
  case TD_CHAIN_END_forward:
    if (self->step->graph_task != TD_NONE) {
      write_made_inside(self);
      break;
    }
    fputs(td_translate("The forward pass made it; what came before is not on the tape."),
          self->out);
    break;
  case TD_CHAIN_END_cut:
    fputs(td_translate("This part of the tape begins here."), self->out);
    break;
  case TD_CHAIN_END_far:
    fputs(td_translate("Tapedeck does not look further back than this."), self->out);
    break;
  default:
    write_unknown(self);
  }
}

static void
write_step(const teller *self) {
  switch (self->step->link) {
  case TD_CHAIN_moment:
    fputs(self->chain->asked, self->out);
    break;
  case TD_CHAIN_data:
    (self->step->graph_task == TD_NONE ? write_operation : write_data)(self);
    break;
  case TD_CHAIN_state:
    write_state(self);
    break;
  case TD_CHAIN_wait:
    write_wait(self);
    break;
  case TD_CHAIN_queue:
    write_queue(self);
    break;
  case TD_CHAIN_call:
    write_call(self);
    break;
  case TD_CHAIN_value:
    write_value(self);
    break;
  default:
    write_end(self);
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
  write_step(&self);
  fclose(out);
  capitalise(text);
  return text;
}
