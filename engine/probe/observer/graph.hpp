/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes get their numbers and are announced when a pass first reaches them: what hangs below an
 * announced node is announced too. Python's nodes are named without the GIL: their type is kept
 * alive by the object, and that by the node. */
#pragma once

#include "engine/probe/leaves.h"
#include "engine/probe/observer/gradients.hpp"
#include "engine/probe/observer/outputs.hpp"
#include "engine/probe/observer/saved.hpp"
#include "engine/probe/operations.h"
#include "engine/probe/stacks.h"

namespace tapedeck {

inline const char *
python_name(Node *node) {
  static const bool has_gil = !dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount");
  const PythonObject *object = has_gil ? python_object(node) : nullptr;
  return object ? object->type->name : "PyNode";
}

inline const char *
text_of(Node *node) {
  const NodeClass *found = classes->find(node);
  return found && found->text ? found->text : found && found->is_python ? python_name(node) : "";
}

inline uint32_t
name_of(Node *node, const NodeClass *found) {
  if (!found) return td_probe_intern(without_namespace(node->name()).c_str());
  return found->is_python ? td_probe_intern(python_name(node)) : found->name;
}

inline at::Device
device_of(const Node *node) {
  for (const InputMetadata &metadata : node->input_metadata_)
    if (metadata.device().type() != at::kCPU) return metadata.device();
  return at::kCPU;
}

/* Device threads and queues have an index alone. The first node there says what the index stands
 * for. Under the world's mutex. */
inline void
name_device(at::Device device) {
  static uint32_t told_in_session[64];
  size_t index = static_cast<size_t>(device_number(device));
  if (device.type() == at::kCPU || index >= 64 || told_in_session[index] == td_probe_session)
    return;
  told_in_session[index] = td_probe_session;
  td_probe_name_device(device_number(device), device.str().c_str());
}

inline const char *
dtype_text(caffe2::TypeMeta dtype) {
  switch (dtype.toScalarType()) {
  case at::kByte:
    return "uint8";
  case at::kChar:
    return "int8";
  case at::kShort:
    return "int16";
  case at::kInt:
    return "int32";
  case at::kLong:
    return "int64";
  case at::kHalf:
    return "float16";
  case at::kFloat:
    return "float32";
  case at::kDouble:
    return "float64";
  case at::kBool:
    return "bool";
  case at::kBFloat16:
    return "bfloat16";
  case at::kComplexHalf:
    return "complex32";
  case at::kComplexFloat:
    return "complex64";
  case at::kComplexDouble:
    return "complex128";
  default:
    return c10::toString(dtype.toScalarType());
  }
}

/* Shapes repeat: their numbers are remembered by their sizes, so that most are neither printed nor
 * looked up by text. Under the world's mutex. */
class Shapes {
public:
  uint32_t number(const SymIntSmallVec &sizes) {
    Entry &entry = entries[hash(sizes) % N];
    if (entry.session != td_probe_session || !is_same(entry.sizes, sizes)) {
      entry.session = td_probe_session;
      entry.sizes = sizes;
      entry.id = td_probe_intern(text(sizes).c_str());
    }
    return entry.id;
  }

private:
  static constexpr size_t N = 256;
  struct Entry {
    SymIntSmallVec sizes;
    uint32_t id = 0, session = 0;
  } entries[N];

  static int64_t plain(const c10::SymInt &size) {
    return size.is_symbolic() ? -1 : size.as_int_unchecked();
  }

  static size_t hash(const SymIntSmallVec &sizes) {
    uint64_t sum = sizes.size();
    for (const c10::SymInt &size : sizes)
      sum = (sum ^ static_cast<uint64_t>(plain(size))) * 0x100000001b3u;
    return sum ^ sum >> 17;
  }

  static bool is_same(const SymIntSmallVec &a, const SymIntSmallVec &b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); i++)
      if (plain(a[i]) != plain(b[i])) return false;
    return true;
  }

  static std::string text(const SymIntSmallVec &sizes) {
    std::string text = "[";
    for (size_t i = 0; i < sizes.size(); i++)
      text += (i ? ", " : "") + (sizes[i].is_symbolic() ? "?" : std::to_string(plain(sizes[i])));
    return text + "]";
  }
};

/* What is in the tensors that a node saved, of a node that made a value that is not finite. */
inline void
tell_saved_numbers(Node *node, const SavedPlaces &places, uint32_t id, uint32_t task) {
  if (!places.any()) return;
  each_saved(node, places, [&](uint32_t number, const SavedVariable &saved) {
    td_gradient numbers;
    describe(saved.data_.unsafeGetTensorImpl(), &numbers);
    td_numerics_saved(id, task, number, &numbers);
  });
}

/* Walks what a root reaches and is not numbered yet, in the order of the engine's own walk. */
class Announcer {
public:
  /* The node's id, it and everything below announced. */
  uint32_t announce(Node *root) {
    Timed timed(TD_recorder_work_graph);
    std::lock_guard<std::mutex> lock(world->mutex);
    uint32_t id = number(root);
    when = TIME_NOW;
    while (!stack.empty()) {
      auto [node, node_id] = stack.back();
      stack.pop_back();
      emit(node, node_id);
    }
    td_operations_tell(id);
    return id;
  }

private:
  std::vector<std::pair<Node *, uint32_t>> stack; /* numbered, to be announced */
  Shapes shapes;
  void **last_vtable = nullptr;
  const NodeClass *last_class = nullptr;
  uint64_t when; /* of the next node_new: one time for a walk */
  struct Dtype {
    uint32_t id = 0, session = 0;
  } dtypes[64];

  /* The walk meets nodes that no cache holds: their lines are fetched together. */
  static void fetch(const Node *node) {
    const char *bytes = reinterpret_cast<const char *>(node);
    for (size_t at = 0; at < sizeof(Node); at += 64)
      __builtin_prefetch(bytes + at);
  }

  uint32_t number(Node *node) {
    fetch(node);
    uint32_t id = td_ids_find(world->nodes, node);
    if (id != TD_NONE) return id;
    id = world->n_nodes++;
    td_ids_set(world->nodes, node, id);
    stack.emplace_back(node, id);
    return id;
  }

  void emit(Node *node, uint32_t id) {
    const NodeClass *found = class_of(node);
    td_forward forward = forward_of(node);
    at::Device device = device_of(node);
    name_device(device);
    EMIT(node_new, when, id, name_of(node, found), node->sequence_nr_, clamp(node->topological_nr_),
         device_number(device), 0, node->num_inputs(), node->num_outputs(), forward.stack);
    const td_operation *operation =
        td_operations_announce(id, node->thread_id_, node->sequence_nr_);
    when = TIME_LAST;
    td_stacks_emit(id, forward);
    if (found && found->is_accumulate_grad) emit_label(node, id);
    for (uint32_t i = 0; i < node->num_inputs(); i++)
      emit_metadata(id, i, node->input_metadata_[i]);
    if (found && found->saved.any()) emit_saved(node, id, found->saved);
    if (UNLIKELY(operation && found && td_operations_has_birth(operation)))
      tell_saved_numbers(node, found->saved, id, TD_NONE);
    for (uint32_t i = 0; i < node->num_outputs(); i++) {
      const Edge &edge = node->next_edges_[i];
      if (!edge.function) continue;
      uint32_t to = number(edge.function.get());
      EMIT(edge_new, TIME_LAST, id, i, to, edge.input_nr);
      if (UNLIKELY(operation != nullptr)) tell_operand(edge.function.get(), to);
    }
  }

  /* What made an operand of the operation whose node is announced. */
  static void tell_operand(const Node *maker, uint32_t id) {
    const auto *leaf = dynamic_cast<const AccumulateGrad *>(maker);
    if (leaf)
      td_operations_edge(id, 0, leaf_number(leaf->variable.unsafeGetTensorImpl()));
    else
      td_operations_edge(id, maker->thread_id_, maker->sequence_nr_);
  }

  static td_forward forward_of(const Node *node) {
    return td_stacks_find(node->thread_id_, node->sequence_nr_);
  }

  void emit_label(const Node *node, uint32_t id) {
    const Tensor &leaf = static_cast<const AccumulateGrad *>(node)->variable;
    uint32_t label = td_stacks_label(leaf.unsafeGetTensorImpl());
    if (label)
      EMIT(node_label, TIME_LAST, id, label);
    else
      td_leaves_want(id, leaf.unsafeGetTensorImpl());
  }

  const NodeClass *class_of(Node *node) {
    if (vtable_of(node) == last_vtable) return last_class;
    last_vtable = vtable_of(node);
    return last_class = classes->of(node);
  }

  uint32_t number(caffe2::TypeMeta dtype) {
    Dtype &known = dtypes[static_cast<size_t>(dtype.toScalarType()) % 64];
    if (known.session != td_probe_session)
      known = {td_probe_intern(dtype_text(dtype)), td_probe_session};
    return known.id;
  }

  void emit_saved(Node *node, uint32_t id, const SavedPlaces &places) {
    each_saved(node, places, [&](uint32_t number_of, const SavedVariable &saved) {
      const at::TensorImpl *impl = saved.data_.unsafeGetTensorImpl();
      uint32_t counter = counters->hold(node, places, saved);
      EMIT(saved_tensor, TIME_LAST, id, number_of, counter, saved.saved_version_,
           uint32_t{saved.is_output_}, bytes_of(saved.data_), shape_of(impl),
           number(impl->data_type_));
    });
  }

  /* 0 for the shape of a tensor that computes it. */
  uint32_t shape_of(const at::TensorImpl *impl) {
    if (impl->matches_policy(at::TensorImpl::SizesStridesPolicy::CustomSizes)) return 0;
    SymIntSmallVec sizes;
    for (int64_t size : impl->sizes_and_strides_.sizes_arrayref())
      sizes.emplace_back(size);
    return shapes.number(sizes);
  }

  void emit_metadata(uint32_t id, uint32_t input_nr, const InputMetadata &metadata) {
    uint64_t n;
    if (!n_elements_of(metadata, &n)) return;
    EMIT(input_metadata, TIME_LAST, id, input_nr,
         shapes.number(*get_if<SymIntSmallVec>(&metadata.shape_)), number(metadata.dtype()),
         device_number(metadata.device()), clamp(n * metadata.dtype().itemsize()));
  }
};

extern Announcer *announcer;

/* The id of a node that a pass is about to use, announced if nobody has seen it so far. */
inline uint32_t
id_of(Node *node) {
  if (!node) return TD_NONE;
  uint32_t id = td_ids_find(world->nodes, node);
  return LIKELY(id != TD_NONE) ? id : announcer->announce(node);
}

/* While the recording pauses, most nodes that die are not known. */
inline void
forget(Node *node) {
  bool is_on = td_probe_is_on();
  if (!is_on && td_ids_find(world->nodes, node) == TD_NONE) return;
  uint32_t id = td_ids_set(world->nodes, node, TD_NONE);
  if (id != TD_NONE) drop_saved(node, classes->find(node));
  if (id != TD_NONE && td_probe_session) EMIT(node_free, TIME_NOW, id);
  if (!is_on && td_ids_n_alive(world->nodes) == 0) classes->rest();
}

} // namespace tapedeck
