/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Conditions on which a live program stops, as --break and the window write them:
 *   begin            a backward pass begins
 *   node:12          node 12 is about to run
 *   op:MulBackward0  a node of that name is about to run
 *   nan, nonfinite   a NaN, or a NaN or an infinity, was born
 *   error            a node failed
 * Values; any thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/events/event.h"

typedef enum td_condition_kind {
  TD_CONDITION_BEGIN,
  TD_CONDITION_NODE,
  TD_CONDITION_OP,
  TD_CONDITION_NAN,
  TD_CONDITION_NONFINITE,
  TD_CONDITION_ERROR,
} td_condition_kind;

typedef struct td_condition {
  td_condition_kind kind;
  uint32_t node; /* of NODE */
  char *text;    /* (owned) as it was written */
} td_condition;

/* td_condition_parse reads a condition; TD_INVALID says what may be written. */
td_status td_condition_parse(const char *text, td_condition *condition, td_error *error);
void td_condition_fini(td_condition *condition);

/* td_condition_holds_at returns true if an event that was just emitted fulfils the condition; name
 * is the node's, or NULL. For births and failures there is td_condition_holds_for. */
bool td_condition_holds_at(const td_condition *condition, td_event_kind event, uint32_t node,
                           const char *name);

/* What went wrong in a thread since it last came by the gate; a set. */
typedef enum td_trouble {
  TD_TROUBLE_NAN = 1,
  TD_TROUBLE_INF = 2,
  TD_TROUBLE_ERROR = 4,
} td_trouble;

bool td_condition_holds_for(const td_condition *condition, unsigned troubles);
