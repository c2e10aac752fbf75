/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/kernel.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/torch/device/backend.h"
#include "engine/torch/device/cause.h"
#include "engine/torch/device/device_table.h"
#include "engine/torch/device/memory.h"
#include "engine/torch/device/stream.h"
#include "engine/torch/device/stream_table.h"

#include <stdio.h>
#include <string.h>

#define REPORTS_MAX 64 /* that nobody takes */

/* Texts of conflicts, oldest first (guarded by td_stream_mutex). */
static struct {
  char *texts[REPORTS_MAX]; /* (owned) */
  int n;
} reports;

/* The bytes from a tensor's first element to the end of its last. */
static void
range_of(const td_tensor *tensor, size_t *first, size_t *last) {
  size_t element = td_dtype_size(tensor->dtype);
  int64_t least = tensor->offset, most = tensor->offset;
  for (int dim = 0; dim < tensor->n_dims; dim++) {
    int64_t reach = (tensor->sizes[dim] - 1) * tensor->strides[dim];
    least += TD_MIN(reach, 0);
    most += TD_MAX(reach, 0);
  }
  *first = (size_t)least * element;
  *last = (size_t)(most + 1) * element - 1;
}

/* A kernel has the name of its function (td_kernel_copy, exp_kernel) or that of error texts
 * (add.out). */
static const char *
plain_name(const char *function, char *out, size_t size) {
  static const char *const prefixes[] = {"td_kernel_", "td_op_"};
  for (size_t i = 0; i < TD_N_ELEMENTS(prefixes); i++)
    if (strncmp(function, prefixes[i], strlen(prefixes[i])) == 0) function += strlen(prefixes[i]);
  snprintf(out, size, "%s", function);
  static const char *const suffixes[] = {"_kernel", ".out"};
  for (size_t i = 0; i < TD_N_ELEMENTS(suffixes); i++) {
    char *suffix = strstr(out, suffixes[i]);
    if (suffix && suffix != out && !suffix[strlen(suffixes[i])]) *suffix = '\0';
  }
  return out;
}

static void
write_access(FILE *out, const td_access *access) {
  char plain[64];
  fputs(plain_name(access->name, plain, sizeof plain), out);
  if (access->node != TD_NONE) fprintf(out, " for node %u", access->node);
  fprintf(out, " on stream %d", access->stream.number);
}

static char *
conflict_text(const td_conflict *conflict) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) abort();
  fprintf(out, "two streams of %s touch one buffer, and nothing orders them: ",
          td_device_name(conflict->first.stream.device));
  write_access(out, &conflict->first);
  fprintf(out, " %s it, then ", conflict->first.is_write ? "writes" : "reads");
  write_access(out, &conflict->second);
  fprintf(out, " %s it. Let stream %d wait for stream %d before.",
          conflict->second.is_write ? "writes" : "reads", conflict->second.stream.number,
          conflict->first.stream.number);
  fclose(out);
  return text;
}

static void
report_locked(const td_conflict *conflict) {
  const td_access *first = &conflict->first, *second = &conflict->second;
  TD_EMIT_AT(td_stream_stamp_locked(), stream_conflict, .first = first->node,
             .second = second->node, .device = first->stream.device,
             .first_stream = first->stream.number, .second_stream = second->stream.number,
             .is_write = second->is_write, .address = conflict->address);
  if (reports.n < REPORTS_MAX) reports.texts[reports.n++] = conflict_text(conflict);
}

char *
td_conflict_take(void) {
  pthread_mutex_lock(&td_stream_mutex);
  char *text = reports.n ? reports.texts[0] : NULL;
  if (text) memmove(reports.texts, reports.texts + 1, (size_t)--reports.n * sizeof *reports.texts);
  pthread_mutex_unlock(&td_stream_mutex);
  return text;
}

static void
touch_locked(const td_stream_entry *entry, const td_tensor *tensor, bool is_write, uint64_t kernel,
             const char *name) {
  if (!tensor->storage->memory || td_tensor_n_elements(tensor) == 0) return;
  td_access access = {.stream = entry->stream,
                      .index = entry->index,
                      .kernel = kernel,
                      .node = td_cause_now(),
                      .name = name,
                      .is_write = is_write};
  range_of(tensor, &access.first, &access.last);
  td_conflict conflict;
  if (td_memory_touch_locked(tensor->storage, &access, &entry->before, &conflict))
    report_locked(&conflict);
}

static uint32_t
name_number(const char *function) {
  char plain[64];
  return td_recording() ? td_intern(plain_name(function, plain, sizeof plain)) : 0;
}

static size_t
bytes_of(const td_kernel_call *call) {
  size_t n_bytes = 0;
  for (int i = 0; i < call->n_tensors; i++)
    if (call->tensors[i]) n_bytes += td_tensor_n_bytes(call->tensors[i]);
  return n_bytes;
}

static bool
put(td_stream stream, const td_kernel_call *call) {
  td_stream_entry *entry = td_stream_entry_of(stream);
  td_kernel kernel = {.call = call,
                      .stream = stream,
                      .node = td_cause_now(),
                      .name = name_number(call->name),
                      .n_bytes = bytes_of(call)};
  pthread_mutex_lock(&td_stream_mutex);
  td_ordering_join(&entry->before, td_stream_host_before_locked());
  uint64_t number = td_ordering_tick(&entry->before, entry->index);
  td_stream_announce_locked(entry);
  uint64_t stamp = td_stream_stamp_locked();
  td_device_backend(stream.device)->launch(stream.device, entry->handle, &kernel);
  if (!kernel.is_told && stamp)
    TD_EMIT_AT(stamp, kernel, .device = stream.device, .stream = stream.number, .node = kernel.node,
               .name = kernel.name, .bytes = kernel.n_bytes, .queued = kernel.queued,
               .took = kernel.took);
  for (int i = 0; i < call->n_tensors; i++)
    if (call->tensors[i])
      touch_locked(entry, call->tensors[i], i < call->n_written, number, call->name);
  pthread_mutex_unlock(&td_stream_mutex);
  return kernel.is_computed;
}

/* The device of the last tensor that is on an accelerator runs the kernel. In a copy that is the
 * source. */
static td_device
device_of(const td_kernel_call *call) {
  td_device device = TD_CPU;
  for (int i = 0; i < call->n_tensors; i++)
    if (call->tensors[i] && call->tensors[i]->device >= 0) device = call->tensors[i]->device;
  return device;
}

static void
join_devices(td_stream stream, const td_kernel_call *call, bool before) {
  for (int i = 0; i < call->n_tensors; i++) {
    const td_tensor *tensor = call->tensors[i];
    if (!tensor || tensor->device < 0 || tensor->device == stream.device) continue;
    td_stream other = td_stream_current(tensor->device);
    td_stream_wait_stream(before ? stream : other, before ? other : stream, td_cause_now());
  }
}

static bool
touches_host(const td_kernel_call *call) {
  bool touches = false;
  for (int i = 0; i < call->n_tensors; i++) {
    const td_tensor *tensor = call->tensors[i];
    touches = touches || (tensor && tensor->device == TD_CPU && tensor->n_dims > 0);
  }
  return touches;
}

bool
td_kernel_launch(const td_kernel_call *call) {
  td_device device = device_of(call);
  if (device < 0) return false;
  td_stream stream = td_stream_current(device);
  join_devices(stream, call, true);
  bool is_computed = put(stream, call);
  join_devices(stream, call, false);
  if (touches_host(call)) td_stream_synchronize(stream);
  return is_computed;
}
