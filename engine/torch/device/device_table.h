/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of devices: the host, and accelerators with the backend that runs each. td_device_setup
 * fills it before there are other threads. Any thread may read it afterwards. */
#pragma once

#include "engine/torch/device/backend.h"

/* td_device_count returns the number of accelerators. td_device_name returns "cpu", "meta",
 * "sim:0", ... */
int td_device_count(void);
const char *td_device_name(td_device device);

/* td_device_add adds an accelerator: number `index` of its kind. For td_device_setup alone. */
td_device td_device_add(const td_backend *backend, int index);

/* td_device_backend returns what runs an accelerator. For engine/torch/device alone. */
const td_backend *td_device_backend(td_device device);
