/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/pass_streams.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/device/sim.h"

struct td_pass_streams {
  td_stream *caller; /* (owned) [td_device_count()] by device, or NULL: no node has a stream */
  td_stream *before; /* (owned) likewise: of the thread that runs final callbacks, meanwhile */
  td_stream *leaves; /* (owned) [n] (guarded by the graph task's lock) */
  size_t n, capacity;
  uint64_t begun;            /* on the caller's clock: Note [Virtual time] */
  _Atomic uint64_t finished; /* the latest time at which a node of the pass ended */
};

static bool
any_has_stream(const td_node_table *nodes) {
  for (uint32_t i = 0; i < nodes->n; i++)
    if (td_stream_is_some(nodes->entries[i].node->stream)) return true;
  return false;
}

/* The current streams of the calling thread; of devices that nothing was placed on, none. */
static td_stream *
current_streams(void) {
  int n = td_device_count();
  td_stream *streams = TD_NEW_N(td_stream, (size_t)n);
  for (td_device device = 0; device < n; device++)
    streams[device] = td_device_is_used(device) ? td_stream_current(device) : TD_NO_STREAM;
  return streams;
}

static void
set_current_streams(const td_stream *streams) {
  for (int device = 0; device < td_device_count(); device++)
    td_stream_set_current(streams[device]);
}

td_pass_streams *
td_pass_streams_new(const td_node_table *nodes) {
  td_pass_streams *streams = TD_NEW(td_pass_streams);
  streams->begun = td_sim_now();
  if (any_has_stream(nodes)) streams->caller = current_streams();
  return streams;
}

void
td_pass_streams_note_locked(td_pass_streams *streams, td_stream stream) {
  for (size_t i = 0; i < streams->n; i++)
    if (td_stream_equal(streams->leaves[i], stream)) return;
  TD_GROW(streams->leaves, streams->n, streams->capacity);
  streams->leaves[streams->n++] = stream;
}

void
td_pass_streams_join_locked(td_pass_streams *streams) {
  if (!streams->caller) return;
  for (size_t i = 0; i < streams->n; i++)
    td_stream_wait_stream(streams->caller[streams->leaves[i].device], streams->leaves[i], TD_NONE);
  streams->before = current_streams();
  set_current_streams(streams->caller);
}

void
td_pass_streams_leave(td_pass_streams *streams) {
  if (streams->before) set_current_streams(streams->before);
}

void
td_pass_streams_end(td_pass_streams *streams) {
  td_sim_catch_up(atomic_load_explicit(&streams->finished, memory_order_acquire));
}

void
td_pass_streams_free(td_pass_streams *streams) {
  if (!streams) return;
  free(streams->caller);
  free(streams->before);
  free(streams->leaves);
  free(streams);
}

void
td_pass_streams_node_begins(const td_pass_streams *streams) {
  td_sim_catch_up(streams->begun);
}

void
td_pass_streams_node_ends(td_pass_streams *streams) {
  uint64_t now = td_sim_now();
  uint64_t old = atomic_load_explicit(&streams->finished, memory_order_relaxed);
  while (old < now &&
         !atomic_compare_exchange_weak_explicit(&streams->finished, &old, now, memory_order_release,
                                                memory_order_relaxed))
    ;
}
