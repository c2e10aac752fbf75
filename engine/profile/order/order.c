/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order.h"

#include "engine/base/alloc.h"
#include "engine/profile/order/order_compare.h"
#include "engine/replay/catalog_visit.h"

/* Explaining looks at a step so many times at most, on average. */
#define LOOKS 64

typedef struct ordering {
  const td_order_wish *wish;
  td_order *order;
  td_tape *tape;
  td_order_log log;
  td_order_eyes eyes;
  const td_catalog *catalog; /* (borrowed) of the segment */
  uint32_t n_explained;
} ordering;

static void
nodes_fini(td_order_pass *pass) {
  free(pass->popped);
  free(pass->predicted);
  pass->popped = pass->predicted = NULL;
}

static void
keep(td_order *order, const td_order_pass *pass) {
  TD_GROW(order->passes, order->n_kept, order->capacity);
  order->passes[order->n_kept++] = *pass;
}

static void
pass_cb(const td_logged_pass *logged, uint32_t status, void *data) {
  ordering *self = data;
  td_order *order = self->order;
  td_order_pass pass = {.graph_task = logged->graph_task, .status = status};
  bool explains = self->n_explained < self->wish->n_explained;
  td_order_compare(logged, &self->log, self->catalog, explains ? &self->eyes : NULL, &pass);
  self->n_explained += !pass.is_equal;
  order->n_passes++;
  order->n_equal += pass.is_equal;
  order->n_early += pass.is_equal && pass.n_popped < pass.n_predicted;
  if (!self->wish->keeps_nodes) nodes_fini(&pass);
  if (self->wish->keeps_nodes || (explains && !pass.is_equal)) keep(order, &pass);
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  ordering *self = data;
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  self->catalog = catalog;
  td_tape_begin_pass(self->tape, &segment);
  for (uint64_t seq = first; seq < end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) td_order_log_take(&self->log, catalog, event, seq);
  }
  td_tape_end_pass(self->tape);
  if (end == td_tape_info_get(self->tape)->n_events) td_order_log_end(&self->log);
  if (!self->log.edges_left)
    return td_error_set(error, TD_UNSUPPORTED, "its passes count far more edges than they follow");
  return td_tape_check_readable(self->tape, error);
}

/* Why a broken order on this tape may be none. */
static const char *
blindness(const td_tape_info *info) {
  if (info->known[TD_EVENT_queue_pop] != TD_knowledge_observed)
    return "But the pops of this tape are reconstructed";
  if (info->n_dropped) return "But this tape lost events";
  if (info->known[TD_EVENT_node_sequence_nr] != TD_knowledge_observed)
    return "But the tape does not tell if the program changed sequence numbers";
  return NULL;
}

static td_status
require_pops(const td_tape_info *info, td_error *error) {
  bool lacks_pops = info->n_by_kind[TD_EVENT_graph_task_begin] ||
                    info->known[TD_EVENT_queue_pop] != TD_knowledge_observed;
  if (info->n_by_kind[TD_EVENT_queue_pop] || !lacks_pops) return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED,
                      "the recording did not observe what entered and left its queues");
}

td_status
td_order_make(td_tape *tape, const td_order_wish *wish, td_order *order, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *order = (td_order){.is_observed = info->known[TD_EVENT_queue_pop] == TD_knowledge_observed};
  ordering self = {.wish = wish,
                   .order = order,
                   .tape = tape,
                   .eyes = {.steps_left = LOOKS * info->n_events, .blind = blindness(info)}};
  td_status status = require_pops(info, error);
  if (status) return status;
  td_order_log_init(&self.log, info, wish->graph_task, pass_cb, &self);
  status = td_catalog_visit(tape, 0, info->n_events, visit_segment, &self, error);
  td_order_log_fini(&self.log);
  if (!status && wish->graph_task != TD_NONE && !order->n_passes)
    return td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u", wish->graph_task);
  return status;
}

void
td_order_fini(td_order *order) {
  for (uint32_t i = 0; i < order->n_kept; i++) {
    nodes_fini(&order->passes[i]);
    td_order_divergence_fini(&order->passes[i].divergence);
  }
  free(order->passes);
}
