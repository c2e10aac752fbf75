/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/arrival.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/memory.h"
#include "engine/torch/graph/accumulate_grad.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/warnings.h"

static _Atomic bool warns_of_leaves = true;
static _Atomic bool has_warned;

void
td_arrival_warn_of_leaves(bool enabled) {
  atomic_store_explicit(&warns_of_leaves, enabled, memory_order_relaxed);
}

static void
warn_of_leaf(const td_arrival *arrival) {
  if (td_stream_equal(arrival->from, arrival->to)) return;
  if (!td_accumulate_grad_variable(arrival->consumer)) return;
  if (!atomic_load_explicit(&warns_of_leaves, memory_order_relaxed)) return;
  if (!td_warning_due(&has_warned)) return;
  td_warn(
      arrival->consumer,
      "The AccumulateGrad node's stream does not match the stream of the node that produced the "
      "incoming gradient. This may incur unnecessary synchronization and break CUDA graph "
      "capture if the AccumulateGrad node's stream is the default stream. This mismatch is "
      "caused by an AccumulateGrad node created prior to the current iteration being kept "
      "alive. This can happen if the autograd graph is still being kept alive by tensors such "
      "as the loss, or if you are using DDP, which will stash a reference to the node. To "
      "resolve the mismatch, delete all references to the autograd graph or ensure that DDP "
      "initialization is performed under the same stream as subsequent forwards. If the "
      "mismatch is intentional, you can use "
      "torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False) to suppress "
      "this warning.");
}

td_arrival *
td_arrival_of(td_arrival *arrival, const td_tensor *gradient, td_stream from) {
  arrival->stream = TD_NO_STREAM;
  if (!td_policy(accumulation_streams)) arrival->stream_case = TD_stream_case_case_1;
  if (!gradient || gradient->device < 0) return NULL;
  arrival->from = from;
  arrival->to = arrival->consumer->stream;
  return arrival;
}

td_arrival *
td_arrival_between(td_arrival *arrival, const td_tensor *gradient, const td_node *producer) {
  bool matters = gradient && gradient->device >= 0;
  return td_arrival_of(arrival, gradient, matters ? producer->stream : TD_NO_STREAM);
}

td_slot_streams *
td_slot_streams_of(td_slot_streams **streams, uint32_t n, uint32_t input_nr) {
  if (!td_policy(accumulation_streams)) return NULL;
  if (!*streams) {
    *streams = TD_NEW_N(td_slot_streams, n);
    for (uint32_t i = 0; i < n; i++)
      (*streams)[i].accumulation = (*streams)[i].ready = TD_NO_STREAM;
  }
  return &(*streams)[input_nr];
}

/* Cases 1 to 5; the first is the caller's. */
static void
prepare_with_defaults(const td_tensor *gradient, td_arrival *arrival) {
  td_device device = gradient->device;
  uint32_t node = td_node_id(arrival->consumer);
  bool on_producer = arrival->from.device == device, on_consumer = arrival->to.device == device;
  if (on_producer && on_consumer) {
    arrival->stream_case = TD_stream_case_case_2;
    arrival->stream = arrival->to;
    td_stream_wait_stream(arrival->to, arrival->from, node);
    return;
  }
  td_stream usual = td_stream_default(device);
  arrival->stream_case = on_consumer   ? TD_stream_case_case_3
                         : on_producer ? TD_stream_case_case_4
                                       : TD_stream_case_case_5;
  arrival->stream = on_consumer ? arrival->to : usual;
  if (on_consumer) td_stream_wait_stream(arrival->to, usual, node);
  if (on_producer) td_stream_wait_stream(usual, arrival->from, node);
}

static void
choose_stream(td_slot_streams *slot, td_device device, td_arrival *arrival) {
  if (arrival->to.device == device) {
    arrival->stream_case = TD_stream_case_case_a;
    slot->accumulation = arrival->to;
  } else if (arrival->from.device == device) {
    arrival->stream_case = TD_stream_case_case_b;
    slot->accumulation = arrival->from;
  } else {
    arrival->stream_case = TD_stream_case_case_c;
    slot->accumulation = td_stream_current(device);
  }
}

/* Which of the three it was follows from the streams again. */
static td_stream_case
case_of(const td_slot_streams *slot, const td_arrival *arrival) {
  if (td_stream_equal(slot->accumulation, arrival->to)) return TD_stream_case_case_a;
  if (td_stream_equal(slot->accumulation, arrival->from)) return TD_stream_case_case_b;
  return TD_stream_case_case_c;
}

static void
prepare_first(td_slot_streams *slot, const td_tensor *gradient, td_arrival *arrival) {
  choose_stream(slot, gradient->device, arrival);
  bool is_awaited = !td_stream_equal(arrival->to, arrival->from);
  if (is_awaited && arrival->stream_case == TD_stream_case_case_a)
    td_tensor_record_stream(gradient, arrival->to);
  if (is_awaited || !td_stream_equal(slot->accumulation, arrival->from))
    slot->event = td_stream_event_record(arrival->from, td_node_id(arrival->consumer));
  slot->ready = arrival->from;
}

static void
prepare_later(td_slot_streams *slot, const td_tensor *there, const td_tensor *gradient,
              td_arrival *arrival) {
  uint32_t node = td_node_id(arrival->consumer);
  arrival->stream_case = case_of(slot, arrival);
  if (!td_stream_equal(slot->accumulation, arrival->from)) {
    td_stream_wait_stream(slot->accumulation, arrival->from, node);
    td_tensor_record_stream(gradient, slot->accumulation);
  }
  if (!td_stream_equal(slot->accumulation, slot->ready)) {
    td_stream_wait(slot->accumulation, slot->event, node);
    td_tensor_record_stream(there, slot->accumulation);
  }
}

void
td_arrival_prepare(td_slot_streams *slot, const td_tensor *there, const td_tensor *gradient,
                   td_arrival *arrival) {
  if (!slot) return prepare_with_defaults(gradient, arrival);
  td_stream current = td_stream_current(gradient->device);
  if (!td_stream_is_some(arrival->from)) arrival->from = current;
  if (!td_stream_is_some(arrival->to)) arrival->to = current;
  warn_of_leaf(arrival);
  if (td_stream_is_some(slot->accumulation))
    prepare_later(slot, there, gradient, arrival);
  else
    prepare_first(slot, gradient, arrival);
  arrival->stream = slot->accumulation;
}

void
td_arrival_conclude(td_slot_streams *slot, const td_arrival *arrival, bool was_added) {
  if (!was_added || !slot) return;
  if (!td_stream_equal(arrival->to, slot->accumulation)) {
    td_stream_event_unref(slot->event);
    slot->event = td_stream_event_record(slot->accumulation, td_node_id(arrival->consumer));
  }
  slot->ready = slot->accumulation;
}

void
td_arrivals_wait(const td_slot_streams *streams, uint32_t n, td_stream stream,
                 const td_node *consumer) {
  for (uint32_t i = 0; streams && i < n; i++) {
    const td_slot_streams *slot = &streams[i];
    if (slot->event && !td_stream_equal(stream, slot->ready))
      td_stream_wait(stream, slot->event, td_node_id(consumer));
  }
}

void
td_slot_streams_free(td_slot_streams *streams, uint32_t n) {
  for (uint32_t i = 0; streams && i < n; i++)
    td_stream_event_unref(streams[i].event);
  free(streams);
}
