/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/shortage.h"

#include "engine/base/reserve.h"
#include "engine/events/emit.h"
#include "engine/probe/probe.h"

#include <unistd.h>

static _Atomic bool came;

static void
stop_recording(void) {
  __atomic_store_n(&td_probe_watching, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&td_probe_session, 0, __ATOMIC_RELEASE);
  td_emit_disable();
}

static void
ran_out_cb(void) {
  static const char words[] =
      "tapedeck: out of memory: the recording ends here, and the program goes on\n";
  atomic_store_explicit(&came, true, memory_order_release);
  stop_recording();
  if (write(STDERR_FILENO, words, sizeof words - 1) < 0) return;
}

void
td_shortage_watch(void) {
  td_reserve_keep(ran_out_cb);
}

bool
td_shortage_came(void) {
  return atomic_load_explicit(&came, memory_order_acquire);
}

void
td_shortage_settle(void) {
  if (td_shortage_came()) stop_recording();
}
