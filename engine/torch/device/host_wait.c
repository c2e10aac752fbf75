/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/host_wait.h"

#include "engine/events/emit.h"
#include "engine/torch/device/cause.h"
#include "engine/torch/device/sim.h"
#include "engine/torch/device/stream_table.h"

#define ALL_STREAMS (-1)

bool
td_host_wait_is_recorded(void) {
  return td_recording() && !td_sim_is_virtual;
}

td_host_wait
td_host_wait_begin(td_stream stream, uint32_t stream_event) {
  td_host_wait wait = {stream, td_clock_now(), td_emit_session()};
  TD_EMIT_AT(wait.begin, synchronize_begin, .device = stream.device, .stream = stream.number,
             .node = td_cause_now(), .stream_event = stream_event);
  return wait;
}

td_host_wait
td_host_wait_begin_all_locked(td_device device) {
  if (!td_host_wait_is_recorded() || td_streams_are_done_locked(device)) return (td_host_wait){0};
  return td_host_wait_begin((td_stream){device, ALL_STREAMS}, TD_NONE);
}

void
td_host_wait_end(const td_host_wait *wait) {
  if (!wait->session || wait->session != td_emit_session()) return;
  uint64_t end = td_clock_ordered();
  TD_EMIT_AT(end, synchronize_end, .device = wait->stream.device, .stream = wait->stream.number,
             .node = td_cause_now(), .waited = end - wait->begin);
}
