/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_orders.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

void
td_find_orders_begin_pass(td_find_orders *self, uint32_t graph_task) {
  if (self->n_under_way++) {
    self->is_mixed = true;
    return;
  }
  self->pass++;
  self->is_mixed = false;
  self->n_touched = 0;
  self->graph_task_before = self->graph_task;
  self->graph_task = graph_task;
}

static void
reach(td_arrival_slots *slots, uint32_t number) {
  if (number < slots->n) return;
  uint32_t n = TD_MAX(2 * slots->n, number + 16);
  slots->items = td_realloc(slots->items, n, sizeof *slots->items);
  memset(slots->items + slots->n, 0, (n - slots->n) * sizeof *slots->items);
  slots->n = n;
}

static td_arrival_slot *
slot_at(td_find_orders *self, uint32_t touched) {
  bool is_older = touched >> 31;
  return is_older ? &self->older.items[~touched] : &self->made.items[touched];
}

static uint32_t
older_slot(td_find_orders *self, uint32_t node) {
  uint64_t *number = td_number_map_put(&self->number_of, node);
  if (!*number) *number = self->number_of.n;
  reach(&self->older, (uint32_t)*number - 1);
  return (uint32_t)*number - 1;
}

/* Ids have gaps. Those far beyond what was made are not this period's. */
static bool
is_of(const td_period *period, uint32_t node) {
  return period && node >= period->first_node &&
         node - period->first_node < 4 * (uint64_t)period->n_made + 64;
}

void
td_find_orders_take(td_find_orders *self, const td_event_buffer_add *event, uint64_t seq,
                    const td_period *period) {
  if (!self->n_under_way) return;
  uint32_t base = period ? period->first_node : 0;
  bool is_made = is_of(period, event->node);
  if (is_made) reach(&self->made, event->node - base);
  uint32_t touched = is_made ? event->node - base : ~older_slot(self, event->node);
  td_arrival_slot *slot = slot_at(self, touched);
  if (slot->now.pass != self->pass) {
    slot->before = slot->now;
    slot->now = (td_arrivals){.pass = self->pass, .in_order = TD_HASH_SEED, .seq = seq};
    slot->node = event->node;
    TD_GROW(self->touched, self->n_touched, self->touched_capacity);
    self->touched[self->n_touched++] = touched;
  }
  uint64_t from = is_of(period, event->from) ? event->from - base : ~(uint64_t)event->from;
  uint64_t hash = td_hash_number(td_hash_number(from) + event->input_nr);
  slot->now.n++;
  slot->now.of_all += hash;
  slot->now.in_order = td_hash_number(slot->now.in_order + hash);
}

static bool
differs(const td_arrival_slot *slot) {
  const td_arrivals *now = &slot->now, *before = &slot->before;
  return now->n > 1 && before->pass + 1 == now->pass && before->n == now->n &&
         before->of_all == now->of_all && before->in_order != now->in_order;
}

void
td_find_orders_end_pass(td_find_orders *self) {
  if (self->n_under_way) self->n_under_way--;
  if (self->n_under_way || self->is_mixed) return;
  for (uint32_t i = 0; i < self->n_touched; i++) {
    const td_arrival_slot *slot = slot_at(self, self->touched[i]);
    if (!differs(slot) || self->n_found++) continue;
    self->first = (td_finding){.kind = TD_FINDING_order_differs,
                               .seq = slot->now.seq,
                               .node = slot->node,
                               .has_passes = true,
                               .passes = {self->graph_task, self->graph_task_before}};
    self->n_gradients = slot->now.n;
  }
  self->n_touched = 0;
}

void
td_find_orders_learn(td_find_orders *self, const td_catalog *catalog) {
  if (!self->n_found || self->first.text) return;
  char *name = td_why_name_node(catalog, self->first.node);
  self->first.text = td_format(
      td_translate("%s got its %u gradients in another order in one backward pass than in the "
                   "one before."),
      name, self->n_gradients);
  self->first.line = td_finding_line(td_catalog_node_find(catalog, self->first.node));
  free(name);
}

void
td_find_orders_tell(td_find_orders *self, td_findings *findings) {
  if (!self->first.text) return;
  self->first.n = self->n_found;
  self->first.advice =
      td_dup_string(td_translate("Sums of floats depend on the order in their last bits. Two runs "
                                 "may differ there."));
  td_findings_add(findings, self->first);
  self->first = (td_finding){0};
}

void
td_find_orders_fini(td_find_orders *self) {
  free(self->made.items);
  free(self->older.items);
  free(self->touched);
  free(self->first.text);
  free(self->first.line);
  td_number_map_fini(&self->number_of);
  *self = (td_find_orders){0};
}
