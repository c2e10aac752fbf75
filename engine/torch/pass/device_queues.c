/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/device_queues.h"

static td_ready_queue **queues; /* (owned references) by device */
static _Atomic int n_queues;    /* released after queues is written */

void
td_device_queues_open(td_ready_queue **opened, int n) {
  queues = opened;
  atomic_store_explicit(&n_queues, n, memory_order_release);
}

td_ready_queue **
td_device_queues_close(int *n) {
  *n = atomic_exchange_explicit(&n_queues, 0, memory_order_acq_rel);
  return queues;
}

td_ready_queue *
td_device_queue(td_device device) {
  if (device < 0) return NULL;
  int n = atomic_load_explicit(&n_queues, memory_order_acquire);
  return device < n ? queues[device] : NULL;
}

void
td_device_queues_announce(void) {
  td_ready_queue *queue;
  for (td_device device = 0; (queue = td_device_queue(device)); device++)
    td_ready_queue_announce(queue, TD_NONE);
}
