/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What --devices says: a list of devices and their properties.
 *
 * - cpu,sim:2: two simulated accelerators;
 * - cpu,sim:2,latency=5us,bandwidth=100GB: kernels take 5 us and a nanosecond per 100 bytes;
 * - cpu,sim:1,latency=1ms,sim:1,latency=2us: a slow one and a fast one;
 * - cpu,sim:2,virtual: nobody waits for simulated time, it is only counted;
 * - cpu,cuda: all CUDA devices.
 *
 * latency= and bandwidth= (bytes a second: KB, MB, GB, TB) belong to the part before them. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define TD_ACCELERATORS_MAX 64

/* A simulated kernel takes latency_ns plus one nanosecond per bytes_per_ns bytes that it touches.
 */
typedef struct td_device_model {
  uint64_t latency_ns;
  double bytes_per_ns;
} td_device_model;

typedef struct td_specification {
  struct {
    bool is_cuda;
    int count; /* 0: as many as there are (cuda) */
    td_device_model model;
  } parts[TD_ACCELERATORS_MAX];
  int n_parts;
  bool is_virtual;
} td_specification;

/* td_specification_read: TD_INVALID names what is wrong. */
td_status td_specification_read(const char *text, td_specification *out, td_error *error);
