/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The device table: the host, and accelerators as the specification says (specification.h). Set up
 * once, before any tensor is placed on a device; read by any thread afterwards. */
#pragma once

#include "engine/device/backend.h"
#include "engine/device/specification.h"
#include "engine/tensor/tensor.h"

/* td_device_setup reads a specification as given to --devices: "cpu", "cpu,sim:2". TD_INVALID names
 * what is wrong with it; TD_UNSUPPORTED for devices that are not on this machine. Only once per
 * process. */
td_status td_device_setup(const char *specification, td_error *error);

/* td_device_count returns the number of accelerators. td_device_name returns "cpu", "meta",
 * "sim:0", ... */
int td_device_count(void);
const char *td_device_name(td_device device);

/* td_device_index returns its number among those of its kind, from its name. */
int td_device_index(td_device device);

/* td_device_find turns "cpu", "meta", "sim", "sim:1" into a device; TD_INVALID with PyTorch-like
 * words. */
td_status td_device_find(const char *name, td_device *device, td_error *error);

/* td_device_is_used tells whether anything was ever placed on an accelerator: whether it has a
 * context. */
bool td_device_is_used(td_device device);

/* td_device_flush puts on the tape what is still to be told of kernels, waiting for them. Before a
 * recording ends. */
void td_device_flush(void);

/* td_device_backend returns what runs an accelerator. For engine/device alone. */
const td_backend *td_device_backend(td_device device);
