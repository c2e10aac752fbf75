/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Simulated accelerators. Memory is the host's, and the launching thread computes results at once:
 * only time is simulated. A stream remembers when its last kernel will have ended. A kernel begins
 * when it is launched or when the kernel before it ends, whichever is later. It takes what the
 * device's model says. Synchronizing waits until the last kernel has ended.
 *
 * Note [Virtual time]
 * With `--devices ...,virtual` nobody waits. Each host thread has a clock of its own that begins at
 * 0. A thread that synchronizes puts its clock forward to the end of what it waits for. A thread
 * that takes a task puts its clock forward to that of the thread which made the task ready. So the
 * times of a program are those of the model alone. Two runs have the same times if their threads
 * take the same tasks in the same order. */
#pragma once

#include "engine/torch/device/backend.h"
#include "engine/torch/device/specification.h"

extern const td_backend td_backend_sim;

/* td_sim_add makes a device's model known; td_sim_set_virtual is for td_device_setup. */
void td_sim_add(td_device device, td_device_model model);
void td_sim_set_virtual(void);
extern bool td_sim_is_virtual; /* constant after td_device_setup */

/* td_sim_now returns the calling thread's time in nanoseconds: virtual or of CLOCK_MONOTONIC.
 * td_sim_catch_up puts the thread's virtual clock forward to `time`, never back. */
uint64_t td_sim_now(void);
void td_sim_catch_up(uint64_t time);
