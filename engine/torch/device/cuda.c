/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory is page-locked and lies on the host; kernels reach it over the bus. Managed memory would
 * move to the device, but its page faults can hang a card. Kernels that the module knows run on the
 * device. For any other kernel the host waits for the device and computes: correct first. An error
 * of CUDA ends the program, because results of the device may be garbage after it. */
#include "engine/torch/device/cuda.h"

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/events/emit.h"
#include "engine/torch/device/cuda/module.h"
#include "engine/torch/device/cuda_calls.h"
#include "engine/torch/device/host_wait.h"
#include "engine/torch/device/specification.h"
#include "engine/torch/device/stream_table.h"
#include "engine/torch/tensor/tensor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define MODULE_NAME "libtapedeck-cuda.so"
#define PENDING_MAX 1024

/* A kernel whose times are not known yet. */
typedef struct pending {
  void *begin, *end; /* (owned) events */
  td_stream stream;
  uint32_t node, name;
  uint64_t bytes;
} pending;

/* Written by td_cuda_open and td_cuda_add, before there are other threads; the rest is guarded by
 * td_stream_mutex. */
static const td_cuda_module *module;
static int ordinals[TD_ACCELERATORS_MAX];
static struct {
  void *clock_stream, *base; /* an event whose time on the host's clock is base_ns */
  uint64_t base_ns;
  pending *pending; /* (owned) [n] in the order of their launch */
  size_t n, capacity;
} devices[TD_ACCELERATORS_MAX];

static void
must(const char *error) {
  if (!error) return;
  fprintf(stderr, "tapedeck: CUDA: %s\n", error);
  abort();
}

/* The folder of the file that this code was loaded from. */
static char *
own_folder(void) {
  Dl_info info;
  if (!dladdr((const void *)&ordinals, &info) || !info.dli_fname) return td_dup_string(".");
  const char *slash = strrchr(info.dli_fname, '/');
  return slash ? td_format("%.*s", (int)(slash - info.dli_fname), info.dli_fname)
               : td_dup_string(".");
}

static td_status
load_module(td_error *error) {
  const char *given = getenv("TAPEDECK_CUDA_MODULE");
  char *folder = own_folder();
  char *path = given ? td_dup_string(given) : td_format("%s/" MODULE_NAME, folder);
  free(folder);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  free(path);
  if (!library)
    return td_error_set(
        error, TD_UNSUPPORTED,
        "device 'cuda': this build has no CUDA module (%s); configure it where nvcc "
        "is found",
        dlerror());
  const td_cuda_module *(*get)(void);
  *(void **)&get = dlsym(library, TD_CUDA_MODULE_SYMBOL);
  const td_cuda_module *found = get ? get() : NULL;
  if (!found || found->version != TD_CUDA_MODULE_VERSION)
    return td_error_set(error, TD_UNSUPPORTED, "device 'cuda': its module is of another version");
  module = found;
  return TD_OK;
}

td_status
td_cuda_open(int wanted, int *count, td_error *error) {
  int n = 0;
  td_status status = module ? TD_OK : load_module(error);
  if (status) return status;
  const char *why = module->open(&n);
  if (why) return td_error_set(error, TD_UNSUPPORTED, "device 'cuda': %s", why);
  if (n == 0 || n < wanted)
    return td_error_set(error, TD_UNSUPPORTED, "device 'cuda': there are %d of them here", n);
  *count = wanted ? wanted : n;
  return TD_OK;
}

void
td_cuda_add(td_device device, int ordinal) {
  ordinals[device] = ordinal;
}

static td_storage *
cuda_storage_new(td_device device, size_t n_bytes) {
  td_storage *storage = td_storage_new_host(0);
  if (!storage) return NULL;
  storage->n_bytes = n_bytes;
  storage->data = module->allocate(ordinals[device], n_bytes);
  if (storage->data) return storage;
  free(storage);
  return NULL;
}

static void
cuda_storage_free(td_device device, td_storage *storage) {
  module->release(ordinals[device], storage->data);
  free(storage);
}

static void *
cuda_stream_new(td_device device) {
  void *stream = NULL;
  must(module->stream_new(ordinals[device], &stream));
  return stream;
}

static bool
cuda_stream_is_done(td_device device, void *stream) {
  return module->stream_is_done(ordinals[device], stream);
}

/* Emits the kernels that have run, up to the first that has not. */
static void tell_finished_locked(td_device device);

static void
tell_finished(td_device device) {
  pthread_mutex_lock(&td_stream_mutex);
  tell_finished_locked(device);
  pthread_mutex_unlock(&td_stream_mutex);
}

static void
cuda_stream_synchronize(td_device device, void *stream) {
  must(module->stream_synchronize(ordinals[device], stream));
  tell_finished(device);
}

typedef struct cuda_event {
  td_device device;
  void *handle; /* (owned) */
} cuda_event;

static void *
cuda_event_new(td_device device, void *stream) {
  cuda_event *event = TD_NEW(cuda_event);
  event->device = device;
  must(module->event_new(ordinals[device], stream, &event->handle));
  return event;
}

static void
cuda_event_free(void *data) {
  cuda_event *event = data;
  module->event_free(ordinals[event->device], event->handle);
  free(event);
}

static bool
cuda_event_is_done(void *event) {
  return module->event_is_done(((cuda_event *)event)->handle);
}

static void
cuda_event_synchronize(void *data) {
  cuda_event *event = data;
  must(module->event_synchronize(event->handle));
  tell_finished(event->device);
}

static double
cuda_event_elapsed_ms(void *from, void *to) {
  return module->event_elapsed_ms(((cuda_event *)from)->handle, ((cuda_event *)to)->handle);
}

static void
cuda_stream_wait(td_device device, void *stream, void *event) {
  must(module->stream_wait(ordinals[device], stream, ((cuda_event *)event)->handle));
}

/* Records an event of now, to measure from. Times between events are floats of milliseconds, so
 * they are good for a second or so. */
static void
set_base_locked(td_device device) {
  int ordinal = ordinals[device];
  if (!devices[device].clock_stream)
    must(module->stream_new(ordinal, &devices[device].clock_stream));
  if (devices[device].base) module->event_free(ordinal, devices[device].base);
  must(module->event_new(ordinal, devices[device].clock_stream, &devices[device].base));
  must(module->event_synchronize(devices[device].base));
  devices[device].base_ns = td_clock_monotonic_ns();
}

static uint64_t
time_of_locked(td_device device, void *event) {
  double ms = module->event_elapsed_ms(devices[device].base, event);
  return devices[device].base_ns + (uint64_t)(int64_t)(ms * 1e6);
}

/* The event comes late: `queued` leads from now back to the kernel's begin, so it is below zero. */
static void
tell_locked(td_device device, const pending *kernel) {
  uint64_t begin = time_of_locked(device, kernel->begin), now = td_clock_monotonic_ns();
  double ms = module->event_elapsed_ms(kernel->begin, kernel->end);
  TD_EMIT_AT(td_stream_stamp_locked(), kernel, .device = device, .stream = kernel->stream.number,
             .node = kernel->node, .name = kernel->name, .bytes = kernel->bytes,
             .queued = begin - now, .took = (uint64_t)(ms * 1e6));
}

static void
drop(td_device device, const pending *kernel) {
  module->event_free(ordinals[device], kernel->begin);
  module->event_free(ordinals[device], kernel->end);
}

static void
tell_finished_locked(td_device device) {
  size_t n = 0;
  while (n < devices[device].n && module->event_is_done(devices[device].pending[n].end))
    n++;
  for (size_t i = 0; i < n; i++) {
    tell_locked(device, &devices[device].pending[i]);
    drop(device, &devices[device].pending[i]);
  }
  devices[device].n -= n;
  memmove(devices[device].pending, devices[device].pending + n,
          devices[device].n * sizeof(pending));
}

/* Puts the kernel on the stream. */
static bool
run(td_device device, void *stream, td_kernel *kernel) {
  const char *error = NULL;
  bool done = td_cuda_call(module, ordinals[device], stream, kernel->call, &error);
  must(error);
  return done;
}

static void
run_recorded(td_device device, void *stream, td_kernel *kernel) {
  pending told = {.stream = kernel->stream,
                  .node = kernel->node,
                  .name = kernel->name,
                  .bytes = kernel->n_bytes};
  uint64_t now = td_clock_monotonic_ns();
  if (!devices[device].base ||
      (devices[device].n == 0 && now - devices[device].base_ns > 1000000000))
    set_base_locked(device);
  must(module->event_new(ordinals[device], stream, &told.begin));
  kernel->is_computed = run(device, stream, kernel);
  must(module->event_new(ordinals[device], stream, &told.end));
  if (!kernel->is_computed) return drop(device, &told);
  kernel->is_told = true;
  TD_GROW(devices[device].pending, devices[device].n, devices[device].capacity);
  devices[device].pending[devices[device].n++] = told;
  if (devices[device].n >= PENDING_MAX) tell_finished_locked(device);
}

static void
wait_for_all_of(const td_kernel_call *call) {
  for (int i = 0; i < call->n_tensors; i++) {
    if (!call->tensors[i] || call->tensors[i]->device < 0) continue;
    td_device device = call->tensors[i]->device;
    td_host_wait wait = td_host_wait_begin_all_locked(device);
    must(module->synchronize(ordinals[device]));
    td_host_wait_end(&wait);
  }
}

/* If the host computes, there is no kernel of the device, and no event. */
static void
cuda_launch(td_device device, void *stream, td_kernel *kernel) {
  if (td_recording())
    run_recorded(device, stream, kernel);
  else
    kernel->is_computed = run(device, stream, kernel);
  if (kernel->is_computed) return;
  kernel->is_told = true;
  wait_for_all_of(kernel->call);
}

static void
cuda_host_access(td_device device) {
  must(module->synchronize(ordinals[device]));
}

static void
cuda_flush(td_device device) {
  must(module->synchronize(ordinals[device]));
  tell_finished(device);
}

const td_backend td_backend_cuda = {
    .kind = "cuda",
    .storage_new = cuda_storage_new,
    .storage_free = cuda_storage_free,
    .stream_new = cuda_stream_new,
    .stream_is_done = cuda_stream_is_done,
    .stream_synchronize = cuda_stream_synchronize,
    .event_new = cuda_event_new,
    .event_free = cuda_event_free,
    .event_is_done = cuda_event_is_done,
    .event_synchronize = cuda_event_synchronize,
    .event_elapsed_ms = cuda_event_elapsed_ms,
    .stream_wait = cuda_stream_wait,
    .launch = cuda_launch,
    .host_access = cuda_host_access,
    .flush = cuda_flush,
};
