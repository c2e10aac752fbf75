/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/cuda/module.h"

#include "engine/torch/device/cuda/kernels.h"

#include <cuda_runtime.h>

#define DEVICES_MAX 64

static char device_names[DEVICES_MAX][256]; /* written by open, before there are other threads */

static const char *
text_of(cudaError_t status) {
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

/* The calls on `device` of the calling thread go there. */
static const char *
use(int device) {
  return text_of(cudaSetDevice(device));
}

/* Tensors lie in page-locked memory of the host, which kernels reach at the same address. */
static bool
reaches_host(const cudaDeviceProp *properties) {
  return properties->unifiedAddressing && properties->canMapHostMemory;
}

static const char *
open_devices(int *n_devices) {
  int n = 0;
  cudaError_t status = cudaGetDeviceCount(&n);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  if (n > DEVICES_MAX) n = DEVICES_MAX;
  for (int device = 0; device < n; device++) {
    cudaDeviceProp properties;
    status = cudaGetDeviceProperties(&properties, device);
    if (status != cudaSuccess) return cudaGetErrorString(status);
    if (!reaches_host(&properties))
      return "a CUDA device cannot reach the host's memory (unifiedAddressing, canMapHostMemory)";
    for (size_t i = 0; i < sizeof device_names[0] - 1; i++)
      device_names[device][i] = properties.name[i];
  }
  *n_devices = n;
  return nullptr;
}

static const char *
device_name(int device) {
  return device_names[device];
}

static void *
allocate(int device, size_t n_bytes) {
  void *data = nullptr;
  if (use(device)) return nullptr;
  if (cudaHostAlloc(&data, n_bytes ? n_bytes : 1, cudaHostAllocPortable | cudaHostAllocMapped) ==
      cudaSuccess)
    return data;
  cudaGetLastError(); /* the NULL says it */
  return nullptr;
}

/* A kernel may still use the memory, and cudaFreeHost does not promise to wait. */
static void
release(int device, void *data) {
  if (use(device)) return;
  cudaDeviceSynchronize();
  cudaFreeHost(data);
}

static const char *
stream_new(int device, void **stream) {
  const char *error = use(device);
  if (error) return error;
  cudaStream_t made;
  error = text_of(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  if (!error) *stream = made;
  return error;
}

static int
stream_is_done(int device, void *stream) {
  return cudaStreamQuery((cudaStream_t)stream) != cudaErrorNotReady;
}

static const char *
stream_synchronize(int device, void *stream) {
  return text_of(cudaStreamSynchronize((cudaStream_t)stream));
}

static const char *
synchronize(int device) {
  const char *error = use(device);
  return error ? error : text_of(cudaDeviceSynchronize());
}

static const char *
event_new(int device, void *stream, void **event) {
  cudaEvent_t made;
  const char *error = use(device);
  if (!error) error = text_of(cudaEventCreate(&made));
  if (error) return error;
  error = text_of(cudaEventRecord(made, (cudaStream_t)stream));
  if (error)
    cudaEventDestroy(made);
  else
    *event = made;
  return error;
}

static void
event_free(int device, void *event) {
  if (!use(device)) cudaEventDestroy((cudaEvent_t)event);
}

static int
event_is_done(void *event) {
  return cudaEventQuery((cudaEvent_t)event) != cudaErrorNotReady;
}

static const char *
event_synchronize(void *event) {
  return text_of(cudaEventSynchronize((cudaEvent_t)event));
}

static double
event_elapsed_ms(void *from, void *to) {
  float elapsed = 0;
  cudaEventElapsedTime(&elapsed, (cudaEvent_t)from, (cudaEvent_t)to);
  return elapsed;
}

static const char *
stream_wait(int device, void *stream, void *event) {
  const char *error = use(device);
  if (error) return error;
  return text_of(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}

static int
launch(int device, void *stream, const td_cuda_launch *wanted, const char **error) {
  *error = use(device);
  if (*error || !td_cuda_put((cudaStream_t)stream, *wanted)) return 0;
  *error = text_of(cudaGetLastError());
  return 1;
}

static int
multiply(int device, void *stream, const td_cuda_product *product, const char **error) {
  *error = use(device);
  if (*error) return 0;
  if (product->dtype != TD_CUDA_FLOAT32 && product->dtype != TD_CUDA_FLOAT64) return 0;
  if (!td_cublas_multiply(device, (cudaStream_t)stream, *product))
    td_cuda_put_product((cudaStream_t)stream, *product);
  *error = text_of(cudaGetLastError());
  return 1;
}

extern "C" __attribute__((visibility("default"))) const td_cuda_module *
td_cuda_module_get(void) {
  static const td_cuda_module module = {
      TD_CUDA_MODULE_VERSION, open_devices,       device_name,   allocate,         release,
      stream_new,             stream_is_done,     stream_synchronize, synchronize, event_new,
      event_free,             event_is_done,      event_synchronize, event_elapsed_ms, stream_wait,
      td_cuda_find,           launch,             multiply,
  };
  return &module;
}
