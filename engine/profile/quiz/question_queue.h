/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Questions about what lies in a ready queue, in the replay's present state. Private to
 * engine/profile/quiz. One thread. */
#pragma once

#include "engine/profile/quiz/question.h"

/* td_question_list_candidates writes the choices of a pop: tasks in its queue, then tasks that are
 * not ready. TD_OUT_OF_RANGE if a node lies there for two passes, so that its name is no answer. */
td_status td_question_list_candidates(td_replay *replay, td_question *question, td_error *error);

/* td_question_list_order looks for the longest queue that people can order. It writes its tasks,
 * and in the key their order. */
td_status td_question_list_order(td_replay *replay, td_question *question, td_error *error);

/* td_question_is_guess tells whether tasks of the answer differ in their place in the heap only,
 * which nobody sees. The replay stands at the question. */
bool td_question_is_guess(const td_replay *replay, const td_question *question);

/* td_question_find_policy writes the one order of queues that pops the question's node next. */
td_status td_question_find_policy(td_replay *replay, td_question *question, td_error *error);

/* td_question_first_in returns the node that an order of queues pops first from a queue. TD_NONE: a
 * dummy task, or none. */
uint32_t td_question_first_in(const td_replay *replay, uint32_t queue, td_queue_order order);

/* td_question_first_under returns which of a queue's n entries, in the order in which the heap pops
 * them, an order of queues pops first. */
uint32_t td_question_first_under(td_queue_order order, const td_queue_entry *entries, uint32_t n);
