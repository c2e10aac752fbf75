/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What has begun on threads or devices and not ended: spans inside one another, and one activity
 * at a time. Events say so by the columns SPAN and SPAN_OF of events.def. One thread. */
#pragma once

#include "engine/events/event_type.h"

#include <stddef.h>

typedef struct td_open_span {
  uint64_t begin_ns, begin_seq;
  uint32_t kind; /* td_span_kind, and a kind of hook behind TD_SPAN_HOOK */
  /* Node, kind of lock, graph task of a callback or a collective operation, stream, or
   * td_thread_activity. */
  uint32_t item;
  /* Graph task of a node, object of a lock, device of a stream. Of a hook, a callback or an
   * operation, the string that names it. */
  uint32_t about;
} td_open_span;

/* A span has ended. `depth` counts the spans around it; an activity has 0. */
typedef void (*td_span_listener)(size_t lane, uint32_t depth, const td_open_span *span,
                                 uint64_t end_ns, void *data);

typedef void (*td_span_opener)(size_t lane, uint32_t depth, const td_open_span *span, void *data);

/* Zero-initialise, but for the listener. */
typedef struct td_span_stacks {
  td_span_listener listener;
  td_span_opener opened; /* a span, not an activity, has begun; or NULL */
  void *data;
  struct td_span_stack *lanes; /* (owned) */
  size_t n_lanes;
} td_span_stacks;

/* td_span_stacks_take takes an event that is about a lane. An end also ends what an exception left
 * open inside; an end without a begin is nothing. An activity without time is not told. */
void td_span_stacks_take(td_span_stacks *stacks, size_t lane, uint64_t seq,
                         const td_any_event *event);

/* td_span_stacks_finish says that the tape is over: all that is open ends, and so do activities of
 * lanes below `n_active`. */
void td_span_stacks_finish(td_span_stacks *stacks, size_t n_active, uint64_t end_ns);
void td_span_stacks_fini(td_span_stacks *stacks);
