/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is known of a storage on an accelerator: where it lies in the device's memory, which kernels
 * touched it, on which streams. Private to engine/device; guarded by td_stream_mutex.
 *
 * Note [Missing waits]
 * Two kernels conflict when they touch a common byte of one storage, at least one of them writes,
 * they are on two streams, and neither is certainly before the other (ordering.h): nothing but luck
 * decides which comes first. Every access is held against the earlier ones that are not yet known
 * to be over. Bytes are compared as ranges from a tensor's first to its last element, so that
 * halves of one storage may be worked on by two streams; of interleaved columns it would speak
 * wrongly. An access that every later one must come after anyway is forgotten, and where more than
 * TD_ACCESSES_MAX are left, the oldest; what is reported is true, but not everything is found. */
#pragma once

#include "engine/device/stream_table.h"

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

/* What two kernels that conflict did: `first` was launched first. */
typedef struct td_conflict {
  td_access first, second;
  uint64_t address; /* of the first common byte, in the device's memory */
} td_conflict;

/* A storage of n_bytes from the device's backend, with `memory` filled in; emits alloc. NULL
 * without memory. td_memory_free emits free and gives it back. */
td_storage *td_memory_new(td_device device, size_t n_bytes);
void td_memory_free(td_storage *storage);
void td_memory_host_access(const td_storage *storage); /* for td_accelerators_now */

void td_memory_record_stream(td_storage *storage, td_stream stream);

bool td_memory_is_used(td_device device); /* was a storage ever made there */

/* td_memory_touch_locked notes an access. True with a conflict: one, the first time that this pair
 * of streams has one on this storage. `before` is the order of the kernel's stream. */
bool td_memory_touch_locked(td_storage *storage, const td_access *access, const td_ordering *before,
                            td_conflict *conflict);

/* td_memory_wrote names the node of the last write that has none: an operation's node is made after
 * its kernel has run. */
void td_memory_wrote(td_storage *storage, uint32_t node);
