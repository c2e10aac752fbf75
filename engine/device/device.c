/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/device/device.h"

#include "engine/base/alloc.h"
#include "engine/device/cuda.h"
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
    .host_access = td_memory_host_access,
};

static int
count_of(const td_backend *backend) {
  int n = 0;
  for (int i = 0; i < n_accelerators; i++)
    n += accelerators[i].backend == backend;
  return n;
}

static void
add_sims(int count, td_device_model model) {
  int first = count_of(&td_backend_sim);
  for (int i = 0; i < count; i++, n_accelerators++) {
    accelerators[n_accelerators] = (accelerator){td_format("sim:%d", first + i), &td_backend_sim};
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

/* CUDA's own numbers count from 0 too; td_cuda_add remembers which is which. */
static void
add_cudas(int count) {
  for (int i = 0; i < count; i++, n_accelerators++) {
    accelerators[n_accelerators] = (accelerator){td_format("cuda:%d", i), &td_backend_cuda};
    td_cuda_add(n_accelerators, i);
  }
}

/* How many CUDA devices there will be; TD_UNSUPPORTED where they are asked for and are not there.
 */
static td_status
open_cuda(const td_specification *specification, int *count, td_error *error) {
  *count = 0;
  for (int i = 0; i < specification->n_parts; i++) {
    if (!specification->parts[i].is_cuda) continue;
    if (*count > 0) return td_error_set(error, TD_INVALID, "device 'cuda' is given twice");
    td_status status = td_cuda_open(specification->parts[i].count, count, error);
    if (status) return status;
  }
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
  int n_cuda = 0;
  if (!status) status = open_cuda(&read, &n_cuda, error);
  if (status) return status;
  for (int i = 0; i < read.n_parts; i++)
    if (read.parts[i].is_cuda)
      add_cudas(n_cuda);
    else
      add_sims(read.parts[i].count, read.parts[i].model);
  if (read.is_virtual) td_sim_set_virtual();
  if (n_accelerators > 0) td_accelerators_now = &functions;
  was_set_up = true;
  announce_all();
  return TD_OK;
}

void
td_device_flush(void) {
  for (td_device device = 0; device < n_accelerators; device++)
    if (accelerators[device].backend->flush) accelerators[device].backend->flush(device);
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

int
td_device_index(td_device device) {
  const char *colon = strchr(td_device_name(device), ':');
  return colon ? parse_number(colon + 1) : 0;
}

/* Devices of a kind are numbered from 0 by themselves: their names say so. */
static td_status
find_accelerator(const char *name, const char *kind, td_device *device, td_error *error) {
  size_t length = strlen(kind);
  int index = name[length] ? parse_number(name + length + 1) : 0, n = 0;
  if (index < 0) return td_error_set(error, TD_INVALID, "Invalid device string: '%s'", name);
  for (td_device i = 0; i < n_accelerators; i++) {
    if (strcmp(accelerators[i].backend->kind, kind) != 0) continue;
    if (n++ != index) continue;
    *device = i;
    return TD_OK;
  }
  return td_error_set(error, TD_INVALID,
                      "device '%s' is not there: %d %s device%s (--devices cpu,%s)", name, n, kind,
                      n == 1 ? "" : "s", strcmp(kind, "sim") ? kind : "sim:N");
}

td_status
td_device_find(const char *name, td_device *device, td_error *error) {
  static const char *const kinds[] = {"sim", "cuda"};
  if (strcmp(name, "cpu") == 0 || strcmp(name, "cpu:0") == 0) {
    *device = TD_CPU;
    return TD_OK;
  }
  if (strcmp(name, "meta") == 0) {
    *device = TD_META;
    return TD_OK;
  }
  for (size_t i = 0; i < TD_N_ELEMENTS(kinds); i++)
    if (is_kind(name, kinds[i])) return find_accelerator(name, kinds[i], device, error);
  return td_error_set(error, TD_INVALID,
                      "Expected one of cpu, sim, cuda, meta device type at start of device string: "
                      "%s",
                      name);
}
