/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/graph/metadata.h"

#include "engine/base/alloc.h"
#include "engine/graph/now.h"
#include "engine/graph/warnings.h"

static const td_metadata_class *metadata_class;

void
td_metadata_set_class(const td_metadata_class *klass) {
  metadata_class = klass;
}

void *
td_node_metadata(td_node *node) {
  void *metadata = atomic_load_explicit(&node->metadata, memory_order_acquire);
  if (metadata || !metadata_class) return metadata;
  void *made = metadata_class->make();
  if (atomic_compare_exchange_strong_explicit(&node->metadata, &metadata, made,
                                              memory_order_acq_rel, memory_order_acquire))
    return made;
  metadata_class->free(made);
  return metadata;
}

void
td_node_drop_metadata(td_node *node) {
  void *metadata = atomic_load_explicit(&node->metadata, memory_order_relaxed);
  if (metadata) metadata_class->free(metadata);
}

void
td_metadata_note_birth(td_node *node) {
  void *metadata = td_node_metadata(node);
  if (!metadata) return;
  metadata_class->store_stack(metadata);
  td_node *parent = td_node_now();
  if (parent) metadata_class->set_parent(metadata, parent);
}

void
td_metadata_print_stacks(td_node *node) {
  void *metadata = td_node_metadata(node);
  if (metadata) {
    metadata_class->print_stacks(metadata, node);
    return;
  }
  char *text = td_format("Error detected in %s. No forward pass information available. Enable "
                         "detect anomaly during forward pass for more information.",
                         td_node_name(node));
  td_warn(node, text);
  free(text);
}

uint32_t
td_metadata_stack(const td_node *node) {
  void *metadata = atomic_load_explicit(&((td_node *)node)->metadata, memory_order_acquire);
  char *text = metadata ? metadata_class->stack_text(metadata) : NULL;
  uint32_t number = td_intern(text);
  free(text);
  return number;
}
