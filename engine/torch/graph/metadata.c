/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/metadata.h"

#include "engine/events/emit.h"
#include "engine/torch/graph/now.h"

#include <stdlib.h>

static const td_metadata_class *metadata_class;

void
td_metadata_set_class(const td_metadata_class *klass) {
  metadata_class = klass;
}

void *
td_metadata_at(_Atomic(void *) *place) {
  void *metadata = atomic_load_explicit(place, memory_order_acquire);
  if (metadata || !metadata_class) return metadata;
  void *made = metadata_class->make();
  if (atomic_compare_exchange_strong_explicit(place, &metadata, made, memory_order_acq_rel,
                                              memory_order_acquire))
    return made;
  metadata_class->free(made);
  return metadata;
}

void
td_metadata_free(void *metadata) {
  if (metadata) metadata_class->free(metadata);
}

void
td_metadata_note_birth(_Atomic(void *) *place) {
  void *metadata = td_metadata_at(place);
  if (!metadata) return;
  metadata_class->store_stack(metadata);
  if (td_node_now()) metadata_class->set_parent(metadata, td_node_now());
}

bool
td_metadata_print_stacks(_Atomic(void *) *place, td_node *node) {
  void *metadata = td_metadata_at(place);
  if (metadata) metadata_class->print_stacks(metadata, node);
  return metadata != NULL;
}

uint32_t
td_metadata_stack(_Atomic(void *) *place) {
  void *metadata = atomic_load_explicit(place, memory_order_acquire);
  char *text = metadata ? metadata_class->stack_text(metadata) : NULL;
  uint32_t number = td_intern(text);
  free(text);
  return number;
}
