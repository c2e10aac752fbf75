/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Node: a function of the backward graph. It turns the gradients of its forward outputs (its inputs
 * here) into the gradients of its forward inputs (its outputs here), one per next edge. Nodes are
 * built by one thread and afterwards constant but for what `mutex` guards; reference-counted; any
 * thread may hold them. */
#pragma once

#include "engine/events/emit.h"
#include "engine/events/lock.h"
#include "engine/torch/device/stream.h"
#include "engine/torch/graph/hooks.h"
#include "engine/torch/graph/metadata.h"
#include "engine/torch/graph/weak_node.h"
#include "engine/torch/tensor/tensor.h"

#define TD_SEQUENCE_NR_MAX UINT64_MAX /* AccumulateGrad */

typedef struct td_node_class {
  const char *name; /* "MulBackward0": PyTorch's, a literal */

  /* apply computes outputs[0 .. n_outputs) (new references, or NULL for "no gradient") from
   * inputs[0 .. n_inputs) (borrowed, or NULL for an undefined gradient). Called on an engine
   * thread, with grad mode as the graph task's create_graph says. On failure it leaves no
   * references behind. */
  td_status (*apply)(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error);

  /* will_release_variables tells the node before its function is called that what it saved is going
   * to be released after it; may be NULL. */
  void (*will_release_variables)(td_node *node);

  /* release_variables drops what was saved for backward; may be NULL. Idempotent; under
   * the node's lock. */
  void (*release_variables)(td_node *node);

  /* fini frees what the subclass owns beyond saved variables; may be NULL. */
  void (*fini)(td_node *node);

  /* name_of overrides `name` for classes whose instances differ (custom functions); may be NULL. */
  const char *(*name_of)(const td_node *node);
} td_node_class;

/* What a gradient that enters a node must look like: of the forward output of that number. */
typedef struct td_input_metadata {
  td_dtype dtype;
  td_device device;
  int n_dims;
  int64_t sizes[TD_MAX_DIMS];
  bool sparse;
  bool has_gradient_dtype, any_gradient_dtype; /* the gradient's own, or none in particular */
  td_dtype gradient_dtype;                     /* if it has one; else it is dtype */
  bool defined; /* false: a placeholder for an output that no one can use */
} td_input_metadata;

/* Subclasses embed it as their first member. What a pass reads comes first, to share a cache line.
 */
struct td_node {
  td_refcount refs;
  uint32_t id;             /* unique in the process */
  _Atomic uint64_t number; /* of the last recording that met it: session << 32 | id in its events */
  const td_node_class *klass;
  uint64_t sequence_nr;
  uint32_t n_outputs, n_inputs;
  td_edge *next_edges; /* in this block, [n_outputs], each edge's node a strong reference */
  td_input_metadata *input_metadata; /* [n_inputs]: in this block as long as there is one */
  _Atomic(td_hooks *) hooks;         /* (owned) or NULL: never had any */
  td_device device;                  /* of the first input that is not on the CPU, else TD_CPU */
  td_stream stream; /* the current stream of the first input's accelerator when the node was built;
                       TD_NO_STREAM without such an input */
  _Atomic uint32_t announced; /* recording session that announced it, or 0 */
  uint64_t topological_nr;
  struct { /* what the forward operation was given and gave, where that was looked at (anomaly.h) */
    uint8_t found, came_in;
    uint16_t operand_nr; /* of the operand that came in */
    uint8_t *operands;   /* (owned) [n_outputs] what each was found to have; NULL: nothing */
  } forward;
  _Atomic bool has_parent;          /* threads may hang nodes above a shared leaf at once */
  td_lock lock;                     /* guards apply and release of nodes with state */
  _Atomic(struct td_label *) label; /* (owned) the newest, or NULL */
  _Atomic(void *) metadata;         /* (owned) or NULL: metadata.h */
  td_weak_slot weak;                /* weak_node.h */
  td_node *next_freed;              /* while its thread frees a graph */
};

/* td_node_new_raw makes a node with `n_outputs` null edges and the given sequence number (use
 * td_sequence_nr_next() or TD_SEQUENCE_NR_MAX). */
td_node *td_node_new_raw(const td_node_class *klass, size_t size, uint32_t n_outputs,
                         uint64_t sequence_nr);
uint64_t td_sequence_nr_next(void);

/* td_node_set_edge points output `output_nr` at an edge, whose node reference it takes, and updates
 * topological_nr. Only before the node has a parent. */
void td_node_set_edge(td_node *node, uint32_t output_nr, td_edge edge);

/* td_node_add_metadata gives the node its next input: a forward output that looks like `like`.
 * td_node_add_undefined_input reserves an input nobody can use. */
void td_node_add_metadata(td_node *node, const td_tensor *like);
void td_node_add_undefined_input(td_node *node);

/* td_node_id returns a node's id in the events of the present recording. A recording numbers nodes
 * from 0 as it meets them. TD_NONE if nothing records. */
uint32_t td_node_number(const td_node *node); /* its slow path */
static inline uint32_t
td_node_id(const td_node *node) {
  uint64_t number = atomic_load_explicit(&node->number, memory_order_relaxed);
  return number && number >> 32 == td_emit_session() ? (uint32_t)number : td_node_number(node);
}

/* td_node_lock takes the lock that guards apply and release of a node with state. A wait for it is
 * recorded. */
static inline void
td_node_lock(td_node *node) {
  if (TD_UNLIKELY(pthread_mutex_trylock(&node->lock.mutex) != 0))
    td_lock_wait_traced_as(&node->lock, td_node_id(node));
}

static inline void
td_node_unlock(td_node *node) {
  td_lock_release(&node->lock);
}

/* td_node_announce emits node_new, its edges and its input metadata, once: call it after the last
 * input was added (function.h). The engine announces what a pass reaches, if the recording does not
 * have it yet.
 */
void td_node_announce(td_node *node);

/* td_node_metadata returns what is remembered of a node (borrowed), or NULL without a class. */
static inline void *
td_node_metadata(td_node *node) {
  return td_metadata_at(&node->metadata);
}

const char *td_node_name(const td_node *node);

/* td_node_qualified_name is the name as PyTorch prints the engine's own nodes, with its namespace.
 * td_node_operation_name is what texts about tensors call the maker of one: the operation, "Add"
 * (policy name_operations), else that name. The caller frees. */
char *td_node_qualified_name(const td_node *node);
char *td_node_operation_name(const td_node *node);

/* td_node_hold_announcements(true) keeps the thread's new nodes off the tape until they are
 * announced once more, for operations that go on changing them. */
void td_node_hold_announcements(bool hold);
bool td_node_announcements_held(void);
td_node *td_node_ref(td_node *node);

/* td_node_unref frees the node with its last reference, and the graph below it, iteratively. */
void td_node_unref(td_node *node);

/* td_node_set_label names the node for people ("conv1.weight") and emits node_label. Any thread,
 * also while another thread announces the node. */
void td_node_set_label(td_node *node, const char *label);

/* td_node_set_sequence_nr moves the node in the order of passes that have not reached it. */
void td_node_set_sequence_nr(td_node *node, uint64_t sequence_nr);

/* td_node_release_variables calls the class's release under the node's mutex. */
void td_node_release_variables(td_node *node);
