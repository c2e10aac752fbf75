/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arrival: a gradient on an accelerator comes into an input buffer: on which stream it is added to
 * what is there, and who waits for whom. Guarded as the input buffer is. Private to
 * engine/pass.
 *
 * Note [Streams of an input buffer]
 * The producer's stream is that of the node that the gradient comes from, the consumer's that of
 * the node whose buffer it is; a node of the CPU has none.
 *
 * PyTorch 2.8 and later (policy accumulation_streams): the first gradient of a slot chooses where
 * sums are made: (a) on the consumer's stream if the gradient is on its device, (b) else on the
 * producer's if it is on its, (c) else on the current stream of the gradient's device. It is moved
 * in, and an event is recorded on the producer's stream if somebody will have to wait for it. A
 * later one is added on that stream, after it has waited for the new producer and for what was
 * there. The consumer waits when it is evaluated (td_arrivals_wait), not before.
 *
 * Before: (1) a gradient on the CPU is added without ado. (2) on the device of both: on the
 * consumer's stream, which waits for the producer's. (3) on the consumer's alone: on its stream,
 * which waits for the default stream of that device. (4) on the producer's alone: on the default
 * stream of that device, which waits for the producer's. (5) on neither's: on the default stream of
 * its device. All of that at every arrival, also of the first. */
#pragma once

#include "engine/device/stream.h"
#include "engine/graph/node.h"

/* What a slot knows of streams. */
typedef struct td_slot_streams {
  td_stream accumulation; /* TD_NO_STREAM before the first gradient came */
  td_stream ready;        /* on which what is there was made */
  td_stream_event *event; /* (owned) when it is ready, or NULL: nobody has to wait */
} td_slot_streams;

typedef struct td_arrival {
  const td_node *consumer;
  td_stream from, to;         /* the producer's and the consumer's stream, or TD_NO_STREAM */
  td_stream_case stream_case; /* filled in by td_arrival_prepare, as what follows */
  td_stream stream;           /* on which the gradient is added */
} td_arrival;

/* td_arrival_of fills in an arrival, whose consumer is set, of a gradient that was made on stream
 * `from`, and returns it; NULL, with the case alone filled in, where the gradient is undefined or
 * not on an accelerator. td_arrival_between does so for what `producer` made. */
td_arrival *td_arrival_of(td_arrival *arrival, const td_tensor *gradient, td_stream from);
td_arrival *td_arrival_between(td_arrival *arrival, const td_tensor *gradient,
                               const td_node *producer);

/* td_slot_streams_of returns what slot `input_nr` of a buffer of n slots knows of streams; all n
 * are made on first use. NULL without policy accumulation_streams. */
td_slot_streams *td_slot_streams_of(td_slot_streams **streams, uint32_t n, uint32_t input_nr);
void td_slot_streams_free(td_slot_streams *streams, uint32_t n); /* NULL is fine */

/* td_arrival_prepare chooses the stream for a gradient on an accelerator, makes it wait as it must,
 * and writes that into *arrival. `there` is what the slot holds, or NULL. td_arrival_conclude
 * follows when the gradient is in the slot. */
void td_arrival_prepare(td_slot_streams *slot, const td_tensor *there, const td_tensor *gradient,
                        td_arrival *arrival);
void td_arrival_conclude(td_slot_streams *slot, const td_arrival *arrival, bool was_added);

/* td_arrivals_wait makes the consumer's stream wait for the gradients of its buffer's n slots. */
void td_arrivals_wait(const td_slot_streams *streams, uint32_t n, td_stream stream,
                      const td_node *consumer);

/* Whether a leaf's node that is on another stream than the gradient's producer is warned of, once:
 * torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch. Any thread. */
void td_arrival_warn_of_leaves(bool enabled);
