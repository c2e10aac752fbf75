/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues of the device threads, one for each accelerator. Tasks of all passes go there.
 * Private to engine/torch/pass. */
#pragma once

#include "engine/torch/pass/ready_queue.h"

/* td_device_queues_open takes the queues [n] by device, for ever: every thread behind them runs.
 * td_device_queues_close returns them (borrowed) and their number; from then on td_device_queue
 * finds none. Called by the owner of the threads. */
void td_device_queues_open(td_ready_queue **queues, int n);
td_ready_queue **td_device_queues_close(int *n);

/* td_device_queue returns a device's ready queue (borrowed, for ever). NULL for TD_CPU, and if
 * there are no device threads, or no more. Any thread. */
td_ready_queue *td_device_queue(td_device device);

/* td_device_queues_announce puts the queues on the tape. */
void td_device_queues_announce(void);
