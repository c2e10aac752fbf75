/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/device/device.h"

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/events/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define MAX_ACCELERATORS 64

typedef struct accelerator {
  char *name; /* (owned) */
  td_device_model model;
} accelerator;

/* Written once by td_device_setup, before there are other threads; constant afterwards. */
static accelerator *accelerators;
static int n_accelerators;
static bool was_set_up;

static const td_device_model sim_model = {.latency_ns = 20000, .bytes_per_ns = 4};

static void
add_sims(int count) {
  accelerators = td_realloc(accelerators, n_accelerators + count, sizeof *accelerators);
  for (int i = 0; i < count; i++)
    accelerators[n_accelerators + i] =
        (accelerator){.name = td_format("sim:%d", n_accelerators + i), .model = sim_model};
  n_accelerators += count;
}

/* Reads a number that is the whole text, 0 to MAX_ACCELERATORS; -1 if it is none. */
static int
parse_number(const char *text) {
  if (*text < '0' || *text > '9') return -1;
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  return *end || errno || value > MAX_ACCELERATORS ? -1 : (int)value;
}

static bool
is_kind(const char *text, const char *kind) {
  size_t length = strlen(kind);
  return strncmp(text, kind, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

static td_status
setup_one(const char *part, td_error *error) {
  if (strcmp(part, "cpu") == 0) return TD_OK;
  if (is_kind(part, "cuda"))
    return td_error_set(error, TD_UNSUPPORTED, "device '%s': there are no CUDA devices yet", part);
  if (!is_kind(part, "sim"))
    return td_error_set(error, TD_INVALID, "unknown device '%s': expected cpu or sim:N", part);
  int count = part[3] ? parse_number(part + 4) : 1;
  if (count < 1)
    return td_error_set(error, TD_INVALID, "device '%s': N in sim:N is a number from 1 to %d", part,
                        MAX_ACCELERATORS);
  if (n_accelerators > 0)
    return td_error_set(error, TD_INVALID, "device '%s': simulated devices are given once", part);
  add_sims(count);
  return TD_OK;
}

static void
announce_all(void) {
  for (td_device device = TD_CPU; device < n_accelerators; device++)
    td_emit_device(device, td_device_name(device));
}

td_status
td_device_setup(const char *specification, td_error *error) {
  if (was_set_up) return td_error_set(error, TD_INVALID, "the devices are set up already");
  char *parts = td_dup_string(specification), *rest = parts, *part;
  td_status status = TD_OK;
  while (status == TD_OK && (part = strsep(&rest, ",")) != NULL)
    status = setup_one(part, error);
  free(parts);
  was_set_up = status == TD_OK;
  if (was_set_up) announce_all();
  return status;
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

/* Linux lets a sleep end 50 us late unless the thread asks for better: more than a whole small
 * kernel. */
static void
ask_for_precise_sleep(void) {
  static _Thread_local bool asked;
  if (!asked) prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
  asked = true;
}

void
td_device_spend(td_device device, uint64_t begin_ns, size_t n_bytes) {
  if (device < 0 || device >= n_accelerators) return;
  const td_device_model *model = &accelerators[device].model;
  uint64_t until = begin_ns + model->latency_ns + (uint64_t)((double)n_bytes / model->bytes_per_ns);
  ask_for_precise_sleep();
  struct timespec deadline = {.tv_sec = (time_t)(until / 1000000000u),
                              .tv_nsec = (long)(until % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
    ;
}
