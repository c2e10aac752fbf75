/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The name of a stream: a device and a number. engine/torch/device/stream.h has what streams do. */
#pragma once

#include "engine/torch/tensor/accelerators.h"

typedef struct td_stream {
  td_device device;
  int32_t number;
} td_stream;

#define TD_NO_STREAM ((td_stream){TD_CPU, 0})

static inline bool
td_stream_is_some(td_stream stream) {
  return stream.device >= 0;
}

static inline bool
td_stream_equal(td_stream a, td_stream b) {
  return a.device == b.device && a.number == b.number;
}
