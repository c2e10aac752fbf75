/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/device/device.h"

#include "engine/base/alloc.h"
#include "engine/device/kernel.h"
#include "engine/device/memory.h"
#include "engine/device/sim.h"
#include "engine/events/emit.h"
#include "engine/tensor/launch.h"

#include <errno.h>
#include <string.h>

typedef struct accelerator {
  char *name; /* (owned) */
  const td_backend *backend;
} accelerator;

/* Written once by td_device_setup, before there are other threads; constant afterwards. */
static accelerator accelerators[TD_ACCELERATORS_MAX];
static int n_accelerators;
static bool was_set_up;

static const td_accelerators functions = {
    .storage_new = td_memory_new,
    .storage_free = td_memory_free,
    .launch = td_kernel_launch,
};

static void
add_sims(int count, td_device_model model) {
  for (int i = 0; i < count; i++, n_accelerators++) {
    accelerators[n_accelerators] =
        (accelerator){td_format("sim:%d", n_accelerators), &td_backend_sim};
    td_sim_add(n_accelerators, model);
  }
}

/* Reads a number that is the whole text, from 0; -1 if it is none. */
static int
parse_number(const char *text) {
  if (*text < '0' || *text > '9') return -1;
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  return *end || errno || value > TD_ACCELERATORS_MAX ? -1 : (int)value;
}

static bool
is_kind(const char *text, const char *kind) {
  size_t length = strlen(kind);
  return strncmp(text, kind, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

static td_status
check_parts(const td_specification *specification, td_error *error) {
  for (int i = 0; i < specification->n_parts; i++)
    if (specification->parts[i].is_cuda)
      return td_error_set(error, TD_UNSUPPORTED, "device 'cuda': there are no CUDA devices yet");
  return TD_OK;
}

static void
announce_all(void) {
  for (td_device device = TD_CPU; device < n_accelerators; device++)
    td_emit_device(device, td_device_name(device));
}

td_status
td_device_setup(const char *text, td_error *error) {
  if (was_set_up) return td_error_set(error, TD_INVALID, "the devices are set up already");
  td_specification read;
  td_status status = td_specification_read(text, &read, error);
  if (!status) status = check_parts(&read, error);
  if (status) return status;
  for (int i = 0; i < read.n_parts; i++)
    add_sims(read.parts[i].count, read.parts[i].model);
  if (read.is_virtual) td_sim_set_virtual();
  if (n_accelerators > 0) td_accelerators_now = &functions;
  was_set_up = true;
  announce_all();
  return TD_OK;
}

bool
td_device_is_used(td_device device) {
  return td_memory_is_used(device);
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

td_status
td_device_find(const char *name, td_device *device, td_error *error) {
  if (strcmp(name, "cpu") == 0 || strcmp(name, "cpu:0") == 0) {
    *device = TD_CPU;
    return TD_OK;
  }
  if (strcmp(name, "meta") == 0) {
    *device = TD_META;
    return TD_OK;
  }
  if (!is_kind(name, "sim"))
    return td_error_set(error, TD_INVALID,
                        "Expected one of cpu, sim, meta device type at start of device string: %s",
                        name);
  int index = name[3] ? parse_number(name + 4) : 0;
  if (index < 0) return td_error_set(error, TD_INVALID, "Invalid device string: '%s'", name);
  if (index >= n_accelerators)
    return td_error_set(error, TD_INVALID,
                        "device '%s' is not there: %d simulated device%s (--devices cpu,sim:N)",
                        name, n_accelerators, n_accelerators == 1 ? "" : "s");
  *device = index;
  return TD_OK;
}
