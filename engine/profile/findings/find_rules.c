/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_rules.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/check/check.h"
#include "engine/profile/order/order.h"

#include <stdlib.h>
#include <string.h>

#define EXPLAINED 64u

/* Findings of one kind, from `first` on: of each rule or cause one. */
typedef struct gathering {
  td_findings *findings;
  uint32_t first;
} gathering;

static td_finding *
find_said(const gathering *self, const char *advice) {
  for (uint32_t i = self->first; i < self->findings->n; i++)
    if (!strcmp(self->findings->items[i].advice, advice)) return &self->findings->items[i];
  return NULL;
}

/* Takes the advice. */
static void
gather(gathering *self, td_finding_kind kind, uint64_t seq, uint32_t node, const char *text,
       char *advice) {
  td_finding *said = find_said(self, advice);
  if (said) said->n++;
  if (said) return free(advice);
  td_findings_add(self->findings, (td_finding){.kind = kind,
                                               .seq = seq,
                                               .node = node,
                                               .n = 1,
                                               .text = td_line_dup(text, TD_TEXT_SHOWN),
                                               .advice = advice});
}

static void
violation_cb(const td_violation *violation, void *data) {
  gather(data, TD_FINDING_rule_broken, violation->seq, TD_NONE, violation->text,
         td_format(
             td_translate("The event breaks the rule %s, which PyTorch's engine keeps. The engine "
                          "or the recording made a mistake. tapedeck check lists all such events."),
             violation->rule));
}

td_status
td_find_rules(td_tape *tape, td_findings *findings, td_error *error) {
  gathering all = {findings, findings->n};
  uint64_t n_violations;
  if (findings->unjudged[TD_FINDING_rule_broken]) return TD_OK;
  return td_check_run(tape, violation_cb, &all, &n_violations, error);
}

/* Who is first of several threads is a guess. */
static bool
is_guess(td_order_cause cause) {
  switch (cause) {
  case TD_ORDER_CAUSE_number:
  case TD_ORDER_CAUSE_restriction:
  case TD_ORDER_CAUSE_tie:
  case TD_ORDER_CAUSE_out_of_turn:
    return false;
  default:
    return true;
  }
}

td_status
td_find_surprises(td_tape *tape, td_findings *findings, td_error *error) {
  td_order_wish wish = {.graph_task = TD_NONE, .n_explained = EXPLAINED};
  gathering all = {findings, findings->n};
  td_order order;
  if (findings->unjudged[TD_FINDING_order_surprise]) return TD_OK;
  td_status status = td_order_make(tape, &wish, &order, error);
  for (uint32_t i = 0; !status && order.is_observed && i < order.n_kept; i++) {
    const td_order_divergence *one = &order.passes[i].divergence;
    if (!order.passes[i].is_equal && one->text && !is_guess(one->cause))
      gather(&all, TD_FINDING_order_surprise, one->seq, one->popped, one->text,
             td_format(td_translate(
                           "The cause is %s. tapedeck order shows the predicted order beside the "
                           "real one."),
                       td_translate(td_order_cause_words(one->cause))));
  }
  td_order_fini(&order);
  if (status != TD_UNSUPPORTED) return status;
  if (error) td_error_clear(error); /* the tape has no pushes, or no pops */
  findings->unjudged[TD_FINDING_order_surprise] = true;
  return TD_OK;
}
