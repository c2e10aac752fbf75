/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arrival: a gradient on an accelerator comes into an input buffer. On which stream is it added to
 * what is there, and who waits for whom? Guarded as the input buffer is. Private to
 * engine/torch/pass, but for td_arrival_warn_of_leaves.
 *
 * Note [Streams of an input buffer]
 * The producer is the node that the gradient comes from, the consumer the node whose buffer it
 * enters. Each has a stream, but nodes of the CPU have none.
 *
 * PyTorch 2.8 and later (policy accumulation_streams): the first gradient of a slot chooses the
 * stream on which sums are made. It is (a) the consumer's stream if the gradient is on the
 * consumer's device. Else it is (b) the producer's stream if the gradient is on the producer's
 * device, else (c) the current stream of the gradient's device. The gradient is moved in. If
 * somebody will have to wait for it, an event is recorded on the producer's stream. A later
 * gradient is added on the chosen stream, which first waits for the new producer and for what was
 * there. The consumer waits when it is evaluated (td_arrivals_wait), not before.
 *
 * Before, at every arrival: (1) A gradient on the CPU is simply added. (2) If it is on the device
 * of both, it is added on the consumer's stream, which waits for the producer's. (3) If on the
 * consumer's device alone, it is added on the consumer's stream, which waits for that device's
 * default stream. (4) If on the producer's device alone, it is added on that device's default
 * stream, which waits for the producer's. (5) Else it is added on the default stream of its own
 * device. */
#pragma once

#include "engine/torch/device/stream.h"
#include "engine/torch/graph/node.h"

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

/* td_arrival_of fills in an arrival whose consumer is set, for a gradient that was made on stream
 * `from`, and returns it. If the gradient is undefined or not on an accelerator, it fills in the
 * case alone and returns NULL. td_arrival_between does the same for a gradient that `producer`
 * made. */
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

/* Whether to warn, once, if a leaf's node and the producer of its gradient are on different
 * streams: torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch. Any thread. */
void td_arrival_warn_of_leaves(bool enabled);
