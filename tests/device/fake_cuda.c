/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A CUDA module without CUDA: two devices whose memory is the host's and whose kernels have run
 * when they are launched. What engine/torch/device/cuda.c does with a module is tested by it on any
 * machine. */
#include "engine/base/clock.h"
#include "engine/torch/device/cuda/module.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *
open_devices(int *n_devices) {
  *n_devices = 2;
  return NULL;
}

static const char *
device_name(int device) {
  return "fake";
}

static void *
allocate(int device, size_t n_bytes) {
  return malloc(n_bytes ? n_bytes : 1);
}

static void
release(int device, void *data) {
  free(data);
}

static const char *
stream_new(int device, void **stream) {
  *stream = malloc(1);
  return NULL;
}

/* FAKE_CUDA_IS_BUSY: streams always have work left. */
static int
is_done(int device, void *stream) {
  return getenv("FAKE_CUDA_IS_BUSY") == NULL;
}

static const char *
synchronize_stream(int device, void *stream) {
  return NULL;
}

static const char *
synchronize(int device) {
  return NULL;
}

static const char *
event_new(int device, void *stream, void **event) {
  uint64_t *time = malloc(sizeof *time);
  *time = td_clock_monotonic_ns();
  *event = time;
  return NULL;
}

static void
event_free(int device, void *event) {
  free(event);
}

static int
event_is_done(void *event) {
  return 1;
}

static const char *
event_synchronize(void *event) {
  return NULL;
}

static double
event_elapsed_ms(void *from, void *to) {
  return ((double)*(uint64_t *)to - (double)*(uint64_t *)from) / 1e6;
}

static const char *
stream_wait(int device, void *stream, void *event) {
  return NULL;
}

static const char *const names[] = {"add", "mul", "copy", "fill", "exp", "sum_into"};

static int
find(const char *name) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0) return (int)i;
  return -1;
}

static int64_t
offset(const td_cuda_launch *launch, int operand, int64_t index) {
  int64_t at = 0;
  for (int dim = launch->n_dims - 1; dim >= 0; dim--) {
    at += index % launch->sizes[dim] * launch->operands[operand].strides[dim];
    index /= launch->sizes[dim];
  }
  return at;
}

static float
number(const td_cuda_launch *launch, int operand, int64_t index) {
  const td_cuda_operand *from = &launch->operands[operand];
  return from->data ? ((float *)from->data)[offset(launch, operand, index)] : (float)from->number;
}

static float
compute(const td_cuda_launch *launch, int64_t i, float before) {
  switch (launch->kernel) {
  case 0:
    return number(launch, 1, i) + (float)launch->parameter * number(launch, 2, i);
  case 1:
    return number(launch, 1, i) * number(launch, 2, i);
  case 2:
    return number(launch, 1, i);
  case 3:
    return (float)launch->parameter;
  case 4:
    return expf(number(launch, 1, i));
  default:
    return before + number(launch, 1, i);
  }
}

static int
launch(int device, void *stream, const td_cuda_launch *wanted, const char **error) {
  *error = NULL;
  for (int i = 0; i < wanted->n_operands; i++)
    if (wanted->operands[i].dtype != TD_CUDA_FLOAT32) return 0;
  int64_t n = 1;
  for (int dim = 0; dim < wanted->n_dims; dim++)
    n *= wanted->sizes[dim];
  float *out = wanted->operands[0].data;
  for (int64_t i = 0; i < n; i++) {
    float *at = out + offset(wanted, 0, i);
    *at = compute(wanted, i, *at);
  }
  return 1;
}

static int
multiply(int device, void *stream, const td_cuda_product *p, const char **error) {
  *error = NULL;
  if (p->dtype != TD_CUDA_FLOAT32) return 0;
  const float *a = p->a.data, *b = p->b.data;
  for (int64_t batch = 0; batch < p->n_batches; batch++)
    for (int64_t i = 0; i < p->n; i++)
      for (int64_t j = 0; j < p->m; j++) {
        float sum = 0;
        for (int64_t k = 0; k < p->k; k++)
          sum += a[batch * p->a.batch + i * p->a.row + k * p->a.column] *
                 b[batch * p->b.batch + k * p->b.row + j * p->b.column];
        ((float *)p->c.data)[batch * p->c.batch + i * p->c.row + j * p->c.column] = sum;
      }
  return 1;
}

__attribute__((visibility("default"))) const td_cuda_module *
td_cuda_module_get(void) {
  static const td_cuda_module module = {
      .version = TD_CUDA_MODULE_VERSION,
      .open = open_devices,
      .device_name = device_name,
      .allocate = allocate,
      .release = release,
      .stream_new = stream_new,
      .stream_is_done = is_done,
      .stream_synchronize = synchronize_stream,
      .synchronize = synchronize,
      .event_new = event_new,
      .event_free = event_free,
      .event_is_done = event_is_done,
      .event_synchronize = event_synchronize,
      .event_elapsed_ms = event_elapsed_ms,
      .stream_wait = stream_wait,
      .find = find,
      .launch = launch,
      .multiply = multiply,
  };
  return &module;
}
