/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The memory of accelerators. For each storage: its address on the device, and which kernels
 * touched it, on which streams. td_stream_mutex guards all of it. Functions of tensors are for
 * everybody, the others for engine/torch/device alone.
 *
 * Note [Missing waits]
 * Two kernels on two streams may touch a common byte of one storage, and at least one may write. If
 * neither is certainly before the other (ordering.h), luck decides which comes first: they
 * conflict. Each access is compared with the earlier ones that may not be over yet. A tensor's
 * bytes are taken as one range, from its first to its last element. So two streams may work on two
 * halves of a storage; for interleaved columns the report would be wrong. An access is forgotten
 * once every later one must come after it anyway. Beyond TD_ACCESSES_MAX accesses the oldest goes.
 * So a report of contiguous tensors is true, but some conflicts are not found. */
#pragma once

#include "engine/torch/device/ordering.h"
#include "engine/torch/device/stream_handle.h"
#include "engine/torch/tensor/tensor.h"

#define TD_ACCESSES_MAX 64

typedef struct td_access {
  td_stream stream;
  uint32_t index;     /* the stream's, in the process */
  uint64_t kernel;    /* the kernel's number on its stream */
  size_t first, last; /* bytes of the storage */
  uint32_t node;      /* or TD_NONE */
  const char *name;   /* of the kernel, a literal */
  bool is_write;
} td_access;

/* The accesses of two kernels that conflict; `first` was launched first. */
typedef struct td_conflict {
  td_access first, second;
  uint64_t address; /* of the first common byte, in the device's memory */
} td_conflict;

/* td_memory_new takes a storage of n_bytes from the device's backend, fills in `memory`, and emits
 * alloc. NULL without memory. td_memory_free emits free and gives the storage back. */
td_storage *td_memory_new(td_device device, size_t n_bytes);
void td_memory_free(td_storage *storage);
void td_memory_host_access(const td_storage *storage); /* for td_accelerators_now */

/* td_memory_is_used tells whether a storage was ever made on the device. */
bool td_memory_is_used(td_device device);

/* td_memory_touch_locked notes an access. `before` is the order of the kernel's stream. True with a
 * conflict, the first time that a pair of streams conflicts on this storage. */
bool td_memory_touch_locked(td_storage *storage, const td_access *access, const td_ordering *before,
                            td_conflict *conflict);

/* td_tensor_record_stream says that the stream uses the tensor's memory. The memory is
 * not given away before that work has ended. */
void td_tensor_record_stream(const td_tensor *tensor, td_stream stream);

/* td_tensor_made_by names the node of the kernel that wrote a tensor last, unless it has one. The
 * node of a forward operation is made after its kernel has run. */
void td_tensor_made_by(const td_tensor *tensor, uint32_t node);
