/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sends and receives between two ranks of a group. The first receive of a rank from another one
 * gets what that one sends first, and so on. Tags, which are not on the tape, may change the order,
 * and not the number: if a rank has handed more receives than the other one sends, the last of them
 * get nothing. One thread at a time. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/ranks/handed.h"

#include <stdbool.h>

/* What was handed and has no counterpart yet: items from `first` to `n`. */
typedef struct td_message_queue {
  td_handed *items; /* (owned) */
  uint32_t first, n, capacity;
} td_message_queue;

/* What one rank sends to another one. Ranks are those of the group. One of the queues is empty. */
typedef struct td_message_pair {
  uint32_t group, from, to;
  uint32_t n_sent, n_received;
  td_message_queue sends, receives;
  uint64_t longest;    /* time that a receive came before its send */
  td_handed sent, got; /* the first that were not of the same size and dtype */
  uint32_t differs_at; /* their number, or 0 */
} td_message_pair;

typedef struct td_messages {
  td_message_pair *pairs; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers; /* of (group, from, to): 1 + index */
  bool is_confused;      /* a rank receives from any other one, or there are too many ranks */
} td_messages;

/* td_messages_take takes a send or receive of a rank of a group. */
void td_messages_take(td_messages *self, uint32_t group, uint32_t rank, const td_handed *handed);
void td_messages_fini(td_messages *self);
