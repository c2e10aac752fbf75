/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_unreached.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

#define NAMED 5
#define PLACES_TOLD 16u

/* The part of a stack from the program's own line on, which PyTorch's lines follow; or NULL. */
static const char *
find_own_line(const char *stack) {
  char *place = td_source_place_whole(stack);
  const char *own = place ? strstr(stack, place) : NULL;
  for (const char *next = own; next; next = strstr(next + 1, place))
    own = next;
  free(place);
  return own;
}

/* What wraps modules for several processes reads their parameters too. */
static bool
is_of_library(const char *stack) {
  const char *own = find_own_line(stack);
  return own && strstr(own, "torch/distributed/");
}

/* The probe comes with the first node, which may be made within a checkpoint. */
static td_cut_kind
kind_of(const td_event_no_gradient *event, const char *stack) {
  if (event->cut != TD_cut_kind_no_grad) return event->cut;
  if (strstr(stack, "torch/utils/checkpoint.py:")) return TD_cut_kind_checkpoint;
  return strstr(stack, "torch/autograd/function.py:") ? TD_cut_kind_function : event->cut;
}

/* A recording may have begun within the first step. Then the second one tells the cut. */
static void
learn_cut(td_unreached *item, td_tape *tape, const td_event_no_gradient *event) {
  bool is_known = item->cut != TD_cut_kind_none;
  const char *stack = td_tape_string(tape, event->stack);
  if (is_known || is_of_library(stack)) return;
  item->cut = kind_of(event, stack);
  item->stack = event->stack;
}

void
td_find_unreached_take(td_find_unreached *self, td_tape *tape, const td_event_no_gradient *event,
                       uint64_t seq) {
  uint64_t *number = td_number_map_put(&self->numbers, event->name);
  if (*number) return learn_cut(&self->items[*number - 1], tape, event);
  TD_GROW(self->items, self->n, self->capacity);
  self->items[self->n++] = (td_unreached){.name = event->name, .seq = seq, .cut = TD_cut_kind_none};
  self->items[self->n - 1].is_nameless =
      !strncmp(td_tape_string(tape, event->name), "parameter ", strlen("parameter "));
  *number = self->n;
  learn_cut(&self->items[self->n - 1], tape, event);
}

static td_unreached *
find(td_find_unreached *self, uint32_t name) {
  const uint64_t *number = name ? td_number_map_find(&self->numbers, name) : NULL;
  return number ? &self->items[*number - 1] : NULL;
}

void
td_find_unreached_run(td_find_unreached *self, uint32_t name, uint32_t node) {
  td_unreached *item = find(self, name);
  if (!item) return;
  item->has_run = true;
  item->node = node;
}

void
td_find_unreached_store(td_find_unreached *self, uint32_t name) {
  self->knows_stores = true;
  td_unreached *item = find(self, name);
  if (item) item->has_stored = true;
}

/* The last node that used the leaf: the edges to a node are in rising order. */
static const td_catalog_node *
find_giver(const td_catalog *catalog, uint32_t leaf) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, leaf);
  if (!facts || !facts->n_in) return NULL;
  uint32_t edge = catalog->in_edges[facts->first_in + facts->n_in - 1];
  return td_catalog_node_find(catalog, catalog->edges[edge].from);
}

void
td_find_unreached_learn(td_find_unreached *self, const td_catalog *catalog) {
  for (uint32_t i = 0; i < self->n; i++) {
    td_unreached *item = &self->items[i];
    bool asks = item->has_run && !item->has_stored && !item->giver;
    const td_catalog_node *giver = asks ? find_giver(catalog, item->node) : NULL;
    if (!giver) continue;
    item->giver = td_why_name_node_of(giver);
    item->giver_line = td_finding_line(giver);
  }
}

/* A mixture of experts reaches each of them in some step. */
static bool
is_missing(const td_find_unreached *self, const td_unreached *item) {
  return self->knows_stores ? !item->has_stored : !item->has_run;
}

/* What the same place cut off is one finding: a group, which its first item stands for. */
static bool
belongs(const td_find_unreached *self, const td_unreached *item, const td_unreached *first) {
  bool is_alike = first->giver
                      ? item->giver && !strcmp(item->giver, first->giver)
                      : !item->giver && item->cut == first->cut && item->stack == first->stack;
  return is_missing(self, item) && is_alike && item->is_nameless == first->is_nameless;
}

/* "a, b and 3 more" */
static char *
list_names(const td_find_unreached *self, const td_unreached *first, td_tape *tape) {
  char *list = td_dup_string("");
  uint32_t n = 0;
  for (const td_unreached *item = first; item < self->items + self->n; item++) {
    if (!belongs(self, item, first) || n++ >= NAMED) continue;
    char *name = td_line_dup(td_tape_string(tape, item->name), TD_NAME_SHOWN);
    char *longer = td_format("%s%s%s", list, n > 1 ? ", " : "", name);
    free(name);
    free(list);
    list = longer;
  }
  if (n <= NAMED) return list;
  char *whole = td_format(td_translate("%s and %u more"), list, n - NAMED);
  free(list);
  return whole;
}

static char *
tell_text(const td_find_unreached *self, const td_unreached *first, td_tape *tape) {
  char *names = list_names(self, first, tape);
  const char *form =
      !first->is_nameless
          ? td_translate(
                "%s had no gradient when the optimizer had made its first step, nor later.")
          : td_translate("%s had no gradient when the optimizer had made its first step. "
                         "Whether it got one later is not on the tape.");
  char *text = td_format(form, names);
  free(names);
  return text;
}

/* Nothing is known of what cut it off. */
static const char *
advice_of_nameless(void) {
  return TD_N("Not known why. No module that the probe met has it: perhaps the program replaced it "
              "after it made the optimizer.");
}

static const char *
advice_of(td_cut_kind cut) {
  switch (cut) {
  case TD_cut_kind_detach:
    return TD_N("What the program computed with it went through detach(), in the line named here. "
                "There is no way back from there.");
  case TD_cut_kind_item:
    return TD_N("What the program computed with it ended as a number, by item() or float() in the "
                "line named here. A number has no way back.");
  case TD_cut_kind_numbers:
    return TD_N("What the program computed with it ended as plain numbers, by tolist() in the line "
                "named here. Numbers have no way back.");
  case TD_cut_kind_data:
    return TD_N("The program took the .data of what it computed with it, in the line named here. "
                "There is no way back from there.");
  case TD_cut_kind_argmax:
    return TD_N("What the program computed with it ended as an index, by argmax() or argmin() in "
                "the line named here. An index has no gradient.");
  case TD_cut_kind_compare:
    return TD_N("What the program computed with it ended in a comparison, in the line named here. "
                "Its result has no gradient.");
  case TD_cut_kind_integer:
    return TD_N("What the program computed with it was cast to integers, as by long(), in the line "
                "named here. They have no gradient.");
  case TD_cut_kind_autocast:
    return TD_N("Under autocast, the program first used it where gradients are switched off, as "
                "under no_grad(), in the line named here. autocast kept the copy that it made "
                "there, which has no graph, and later uses took that copy. Pass "
                "cache_enabled=False to autocast, or leave autocast in between.");
  case TD_cut_kind_no_grad:
    return TD_N("The program used it where gradients are switched off, as under no_grad(), in the "
                "line named here. No graph is made there.");
  case TD_cut_kind_inference:
    return TD_N("The program used it under inference_mode(), in the line named here. No graph is "
                "made there.");
  case TD_cut_kind_checkpoint:
    return TD_N(
        "checkpoint() with use_reentrant=True used it: the line named here calls it. It makes "
        "a graph only if one of its inputs requires a gradient: pass use_reentrant=False.");
  case TD_cut_kind_function:
    return TD_N("The forward of a custom torch.autograd.Function used it, in the line named here. "
                "No graph is made there: what it uses must be an input of apply().");
  case TD_cut_kind_unseen:
    return TD_N("Not known why: to look for what cuts parameters off would have slowed the program "
                "down.");
  default:
    return TD_N(
        "Not known why. Either the loss does not depend on it, or something cut it off that "
        "the recording does not see, such as a way over NumPy.");
  }
}

/* The part of a stack that led to a checkpoint: what is to be changed is there. */
static char *
dup_outside(const char *stack) {
  const char *inside = strstr(stack, "torch/utils/checkpoint.py:");
  size_t n = inside ? (size_t)(inside - stack) : 0;
  while (n && stack[n - 1] != '\n')
    n--;
  return n ? td_format("%.*s", (int)n, stack) : td_dup_string(stack);
}

static char *
line_of(const td_unreached *item, td_tape *tape) {
  if (!item->stack) return NULL;
  const char *stack = td_tape_string(tape, item->stack);
  char *outside = item->cut == TD_cut_kind_checkpoint ? dup_outside(stack) : td_dup_string(stack);
  char *place = td_source_place(outside);
  free(outside);
  return place ? td_line_make(place, TD_NAME_SHOWN) : NULL;
}

/* Backward passes reached it, so nothing cut it off. */
static void
tell_none(const td_find_unreached *self, const td_unreached *first, td_tape *tape,
          td_findings *findings) {
  char *advice = td_format(
      td_translate(
          "Backward passes came to it, but %s, which hands it its gradient, returned none. "
          "The backward of a custom torch.autograd.Function does so by None in its place."),
      first->giver);
  td_findings_add(
      findings, (td_finding){.kind = TD_FINDING_no_gradient,
                             .seq = first->seq,
                             .node = first->node,
                             .n = 1,
                             .text = tell_text(self, first, tape),
                             .advice = advice,
                             .line = first->giver_line ? td_dup_string(first->giver_line) : NULL});
}

static void
tell_group(const td_find_unreached *self, const td_unreached *first, td_tape *tape,
           td_findings *findings) {
  if (first->giver) return tell_none(self, first, tape, findings);
  bool is_nameless = first->is_nameless && first->cut == TD_cut_kind_none;
  const char *advice = is_nameless ? advice_of_nameless() : advice_of(first->cut);
  td_findings_add(findings,
                  (td_finding){.kind = TD_FINDING_no_gradient,
                               .seq = first->seq,
                               .node = TD_NONE,
                               .n = 1,
                               .text = tell_text(self, first, tape),
                               .advice = td_dup_string(td_translate(advice)),
                               .line = line_of(first, tape),
                               .is_line_of_caller = first->cut == TD_cut_kind_checkpoint});
}

/* 0 for a place that was met before, else its number from 1 on. */
static uint32_t
number_place(td_number_map *places, const td_unreached *item) {
  uint64_t key = (uint64_t)item->is_nameless << 63 | (uint64_t)item->cut << 32 | item->stack;
  uint64_t *number = td_number_map_put(places, key);
  if (*number) return 0;
  return (uint32_t)(*number = places->n);
}

/* As number_place: of those that got none from one node, the first counts. */
static uint32_t
number_giver(const td_find_unreached *self, const td_unreached *item) {
  uint32_t number = 1;
  for (const td_unreached *other = self->items; other < item; other++) {
    if (!other->giver || !is_missing(self, other)) continue;
    if (belongs(self, item, other)) return 0;
    number++;
  }
  return is_missing(self, item) ? number : 0;
}

/* Nothing else is known of why it has no gradient. */
static bool
is_replaced(const td_unreached *item, const td_number_map *replaced) {
  bool has_no_reason = item->is_nameless && item->cut == TD_cut_kind_none && !item->giver;
  return has_no_reason && replaced && td_number_map_find(replaced, item->name);
}

void
td_find_unreached_tell(const td_find_unreached *self, const td_number_map *replaced, td_tape *tape,
                       td_findings *findings) {
  td_number_map places = {0};
  for (const td_unreached *item = self->items; item < self->items + self->n; item++) {
    if (is_replaced(item, replaced)) continue;
    uint32_t number = is_missing(self, item) && !item->giver ? number_place(&places, item) : 0;
    if (item->giver) number = number_giver(self, item);
    if (number > PLACES_TOLD)
      findings->n_left_out++;
    else if (number)
      tell_group(self, item, tape, findings);
  }
  td_number_map_fini(&places);
}

void
td_find_unreached_fini(td_find_unreached *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    free(self->items[i].giver);
    free(self->items[i].giver_line);
  }
  free(self->items);
  td_number_map_fini(&self->numbers);
  *self = (td_find_unreached){0};
}
