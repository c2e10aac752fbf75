/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Simulated accelerators. Memory is the host's and results are computed at once, by the launching
 * thread; what is simulated is time. A stream remembers when its last kernel will have ended: a
 * kernel begins when it is launched or when the one before it ends, whichever is later, and takes
 * what the device's model says. Synchronizing waits until then.
 *
 * Note [Virtual time]
 * With `--devices ...,virtual` nobody waits. Each host thread has a clock of its own that begins at
 * 0 and is put forward where it synchronizes, to the end of what it waits for, and where it takes a
 * task that another thread made ready, to that thread's time. So the times of a program are those
 * of the model alone, the same in every run whose threads take the same tasks in the same order. */
#pragma once

#include "engine/device/specification.h"
#include "engine/tensor/tensor.h"

/* td_sim_add makes a device's model known; td_sim_set_virtual is for td_device_setup. */
void td_sim_add(td_device device, td_device_model model);
void td_sim_set_virtual(void);
extern bool td_sim_is_virtual; /* constant after td_device_setup */

/* td_sim_now returns the calling thread's time in nanoseconds: virtual or of CLOCK_MONOTONIC.
 * td_sim_catch_up puts its virtual clock forward to `time`, never back; nothing otherwise. */
uint64_t td_sim_now(void);
void td_sim_catch_up(uint64_t time);
