/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/device.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/torch/device/cuda.h"
#include "engine/torch/device/kernel.h"
#include "engine/torch/device/memory.h"
#include "engine/torch/device/sim.h"
#include "engine/torch/device/specification.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Set by td_device_setup, before there are other threads. */
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
  for (td_device device = 0; device < td_device_count(); device++)
    n += td_device_backend(device) == backend;
  return n;
}

static void
add_sims(int count, td_device_model model) {
  int first = count_of(&td_backend_sim);
  for (int i = 0; i < count; i++)
    td_sim_add(td_device_add(&td_backend_sim, first + i), model);
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
  for (int i = 0; i < count; i++)
    td_cuda_add(td_device_add(&td_backend_cuda, i), i);
}

/* Counts the CUDA devices of a specification. TD_UNSUPPORTED if this machine does not have them. */
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
  for (td_device device = TD_CPU; device < td_device_count(); device++)
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
  if (td_device_count() > 0) td_accelerators_now = &functions;
  was_set_up = true;
  announce_all();
  return TD_OK;
}

void
td_device_tell(void) {
  TD_EMIT(setting, .name = td_intern("streams"),
          .value = td_intern(td_sim_is_virtual ? "virtual" : "watched"));
}

void
td_device_flush(void) {
  for (td_device device = 0; device < td_device_count(); device++)
    if (td_device_backend(device)->flush) td_device_backend(device)->flush(device);
}

bool
td_device_is_used(td_device device) {
  return td_memory_is_used(device);
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
  for (td_device i = 0; i < td_device_count(); i++) {
    if (strcmp(td_device_backend(i)->kind, kind) != 0) continue;
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
