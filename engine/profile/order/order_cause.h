/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Why a pass left the order that was predicted for it: the first pop that was not the one expected.
 * Private to engine/profile. One thread. */
#pragma once

#include "engine/base/translate.h"
#include "engine/profile/order/order_scene.h"

/* TD_ORDER_CAUSE(name, words): the words of `order --json`, and of its text; append only. */
#define TD_ORDER_CAUSES(X)                                                                         \
  X(unknown, TD_N("unknown"))             /* the tape does not tell */                             \
  X(timing, TD_N("device timing"))        /* another thread was faster or slower than foreseen */  \
  X(hook, TD_N("a hook"))                 /* a thread was late because of hooks */                 \
  X(reentrant, TD_N("a re-entrant pass")) /* a thread was late because of a pass inside a node */  \
  X(callers, TD_N("several callers"))     /* another outermost pass used the queue */              \
  X(number,                                                                                        \
    TD_N("a changed sequence number")) /* the program changed it while the pass was under way */   \
  X(restriction, TD_N("the inputs of the pass")) /* exec_info: a node was needed, or was not */    \
  X(tie, TD_N("a tie"))               /* equal numbers entered the heap in another order */        \
  X(out_of_turn, TD_N("out of turn")) /* the queue's order was broken */                           \
  X(choice, TD_N("a choice"))         /* a user or a schedule chose the task */

typedef enum td_order_cause {
#define X(name, words) TD_ORDER_CAUSE_##name,
  TD_ORDER_CAUSES(X)
#undef X
      TD_N_ORDER_CAUSES
} td_order_cause;

/* td_order_cause_name returns "tie", ..., td_order_cause_words "a tie". Constant. */
const char *td_order_cause_name(td_order_cause cause);
const char *td_order_cause_words(td_order_cause cause);

typedef struct td_order_question {
  const td_pass_graph *graph;
  const td_catalog *catalog;
  const td_scene *scene;    /* before the pop */
  const td_order_step *pop; /* what happened */
  uint32_t expected;        /* place of the node that should have been popped, or TD_NONE */
  const char *blind;        /* why the tape cannot tell of a broken rule, or NULL */
} td_order_question;

/* td_order_explain returns the cause, and writes it in a sentence. The caller frees the text. */
td_order_cause td_order_explain(const td_order_question *question, char **text);
