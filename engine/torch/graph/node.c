/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/node.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/anomaly_mode.h"
#include "engine/torch/graph/semantics.h"

#include <assert.h>
#include <string.h>

static _Atomic uint32_t n_nodes;
static _Atomic uint64_t next_in_session;
static _Thread_local uint64_t next_sequence_nr;
static _Thread_local bool announcements_held;

/* The session in the upper half, the next number in it in the lower. */
static uint32_t
next_number(uint32_t session) {
  uint64_t now = atomic_load_explicit(&next_in_session, memory_order_relaxed), next;
  do {
    uint64_t first = (uint64_t)session << 32;
    if (now >> 32 > session) return 0; /* of a recording that is over: nobody will read it */
    next = now >> 32 == session ? now + 1 : first + 1;
  } while (!atomic_compare_exchange_weak_explicit(&next_in_session, &now, next,
                                                  memory_order_relaxed, memory_order_relaxed));
  return (uint32_t)(next - 1);
}

/* Two threads may number a node at once: the first one's number holds. */
uint32_t
td_node_number(const td_node *node) {
  uint32_t session = td_emit_session();
  if (!session) return TD_NONE;
  _Atomic uint64_t *at = (_Atomic uint64_t *)&node->number;
  uint64_t old = atomic_load_explicit(at, memory_order_relaxed);
  uint64_t numbered = (uint64_t)session << 32 | next_number(session);
  bool was_first = old >> 32 != session &&
                   atomic_compare_exchange_strong_explicit(at, &old, numbered, memory_order_relaxed,
                                                           memory_order_relaxed);
  return (uint32_t)(was_first ? numbered : old);
}

uint64_t
td_sequence_nr_next(void) {
  return next_sequence_nr++;
}

/* A node, its edges and its first input's metadata are one block: nodes are made by the million. */
static td_input_metadata *
metadata_inside(const td_node *node) {
  return (td_input_metadata *)(node->next_edges + node->n_outputs);
}

td_node *
td_node_new_raw(const td_node_class *klass, size_t size, uint32_t n_outputs, uint64_t sequence_nr) {
  size = (size + _Alignof(td_edge) - 1) / _Alignof(td_edge) * _Alignof(td_edge);
  td_node *node = td_alloc(1, size + n_outputs * sizeof(td_edge) + sizeof(td_input_metadata));
  td_refcount_init(&node->refs);
  node->id = atomic_fetch_add_explicit(&n_nodes, 1, memory_order_relaxed);
  if (td_recording()) td_node_id(node); /* numbered as they are made */
  node->klass = klass;
  node->device = TD_CPU;
  node->stream = TD_NO_STREAM;
  node->sequence_nr = sequence_nr;
  node->n_outputs = n_outputs;
  node->next_edges = (td_edge *)((char *)node + size);
  td_lock_init(&node->lock, TD_lock_kind_node, TD_NONE);
  if (TD_UNLIKELY(td_anomaly_mode()) && sequence_nr != TD_SEQUENCE_NR_MAX)
    td_metadata_note_birth(&node->metadata);
  return node;
}

void
td_node_set_edge(td_node *node, uint32_t output_nr, td_edge edge) {
  assert(!atomic_load_explicit(&node->has_parent, memory_order_relaxed) &&
         "Cannot update a node's topological_nr after it already has a parent");
  td_edge old = node->next_edges[output_nr];
  node->next_edges[output_nr] = edge;
  if (old.node) td_node_unref(old.node);
  if (!edge.node) return;
  atomic_store_explicit(&edge.node->has_parent, true, memory_order_relaxed);
  node->topological_nr = TD_MAX(node->topological_nr, edge.node->topological_nr + 1);
}

static td_input_metadata *
append_metadata(td_node *node) {
  td_input_metadata *inside = metadata_inside(node), *old = node->input_metadata;
  if (!old)
    node->input_metadata = inside;
  else
    node->input_metadata =
        td_realloc(old == inside ? NULL : old, node->n_inputs + 1, sizeof *node->input_metadata);
  if (node->n_inputs == 1) node->input_metadata[0] = *inside;
  td_input_metadata *metadata = &node->input_metadata[node->n_inputs++];
  *metadata = (td_input_metadata){0};
  return metadata;
}

void
td_node_add_metadata(td_node *node, const td_tensor *like) {
  td_input_metadata *metadata = append_metadata(node);
  metadata->dtype = like->dtype;
  metadata->device = like->device;
  metadata->sparse = like->sparse != NULL;
  metadata->n_dims = like->n_dims;
  for (int d = 0; d < like->n_dims; d++)
    metadata->sizes[d] = like->sizes[d];
  metadata->defined = true;
  if (node->device == TD_CPU) node->device = like->device; /* PyTorch 2.6's routing */
  if (like->device >= 0 && !td_stream_is_some(node->stream))
    node->stream = td_stream_current(like->device);
}

void
td_node_add_undefined_input(td_node *node) {
  append_metadata(node);
}

static void
emit_metadata(const td_node *node, uint32_t input_nr) {
  const td_input_metadata *metadata = &node->input_metadata[input_nr];
  if (!metadata->defined) return;
  int64_t n_bytes = (int64_t)td_dtype_size(metadata->dtype);
  for (int d = 0; d < metadata->n_dims; d++)
    n_bytes *= metadata->sizes[d];
  char *shape = td_sizes_text(metadata->n_dims, metadata->sizes);
  TD_EMIT_BORROWED(
      input_metadata, .node = td_node_id(node), .input_nr = input_nr, .shape = td_intern(shape),
      .dtype = td_intern_static(td_dtype_short_name(metadata->dtype)), .device = metadata->device,
      .bytes = (uint32_t)TD_MIN(n_bytes, (int64_t)UINT32_MAX));
  free(shape);
}

static void
emit_edges(const td_node *node) {
  for (uint32_t i = 0; i < node->n_outputs; i++)
    if (node->next_edges[i].node)
      TD_EMIT_BORROWED(edge_new, .from = td_node_id(node), .output_nr = i,
                       .to = td_node_id(node->next_edges[i].node),
                       .input_nr = node->next_edges[i].input_nr);
}

/* A label stays until its node dies: another thread may be reading it. */
typedef struct td_label {
  struct td_label *older; /* (owned) or NULL */
  char text[];
} td_label;

static td_label *
label_new(const char *text, td_label *older) {
  size_t size = strlen(text) + 1;
  td_label *label = td_alloc(1, sizeof *label + size);
  label->older = older;
  memcpy(label->text, text, size);
  return label;
}

static void
labels_free(td_label *label) {
  while (label) {
    td_label *older = label->older;
    free(label);
    label = older;
  }
}

static void
emit_label(const td_node *node) {
  const td_label *label = atomic_load(&node->label);
  if (label)
    TD_EMIT_BORROWED(node_label, .node = td_node_id(node), .label = td_intern(label->text));
}

static bool
is_announced(const td_node *node) {
  uint32_t announced = atomic_load(&node->announced);
  return announced && announced == td_emit_session();
}

void
td_node_announce(td_node *node) {
  uint32_t session = td_emit_session();
  if (!session || announcements_held || is_announced(node)) return;
  if (atomic_exchange(&node->announced, session) == session) return;
  for (uint32_t i = 0; i < node->n_outputs; i++)
    if (node->next_edges[i].node && node->next_edges[i].node->sequence_nr == TD_SEQUENCE_NR_MAX)
      td_node_announce(node->next_edges[i].node); /* a leaf has nobody else to announce it */
  const char *name = td_node_name(node);
  uint32_t name_id = name == node->klass->name ? td_intern_static(name) : td_intern(name);
  TD_EMIT(node_new, .node = td_node_id(node), .name = name_id, .sequence_nr = node->sequence_nr,
          .topological_nr = (uint32_t)node->topological_nr, .device = node->device,
          .stream = node->stream.number, .n_inputs = node->n_inputs, .n_outputs = node->n_outputs,
          .stack = td_metadata_stack(&node->metadata));
  for (uint32_t i = 0; i < node->n_inputs; i++)
    emit_metadata(node, i);
  emit_edges(node);
  emit_label(node);
}

void
td_node_hold_announcements(bool hold) {
  announcements_held = hold;
}

bool
td_node_announcements_held(void) {
  return announcements_held;
}

char *
td_node_qualified_name(const td_node *node) {
  static const char *const own[] = {"AccumulateGrad", "CopySlices", "CopyBackwards", "GraphRoot",
                                    "Error"};
  const char *name = td_node_name(node);
  for (size_t i = 0; i < TD_N_ELEMENTS(own); i++)
    if (strcmp(name, own[i]) == 0) return td_format("torch::autograd::%s", name);
  return td_dup_string(name);
}

char *
td_node_operation_name(const td_node *node) {
  char *name = td_node_qualified_name(node);
  size_t length = strlen(name);
  while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
    length--;
  static const char suffix[] = "Backward";
  const size_t n = sizeof suffix - 1;
  bool ends = length > n && memcmp(name + length - n, suffix, n) == 0;
  if (!td_policy(name_operations) || !ends) return name;
  const char *number = strcmp(name + length, "0") == 0 ? "" : name + length;
  memmove(name + length - n, number, strlen(number) + 1);
  return name;
}

const char *
td_node_name(const td_node *node) {
  return node->klass->name_of ? node->klass->name_of(node) : node->klass->name;
}

td_node *
td_node_ref(td_node *node) {
  if (node) td_refcount_inc(&node->refs);
  return node;
}

/* Graphs that a thread is freeing: a million nodes in a chain must not take a million stack frames.
 */
static _Thread_local struct {
  td_node *first;
  bool busy, told; /* told: one of this graph has told that it is freed */
} freed;

/* Another thread may have made these nodes since this one's last event. So the first of a graph
 * looks at the clock, and the others borrow its time. */
static void
tell_free(const td_node *node) {
  if (!is_announced(node)) return;
  if (freed.told)
    TD_EMIT_BORROWED(node_free, .node = td_node_id(node));
  else
    TD_EMIT(node_free, .node = td_node_id(node));
  freed.told = true;
}

static void
free_node(td_node *node) {
  tell_free(node);
  if (node->klass->release_variables) node->klass->release_variables(node);
  if (node->klass->fini) node->klass->fini(node);
  td_weak_node_clear(&node->weak);
  for (uint32_t i = 0; i < node->n_outputs; i++)
    if (node->next_edges[i].node) td_node_unref(node->next_edges[i].node);
  td_hooks_free(atomic_load_explicit(&node->hooks, memory_order_relaxed));
  td_metadata_free(atomic_load_explicit(&node->metadata, memory_order_relaxed));
  td_lock_fini(&node->lock);
  if (node->input_metadata != metadata_inside(node)) free(node->input_metadata);
  free(node->forward.operands);
  labels_free(atomic_load_explicit(&node->label, memory_order_relaxed));
  free(node);
}

void
td_node_unref(td_node *node) {
  if (!node || !td_refcount_dec(&node->refs)) return;
  node->next_freed = freed.first;
  freed.first = node;
  if (freed.busy) return;
  freed.busy = true;
  freed.told = false;
  while (freed.first) {
    td_node *next = freed.first;
    freed.first = next->next_freed;
    free_node(next);
  }
  freed.busy = false;
}

void
td_node_set_label(td_node *node, const char *label) {
  td_label *old = atomic_load(&node->label);
  if (!old || strcmp(old->text, label)) {
    td_label *new = label_new(label, old);
    while (!atomic_compare_exchange_weak(&node->label, &old, new))
      new->older = old;
  }
  if (is_announced(node)) emit_label(node);
}

void
td_node_set_sequence_nr(td_node *node, uint64_t sequence_nr) {
  node->sequence_nr = sequence_nr;
  if (is_announced(node))
    TD_EMIT(node_sequence_nr, .node = td_node_id(node), .sequence_nr = sequence_nr);
}

void
td_node_release_variables(td_node *node) {
  if (!node->klass->release_variables) return;
  td_node_lock(node);
  node->klass->release_variables(node);
  td_node_unlock(node);
}
