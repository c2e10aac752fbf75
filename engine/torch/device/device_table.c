/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/device_table.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/specification.h"

typedef struct accelerator {
  char *name; /* (owned) */
  const td_backend *backend;
} accelerator;

/* Written by td_device_setup, before there are other threads; constant afterwards. */
static accelerator accelerators[TD_ACCELERATORS_MAX];
static int n_accelerators;

td_device
td_device_add(const td_backend *backend, int index) {
  accelerators[n_accelerators] = (accelerator){td_format("%s:%d", backend->kind, index), backend};
  return n_accelerators++;
}

const td_backend *
td_device_backend(td_device device) {
  return accelerators[device].backend;
}

int
td_device_count(void) {
  return n_accelerators;
}

const char *
td_device_name(td_device device) {
  if (device == TD_META) return "meta";
  return device >= 0 && device < n_accelerators ? accelerators[device].name : "cpu";
}
