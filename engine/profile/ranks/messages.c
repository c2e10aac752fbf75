/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/ranks/messages.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1u << 16)
#define WAITING_MAX (1u << 16)

static td_message_pair *
pair_of(td_messages *self, uint32_t group, uint32_t from, uint32_t to) {
  uint64_t *number =
      td_number_map_put(&self->numbers, (uint64_t)group << 32 | (uint64_t)from << 16 | to);
  if (*number) return &self->pairs[*number - 1];
  TD_GROW(self->pairs, self->n, self->capacity);
  self->pairs[self->n] = (td_message_pair){.group = group, .from = from, .to = to};
  *number = ++self->n;
  return &self->pairs[self->n - 1];
}

static void
push(td_messages *self, td_message_queue *queue, const td_handed *handed) {
  if (queue->n == WAITING_MAX) self->is_confused = true;
  if (self->is_confused) return;
  TD_GROW(queue->items, queue->n, queue->capacity);
  queue->items[queue->n++] = *handed;
}

/* The oldest one, or NULL. */
static const td_handed *
pop(td_message_queue *queue) {
  if (queue->first == queue->n) return NULL;
  const td_handed *oldest = &queue->items[queue->first++];
  if (queue->first == queue->n) queue->first = queue->n = 0;
  return oldest;
}

static void
compare(td_message_pair *pair, const td_handed *sent, const td_handed *got, uint32_t number) {
  bool is_same = sent->elements == got->elements && strcmp(sent->dtype, got->dtype) == 0;
  if (sent->time > got->time && sent->time - got->time > pair->longest)
    pair->longest = sent->time - got->time;
  if (is_same || pair->differs_at) return;
  pair->differs_at = number;
  pair->sent = *sent;
  pair->got = *got;
}

static void
send(td_messages *self, td_message_pair *pair, const td_handed *handed) {
  const td_handed *receive = pop(&pair->receives);
  pair->n_sent++;
  if (receive)
    compare(pair, handed, receive, pair->n_sent);
  else
    push(self, &pair->sends, handed);
}

static void
receive(td_messages *self, td_message_pair *pair, const td_handed *handed) {
  const td_handed *sent = pop(&pair->sends);
  pair->n_received++;
  if (sent)
    compare(pair, sent, handed, pair->n_received);
  else
    push(self, &pair->receives, handed);
}

void
td_messages_take(td_messages *self, uint32_t group, uint32_t rank, const td_handed *handed) {
  if (handed->peer < 0 || (uint32_t)handed->peer >= RANKS_MAX || rank >= RANKS_MAX)
    self->is_confused = true;
  if (self->is_confused) return;
  uint32_t peer = (uint32_t)handed->peer;
  if (strcmp(handed->operation, "SEND") == 0)
    send(self, pair_of(self, group, rank, peer), handed);
  else
    receive(self, pair_of(self, group, peer, rank), handed);
}

void
td_messages_fini(td_messages *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    free(self->pairs[i].sends.items);
    free(self->pairs[i].receives.items);
  }
  free(self->pairs);
  td_number_map_fini(&self->numbers);
  *self = (td_messages){0};
}
