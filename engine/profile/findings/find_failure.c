/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_failure.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/source_place.h"

#include <stdlib.h>
#include <string.h>

void
td_find_failure_take(td_find_failure *self, const td_event_program_failed *event, uint64_t seq) {
  self->event = *event;
  self->seq = seq;
  self->is_there = true;
}

void
td_find_failure_note_error(td_find_failure *self, const td_event_error *event) {
  self->error = event->text;
}

static char *
dup_line(td_tape *tape, uint32_t stack) {
  char *place = stack ? td_source_place(td_tape_string(tape, stack)) : NULL;
  return place ? td_line_make(place, TD_NAME_SHOWN) : NULL;
}

/* NULL: nothing that is known to make a tensor without a graph. */
static const char *
words_of_cut(td_cut_kind cut) {
  switch (cut) {
  case TD_cut_kind_detach:
    return TD_N("detach()");
  case TD_cut_kind_item:
    return TD_N("item() or float()");
  case TD_cut_kind_numbers:
    return TD_N("tolist()");
  case TD_cut_kind_data:
    return TD_N("the .data of a result");
  case TD_cut_kind_argmax:
    return TD_N("argmax() or argmin()");
  case TD_cut_kind_compare:
    return TD_N("a comparison");
  case TD_cut_kind_integer:
    return TD_N("a cast to integers, as by long()");
  case TD_cut_kind_inference:
    return TD_N("an operation under inference_mode()");
  case TD_cut_kind_checkpoint:
    return TD_N("a checkpoint() with use_reentrant=True");
  case TD_cut_kind_function:
    return TD_N("the forward of a custom torch.autograd.Function");
  case TD_cut_kind_no_grad:
  case TD_cut_kind_autocast:
    return TD_N("an operation where gradients are switched off, as under no_grad()");
  default:
    return NULL;
  }
}

/* Why a loss has no graph. What cut it off is concluded: the recording sees ways off a graph, and
 * not where they lead. */
static char *
advise_on_graph(const td_find_failure *self, td_tape *tape) {
  const td_event_program_failed *event = &self->event;
  const char *words = words_of_cut(event->cut);
  if (event->switched_off)
    return td_dup_string(td_translate(
        "The backward pass was to begin at a tensor that has no graph. When the "
        "program ended, gradients were still switched off: torch.set_grad_enabled(False) "
        "holds until set_grad_enabled(True), unless a with-block ends it."));
  char *line = words ? dup_line(tape, event->cut_stack) : NULL;
  char *text =
      !words
          ? td_dup_string(td_translate(
                "The backward pass was to begin at a tensor that has no graph. Not known why: the "
                "recording saw no way off a graph. Perhaps no parameter requires a gradient, a "
                "comparison or a way over NumPy made the tensor, a custom backward worked on "
                "detached tensors, or checkpoint(use_reentrant=True) got no input that requires a "
                "gradient."))
          : td_format(td_translate("The backward pass was to begin at a tensor that has no graph. "
                                   "The last way off a graph that the recording saw before: %s, in "
                                   "%s. If the tensor came from there, that is the cause."),
                      td_translate(words), line ? line : td_translate("a line that is not known"));
  free(line);
  return text;
}

/* The caller frees; NULL: the exception is not about gradients. */
static char *
dup_advice(const td_find_failure *self, td_tape *tape, const char *text, const char *source) {
  if (strstr(text, "does not require grad and does not have a grad_fn"))
    return advise_on_graph(self, tape);
#define TD_FAILURE_ADVICE(part, line_part, advice)                                                 \
  if (strstr(text, part) && (!(line_part) || strstr(source, (line_part) ? (line_part) : "")))      \
    return td_dup_string(td_translate(advice));
#include "engine/profile/findings/failure_advice.def"
#undef TD_FAILURE_ADVICE
  return NULL;
}

void
td_find_failure_tell(const td_find_failure *self, td_tape *tape, const char *source,
                     td_findings *findings) {
  if (!self->is_there || !findings->status) return;
  const char *text = td_tape_string(tape, self->event.text);
  const char *error = self->error ? td_tape_string(tape, self->error) : "";
  if (*error && strstr(text, error)) return;
  char *advice = dup_advice(self, tape, text, source);
  if (!advice) return;
  char *shown = td_line_dup(text, TD_TEXT_SHOWN);
  td_findings_add(findings,
                  (td_finding){.kind = TD_FINDING_program_failed,
                               .seq = self->seq,
                               .node = TD_NONE,
                               .n = 1,
                               .text = td_format(td_translate("The program ended by %s"), shown),
                               .advice = advice,
                               .line = dup_line(tape, self->event.stack)});
  free(shown);
}
