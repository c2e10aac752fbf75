/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Devices: set up from a specification, and found by name. td_device_setup runs once, before any
 * tensor is placed on a device. Any thread may call the other functions afterwards. */
#pragma once

#include "engine/base/status.h"
#include "engine/torch/device/device_table.h"

/* td_device_setup reads a specification as --devices has it: "cpu", "cpu,sim:2" (specification.h).
 * TD_INVALID names what is wrong. TD_UNSUPPORTED for devices that this machine does not have. Only
 * once per process. */
td_status td_device_setup(const char *specification, td_error *error);

/* td_device_index returns a device's number among those of its kind, from its name. */
int td_device_index(td_device device);

/* td_device_find turns "cpu", "meta", "sim", "sim:1" into a device; TD_INVALID with PyTorch-like
 * words. */
td_status td_device_find(const char *name, td_device *device, td_error *error);

/* td_device_is_used tells whether anything was ever placed on an accelerator. PyTorch asks the same
 * of a device: whether it has a context. */
bool td_device_is_used(td_device device);

/* td_device_tell says on the tape whether waits of host threads for streams are on it: the setting
 * "streams". */
void td_device_tell(void);

/* td_device_flush waits for kernels and puts the rest of their events on the tape. Called before a
 * recording ends. */
void td_device_flush(void);
