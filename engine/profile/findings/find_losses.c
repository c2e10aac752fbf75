/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_losses.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEWS_FOLLOWED 8 /* one upon the other */
#define LOSSES 3u        /* fewer may be a trial */

static bool
is_one_of(const td_catalog_node *node, const char *const *names) {
  for (; *names; names++) {
    size_t n = strlen(*names);
    if (!strncmp(node->name, *names, n) && !strncmp(node->name + n, "Backward", 8)) return true;
  }
  return false;
}

/* What made the first operand, or NULL. */
static const td_catalog_node *
first_operand(const td_catalog *catalog, const td_catalog_node *node) {
  const td_catalog_edge *edge = node->n_out ? &catalog->edges[node->first_out] : NULL;
  return edge && edge->output_nr == 0 ? td_catalog_node_find(catalog, edge->to) : NULL;
}

/* The same, behind views. */
static const td_catalog_node *
first_value(const td_catalog *catalog, const td_catalog_node *node) {
  static const char *const views[] = {
      "View",    "UnsafeView", "ReshapeAlias", "T",     "Transpose", "Permute",
      "Squeeze", "Unsqueeze",  "Select",       "Slice", NULL};
  const td_catalog_node *made = first_operand(catalog, node);
  for (int i = 0; made && is_one_of(made, views) && i < VIEWS_FOLLOWED; i++)
    made = first_operand(catalog, made);
  return made;
}

static const td_catalog_metadata *
result_of(const td_catalog *catalog, const td_catalog_node *node) {
  return node->n_metadata ? &catalog->metadata[node->first_metadata] : NULL;
}

/* A column or a line of n results that became n times n. */
static bool
is_spread(const char *before, const char *after) {
  uint64_t n;
  if (sscanf(after, "[%" SCNu64 ",", &n) != 1 || n < 2) return false;
  char *column = td_format("[%" PRIu64 ", 1]", n), *line = td_format("[%" PRIu64 "]", n);
  char *square = td_format("[%" PRIu64 ", %" PRIu64 "]", n, n);
  bool is_spread = !strcmp(after, square) && (!strcmp(before, column) || !strcmp(before, line));
  free(column);
  free(line);
  free(square);
  return is_spread;
}

/* The mistake of a loss, and the node that shows it; TD_N_LOSS_MISTAKES: none. */
static td_loss_mistake
judge(const td_catalog *catalog, const td_catalog_node *loss, const td_catalog_node **of) {
  static const char *const nll[] = {"NllLoss", "NllLoss2D", "NllLossNd", NULL};
  static const char *const logits[] = {"BinaryCrossEntropyWithLogits", NULL};
  static const char *const distances[] = {"MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", NULL};
  static const char *const softmax[] = {"Softmax", NULL}, *const log_softmax[] = {"LogSoftmax",
                                                                                  NULL};
  static const char *const sigmoid[] = {"Sigmoid", NULL}, *const expand[] = {"Expand", NULL};
  bool is_distance = is_one_of(loss, distances);
  if (!is_distance && !is_one_of(loss, nll) && !is_one_of(loss, logits)) return TD_N_LOSS_MISTAKES;
  *of = is_distance ? first_operand(catalog, loss) : first_value(catalog, loss);
  if (!*of) return TD_N_LOSS_MISTAKES;
  if (is_one_of(loss, logits))
    return is_one_of(*of, sigmoid) ? TD_LOSS_SIGMOID_TWICE : TD_N_LOSS_MISTAKES;
  if (is_distance) return is_one_of(*of, expand) ? TD_LOSS_SPREAD : TD_N_LOSS_MISTAKES;
  if (is_one_of(*of, softmax)) return TD_LOSS_NO_LOGARITHM;
  *of = is_one_of(*of, log_softmax) ? first_value(catalog, *of) : NULL;
  return *of && is_one_of(*of, softmax) ? TD_LOSS_SOFTMAX_TWICE : TD_N_LOSS_MISTAKES;
}

static void
note(td_loss_found *found, const td_catalog_node *loss, const td_catalog_node *of,
     const char *before, const char *after) {
  if (found->n++) return;
  found->node = loss->id;
  found->seq = loss->created_seq;
  found->name = td_why_name_node_of(loss);
  found->line = td_finding_line(loss);
  found->of = td_why_name_node_of(of);
  found->shapes[0] = td_dup_string(before);
  found->shapes[1] = td_dup_string(after);
}

static void
look(td_find_losses *self, const td_catalog *catalog, const td_catalog_node *loss) {
  const td_catalog_node *of = NULL;
  td_loss_mistake mistake = judge(catalog, loss, &of);
  if (mistake == TD_N_LOSS_MISTAKES) return;
  if (mistake != TD_LOSS_SPREAD) return note(&self->found[mistake], loss, of, "", "");
  const td_catalog_node *whole = first_operand(catalog, of);
  const td_catalog_metadata *before = whole ? result_of(catalog, whole) : NULL;
  const td_catalog_metadata *after = result_of(catalog, of);
  if (before && after && is_spread(before->shape, after->shape))
    note(&self->found[mistake], loss, of, before->shape, after->shape);
}

void
td_find_losses_learn(td_find_losses *self, const td_catalog *catalog, uint64_t first,
                     uint64_t end) {
  for (uint32_t i = 0; i < catalog->n_nodes; i++) {
    const td_catalog_node *node = &catalog->node_rows[i];
    if (node->created_seq >= first && node->created_seq < end) look(self, catalog, node);
  }
}

static char *
dup_text(td_loss_mistake mistake, const td_loss_found *found) {
  switch (mistake) {
  case TD_LOSS_SPREAD:
    return td_format(td_translate("%s compares %s values, which the program made of %s results: "
                                  "%u losses do."),
                     found->name, found->shapes[1], found->shapes[0], found->n);
  case TD_LOSS_NO_LOGARITHM:
    return td_format(td_translate("%s, a negative log likelihood, got the result of %s itself, and "
                                  "not its logarithm: %u losses did."),
                     found->name, found->of, found->n);
  case TD_LOSS_SIGMOID_TWICE:
    return td_format(td_translate("%s, which applies a sigmoid, got the result of another sigmoid, "
                                  "%s: %u losses did."),
                     found->name, found->of, found->n);
  default:
    return td_format(td_translate("%s is a cross-entropy, whose softmax got the result of another "
                                  "softmax, %s: %u losses did."),
                     found->name, found->of, found->n);
  }
}

static const char *
advice_of(td_loss_mistake mistake) {
  switch (mistake) {
  case TD_LOSS_SPREAD:
    return TD_N("If there is one target for each result, each result is compared with all targets. "
                "Shapes such as [n, 1] and [n] do that: bring results and targets into one shape, "
                "as by target.unsqueeze(1).");
  case TD_LOSS_NO_LOGARITHM:
    return TD_N("nll_loss() takes logarithms of probabilities, as log_softmax() gives them. Use "
                "log_softmax() before it, or cross_entropy() on the scores.");
  case TD_LOSS_SIGMOID_TWICE:
    return TD_N(
        "The second sigmoid gets values between 0 and 1 alone, so the loss cannot come near "
        "0. binary_cross_entropy_with_logits() takes scores: leave out the first sigmoid.");
  default:
    return TD_N(
        "The second softmax gets values between 0 and 1 alone, so the loss cannot come near "
        "0. cross_entropy() takes scores: leave out the first softmax.");
  }
}

void
td_find_losses_tell(const td_find_losses *self, td_findings *findings) {
  for (int i = 0; i < TD_N_LOSS_MISTAKES; i++) {
    const td_loss_found *found = &self->found[i];
    if (found->n < LOSSES) continue;
    td_finding_kind kind = i == TD_LOSS_SPREAD ? TD_FINDING_loss_spread : TD_FINDING_loss_input;
    td_findings_add(
        findings, (td_finding){.kind = kind,
                               .seq = found->seq,
                               .node = found->node,
                               .n = 1,
                               .text = dup_text((td_loss_mistake)i, found),
                               .advice = td_dup_string(td_translate(advice_of((td_loss_mistake)i))),
                               .line = found->line ? td_dup_string(found->line) : NULL});
  }
}

void
td_find_losses_fini(td_find_losses *self) {
  for (int i = 0; i < TD_N_LOSS_MISTAKES; i++) {
    free(self->found[i].name);
    free(self->found[i].line);
    free(self->found[i].of);
    free(self->found[i].shapes[0]);
    free(self->found[i].shapes[1]);
  }
  *self = (td_find_losses){0};
}
