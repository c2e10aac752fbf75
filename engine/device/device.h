/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The device table: the host and the simulated accelerators, each with a cost model. Set up once,
 * before any tensor is placed on a device; read by any thread afterwards. */
#pragma once

#include "engine/tensor/tensor.h"

/* A simulated kernel takes latency_ns plus one nanosecond per bytes_per_ns bytes of gradient. */
typedef struct td_device_model {
  uint64_t latency_ns;
  double bytes_per_ns;
} td_device_model;

/* td_device_setup reads a specification as given to --devices: "cpu", "cpu,sim:2". TD_INVALID names
 * what is wrong with it; TD_UNSUPPORTED for cuda. Only once per process. */
td_status td_device_setup(const char *specification, td_error *error);

/* td_device_count returns the number of accelerators. td_device_name returns "cpu", "meta",
 * "sim:0", ... */
int td_device_count(void);
const char *td_device_name(td_device device);

/* td_device_find turns "cpu", "meta", "sim", "sim:1" into a device; TD_INVALID with PyTorch-like
 * words. */
td_status td_device_find(const char *name, td_device *device, td_error *error);

/* td_device_spend returns when the device has worked on n_bytes since begin_ns (monotonic): it
 * sleeps the time that the model says, less what has passed. At once for the CPU. */
void td_device_spend(td_device device, uint64_t begin_ns, size_t n_bytes);
