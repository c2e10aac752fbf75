/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/specification.h"

#include "engine/base/alloc.h"

#include <errno.h>
#include <string.h>

static const td_device_model sim_model = {.latency_ns = 20000, .bytes_per_ns = 4};

typedef struct unit {
  const char *name;
  double factor;
} unit;

static const unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const unit sizes[] = {{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {NULL, 0}};

/* Reads a number with a unit, "20us"; false unless it is the whole text and above zero. */
static bool
read_quantity(const char *text, const unit *units, double *out) {
  char *end;
  if (*text < '0' || *text > '9') return false;
  double value = strtod(text, &end);
  for (; units->name; units++)
    if (strcmp(end, units->name) == 0) {
      *out = value * units->factor;
      return *out > 0 && *out < 1e18;
    }
  return false;
}

/* Reads a number that is the whole text, 1 to TD_ACCELERATORS_MAX; 0 if it is none. */
static int
read_count(const char *text) {
  if (*text < '0' || *text > '9') return 0;
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  return *end || errno || value > TD_ACCELERATORS_MAX ? 0 : (int)value;
}

/* What follows `prefix` in text, or NULL. */
static const char *
after(const char *text, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static td_status
add_part(td_specification *out, const char *text, bool is_cuda, int count, td_error *error) {
  int total = TD_MAX(count, 1);
  for (int i = 0; i < out->n_parts; i++)
    total += TD_MAX(out->parts[i].count, 1);
  if (total > TD_ACCELERATORS_MAX)
    return td_error_set(error, TD_INVALID, "device '%s': there can be %d accelerators at most",
                        text, TD_ACCELERATORS_MAX);
  out->parts[out->n_parts].is_cuda = is_cuda;
  out->parts[out->n_parts].count = count;
  out->parts[out->n_parts++].model = sim_model;
  return TD_OK;
}

static td_status
read_device(td_specification *out, const char *text, const char *rest, bool is_cuda,
            td_error *error) {
  int count = *rest == ':' ? read_count(rest + 1) : is_cuda ? 0 : 1;
  if (*rest == ':' && count < 1)
    return td_error_set(error, TD_INVALID, "device '%s': N in %s:N is a number from 1 to %d", text,
                        is_cuda ? "cuda" : "sim", TD_ACCELERATORS_MAX);
  return add_part(out, text, is_cuda, count, error);
}

static td_status
read_option(td_specification *out, const char *text, td_error *error) {
  const char *latency = after(text, "latency="), *bandwidth = after(text, "bandwidth=");
  double value;
  if (!out->n_parts || out->parts[out->n_parts - 1].is_cuda)
    return td_error_set(error, TD_INVALID, "'%s' stands after a simulated device, sim:N", text);
  td_device_model *model = &out->parts[out->n_parts - 1].model;
  if (latency && read_quantity(latency, times, &value)) {
    model->latency_ns = (uint64_t)value;
    return TD_OK;
  }
  if (bandwidth && read_quantity(bandwidth, sizes, &value)) {
    model->bytes_per_ns = value / 1e9;
    return TD_OK;
  }
  return td_error_set(error, TD_INVALID, "'%s': must be like latency=20us or bandwidth=4GB", text);
}

static td_status
read_part(td_specification *out, const char *text, td_error *error) {
  const char *rest;
  if (strcmp(text, "cpu") == 0) return TD_OK;
  if (strcmp(text, "virtual") == 0) {
    out->is_virtual = true;
    return TD_OK;
  }
  if ((rest = after(text, "sim")) && (*rest == '\0' || *rest == ':'))
    return read_device(out, text, rest, false, error);
  if ((rest = after(text, "cuda")) && (*rest == '\0' || *rest == ':'))
    return read_device(out, text, rest, true, error);
  if (after(text, "latency=") || after(text, "bandwidth=")) return read_option(out, text, error);
  return td_error_set(error, TD_INVALID, "unknown device '%s': must be cpu, sim:N or cuda", text);
}

td_status
td_specification_read(const char *text, td_specification *out, td_error *error) {
  td_specification read = {0};
  char *parts = td_dup_string(text), *rest = parts, *part;
  td_status status = TD_OK;
  while (status == TD_OK && (part = strsep(&rest, ",")) != NULL)
    status = read_part(&read, part, error);
  free(parts);
  if (status == TD_OK) *out = read;
  return status;
}
