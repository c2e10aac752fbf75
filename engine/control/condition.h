/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Conditions on which people stop: a running program, or the playhead on a tape. condition.def
 * lists them. --break and the window write them like this.
 *
 *   begin             a backward pass begins.
 *   node:12           node 12 is about to run.
 *   op:*Backward0     a node of such a name is about to run.
 *   norm:1e3          a gradient has a norm above 1000.
 *   choice            a thread takes a task, and others are ready too.
 *   idle:2ms          a thread has waited longer than 2 ms.
 *
 * In a name, * stands for any characters and ? for one character of UTF-8, whatever its length.
 * Values; any thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/events/event.h"

typedef enum td_condition_kind {
#define TD_CONDITION(name, ...) TD_CONDITION_##name,
#include "engine/control/condition.def"
#undef TD_CONDITION
  TD_N_CONDITIONS
} td_condition_kind;

typedef struct td_condition {
  td_condition_kind kind;
  const char *argument; /* (borrowed) in text, behind the colon; NULL: any */
  uint32_t number;      /* the argument as a number */
  double amount;        /* the argument as an amount, or in ns */
  char *text;           /* (owned) as it was written */
} td_condition;

/* td_condition_parse reads a condition; TD_INVALID says what may be written. */
td_status td_condition_parse(const char *text, td_condition *condition, td_error *error);
void td_condition_fini(td_condition *condition);

/* td_condition_is_live tells whether a running program can stop on a condition.
 * td_condition_parse_live is td_condition_parse, and refuses others. */
bool td_condition_is_live(const td_condition *condition);
td_status td_condition_parse_live(const char *text, td_condition *condition, td_error *error);

/* What people read about a kind of condition. Constant. */
typedef struct td_condition_words {
  const char *word, *help;
  bool has_argument; /* one may stand there */
} td_condition_words;

const td_condition_words *td_condition_words_of(td_condition_kind kind);

/* What went wrong; a set. */
typedef enum td_trouble {
  TD_TROUBLE_NAN = 1,
  TD_TROUBLE_INF = 2,
  TD_TROUBLE_ERROR = 4,
} td_trouble;

/* A moment that is judged, right after an event. What nobody knows is NULL, TD_NONE or 0. */
typedef struct td_condition_moment {
  td_event_kind event;
  uint32_t number;                   /* of the node, the graph task or the step */
  const char *name, *module, *label; /* of the node; for a hook, `name` is its owner's */
  double amount;                     /* norm, length or ns */
  double before;                     /* the amount just before, where it changes step by step */
  bool has_others;                   /* of a pop: other tasks were ready too */
  unsigned troubles;
} td_condition_moment;

bool td_condition_holds(const td_condition *condition, const td_condition_moment *moment);

/* td_condition_event returns the kind of event that a condition looks at. `error` and `anomaly`
 * stand for all troubles: td_condition_troubles returns which, or 0. */
td_event_kind td_condition_event(const td_condition *condition);
unsigned td_condition_troubles(const td_condition *condition);
