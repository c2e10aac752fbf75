/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_zeros.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

/* Its derivative is 0 wherever it has one. */
static bool
is_flat(const char *name) {
  static const char *const names[] = {"RoundBackward", "FloorBackward", "CeilBackward",
                                      "TruncBackward", "SignBackward"};
  for (size_t i = 0; i < TD_N_ELEMENTS(names); i++)
    if (!strncmp(name, names[i], strlen(names[i]))) return true;
  return false;
}

void
td_find_zeros_make(td_find_zeros *self, uint32_t node, const char *name) {
  bool is_softmax =
      !strncmp(name, "SoftmaxBackward", 15) || !strncmp(name, "LogSoftmaxBackward", 18);
  if (is_softmax) self->softmax = node + 1;
  if (!self->flat && is_flat(name)) self->flat = node + 1;
}

void
td_find_zeros_save(td_find_zeros *self, const td_event_saved_tensor *event, const char *shape) {
  size_t n = strlen(shape);
  bool is_single =
      n >= 3 && !strcmp(shape + n - 2, "1]") && (shape[n - 3] < '0' || shape[n - 3] > '9');
  if (self->single || event->node + 1 != self->softmax || !event->is_output || !is_single) return;
  self->single = event->node + 1;
  self->single_shape = event->shape;
}

/* Those of modules call functions of PyTorch too, which hand on what they get. */
static bool
can_change(td_hook_kind kind, const char *owner) {
  bool is_fit =
      kind == TD_hook_kind_tensor_pre || kind == TD_hook_kind_pre || kind == TD_hook_kind_post;
  return is_fit && strncmp(owner, "BackwardHook.", strlen("BackwardHook.")) != 0;
}

void
td_find_zeros_hook(td_find_zeros *self, const td_event_hook_begin *event) {
  if (self->has_stored || self->now.owner) return;
  if (can_change(event->kind, td_tape_string(self->tape, event->owner)))
    self->now = (td_zeros_hook){event->owner, event->node};
}

static void
forget_empty(td_find_zeros *self) {
  free(self->empty_name);
  self->empty_name = NULL;
  self->empty = 0;
}

/* A node's outputs follow each other on its thread. All of them must be zero. */
void
td_find_zeros_measure(td_find_zeros *self, const td_event_tensor_stats *event) {
  if (event->place != TD_stats_place_output || !event->n_elements) return;
  bool is_zero = !event->n_nan && !event->n_inf && event->min == 0 && event->max == 0;
  uint64_t *other = td_number_map_put(&self->others, event->event.thread);
  self->has_numbers = true;
  if (!is_zero) *other = event->node + UINT64_C(1);
  if (is_zero && !self->empty && *other != event->node + UINT64_C(1))
    self->empty = event->node + 1;
  else if (!is_zero && self->empty == event->node + 1)
    forget_empty(self);
}

void
td_find_zeros_store(td_find_zeros *self) {
  if (self->has_stored) return;
  if (!self->n_passes++) self->hook = self->now;
  self->n_hooked += self->now.owner != 0;
  self->has_stored = true;
}

void
td_find_zeros_end_pass(td_find_zeros *self) {
  self->now = (td_zeros_hook){0};
  self->has_stored = false;
}

static void
learn_name(const td_catalog *catalog, uint32_t node, char **name) {
  const td_catalog_node *facts = *name ? NULL : td_catalog_node_find(catalog, node);
  if (facts) *name = td_why_name_node_of(facts);
}

void
td_find_zeros_learn(td_find_zeros *self, const td_catalog *catalog) {
  const td_catalog_node *single =
      self->single && !self->single_name ? td_catalog_node_find(catalog, self->single - 1) : NULL;
  if (single) {
    self->single_name = td_why_name_node_of(single);
    self->single_line = td_finding_line(single);
  }
  const td_catalog_node *flat =
      self->flat && !self->flat_name ? td_catalog_node_find(catalog, self->flat - 1) : NULL;
  if (flat) {
    self->flat_name = td_why_name_node_of(flat);
    self->flat_line = td_finding_line(flat);
  }
  if (self->hook.owner) learn_name(catalog, self->hook.node, &self->hook_name);
  if (self->empty) learn_name(catalog, self->empty - 1, &self->empty_name);
}

/* ---- telling ---- */

/* The dimension of a softmax is not on the tape. */
static void
add_zero(const td_find_zeros *self, td_tape *tape, const td_leaf_history *first, char *text,
         td_findings *findings) {
  char *advice = td_format(
      td_translate(
          "%s made a result of shape %s. If it goes over the last dimension, a softmax over "
          "one element, it is 1 whatever goes in, and its gradient is 0."),
      self->single_name, td_tape_string(tape, self->single_shape));
  td_findings_add(
      findings, (td_finding){.kind = TD_FINDING_all_zero,
                             .seq = first->seq,
                             .node = self->single - 1,
                             .n = 1,
                             .text = text,
                             .advice = advice,
                             .line = self->single_line ? td_dup_string(self->single_line) : NULL});
}

static void
add_flat(const td_find_zeros *self, const td_leaf_history *first, char *text,
         td_findings *findings) {
  char *advice = td_format(
      td_translate("The derivative of %s is 0 everywhere, so no gradient passes it. Nothing is "
                   "learned through round(), floor(), ceil(), trunc() or sign(), unless a custom "
                   "backward passes the gradient on."),
      self->flat_name);
  td_findings_add(findings,
                  (td_finding){.kind = TD_FINDING_all_zero,
                               .seq = first->seq,
                               .node = self->flat - 1,
                               .n = 1,
                               .text = text,
                               .advice = advice,
                               .line = self->flat_line ? td_dup_string(self->flat_line) : NULL});
}

/* What a hook returned is not on the tape. */
static char *
dup_causes(const td_find_zeros *self, td_tape *tape) {
  if (!self->hook_name || self->n_hooked < self->n_passes)
    return td_dup_string(td_translate(
        "A softmax over one element, a function that is flat where it works, a factor 0, a custom "
        "backward that returns zeros, or an embedding that gets its padding_idx alone does that."));
  char *owner = td_line_dup(td_tape_string(tape, self->hook.owner), TD_NAME_SHOWN);
  char *text = td_format(
      td_translate("In each pass a hook ran before anything was stored: in the first one %s, on "
                   "%s. If it returns zeros, or writes them into what it gets, it is the cause. "
                   "Else a function that is flat where it works, a factor 0, or a custom backward "
                   "that returns zeros may be."),
      owner, self->hook_name);
  free(owner);
  return text;
}

static char *
dup_origin(const td_find_zeros *self) {
  if (!self->has_numbers)
    return td_dup_string(td_translate(
        "tapedeck record --stats full shows from which node on the gradients are zero."));
  if (!self->empty_name) return td_dup_string("");
  return td_format(
      td_translate("The first node that gave out zeros alone, of those whose numbers are on the "
                   "tape, is %s."),
      self->empty_name);
}

static void
add_open(const td_find_zeros *self, td_tape *tape, const td_leaf_history *first, char *text,
         td_findings *findings) {
  char *causes = dup_causes(self, tape), *origin = dup_origin(self);
  td_findings_add(findings,
                  (td_finding){.kind = TD_FINDING_all_zero,
                               .seq = first->seq,
                               .node = first->node,
                               .n = 1,
                               .text = text,
                               .advice = td_format("%s%s%s", causes, *origin ? " " : "", origin)});
  free(causes);
  free(origin);
}

/* Nothing is learned. Some parameters alone may have zeros on purpose: a term times 0. */
void
td_find_zeros_tell(const td_find_zeros *self, const td_find_leaves *leaves, td_tape *tape,
                   td_findings *findings) {
  const td_leaf_history *first;
  char *names = td_find_leaves_dup_zeros(leaves, tape, &first);
  if (!names) return;
  char *text =
      td_format(td_translate("All gradients that were stored are zero, %u times for each of %s."),
                first->n_stores, names);
  free(names);
  if (self->flat_name) return add_flat(self, first, text, findings);
  if (self->single_name) return add_zero(self, tape, first, text, findings);
  add_open(self, tape, first, text, findings);
}

void
td_find_zeros_fini(td_find_zeros *self) {
  free(self->single_name);
  free(self->single_line);
  free(self->flat_name);
  free(self->flat_line);
  free(self->hook_name);
  free(self->empty_name);
  td_number_map_fini(&self->others);
  *self = (td_find_zeros){0};
}
