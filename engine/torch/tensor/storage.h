/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Storage: the memory that tensors share, with a counter of the writes into it. Memory of every
 * device is host memory, or memory that the device shares with the host. Any thread. */
#pragma once

#include "engine/base/refcount.h"
#include "engine/torch/tensor/accelerators.h"

/* Counts the writes in place into elements that tensors share. Any thread. See
 * engine/torch/graph/version.h. */
typedef struct td_version {
  _Atomic uint32_t count;
  _Atomic uint32_t id;           /* in events; 0 until a recording first meets it */
  const char *_Atomic operation; /* the last writer, a literal: "add_"; meaningless at count 0 */
} td_version;

/* Whoever lends its memory to a storage. The storage gives it back when nobody uses it any more. */
typedef struct td_lender {
  void (*give_back)(struct td_lender *lender);
} td_lender;

struct td_storage {
  td_refcount refs;
  td_version version;
  size_t n_bytes;
  struct td_device_memory
      *memory;       /* (owned) what engine/torch/device knows of it; NULL on the host */
  td_lender *lender; /* (owned) of lent memory, else NULL */
  void *data; /* 64-byte aligned, behind this header in the same block; or lent, and as aligned as
                 its elements need it; NULL: meta device */
};

/* td_storage_new makes a storage on a device; NULL without memory. td_storage_new_host makes one in
 * host memory, for the CPU and for simulated devices. */
td_storage *td_storage_new(td_device device, size_t n_bytes);
td_storage *td_storage_new_host(size_t n_bytes);

/* td_storage_new_lent makes a storage of host memory that somebody lends. Aborts without memory. */
td_storage *td_storage_new_lent(void *data, size_t n_bytes, td_lender *lender);

/* td_storage_unref drops a reference; td_storage_free is what the last one does. */
void td_storage_free(td_storage *storage);
static inline void
td_storage_unref(td_storage *storage) {
  if (td_refcount_dec(&storage->refs)) td_storage_free(storage);
}
