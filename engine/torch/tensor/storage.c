/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/storage.h"

#include <stdlib.h>

#define DATA_ALIGNMENT 64

/* Header and data are one block: small tensors are many, and one allocation costs half of two. */
td_storage *
td_storage_new_host(size_t n_bytes) {
  if (n_bytes > SIZE_MAX / 2) return NULL;
  td_storage *storage = malloc(sizeof *storage + DATA_ALIGNMENT - 1 + n_bytes);
  if (!storage) return NULL;
  td_refcount_init(&storage->refs);
  atomic_init(&storage->version.count, 0);
  atomic_init(&storage->version.id, 0);
  storage->n_bytes = n_bytes;
  storage->memory = NULL;
  storage->lender = NULL;
  uintptr_t first = (uintptr_t)(storage + 1);
  storage->data = (void *)((first + DATA_ALIGNMENT - 1) & ~(uintptr_t)(DATA_ALIGNMENT - 1));
  return storage;
}

td_storage *
td_storage_new(td_device device, size_t n_bytes) {
  if (device >= 0 && td_accelerators_now) return td_accelerators_now->storage_new(device, n_bytes);
  if (device != TD_META) return td_storage_new_host(n_bytes);
  td_storage *storage = td_storage_new_host(0);
  if (!storage) return NULL;
  storage->n_bytes = n_bytes;
  storage->data = NULL;
  return storage;
}

td_storage *
td_storage_new_lent(void *data, size_t n_bytes, td_lender *lender) {
  td_storage *storage = td_storage_new_host(0);
  if (!storage) abort();
  storage->n_bytes = n_bytes;
  storage->lender = lender;
  if (data) storage->data = data;
  return storage;
}

void
td_storage_free(td_storage *storage) {
  if (storage->memory) {
    td_accelerators_now->storage_free(storage);
    return;
  }
  if (storage->lender) storage->lender->give_back(storage->lender);
  free(storage);
}
