/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/memory.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/torch/device/backend.h"
#include "engine/torch/device/device_table.h"
#include "engine/torch/device/host_wait.h"
#include "engine/torch/device/specification.h"
#include "engine/torch/device/stream.h"
#include "engine/torch/device/stream_table.h"

#include <string.h>

#define ADDRESS_ALIGNMENT 512 /* as PyTorch's caching allocator rounds */

struct td_device_memory {
  td_device device;
  uint64_t address;    /* in the device's memory; no two storages ever share one */
  bool announced;      /* its alloc is on the tape */
  td_access *accesses; /* (owned) [n] in the order of launches */
  size_t n, capacity;
  uint64_t reported; /* a bit for each pair of streams that was reported, by a hash */
  td_stream *users;  /* (owned) [n_users] by record_stream */
  size_t n_users, user_capacity;
};
typedef struct td_device_memory td_device_memory;

static uint64_t next_address[TD_ACCELERATORS_MAX]; /* (guarded by td_stream_mutex) */

static uint64_t
take_address_locked(td_device device, size_t n_bytes) {
  uint64_t address = next_address[device];
  uint64_t taken = (n_bytes + ADDRESS_ALIGNMENT - 1) / ADDRESS_ALIGNMENT * ADDRESS_ALIGNMENT;
  next_address[device] += TD_MAX(taken, (uint64_t)ADDRESS_ALIGNMENT);
  return address;
}

td_storage *
td_memory_new(td_device device, size_t n_bytes) {
  td_storage *storage = td_device_backend(device)->storage_new(device, n_bytes);
  if (!storage) return NULL;
  td_device_memory *memory = storage->memory = TD_NEW(td_device_memory);
  td_stream stream = td_stream_current(device);
  memory->device = device;
  pthread_mutex_lock(&td_stream_mutex);
  memory->address = take_address_locked(device, n_bytes);
  memory->announced = td_recording();
  TD_EMIT_AT(td_stream_stamp_locked(), alloc, .device = device, .stream = stream.number,
             .address = memory->address, .bytes = n_bytes);
  pthread_mutex_unlock(&td_stream_mutex);
  return storage;
}

void
td_memory_host_access(const td_storage *storage) {
  td_device device = storage->memory->device;
  const td_backend *backend = td_device_backend(device);
  if (!backend->host_access) return;
  pthread_mutex_lock(&td_stream_mutex);
  td_host_wait wait = td_host_wait_begin_all_locked(device);
  pthread_mutex_unlock(&td_stream_mutex);
  backend->host_access(device);
  td_host_wait_end(&wait);
}

bool
td_memory_is_used(td_device device) {
  pthread_mutex_lock(&td_stream_mutex);
  bool is_used = next_address[device] > 0;
  pthread_mutex_unlock(&td_stream_mutex);
  return is_used;
}

void
td_memory_free(td_storage *storage) {
  td_device_memory *memory = storage->memory;
  if (memory->announced) {
    pthread_mutex_lock(&td_stream_mutex);
    TD_EMIT_AT(td_stream_stamp_locked(), free, .device = memory->device,
               .address = memory->address);
    pthread_mutex_unlock(&td_stream_mutex);
  }
  free(memory->accesses);
  free(memory->users);
  td_device_backend(memory->device)->storage_free(memory->device, storage);
  free(memory);
}

static void
record_stream(td_device_memory *memory, td_stream stream) {
  pthread_mutex_lock(&td_stream_mutex);
  bool known = false;
  for (size_t i = 0; i < memory->n_users; i++)
    known = known || td_stream_equal(memory->users[i], stream);
  if (!known) {
    TD_GROW(memory->users, memory->n_users, memory->user_capacity);
    memory->users[memory->n_users++] = stream;
  }
  pthread_mutex_unlock(&td_stream_mutex);
}

static bool
overlap(const td_access *a, const td_access *b) {
  return a->first <= b->last && b->first <= a->last;
}

static bool
covers(const td_access *outer, const td_access *inner) {
  return outer->first <= inner->first && outer->last >= inner->last;
}

/* True if later accesses need no comparison with `old`: whatever comes after `new` comes after
 * `old`, and `new` is at least as strict. */
static bool
is_superseded(const td_access *old, const td_access *new, bool ordered) {
  return ordered && covers(new, old) && (new->is_write || !old->is_write);
}

static uint64_t
pair_bit(const td_access *a, const td_access *b) {
  uint32_t least = TD_MIN(a->index, b->index), most = TD_MAX(a->index, b->index);
  return 1ull << ((least * 31 + most * 7) % 64);
}

static bool
conflicts(const td_access *old, const td_access *new, bool ordered) {
  return !ordered && (old->is_write || new->is_write) && overlap(old, new);
}

bool
td_memory_touch_locked(td_storage *storage, const td_access *access, const td_ordering *before,
                       td_conflict *conflict) {
  td_device_memory *memory = storage->memory;
  size_t kept = 0;
  bool found = false;
  for (size_t i = 0; i < memory->n; i++) {
    td_access *old = &memory->accesses[i];
    bool ordered = old->index == access->index || td_ordering_has(before, old->index, old->kernel);
    if (!found && conflicts(old, access, ordered) && !(memory->reported & pair_bit(old, access))) {
      found = true;
      memory->reported |= pair_bit(old, access);
      *conflict = (td_conflict){*old, *access, memory->address + TD_MAX(old->first, access->first)};
    }
    if (!is_superseded(old, access, ordered)) memory->accesses[kept++] = *old;
  }
  memory->n = kept;
  if (kept == TD_ACCESSES_MAX)
    memmove(memory->accesses, memory->accesses + 1, --memory->n * sizeof *memory->accesses);
  TD_GROW(memory->accesses, memory->n, memory->capacity);
  memory->accesses[memory->n++] = *access;
  return found;
}

static void
wrote(td_device_memory *memory, uint32_t node) {
  pthread_mutex_lock(&td_stream_mutex);
  td_access *last = memory->n ? &memory->accesses[memory->n - 1] : NULL;
  if (last && last->is_write && last->node == TD_NONE) last->node = node;
  pthread_mutex_unlock(&td_stream_mutex);
}

void
td_tensor_made_by(const td_tensor *tensor, uint32_t node) {
  if (tensor->storage->memory) wrote(tensor->storage->memory, node);
}

void
td_tensor_record_stream(const td_tensor *tensor, td_stream stream) {
  if (!tensor->storage->memory || tensor->device != stream.device) return;
  record_stream(tensor->storage->memory, stream);
}
